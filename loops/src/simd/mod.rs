//! Kernels in vector instructions, one per file, and memory: all `unsafe` code of the loops.

#[cfg(target_arch = "x86_64")]
pub(crate) mod csrmm;
pub(crate) mod fetch;
pub(crate) mod fresh_list;
pub(crate) mod lattice_flat;
#[cfg(target_arch = "x86_64")]
pub(crate) mod lattice_rows;
pub(crate) mod pages;
pub(crate) mod parts;
#[cfg(target_arch = "x86_64")]
pub(crate) mod rays_avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod rays_avx512;
#[cfg(target_arch = "x86_64")]
pub(crate) mod spmm;

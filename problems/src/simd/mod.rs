//! Kernels in vector instructions, one per file: all `unsafe` code of the problems.

#[cfg(target_arch = "x86_64")]
pub(crate) mod atsp_avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod atsp_avx512;
#[cfg(target_arch = "x86_64")]
mod flowshop;
#[cfg(target_arch = "x86_64")]
pub(crate) mod flowshop_avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod flowshop_avx512;
#[cfg(target_arch = "x86_64")]
mod queens;
#[cfg(target_arch = "x86_64")]
pub(crate) mod queens_avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod queens_avx512;
#[cfg(target_arch = "x86_64")]
pub(crate) mod uts_avx512;
#[cfg(target_arch = "x86_64")]
pub(crate) mod uts_sha;

pub(crate) mod instructions;
pub(crate) mod lanes;

pub use pleach_core::search::level::Level;

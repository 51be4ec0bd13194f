//! Flows by the lattice Boltzmann method: D3Q19, one relaxation time, in place, cut into slabs of planes.

mod blocks;
mod device;
pub mod flow;
pub(crate) mod group;
pub(crate) mod lanes;
pub mod mask;
mod memory;
pub mod model;
mod outline;
pub mod output;
pub mod reference;
pub mod slab;
pub mod stepping;
pub mod sums;
mod sweep;

/// Copies numbers with non-temporal stores: an upper limit for a step, which must read and write as much.
pub fn copy_past_caches(from: &[f32], to: &mut [f32]) {
    crate::simd::lattice_flat::copy_past_caches(from, to);
}

#[cfg(test)]
mod physics_tests;
#[cfg(test)]
mod tests;

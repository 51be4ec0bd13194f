//! Projection of tetrahedra for AVX2: the plain code, compiled for vectors of 8.

use crate::rays::project::draw_all;
use crate::rays::record::{Light, Work};

/// Draws a tile; returns how many segments of rays it drew.
#[must_use]
pub fn tile(work: &Work, light: &mut Light) -> u64 {
    assert!(pleach_core::search::level::Level::Avx2.works());
    // SAFETY: the line above.
    unsafe { draw(work, light) }
}

#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn draw(work: &Work, light: &mut Light) -> u64 {
    draw_all(work, light)
}

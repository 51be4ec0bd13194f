//! Views cache lines as plain numbers and numbers as lines, and copies them.

use crate::lattice::lanes::{LANES, Lane};

/// All numbers of the lines.
pub fn flat(lines: &[Lane]) -> &[f32] {
    // SAFETY: a line is sixteen numbers, without gaps, and any of its bytes belongs to one of them.
    unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * LANES) }
}

/// All numbers of the lines, to be written.
pub fn flat_mut(lines: &mut [Lane]) -> &mut [f32] {
    // SAFETY: as above; every number is a valid one.
    unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), lines.len() * LANES) }
}

/// Numbers as lines.
///
/// # Panics
/// If the first number is not aligned like a line.
pub fn lanes(numbers: &[f32]) -> &[Lane] {
    assert!(numbers.as_ptr().cast::<Lane>().is_aligned());
    // SAFETY: aligned, and any sixteen numbers are a line.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), numbers.len() / LANES) }
}

/// Numbers as lines, to be written.
///
/// # Panics
/// If the first number is not aligned like a line.
pub fn lanes_mut(numbers: &mut [f32]) -> &mut [Lane] {
    assert!(numbers.as_ptr().cast::<Lane>().is_aligned());
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(numbers.as_mut_ptr().cast(), numbers.len() / LANES) }
}

/// Copies numbers past the caches.
#[cfg(target_arch = "x86_64")]
pub fn copy_past_caches(from: &[f32], to: &mut [f32]) {
    use std::arch::x86_64::{_mm_loadu_ps, _mm_sfence, _mm_stream_ps};
    let count = from.len().min(to.len());
    let skip = to.as_ptr().align_offset(16).min(count);
    let end = count - (count - skip) % 4;
    to[..skip].copy_from_slice(&from[..skip]);
    to[end..count].copy_from_slice(&from[end..count]);
    for at in (skip..end).step_by(4) {
        // SAFETY: four numbers inside both, aligned in the second.
        unsafe { _mm_stream_ps(to.as_mut_ptr().add(at), _mm_loadu_ps(from.as_ptr().add(at))) };
    }
    // SAFETY: every processor of this kind has it.
    unsafe { _mm_sfence() };
}

/// Copies numbers.
#[cfg(not(target_arch = "x86_64"))]
pub fn copy_past_caches(from: &[f32], to: &mut [f32]) {
    let count = from.len().min(to.len());
    to[..count].copy_from_slice(&from[..count]);
}

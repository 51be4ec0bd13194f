//! Scans a row of distances with AVX-512: 16 cities at a time.

use super::Level;
use super::instructions::{Instructions, Task, proof};
use crate::atsp::partial::rows::{Kernel, Row};
use std::arch::x86_64::*;

const LANES: usize = 16;

proof!(Lanes: Level::Avx512, "avx512f,bmi1,bmi2,lzcnt,popcnt");

impl Kernel for Lanes {
    #[inline]
    fn open(&self, row: &Row, cities: usize, left: u64, limit: i32) -> u64 {
        // SAFETY: `new` checked for the instructions.
        unsafe { open(row, cities, left, limit) }
    }
}

#[target_feature(enable = "avx512f,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn open(row: &Row, cities: usize, left: u64, limit: i32) -> u64 {
    let limits = _mm512_set1_epi32(limit);
    let (low, high) = (left as u32, (left >> 32) as u32);
    let (lows, highs) =
        (_mm512_set1_epi32(low.cast_signed()), _mm512_set1_epi32(high.cast_signed()));
    let mut open = 0;
    for block in 0..cities.div_ceil(LANES).min(row.costs.len() / LANES) {
        let at = LANES * block;
        // SAFETY: the arrays hold a whole block from there.
        let (costs, low_bits, high_bits) = unsafe {
            (
                _mm512_loadu_si512(row.costs.as_ptr().add(at).cast()),
                _mm512_loadu_si512(row.low.as_ptr().add(at).cast()),
                _mm512_loadu_si512(row.high.as_ptr().add(at).cast()),
            )
        };
        let near = _mm512_cmplt_epi32_mask(costs, limits);
        let mut is_left = _mm512_test_epi32_mask(low_bits, lows);
        if cities > 32 {
            is_left |= _mm512_test_epi32_mask(high_bits, highs);
        }
        open |= u64::from(near & is_left) << at;
        if near != u16::MAX {
            break;
        }
    }
    open
}

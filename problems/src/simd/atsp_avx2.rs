//! Scans a row of distances with AVX2: 8 cities at a time.

use super::Level;
use super::instructions::{Instructions, Task, proof};
use crate::atsp::partial::rows::{Kernel, Row};
use std::arch::x86_64::*;

const LANES: usize = 8;

proof!(Lanes: Level::Avx2, "avx2,bmi1,bmi2,lzcnt,popcnt");

impl Kernel for Lanes {
    #[inline]
    fn open(&self, row: &Row, cities: usize, left: u64, limit: i32) -> u64 {
        // SAFETY: `new` checked for the instructions.
        unsafe { open(row, cities, left, limit) }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn open(row: &Row, cities: usize, left: u64, limit: i32) -> u64 {
    let limits = _mm256_set1_epi32(limit);
    let (low, high) = (left as u32, (left >> 32) as u32);
    let (lows, highs) =
        (_mm256_set1_epi32(low.cast_signed()), _mm256_set1_epi32(high.cast_signed()));
    let mut open = 0;
    for block in 0..cities.div_ceil(LANES).min(row.costs.len() / LANES) {
        let at = LANES * block;
        // SAFETY: the arrays hold a whole block from there.
        let (costs, low_bits, high_bits) = unsafe {
            (
                _mm256_loadu_si256(row.costs.as_ptr().add(at).cast()),
                _mm256_loadu_si256(row.low.as_ptr().add(at).cast()),
                _mm256_loadu_si256(row.high.as_ptr().add(at).cast()),
            )
        };
        let near = _mm256_cmpgt_epi32(limits, costs);
        let bits =
            _mm256_or_si256(_mm256_and_si256(low_bits, lows), _mm256_and_si256(high_bits, highs));
        let taken = _mm256_cmpeq_epi32(bits, _mm256_setzero_si256());
        let lanes = |mask| _mm256_movemask_ps(_mm256_castsi256_ps(mask)).cast_unsigned();
        open |= u64::from(lanes(_mm256_andnot_si256(taken, near))) << at;
        if lanes(near) != 0xff {
            break;
        }
    }
    open
}

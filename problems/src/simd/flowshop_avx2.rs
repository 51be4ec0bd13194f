//! Flowshop kernels for AVX2: 8 jobs at a time in 16-bit words, 4 in 32-bit words.

pub(crate) use words16::Words16;
pub(crate) use words32::Words32;

use super::Level;
use super::flowshop::kernel;
use super::instructions::{Instructions, Task, proof};
use crate::flowshop::johnson::Step;
use crate::flowshop::kernel::{BlockStats, Kernel, Limits, SIDES, least_lane};
use crate::flowshop::tables::Partial;
use std::arch::x86_64::*;
use std::arch::x86_64::{_mm256_and_si256 as and, _mm256_setzero_si256 as zero};

type Vector = __m256i;

/// A bit for each lane whose words differ, given lanes of `BYTES` bytes.
#[target_feature(enable = "avx2,bmi2")]
#[inline]
fn differ<const BYTES: u32>(equal: Vector) -> u32 {
    let bytes = !_mm256_movemask_epi8(equal).cast_unsigned();
    _pext_u32(bytes, if BYTES == 2 { 0x5555_5555 } else { 0x1111_1111 })
}

// SAFETY: the caller provides a whole vector of words.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn load<W>(from: *const W) -> Vector {
    // SAFETY: the caller's promise.
    unsafe { _mm256_loadu_si256(from.cast()) }
}

// SAFETY: the caller provides a whole vector of words.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn store<W>(to: *mut W, words: Vector) {
    // SAFETY: the caller's promise.
    unsafe { _mm256_storeu_si256(to.cast(), words) };
}

mod words16 {
    use super::*;
    use std::arch::x86_64::{_mm256_add_epi16 as add, _mm256_max_epu16 as max};

    // SAFETY: the caller provides two words.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn pair(from: *const u16) -> Vector {
        // SAFETY: the caller's promise.
        _mm256_set1_epi32(unsafe { from.cast::<i32>().read_unaligned() })
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn all(word: u16) -> Vector {
        _mm256_set1_epi16(word.cast_signed())
    }

    #[target_feature(enable = "avx2,bmi2")]
    #[inline]
    fn below(a: Vector, b: Vector) -> u32 {
        differ::<2>(_mm256_cmpeq_epi16(max(a, b), a))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn lead(words: Vector, mask: u32) -> i64 {
        // The jobs of a block live in pairs of lanes: one bit of each pair decides for both.
        let bits = _mm256_setr_epi32(1, 4, 16, 64, 256, 1024, 4096, 16384);
        let pairs = _mm256_and_si256(_mm256_set1_epi32(mask.cast_signed()), bits);
        let words = _mm256_and_si256(words, _mm256_cmpeq_epi32(pairs, bits));
        let even = _mm256_and_si256(words, _mm256_set1_epi32(0xffff));
        let lead = _mm256_sub_epi32(even, _mm256_srli_epi32::<16>(words));
        let (low, high) = (_mm256_castsi256_si128(lead), _mm256_extracti128_si256::<1>(lead));
        let four = _mm_add_epi32(low, high);
        let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
        let one = _mm_add_epi32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two));
        _mm_cvtsi128_si32(one).into()
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn least(words: Vector, mask: u32) -> (usize, u16) {
        let mut lanes = [0; 16];
        // SAFETY: as many words as lanes.
        unsafe { store(lanes.as_mut_ptr(), words) };
        least_lane(&lanes, mask)
    }

    kernel!(Words16: Level::Avx2, "avx2,bmi2,popcnt", u16, 16);
}

mod words32 {
    use super::*;
    use std::arch::x86_64::{_mm256_add_epi32 as add, _mm256_max_epu32 as max};

    // SAFETY: the caller provides two words.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn pair(from: *const u32) -> Vector {
        // SAFETY: the caller's promise.
        _mm256_set1_epi64x(unsafe { from.cast::<i64>().read_unaligned() })
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn all(word: u32) -> Vector {
        _mm256_set1_epi32(word.cast_signed())
    }

    #[target_feature(enable = "avx2,bmi2")]
    #[inline]
    fn below(a: Vector, b: Vector) -> u32 {
        differ::<4>(_mm256_cmpeq_epi32(max(a, b), a))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn lead(words: Vector, mask: u32) -> i64 {
        let mut lanes = [0u32; 8];
        // SAFETY: as many words as lanes.
        unsafe { store(lanes.as_mut_ptr(), words) };
        let alive = (0..8).filter(|lane| mask >> lane & 1 == 1);
        let signed = |lane: usize| i64::from(lanes[lane]) * (1 - 2 * (lane as i64 % 2));
        alive.map(signed).sum()
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn least(words: Vector, mask: u32) -> (usize, u32) {
        let mut lanes = [0; 8];
        // SAFETY: as many words as lanes.
        unsafe { store(lanes.as_mut_ptr(), words) };
        least_lane(&lanes, mask)
    }

    kernel!(Words32: Level::Avx2, "avx2,bmi2,popcnt", u32, 8);
}

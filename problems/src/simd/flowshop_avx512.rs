//! The flowshop kernels for AVX-512: 16 jobs at a time in words of 16 bits, 8 in words of 32.

pub(crate) use words16::Words16;
pub(crate) use words32::Words32;

use super::Level;
use super::flowshop::kernel;
use crate::flowshop::kernel::{Kernel, Limits, Tally};
use crate::flowshop::tables::Partial;
use std::arch::x86_64::*;

type Vector = __m512i;

#[target_feature(enable = "avx512f")]
#[inline]
fn zero() -> Vector {
    _mm512_setzero_si512()
}

mod words16 {
    use super::*;

    // SAFETY: the caller has a whole vector of words there.
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn load(from: *const u16) -> Vector {
        // SAFETY: the caller's promise.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    // SAFETY: the caller has a whole vector of words there.
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn store(to: *mut u16, words: Vector) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_si512(to.cast(), words) };
    }

    // SAFETY: the caller has two words there.
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn pair(from: *const u16) -> Vector {
        // SAFETY: the caller's promise.
        _mm512_set1_epi32(unsafe { from.cast::<i32>().read_unaligned() })
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn all(word: u16) -> Vector {
        _mm512_set1_epi16(word.cast_signed())
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn add(a: Vector, b: Vector) -> Vector {
        _mm512_add_epi16(a, b)
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn max(a: Vector, b: Vector) -> Vector {
        _mm512_max_epu16(a, b)
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn below(a: Vector, b: Vector) -> u32 {
        _mm512_cmplt_epu16_mask(a, b)
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn lead(words: Vector, mask: u32) -> i64 {
        let words = _mm512_maskz_mov_epi16(mask, words);
        let even = _mm512_and_si512(words, _mm512_set1_epi32(0xffff));
        let lead = _mm512_sub_epi32(even, _mm512_srli_epi32::<16>(words));
        _mm512_reduce_add_epi32(lead).into()
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,sse4.1")]
    #[inline]
    fn least(words: Vector, mask: u32) -> (usize, u16) {
        let open = _mm512_mask_mov_epi16(_mm512_set1_epi16(-1), mask, words);
        let (low, high) = (_mm512_castsi512_si256(open), _mm512_extracti64x4_epi64::<1>(open));
        let half = _mm256_min_epu16(low, high);
        let (low, high) = (_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half));
        let least = _mm_cvtsi128_si32(_mm_minpos_epu16(_mm_min_epu16(low, high))) as u16;
        let lanes = _mm512_cmpeq_epu16_mask(open, all(least)) & mask;
        (lanes.trailing_zeros() as usize, least)
    }

    kernel!(Words16: Level::Avx512, "avx512f,avx512bw,avx512vl", u16, 32);
}

mod words32 {
    use super::*;

    // SAFETY: the caller has a whole vector of words there.
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn load(from: *const u32) -> Vector {
        // SAFETY: the caller's promise.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    // SAFETY: the caller has a whole vector of words there.
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn store(to: *mut u32, words: Vector) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_si512(to.cast(), words) };
    }

    // SAFETY: the caller has two words there.
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn pair(from: *const u32) -> Vector {
        // SAFETY: the caller's promise.
        _mm512_set1_epi64(unsafe { from.cast::<i64>().read_unaligned() })
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn all(word: u32) -> Vector {
        _mm512_set1_epi32(word.cast_signed())
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn add(a: Vector, b: Vector) -> Vector {
        _mm512_add_epi32(a, b)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn max(a: Vector, b: Vector) -> Vector {
        _mm512_max_epu32(a, b)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn below(a: Vector, b: Vector) -> u32 {
        _mm512_cmplt_epu32_mask(a, b).into()
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn lead(words: Vector, mask: u32) -> i64 {
        let words = _mm512_maskz_mov_epi32(mask as u16, words);
        let even = _mm512_and_si512(words, _mm512_set1_epi64(0xffff_ffff));
        _mm512_reduce_add_epi64(_mm512_sub_epi64(even, _mm512_srli_epi64::<32>(words)))
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn least(words: Vector, mask: u32) -> (usize, u32) {
        let least = _mm512_mask_reduce_min_epu32(mask as u16, words);
        let lanes = u32::from(_mm512_cmpeq_epu32_mask(words, all(least))) & mask;
        (lanes.trailing_zeros() as usize, least)
    }

    kernel!(Words32: Level::Avx512, "avx512f", u32, 16);
}

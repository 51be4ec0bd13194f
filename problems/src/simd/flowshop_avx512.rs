//! Flowshop kernels for AVX-512: 16 jobs at a time in 16-bit words, 8 in 32-bit words.

pub(crate) use words16::Words16;
pub(crate) use words32::Words32;

use super::Level;
use super::flowshop::kernel;
use super::instructions::{Instructions, Task, proof};
use crate::flowshop::johnson::Step;
use crate::flowshop::kernel::{BlockStats, Kernel, Limits, SIDES};
use crate::flowshop::tables::{Partial, Tables};
use std::arch::x86_64::*;
use std::arch::x86_64::{_mm512_and_si512 as and, _mm512_setzero_si512 as zero};

type Vector = __m512i;

// SAFETY: the caller provides a whole vector of words.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn load<W>(from: *const W) -> Vector {
    // SAFETY: the caller's promise.
    unsafe { _mm512_loadu_si512(from.cast()) }
}

// SAFETY: the caller provides a whole vector of words.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn store<W>(to: *mut W, words: Vector) {
    // SAFETY: the caller's promise.
    unsafe { _mm512_storeu_si512(to.cast(), words) };
}

mod words16 {
    use super::*;
    use std::arch::x86_64::{
        _mm512_add_epi16 as add, _mm512_cmplt_epu16_mask as below, _mm512_max_epu16 as max,
    };

    // SAFETY: the caller provides two words.
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

    /// Places a job at one end, with all machines in two vectors if they fit.
    ///
    /// The completion time on a machine is the prefix sum of the job's times up to it plus the
    /// maximum, over the machines up to it, of the old end minus the prefix sum before that
    /// machine.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,popcnt")]
    #[inline]
    fn place(
        tables: &Tables<u16>,
        before: &Partial<u16>,
        job: u16,
        back: bool,
        after: &mut Partial<u16>,
    ) {
        let (Some(job_words), Some(old), Some(left)) = (
            tables.in_two_vectors(job),
            before.ends.first_chunk::<64>(),
            before.left.first_chunk::<64>(),
        ) else {
            after.place(before, tables.job(job), back);
            return after.look_ahead(tables.least());
        };
        let side = SIDES[usize::from(back)];
        let [times, sums, least] = job_words;
        let (times, sums, least) = (both(times), both(sums), both(least));
        let (old, left) = (both(old), both(left));
        let mut slack = old;
        for i in 0..2 {
            let before = _mm512_sub_epi16(sums[i], times[i]);
            slack[i] = running_max(_mm512_sub_epi16(old[i], before));
        }
        let last = _mm512_permutexvar_epi32(_mm512_set1_epi32(15), slack[0]);
        slack[1] = _mm512_max_epi16(slack[1], last);
        let (mut ends, mut less, mut rest) = (old, left, left);
        for i in 0..2 {
            ends[i] = _mm512_mask_add_epi16(old[i], side, slack[i], sums[i]);
            less[i] = _mm512_sub_epi16(left[i], times[i]);
        }
        let numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        for i in 0..2 {
            let from = _mm512_set1_epi32(tables.width as i32 / 2 - 1 - 16 * i as i32);
            let from = _mm512_sub_epi32(from, numbers);
            let mirrored = _mm512_permutex2var_epi32(ends[0], from, ends[1]);
            rest[i] = add(less[i], max(_mm512_rol_epi32::<16>(mirrored), least[i]));
        }
        put_both(ends, &mut after.ends);
        put_both(less, &mut after.left);
        put_both(rest, &mut after.rest);
    }

    /// 64 words in two vectors.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn both(words: &[u16; 64]) -> [Vector; 2] {
        // SAFETY: two vectors of words.
        unsafe { [load(words.as_ptr()), load(words.as_ptr().add(32))] }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn put_both(from: [Vector; 2], words: &mut [u16]) {
        let words = &mut words[..64];
        // SAFETY: two vectors of words.
        unsafe {
            store(words.as_mut_ptr(), from[0]);
            store(words.as_mut_ptr().add(32), from[1]);
        }
    }

    /// Running maximum of signed words over the pairs of lanes.
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn running_max(words: Vector) -> Vector {
        let least = _mm512_set1_epi16(i16::MIN);
        let words = _mm512_max_epi16(words, _mm512_alignr_epi32::<15>(words, least));
        let words = _mm512_max_epi16(words, _mm512_alignr_epi32::<14>(words, least));
        let words = _mm512_max_epi16(words, _mm512_alignr_epi32::<12>(words, least));
        _mm512_max_epi16(words, _mm512_alignr_epi32::<8>(words, least))
    }

    kernel!(Words16: Level::Avx512, "avx512f,avx512bw,avx512vl,popcnt", u16, 32, place);
}

mod words32 {
    use super::*;
    use std::arch::x86_64::{_mm512_add_epi32 as add, _mm512_max_epu32 as max};

    // SAFETY: the caller provides two words.
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

    kernel!(Words32: Level::Avx512, "avx512f,popcnt", u32, 16);
}

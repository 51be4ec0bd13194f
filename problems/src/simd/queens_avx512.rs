//! Queens kernels for AVX-512: 32 lanes of 16 bits for boards up to 16, else 16 lanes of 32 bits.

use super::Level;
use super::instructions::proof;
use super::queens::kernel;
use crate::queens::layer::{Kernel, Layer, Limits, PAD, VisitCounts};
use std::arch::x86_64::*;
use std::arch::x86_64::{_mm512_or_si512 as or, _mm512_setzero_si512 as zero};

type Vector = __m512i;

pub use narrow::Words16;
pub use wide::Words32;

/// Defines the vector operations for one word width.
macro_rules! operations {
    (
        $word:ty, $mask:ty, $ones:ident, $add:ident, $down:ident, $open:ident, $spent:ident,
        $fill:ident, $compress:ident, $expand:ident, $permute:ident
    ) => {
        // SAFETY: the caller provides a whole vector of words.
        #[target_feature(enable = "avx512f")]
        #[inline]
        unsafe fn load(from: *const $word) -> Vector {
            // SAFETY: the caller's promise.
            unsafe { _mm512_loadu_si512(from.cast()) }
        }

        // SAFETY: the caller provides a whole vector of words.
        #[target_feature(enable = "avx512f")]
        #[inline]
        unsafe fn store(to: *mut $word, words: Vector) {
            // SAFETY: the caller's promise.
            unsafe { _mm512_storeu_si512(to.cast(), words) };
        }

        #[target_feature(enable = "avx512f,avx512bw")]
        #[inline]
        fn up(words: Vector) -> Vector {
            // An addition finds a free port more often than a shift.
            $add(words, words)
        }

        #[target_feature(enable = "avx512f,avx512bw")]
        #[inline]
        fn down(words: Vector) -> Vector {
            $down::<1>(words)
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn none(a: Vector, b: Vector, c: Vector) -> Vector {
            _mm512_ternarylogic_epi32::<0b0000_0001>(a, b, c)
        }

        #[target_feature(enable = "avx512f,avx512bw")]
        #[inline]
        fn lowest(words: Vector) -> (Vector, Vector) {
            let less = $add(words, $ones(-1));
            (_mm512_andnot_si512(less, words), _mm512_and_si512(less, words))
        }

        #[target_feature(enable = "avx512f,avx512bw")]
        #[inline]
        fn open(words: Vector) -> u32 {
            u32::from($open(words, words))
        }

        #[target_feature(enable = "avx512f,avx512bw")]
        #[inline]
        fn spent(words: Vector) -> u32 {
            u32::from($spent(words, words))
        }

        #[target_feature(enable = "avx512f,avx512bw")]
        #[inline]
        fn fill(old: Vector, mask: u32, new: Vector) -> Vector {
            $fill(old, mask as $mask, new)
        }

        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2")]
        #[inline]
        fn compress(mask: u32, [a, b, c]: [Vector; 3]) -> [Vector; 3] {
            // Compressing the order once and permuting three times is cheaper than compressing
            // three times.
            let order = $compress(mask as $mask, order());
            [$permute(order, a), $permute(order, b), $permute(order, c)]
        }

        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2")]
        #[inline]
        fn expand(old: [Vector; 3], mask: u32, [a, b, c]: [Vector; 3]) -> [Vector; 3] {
            let order = $expand(mask as $mask, order());
            let [a, b, c] = [$permute(order, a), $permute(order, b), $permute(order, c)];
            [fill(old[0], mask, a), fill(old[1], mask, b), fill(old[2], mask, c)]
        }
    };
}

mod narrow {
    use super::*;

    /// The index of each lane, as bytes: there is a fast permutation of bytes, but not of words.
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn order() -> Vector {
        const ORDER: [u16; 32] = {
            let mut order = [0; 32];
            let mut lane = 0;
            while lane < 32 {
                order[lane] = u16::from_le_bytes([2 * lane as u8, 2 * lane as u8 + 1]);
                lane += 1;
            }
            order
        };
        // SAFETY: there are as many words as the vector has lanes.
        unsafe { load(ORDER.as_ptr()) }
    }

    operations!(
        u16,
        u32,
        _mm512_set1_epi16,
        _mm512_add_epi16,
        _mm512_srli_epi16,
        _mm512_test_epi16_mask,
        _mm512_testn_epi16_mask,
        _mm512_mask_mov_epi16,
        _mm512_maskz_compress_epi16,
        _mm512_maskz_expand_epi16,
        _mm512_permutexvar_epi8
    );
    kernel!(Words16: Level::Avx512, "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt", u16, 32 * 4);
}

mod wide {
    use super::*;

    /// The index of each lane.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn order() -> Vector {
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    }

    operations!(
        u32,
        u16,
        _mm512_set1_epi32,
        _mm512_add_epi32,
        _mm512_srli_epi32,
        _mm512_test_epi32_mask,
        _mm512_testn_epi32_mask,
        _mm512_mask_mov_epi32,
        _mm512_maskz_compress_epi32,
        _mm512_maskz_expand_epi32,
        _mm512_permutexvar_epi32
    );
    kernel!(Words32: Level::Avx512, "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt", u32, 16 * 4);
}

//! The queens kernel for AVX2: 8 lanes of 32 bits, moved by permutations from tables.

use super::Level;
use super::instructions::proof;
use super::queens::kernel;
use crate::queens::layer::{Kernel, Layer, Limits, PAD, VisitCounts};
use std::arch::x86_64::*;
use std::arch::x86_64::{_mm256_or_si256 as or, _mm256_setzero_si256 as zero};

type Vector = __m256i;

/// For each mask of lanes, the permutation that moves them to the front.
static COMPRESS: [[u32; 8]; 256] = permutations(true);
/// For each mask of lanes, the permutation that fills them from the front.
static EXPAND: [[u32; 8]; 256] = permutations(false);

const fn permutations(compress: bool) -> [[u32; 8]; 256] {
    let mut table = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut nth) = (0, 0);
        while lane < 8 {
            if mask >> lane & 1 == 1 {
                let (to, from) = if compress { (nth, lane) } else { (lane, nth) };
                table[mask][to] = from as u32;
                nth += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
}

// SAFETY: the caller provides a whole vector of words.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn load(from: *const u32) -> Vector {
    // SAFETY: the caller's promise.
    unsafe { _mm256_loadu_si256(from.cast()) }
}

// SAFETY: the caller provides a whole vector of words.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn store(to: *mut u32, words: Vector) {
    // SAFETY: the caller's promise.
    unsafe { _mm256_storeu_si256(to.cast(), words) };
}

#[target_feature(enable = "avx2")]
#[inline]
fn up(words: Vector) -> Vector {
    _mm256_add_epi32(words, words)
}

#[target_feature(enable = "avx2")]
#[inline]
fn down(words: Vector) -> Vector {
    _mm256_srli_epi32::<1>(words)
}

#[target_feature(enable = "avx2")]
#[inline]
fn none(a: Vector, b: Vector, c: Vector) -> Vector {
    _mm256_andnot_si256(or(or(a, b), c), _mm256_set1_epi32(-1))
}

#[target_feature(enable = "avx2")]
#[inline]
fn lowest(words: Vector) -> (Vector, Vector) {
    let less = _mm256_add_epi32(words, _mm256_set1_epi32(-1));
    (_mm256_andnot_si256(less, words), _mm256_and_si256(less, words))
}

#[target_feature(enable = "avx2")]
#[inline]
fn open(words: Vector) -> u32 {
    !spent(words) & 0xff
}

#[target_feature(enable = "avx2")]
#[inline]
fn spent(words: Vector) -> u32 {
    let zero = _mm256_cmpeq_epi32(words, zero());
    _mm256_movemask_ps(_mm256_castsi256_ps(zero)).cast_unsigned()
}

#[target_feature(enable = "avx2")]
#[inline]
fn fill(old: Vector, _mask: u32, new: Vector) -> Vector {
    // The lanes of the mask are those that are zero.
    _mm256_blendv_epi8(old, new, _mm256_cmpeq_epi32(old, zero()))
}

#[target_feature(enable = "avx2")]
#[inline]
fn permute(table: &[[u32; 8]; 256], mask: u32, words: Vector) -> Vector {
    // SAFETY: a row of the table is as long as a vector.
    let order = unsafe { load(table[(mask & 0xff) as usize].as_ptr()) };
    _mm256_permutevar8x32_epi32(words, order)
}

#[target_feature(enable = "avx2")]
#[inline]
fn compress(mask: u32, words: [Vector; 3]) -> [Vector; 3] {
    words.map(|words| permute(&COMPRESS, mask, words))
}

#[target_feature(enable = "avx2")]
#[inline]
fn expand(old: [Vector; 3], mask: u32, new: [Vector; 3]) -> [Vector; 3] {
    let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    let picked = _mm256_and_si256(_mm256_set1_epi32(mask.cast_signed()), bits);
    let picked = _mm256_cmpeq_epi32(picked, bits);
    let filled = new.map(|new| permute(&EXPAND, mask, new));
    std::array::from_fn(|i| _mm256_blendv_epi8(old[i], filled[i], picked))
}

kernel!(Words32: Level::Avx2, "avx2,popcnt", u32, 8 * 3);

//! Sparse × dense in vectors: up to three rows with common columns at a time, and up to eight vectors of each.

use crate::sparse::rows::{Caching, Rows};
use pleach_core::search::level::Level;

/// A pass for one kind of numbers and vectors: all tiles of a group of rows.
macro_rules! product {
    ($name:ident, $features:literal, $number:ty, $lanes:literal, $most:literal, $mask:ty, $full:expr, $mask_of:expr,
     $zero:ident, $set:ident, $fma:ident, $load:ident, $masked_load:expr, $store:ident, $masked_store:expr,
     $stream:expr) => {
        mod $name {
            use super::{Caching, Rows};
            use std::arch::x86_64::*;

            type Number = $number;
            const LANES: usize = $lanes;

            /// Where a tile of vectors lies within the rows.
            struct Tile {
                column: usize,
                /// The mask of the last vector.
                mask: $mask,
                whole: bool,
            }

            /// All tiles of a group's rows.
            #[target_feature(enable = $features)]
            pub fn rows(rows: &Rows<'_, Number>, dense: (&[Number], usize), how: Caching, out: &mut [Number]) {
                let width = dense.1;
                if width == 0 {
                    return;
                }
                super::check(rows, dense.0.len() / width);
                let mut column = 0;
                while column < width {
                    let vectors = (width - column).div_ceil(LANES).min($most);
                    let last = (width - column).min(vectors * LANES) - (vectors - 1) * LANES;
                    let mask = if last == LANES { $full } else { $mask_of(last) };
                    let tile = Tile { column, mask, whole: last == LANES };
                    macro_rules! dispatch {
                        ($rows:literal: $v:literal) => { pass::<$rows, $v>(rows, dense, &tile, how, out) };
                    }
                    match (rows.count, vectors) {
                        (3, 1) => dispatch!(3: 1),
                        (3, 2) => dispatch!(3: 2),
                        (3, 3) => dispatch!(3: 3),
                        (3, 4) => dispatch!(3: 4),
                        (3, 5) => dispatch!(3: 5),
                        (3, 6) => dispatch!(3: 6),
                        (3, 7) => dispatch!(3: 7),
                        (3, _) => dispatch!(3: $most),
                        (_, 1) => dispatch!(1: 1),
                        (_, 2) => dispatch!(1: 2),
                        (_, 3) => dispatch!(1: 3),
                        (_, 4) => dispatch!(1: 4),
                        (_, 5) => dispatch!(1: 5),
                        (_, 6) => dispatch!(1: 6),
                        (_, 7) => dispatch!(1: 7),
                        _ => dispatch!(1: $most),
                    }
                    column += vectors * LANES;
                }
            }

            /// One tile: the columns that all rows share, then each row's other columns.
            #[target_feature(enable = $features)]
            fn pass<const R: usize, const V: usize>(
                rows: &Rows<'_, Number>,
                (dense, width): (&[Number], usize),
                tile: &Tile,
                Caching { ahead, streams }: Caching,
                out: &mut [Number],
            ) {
                let mut sums = [[$zero(); V]; R];
                let base = dense.as_ptr().wrapping_add(tile.column);
                let common = rows.common;
                let values: [&[Number]; R] = std::array::from_fn(|r| &rows.values[r][..common.len()]);
                for k in 0..common.len() {
                    let from = base.wrapping_add(common[k] as usize * width);
                    if ahead > 0 && let Some(&next) = rows.next.get(k + ahead) {
                        fetch::<V>(base.wrapping_add(next as usize * width));
                    }
                    let times: [_; R] = std::array::from_fn(|r| $set(values[r][k]));
                    for v in 0..V {
                        // SAFETY: the column is below the height of the dense matrix, and the mask leaves out
                        // what lies beyond the row.
                        let x = unsafe { load::<V>(from, v, tile.mask) };
                        for r in 0..R {
                            sums[r][v] = $fma(times[r], x, sums[r][v]);
                        }
                    }
                }
                for r in 0..R {
                    let (columns, values) = rows.beside[r];
                    for (k, (&column, &value)) in columns.iter().zip(values).enumerate() {
                        if ahead > 0 && let Some(&next) = columns.get(k + ahead) {
                            fetch::<V>(base.wrapping_add(next as usize * width));
                        }
                        let from = base.wrapping_add(column as usize * width);
                        let times = $set(value);
                        for v in 0..V {
                            // SAFETY: as above.
                            let x = unsafe { load::<V>(from, v, tile.mask) };
                            sums[r][v] = $fma(times, x, sums[r][v]);
                        }
                    }
                }
                for (r, sums) in sums.into_iter().enumerate() {
                    let to = out[r * width + tile.column..(r + 1) * width].as_mut_ptr();
                    let streams = streams && tile.whole && to.align_offset(LANES * size_of::<Number>()) == 0;
                    for (v, sum) in sums.into_iter().enumerate() {
                        let to = to.wrapping_add(v * LANES);
                        // SAFETY: a vector in the row, complete except for the last one, whose mask leaves out the
                        // rest; streamed only if complete and aligned.
                        unsafe {
                            if streams {
                                $stream(to.cast(), sum);
                            } else if v + 1 < V {
                                $store(to.cast(), sum);
                            } else {
                                $masked_store(to.cast(), tile.mask, sum);
                            }
                        }
                    }
                }
            }

            /// Loads vector `v` of `V`; the last one by its mask.
            ///
            /// # Safety
            /// The numbers that are read belong to the matrix.
            #[target_feature(enable = $features)]
            #[inline]
            unsafe fn load<const V: usize>(from: *const Number, v: usize, mask: $mask) -> Vector {
                let from = from.wrapping_add(v * LANES);
                // SAFETY: as the caller says.
                unsafe { if v + 1 < V { $load(from.cast()) } else { $masked_load(mask, from.cast()) } }
            }

            type Vector = super::vector::$name;

            /// Prefetches the lines of a row that will be needed soon. Older compilers call the hint unsafe.
            #[allow(unused_unsafe)]
            #[target_feature(enable = $features)]
            #[inline]
            fn fetch<const V: usize>(row: *const Number) {
                for v in 0..V {
                    // SAFETY: a hint, which reads nothing.
                    unsafe { _mm_prefetch(row.wrapping_add(v * LANES).cast::<i8>(), _MM_HINT_T0) };
                }
            }
        }
    };
}

/// Checks what the passes rely on.
fn check<T>(rows: &Rows<'_, T>, height: usize) {
    let below = |columns: &[u32]| columns.iter().fold(0, |most, &it| most.max(it)) < height as u32;
    let inside = |columns: &[u32]| columns.is_empty() || below(columns);
    assert!(inside(rows.common) && rows.beside.iter().all(|(columns, _)| inside(columns)));
    assert!(u32::try_from(height).is_ok());
}

/// Names the vectors like their modules.
#[allow(non_camel_case_types)]
mod vector {
    use std::arch::x86_64::{__m256, __m256d, __m512, __m512d};
    pub type wide_f32 = __m512;
    pub type wide_f64 = __m512d;
    pub type half_f32 = __m256;
    pub type half_f64 = __m256d;
}

product!(
    wide_f32,
    "avx512f",
    f32,
    16,
    8,
    __mmask16,
    !0,
    |n: usize| (1u32 << n).wrapping_sub(1) as __mmask16,
    _mm512_setzero_ps,
    _mm512_set1_ps,
    _mm512_fmadd_ps,
    _mm512_loadu_ps,
    |mask, from| _mm512_maskz_loadu_ps(mask, from),
    _mm512_storeu_ps,
    |to, mask, x| _mm512_mask_storeu_ps(to, mask, x),
    |to, x| _mm512_stream_ps(to, x)
);
product!(
    wide_f64,
    "avx512f",
    f64,
    8,
    8,
    __mmask8,
    !0,
    |n: usize| (1u32 << n).wrapping_sub(1) as __mmask8,
    _mm512_setzero_pd,
    _mm512_set1_pd,
    _mm512_fmadd_pd,
    _mm512_loadu_pd,
    |mask, from| _mm512_maskz_loadu_pd(mask, from),
    _mm512_storeu_pd,
    |to, mask, x| _mm512_mask_storeu_pd(to, mask, x),
    |to, x| _mm512_stream_pd(to, x)
);
product!(
    half_f32,
    "avx2,fma",
    f32,
    8,
    4,
    __m256i,
    _mm256_set1_epi32(-1),
    super::first_of_8,
    _mm256_setzero_ps,
    _mm256_set1_ps,
    _mm256_fmadd_ps,
    _mm256_loadu_ps,
    |mask, from| _mm256_maskload_ps(from, mask),
    _mm256_storeu_ps,
    |to, mask, x| _mm256_maskstore_ps(to, mask, x),
    |to, x| _mm256_stream_ps(to, x)
);
product!(
    half_f64,
    "avx2,fma",
    f64,
    4,
    4,
    __m256i,
    _mm256_set1_epi32(-1),
    super::first_of_4,
    _mm256_setzero_pd,
    _mm256_set1_pd,
    _mm256_fmadd_pd,
    _mm256_loadu_pd,
    |mask, from| _mm256_maskload_pd(from, mask),
    _mm256_storeu_pd,
    |to, mask, x| _mm256_maskstore_pd(to, mask, x),
    |to, x| _mm256_stream_pd(to, x)
);

/// A mask of the first of eight lanes.
fn first_of_8(n: usize) -> std::arch::x86_64::__m256i {
    let all: [i32; 8] = std::array::from_fn(|at| if at < n { -1 } else { 0 });
    // SAFETY: both are 32 bytes of which any value is valid.
    unsafe { std::mem::transmute(all) }
}

/// A mask of the first of four lanes.
fn first_of_4(n: usize) -> std::arch::x86_64::__m256i {
    let all: [i64; 4] = std::array::from_fn(|at| if at < n { -1 } else { 0 });
    // SAFETY: both are 32 bytes of which any value is valid.
    unsafe { std::mem::transmute(all) }
}

macro_rules! entry {
    ($name:ident, $number:ty, $level:ident) => {
        /// Writes rows times a dense matrix.
        pub fn $name(
            rows: &Rows<'_, $number>,
            dense: (&[$number], usize),
            how: Caching,
            out: &mut [$number],
        ) {
            assert!(Level::$level.works());
            // SAFETY: the processor supports the level.
            unsafe { $name::rows(rows, dense, how, out) }
        }
    };
}

entry!(wide_f32, f32, Avx512);
entry!(wide_f64, f64, Avx512);
entry!(half_f32, f32, Avx2);
entry!(half_f64, f64, Avx2);

/// Waits until streamed results are in memory.
pub fn settle() {
    // SAFETY: every processor of this kind has the instruction.
    unsafe { std::arch::x86_64::_mm_sfence() };
}

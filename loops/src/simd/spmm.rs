//! Sparse × sparse in AVX-512: up to three rows times several rows at a time; sums are extracted by their bits.

use crate::sparse::matrix::CsrView;
use crate::sparse::rows::TOGETHER;
use crate::sparse::sums::{Sums, WORD};
use crate::sparse::windows::{Group, MOST, Place, Step, Windows};
use pleach_core::search::level::Level;

macro_rules! product {
    ($name:ident, $number:ty, $lanes:literal, $mask:ty, $zero:ident, $set:ident, $masked_fma:ident, $load:ident,
     $masked_load:ident, $store:ident, $compress:ident) => {
        mod $name {
            use super::{CsrView, Group, MOST, Place, Step, Sums, WORD, Windows};
            use std::arch::x86_64::*;

            type Number = $number;
            const LANES: usize = $lanes;
            /// How far ahead values of the second matrix are fetched.
            const AHEAD: usize = 256 / size_of::<Number>();

            /// Adds rows of `a` with the same columns, times the groups of rows for those columns.
            #[target_feature(enable = "avx512f,avx512vl,avx512dq")]
            pub fn add<const R: usize>(
                (a, row): (&CsrView<'_, Number>, usize),
                (b, places): (&Windows<'_, Number>, &[Place]),
                sums: &mut Sums<Number>,
            ) {
                let columns = &a.columns[a.row(row)];
                let values: [&[Number]; R] =
                    std::array::from_fn(|r| &a.values[a.row(row + r)][..columns.len()]);
                let mut at = 0;
                for &place in places {
                    let group = b.group(place);
                    let values = values.map(|values| &values[at..at + group.count]);
                    if group.wide {
                        times::<R, 2>(values, b.matrix(), group, sums);
                    } else {
                        times::<R, 1>(values, b.matrix(), group, sums);
                    }
                    at += group.count;
                }
            }

            /// Adds values times the rows of a group, keeping the sums of one window in registers.
            #[target_feature(enable = "avx512f,avx512vl,avx512dq")]
            fn times<const R: usize, const V: usize>(
                values: [&[Number]; R],
                matrix: &CsrView<'_, Number>,
                group: Group<'_>,
                sums: &mut Sums<Number>,
            ) {
                let mut rows = [std::ptr::null(); MOST];
                let rows = &mut rows[..group.count];
                for (k, row) in rows.iter_mut().enumerate() {
                    *row = matrix.of_row(group.row + k).1.as_ptr();
                }
                let steps = group.steps.chunks_exact(rows.len());
                for (window, steps) in group.windows.iter().zip(steps) {
                    let first = group.first(window);
                    let mut all = [[$zero(); V]; R];
                    for r in 0..R {
                        let from = &sums.of[r][first as usize..][..V * LANES];
                        for v in 0..V {
                            // SAFETY: a vector of the slice.
                            all[r][v] = unsafe { $load(from.as_ptr().wrapping_add(v * LANES)) };
                        }
                    }
                    for (k, &Step { mask, place }) in steps.iter().enumerate() {
                        let from = rows[k].wrapping_offset(place as isize);
                        _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(AHEAD).cast());
                        for v in 0..V {
                            let mask = (mask >> (v * LANES)) as $mask;
                            // SAFETY: the steps of a row refer only to its own values; the mask leaves out the rest.
                            let x = unsafe { $masked_load(mask, from.wrapping_add(v * LANES)) };
                            for r in 0..R {
                                all[r][v] = $masked_fma($set(values[r][k]), x, all[r][v], mask);
                            }
                        }
                    }
                    for r in 0..R {
                        let to = &mut sums.of[r][first as usize..][..V * LANES];
                        for v in 0..V {
                            // SAFETY: a vector of the slice. Masked-out lanes keep their content.
                            unsafe { $store(to.as_mut_ptr().wrapping_add(v * LANES), all[r][v]) };
                        }
                    }
                }
            }

            /// Extracts the columns and sums of the first rows, as the pattern says. Returns whether there is room for
            /// exactly these; if not, they are lost.
            #[target_feature(enable = "avx512f,avx512vl,avx512dq")]
            pub fn take(
                sums: &mut Sums<Number>,
                rows: usize,
                (columns, values): (&mut [u32], &mut [Number]),
                streams: bool,
            ) -> bool {
                let mut at = 0;
                let steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                let Sums { pattern, of, columns: all_columns, values: all_values, .. } = sums;
                let most = pattern.len() * WORD + 16;
                all_columns.resize(all_columns.len().max(most), 0);
                for row in &mut all_values[..rows] {
                    row.resize(row.len().max(most), 0.0);
                }
                for &(word, bits) in &*pattern {
                    let first = word as usize * WORD;
                    for part in 0..WORD / LANES {
                        let mask = (bits >> (part * LANES)) as $mask;
                        if mask == 0 {
                            continue;
                        }
                        let from = first + part * LANES;
                        let numbers = _mm512_add_epi32(_mm512_set1_epi32(from as i32), steps);
                        let packed = _mm512_maskz_compress_epi32(mask.into(), numbers);
                        let to = &mut all_columns[at..at + 16];
                        // SAFETY: as many columns as a vector has.
                        unsafe { _mm512_storeu_epi32(to.as_mut_ptr().cast(), packed) };
                        for row in 0..rows {
                            let sum = &mut of[row][from..from + LANES];
                            let to = &mut all_values[row][at..at + LANES];
                            // SAFETY: whole vectors.
                            unsafe {
                                $store(to.as_mut_ptr(), $compress(mask, $load(sum.as_ptr())));
                                $store(sum.as_mut_ptr(), $zero());
                            }
                        }
                        at += mask.count_ones() as usize;
                    }
                }
                if at * rows != columns.len() {
                    return false;
                }
                for (row, from) in all_values[..rows].iter().enumerate() {
                    let place = row * at..(row + 1) * at;
                    put(&all_columns[..at], &mut columns[place.clone()], streams);
                    put(&from[..at], &mut values[place], streams);
                }
                true
            }

            /// Copies numbers, past the caches if requested.
            #[target_feature(enable = "avx512f")]
            fn put<N: Copy>(from: &[N], to: &mut [N], streams: bool) {
                assert_eq!(from.len(), to.len());
                let head = to.as_ptr().align_offset(64).min(to.len());
                let vectors = (to.len() - head) * size_of::<N>() / 64;
                if !streams || vectors == 0 {
                    return to.copy_from_slice(from);
                }
                let middle = head + vectors * 64 / size_of::<N>();
                to[..head].copy_from_slice(&from[..head]);
                to[middle..].copy_from_slice(&from[middle..]);
                let (from, to) = (&from[head..middle], &mut to[head..middle]);
                for at in 0..vectors {
                    // SAFETY: whole vectors of both, at the beginning of cache lines.
                    unsafe {
                        let x =
                            _mm512_loadu_si512(from.as_ptr().cast::<__m512i>().wrapping_add(at));
                        _mm512_stream_si512(to.as_mut_ptr().cast::<__m512i>().wrapping_add(at), x);
                    }
                }
            }
        }
    };
}

product!(
    single, f32, 16, __mmask16, _mm512_setzero_ps, _mm512_set1_ps, _mm512_mask3_fmadd_ps,
    _mm512_loadu_ps, _mm512_maskz_loadu_ps, _mm512_storeu_ps, _mm512_maskz_compress_ps
);
product!(
    double, f64, 8, __mmask8, _mm512_setzero_pd, _mm512_set1_pd, _mm512_mask3_fmadd_pd,
    _mm512_loadu_pd, _mm512_maskz_loadu_pd, _mm512_storeu_pd, _mm512_maskz_compress_pd
);

macro_rules! entries {
    ($module:ident, $number:ty, $add:ident, $take:ident) => {
        /// Adds three rows with the same columns, or one, times another matrix.
        pub fn $add(
            (a, row, rows): (&CsrView<'_, $number>, usize, usize),
            b: (&Windows<'_, $number>, &[Place]),
            sums: &mut Sums<$number>,
        ) {
            assert!(Level::Avx512.works());
            // SAFETY: the processor supports the level.
            unsafe {
                match rows {
                    TOGETHER => $module::add::<TOGETHER>((a, row), b, sums),
                    _ => $module::add::<1>((a, row), b, sums),
                }
            }
        }

        /// Extracts the columns and sums of the first rows. Returns whether there is room for exactly these.
        pub fn $take(
            sums: &mut Sums<$number>,
            rows: usize,
            out: (&mut [u32], &mut [$number]),
            streams: bool,
        ) -> bool {
            assert!(Level::Avx512.works());
            // SAFETY: the processor supports the level.
            unsafe { $module::take(sums, rows, out, streams) }
        }
    };
}

entries!(single, f32, add_f32, take_f32);
entries!(double, f64, add_f64, take_f64);

//! Sparse × sparse in AVX-512: up to three rows times up to three rows at a time, and sums taken out by their bits.

use crate::sparse::matrix::Csr;
use crate::sparse::patterns::{MOST, Patterned, Run};
use crate::sparse::rows::TOGETHER;
use crate::sparse::sums::{Sums, WORD};
use pleach_core::level::Level;

macro_rules! product {
    ($name:ident, $number:ty, $lanes:literal, $mask:ty, $zero:ident, $set:ident, $masked_fma:ident, $load:ident,
     $masked_load:ident, $store:ident, $masked_store:ident, $compress:ident) => {
        mod $name {
            use super::{Csr, MOST, Patterned, Run, Sums, WORD};
            use std::arch::x86_64::*;
            use std::ops::Range;

            type Number = $number;
            const LANES: usize = $lanes;

            /// Adds rows of `a`, which have the same columns, times `b`, and marks the columns.
            #[target_feature(enable = "avx512f,avx512vl,avx512dq")]
            pub fn add<const R: usize>(
                (a, row): (&Csr<Number>, usize),
                b: &Patterned<'_, Number>,
                sums: &mut Sums<Number>,
            ) {
                let columns = &a.columns[a.row(row)];
                let values: [&[Number]; R] =
                    std::array::from_fn(|r| &a.values[a.row(row + r)][..columns.len()]);
                let (mut at, patterns) = (0, b.patterns());
                while at < columns.len() {
                    let rest = &columns[at..];
                    let one = patterns.together(rest, LANES);
                    let two = if one == MOST { 0 } else { patterns.together(rest, 2 * LANES) };
                    if two == 0 && one == 0 {
                        long::<R>(&values, at, rest[0] as usize, b, sums);
                        at += 1;
                    } else if two > one {
                        times::<R, 2>(&values, at..at + two, rest[0] as usize, b, sums);
                        at += two;
                    } else {
                        times::<R, 1>(&values, at..at + one, rest[0] as usize, b, sums);
                        at += one;
                    }
                }
            }

            /// Adds the values at some places times the rows of `b` from `column` on, whose runs lie together: the sums
            /// for one run of all of these rows stay in registers.
            #[target_feature(enable = "avx512f,avx512vl,avx512dq")]
            fn times<const R: usize, const V: usize>(
                values: &[&[Number]; R],
                places: Range<usize>,
                column: usize,
                b: &Patterned<'_, Number>,
                sums: &mut Sums<Number>,
            ) {
                let count = places.len().min(MOST);
                let values: [&[Number]; R] =
                    std::array::from_fn(|r| &values[r][places.start..][..count]);
                let runs = &b.patterns().runs_of(column, count)[..count];
                let mut rest = [std::ptr::null(); MOST];
                for k in 0..count {
                    rest[k] = b.matrix().of_row(column + k).1.as_ptr();
                }
                for u in 0..runs[0].len() {
                    let first = runs.iter().map(|runs| runs[u].column).min().unwrap_or(0);
                    let mut all = [[$zero(); V]; R];
                    for r in 0..R {
                        let from = &sums.of[r][first as usize..][..V * LANES];
                        for v in 0..V {
                            // SAFETY: a vector of the slice.
                            all[r][v] = unsafe { $load(from.as_ptr().wrapping_add(v * LANES)) };
                        }
                    }
                    let mut marked = 0;
                    for k in 0..count {
                        // SAFETY: there are `count` of all, and every row has as many runs as the first.
                        let run = unsafe { *runs.get_unchecked(k).get_unchecked(u) };
                        let Run { column, length } = run;
                        let from = rest[k];
                        rest[k] = from.wrapping_add(length as usize);
                        let off = column - first;
                        let mask = ((1u64 << length) - 1) << off;
                        marked |= mask;
                        let from = from.wrapping_sub(off as usize);
                        let times: [_; R] = std::array::from_fn(|r| $set(values[r][k]));
                        for v in 0..V {
                            let mask = (mask >> (v * LANES)) as $mask;
                            // SAFETY: the runs of a row cover its values; the mask leaves out what lies beside this one.
                            let x = unsafe { $masked_load(mask, from.wrapping_add(v * LANES)) };
                            for r in 0..R {
                                all[r][v] = $masked_fma(times[r], x, all[r][v], mask);
                            }
                        }
                    }
                    sums.mark_some(first, marked);
                    for r in 0..R {
                        let to = &mut sums.of[r][first as usize..][..V * LANES];
                        for v in 0..V {
                            // SAFETY: a vector of the slice. What masks left out is as it was.
                            unsafe { $store(to.as_mut_ptr().wrapping_add(v * LANES), all[r][v]) };
                        }
                    }
                }
            }

            /// Adds a value times a row of `b` with long runs.
            #[target_feature(enable = "avx512f,avx512vl,avx512dq")]
            fn long<const R: usize>(
                values: &[&[Number]; R],
                at: usize,
                column: usize,
                b: &Patterned<'_, Number>,
                sums: &mut Sums<Number>,
            ) {
                let mut rest = b.matrix().of_row(column).1;
                for run in b.patterns().runs(column) {
                    (run.column..run.column + run.length).for_each(|column| sums.mark(column));
                    let (run_values, more) = rest.split_at(run.length as usize);
                    rest = more;
                    for r in 0..R {
                        let to = &mut sums.of[r][run.column as usize..][..run_values.len()];
                        let time = values[r][at];
                        to.iter_mut()
                            .zip(run_values)
                            .for_each(|(sum, &x)| *sum = time.mul_add(x, *sum));
                    }
                }
            }

            /// Takes out the columns and the sums of the first rows, as the pattern says.
            #[target_feature(enable = "avx512f,avx512vl,avx512dq")]
            pub fn take(
                sums: &mut Sums<Number>,
                rows: usize,
                columns: &mut [u32],
                values: &mut [Number],
            ) {
                let each = columns.len() / rows;
                let mut at = 0;
                let steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                for &(word, bits) in &sums.pattern {
                    let first = word as usize * WORD;
                    for part in 0..WORD / LANES {
                        let mask = (bits >> (part * LANES)) as $mask;
                        if mask == 0 {
                            continue;
                        }
                        let from = first + part * LANES;
                        let count = mask.count_ones() as usize;
                        let low = (1u32 << count).wrapping_sub(1) as $mask;
                        let all = _mm512_add_epi32(_mm512_set1_epi32(from as i32), steps);
                        let packed = _mm512_maskz_compress_epi32(mask.into(), all);
                        for row in 0..rows {
                            let place = row * each + at..row * each + at + count;
                            let column = &mut columns[place.clone()];
                            let value = &mut values[place];
                            let sum = &mut sums.of[row][from..from + LANES];
                            // SAFETY: whole vectors of sums, and as many columns and values as there is room for.
                            unsafe {
                                let x = $compress(mask, $load(sum.as_ptr()));
                                $masked_store(value.as_mut_ptr(), low, x);
                                _mm512_mask_storeu_epi32(
                                    column.as_mut_ptr().cast(),
                                    low.into(),
                                    packed,
                                );
                                $store(sum.as_mut_ptr(), $zero());
                            }
                        }
                        at += count;
                    }
                }
            }
        }
    };
}

product!(
    single,
    f32,
    16,
    __mmask16,
    _mm512_setzero_ps,
    _mm512_set1_ps,
    _mm512_mask3_fmadd_ps,
    _mm512_loadu_ps,
    _mm512_maskz_loadu_ps,
    _mm512_storeu_ps,
    _mm512_mask_storeu_ps,
    _mm512_maskz_compress_ps
);
product!(
    double,
    f64,
    8,
    __mmask8,
    _mm512_setzero_pd,
    _mm512_set1_pd,
    _mm512_mask3_fmadd_pd,
    _mm512_loadu_pd,
    _mm512_maskz_loadu_pd,
    _mm512_storeu_pd,
    _mm512_mask_storeu_pd,
    _mm512_maskz_compress_pd
);

macro_rules! entries {
    ($module:ident, $number:ty, $add:ident, $take:ident) => {
        /// Adds three rows that have the same columns, or one, times another matrix, and marks the columns.
        pub fn $add(
            (a, row, rows): (&Csr<$number>, usize, usize),
            b: &Patterned<'_, $number>,
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

        /// Takes out the columns and the sums of the first rows.
        pub fn $take(
            sums: &mut Sums<$number>,
            rows: usize,
            columns: &mut [u32],
            values: &mut [$number],
        ) {
            assert!(Level::Avx512.works());
            // SAFETY: the processor supports the level.
            unsafe { $module::take(sums, rows, columns, values) }
        }
    };
}

entries!(single, f32, add_f32, take_f32);
entries!(double, f64, add_f64, take_f64);

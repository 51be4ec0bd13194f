//! Steps of lattice rows in vectors of AVX-512, and in pairs of AVX2 vectors.

use crate::lattice::group::{Numbers, Row, Wide, step};
use crate::lattice::lanes::{LANES, Lane, Lanes, Lines};
use pleach_core::search::level::Level;
use std::arch::x86_64::*;

/// One vector. Only functions in this file create values, knowing that the processor has AVX-512.
#[derive(Clone, Copy)]
struct Whole(__m512);

/// Two vectors. Only functions in this file create values, knowing that the processor has AVX2.
#[derive(Clone, Copy)]
struct Halves(__m256, __m256);

/// The cells of a slab, borrowed for a row whose lines are all known to be inside.
struct Inside<'a> {
    first: *mut Lane,
    of: std::marker::PhantomData<&'a mut [Lane]>,
}

impl Inside<'_> {
    #[inline(always)]
    fn at(&self, line: usize) -> *mut f32 {
        self.first.wrapping_add(line).cast()
    }

    #[inline(always)]
    fn wanted(&self, line: usize) {
        // SAFETY: a hint, which reads nothing.
        #[allow(unused_unsafe)]
        unsafe {
            _mm_prefetch(self.at(line).cast::<i8>(), _MM_HINT_T0);
        }
    }
}

impl Lines<Whole> for Inside<'_> {
    #[inline(always)]
    fn load(&self, at: usize) -> Whole {
        // SAFETY: a line inside, aligned; the processor has AVX-512.
        unsafe { Whole(_mm512_load_ps(self.at(at))) }
    }

    #[inline(always)]
    fn store(&mut self, at: usize, lanes: Whole) {
        // SAFETY: as above.
        unsafe { _mm512_store_ps(self.at(at), lanes.0) }
    }

    #[inline(always)]
    fn fetch(&self, at: usize) {
        self.wanted(at);
    }
}

impl Lines<Halves> for Inside<'_> {
    #[inline(always)]
    fn load(&self, at: usize) -> Halves {
        // SAFETY: a line inside, aligned; the processor has AVX2.
        unsafe {
            Halves(_mm256_load_ps(self.at(at)), _mm256_load_ps(self.at(at).wrapping_add(LANES / 2)))
        }
    }

    #[inline(always)]
    fn store(&mut self, at: usize, lanes: Halves) {
        // SAFETY: as above.
        unsafe {
            _mm256_store_ps(self.at(at), lanes.0);
            _mm256_store_ps(self.at(at).wrapping_add(LANES / 2), lanes.1);
        }
    }

    #[inline(always)]
    fn fetch(&self, at: usize) {
        self.wanted(at);
    }
}

/// Operations by name, for both kinds of vectors.
macro_rules! operations {
    ($($name:ident($($other:ident),*): $whole:ident, $half:ident;)*; $of:ident) => {
        operations!(@$of $($name($($other),*): $whole, $half;)*);
    };
    (@Whole $($name:ident($($other:ident),*): $whole:ident, $half:ident;)*) => {$(
        #[inline(always)]
        fn $name(self, $($other: Self),*) -> Self {
            // SAFETY: such values exist, so the processor has AVX-512.
            unsafe { Whole($whole(self.0, $($other.0),*)) }
        }
    )*};
    (@Halves $($name:ident($($other:ident),*): $whole:ident, $half:ident;)*) => {$(
        #[inline(always)]
        fn $name(self, $($other: Self),*) -> Self {
            // SAFETY: such values exist, so the processor has AVX2.
            unsafe { Halves($half(self.0, $($other.0),*), $half(self.1, $($other.1),*)) }
        }
    )*};
}

macro_rules! arithmetic {
    ($of:ident) => {
        operations!(
            add(other): _mm512_add_ps, _mm256_add_ps;
            sub(other): _mm512_sub_ps, _mm256_sub_ps;
            mul(other): _mm512_mul_ps, _mm256_mul_ps;
            div(other): _mm512_div_ps, _mm256_div_ps;
            fma(times, more): _mm512_fmadd_ps, _mm256_fmadd_ps;
            ; $of
        );
    };
}

impl Lanes for Whole {
    arithmetic!(Whole);

    #[inline(always)]
    fn all(number: f32) -> Self {
        // SAFETY: only steps for AVX-512 use this kind.
        unsafe { Whole(_mm512_set1_ps(number)) }
    }

    #[inline(always)]
    fn pick(self, mask: u16, other: Self) -> Self {
        // SAFETY: such values exist, so the processor has AVX-512.
        unsafe { Whole(_mm512_mask_blend_ps(mask, other.0, self.0)) }
    }

    #[inline(always)]
    fn up(self) -> Self {
        // SAFETY: as above.
        unsafe {
            let it = _mm512_castps_si512(self.0);
            Whole(_mm512_castsi512_ps(_mm512_alignr_epi32::<15>(it, it)))
        }
    }

    #[inline(always)]
    fn down(self) -> Self {
        // SAFETY: as above.
        unsafe {
            let it = _mm512_castps_si512(self.0);
            Whole(_mm512_castsi512_ps(_mm512_alignr_epi32::<1>(it, it)))
        }
    }
}

impl Lanes for Halves {
    arithmetic!(Halves);

    #[inline(always)]
    fn all(number: f32) -> Self {
        // SAFETY: only steps for AVX2 use this kind.
        unsafe { Halves(_mm256_set1_ps(number), _mm256_set1_ps(number)) }
    }

    #[inline(always)]
    fn pick(self, mask: u16, other: Self) -> Self {
        // SAFETY: such values exist, so the processor has AVX2.
        unsafe {
            let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let low = _mm256_and_si256(_mm256_set1_epi32(i32::from(mask & 255)), bits);
            let high = _mm256_and_si256(_mm256_set1_epi32(i32::from(mask >> 8)), bits);
            let (low, high) = (_mm256_cmpeq_epi32(low, bits), _mm256_cmpeq_epi32(high, bits));
            Halves(
                _mm256_blendv_ps(other.0, self.0, _mm256_castsi256_ps(low)),
                _mm256_blendv_ps(other.1, self.1, _mm256_castsi256_ps(high)),
            )
        }
    }

    #[inline(always)]
    fn up(self) -> Self {
        // SAFETY: as above.
        unsafe {
            let turn = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
            let low = _mm256_permutevar8x32_ps(self.0, turn);
            let high = _mm256_permutevar8x32_ps(self.1, turn);
            Halves(_mm256_blend_ps::<1>(low, high), _mm256_blend_ps::<1>(high, low))
        }
    }

    #[inline(always)]
    fn down(self) -> Self {
        // SAFETY: as above.
        unsafe {
            let turn = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
            let low = _mm256_permutevar8x32_ps(self.0, turn);
            let high = _mm256_permutevar8x32_ps(self.1, turn);
            Halves(_mm256_blend_ps::<128>(low, high), _mm256_blend_ps::<128>(high, low))
        }
    }
}

macro_rules! entry {
    ($name:ident, $inner:ident, $features:literal, $lanes:ident, $level:ident) => {
        /// A step of rows.
        ///
        /// # Panics
        /// If a row reaches beyond the lines, or the processor lacks the level.
        pub fn $name<'a>(
            rows: impl Iterator<Item = Row<'a>>,
            numbers: &Numbers,
            lines: &mut [Lane],
        ) {
            assert!(Level::$level.works());
            // SAFETY: the processor supports the level.
            unsafe { $inner(rows, numbers, lines) }
        }

        #[target_feature(enable = $features)]
        fn $inner<'a>(rows: impl Iterator<Item = Row<'a>>, numbers: &Numbers, lines: &mut [Lane]) {
            let count = lines.len();
            let mut inside = Inside { first: lines.as_mut_ptr(), of: std::marker::PhantomData };
            let wide = Wide::of(numbers);
            for row in rows {
                // What `Inside` relies on.
                assert!(row.fits(count));
                step::<$lanes, _>(&row, numbers, &wide, &mut inside);
            }
        }
    };
}

entry!(whole, step_whole, "avx512f,avx512dq,avx512vl,avx512bw", Whole, Avx512);
entry!(halves, step_halves, "avx2,fma", Halves, Avx2);

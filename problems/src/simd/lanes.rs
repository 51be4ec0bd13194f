//! [`Wide`]: numbers side by side, one in each lane, in arrays or in vector registers.

use super::Level;
use std::fmt::Debug;
use std::ops::{Add, BitAnd, Mul, Sub};

/// The maximum number of lanes that any level has.
pub(crate) const MOST_LANES: usize = 16;

/// A whole number that lanes hold.
pub(crate) trait Number:
    Copy
    + Ord
    + Debug
    + Default
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + BitAnd<Output = Self>
    + Into<i64>
    + 'static
{
    /// Less than any cost, and more than any, so far that sums with them do not overflow.
    const LOWEST: Self;
    const HIGHEST: Self;

    /// A number that is known to fit.
    fn of(number: i64) -> Self;

    /// The number, or the greatest or least one that fits.
    fn saturating(number: i64) -> Self;

    /// Runs a task with the lanes and the instructions of a level.
    fn run<T: LaneTask<Self>>(level: Level, task: T) -> T::Result;
}

/// Numbers side by side. Everything is inlined into code for one level.
pub(crate) trait Wide: Copy {
    /// What the lanes hold.
    type Of: Number;
    /// The number of lanes, at most [`MOST_LANES`].
    const LANES: usize;

    /// The same number in all lanes.
    fn splat(number: Self::Of) -> Self;
    /// The first numbers of a slice, which has enough.
    fn load(from: &[Self::Of]) -> Self;
    /// Writes the lanes to the front of a slice, which has room.
    fn store(self, to: &mut [Self::Of]);
    /// The sums.
    fn add(self, other: Self) -> Self;
    /// The differences.
    fn sub(self, other: Self) -> Self;
    /// The products.
    fn mul(self, other: Self) -> Self;
    /// The greater numbers.
    fn max(self, other: Self) -> Self;
    /// The numbers of `other` in lanes where this one is greater, 0 elsewhere.
    fn where_greater(self, than: Self, other: Self) -> Self;
    /// A bit for each lane where this one is greater.
    fn greater(self, than: Self) -> u32;
}

impl Number for i32 {
    const LOWEST: Self = i32::MIN / 2;
    const HIGHEST: Self = 1 << 29;

    #[inline(always)]
    fn of(number: i64) -> Self {
        number as i32
    }

    fn saturating(number: i64) -> Self {
        number.clamp(i32::MIN.into(), i32::MAX.into()) as i32
    }

    fn run<T: LaneTask<Self>>(level: Level, task: T) -> T::Result {
        match level {
            // SAFETY: the processor supports the level.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 if level.works() => unsafe { x86::avx512(task) },
            // SAFETY: the processor supports the level.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 if level.works() => unsafe { x86::avx2(task) },
            _ => task.run::<Array<i32, 4>>(),
        }
    }
}

impl Number for i64 {
    const LOWEST: Self = i64::MIN / 2;
    const HIGHEST: Self = 1 << 60;

    #[inline(always)]
    fn of(number: i64) -> Self {
        number
    }

    fn saturating(number: i64) -> Self {
        number
    }

    /// Wide numbers are rare, so they have no vector code of their own.
    fn run<T: LaneTask<Self>>(_: Level, task: T) -> T::Result {
        task.run::<Array<i64, 4>>()
    }
}

/// Lanes in an array. With one lane, plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Array<N, const L: usize>(pub [N; L]);

impl<N: Number, const L: usize> Array<N, L> {
    #[inline(always)]
    fn zip(self, other: Self, each: impl Fn(N, N) -> N) -> Self {
        let mut all = self.0;
        for (own, other) in all.iter_mut().zip(other.0) {
            *own = each(*own, other);
        }
        Self(all)
    }
}

impl<N: Number, const L: usize> Wide for Array<N, L> {
    type Of = N;
    const LANES: usize = L;

    #[inline(always)]
    fn splat(number: N) -> Self {
        Self([number; L])
    }

    #[inline(always)]
    fn load(from: &[N]) -> Self {
        let mut all = [N::default(); L];
        all.copy_from_slice(&from[..L]);
        Self(all)
    }

    #[inline(always)]
    fn store(self, to: &mut [N]) {
        to[..L].copy_from_slice(&self.0);
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| a.max(b))
    }

    #[inline(always)]
    fn where_greater(self, than: Self, other: Self) -> Self {
        let greater = self.zip(than, |a, b| N::of(if a > b { -1 } else { 0 }));
        greater.zip(other, |mask, number| mask & number)
    }

    #[inline(always)]
    fn greater(self, than: Self) -> u32 {
        let mut bits = 0;
        for lane in 0..L {
            bits |= u32::from(self.0[lane] > than.0[lane]) << lane;
        }
        bits
    }
}

/// Code for lanes. `run` and what it calls must be inlined.
pub(crate) trait LaneTask<N: Number> {
    /// The result.
    type Result;

    /// Runs the code with these lanes.
    fn run<W: Wide<Of = N>>(self) -> Self::Result;
}

/// Lanes in vector registers. They are only used in code that runs on processors with the level.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{LaneTask, Wide};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn avx2<T: LaneTask<i32>>(task: T) -> T::Result {
        task.run::<Avx2>()
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn avx512<T: LaneTask<i32>>(task: T) -> T::Result {
        task.run::<Avx512>()
    }

    /// 16 numbers of 32 bits in two registers.
    #[derive(Clone, Copy)]
    struct Avx2([__m256i; 2]);

    /// 16 numbers of 32 bits in a register.
    #[derive(Clone, Copy)]
    struct Avx512(__m512i);

    /// Applies an instruction to both registers.
    macro_rules! both {
        ($instruction:ident, $a:expr, $b:expr) => {
            // SAFETY: this code runs only where the processor supports the level.
            unsafe { Avx2([$instruction($a.0[0], $b.0[0]), $instruction($a.0[1], $b.0[1])]) }
        };
    }

    impl Wide for Avx2 {
        type Of = i32;
        const LANES: usize = 16;

        #[inline(always)]
        fn splat(number: i32) -> Self {
            // SAFETY: this code runs only where the processor supports the level.
            unsafe { Self([_mm256_set1_epi32(number); 2]) }
        }

        #[inline(always)]
        fn load(from: &[i32]) -> Self {
            let from: *const i32 = from[..16].as_ptr();
            // SAFETY: the slice has 16 numbers, and the processor supports the level.
            unsafe {
                Self([_mm256_loadu_si256(from.cast()), _mm256_loadu_si256(from.add(8).cast())])
            }
        }

        #[inline(always)]
        fn store(self, to: &mut [i32]) {
            let to: *mut i32 = to[..16].as_mut_ptr();
            // SAFETY: the slice has 16 numbers, and the processor supports the level.
            unsafe {
                _mm256_storeu_si256(to.cast(), self.0[0]);
                _mm256_storeu_si256(to.add(8).cast(), self.0[1]);
            }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            both!(_mm256_add_epi32, self, other)
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            both!(_mm256_sub_epi32, self, other)
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            both!(_mm256_mullo_epi32, self, other)
        }

        #[inline(always)]
        fn max(self, other: Self) -> Self {
            both!(_mm256_max_epi32, self, other)
        }

        #[inline(always)]
        fn where_greater(self, than: Self, other: Self) -> Self {
            let masks = both!(_mm256_cmpgt_epi32, self, than);
            both!(_mm256_and_si256, masks, other)
        }

        #[inline(always)]
        fn greater(self, than: Self) -> u32 {
            let masks = both!(_mm256_cmpgt_epi32, self, than);
            // SAFETY: as above.
            unsafe {
                let low = _mm256_movemask_ps(_mm256_castsi256_ps(masks.0[0]));
                let high = _mm256_movemask_ps(_mm256_castsi256_ps(masks.0[1]));
                (low | high << 8).cast_unsigned()
            }
        }
    }

    impl Wide for Avx512 {
        type Of = i32;
        const LANES: usize = 16;

        #[inline(always)]
        fn splat(number: i32) -> Self {
            // SAFETY: this code runs only where the processor supports the level.
            unsafe { Self(_mm512_set1_epi32(number)) }
        }

        #[inline(always)]
        fn load(from: &[i32]) -> Self {
            let from: *const i32 = from[..16].as_ptr();
            // SAFETY: the slice has 16 numbers.
            unsafe { Self(_mm512_loadu_si512(from.cast())) }
        }

        #[inline(always)]
        fn store(self, to: &mut [i32]) {
            let to: *mut i32 = to[..16].as_mut_ptr();
            // SAFETY: the slice has 16 numbers.
            unsafe { _mm512_storeu_si512(to.cast(), self.0) }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: as above.
            unsafe { Self(_mm512_add_epi32(self.0, other.0)) }
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            // SAFETY: as above.
            unsafe { Self(_mm512_sub_epi32(self.0, other.0)) }
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            // SAFETY: as above.
            unsafe { Self(_mm512_mullo_epi32(self.0, other.0)) }
        }

        #[inline(always)]
        fn max(self, other: Self) -> Self {
            // SAFETY: as above.
            unsafe { Self(_mm512_max_epi32(self.0, other.0)) }
        }

        #[inline(always)]
        fn where_greater(self, than: Self, other: Self) -> Self {
            // SAFETY: as above.
            unsafe {
                let mask = _mm512_cmpgt_epi32_mask(self.0, than.0);
                Self(_mm512_maskz_mov_epi32(mask, other.0))
            }
        }

        #[inline(always)]
        fn greater(self, than: Self) -> u32 {
            // SAFETY: as above.
            unsafe { _mm512_cmpgt_epi32_mask(self.0, than.0).into() }
        }
    }
}

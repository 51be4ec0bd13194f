//! [`Lanes`]: sixteen numbers at a time, in plain code or vectors; [`Lane`]: their layout in memory.

/// Sixteen neighbouring numbers in memory: a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Lane(pub [f32; LANES]);

/// How many cells are processed at a time.
pub const LANES: usize = 16;

/// Sixteen numbers in registers.
pub trait Lanes: Copy {
    /// The same number everywhere.
    fn all(number: f32) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// `self * times + more`, rounded once if the processor can.
    fn fma(self, times: Self, more: Self) -> Self;
    /// Selects `self` where the mask has a one, otherwise `other`.
    fn pick(self, mask: u16, other: Self) -> Self;
    /// Moves every number one lane up; the last becomes the first.
    fn up(self) -> Self;
    /// Moves every number one lane down; the first becomes the last.
    fn down(self) -> Self;
}

/// The cells of a slab, as numbered lines.
pub trait Lines<L: Lanes> {
    fn load(&self, at: usize) -> L;
    fn store(&mut self, at: usize, lanes: L);
    /// Prefetches a line that will be needed soon.
    fn fetch(&self, _at: usize) {}
}

impl Lines<[f32; LANES]> for &mut [Lane] {
    #[inline(always)]
    fn load(&self, at: usize) -> [f32; LANES] {
        self[at].0
    }

    #[inline(always)]
    fn store(&mut self, at: usize, lanes: [f32; LANES]) {
        self[at] = Lane(lanes);
    }
}

impl Lanes for [f32; LANES] {
    #[inline(always)]
    fn all(number: f32) -> Self {
        [number; LANES]
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] + other[l])
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] - other[l])
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] * other[l])
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] / other[l])
    }

    #[inline(always)]
    fn fma(self, times: Self, more: Self) -> Self {
        std::array::from_fn(|l| self[l] * times[l] + more[l])
    }

    #[inline(always)]
    fn pick(self, mask: u16, other: Self) -> Self {
        std::array::from_fn(|l| if mask >> l & 1 == 1 { self[l] } else { other[l] })
    }

    #[inline(always)]
    fn up(self) -> Self {
        std::array::from_fn(|l| self[(l + LANES - 1) % LANES])
    }

    #[inline(always)]
    fn down(self) -> Self {
        std::array::from_fn(|l| self[(l + 1) % LANES])
    }
}

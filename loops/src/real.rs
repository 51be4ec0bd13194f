//! [`Real`]: single or double precision.

use std::fmt::{Debug, Display, LowerExp};
use std::ops::{Add, AddAssign, Mul};

/// A floating-point number: `f32` or `f64`.
pub trait Real:
    Copy
    + Default
    + Debug
    + Display
    + LowerExp
    + PartialEq
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + Mul<Output = Self>
    + AddAssign
    + Into<f64>
    + 'static
{
    /// Its name.
    const NAME: &'static str;

    /// Its bits, in words.
    const WORDS: usize = size_of::<Self>() / 4;

    /// The nearest number of this precision.
    fn of(value: f64) -> Self;

    /// Writes its bits as words, the low one first.
    fn write(self, words: &mut [u32]);

    /// The number with these words.
    fn read(words: &[u32]) -> Self;
}

impl Real for f32 {
    const NAME: &'static str = "f32";

    fn of(value: f64) -> Self {
        value as f32
    }

    fn write(self, words: &mut [u32]) {
        words[0] = self.to_bits();
    }

    fn read(words: &[u32]) -> Self {
        f32::from_bits(words[0])
    }
}

impl Real for f64 {
    const NAME: &'static str = "f64";

    fn of(value: f64) -> Self {
        value
    }

    fn write(self, words: &mut [u32]) {
        let bits = self.to_bits();
        (words[0], words[1]) = (bits as u32, (bits >> 32) as u32);
    }

    fn read(words: &[u32]) -> Self {
        f64::from_bits(u64::from(words[0]) | u64::from(words[1]) << 32)
    }
}

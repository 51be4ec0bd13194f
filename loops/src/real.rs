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

    /// The nearest number of this precision.
    fn of(value: f64) -> Self;
}

impl Real for f32 {
    const NAME: &'static str = "f32";

    fn of(value: f64) -> Self {
        value as f32
    }
}

impl Real for f64 {
    const NAME: &'static str = "f64";

    fn of(value: f64) -> Self {
        value
    }
}

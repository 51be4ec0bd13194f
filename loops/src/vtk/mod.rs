//! Words and numbers in files of the Visualization Toolkit.

pub(crate) mod legacy;
pub(crate) mod numbers;

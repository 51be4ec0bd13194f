//! Sparse matrices, and their products with sparse and with dense matrices.

pub mod csrmm;
pub mod factors;
pub mod generate;
mod hashed;
pub mod market;
pub mod matrix;
mod remote;
pub mod rows;
pub mod spmm;
mod spmm_device;
pub mod sums;
pub mod windows;
mod words;

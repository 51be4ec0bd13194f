//! The quadratic assignment problem: facilities with flows between them are placed at locations.

mod assignment;
mod bound;
pub mod instance;
pub mod local;
pub mod named;
pub mod read;
mod symmetry;
#[cfg(test)]
mod tests;
pub mod tree;

//! Flowshops as users have them: their files, with names and dates.

mod columns;
mod read;
mod solution;
mod table;
#[cfg(test)]
mod tests;

pub use read::read;
pub use solution::{labels, order};

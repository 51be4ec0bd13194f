//! Flowshops as users have them: their files, with names and dates.

mod columns;
mod lists;
mod read;
mod schedule;
mod solution;
mod table;
#[cfg(test)]
mod tests;
mod titles;
mod variant;
mod workbook;

pub use schedule::schedule;
pub use solution::{labels, order};
pub use variant::{conditions, variant};

//! Flowshops as users have them: their files, with names and dates.

mod columns;
mod read;
mod schedule;
mod solution;
mod table;
#[cfg(test)]
mod tests;
mod workbook;

pub use read::read;
pub use schedule::schedule;
pub use solution::{labels, order};

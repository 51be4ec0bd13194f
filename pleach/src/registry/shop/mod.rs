//! Flowshops as users have them: their files, with names and dates.

mod read;

pub use read::read;

//! Trying the protocol out where every schedule can be seen.

pub mod enumerate;
mod room;
pub mod walk;

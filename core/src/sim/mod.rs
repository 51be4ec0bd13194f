//! Trying the protocol out where every schedule can be seen.

mod cuts;
pub mod enumerate;
mod room;
pub mod walk;

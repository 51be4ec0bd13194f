//! Trying the protocol out where every schedule can be seen.

mod room;
pub mod enumerate;

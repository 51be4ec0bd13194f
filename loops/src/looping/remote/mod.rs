//! Loops that several processes share: the first process, the *root*, hands out ranges, and results come back.

mod assignments;
mod coordinator;
mod lent_ranges;
mod message;
mod orders;
mod process;
mod processes;
mod worker;

pub(super) use coordinator::RemoteResult;
pub use orders::ShareLoops;
pub(super) use processes::LoopProcesses;

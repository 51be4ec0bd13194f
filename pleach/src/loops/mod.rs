//! The loops that the command knows, one entry each.

mod csrmm;
mod entry;
pub mod inputs;
mod lattice;
mod matrix;
mod rays;
pub mod runner;
mod spmm;

pub use entry::{Job, LoopCommand, LoopEntry, LoopOutput};

/// The loops of the `pleach` command.
pub static LOOPS: [LoopEntry; 4] = [spmm::ENTRY, csrmm::ENTRY, rays::ENTRY, lattice::ENTRY];

/// The entry of a loop.
pub fn entry(name: &str) -> Option<&'static LoopEntry> {
    LOOPS.iter().find(|entry| entry.name == name)
}

//! A network by MPI: for processes that a launcher starts together. They end together, too, except under a launcher
//! that lets the others live on when one dies.
//!
//! No library is linked. One is opened when a launcher has started this process, and the program runs
//! where none is installed.

mod calls;
mod choose;
mod deaths;
mod dialect;
mod library;
mod link;
mod message;
mod network;

pub use choose::Choice;

use crate::{NetError, Network};
use dialect::{Abi, Family, Mpich, OpenMpi};

/// The number that a launcher gave this process, if one has started it and says so. No library is opened.
#[must_use]
pub fn rank() -> Option<u32> {
    choose::rank(&|name| std::env::var(name).ok())
}

/// How many processes of this one's job are on this machine, this one included, if a launcher says so.
#[must_use]
pub fn beside() -> Option<u32> {
    choose::beside(&|name| std::env::var(name).ok())
}

/// Opens the network of the job that this process belongs to; `None` if it belongs to none, or to a
/// job of one process. No message may have more than `limit` bytes.
///
/// A process can do this once.
///
/// # Errors
///
/// If there is a launcher but no library that goes with it, or the library fails.
pub fn open(choice: &Choice, limit: usize) -> Result<Option<Box<dyn Network>>, NetError> {
    let plan = choose::choose(choice, &|name| std::env::var(name).ok());
    let Some(opened) = library::open(&plan)? else { return Ok(None) };
    match opened.family {
        Family::Abi => network::network::<Abi>(&opened, limit),
        Family::OpenMpi => network::network::<OpenMpi>(&opened, limit),
        Family::Mpich => network::network::<Mpich>(&opened, limit),
    }
}

//! A network over MPI, for processes that a launcher starts together. They also end together, unless the launcher lets
//! the others survive when one dies.
//!
//! No library is linked: it is opened only if a launcher has started this process, so the program also runs where none
//! is installed.

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

/// The number that a launcher gave this process, if there is one. No library is opened.
#[must_use]
pub fn rank() -> Option<u32> {
    choose::rank(&|name| std::env::var(name).ok())
}

/// The number of processes of this job on this machine, including this one, if the launcher reports that.
#[must_use]
pub fn processes_here() -> Option<u32> {
    choose::processes_here(&|name| std::env::var(name).ok())
}

/// Opens the network of this process's job; `None` if it has none, or is alone in it. No message may have more than
/// `limit` bytes.
///
/// A process can do this once.
///
/// # Errors
///
/// If there is a launcher but no matching library, or the library fails.
pub fn open(choice: &Choice, limit: usize) -> Result<Option<Box<dyn Network>>, NetError> {
    let plan = choose::choose(choice, &|name| std::env::var(name).ok());
    let Some(opened) = library::open(&plan)? else { return Ok(None) };
    match opened.family {
        Family::Abi => network::network::<Abi>(&opened, limit),
        Family::OpenMpi => network::network::<OpenMpi>(&opened, limit),
        Family::Mpich => network::network::<Mpich>(&opened, limit),
    }
}

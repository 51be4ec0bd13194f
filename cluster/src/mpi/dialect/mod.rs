//! The binary interfaces of MPI libraries: constants, and how handles and a status lie in memory.

mod abi;
mod mpich;
mod open_mpi;

pub use abi::Abi;
pub use mpich::Mpich;
pub use open_mpi::OpenMpi;

use libloading::os::unix::Library;
use std::ffi::{c_int, c_void};

/// Libraries that speak alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The ABI that MPI 5 standardizes.
    Abi,
    /// Open MPI 4 and 5.
    OpenMpi,
    /// MPICH before MPI 5, and its relatives.
    Mpich,
}

/// What differs between the families.
pub trait Dialect: Send + 'static {
    /// A communicator, datatype, request, message or error handler.
    type Handle: Copy + Send + 'static;
    /// What a call tells of a message.
    type Status: Default;

    /// A message of any sender.
    const ANY_SOURCE: c_int;
    /// A message with any tag.
    const ANY_TAG: c_int;
    /// Any thread may call, but one at a time.
    const THREAD_SERIALIZED: c_int;

    /// The handles needed. Those that are objects of the library are looked up there; an error names
    /// the object that is missing.
    fn handles(library: &Library) -> Result<Handles<Self::Handle>, &'static str>;

    /// Who sent a message.
    fn source(status: &Self::Status) -> c_int;

    /// Its tag.
    fn tag(status: &Self::Status) -> c_int;
}

/// The handles that are known beforehand.
#[derive(Clone, Copy)]
pub struct Handles<H> {
    /// `MPI_COMM_WORLD`.
    pub world: H,
    /// `MPI_BYTE`.
    pub byte: H,
    /// `MPI_REQUEST_NULL`.
    pub no_request: H,
    /// `MPI_MESSAGE_NULL`.
    pub no_message: H,
    /// `MPI_ERRORS_RETURN`.
    pub errors_return: H,
}

/// A handle as large as a pointer. Nothing here ever follows it.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Pointer(*mut c_void);

// SAFETY: to this program it is a mere name. The library that follows it was asked for a level of
// threads that lets any thread call.
unsafe impl Send for Pointer {}

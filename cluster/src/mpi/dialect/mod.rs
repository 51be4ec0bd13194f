//! The binary interfaces of MPI libraries: constants, and the layout of handles and of a status.

mod abi;
mod mpich;
mod open_mpi;

pub use abi::Abi;
pub use mpich::Mpich;
pub use open_mpi::OpenMpi;

use libloading::os::unix::Library;
use std::ffi::{c_int, c_void};

/// A family of libraries with the same binary interface.
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
    /// The status of a message that a call returns.
    type Status: Default;

    /// A message of any sender.
    const ANY_SOURCE: c_int;
    /// A message with any tag.
    const ANY_TAG: c_int;
    /// Any thread may call, but only one at a time.
    const THREAD_SERIALIZED: c_int;

    /// The handles in use. Those that are objects of the library are looked up in it; an error names the missing
    /// object.
    fn handles(library: &Library) -> Result<Handles<Self::Handle>, &'static str>;

    /// The sender of a message.
    fn source(status: &Self::Status) -> c_int;

    /// The tag of a message.
    fn tag(status: &Self::Status) -> c_int;
}

/// The predefined handles.
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

// SAFETY: this program treats it as a mere name. The library, which follows it, was initialized with a
// thread level that lets any thread call.
unsafe impl Send for Pointer {}

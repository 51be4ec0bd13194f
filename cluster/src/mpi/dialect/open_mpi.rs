//! Open MPI: handles are addresses of objects in the library.

use super::{Dialect, Handles, Pointer};
use libloading::os::unix::Library;
use std::ffi::{c_int, c_void};

/// `libmpi.so.40`.
pub struct OpenMpi;

/// `MPI_Status`.
#[derive(Default)]
#[repr(C)]
pub struct OpenMpiStatus {
    source: c_int,
    tag: c_int,
    error: c_int,
    cancelled: c_int,
    count: usize,
}

impl Dialect for OpenMpi {
    type Handle = Pointer;
    type Status = OpenMpiStatus;

    const ANY_SOURCE: c_int = -1;
    const ANY_TAG: c_int = -1;
    const THREAD_SERIALIZED: c_int = 2;

    fn handles(library: &Library) -> Result<Handles<Pointer>, &'static str> {
        let handle = |name: &'static str| {
            // SAFETY: only the object's address is taken, whatever its type.
            let found = unsafe { library.get::<*mut c_void>(name) };
            found.map(|object| Pointer(object.as_raw_ptr())).map_err(|_| name)
        };
        Ok(Handles {
            world: handle("ompi_mpi_comm_world")?,
            byte: handle("ompi_mpi_byte")?,
            no_request: handle("ompi_request_null")?,
            no_message: handle("ompi_message_null")?,
            errors_return: handle("ompi_mpi_errors_return")?,
        })
    }

    fn source(status: &OpenMpiStatus) -> c_int {
        status.source
    }

    fn tag(status: &OpenMpiStatus) -> c_int {
        status.tag
    }
}

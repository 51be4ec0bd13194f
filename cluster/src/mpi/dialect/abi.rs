//! The ABI of MPI 5: handles are small numbers of pointer size.

use super::{Dialect, Handles, Pointer};
use libloading::os::unix::Library;
use std::ffi::c_int;
use std::ptr::without_provenance_mut;

/// `libmpi_abi.so`.
pub struct Abi;

/// `MPI_Status`.
#[derive(Default)]
#[repr(C)]
pub struct AbiStatus {
    source: c_int,
    tag: c_int,
    error: c_int,
    internal: [c_int; 5],
}

impl Dialect for Abi {
    type Handle = Pointer;
    type Status = AbiStatus;

    const ANY_SOURCE: c_int = -1;
    const ANY_TAG: c_int = -2;
    const THREAD_SERIALIZED: c_int = 2048;

    fn handles(_: &Library) -> Result<Handles<Pointer>, &'static str> {
        let handle = |number| Pointer(without_provenance_mut(number));
        Ok(Handles {
            world: handle(0x101),
            byte: handle(0x247),
            no_request: handle(0x180),
            no_message: handle(0x128),
            errors_return: handle(0x143),
        })
    }

    fn source(status: &AbiStatus) -> c_int {
        status.source
    }

    fn tag(status: &AbiStatus) -> c_int {
        status.tag
    }
}

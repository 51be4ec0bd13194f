//! MPICH's own ABI, which Intel MPI, Cray MPICH and MVAPICH share: handles of 32 bits.

use super::{Dialect, Handles};
use libloading::os::unix::Library;
use std::ffi::c_int;

/// `libmpi.so.12`, or `libmpich.so.12` on Debian.
pub struct Mpich;

/// `MPI_Status`.
#[derive(Default)]
#[repr(C)]
pub struct MpichStatus {
    count_low: c_int,
    count_high_and_cancelled: c_int,
    source: c_int,
    tag: c_int,
    error: c_int,
}

impl Dialect for Mpich {
    type Handle = c_int;
    type Status = MpichStatus;

    const ANY_SOURCE: c_int = -2;
    const ANY_TAG: c_int = -1;
    const THREAD_SERIALIZED: c_int = 2;

    fn handles(_: &Library) -> Result<Handles<c_int>, &'static str> {
        Ok(Handles {
            world: 0x4400_0000,
            byte: 0x4c00_010d,
            no_request: 0x2c00_0000,
            no_message: 0x2c00_0000,
            errors_return: 0x5400_0001,
        })
    }

    fn source(status: &MpichStatus) -> c_int {
        status.source
    }

    fn tag(status: &MpichStatus) -> c_int {
        status.tag
    }
}

//! [`Deaths`]: which processes have died, if the library lets the others survive, as Open MPI 5 does under
//! `mpiexec --with-ft ulfm`.

use super::dialect::Dialect;
use libloading::os::unix::Library;
use std::ffi::c_int;

/// The error codes for a process that has died: a particular one, and any.
const DIED: [c_int; 2] = [75, 76];

/// The functions that report deaths.
pub struct Deaths<D: Dialect> {
    // SAFETY: the caller obeys MPI's rules for it, as for all that follow.
    acknowledge: unsafe extern "C" fn(D::Handle, c_int, *mut c_int) -> c_int,
    // SAFETY: as above.
    failed: unsafe extern "C" fn(D::Handle, *mut D::Handle) -> c_int,
    // SAFETY: as above.
    group: unsafe extern "C" fn(D::Handle, *mut D::Handle) -> c_int,
    // SAFETY: as above.
    group_size: unsafe extern "C" fn(D::Handle, *mut c_int) -> c_int,
    // SAFETY: as above.
    translate: unsafe extern "C" fn(D::Handle, c_int, *const c_int, D::Handle, *mut c_int) -> c_int,
    // SAFETY: as above.
    free: unsafe extern "C" fn(*mut D::Handle) -> c_int,
    world: D::Handle,
}

impl<D: Dialect> Deaths<D> {
    /// The functions, if the library has them and this job survives deaths. Must be called after initialization.
    pub fn load(library: &Library, world: D::Handle) -> Option<Self> {
        // SAFETY: Open MPI's own flag, a `bool` that is set when the library is initialized.
        let on = unsafe { library.get::<*const bool>("ompi_ftmpi_enabled").ok()?.as_raw_ptr() };
        // SAFETY: the address is that of the flag, which no longer changes.
        if !unsafe { on.cast::<bool>().read() } {
            return None;
        }
        // SAFETY: these are the types of the standard and of its extension.
        unsafe {
            Some(Self {
                acknowledge: *library.get("MPIX_Comm_ack_failed").ok()?,
                failed: *library.get("MPIX_Comm_get_failed").ok()?,
                group: *library.get("MPI_Comm_group").ok()?,
                group_size: *library.get("MPI_Group_size").ok()?,
                translate: *library.get("MPI_Group_translate_ranks").ok()?,
                free: *library.get("MPI_Group_free").ok()?,
                world,
            })
        }
    }

    /// Whether a call failed because a process has died.
    pub fn explain(&self, code: c_int) -> bool {
        DIED.contains(&code)
    }

    /// Acknowledges all deaths known so far, so that messages from any sender are found again. Returns the ranks of the
    /// dead, or the code of a failed call.
    pub fn acknowledge(&self) -> Result<Vec<c_int>, c_int> {
        let (mut count, mut acknowledged, mut all, mut dead) = (0, 0, self.world, self.world);
        // SAFETY: all handles are the library's own, and all answers have room.
        unsafe {
            check((self.failed)(self.world, &raw mut dead))?;
            check((self.group_size)(dead, &raw mut count))?;
            check((self.acknowledge)(self.world, count, &raw mut acknowledged))?;
            let places: Vec<c_int> = (0..count).collect();
            let mut found = vec![-1; places.len()];
            check((self.group)(self.world, &raw mut all))?;
            let (from, into) = (places.as_ptr(), found.as_mut_ptr());
            let translated = check((self.translate)(dead, count, from, all, into));
            check((self.free)(&raw mut dead))?;
            check((self.free)(&raw mut all))?;
            translated.map(|()| found)
        }
    }
}

fn check(code: c_int) -> Result<(), c_int> {
    if code == 0 { Ok(()) } else { Err(code) }
}

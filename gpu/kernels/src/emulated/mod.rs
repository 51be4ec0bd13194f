//! The emulated device: kernels on the CPU, each thread a fiber, in an order given by a seed. A C++ compiler compiles a
//! kernel when it is first used.

mod fault;
mod library;

pub use fault::Fault;
pub use library::find_compiler;

use crate::SERVES;
use crate::bounding::{BOUND, Bounding};
use crate::launch::{KernelEntry, Launch, THREADS, blocks};
use crate::serving::{SERVE, Serving};
use library::LaunchFn;
use std::ffi::c_void;

/// More explorers than the warps of any device.
const MOST_EXPLORERS: u32 = 1 << 20;

/// Compiles a kernel, unless this process or another one of this user already has.
///
/// # Errors
/// If there is no such kernel, or no compiler.
pub fn prepare(kernel: &str) -> Result<(), Fault> {
    library::entry(kernel).map(|_| ())
}

/// Whether [`prepare`] has nothing to compile.
#[must_use]
pub fn is_compiled(kernel: &str) -> bool {
    library::is_compiled(kernel)
}

/// Checks what must hold for a launch of any kernel.
fn check(launch: &Launch) -> Result<(), Fault> {
    let Launch { pages, rings, stacks, heights, report, found, tables, free, moves, moved, .. } =
        *launch;
    let words = [pages, rings, stacks, heights, found, tables, free, moves, moved];
    if words.contains(&0) || report == 0 {
        return Err(Fault::Record("an address is null"));
    }
    if words.iter().any(|at| at % 4 != 0) || report % 8 != 0 {
        return Err(Fault::Record("an address is misaligned"));
    }
    if launch.span < 4 || !launch.span.is_power_of_two() {
        return Err(Fault::Record("the span is not a power of two of at least 4"));
    }
    if launch.active > launch.explorers || launch.free_pages > launch.free_room / 2 {
        return Err(Fault::Record("active explorers or free pages exceed their limit"));
    }
    if launch.unused > launch.free_pages {
        return Err(Fault::Record("there are fewer free pages than pages never used"));
    }
    match launch.explorers {
        0 => Err(Fault::Record("no explorers")),
        1..=MOST_EXPLORERS => Ok(()),
        _ => Err(Fault::Record("too many explorers")),
    }
}

/// Checks what must hold if explorers give nodes to one another.
fn check_mail(kernel: &str, launch: &Launch) -> Result<(), Fault> {
    if !KernelEntry::of(kernel).contains(&KernelEntry::Give) {
        return Err(Fault::Unknown(format!("{kernel}, give")));
    }
    if launch.mail == 0 || !launch.mail.is_multiple_of(4) {
        return Err(Fault::Record("the mail has no address, or a misaligned one"));
    }
    Ok(())
}

/// Runs a kernel's entry point to completion. The seed determines the order in which threads take turns.
///
/// # Errors
/// If the kernel or the record is invalid, or if threads deadlock; memory then remains in its state in the middle of
/// the launch.
///
/// # Safety
/// All addresses must point to memory of the sizes given in [`Launch`], and to the kernel's own
/// tables, which nobody else uses during the launch; stacks must have pages for their nodes, and
/// moves must stay within them.
pub unsafe fn launch(
    kernel: &str,
    entry: KernelEntry,
    launch: &Launch,
    seed: u64,
) -> Result<(), Fault> {
    let run = library::entry(kernel)?;
    check(launch)?;
    if entry == KernelEntry::Give {
        check_mail(kernel, launch)?;
    }
    let record = std::ptr::from_ref(launch).cast();
    // SAFETY: the caller vouches for the addresses.
    unsafe {
        let n_blocks = blocks(kernel, entry, launch.explorers);
        go((kernel, run), (entry as u32, entry.name()), record, n_blocks, seed)
    }
}

/// Bounds the children of all parents.
///
/// # Errors
/// As [`launch`].
///
/// # Safety
/// All addresses must point to memory of the sizes given in [`Bounding`], and to the kernel's own tables, which nobody
/// else uses during the launch; each parent must have the stated number of children.
pub unsafe fn bound(kernel: &str, launch: &Bounding, seed: u64) -> Result<(), Fault> {
    let run = library::entry(kernel)?;
    let Bounding { starts, parents, bounds, tables, count, .. } = *launch;
    if [starts, parents, bounds].iter().any(|at| *at == 0 || at % 4 != 0)
        || tables == 0
        || tables % 8 != 0
    {
        return Err(Fault::Record("an address is null or misaligned"));
    }
    if count == 0 {
        return Err(Fault::Record("no parents"));
    }
    let record = std::ptr::from_ref(launch).cast();
    // SAFETY: the caller vouches for the addresses.
    unsafe { go((kernel, run), (0, BOUND), record, launch.blocks(), seed) }
}

/// Serves batches until the post is set to stop.
///
/// # Errors
/// As [`launch`].
///
/// # Safety
/// All addresses must point to memory of the sizes given in [`Serving`], and to the kernel's own tables. Every
/// announced batch must have room for its results. Others may write the post as [`crate::serving`] describes, and read
/// finished results; apart from that, nobody else uses the memory until the kernel ends.
pub unsafe fn serve(kernel: &str, serving: &Serving, seed: u64) -> Result<(), Fault> {
    let run = library::entry(kernel)?;
    if !SERVES.contains(&kernel) {
        return Err(Fault::Record("this kernel cannot be launched once"));
    }
    let Serving { post, copy, counts, tables, .. } = *serving;
    if [post, copy, counts, tables].iter().any(|at| *at == 0 || at % 4 != 0) {
        return Err(Fault::Record("an address is null or misaligned"));
    }
    let record = std::ptr::from_ref(serving).cast();
    // SAFETY: the caller vouches for the addresses. One block: there is only one copy of shared memory.
    unsafe { go((kernel, run), (1, SERVE), record, 1, seed) }
}

/// Runs an entry point on this many blocks.
// SAFETY: the caller vouches for the addresses in the record, which is the one that the entry point takes.
unsafe fn go(
    (kernel, run): (&str, LaunchFn),
    (entry, name): (u32, &'static str),
    record: *const c_void,
    n_blocks: u32,
    seed: u64,
) -> Result<(), Fault> {
    let mut text = [0_u8; 512];
    // SAFETY: as above; `text` has the length passed.
    unsafe { run(entry, record, n_blocks, THREADS, seed, text.as_mut_ptr(), text.len()) };
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    if end == 0 {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&text[..end]).into_owned();
    Err(Fault::Stuck { kernel: kernel.into(), entry: name, text })
}

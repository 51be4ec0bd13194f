//! The emulated device: kernels on the CPU, each thread a fiber, in an order given by a seed.

use crate::launch::{Entry, Launch, THREADS, blocks};

/// Why a launch failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No such kernel.
    #[error("no kernel named '{0}'")]
    Unknown(String),
    /// The launch record is invalid.
    #[error("{0}")]
    Record(&'static str),
    /// Threads cannot continue.
    #[error("{kernel}, {entry}: {text}")]
    Stuck {
        /// The kernel.
        kernel: String,
        /// Its entry point.
        entry: &'static str,
        /// Which threads, where.
        text: String,
    },
}

// SAFETY: the caller vouches for the addresses in `launch`.
type Emulated = unsafe extern "C" fn(u32, *const Launch, u32, u32, u64, *mut u8, usize);

#[cfg(emulated)]
macro_rules! kernels {
    ($($name:literal, $launch:ident;)*) => {
        // SAFETY: these are the functions of `emulated/kernel.cpp`, with the same parameters.
        unsafe extern "C" {
            $(fn $launch(
                entry: u32,
                launch: *const Launch,
                blocks: u32,
                threads: u32,
                seed: u64,
                text: *mut u8,
                room: usize,
            );)*
        }

        const KERNELS: &[(&str, Emulated)] = &[$(($name, $launch)),*];
    };
}
#[cfg(emulated)]
kernels! {
    "queens", pleach_emulated_queens;
    "flowshop", pleach_emulated_flowshop;
    "uts", pleach_emulated_uts;
    // Made of mistakes, to test that they are caught.
    "diverging", pleach_emulated_diverging;
}

#[cfg(not(emulated))]
const KERNELS: &[(&str, Emulated)] = &[];

/// Whether the build found a compiler for the kernels.
pub const BUILT: bool = cfg!(emulated);

/// More explorers than any device has warps.
const MOST_EXPLORERS: u32 = 1 << 20;

/// Checks what must hold for any launch, whatever the kernel.
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
    match launch.explorers {
        0 => Err(Fault::Record("no explorers")),
        1..=MOST_EXPLORERS => Ok(()),
        _ => Err(Fault::Record("too many explorers")),
    }
}

/// Runs a kernel's entry point to completion. The seed decides the order in which threads take
/// turns.
///
/// # Errors
/// If the kernel or the record is invalid, or if threads deadlock; memory is then left as it was in
/// the middle of the launch.
///
/// # Safety
/// All addresses must point to memory of the sizes given in [`Launch`], and to the kernel's own
/// tables, which nobody else uses during the launch; stacks must have pages for their nodes, and
/// moves must stay within them.
pub unsafe fn launch(kernel: &str, entry: Entry, launch: &Launch, seed: u64) -> Result<(), Fault> {
    let known = KERNELS.iter().find(|(name, _)| *name == kernel);
    let (_, run) = known.ok_or_else(|| Fault::Unknown(kernel.into()))?;
    check(launch)?;
    let mut text = [0_u8; 512];
    let n_blocks = blocks(launch.explorers);
    // SAFETY: the caller vouches for the addresses; `text` has the length passed.
    unsafe { run(entry as u32, launch, n_blocks, THREADS, seed, text.as_mut_ptr(), text.len()) };
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    if end == 0 {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&text[..end]).into_owned();
    Err(Fault::Stuck { kernel: kernel.into(), entry: entry.name(), text })
}

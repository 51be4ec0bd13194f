//! [`end`] and [`leave`]: how the process ends where a driver is still at work.

use pleach_runtime::sync::{AtomicU64, Ordering};
use std::io::Write;
use std::process::ExitCode;

/// What drivers or compilers still do in this process that nobody waits for.
static AT_WORK: AtomicU64 = AtomicU64::new(0);

/// A driver or a compiler at work, for as long as this lives.
pub(super) struct AtWork(());

impl AtWork {
    /// From now on.
    pub fn new() -> Self {
        AT_WORK.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        AT_WORK.fetch_sub(1, Ordering::Relaxed);
    }
}

// SAFETY: the function has this type in C's library, and no preconditions.
unsafe extern "C" {
    /// Ends the process without cleaning up.
    safe fn _exit(code: i32) -> !;
}

/// Ends `main` with a code. A driver or a compiler that is still at work is not waited for, nor cleaned up under its
/// feet.
#[must_use]
pub fn end(code: u8) -> ExitCode {
    if AT_WORK.load(Ordering::Relaxed) > 0 {
        let _ = std::io::stdout().flush();
        leave(code)
    }
    ExitCode::from(code)
}

/// Ends the process at once, whatever is at work.
pub fn leave(code: u8) -> ! {
    _exit(code.into())
}

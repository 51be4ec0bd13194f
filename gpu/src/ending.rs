//! [`end`] and [`leave`]: end the process while a driver or a compiler may still be at work.

use pleach_runtime::sync::{AtomicU64, Ordering};
use std::io::Write;
use std::process::ExitCode;

/// Driver and compiler calls under way in this process that nobody waits for.
static AT_WORK: AtomicU64 = AtomicU64::new(0);

/// Marks a driver or a compiler as at work while this value lives.
pub(super) struct AtWork(());

impl AtWork {
    /// Starts now.
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

/// Ends `main` with a code. If a driver or a compiler is still at work, exits at once without waiting or cleaning up.
#[must_use]
pub fn end(code: u8) -> ExitCode {
    if AT_WORK.load(Ordering::Relaxed) > 0 {
        let _ = std::io::stdout().flush();
        leave(code)
    }
    ExitCode::from(code)
}

/// Ends the process at once, even if a driver or a compiler is at work.
pub fn leave(code: u8) -> ! {
    _exit(code.into())
}

//! Whether standard output was open when the process began.

use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when the process began. Rust's runtime replaces it by `/dev/null`, where results
/// would be lost silently.
#[must_use]
pub fn output_was_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

#[cfg(target_os = "linux")]
mod before_main {
    use super::{CLOSED, Ordering};

    #[used]
    // SAFETY: the loader calls the functions in this section before `main`, with arguments that they may ignore.
    #[unsafe(link_section = ".init_array")]
    static AT_START: extern "C" fn() = at_start;

    extern "C" fn at_start() {
        // SAFETY: this command takes no further argument, and accepts any number.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
        CLOSED.store(flags == -1, Ordering::Relaxed);
    }
}

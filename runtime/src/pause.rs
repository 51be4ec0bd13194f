//! [`Pause`]: pauses and continues a search from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a paused thread checks whether it may continue.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Pauses and continues a search from another thread. Clones pause the same search.
///
/// A paused search keeps its work and its threads, which sleep. Its time limit keeps running, it can be saved,
/// and it can be stopped; while it is being prepared, it does not report progress. Among several processes, it pauses
/// only its own.
#[derive(Clone, Debug, Default)]
pub struct Pause(Arc<AtomicBool>);

impl Pause {
    /// Pauses the search, usually within a tenth of a second; a node or a heuristic under way finishes first.
    pub fn pause(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Lets the search continue.
    pub fn resume(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether the search is paused.
    #[must_use]
    #[inline]
    pub fn is_paused(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Blocks the calling thread while the search is paused and still wanted.
    pub fn hold(&self, is_wanted: impl Fn() -> bool) {
        while self.is_paused() && is_wanted() {
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

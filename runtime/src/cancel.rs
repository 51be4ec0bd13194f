//! [`Cancel`]: stops a search from another thread.

use crate::sync::lock;
use crate::worker_pool::Latch;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// Stops a search from another thread. Clones stop the same search.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<CancelState>);

#[derive(Debug, Default)]
struct CancelState {
    cancelled: AtomicBool,
    /// What the threads that watch over runs wait for.
    latches: Mutex<Vec<Weak<Latch>>>,
}

impl Cancel {
    /// A `Cancel` that has already stopped its search.
    #[must_use]
    pub fn cancelled() -> Self {
        let cancel = Self::default();
        cancel.cancel();
        cancel
    }

    /// Stops the search with the result so far.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
        let mut latches = lock(&self.0.latches);
        latches.drain(..).filter_map(|latch| latch.upgrade()).for_each(|latch| latch.wake());
    }

    /// Makes cancelling wake the thread that waits for a latch.
    pub(crate) fn wakes(&self, latch: &Arc<Latch>) {
        let mut latches = lock(&self.0.latches);
        latches.retain(|latch| latch.strong_count() > 0);
        latches.push(Arc::downgrade(latch));
    }

    /// Whether it was stopped.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }
}

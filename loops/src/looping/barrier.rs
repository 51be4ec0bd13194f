//! [`Barrier`]: threads wait here for each other between two steps and learn whether to continue.

use pleach_runtime::sync::{Condvar, Mutex, lock};
use std::sync::PoisonError;

/// A barrier for this many threads, to be used any number of times.
pub(super) struct Barrier {
    threads: usize,
    state: Mutex<BarrierState>,
    changed: Condvar,
}

struct BarrierState {
    /// Threads that have arrived.
    here: usize,
    /// Completed rounds.
    round: u64,
    /// Whether a thread will never arrive.
    broken: bool,
    /// Whether the last thread to arrive decided to continue.
    continues: bool,
}

impl Barrier {
    pub fn new(threads: usize) -> Self {
        let state = BarrierState { here: 0, round: 0, broken: false, continues: true };
        Self { threads, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Waits until all threads have arrived. The last one decides with `continues` whether all of them continue.
    /// Returns `None` if a thread is lost.
    pub fn wait(&self, continues: impl FnOnce() -> bool) -> Option<bool> {
        let mut state = lock(&self.state);
        state.here += 1;
        if state.here == self.threads {
            (state.here, state.round, state.continues) = (0, state.round + 1, continues());
            self.changed.notify_all();
            return (!state.broken).then_some(state.continues);
        }
        let round = state.round;
        while state.round == round && !state.broken {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        (!state.broken).then_some(state.continues)
    }

    /// Marks a thread as lost: it will never arrive.
    pub fn leave(&self) {
        lock(&self.state).broken = true;
        self.changed.notify_all();
    }
}

//! [`Barrier`]: where threads wait for each other between two steps, and learn whether to go on.

use pleach_runtime::sync::{Condvar, Mutex, lock};
use std::sync::PoisonError;

/// A place where this many threads wait for each other, again and again.
pub(super) struct Barrier {
    threads: usize,
    state: Mutex<BarrierState>,
    changed: Condvar,
}

struct BarrierState {
    /// Threads that have come.
    here: usize,
    /// Meetings so far.
    round: u64,
    /// Whether a thread will never come.
    broken: bool,
    /// Whether the last one to come said that they go on.
    goes_on: bool,
}

impl Barrier {
    pub fn new(threads: usize) -> Self {
        let state = BarrierState { here: 0, round: 0, broken: false, goes_on: true };
        Self { threads, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Waits until all threads are here. Whether they go on, `goes_on` says to the last one, and so to all. None if a
    /// thread is lost.
    pub fn wait(&self, goes_on: impl FnOnce() -> bool) -> Option<bool> {
        let mut state = lock(&self.state);
        state.here += 1;
        if state.here == self.threads {
            (state.here, state.round, state.goes_on) = (0, state.round + 1, goes_on());
            self.changed.notify_all();
            return (!state.broken).then_some(state.goes_on);
        }
        let round = state.round;
        while state.round == round && !state.broken {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        (!state.broken).then_some(state.goes_on)
    }

    /// A thread will never come again.
    pub fn leave(&self) {
        lock(&self.state).broken = true;
        self.changed.notify_all();
    }
}

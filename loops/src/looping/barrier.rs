//! [`Barrier`]: threads wait here for each other between two steps and learn whether to continue.

use pleach_runtime::sync::{AtomicU64, Condvar, Mutex, Ordering, lock};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// How long a thread polls before it sleeps: waking it would take about as long.
const EAGER: Duration = Duration::from_micros(50);

/// A barrier for this many threads, to be used any number of times.
pub(super) struct Barrier {
    threads: usize,
    state: Mutex<BarrierState>,
    changed: Condvar,
    /// Completed rounds, for threads that poll; `u64::MAX` if a thread is lost.
    round: AtomicU64,
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
        Self {
            threads,
            state: Mutex::new(state),
            changed: Condvar::new(),
            round: AtomicU64::new(0),
        }
    }

    /// Waits until all threads have arrived. The last one decides with `continues` whether all of them continue.
    /// Returns `None` if a thread is lost.
    pub fn wait(&self, continues: impl FnOnce() -> bool) -> Option<bool> {
        let mut state = lock(&self.state);
        state.here += 1;
        if state.here == self.threads {
            (state.here, state.round, state.continues) = (0, state.round + 1, continues());
            self.show(&state);
            return (!state.broken).then_some(state.continues);
        }
        let round = state.round;
        drop(state);
        let since = Instant::now();
        while self.round.load(Ordering::Relaxed) == round && since.elapsed() < EAGER {
            std::hint::spin_loop();
        }
        let mut state = lock(&self.state);
        while state.round == round && !state.broken {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        (!state.broken).then_some(state.continues)
    }

    /// Marks a thread as lost: it will never arrive.
    pub fn leave(&self) {
        let mut state = lock(&self.state);
        state.broken = true;
        self.show(&state);
    }

    /// Shows waiting threads that a round is completed, or that a thread is lost.
    fn show(&self, state: &BarrierState) {
        let round = if state.broken { u64::MAX } else { state.round };
        self.round.store(round, Ordering::Relaxed);
        self.changed.notify_all();
    }
}

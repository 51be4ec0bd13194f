//! [`PhaseShare`]: what those who hold slabs share while they make steps, above all the edges of their slabs.

use super::barrier::Barrier;
use super::taker_progress::TakerProgress;
use pleach_runtime::sync::{AtomicBool, AtomicU64, Mutex, Ordering, lock};

/// A thread, or a device with the thread that drives it.
pub(super) struct PhaseWorker<'a> {
    pub name: &'a str,
    /// Its slow-down factor.
    pub slow: f64,
    pub seen: &'a TakerProgress,
}

/// The edges of a slab for the neighbour below and the one above, after even and odd sweeps.
pub(super) type Edges = [[Mutex<Vec<f32>>; 2]; 2];

/// What is shared in some sweeps with fixed slabs.
pub(super) struct PhaseShare<'a> {
    /// The edges of all slabs.
    pub edges: &'a [Edges],
    /// Whether the first and the last slab are neighbours.
    pub is_ring: bool,
    /// Whether slabs know their neighbours' edges before the first sweep.
    pub exchanged: bool,
    /// Steps done before the first sweep.
    pub done: usize,
    /// Steps of all sweeps.
    pub steps: usize,
    /// The maximum number of steps in a sweep.
    pub depth: usize,
    /// Where all threads wait for each other.
    pub meet: Barrier,
    pub stop: AtomicBool,
    /// Steps done by now.
    pub swept: AtomicU64,
}

impl PhaseShare<'_> {
    /// The number of sweeps.
    pub fn sweeps(&self) -> usize {
        self.steps.div_ceil(self.depth)
    }

    /// The steps before a sweep, and those in it.
    pub fn steps_of(&self, sweep: usize) -> (usize, usize) {
        let before = sweep * self.depth;
        (before, self.depth.min(self.steps - before))
    }

    /// Waits for all threads. Returns whether to continue, or `None` if a thread is lost.
    pub fn wait(&self) -> Option<bool> {
        self.meet.wait(|| !self.stop.load(Ordering::Relaxed))
    }

    /// Publishes the edges of a slab after this many sweeps.
    pub fn publish(&self, slab: usize, sweeps: usize, write: impl Fn(bool, &mut Vec<f32>)) {
        for above in [false, true] {
            let mut edge = lock(&self.edges[slab][sweeps % 2][usize::from(above)]);
            edge.clear();
            write(above, &mut edge);
        }
    }

    /// Reads the edge of a slab's neighbour after this many sweeps, if there is one on this side.
    pub fn take(&self, slab: usize, above: bool, sweeps: usize, read: impl FnOnce(&[f32])) {
        let last = self.edges.len() - 1;
        let from = match above {
            false if slab > 0 => Some(slab - 1),
            false => self.is_ring.then_some(last),
            true if slab < last => Some(slab + 1),
            true => self.is_ring.then_some(0),
        };
        if let Some(from) = from {
            read(&lock(&self.edges[from][sweeps % 2][usize::from(!above)]));
        }
    }
}

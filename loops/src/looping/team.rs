//! [`Team`]: threads that sweep one slab together, tile by tile.

use super::contract::SlabBlocks;
use super::exchange::{PhaseShare, PhaseWorker};
use super::loop_thread::{TakerTally, sleep};
use super::tile_queue::TileQueue;
use pleach_runtime::sync::Ordering;
use std::time::{Duration, Instant};

/// The number of blocks for each thread: with more of them, threads wait less for each other, but the caches help
/// less.
pub(super) const BLOCKS: usize = 4;

/// The threads of a process with their slab, the first of all.
pub(super) struct Team<'t> {
    blocks: Box<dyn SlabBlocks + 't>,
    tiles: TileQueue,
    /// Whether it needs the neighbours' edges for each sweep.
    has_neighbours: bool,
}

impl<'t> Team<'t> {
    /// This many threads before their first sweep.
    pub fn new(blocks: Box<dyn SlabBlocks + 't>, threads: usize, shared: &PhaseShare<'_>) -> Self {
        let tiles = TileQueue::new(blocks.count(), threads, shared.sweeps());
        Self { blocks, tiles, has_neighbours: shared.edges.len() > 1 || shared.is_ring }
    }

    /// Makes all sweeps together with the other threads, unless they are stopped or one is lost. Returns how long the
    /// sweeps that this thread completed took.
    pub fn sweep(
        &self,
        shared: &PhaseShare<'_>,
        me: usize,
        worker: &PhaseWorker<'_>,
        did: &mut TakerTally,
    ) -> Duration {
        if !self.has_neighbours {
            return self.sweep_tiles(shared, me, worker, shared.sweeps(), did);
        }
        let (mut swept, mut took, mut continues) = (0, Duration::ZERO, Some(true));
        if !shared.exchanged {
            if me == 0 {
                self.publish(shared, 0);
            }
            continues = shared.wait();
        }
        while continues == Some(true) && swept < shared.sweeps() {
            swept += 1;
            took += self.sweep_tiles(shared, me, worker, swept, did);
            continues = shared.wait();
        }
        if continues.is_none() {
            // Others of this team may have passed the barrier before a device was lost.
            self.tiles.leave();
        } else if me == 0 {
            // The next sweeps and the caller need the edges.
            [false, true].into_iter().for_each(|above| self.take_edge(shared, above, swept));
        }
        took
    }

    /// Sweeps tiles until all have done this many sweeps. Returns how long that took to the thread that does the last
    /// of them.
    fn sweep_tiles(
        &self,
        shared: &PhaseShare<'_>,
        me: usize,
        worker: &PhaseWorker<'_>,
        until: usize,
        did: &mut TakerTally,
    ) -> Duration {
        let (start, mut all) = (Instant::now(), Duration::ZERO);
        // With neighbours, all stop after the same sweep.
        let stopped = || !self.has_neighbours && shared.stop.load(Ordering::Relaxed);
        while let Some(tile) = self.tiles.take(me, until, stopped) {
            let (before, steps) = shared.steps_of(tile.sweep);
            let units = self.blocks.units(tile.number);
            worker.seen.record_start(units.start as u64..units.end as u64);
            let began = Instant::now();
            if self.has_neighbours && (tile.sweep > 0 || !shared.exchanged) {
                for (above, end) in [(false, 0), (true, 2 * self.blocks.count() - 2)] {
                    if tile.number == end {
                        self.take_edge(shared, above, tile.sweep);
                    }
                }
            }
            let units = self.blocks.sweep(tile.number, before, steps);
            sleep(began.elapsed().mul_f64(worker.slow - 1.0), || {
                shared.stop.load(Ordering::Relaxed)
            });
            let took = began.elapsed();
            did.add(units as u64, units as f64, took);
            worker.seen.record_done(units as u64, took.as_nanos() as u64);
            let swept = self.tiles.finish(me, tile, units, took);
            let steps = shared.done + (swept * shared.depth).min(shared.steps);
            shared.swept.fetch_max(steps as u64, Ordering::Relaxed);
            if swept == until {
                if self.has_neighbours {
                    self.publish(shared, swept);
                }
                all = start.elapsed();
            }
        }
        all
    }

    /// Publishes the slab's edges after this many sweeps. No tile is being swept.
    fn publish(&self, shared: &PhaseShare<'_>, sweeps: usize) {
        shared.publish(0, sweeps, |above, edge| self.blocks.edge(above, edge));
    }

    /// Takes a neighbour's edge after this many sweeps.
    fn take_edge(&self, shared: &PhaseShare<'_>, above: bool, sweeps: usize) {
        shared.take(0, above, sweeps, |edge| self.blocks.set_edge(above, edge));
    }

    /// Records that a thread is lost.
    pub fn leave(&self) {
        self.tiles.leave();
    }
}

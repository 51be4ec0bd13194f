//! [`TileQueue`]: hands out the tiles of a slab to the threads that sweep it together.
//!
//! A thread that is ahead continues with the next sweep wherever the tiles around are done, so fast threads wait for slow
//! ones only at the end.

use pleach_runtime::sync::{Condvar, Mutex, lock};
use std::sync::PoisonError;
use std::time::Duration;

/// A tile to be swept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    /// Even tiles are blocks, odd ones the seams between two of them.
    pub number: usize,
    /// How many sweeps the tile has done before.
    pub sweep: usize,
}

/// The tiles of a slab, and who sweeps them.
pub(super) struct TileQueue {
    state: Mutex<TileStates>,
    changed: Condvar,
}

struct TileStates {
    /// How many sweeps each tile has done.
    done: Vec<usize>,
    /// Whether a thread sweeps the tile now.
    taken: Vec<bool>,
    /// Units of a sweep, as of the last one.
    units: Vec<f64>,
    takers: Vec<TileTaker>,
    /// No tile has begun this sweep yet.
    next: usize,
    /// No tile begins this sweep any more.
    end: usize,
    /// Whether a thread is lost.
    broken: bool,
}

/// A thread that takes tiles.
struct TileTaker {
    /// Its last tile, or where it should begin.
    at: usize,
    /// Units that it does in a nanosecond; 0 if unknown.
    rate: f64,
}

impl TileQueue {
    /// The tiles of this many blocks, for this many threads and sweeps.
    pub fn new(blocks: usize, threads: usize, sweeps: usize) -> Self {
        let tiles = 2 * blocks - 1;
        let taker = |me| TileTaker { at: me * tiles / threads, rate: 0.0 };
        let state = TileStates {
            done: vec![0; tiles],
            taken: vec![false; tiles],
            units: vec![0.0; tiles],
            takers: (0..threads).map(taker).collect(),
            next: 0,
            end: sweeps,
            broken: false,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Waits for a tile that can be swept and should not be left to others, and takes it. Returns `None` if nothing is
    /// left to take until all tiles have done this many sweeps, or if a thread is lost. Once `stopped`, no further
    /// sweep is begun.
    pub fn take(&self, me: usize, until: usize, stopped: impl Fn() -> bool) -> Option<Tile> {
        let mut state = lock(&self.state);
        loop {
            let until = until.min(state.end);
            if state.broken || state.is_all_taken(until) {
                return None;
            }
            match state.choose(me, until) {
                Some(number) if state.done[number] == state.next && stopped() => {
                    state.end = state.next;
                    self.changed.notify_all();
                }
                Some(number) => {
                    let sweep = state.done[number];
                    state.next = state.next.max(sweep + 1);
                    state.taken[number] = true;
                    state.takers[me].at = number;
                    return Some(Tile { number, sweep });
                }
                None => {
                    let waited = self.changed.wait(state);
                    state = waited.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// Records that a tile is done, which had this many units and took this long. Returns how many sweeps all tiles
    /// have done.
    pub fn finish(&self, me: usize, tile: Tile, units: usize, took: Duration) -> usize {
        let mut state = lock(&self.state);
        state.taken[tile.number] = false;
        state.done[tile.number] += 1;
        state.units[tile.number] = units as f64;
        // A seam has no units if the sweep is a single even step.
        if units > 0 {
            let taker = &mut state.takers[me];
            let rate = units as f64 / took.as_nanos().max(1) as f64;
            // A thread that was interrupted in one tile is no slower in the next ones.
            taker.rate = rate.max(taker.rate / 2.0);
        }
        self.changed.notify_all();
        state.done.iter().copied().min().unwrap_or(0)
    }

    /// Records that a thread is lost.
    pub fn leave(&self) {
        lock(&self.state).broken = true;
        self.changed.notify_all();
    }
}

impl TileStates {
    /// Whether nothing is left to take until all tiles have done this many sweeps.
    fn is_all_taken(&self, until: usize) -> bool {
        let mut sweeps = self.done.iter().zip(&self.taken);
        sweeps.all(|(done, &taken)| done + usize::from(taken) >= until)
    }

    /// The tile that a thread should sweep next: of those that have done the fewest sweeps, the one next to its last.
    fn choose(&self, me: usize, until: usize) -> Option<usize> {
        let at = self.takers[me].at;
        let is_ready = |&tile: &usize| {
            // A seam needs what its blocks have just done; a block needs what its seams have done before.
            let needs = self.done[tile] + tile % 2;
            let around = [tile.wrapping_sub(1), tile + 1];
            let mut around = around.into_iter().filter_map(|other| self.done.get(other));
            !self.taken[tile] && self.done[tile] < until && around.all(|&done| done >= needs)
        };
        let ready = (0..self.done.len()).filter(is_ready);
        let ready = ready.filter(|&tile| !self.is_better_left(me, tile, until));
        ready.min_by_key(|&tile| (self.done[tile], tile.abs_diff(at)))
    }

    /// Whether another thread could do the tile, and before it everything that does not depend on it, sooner than this
    /// one does the tile alone. The fastest thread leaves nothing, so there is always one that continues.
    fn is_better_left(&self, me: usize, tile: usize, until: usize) -> bool {
        let others = self.takers.iter().enumerate().filter(|&(it, _)| it != me);
        let fastest = others.map(|(_, taker)| taker.rate).fold(0.0, f64::max);
        let left = |it: usize| {
            // With every second tile further away, others can be a sweep further ahead.
            let ahead = (it.abs_diff(tile) + tile % 2) / 2;
            let end = if it == tile { self.done[it] + 1 } else { self.done[tile] + ahead };
            end.min(until).saturating_sub(self.done[it])
        };
        let before: f64 = (0..self.done.len()).map(|it| left(it) as f64 * self.units[it]).sum();
        let own = self.takers[me].rate;
        own > 0.0 && before * own < self.units[tile] * fastest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_runtime::on_drop::OnDrop;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn one_thread_takes_blocks_and_then_the_seams_between_them() {
        let tiles = TileQueue::new(3, 1, 2);
        let mut seen = Vec::new();
        while let Some(tile) = tiles.take(0, 1, || false) {
            seen.push((tile.number, tile.sweep));
            let least = tiles.finish(0, tile, 5, MS);
            assert_eq!(least, usize::from(seen.len() == 5));
        }
        assert_eq!(seen, [(0, 0), (2, 0), (1, 0), (4, 0), (3, 0)]);
        // The next sweep begins where this one ended.
        assert_eq!(tiles.take(0, 2, || false), Some(Tile { number: 2, sweep: 1 }));
    }

    #[test]
    fn a_thread_continues_where_a_slow_one_does_not_matter() {
        let tiles = TileQueue::new(4, 2, 9);
        let slow = tiles.take(0, 9, || false).unwrap();
        assert_eq!(slow, Tile { number: 0, sweep: 0 });
        let mut seen = Vec::new();
        for _ in 0..8 {
            let tile = tiles.take(1, 9, || false).unwrap();
            seen.push((tile.number, tile.sweep));
            tiles.finish(1, tile, 5, MS);
        }
        seen.sort_unstable();
        assert_eq!(seen, [(2, 0), (3, 0), (4, 0), (4, 1), (5, 0), (5, 1), (6, 0), (6, 1)]);
        assert_eq!(tiles.finish(0, slow, 5, 20 * MS), 0);
        assert_eq!(tiles.take(0, 9, || false), Some(Tile { number: 1, sweep: 0 }));
    }

    #[test]
    fn a_slow_thread_leaves_tiles_to_a_fast_one_that_needs_them_soon() {
        let tiles = TileQueue::new(2, 2, 2);
        let sweep = |me: usize, took: Duration| {
            let tile = tiles.take(me, 2, || false).unwrap();
            tiles.finish(me, tile, 6, took)
        };
        // The first sweep shows the speeds.
        sweep(0, MS);
        sweep(1, 20 * MS);
        assert_eq!(sweep(0, MS), 1);
        let state = lock(&tiles.state);
        assert_eq!((state.choose(0, 2), state.choose(1, 2)), (Some(0), None));
    }

    /// The part of the time for which each of two threads waits, if the second is this many times as slow.
    fn idle(blocks: usize, slow: u64) -> [f64; 2] {
        let (tiles, sweeps) = (TileQueue::new(blocks, 2, 400), 400);
        let (mut now, mut waited) = (0, [0; 2]);
        let mut under_way: [Option<(u64, Tile)>; 2] = [None; 2];
        loop {
            for (me, turn) in under_way.iter_mut().enumerate().filter(|(_, turn)| turn.is_none()) {
                if lock(&tiles.state).choose(me, sweeps).is_some() {
                    let tile = tiles.take(me, sweeps, || false).unwrap();
                    let took = if tile.number % 2 == 0 { 6 } else { 2 };
                    *turn = Some((now + took * if me == 1 { slow } else { 1 }, tile));
                }
            }
            let Some((end, _)) = under_way.iter().flatten().min_by_key(|(end, _)| *end) else {
                break;
            };
            let end = *end;
            for (me, turn) in under_way.iter_mut().enumerate() {
                match turn.take_if(|(at, _)| *at == end) {
                    Some((_, tile)) => {
                        let units = if tile.number % 2 == 0 { 6 } else { 2 };
                        let took = Duration::from_millis(units * if me == 1 { slow } else { 1 });
                        tiles.finish(me, tile, units as usize, took);
                    }
                    None if turn.is_none() => waited[me] += end - now,
                    None => {}
                }
            }
            now = end;
        }
        assert!(lock(&tiles.state).done.iter().all(|&done| done == sweeps));
        waited.map(|waited| waited as f64 / now as f64)
    }

    /// A fast thread used to wait for half of the time where a slow one took a tile that it needed next.
    #[test]
    fn threads_of_any_speeds_wait_little() {
        for (blocks, slow, most) in [
            (8, 1, [0.001, 0.001]),
            (8, 4, [0.001, 0.001]),
            (8, 14, [0.005, 0.05]),
            (8, 40, [0.01, 0.15]),
            (12, 14, [0.01, 0.05]),
            (4, 4, [0.08, 0.08]),
        ] {
            let waits = idle(blocks, slow);
            assert!(waits[0] < most[0] && waits[1] < most[1], "{blocks}, {slow}: {waits:?}");
        }
    }

    #[test]
    fn a_thread_that_was_interrupted_once_still_takes_tiles() {
        let tiles = TileQueue::new(4, 2, 9);
        let sweep = |me: usize, until: usize, took: Duration| {
            let tile = tiles.take(me, until, || false).unwrap();
            tiles.finish(me, tile, 6, took)
        };
        (0..3).for_each(|_| assert_eq!(sweep(0, 1, MS), 0));
        (0..3).for_each(|_| assert_eq!(sweep(1, 1, MS), 0));
        assert_eq!(sweep(1, 1, 20 * MS), 1);
        let first = tiles.take(0, 2, || false).unwrap();
        assert!(tiles.take(1, 2, || false).is_some());
        tiles.finish(0, first, 6, MS);
    }

    #[test]
    fn a_stop_ends_the_sweep_that_has_begun() {
        let tiles = TileQueue::new(3, 1, 9);
        let mut seen = 0;
        while let Some(tile) = tiles.take(0, 9, || seen > 2) {
            assert_eq!(tile.sweep, 0);
            seen += 1;
            tiles.finish(0, tile, 5, MS);
        }
        assert_eq!(seen, 5);
    }

    /// Neighbouring tiles are never swept at the same time, and always in the right order.
    #[test]
    fn threads_sweep_tiles_in_turn() {
        for (blocks, threads) in [(1, 3), (2, 2), (5, 2), (7, 3), (20, 7)] {
            let (tiles, sweeps) = (&TileQueue::new(blocks, threads, 50), 50);
            let done: &Vec<AtomicUsize> = &(1..2 * blocks).map(|_| AtomicUsize::new(0)).collect();
            std::thread::scope(|scope| {
                for me in 0..threads {
                    scope.spawn(move || {
                        // Otherwise, the others would wait for a thread that has panicked.
                        let guard = OnDrop(|| tiles.leave());
                        while let Some(tile) = tiles.take(me, sweeps, || false) {
                            let Tile { number, sweep } = tile;
                            let around = [number.wrapping_sub(1), number + 1];
                            let check = || {
                                for other in around.iter().filter_map(|&other| done.get(other)) {
                                    let other = other.load(Ordering::Relaxed);
                                    assert_eq!(other, sweep + number % 2, "{tile:?}");
                                }
                            };
                            check();
                            std::thread::yield_now();
                            check();
                            assert_eq!(done[number].fetch_add(1, Ordering::Relaxed), sweep);
                            tiles.finish(me, tile, 1 + number % 2, MS);
                        }
                        std::mem::forget(guard);
                    });
                }
            });
            assert!(done.iter().all(|done| done.load(Ordering::Relaxed) == sweeps));
        }
    }
}

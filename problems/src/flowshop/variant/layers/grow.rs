//! [`grow`]: makes the next layer from the last one, key by key on all threads.

use super::super::model::Variant;
use super::super::objective::Objective;
use super::super::remaining::{Orders, Remaining};
use super::super::set_bounds::SetBounds;
use super::super::table::{Lanes, Table};
use super::layer::{Key, Layer, Part, RANGES};
use crate::simd::Level;
use crate::simd::lanes::{LaneTask, MOST_LANES, Number, Wide};
use pleach_core::search::tree::Counts;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Keys that a thread handles at a time, and the maximum number of pieces of all keys.
const KEYS: usize = 64;
const PIECES: usize = 1024;
/// Keys that are sorted without checking for a stop.
const SHORT: usize = 1024;
/// A key takes as long as some children: the number of jobs divided by `JOBS`; or, for tardiness and tardy jobs, whose
/// bounds list each set by due date, `DUE_JOBS` times the number of jobs.
const JOBS: usize = 4;
const DUE_JOBS: usize = 4;

/// Machines after which it is checked whether any child can still dominate.
const CHECKED: usize = 4;

/// What all layers of a search have in common.
pub(super) struct Rules<'v, N> {
    pub variant: &'v Variant,
    pub level: Level,
    pub table: Table<N>,
    pub orders: Orders<N>,
    pub set_bounds: SetBounds<N>,
}

/// What a layer may take.
pub(super) struct Room {
    pub threads: usize,
    /// The maximum number of bytes, and those in use apart from the layers.
    pub memory: usize,
    pub used: usize,
}

/// The next layer.
pub(super) struct Growth<N> {
    pub next: Layer<N>,
    pub counts: Counts,
    /// What it took, in children made.
    pub work: u64,
    /// Whether nothing is missing: no stop was requested, and memory sufficed.
    pub complete: bool,
}

/// Makes the next layer of prefixes with bounds below `limit`. `keep_going` is called often on this thread.
pub(super) fn grow<N: Number>(
    rules: &Rules<'_, N>,
    layer: &Layer<N>,
    limit: N,
    room: &Room,
    keep_going: &mut dyn FnMut() -> bool,
) -> Growth<N> {
    let candidates: usize = layer
        .parts
        .iter()
        .flat_map(|part| &part.keys)
        .map(|(key, _)| (0..rules.variant.jobs()).filter(|&job| !key.has(job as u16)).count())
        .sum();
    let before = layer.bytes(rules.table.machines) + room.used;
    // A list grows by twice its size.
    let fits = before + 2 * candidates * size_of::<Key>() <= room.memory;
    let keys = if fits { next_keys(rules, layer, keep_going) } else { None };
    let Some(keys) = keys else {
        let (next, counts) = (Layer::new(Vec::new()), Counts::default());
        return Growth { next, counts, work: 0, complete: false };
    };
    let each = KEYS.max(keys.len().div_ceil(PIECES));
    let pieces: Vec<&[Key]> = keys.chunks(each).collect();
    let parts: Vec<Mutex<Option<Part<N>>>> = pieces.iter().map(|_| Mutex::default()).collect();
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let before = before + keys.capacity() * size_of::<Key>();
    let (kept, bytes) = (AtomicUsize::new(0), AtomicUsize::new(before));
    let counts = Mutex::new(Counts::default());
    let work = |keep_going: &mut dyn FnMut() -> bool| {
        let mut scratch = Scratch::new(N::of(rules.variant.horizon()));
        loop {
            let nth = next.fetch_add(1, Ordering::Relaxed);
            if nth >= pieces.len() || stopped.load(Ordering::Relaxed) {
                break;
            }
            let piece = Piece { rules, layer, limit, keys: pieces[nth], scratch: &mut scratch };
            let part = N::run(rules.level, piece);
            let all = kept.fetch_add(part.count(), Ordering::Relaxed) + part.count();
            let own = part.bytes(rules.table.machines);
            let bytes = bytes.fetch_add(own, Ordering::Relaxed) + own;
            if let Ok(mut slot) = parts[nth].lock() {
                *slot = Some(part);
            }
            let full = bytes > room.memory || all > u32::MAX as usize;
            if full || !keep_going() {
                stopped.store(true, Ordering::Relaxed);
            }
        }
        if let Ok(mut counts) = counts.lock() {
            counts.bounded += scratch.made;
        }
    };
    thread::scope(|scope| {
        for _ in 1..room.threads.min(pieces.len()) {
            scope.spawn(|| work(&mut || true));
        }
        work(keep_going);
    });
    let mut counts = counts.into_inner().unwrap_or_default();
    counts.branched = layer.count() as u64;
    let taken = |slot: Mutex<Option<Part<N>>>| slot.into_inner().ok().flatten();
    let parts: Vec<Part<N>> = parts.into_iter().filter_map(taken).collect();
    let complete = !stopped.into_inner() && parts.len() == pieces.len();
    let lists = matches!(rules.variant.objective(), Objective::Tardiness | Objective::TardyJobs);
    let jobs = rules.variant.jobs();
    let key = if lists { jobs * DUE_JOBS } else { jobs / JOBS };
    let work = counts.bounded + (keys.len() * key) as u64;
    Growth { next: Layer::new(parts), counts, work, complete }
}

/// The keys of all children, in order, or `None` if a stop is requested. They are sorted range by range, so that a stop
/// does not have to wait for millions of them.
fn next_keys<N: Number>(
    rules: &Rules<'_, N>,
    layer: &Layer<N>,
    keep_going: &mut dyn FnMut() -> bool,
) -> Option<Vec<Key>> {
    let jobs = rules.variant.jobs();
    let setups = rules.table.has_setups();
    let mut ranges = vec![Vec::new(); RANGES];
    for part in &layer.parts {
        if !keep_going() {
            return None;
        }
        for &(key, _) in &part.keys {
            for job in (0..jobs).filter(|&job| !key.has(job as u16)) {
                let next = key.with(job, setups);
                ranges[next.range(jobs, setups)].push(next);
            }
        }
    }
    let mut next = Vec::new();
    for mut keys in ranges {
        if keys.len() > SHORT && !keep_going() {
            return None;
        }
        keys.sort_unstable();
        keys.dedup();
        next.append(&mut keys);
    }
    next.shrink_to_fit();
    Some(next)
}

/// Children of a key before those that are dominated are dropped, and what else a thread needs.
struct Scratch<N> {
    remaining: Remaining<N>,
    /// The fronts of each child, one after the other.
    fronts: Vec<N>,
    cost: Vec<N>,
    bound: Vec<N>,
    parents: Vec<u32>,
    jobs: Vec<u8>,
    sorted: Vec<u32>,
    kept: Kept<N>,
    /// Children made.
    made: u64,
}

impl<N: Number> Scratch<N> {
    fn new(horizon: N) -> Self {
        Self {
            remaining: Remaining::default(),
            fronts: Vec::new(),
            cost: Vec::new(),
            bound: Vec::new(),
            parents: Vec::new(),
            jobs: Vec::new(),
            sorted: Vec::new(),
            kept: Kept { fronts: Vec::new(), cost: Vec::new(), count: 0, lanes: 1, horizon },
            made: 0,
        }
    }

    fn clear(&mut self) {
        self.fronts.clear();
        self.cost.clear();
        self.bound.clear();
        self.parents.clear();
        self.jobs.clear();
    }
}

/// The children of a key that are kept so far, side by side.
struct Kept<N> {
    /// For each block of lanes and for each machine, a front in each lane.
    fronts: Vec<N>,
    /// For each block, the costs.
    cost: Vec<N>,
    count: usize,
    /// The lanes of a block.
    lanes: usize,
    /// No front is later.
    horizon: N,
}

impl<N: Number> Kept<N> {
    /// Starts with none, in blocks of this many lanes.
    fn clear(&mut self, lanes: usize) {
        self.fronts.clear();
        self.cost.clear();
        self.count = 0;
        self.lanes = lanes;
    }

    fn push(&mut self, fronts: &[N], cost: N) {
        let lane = self.count % self.lanes;
        let block = fronts.len() * self.lanes;
        if lane == 0 {
            // Lanes that are not used dominate nothing.
            let later = self.horizon + N::of(1);
            self.fronts.resize(self.fronts.len() + block, later);
            self.cost.resize(self.cost.len() + self.lanes, N::HIGHEST);
        }
        let start = self.fronts.len() - block;
        let block = self.fronts[start..].chunks_exact_mut(self.lanes);
        for (lanes, &front) in block.zip(fronts) {
            lanes[lane] = front;
        }
        self.cost[self.count] = cost;
        self.count += 1;
    }

    /// Whether one of those kept, which cost no more, dominates a child. The jobs left have this weight.
    #[inline(always)]
    fn dominates<W: Wide<Of = N>>(
        &self,
        objective: Objective,
        fronts: &[N],
        cost: N,
        weight: N,
    ) -> bool {
        let all = (1 << W::LANES) - 1;
        let (zero, own, weight) = (W::splat(N::default()), W::splat(cost), W::splat(weight));
        let blocks = self.fronts.chunks_exact(fronts.len() * W::LANES);
        for (kept, costs) in blocks.zip(self.cost.chunks_exact(W::LANES)) {
            let costs = W::load(costs);
            let mut delta = W::splat(N::LOWEST);
            let mut any = false;
            for (kept, fronts) in kept.chunks(CHECKED * W::LANES).zip(fronts.chunks(CHECKED)) {
                for (kept, &front) in kept.chunks_exact(W::LANES).zip(fronts) {
                    delta = delta.max(W::load(kept).sub(W::splat(front)));
                }
                let fails = match objective {
                    Objective::FlowTime | Objective::Tardiness => {
                        costs.add(weight.mul(delta.max(zero))).greater(own)
                    }
                    Objective::TardyJobs => delta.greater(zero) & costs.add(weight).greater(own),
                    Objective::Makespan | Objective::Lateness => delta.greater(zero),
                };
                any = fails != all;
                // Further machines only add to the differences.
                if !any {
                    break;
                }
            }
            if any {
                return true;
            }
        }
        false
    }

    /// Adds the fronts to those of a layer's part, machine by machine.
    fn write(&self, machines: usize, fronts: &mut Vec<N>) {
        for k in 0..machines {
            let mut left = self.count;
            for block in self.fronts.chunks_exact(machines * self.lanes) {
                let count = left.min(self.lanes);
                fronts.extend_from_slice(&block[k * self.lanes..][..count]);
                left -= count;
            }
        }
    }
}

/// Some keys of the next layer.
struct Piece<'p, N> {
    rules: &'p Rules<'p, N>,
    layer: &'p Layer<N>,
    limit: N,
    keys: &'p [Key],
    scratch: &'p mut Scratch<N>,
}

impl<N: Number> LaneTask<N> for Piece<'_, N> {
    type Result = Part<N>;

    #[inline(always)]
    fn run<W: Wide<Of = N>>(self) -> Part<N> {
        let Self { rules, layer, limit, keys, scratch } = self;
        let Rules { table, orders, set_bounds, variant, .. } = rules;
        let mut part = Part::default();
        let zero = W::splat(N::default());
        let mut lanes = Lanes { fronts: vec![zero; table.machines], cost: zero };
        let mut tight = lanes.fronts.clone();
        for &key in keys {
            scratch.clear();
            scratch.remaining.fill(orders, |job| !key.has(job));
            let left = || (0..variant.jobs()).filter(|&job| !key.has(job as u16));
            let set = left().fold(0, |set, job| set | 1 << job);
            let last = table.has_setups().then(|| key.last());
            for (k, cost) in set_bounds.of(set, last).into_iter().flatten().enumerate() {
                let setups = left().filter_map(|job| Some(table.setups(last?, job)?[k]));
                scratch.remaining.set_least(k, cost, setups.max().unwrap_or_default());
            }
            for (before, last, job) in predecessors(key, variant.jobs(), table.has_setups()) {
                let buffers = (&mut lanes, &mut tight);
                children(rules, layer, (before, last), job, limit, buffers, scratch);
            }
            keep_undominated::<N, W>(table, key, scratch, &mut part);
        }
        part.finish();
        part
    }
}

/// The keys from which a key is made by adding a job, with their last job if that matters, and the job.
fn predecessors(
    key: Key,
    jobs: usize,
    setups: bool,
) -> impl Iterator<Item = (Key, Option<usize>, usize)> {
    let added = move |job: usize| key.has(job as u16) && (!setups || job == key.last());
    (0..jobs).filter(move |&job| added(job)).flat_map(move |job| {
        let before = key.without(job, 0);
        let first = !setups || before == Key::default();
        let lasts = (0..jobs).filter(move |&last| !first && before.has(last as u16));
        let lasts = lasts.map(move |last| (key.without(job, last), Some(last), job));
        first.then_some((before, None, job)).into_iter().chain(lasts)
    })
}

/// Adds the children by one job of all prefixes with a key.
#[inline(always)]
fn children<N: Number, W: Wide<Of = N>>(
    rules: &Rules<'_, N>,
    layer: &Layer<N>,
    (key, last): (Key, Option<usize>),
    job: usize,
    limit: N,
    (lanes, tight): (&mut Lanes<W>, &mut Vec<W>),
    scratch: &mut Scratch<N>,
) {
    let Rules { table, orders, .. } = rules;
    let Some(group) = layer.groups.get(&key) else { return };
    let part = &layer.parts[group.part as usize];
    let number = layer.starts[group.part as usize] + group.start;
    let costs = &part.cost[group.start as usize..][..group.count as usize];
    scratch.made += u64::from(group.count);
    for first in (0..costs.len()).step_by(W::LANES) {
        for (k, front) in lanes.fronts.iter_mut().enumerate() {
            *front = part.lanes(group, table.machines, k, first);
        }
        let count = W::LANES.min(costs.len() - first);
        // Lanes that are not used compute with the prefixes of other keys, or with zeros.
        let mut cost = [N::default(); MOST_LANES];
        cost[..count].copy_from_slice(&costs[first..first + count]);
        lanes.cost = W::load(&cost);
        table.append(lanes, last, job);
        let fronts = if orders.keeps_tightened() {
            scratch.remaining.tighten(&mut lanes.fronts);
            &lanes.fronts
        } else {
            tight.copy_from_slice(&lanes.fronts);
            scratch.remaining.tighten(tight);
            &*tight
        };
        let bound = scratch.remaining.bound(orders, fronts, lanes.cost);
        let mut better = W::splat(limit).greater(bound) & ((1 << count) - 1);
        if better == 0 {
            continue;
        }
        let (mut bounds, mut child) = ([N::default(); MOST_LANES], [N::default(); MOST_LANES]);
        lanes.cost.store(&mut cost);
        bound.store(&mut bounds);
        let (start, machines, children) =
            (scratch.fronts.len(), table.machines, better.count_ones() as usize);
        scratch.fronts.resize(start + children * machines, N::default());
        for (k, fronts) in lanes.fronts.iter().enumerate() {
            fronts.store(&mut child);
            let mut left = better;
            for row in scratch.fronts[start..].chunks_exact_mut(machines) {
                row[k] = child[left.trailing_zeros() as usize % MOST_LANES];
                left &= left - 1;
            }
        }
        while better != 0 {
            let lane = better.trailing_zeros() as usize % MOST_LANES;
            scratch.cost.push(cost[lane]);
            scratch.bound.push(bounds[lane]);
            scratch.parents.push(number + (first + lane) as u32);
            scratch.jobs.push(job as u8);
            better &= better - 1;
        }
    }
}

/// Adds to a part the children of a key that no other one dominates.
#[inline(always)]
fn keep_undominated<N: Number, W: Wide<Of = N>>(
    table: &Table<N>,
    key: Key,
    scratch: &mut Scratch<N>,
    part: &mut Part<N>,
) {
    let Scratch { remaining, fronts, cost, bound, parents, jobs, sorted, kept, .. } = scratch;
    sorted.clear();
    sorted.extend(0..cost.len() as u32);
    sorted.sort_unstable_by_key(|&i| (cost[i as usize], bound[i as usize], i));
    kept.clear(W::LANES);
    for &i in &*sorted {
        let i = i as usize;
        let fronts = &fronts[i * table.machines..][..table.machines];
        if kept.dominates::<W>(table.objective, fronts, cost[i], remaining.weight) {
            continue;
        }
        kept.push(fronts, cost[i]);
        part.cost.push(cost[i]);
        part.bound.push(bound[i]);
        part.parents.push(parents[i]);
        part.jobs.push(jobs[i]);
    }
    if kept.count > 0 {
        kept.write(table.machines, &mut part.fronts);
        part.keys.push((key, kept.count as u32));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::super::instance::Instance;
    use super::super::super::super::shop::Shop;
    use super::super::super::lanes::Passing;
    use super::*;

    /// A stop used to wait until all keys of a layer were made and sorted.
    #[test]
    fn keys_are_in_order_and_a_stop_need_not_wait_for_them() {
        let (jobs, placed) = (18, 6);
        for setups in [false, true] {
            let mut shop = Shop::new(Instance::new(1, vec![1; jobs]).unwrap());
            shop.setups = setups.then(|| vec![1; jobs * jobs]);
            let variant = Variant::new(shop, Objective::FlowTime, Passing::Wait).unwrap();
            let rules = Rules::<i64> {
                variant: &variant,
                level: Level::Off,
                table: Table::new(&variant),
                orders: Orders::new(&variant),
                set_bounds: SetBounds::default(),
            };
            let sets = (0..1_usize << jobs).filter(|set| set.count_ones() == placed);
            let bits = |set: usize| (0..jobs).filter(move |job| set >> job & 1 == 1);
            let key = |set| bits(set).fold(Key::default(), |key, job| key.with(job, setups));
            let keys: Vec<Key> = sets.map(key).collect();
            let mut expected: Vec<Key> = keys
                .iter()
                .flat_map(|key| (0..jobs).map(move |job| (key, job)))
                .filter(|(key, job)| !key.has(*job as u16))
                .map(|(key, job)| key.with(job, setups))
                .collect();
            expected.sort_unstable();
            expected.dedup();
            let keys = keys.into_iter().map(|key| (key, 1)).collect();
            let layer = Layer::new(vec![Part { keys, ..Part::default() }]);
            let made = |most: usize| {
                let mut calls = 0;
                next_keys(&rules, &layer, &mut || {
                    calls += 1;
                    calls <= most
                })
            };
            assert_eq!(made(usize::MAX), Some(expected));
            assert_eq!(made(0), None);
            assert_eq!(made(1), None, "the first range of more than {SHORT} keys");
        }
    }
}

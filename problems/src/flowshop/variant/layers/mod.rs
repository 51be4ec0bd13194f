//! [`Layers`]: search by layers of partial schedules with the same number of jobs, of which those that others dominate
//! are dropped.
//!
//! Of two partial schedules with the same jobs (and the same last one, if there are setup times), one dominates if it
//! costs no more however the rest is completed: all completion times after it are at most `delta` later, where `delta`
//! is the largest difference of the fronts. Unlimited, the search is exact; with only the best of each layer it is a
//! beam search. Counts do not depend on the number of threads.

mod grow;
mod heuristics;
mod layer;

use super::model::{MOST_JOBS_BY_LAYERS, Variant};
use super::remaining::Orders;
use super::set_bounds::SetBounds;
use super::table::Table;
use crate::simd::Level;
use crate::simd::lanes::Number;
use grow::{Growth, Room, Rules, grow};
use heuristics::Heuristics;
use layer::{History, Layer};
use pleach_core::search::tree::Counts;
use std::ops::ControlFlow;

/// The width of the first beam search (small for small shops in tests), and the factor to the next one.
const WIDTH: usize = if cfg!(test) { 20 } else { 1000 };
const WIDER: usize = 8;
/// The maximum number of prefixes handed over to depth-first search; with more, it starts from the
/// root.
const MOST_OPEN: usize = 1 << 20;
/// The part of memory for bounds of sets.
const SET_BOUNDS: usize = 2;
/// Children in layers that take as long as a place tried by a heuristic.
const CHILDREN: u64 = 2;

/// A variant that can be searched by layers.
pub struct Layers<'v> {
    variant: &'v Variant,
    level: Level,
}

/// What limits a search by layers.
pub struct LayersLimits<'w> {
    /// The number of threads.
    pub threads: usize,
    /// The maximum number of bytes for prefixes.
    pub memory: usize,
    /// The seed of the heuristics between passes.
    pub seed: u64,
    /// Called often; the search stops soon after it breaks.
    pub watch: &'w mut dyn FnMut(&LayersProgress) -> ControlFlow<()>,
}

/// How far a search by layers has come.
#[derive(Clone, Debug)]
pub struct LayersProgress {
    /// Prefixes branched, and children made.
    pub counts: Counts,
    /// The best schedule so far, and its value.
    pub best: Option<(Vec<u16>, i64)>,
    /// A bound on all schedules.
    pub least: i64,
}

/// The result of a search by layers.
#[derive(Clone, Debug)]
pub struct LayersEnd {
    /// What it found, proved and explored.
    pub progress: LayersProgress,
    /// The prefixes with better schedules, if there are any, each with its bound; `None` if they are not known.
    pub open: Option<Vec<(i64, Vec<u16>)>>,
}

impl<'v> Layers<'v> {
    pub(super) fn new(variant: &'v Variant, level: Level) -> Option<Self> {
        (variant.jobs() <= MOST_JOBS_BY_LAYERS).then_some(Self { variant, level })
    }

    /// Searches for a schedule with a value below `to_beat`, starting from the best one known: with layers of growing
    /// width and heuristics in turn, until a layer need not be cut, or memory does not suffice for it.
    pub fn search(
        &self,
        best: Option<(Vec<u16>, i64)>,
        to_beat: i64,
        limits: LayersLimits<'_>,
    ) -> LayersEnd {
        if self.variant.is_narrow() {
            Search::<i32>::new(self, best, to_beat).run(limits)
        } else {
            Search::<i64>::new(self, best, to_beat).run(limits)
        }
    }
}

/// A search in progress.
struct Search<'v, N> {
    rules: Rules<'v, N>,
    progress: LayersProgress,
    /// What all layers took, in children made.
    work: u64,
    to_beat: i64,
}

/// How a pass over all layers ended.
enum Pass {
    /// No schedule is better.
    Complete,
    /// Some prefixes were dropped from this many layers to keep the width.
    Cut { layers: usize },
    /// These have no room, or the search was stopped.
    Open(Vec<(i64, Vec<u16>)>),
    /// Stopped or out of memory, after prefixes were dropped or with too many to hand over.
    Stopped,
}

impl<'v, N: Number> Search<'v, N> {
    fn new(layers: &Layers<'v>, best: Option<(Vec<u16>, i64)>, to_beat: i64) -> Self {
        let variant = layers.variant;
        Self {
            rules: Rules {
                variant,
                level: layers.level,
                table: Table::new(variant),
                orders: Orders::new(variant),
                set_bounds: SetBounds::default(),
            },
            progress: LayersProgress { counts: Counts::default(), best, least: i64::MIN },
            work: 0,
            to_beat,
        }
    }

    /// The value that schedules have to beat.
    fn limit(&self) -> i64 {
        self.progress.best.as_ref().map_or(self.to_beat, |(_, value)| self.to_beat.min(*value))
    }

    fn run(mut self, mut limits: LayersLimits<'_>) -> LayersEnd {
        let mut widest = self.widest(&limits);
        let start = self.progress.best.clone();
        let Rules { variant, level, .. } = self.rules;
        let mut heuristics = start
            .filter(|_| variant.jobs() > 1)
            .map(|start| Heuristics::new(variant, level, &start, limits.seed));
        let first = WIDTH.min(widest);
        let mut width = first;
        loop {
            let unlimited = width >= widest;
            let before = self.work;
            let pass = self.pass(if unlimited { usize::MAX } else { width }, &mut limits);
            let open = match pass {
                Pass::Complete => Some(Vec::new()),
                Pass::Open(open) => Some(open),
                Pass::Stopped => None,
                Pass::Cut { layers } => {
                    if width == first {
                        self.bound_sets(&mut limits);
                        widest = self.widest(&limits);
                    }
                    // The more layers were cut, the farther away is the width that suffices.
                    let whole = self.rules.variant.jobs().saturating_sub(layers).max(1);
                    let times = (layers / whole).max(1) as u64;
                    let work = (self.work - before) * self.rules.table.machines as u64 / CHILDREN;
                    if let Some(heuristics) = &mut heuristics {
                        self.improve(heuristics, times * work, &mut limits);
                    }
                    width = width.saturating_mul(WIDER);
                    continue;
                }
            };
            if open.as_ref().is_some_and(Vec::is_empty) {
                self.progress.least = self.limit();
            }
            return LayersEnd { progress: self.progress, open };
        }
    }

    /// Improves the best schedule with this much work.
    fn improve(&mut self, heuristics: &mut Heuristics, work: u64, limits: &mut LayersLimits<'_>) {
        let Some(mut best) = self.progress.best.clone() else { return };
        let threads = limits.threads;
        heuristics.improve(&mut best, work, threads, &mut |order, value| {
            if value < self.limit() {
                self.progress.best = Some((order.to_vec(), value));
            }
            (limits.watch)(&self.progress).is_continue()
        });
        if best.1 < self.limit() {
            self.progress.best = Some(best);
        }
    }

    /// The number of prefixes that a layer can keep for certain.
    fn widest(&self, limits: &LayersLimits<'_>) -> usize {
        limits.memory / Layer::<N>::bytes_each(self.rules.table.machines) / 3
    }

    /// Computes the bounds of all sets, for which easy shops need not wait.
    fn bound_sets(&mut self, limits: &mut LayersLimits<'_>) {
        self.rules.set_bounds = SetBounds::new(
            self.rules.variant,
            self.rules.level,
            limits.threads,
            limits.memory / SET_BOUNDS,
            &mut || (limits.watch)(&self.progress).is_continue(),
        );
        limits.memory -= self.rules.set_bounds.bytes();
    }

    /// Goes through all layers, of which each keeps at most `width` prefixes.
    fn pass(&mut self, width: usize, limits: &mut LayersLimits<'_>) -> Pass {
        let jobs = self.rules.variant.jobs();
        let (mut layer, mut history) =
            (Layer::root(self.rules.variant, &self.rules.orders), History::default());
        let mut cut = 0;
        for placed in 0..jobs {
            let last = placed + 1 == jobs;
            let limit = N::saturating(self.limit());
            let room =
                Room { threads: limits.threads, memory: limits.memory, used: history.bytes() };
            let keep_going = &mut || (limits.watch)(&self.progress).is_continue();
            let growth = grow(&self.rules, &layer, limit, &room, keep_going);
            let Growth { mut next, counts, work, complete } = growth;
            if !complete {
                if cut > 0 {
                    return Pass::Stopped;
                }
                let open = layer.count();
                if open > MOST_OPEN {
                    return Pass::Stopped;
                }
                let order = |i: usize| history.order(i);
                return Pass::Open((0..open).map(|i| (layer.bound(i), order(i))).collect());
            }
            self.progress.counts.add(&counts);
            self.work += work;
            if last {
                if let Some((i, value)) = next.best() {
                    history.push(&mut next);
                    self.progress.best = Some((history.order(i), value));
                }
            } else {
                cut += usize::from(next.cut(self.rules.table.machines, width));
                history.push(&mut next);
            }
            if cut == 0 {
                self.progress.least = self.progress.least.max(next.least().min(self.limit()));
            }
            layer = next;
            if layer.count() == 0 {
                break;
            }
        }
        if cut > 0 { Pass::Cut { layers: cut } } else { Pass::Complete }
    }
}

//! [`LoopQueue`]: how threads and devices share the units of a loop: who takes which, who waits, and when it ends.

use super::range_deque::RangeDeque;
use super::sizes::{Rates, Sizes, TakerKind, boundaries, nearest};
use super::taker_progress::TakerProgress;
use pleach_runtime::sync::{AtomicBool, AtomicU64, Condvar, Mutex, Ordering, lock};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::PoisonError;

/// A loop's units, their cost, and how they are shared.
pub(super) struct LoopQueue<'a> {
    row: RangeDeque,
    cost_before: &'a (dyn Fn(u32) -> f64 + Sync),
    /// The cost of all units.
    whole: f64,
    units: u32,
    sizes: &'a Sizes,
    /// With [`Sizes::Static`], the range of each worker of the machine.
    ends: Vec<u32>,
    rates: Rates,
    takers: Takers,
    state: Mutex<TakersState>,
    changed: Condvar,
    /// Whether something was given back, so that taking the lock pays.
    returned: AtomicBool,
    /// Whether a taker waits although there are units, because others seem to be faster.
    declined: AtomicBool,
    stopped: AtomicBool,
    /// Whether units may come from another process.
    fed: AtomicBool,
    /// Units done.
    done: AtomicU64,
    /// The progress of each taker.
    seen: Vec<TakerProgress>,
    hooks: Option<Hooks<'a>>,
}

/// How many takers of each kind there are, in this order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Takers {
    pub threads: usize,
    pub devices: usize,
    /// Other processes. They take nothing on their own: units are handed out to them.
    pub sites: usize,
}

impl Takers {
    fn all(self) -> usize {
        self.threads + self.devices + self.sites
    }

    fn kind(self, me: usize) -> TakerKind {
        match me {
            _ if me < self.threads => TakerKind::Thread,
            _ if me < self.threads + self.devices => TakerKind::Device,
            _ => TakerKind::Site,
        }
    }
}

/// The units of the loop for rows of the queue.
#[cfg_attr(loom, allow(dead_code))]
pub(super) type UnitsOf<'a> = &'a (dyn Fn(&Range<u32>) -> Range<usize> + Sync);

/// Callbacks for events. They must not wait.
#[derive(Clone, Copy)]
pub(super) struct Hooks<'a> {
    /// A range was done.
    pub done: &'a (dyn Fn(&Range<u32>) + Sync),
    /// A taker has become idle, or something was given back.
    pub changed: &'a (dyn Fn() + Sync),
}

/// What the takers must agree on, under a lock.
struct TakersState {
    /// Idle takers.
    waiting: usize,
    /// Idle threads among them.
    waiting_threads: usize,
    /// The parts of a block that threads have yet to take, with [`Sizes::Block`]; their threads are not idle.
    parts: Vec<Option<Range<u32>>>,
    /// Ranges that were given back, or that another process handed out.
    returned: VecDeque<Range<u32>>,
    /// Devices that may still give something back.
    devices: usize,
    /// Whether more may come from another process.
    open: bool,
}

#[cfg_attr(loom, allow(dead_code))]
impl<'a> LoopQueue<'a> {
    /// The units of a loop with these costs, for this many threads and devices.
    pub fn new(
        units: u32,
        cost_before: &'a (dyn Fn(u32) -> f64 + Sync),
        sizes: &'a Sizes,
        takers: Takers,
    ) -> Self {
        let ends = match sizes {
            Sizes::Static(shares) => {
                let all = |at| shares.get(at).map_or(0.0, |share: &f64| share.max(0.0));
                boundaries(&(0..takers.all()).map(all).collect::<Vec<f64>>(), units, cost_before)
            }
            _ => Vec::new(),
        };
        // A static split uses the list of range ends; the deque is empty.
        let in_row = if ends.is_empty() { units } else { 0 };
        let rates = Rates::new(takers.all());
        let first_site = takers.threads + takers.devices;
        (first_site..takers.all()).for_each(|site| rates.remove(site));
        let state = TakersState {
            waiting: takers.sites,
            waiting_threads: 0,
            parts: vec![None; takers.threads],
            returned: VecDeque::new(),
            devices: takers.devices,
            open: false,
        };
        Self {
            row: RangeDeque::new(in_row),
            cost_before,
            whole: cost_before(units),
            units,
            sizes,
            ends,
            rates,
            takers,
            state: Mutex::new(state),
            changed: Condvar::new(),
            returned: AtomicBool::new(false),
            declined: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            fed: AtomicBool::new(false),
            done: AtomicU64::new(0),
            seen: TakerProgress::all(takers.all()),
            hooks: None,
        }
    }

    /// The same, with callbacks for events.
    pub fn with(self, hooks: Option<Hooks<'a>>) -> Self {
        // The owner of the callbacks ends the loop too.
        lock(&self.state).open = hooks.is_some();
        Self { hooks, ..self }
    }

    /// The same, but the units come from another process, range by range: see [`LoopQueue::hand_out`].
    pub fn fed_by_root(self) -> Self {
        lock(&self.state).waiting -= 1;
        Self { row: RangeDeque::new(0), fed: AtomicBool::new(true), ..self }
    }

    /// Wakes all waiting takers and calls the callback.
    fn notify_all(&self) {
        self.changed.notify_all();
        if let Some(hooks) = self.hooks {
            (hooks.changed)();
        }
    }

    /// The cost of these units.
    pub fn cost(&self, units: &Range<u32>) -> f64 {
        (self.cost_before)(units.end) - (self.cost_before)(units.start)
    }

    /// The cost of all units.
    pub fn whole(&self) -> f64 {
        self.whole
    }

    /// The number of units.
    pub fn rows(&self) -> u32 {
        self.units
    }

    /// Units done so far.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Stops the loop: nobody takes anything any more.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        let _state = lock(&self.state);
        self.notify_all();
    }

    /// Whether the loop was stopped.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// The progress of each taker.
    pub fn progress(&self) -> &[TakerProgress] {
        &self.seen
    }

    /// Records that a taker starts a range.
    pub fn record_start(&self, me: usize, units: &Range<u32>) {
        self.seen[me].record_start(units.start.into()..units.end.into());
    }

    /// Records that a taker has done a range.
    pub fn record_done(&self, me: usize, units: &Range<u32>, took_ns: f64) {
        self.done.fetch_add(u64::from(units.end - units.start), Ordering::Relaxed);
        self.seen[me].record_done(u64::from(units.end - units.start), took_ns as u64);
        self.rates.record(me, self.cost(units), took_ns);
        if self.declined.load(Ordering::Relaxed) {
            // Those that wait for this taker may be faster after all.
            let _state = lock(&self.state);
            self.declined.store(false, Ordering::Relaxed);
            self.changed.notify_all();
        }
        if let Some(hooks) = self.hooks {
            (hooks.done)(units);
        }
    }

    /// The range of a static split; a taker asks for it once.
    pub fn static_range(&self, me: usize) -> Option<Range<u32>> {
        let range = *self.ends.get(me)?..self.ends[me + 1];
        (!range.is_empty()).then_some(range)
    }

    /// The next range for this taker, if there is one now; `last` is the cost of its previous one.
    pub fn try_next(&self, me: usize, last: f64) -> Option<Range<u32>> {
        if self.is_stopped() {
            return None;
        }
        let returned = || self.returned.load(Ordering::Relaxed);
        self.take_new(me, last)
            .or_else(|| returned().then(|| self.take_returned(&mut lock(&self.state), me, last))?)
    }

    /// Units that nobody has taken yet.
    fn take_new(&self, me: usize, last: f64) -> Option<Range<u32>> {
        if self.divides_blocks(me) {
            return None;
        }
        let kind = self.takers.kind(me);
        let size = |left: &Range<u32>| self.size(me, kind, last, (left, self.cost(left)));
        match kind {
            TakerKind::Thread => self.row.pop_front(size),
            TakerKind::Device | TakerKind::Site => self.row.pop_back(size),
        }
    }

    /// Whether this taker takes nothing by itself, but parts of blocks.
    fn divides_blocks(&self, me: usize) -> bool {
        matches!(self.sizes, Sizes::Block(..)) && self.takers.kind(me) == TakerKind::Thread
    }

    /// Part of the range that was given back first.
    fn take_returned(&self, state: &mut TakersState, me: usize, last: f64) -> Option<Range<u32>> {
        if self.divides_blocks(me) {
            return None;
        }
        let all: f64 = state.returned.iter().map(|range| self.cost(range)).sum();
        let first = state.returned.front_mut()?;
        let left = first.end - first.start;
        // If this is the only taker left, it does the range however slow it is.
        let least = u32::from(state.waiting == self.takers.all());
        let kind = self.takers.kind(me);
        let size = self.size(me, kind, last, (first, all)).clamp(least, left);
        let cut = match kind {
            TakerKind::Thread => first.start..first.start + size,
            TakerKind::Device | TakerKind::Site => first.end - size..first.end,
        };
        match kind {
            TakerKind::Thread => first.start = cut.end,
            TakerKind::Device | TakerKind::Site => first.end = cut.start,
        }
        if left == size {
            state.returned.pop_front();
            self.returned.store(!state.returned.is_empty(), Ordering::Relaxed);
        }
        (!cut.is_empty()).then_some(cut)
    }

    /// How many of the remaining units to take, 0 for none. `cost` is the cost of what remains.
    fn size(&self, me: usize, kind: TakerKind, last: f64, (left, cost): (&Range<u32>, f64)) -> u32 {
        if left.is_empty() {
            return 0;
        }
        match *self.sizes {
            Sizes::Given(thread, _) if kind == TakerKind::Thread => return thread.max(1),
            Sizes::Given(_, other) | Sizes::Block(_, other) => return other.max(1),
            _ => {}
        }
        let from_back = kind != TakerKind::Thread;
        let next = if from_back { left.end - 1..left.end } else { left.start..left.start + 1 };
        let wanted = self.rates.wanted(me, kind, cost, last, self.cost(&next));
        let Some(wanted) = wanted else { return 0 };
        let before = self.cost_before;
        let units = if from_back {
            left.end - nearest(left, before(left.end) - wanted, before)
        } else {
            nearest(left, before(left.start) + wanted, before) - left.start
        };
        units.max(1)
    }

    /// The next range, or `None` when all is done. Waits while others may give something back or would finish the rest
    /// sooner.
    pub fn next(&self, me: usize, last: f64) -> Option<Range<u32>> {
        if let Some(range) = self.try_next(me, last) {
            return Some(range);
        }
        let mut state = lock(&self.state);
        let is_thread = self.takers.kind(me) == TakerKind::Thread;
        state.waiting += 1;
        state.waiting_threads += usize::from(is_thread);
        if let Some(hooks) = self.hooks {
            (hooks.changed)();
        }
        loop {
            if self.is_stopped() {
                return None;
            }
            self.divide_block(&mut state);
            if let Some(part) = state.parts.get_mut(me).and_then(Option::take) {
                return Some(part);
            }
            let alone = state.waiting == self.takers.all();
            let range = self.take_returned(&mut state, me, last);
            let range = range.or_else(|| self.take_new(me, last));
            let range = range.or_else(|| alone.then(|| self.row.pop_front(|_| 1)).flatten());
            if range.is_some() {
                state.waiting -= 1;
                state.waiting_threads -= usize::from(is_thread);
                return range;
            }
            let left = !state.returned.is_empty() || !self.row.left().is_empty();
            if !state.open && (alone || !left && state.devices == 0) {
                self.changed.notify_all();
                return None;
            }
            if left && !self.divides_blocks(me) {
                self.declined.store(true, Ordering::Relaxed);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes a block and divides it between the threads, if blocks are wanted and all threads are idle.
    fn divide_block(&self, state: &mut TakersState) {
        let threads = self.takers.threads;
        let Sizes::Block(size, _) = *self.sizes else { return };
        if threads == 0 || state.waiting_threads < threads {
            return;
        }
        let size = size.max(1);
        let block = self.row.pop_front(|_| size);
        let Some(block) = block.or_else(|| self.front_of_returned(state, size)) else { return };
        let each = (block.end - block.start).div_ceil(threads as u32);
        for (part, start) in state.parts.iter_mut().zip(block.clone().step_by(each as usize)) {
            *part = Some(start..start.saturating_add(each).min(block.end));
            (state.waiting, state.waiting_threads) = (state.waiting - 1, state.waiting_threads - 1);
        }
        self.changed.notify_all();
    }

    /// The first units of the range that was given back first.
    fn front_of_returned(&self, state: &mut TakersState, size: u32) -> Option<Range<u32>> {
        let first = state.returned.front_mut()?;
        let front = first.start..first.end.min(first.start.saturating_add(size));
        first.start = front.end;
        if first.start == first.end {
            state.returned.pop_front();
            self.returned.store(!state.returned.is_empty(), Ordering::Relaxed);
        }
        Some(front)
    }

    /// A range for another process that has none, if there is one for it now.
    pub fn first_range(&self, site: usize) -> Option<Range<u32>> {
        if self.row.left().is_empty() && !self.returned.load(Ordering::Relaxed) {
            return None;
        }
        // Count it as busy before taking anything: otherwise others could conclude that all is done.
        lock(&self.state).waiting -= 1;
        let range = self.try_next(site, self.whole);
        if range.is_none() {
            self.record_idle();
        }
        range
    }

    /// Records that another process is idle.
    pub fn record_idle(&self) {
        lock(&self.state).waiting += 1;
        self.changed.notify_all();
    }

    /// Records that another process has joined.
    pub fn record_joined(&self, site: usize) {
        self.rates.forget(site);
    }

    /// Records that another process is gone or silent: free takers do its ranges.
    pub fn requeue_ranges(&self, site: usize, ranges: impl IntoIterator<Item = Range<u32>>) {
        self.rates.remove(site);
        self.seen[site].drop_all();
        self.hand_out(ranges);
    }

    /// Adds ranges for any free taker.
    pub fn hand_out(&self, ranges: impl IntoIterator<Item = Range<u32>>) {
        let mut state = lock(&self.state);
        self.put_back(&mut state, ranges);
        self.notify_all();
    }

    fn put_back(&self, state: &mut TakersState, ranges: impl IntoIterator<Item = Range<u32>>) {
        state.returned.extend(ranges.into_iter().filter(|range| !range.is_empty()));
        self.returned.store(!state.returned.is_empty(), Ordering::Relaxed);
    }

    /// Ends the loop if all takers are idle, because nothing more comes from other processes. Returns whether it has
    /// ended.
    pub fn end_if_idle(&self) -> bool {
        let mut state = lock(&self.state);
        let nothing = state.returned.is_empty() && self.row.left().is_empty();
        if self.is_stopped() || nothing && state.waiting == self.takers.all() {
            state.open = false;
            self.changed.notify_all();
        }
        !state.open
    }

    /// Records that the process that feeds this loop has nothing more for it.
    pub fn end_feeding(&self) {
        self.fed.store(false, Ordering::Relaxed);
        let mut state = lock(&self.state);
        // Others have done what this process still had.
        state.returned.clear();
        self.returned.store(false, Ordering::Relaxed);
        (state.waiting, state.open) = (state.waiting + 1, false);
        self.changed.notify_all();
    }

    /// Records that a device has failed: these ranges are for any free taker, and its thread takes part from now on.
    pub fn give_back(&self, me: usize, ranges: impl IntoIterator<Item = Range<u32>>) {
        self.rates.forget(me);
        self.seen[me].drop_all();
        let mut state = lock(&self.state);
        self.put_back(&mut state, ranges);
        state.devices -= 1;
        self.notify_all();
    }

    /// Whether there is nothing left to take for a device that is being prepared.
    pub fn is_over(&self, me: usize) -> bool {
        let nothing = if self.ends.is_empty() {
            !self.fed.load(Ordering::Relaxed) && self.row.left().is_empty()
        } else {
            self.static_range(me).is_none()
        };
        self.is_stopped() || nothing
    }

    /// Records that a device cannot be used: it takes nothing, and others do its part of a static split.
    pub fn remove_taker(&self, me: usize) {
        self.rates.remove(me);
        let mut state = lock(&self.state);
        self.put_back(&mut state, self.static_range(me));
        state.devices -= 1;
        state.waiting += 1;
        self.notify_all();
    }

    /// Units not done.
    pub fn missing(&self) -> u64 {
        u64::from(self.units).saturating_sub(self.done())
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

//! [`Places`]: the value of a schedule with one more job, for each place of the job.
//!
//! Each lane has the job at another place, starts from the schedule before that place, and appends the jobs after it.
//! Where the fronts are later than without the job by at least some delay, so are the ends of all jobs to come. Lanes
//! stop once that is known to cost too much.

use super::super::heuristic::insertion::{Insert, least_place};
use super::base::{Base, STEPS};
use super::lanes::{Dates, Passing, add_cost, append_several};
use super::model::Variant;
use super::objective::Objective;
use super::table::{Lanes, Table};
use crate::simd::Level;
use crate::simd::lanes::{LaneTask, MOST_LANES, Number, Wide};

/// Places that are computed together, whatever the number of lanes.
const BLOCK: usize = MOST_LANES;
/// Overhead of a call and of a block, in places times machines.
const CALL: u64 = 60;

/// Computes the values of all places of a job.
pub(super) struct Places<N> {
    table: Table<N>,
    no_cost: N,
    level: Level,
    /// The schedule without the job.
    base: Base<N>,
    values: Vec<N>,
    work: u64,
}

impl<N: Number> Places<N> {
    pub fn new(variant: &Variant, level: Level) -> Self {
        Self {
            table: Table::new(variant),
            no_cost: variant.no_cost(),
            level,
            base: Base::new(variant),
            values: Vec::new(),
            work: 0,
        }
    }

    /// The values of the order with a job at each place. `known` is at least the least of them. A value is exact unless
    /// it exceeds the least one or `known` by more than the margin; then it may be too low, but still exceeds one of
    /// the two by more than the margin.
    pub fn values(&mut self, order: &[u16], job: u16, known: N, margin: N) -> &[N] {
        let Self { table, no_cost, level, base, values, work } = self;
        let (no_cost, job) = (*no_cost, job.into());
        *work += N::run(*level, Blocks { table, no_cost, base, order, job, known, margin, values });
        &self.values
    }
}

impl<N: Number> Insert for Places<N> {
    fn insert(
        &mut self,
        order: &mut Vec<u16>,
        job: u16,
        known: i64,
        tie: impl FnOnce(usize) -> usize,
    ) -> i64 {
        let values = self.values(order, job, N::saturating(known).min(N::HIGHEST), N::default());
        let (place, least) = least_place(values, tie);
        order.insert(place, job);
        least.into()
    }

    fn machines(&self) -> usize {
        self.table.machines
    }

    /// Places of orders and steps of blocks, times machines.
    fn work(&self) -> u64 {
        self.work
    }
}

/// All places of a job, in blocks.
struct Blocks<'a, N> {
    table: &'a Table<N>,
    no_cost: N,
    base: &'a mut Base<N>,
    order: &'a [u16],
    job: usize,
    known: N,
    margin: N,
    values: &'a mut Vec<N>,
}

impl<N: Number> LaneTask<N> for Blocks<'_, N> {
    /// The work.
    type Result = u64;

    #[inline(always)]
    fn run<W: Wide<Of = N>>(self) -> u64 {
        let Self { table, no_cost, base, order, job, known, margin, values } = self;
        let machines = table.machines as u64;
        let mut work = CALL + base.set_order(table, no_cost, order) as u64 * machines;
        let block = Block { table, base, job };
        let places = order.len() + 1;
        values.clear();
        values.resize(places.next_multiple_of(BLOCK), N::default());
        let mut limit = known + margin;
        let mut lanes = vec![Lanes::<W>::empty(table.machines, no_cost); BLOCK / W::LANES];
        // Few jobs follow the last places, so these cost least.
        for first in (0..places).step_by(BLOCK).rev() {
            let costs = &mut values[first..first + BLOCK];
            let steps = block.run(&mut lanes, first, limit, costs);
            work += CALL + (BLOCK + steps) as u64 * machines;
            let least = costs.iter().take(places - first).copied().min().unwrap_or(limit);
            limit = limit.min(least + margin);
        }
        values.truncate(places);
        work
    }
}

/// Some places of a job.
struct Block<'a, N> {
    table: &'a Table<N>,
    base: &'a Base<N>,
    job: usize,
}

impl<N: Number> Block<'_, N> {
    /// Computes the costs of places, or bounds on them that all exceed a limit. Returns how many jobs were appended.
    #[inline(always)]
    fn run<W: Wide<Of = N>>(
        &self,
        lanes: &mut [Lanes<W>],
        first: usize,
        limit: N,
        costs: &mut [N],
    ) -> usize {
        let offsets = (0..).step_by(W::LANES);
        for (at, lanes) in offsets.clone().zip(&mut *lanes) {
            self.start(lanes, first + at);
        }
        let left = self.base.order().len() - first;
        // With setup times, the job after it has been appended, too.
        let mut step = usize::from(self.table.has_setups());
        while step < left {
            for (at, lanes) in offsets.clone().zip(&mut *lanes) {
                self.append(lanes, first + at + step);
            }
            step += STEPS;
            let mut exceeds = true;
            for (at, lanes) in offsets.clone().zip(&*lanes) {
                let bound = self.bound(lanes, first + at + step);
                bound.store(&mut costs[at..]);
                let counted = (left + 1).saturating_sub(at).min(W::LANES);
                let all = ((1_u64 << counted) - 1) as u32;
                exceeds &= bound.greater(W::splat(limit)) & all == all;
            }
            if exceeds {
                return step;
            }
        }
        for (at, lanes) in offsets.zip(lanes) {
            lanes.cost.store(&mut costs[at..]);
        }
        step
    }

    /// Starts with the jobs before each place and the job; with setup times, the job after it follows.
    #[inline(always)]
    fn start<W: Wide<Of = N>>(&self, lanes: &mut Lanes<W>, at: usize) {
        let Self { table, base, job } = *self;
        lanes.cost = base.before(at, &mut lanes.fronts);
        let Dates { weight, due, release } = *table.dates(job);
        let dates =
            Dates { weight: W::splat(weight), due: W::splat(due), release: W::splat(release) };
        let times = table.times(job);
        let times = {
            #[inline(always)]
            |k: usize| W::splat(times[k])
        };
        let setups = table.has_setups().then(|| {
            let before = |lane: usize| base.order().get((at + lane).checked_sub(1)?);
            gather(move |lane| table.setups((*before(lane)?).into(), job))
        });
        table.append_each(lanes, times, setups, &dates);
        if table.has_setups() {
            let times = {
                #[inline(always)]
                |k: usize| W::load(&base.times(at)[k * base.stride()..])
            };
            let setups = gather(|lane| table.setups(job, (*base.order().get(at + lane)?).into()));
            table.append_each(lanes, times, Some(setups), &base.dates(at));
        }
    }

    /// Appends the next jobs to each lane, and jobs that cost nothing beyond the end. The first lane's are those from
    /// this place.
    #[inline(always)]
    fn append<W: Wide<Of = N>>(&self, lanes: &mut Lanes<W>, place: usize) {
        let Self { table, base, .. } = *self;
        let stride = base.stride();
        let dates: [_; STEPS] = std::array::from_fn(|i| base.dates(place + i));
        let (times, setups) = (base.times(place), base.setups(place));
        if table.passing == Passing::Wait {
            let mut ends = dates.map(|dates| dates.release);
            let setups = setups.map(|setups| setups.chunks(stride));
            append_several(&mut lanes.fronts, times.chunks(stride), setups, &mut ends, |_, _| ());
            for (end, dates) in ends.into_iter().zip(&dates) {
                lanes.cost = add_cost(table.objective, lanes.cost, end, dates);
            }
            return;
        }
        for (i, dates) in dates.iter().enumerate() {
            let times = {
                #[inline(always)]
                |k: usize| W::load(&times[k * stride + i..])
            };
            let setups = setups.map(|setups| {
                #[inline(always)]
                move |k: usize| W::load(&setups[k * stride + i..])
            });
            table.append_each(lanes, times, setups, dates);
        }
    }

    /// At least what each lane costs in the end. The first lane has the jobs before this place.
    #[inline(always)]
    fn bound<W: Wide<Of = N>>(&self, lanes: &Lanes<W>, place: usize) -> W {
        let objective = self.table.objective;
        let delay = self.base.delay(&lanes.fronts, place);
        let mut rest = W::splat(N::LOWEST);
        for (least, cost, slope) in self.base.rest(place) {
            let least = W::splat(least);
            rest = rest.max(if objective == Objective::TardyJobs {
                delay.where_greater(least.sub(W::splat(N::of(1))), cost)
            } else {
                cost.add(slope.mul(delay.sub(least)))
            });
        }
        if objective.is_sum() { lanes.cost.add(rest) } else { lanes.cost.max(rest) }
    }
}

/// The setup times of each lane; 0 where there are none.
#[inline(always)]
fn gather<'s, N: Number, W: Wide<Of = N>>(
    of: impl Fn(usize) -> Option<&'s [N]>,
) -> impl Fn(usize) -> W {
    let mut rows: [&[N]; MOST_LANES] = [&[]; MOST_LANES];
    for (lane, row) in rows.iter_mut().enumerate().take(W::LANES) {
        *row = of(lane).unwrap_or_default();
    }
    #[inline(always)]
    move |k| {
        let mut numbers = [N::default(); MOST_LANES];
        for (number, row) in numbers.iter_mut().zip(&rows) {
            *number = row.get(k).copied().unwrap_or_default();
        }
        W::load(&numbers)
    }
}

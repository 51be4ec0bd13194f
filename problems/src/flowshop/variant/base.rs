//! [`Base`]: a schedule without a job, with all that the values of the job's places are computed from.

use super::lanes::{Dates, Passing, add_cost, append_several};
use super::model::Variant;
use super::objective::Objective;
use super::table::{Lanes, Table};
use crate::simd::lanes::{Array, MOST_LANES, Number, Wide};

/// Jobs that lanes append in one go.
pub(super) const STEPS: usize = 4;
/// Delays for which the costs of the jobs to come are computed, in halves of the mean time.
const DELAYS: usize = 4;

/// A schedule in rows of numbers by place. Beyond the end follow jobs that cost nothing.
pub(super) struct Base<N> {
    order: Vec<u16>,
    stride: usize,
    /// The latest due date of all jobs.
    latest: N,
    /// Whether jobs can start later than the machines allow, so that delays can shrink.
    releases: bool,
    /// A row for each machine: the times of the jobs, and their setup times, if there are any.
    times: Vec<N>,
    setups: Vec<N>,
    dates: Dates<Vec<N>>,
    /// A row for each machine: the fronts before each place; and the cost of the jobs before it.
    fronts: Vec<N>,
    costs: Vec<N>,
    /// By place, a bit for each machine that the job waits for, not for its end on the machine before; and a bit for
    /// each machine whose front before the place determines when a job to come ends. Where this
    /// is not known, all do.
    waits: Vec<u64>,
    critical: Vec<u64>,
    /// The fronts again, but the lowest number where they are not critical.
    critical_fronts: Vec<N>,
    /// The delays, and a row for each: what the jobs from each place cost if all are late by it, and by how much that
    /// grows with the delay.
    delays: [N; DELAYS],
    rest: Vec<N>,
    slopes: Vec<N>,
}

impl<N: Number> Base<N> {
    pub fn new(variant: &Variant) -> Self {
        let (jobs, machines) = (variant.jobs(), variant.machines());
        let stride = (jobs + 1).next_multiple_of(MOST_LANES) + 2 * MOST_LANES;
        let rows = |count: usize| vec![N::default(); count * stride];
        let latest = N::of((0..jobs).map(|job| variant.due(job)).max().unwrap_or_default());
        let times = (0..jobs).flat_map(|job| (0..machines).map(move |k| variant.time(job, k)));
        let half = times.sum::<i64>() / (2 * jobs * machines).max(1) as i64;
        Self {
            order: Vec::with_capacity(jobs),
            stride,
            latest,
            releases: (0..jobs).any(|job| variant.release(job) > 0),
            times: rows(machines),
            setups: rows(if variant.shop().setups.is_some() { machines } else { 0 }),
            dates: Dates { weight: rows(1), due: vec![latest; stride], release: rows(1) },
            fronts: rows(machines),
            costs: vec![variant.no_cost(); stride],
            waits: vec![0; stride],
            critical: vec![0; stride],
            critical_fronts: rows(machines),
            delays: std::array::from_fn(|i| N::of(i as i64 * half)),
            rest: vec![variant.no_cost(); DELAYS * stride],
            slopes: rows(DELAYS),
        }
    }

    /// The jobs.
    pub fn order(&self) -> &[u16] {
        &self.order
    }

    /// From one machine's number to the next one's.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The times of the jobs from a place, from the first machine.
    #[inline(always)]
    pub fn times(&self, place: usize) -> &[N] {
        &self.times[place..]
    }

    /// The setup times before the jobs from a place, from the first machine, if there are any.
    #[inline(always)]
    pub fn setups(&self, place: usize) -> Option<&[N]> {
        self.setups.get(place..).filter(|_| !self.setups.is_empty())
    }

    /// The dates of the jobs from a place.
    #[inline(always)]
    pub fn dates<W: Wide<Of = N>>(&self, place: usize) -> Dates<W> {
        Dates {
            weight: W::load(&self.dates.weight[place..]),
            due: W::load(&self.dates.due[place..]),
            release: W::load(&self.dates.release[place..]),
        }
    }

    /// Writes the fronts before each place from this one. Returns the costs.
    #[inline(always)]
    pub fn before<W: Wide<Of = N>>(&self, place: usize, fronts: &mut [W]) -> W {
        for (front, row) in fronts.iter_mut().zip(self.fronts[place..].chunks(self.stride)) {
            *front = W::load(row);
        }
        W::load(&self.costs[place..])
    }

    /// By how much at least all jobs to come end later with these fronts, before each place from this one.
    #[inline(always)]
    pub fn delay<W: Wide<Of = N>>(&self, fronts: &[W], place: usize) -> W {
        let zero = N::default();
        let mut early = W::splat(if self.releases { zero } else { N::LOWEST });
        for (&front, row) in fronts.iter().zip(self.critical_fronts[place..].chunks(self.stride)) {
            early = early.max(W::load(row).sub(front));
        }
        W::splat(zero).sub(early)
    }

    /// Delays, with what the jobs cost from each place from this one, and by how much that grows with the delay.
    #[inline(always)]
    pub fn rest<W: Wide<Of = N>>(&self, place: usize) -> [(N, W, W); DELAYS] {
        std::array::from_fn(|i| {
            let at = i * self.stride + place;
            (self.delays[i], W::load(&self.rest[at..]), W::load(&self.slopes[at..]))
        })
    }

    /// Replaces the order. Returns how many of its jobs come after those that have not changed.
    #[inline(always)]
    pub fn set_order(&mut self, table: &Table<N>, no_cost: N, order: &[u16]) -> usize {
        let same = self.order.iter().zip(order).take_while(|(a, b)| a == b).count();
        (order.len()..self.order.len()).for_each(|place| self.clear(place, no_cost));
        self.order.truncate(same);
        self.order.extend(&order[same..]);
        self.set_jobs(table, same);
        self.set_fronts(table, same);
        self.set_critical(table, same);
        self.set_rest(table, no_cost);
        order.len() - same
    }

    /// Puts a job that costs nothing at a place beyond the end.
    fn clear(&mut self, place: usize, no_cost: N) {
        let zero = N::default();
        for rows in [&mut self.times, &mut self.setups, &mut self.slopes] {
            rows.iter_mut().skip(place).step_by(self.stride).for_each(|number| *number = zero);
        }
        self.rest.iter_mut().skip(place).step_by(self.stride).for_each(|rest| *rest = no_cost);
        self.dates.weight[place] = zero;
        self.dates.due[place] = self.latest;
        self.dates.release[place] = zero;
    }

    /// Writes the numbers of the jobs from a place.
    #[inline(always)]
    fn set_jobs(&mut self, table: &Table<N>, from: usize) {
        for (place, &job) in self.order.iter().enumerate().skip(from) {
            let rows = self.times[place..].iter_mut().step_by(self.stride);
            rows.zip(table.times(job.into())).for_each(|(to, &time)| *to = time);
            let last = place.checked_sub(1).map(|before| self.order[before].into());
            if let Some(setups) = last.and_then(|last| table.setups(last, job.into())) {
                let rows = self.setups[place..].iter_mut().step_by(self.stride);
                rows.zip(setups).for_each(|(to, &setup)| *to = setup);
            }
            let Dates { weight, due, release } = *table.dates(job.into());
            self.dates.weight[place] = weight;
            self.dates.due[place] = due;
            self.dates.release[place] = release;
        }
    }

    /// Computes the fronts and costs after the jobs from a place.
    #[inline(always)]
    fn set_fronts(&mut self, table: &Table<N>, from: usize) {
        let (jobs, stride) = (self.order.len(), self.stride);
        let mut lanes = Lanes::<Array<N, 1>>::empty(table.machines, N::default());
        lanes.cost = self.before(from, &mut lanes.fronts);
        let mut place = from;
        while table.passing == Passing::Wait && place + STEPS <= jobs {
            let dates: [Dates<Array<N, 1>>; STEPS] = std::array::from_fn(|i| self.dates(place + i));
            let mut ends = dates.map(|dates| dates.release);
            let times = self.times[place..].chunks(stride);
            let setups = (!self.setups.is_empty()).then(|| self.setups[place..].chunks(stride));
            let fronts = &mut self.fronts[place + 1..];
            append_several(&mut lanes.fronts, times, setups, &mut ends, |k, ends| {
                let to = &mut fronts[k * stride..][..STEPS];
                to.iter_mut().zip(ends).for_each(|(to, end)| *to = end.0[0]);
            });
            for (end, dates) in ends.into_iter().zip(&dates) {
                lanes.cost = add_cost(table.objective, lanes.cost, end, dates);
                place += 1;
                self.costs[place] = lanes.cost.0[0];
            }
        }
        for place in place..jobs {
            let last = place.checked_sub(1).map(|before| self.order[before].into());
            table.append(&mut lanes, last, self.order[place].into());
            let rows = self.fronts[place + 1..].iter_mut().step_by(stride);
            rows.zip(&lanes.fronts).for_each(|(to, front)| *to = front.0[0]);
            self.costs[place + 1] = lanes.cost.0[0];
        }
    }

    /// Finds the critical fronts, from the end. Jobs and fronts changed from a place.
    #[inline(always)]
    fn set_critical(&mut self, table: &Table<N>, from: usize) {
        let (jobs, stride, machines) = (self.order.len(), self.stride, table.machines);
        let tracked = table.passing == Passing::Wait && machines <= u64::BITS as usize;
        if tracked {
            self.waits[from..jobs].fill(1);
            for k in 1..machines {
                let before = &self.fronts[(k - 1) * stride..][from + 1..jobs + 1];
                let own = &self.fronts[k * stride..][from..jobs];
                let waits = self.waits[from..jobs].iter_mut();
                if self.setups.is_empty() {
                    for ((waits, &before), &own) in waits.zip(before).zip(own) {
                        *waits |= u64::from(own >= before) << k;
                    }
                } else {
                    let setups = &self.setups[k * stride..][from..jobs];
                    for (((waits, &before), &own), &setup) in waits.zip(before).zip(own).zip(setups)
                    {
                        *waits |= u64::from(own + setup >= before) << k;
                    }
                }
            }
        }
        let (mut critical, mut changed) = (0, from);
        for place in (0..jobs).rev() {
            if tracked {
                let waits = self.waits[place];
                critical |= 1 << (machines - 1);
                // Where the job does not wait for the machine, its end on the machine before is critical.
                let mut reached = !waits >> 1;
                for shift in [1, 2, 4, 8, 16, 32] {
                    critical |= critical >> shift & reached;
                    reached &= reached >> shift;
                }
                critical &= waits;
            } else {
                critical = u64::MAX;
            }
            if critical != self.critical[place] {
                self.critical[place] = critical;
                changed = changed.min(place);
            }
        }
        for k in 0..machines {
            let row = k * stride..k * stride + jobs;
            let to = self.critical_fronts[row.clone()].iter_mut().zip(&self.fronts[row]);
            for ((to, &front), &critical) in to.zip(&self.critical).skip(changed) {
                let is_critical = critical >> (k % u64::BITS as usize) & 1 == 1;
                *to = if is_critical { front } else { N::LOWEST };
            }
        }
    }

    /// Computes what the jobs from each place cost with delays.
    #[inline(always)]
    fn set_rest(&mut self, table: &Table<N>, no_cost: N) {
        let (jobs, stride) = (self.order.len(), self.stride);
        let ends = &self.fronts[(table.machines - 1) * stride..];
        let (delays, one) = (Array(self.delays), Array([N::of(1); DELAYS]));
        let (mut rest, mut slope) = (Array([no_cost; DELAYS]), Array([N::default(); DELAYS]));
        for place in (0..=jobs).rev() {
            if place < jobs {
                let Dates { weight, due, release } = *table.dates(self.order[place].into());
                let all = |number| Array([number; DELAYS]);
                let dates = Dates { weight: all(weight), due: all(due), release: all(release) };
                let ends = all(ends[place + 1]).add(delays);
                rest = add_cost(table.objective, rest, ends, &dates);
                slope = match table.objective {
                    Objective::Makespan | Objective::Lateness => one,
                    Objective::FlowTime => slope.add(dates.weight),
                    Objective::Tardiness => {
                        slope.add(ends.where_greater(dates.due.sub(one), dates.weight))
                    }
                    Objective::TardyJobs => slope,
                };
            }
            for i in 0..DELAYS {
                self.rest[i * stride + place] = rest.0[i];
                self.slopes[i * stride + place] = slope.0[i];
            }
        }
    }
}

//! [`Remaining`]: a bound on what the jobs that are left cost, depending on when machines become free.
//!
//! Each machine alone gives a bound: it cannot finish a job before it has processed it, nor the jobs it chose to
//! process earlier, and then the job has to pass the later machines. The largest bound counts.

use super::model::Variant;
use super::objective::Objective;
use crate::simd::lanes::{Array, MOST_LANES, Number, Wide};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Jobs in the orders in which single machines process them best, and their times there.
pub(super) struct Orders<N> {
    objective: Objective,
    weighted: bool,
    setups: bool,
    sum: bool,
    machines: Vec<Machine<N>>,
    /// By job and machine: times, times with the least setup time before them, and times to pass the later machines.
    times: Vec<N>,
    with_setups: Vec<N>,
    tails: Vec<N>,
    /// By weight, the least first.
    by_weight: Vec<(N, u16)>,
    releases: Vec<N>,
    /// By job, the cost of a schedule of only this job; empty without release dates.
    alone: Vec<N>,
}

/// Jobs on a machine.
struct Machine<N> {
    /// The shortest times for their weight first.
    shortest: Vec<Operation<N>>,
    /// The earliest due dates first.
    urgent: Vec<Operation<N>>,
    /// The latest arrivals first, each with when the job can arrive at this machine; empty without release dates, or if
    /// costs add up.
    latest: Vec<(N, Operation<N>)>,
    /// The largest of all least setup times.
    longest_setup: N,
}

/// A job on a machine.
#[derive(Clone, Copy)]
struct Operation<N> {
    job: u16,
    /// Its time.
    time: N,
    /// With the least setup time before it.
    with_setup: N,
    /// The time to pass the later machines.
    tail: N,
    weight: N,
    /// When this machine must have finished it; without due dates, so that it ends at time 0.
    due: N,
}

/// Bounds for a set of jobs left. Its memory is used again for the next set.
#[derive(Default)]
pub(super) struct Remaining<N> {
    jobs: usize,
    /// The sum of all weights.
    pub weight: N,
    least_release: N,
    /// On each machine, the sum of all times with their least setup times, the least time to pass the later machines,
    /// and the least time of a job.
    sums: Vec<N>,
    least_tails: Vec<N>,
    least_times: Vec<N>,
    /// A bound that grows by `factor` with the front of a machine: the constant of each.
    factor: N,
    constants: Vec<N>,
    /// What the jobs cost at least, however early the machines are free; known only with release dates.
    floor: N,
    /// How long before a job each machine may need to be free, for the setup.
    longest_setups: Vec<N>,
    /// Machine by machine, in order of time and due date, how much later than its due date a job ends from front 0.
    sorted: Vec<N>,
    /// The same for each job if it comes first, and its weight.
    first: Vec<(N, N)>,
    /// Machine by machine, times and due dates, the earliest due date first.
    urgent: Vec<(N, N)>,
    /// The sum of this many least weights.
    least_weights: Vec<N>,
}

impl<N: Number> Orders<N> {
    pub fn new(variant: &Variant) -> Self {
        let (jobs, machines) = (variant.jobs(), variant.machines());
        let objective = variant.objective();
        let setups = variant.shop().setups.is_some();
        let tails: Vec<Vec<i64>> = (0..jobs).map(|job| variant.tails(job)).collect();
        let operation = |(job, k): (usize, usize)| {
            let befores = if setups { 0..jobs } else { 0..0 };
            let setup = befores
                .filter(|&before| before != job)
                .map(|before| variant.setup(k, before, job))
                .min()
                .unwrap_or(0);
            let tail = tails[job][k];
            let due = if objective.needs_due_dates() { variant.due(job) } else { 0 };
            Operation {
                job: job as u16,
                time: N::of(variant.time(job, k)),
                with_setup: N::of(variant.time(job, k) + setup),
                tail: N::of(tail),
                weight: N::of(variant.weight(job)),
                due: N::of(due - tail),
            }
        };
        let arrival = |job: usize, k: usize| {
            let from = |k: usize| variant.time(job, k) + tails[job][k];
            N::of(variant.release(job) + from(0) - from(k))
        };
        let has_releases = variant.has_releases();
        let all = (0..jobs).flat_map(|job| (0..machines).map(move |k| (job, k)));
        let all: Vec<Operation<N>> = all.map(operation).collect();
        let machine = |k: usize| {
            let mut shortest: Vec<_> = all.iter().skip(k).step_by(machines).copied().collect();
            let setup_of = |it: &Operation<N>| it.with_setup - it.time;
            let longest_setup = shortest.iter().map(setup_of).max().unwrap_or_default();
            let mut urgent = shortest.clone();
            // By time over weight; jobs without weight last.
            let wide = |number: N| i128::from(number.into());
            let ratio = |a: &Operation<N>, b: &Operation<N>| {
                let last = |it: &Operation<N>| it.weight == N::default();
                let products =
                    (wide(a.with_setup) * wide(b.weight), wide(b.with_setup) * wide(a.weight));
                last(a).cmp(&last(b)).then(products.0.cmp(&products.1)).then(a.job.cmp(&b.job))
            };
            match objective {
                Objective::FlowTime => shortest.sort_by(ratio),
                _ => shortest.sort_by_key(|it| (it.with_setup, it.job)),
            }
            urgent.sort_by_key(|it| (it.due, it.job));
            let arriving = shortest.iter().filter(|_| has_releases && !objective.is_sum());
            let mut latest: Vec<(N, Operation<N>)> =
                arriving.map(|it| (arrival(it.job.into(), k), *it)).collect();
            latest.sort_by_key(|(at, it)| (Reverse(*at), it.job));
            Machine { shortest, urgent, latest, longest_setup }
        };
        let mut by_weight: Vec<(N, u16)> =
            (0..jobs).map(|job| (N::of(variant.weight(job)), job as u16)).collect();
        by_weight.sort_unstable();
        Self {
            objective,
            weighted: by_weight.first().map(|least| least.0) != by_weight.last().map(|most| most.0)
                || by_weight.first().is_some_and(|least| least.0 != N::of(1)),
            setups,
            sum: objective.is_sum(),
            machines: (0..machines).map(machine).collect(),
            times: all.iter().map(|it| it.time).collect(),
            with_setups: all.iter().map(|it| it.with_setup).collect(),
            tails: all.iter().map(|it| it.tail).collect(),
            by_weight,
            releases: (0..jobs).map(|job| N::of(variant.release(job))).collect(),
            alone: (0..if has_releases { jobs } else { 0 })
                .map(|job| N::of(variant.value(&[job as u16])))
                .collect(),
        }
    }
}

impl<N: Number> Remaining<N> {
    /// Computes the bounds of a set.
    #[inline(always)]
    pub fn fill(&mut self, orders: &Orders<N>, is_left: impl Fn(u16) -> bool) {
        let zero = N::default();
        let left = || orders.by_weight.iter().filter(|(_, job)| is_left(*job));
        self.jobs = left().count();
        self.weight = left().fold(zero, |sum, (weight, _)| sum + *weight);
        let releases = left().map(|(_, job)| orders.releases[usize::from(*job)]);
        self.least_release = releases.min().unwrap_or_default();
        let machines = orders.machines.len();
        self.longest_setups.clear();
        self.longest_setups.extend(orders.machines.iter().map(|machine| machine.longest_setup));
        self.least_weights.clear();
        self.first.clear();
        self.urgent.clear();
        let Self { sums, least_tails, least_times, .. } = self;
        for (list, value) in
            [(&mut *sums, zero), (&mut *least_tails, N::HIGHEST), (&mut *least_times, N::HIGHEST)]
        {
            list.clear();
            list.resize(machines, value);
        }
        for (_, job) in left() {
            let row = usize::from(*job) * machines..(usize::from(*job) + 1) * machines;
            let times = &orders.with_setups[row.clone()];
            sums.iter_mut().zip(times).for_each(|(sum, &time)| *sum = *sum + time);
            for (least, of) in
                [(&mut *least_tails, &orders.tails), (&mut *least_times, &orders.times)]
            {
                let of = &of[row.clone()];
                least.iter_mut().zip(of).for_each(|(least, &it)| *least = (*least).min(it));
            }
        }
        if self.jobs == 0 {
            least_tails.fill(zero);
            least_times.fill(zero);
        }
        self.set_floor(orders, &is_left);
        self.constants.clear();
        self.sorted.clear();
        self.factor = if orders.objective == Objective::FlowTime { self.weight } else { N::of(1) };
        match orders.objective {
            Objective::Makespan => {
                let ends = self.sums.iter().zip(&self.least_tails);
                self.constants.extend(ends.map(|(&sum, &tail)| sum + tail));
            }
            Objective::Lateness => self.constants.extend(orders.machines.iter().map(|machine| {
                let (mut end, mut most) = (zero, N::LOWEST);
                for it in &machine.urgent {
                    let is_left = is_left(it.job);
                    end = end + if is_left { it.with_setup } else { zero };
                    most = most.max(if is_left { end - it.due } else { N::LOWEST });
                }
                if self.jobs > 0 { most } else { zero }
            })),
            Objective::FlowTime => {
                let released = left().fold(zero, |sum, (weight, job)| {
                    sum + *weight * orders.releases[usize::from(*job)]
                });
                self.constants.extend(orders.machines.iter().map(|machine| {
                    let (mut end, mut sum) = (zero, zero);
                    for it in &machine.shortest {
                        // Without branches, which could not be predicted.
                        let is_left = is_left(it.job);
                        end = end + if is_left { it.with_setup } else { zero };
                        let weight = if is_left { it.weight } else { zero };
                        sum = sum + weight * (end + it.tail);
                    }
                    sum - released
                }));
            }
            Objective::Tardiness => {
                for machine in &orders.machines {
                    let shortest = machine.shortest.iter().filter(|it| is_left(it.job));
                    let urgent = || machine.urgent.iter().filter(|it| is_left(it.job));
                    let mut end = zero;
                    self.sorted.extend(shortest.zip(urgent()).map(|(it, urgent)| {
                        end = end + it.with_setup;
                        end - urgent.due
                    }));
                    if orders.weighted {
                        self.first.extend(urgent().map(|it| (it.with_setup - it.due, it.weight)));
                    }
                }
            }
            Objective::TardyJobs => {
                for machine in &orders.machines {
                    let urgent = || machine.urgent.iter().filter(|it| is_left(it.job));
                    self.urgent.extend(urgent().map(|it| (it.with_setup, it.due)));
                    if orders.weighted {
                        self.first.extend(urgent().map(|it| (it.with_setup - it.due, it.weight)));
                    }
                }
            }
        }
        let mut sum = zero;
        self.least_weights.push(sum);
        for (weight, _) in left() {
            sum = sum + *weight;
            self.least_weights.push(sum);
        }
    }

    /// Computes what the jobs cost at least because of their release dates: each of them alone, and the last ones to
    /// arrive at a machine, which can begin with them only then.
    #[inline(always)]
    fn set_floor(&mut self, orders: &Orders<N>, is_left: impl Fn(u16) -> bool) {
        let alone = (0..).zip(&orders.alone).filter(|(job, _)| is_left(*job));
        let alone = alone.map(|(_, &cost)| cost);
        self.floor = if orders.alone.is_empty() {
            N::LOWEST
        } else if orders.sum {
            alone.fold(N::default(), |sum, cost| sum + cost)
        } else {
            alone.max().unwrap_or(N::LOWEST)
        };
        for machine in &orders.machines {
            let (mut sum, mut due) = (N::default(), N::LOWEST);
            for (arrival, it) in machine.latest.iter().filter(|(_, it)| is_left(it.job)) {
                (sum, due) = (sum + it.time, due.max(it.due));
                self.floor = self.floor.max(*arrival + sum - due);
            }
        }
    }

    /// Replaces a machine's constant by what its best order costs from front 0, with the longest setup time that its
    /// next job may need.
    pub fn set_least(&mut self, machine: usize, cost: N, longest_setup: N) {
        self.constants[machine] = cost;
        self.longest_setups[machine] = longest_setup;
    }

    /// Moves fronts to the earliest times at which a job can start. With setup times they are only good for a bound.
    #[inline(always)]
    pub fn tighten<W: Wide<Of = N>>(&self, fronts: &mut [W]) {
        let mut arrival = W::splat(self.least_release);
        for (k, front) in fronts.iter_mut().enumerate() {
            let free = *front;
            *front = free.max(arrival.sub(W::splat(self.longest_setups[k])));
            arrival = arrival.max(free).add(W::splat(self.least_times[k]));
        }
    }

    /// A bound on the cost of schedules that begin with this cost and these tightened fronts.
    #[inline(always)]
    pub fn bound<W: Wide<Of = N>>(&self, orders: &Orders<N>, fronts: &[W], cost: W) -> W {
        if self.jobs == 0 {
            return cost;
        }
        let rest = match orders.objective {
            Objective::Makespan | Objective::Lateness | Objective::FlowTime => self.largest(fronts),
            Objective::Tardiness => self.tardiness(orders, fronts),
            Objective::TardyJobs => self.tardy_jobs(orders, fronts),
        };
        let rest = rest.max(W::splat(self.floor));
        if orders.sum { cost.add(rest) } else { cost.max(rest) }
    }

    /// The largest sum of a machine's constant and what its front makes.
    #[inline(always)]
    fn largest<W: Wide<Of = N>>(&self, fronts: &[W]) -> W {
        let factor = W::splat(self.factor);
        let mut bound = W::splat(N::LOWEST);
        for (&front, &constant) in fronts.iter().zip(&self.constants) {
            bound = bound.max(front.mul(factor).add(W::splat(constant)));
        }
        bound
    }

    #[inline(always)]
    fn tardiness<W: Wide<Of = N>>(&self, orders: &Orders<N>, fronts: &[W]) -> W {
        let zero = W::splat(N::default());
        let mut bound = zero;
        for (k, &front) in fronts.iter().enumerate() {
            let mut late = zero;
            for &past in &self.sorted[k * self.jobs..][..self.jobs] {
                late = late.add(front.add(W::splat(past)).max(zero));
            }
            if !orders.weighted {
                bound = bound.max(late);
                continue;
            }
            bound = bound.max(late.mul(W::splat(self.least_weights[1])));
            let mut late = zero;
            for &(past, weight) in &self.first[k * self.jobs..][..self.jobs] {
                late = late.add(front.add(W::splat(past)).max(zero).mul(W::splat(weight)));
            }
            bound = bound.max(late);
        }
        bound
    }

    #[inline(always)]
    fn tardy_jobs<W: Wide<Of = N>>(&self, orders: &Orders<N>, fronts: &[W]) -> W {
        let zero = W::splat(N::default());
        let mut bound = zero;
        let mut lanes = [N::default(); MOST_LANES];
        for (k, &front) in fronts.iter().enumerate() {
            front.store(&mut lanes);
            let urgent = &self.urgent[k * self.jobs..][..self.jobs];
            for lane in &mut lanes[..W::LANES] {
                *lane = self.least_weights[late_jobs(urgent, *lane)];
            }
            bound = bound.max(W::load(&lanes));
            if orders.weighted {
                let mut late = zero;
                for &(past, weight) in &self.first[k * self.jobs..][..self.jobs] {
                    let end = front.add(W::splat(past));
                    late = late.add(end.where_greater(zero, W::splat(weight)));
                }
                bound = bound.max(late);
            }
        }
        bound
    }
}

impl<N> Orders<N> {
    /// Whether tightened fronts can replace the fronts.
    pub fn keeps_tightened(&self) -> bool {
        !self.setups
    }
}

/// The least number of late jobs on a machine (Moore and Hodgson), given times and due dates in order of due date.
fn late_jobs<N: Number>(urgent: &[(N, N)], front: N) -> usize {
    let (mut end, mut on_time) = (front, BinaryHeap::with_capacity(urgent.len()));
    for &(time, due) in urgent {
        end = end + time;
        on_time.push(time);
        if end > due {
            end = end - on_time.pop().unwrap_or_default();
        }
    }
    urgent.len() - on_time.len()
}

/// The bound of all schedules.
pub(super) fn whole_bound<N: Number>(variant: &Variant, orders: &Orders<N>) -> i64 {
    let mut remaining = Remaining::default();
    remaining.fill(orders, |_| true);
    // The first job needs no setup.
    let fronts =
        orders.machines.iter().map(|machine| Array([N::default() - machine.longest_setup]));
    let mut fronts: Vec<Array<N, 1>> = fronts.collect();
    remaining.tighten(&mut fronts);
    remaining.bound(orders, &fronts, Array([variant.no_cost()])).0[0].into()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::super::instance::Instance;
    use super::super::super::shop::Shop;
    use super::super::lanes::Passing;
    use super::*;

    pub fn shop(machines: usize, times: &[u32], releases: &[u32], due: &[u32]) -> Shop {
        let mut shop = Shop::new(Instance::new(machines, times.to_vec()).unwrap());
        shop.releases = Some(releases.to_vec());
        shop.due = Some(due.to_vec());
        shop
    }

    fn bounds(shop: &Shop, objective: Objective, passing: Passing, order: &[u16]) -> [i64; 3] {
        let variant = Variant::new(shop.clone(), objective, passing).unwrap();
        let wide = whole_bound(&variant, &Orders::<i64>::new(&variant));
        let narrow = whole_bound(&variant, &Orders::<i32>::new(&variant));
        [wide, narrow, variant.value(order)]
    }

    /// Bounds used to ignore all release dates but the first. For flow time they could be negative.
    #[test]
    fn jobs_that_never_meet_are_bounded_exactly() {
        let mut shop = shop(2, &[3, 6, 5, 2, 1, 4], &[0, 20, 40], &[8, 30, 43]);
        shop.weights = Some(vec![2, 1, 3]);
        for (objective, value) in
            Objective::ALL.into_iter().zip([45, 2 * 9 + 7 + 3 * 5, 2 + 3 * 2, 2, 2 + 3])
        {
            for passing in [Passing::Wait, Passing::NoWait, Passing::Blocking] {
                let all = bounds(&shop, objective, passing, &[0, 1, 2]);
                assert_eq!(all, [value; 3], "{objective} {passing:?}");
            }
        }
    }

    #[test]
    fn jobs_that_arrive_last_wait_for_each_other() {
        let shop = shop(1, &[5, 1, 1], &[0, 10, 10], &[20, 11, 11]);
        for (objective, value) in [(Objective::Makespan, 12), (Objective::Lateness, 1)] {
            let all = bounds(&shop, objective, Passing::Wait, &[0, 1, 2]);
            assert_eq!(all, [value; 3], "{objective}");
        }
    }
}

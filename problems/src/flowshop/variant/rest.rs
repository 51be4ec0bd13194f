//! [`Rest`]: what the jobs left are expected to cost after each child of a node, for beam search.
//!
//! They are expected to follow in a certain order. A node's *clock* is the mean time for which the machines have worked,
//! plus a weight times the mean time for which they were idle. For flow time only differences between clocks matter.
//! For due dates, when jobs end is read off a whole schedule, the best one so far: if a node's clock is later by some
//! time than the clock of this schedule after as many jobs, so is the end of its last job.

use super::model::Variant;
use super::objective::Objective;

/// A job ends earlier or later than expected by up to `NEAR` mean times and the part `FAR` of the time until then.
const NEAR: f64 = 2.0;
const FAR: f64 = 1.0 / 16.0;

/// The jobs left of a node, and what they are expected to cost after each of its children.
pub(super) struct Rest {
    objective: Objective,
    machines: f64,
    jobs: Vec<Job>,
    /// The jobs in the order in which those left are expected to be processed.
    order: Vec<u16>,
    /// `NEAR` mean times.
    near: f64,
    /// The weight of idle time.
    idle: f64,
    /// How long the last machine takes for a job, in mean times of the job.
    pace: f64,
    /// By the number of jobs placed: how much later than the node's clock the next job is expected to start on the last
    /// machine, and how much later than the child's clock it ends there. Empty if only differences of clocks matter.
    starts: Vec<f64>,
    ends: Vec<f64>,
    /// Without each job left, what the others cost if the child's clock is at 0, and by how much that grows with it.
    pub cost: Vec<f64>,
    pub growth: Vec<f64>,
}

/// A job.
#[derive(Clone, Copy)]
struct Job {
    weight: f64,
    due: f64,
    /// Its time on all machines, and on each of them.
    sum: f64,
    mean: f64,
}

impl Rest {
    pub fn new(variant: &Variant) -> Self {
        let (count, machines) = (variant.jobs(), variant.machines());
        let objective = variant.objective();
        let sum = |job: usize| (0..machines).map(|k| variant.time(job, k)).sum::<i64>();
        let job = |job: usize| Job {
            weight: variant.weight(job) as f64,
            due: if objective.needs_due_dates() { variant.due(job) as f64 } else { 0.0 },
            sum: sum(job) as f64,
            mean: (sum(job) / machines as i64) as f64,
        };
        let jobs: Vec<Job> = (0..count).map(job).collect();
        let mut order: Vec<u16> = (0..count as u16).collect();
        order.sort_by_key(|&job| {
            let job = usize::from(job);
            if objective == Objective::Lateness {
                variant.due(job)
            } else {
                sum(job) * 1000 / variant.weight(job).max(1)
            }
        });
        Self {
            objective,
            machines: machines as f64,
            near: NEAR * jobs.iter().map(|job| job.mean).sum::<f64>() / count as f64,
            jobs,
            order,
            idle: 1.0,
            pace: 1.0,
            starts: Vec::new(),
            ends: Vec::new(),
            cost: vec![0.0; count],
            growth: vec![0.0; count],
        }
    }

    /// Sets the weight of idle time. For due dates, expects jobs to end at the pace of a schedule; for their sums, in its
    /// order, too.
    pub fn follow(&mut self, variant: &Variant, order: &[u16], idle: f64) {
        self.idle = if self.objective.is_sum() { idle } else { 1.0 };
        if !self.objective.needs_due_dates() {
            return;
        }
        if self.objective.is_sum() {
            self.order.copy_from_slice(order);
        }
        let (mut partial, mut done) = (variant.empty(), 0.0);
        // After each job: its end, the clock, and its mean time.
        let mut placed: Vec<(f64, f64, f64)> = Vec::with_capacity(order.len());
        for &job in order {
            variant.append(&mut partial, job.into());
            let Job { sum, mean, .. } = self.jobs[usize::from(job)];
            done += sum;
            let all: i64 = partial.fronts.iter().map(|front| front.0[0]).sum();
            let end = partial.fronts[variant.machines() - 1].0[0];
            placed.push((end as f64, self.clock(all as f64, done), mean));
        }
        let means: f64 = placed.iter().skip(1).map(|&(_, _, mean)| mean).sum();
        let (first, last) = (placed.first(), placed.last());
        let between = last.zip(first).map_or(0.0, |(last, first)| last.0 - first.0);
        self.pace = if means > 0.0 { between / means } else { 1.0 };
        self.starts.clear();
        self.ends.clear();
        let mut before = 0.0;
        for (end, clock, mean) in placed {
            self.starts.push(end - self.pace * mean - before);
            self.ends.push(end - clock);
            before = clock;
        }
    }

    /// The clock of a node, given the sum of its fronts and for how long its machines have worked together.
    #[inline(always)]
    pub fn clock(&self, fronts: f64, worked: f64) -> f64 {
        worked / self.machines + self.idle * ((fronts - worked) / self.machines)
    }

    /// Computes `cost` and `growth` for the children of a node with this many jobs placed and this clock.
    #[inline(always)]
    pub fn fill(&mut self, is_left: impl Fn(usize) -> bool, placed: usize, clock: f64) {
        let start = self.starts.get(placed).map_or(0.0, |start| start + clock);
        let behind = self.ends.get(placed).copied().unwrap_or_default();
        if self.objective == Objective::Lateness {
            return self.fill_latest(is_left, start, behind);
        }
        let Self { objective, near, pace, .. } = *self;
        let Self { jobs, order, cost, growth, .. } = self;
        let (jobs, order) = (&jobs[..], &order[..]);
        let left = || order.iter().map(|&job| usize::from(job)).filter(|&job| is_left(job));
        let (mut end, mut all, mut before) = (start, 0.0, 0.0);
        for job in left() {
            let Job { weight, due, mean, .. } = jobs[job];
            end += pace * mean;
            let give = (near + FAR * (end - start)).max(1.0);
            let (own, own_growth) = expected(objective, weight, end - due, give);
            // If the job comes first, those before it follow it.
            cost[job] = pace * mean * before - own;
            growth[job] = own_growth;
            all += own;
            before += own_growth;
        }
        // `before` is the growth of all by now.
        for job in left() {
            growth[job] = before - growth[job];
            cost[job] += all + growth[job] * (behind - start - pace * jobs[job].mean);
        }
    }

    /// The same for the largest lateness.
    #[inline(always)]
    fn fill_latest(&mut self, is_left: impl Fn(usize) -> bool, start: f64, behind: f64) {
        let Self { jobs, order, pace, cost, growth, .. } = self;
        let (jobs, order, pace) = (&jobs[..], &order[..], *pace);
        let left = || order.iter().map(|&job| usize::from(job)).filter(|&job| is_left(job));
        let (mut end, mut most) = (start, f64::NEG_INFINITY);
        for job in left() {
            let Job { due, mean, .. } = jobs[job];
            end += pace * mean;
            cost[job] = most + pace * mean;
            most = most.max(end - due);
            // How late it is, until the next loop.
            growth[job] = end - due;
        }
        let mut most = f64::NEG_INFINITY;
        for job in left().rev() {
            let late = std::mem::replace(&mut growth[job], 1.0);
            cost[job] = cost[job].max(most) + behind - start - pace * jobs[job].mean;
            most = most.max(late);
        }
    }
}

/// What a job is expected to cost, and by how much that grows with time. It ends later than its due date by `late`, give
/// or take `give`.
#[inline(always)]
fn expected(objective: Objective, weight: f64, late: f64, give: f64) -> (f64, f64) {
    let chance = ((late + give) / (2.0 * give)).clamp(0.0, 1.0);
    match objective {
        Objective::Tardiness => {
            let tardiness = chance * chance * give + (late - give).max(0.0);
            (weight * tardiness, weight * chance)
        }
        Objective::TardyJobs => {
            let open = chance > 0.0 && chance < 1.0;
            (weight * chance, if open { weight / (2.0 * give) } else { 0.0 })
        }
        _ => (weight * late, weight),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::instance::Instance;
    use super::super::super::shop::Shop;
    use super::super::lanes::Passing;
    use super::*;

    fn variant(objective: Objective) -> Variant {
        let times = vec![3, 9, 4, 2, 7, 7, 1, 5, 6, 8];
        let mut shop = Shop::new(Instance::new(2, times).unwrap());
        shop.due = Some(vec![9, 4, 30, 12, 25]);
        shop.weights = Some(vec![2, 1, 4, 3, 1]);
        Variant::new(shop, objective, Passing::Wait).unwrap()
    }

    /// So late that no job can be early, the expectation of all children is exact.
    #[test]
    fn late_jobs_cost_what_they_cost_in_their_order() {
        for objective in [Objective::FlowTime, Objective::Tardiness, Objective::Lateness] {
            let variant = variant(objective);
            let mut rest = Rest::new(&variant);
            rest.follow(&variant, &[3, 0, 4, 1, 2], 2.0);
            if objective.needs_due_dates() {
                rest.starts.fill(1000.0);
                rest.ends.fill(1000.0);
            }
            let is_left = |job: usize| job != 4;
            rest.fill(is_left, 1, 7.0);
            for first in (0..5).filter(|&job| is_left(job)) {
                let clock = 20.0;
                let mut end = clock + if objective.needs_due_dates() { 1000.0 } else { 0.0 };
                let others = rest.order.iter().map(|&job| usize::from(job));
                let costs = others.filter(|&job| is_left(job) && job != first).map(|job| {
                    let Job { weight, due, mean, .. } = rest.jobs[job];
                    end += rest.pace * mean;
                    if objective.is_sum() { weight * (end - due) } else { end - due }
                });
                let costs: Vec<f64> = costs.collect();
                let most = costs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let right: f64 = if objective.is_sum() { costs.iter().sum() } else { most };
                let cost = rest.cost[first] + rest.growth[first] * clock;
                assert!((cost - right).abs() < 1e-6, "{objective} {first}: {cost}, not {right}");
            }
        }
    }

    /// Nodes of the schedule that is followed are expected to end when it does.
    #[test]
    fn the_schedule_that_is_followed_ends_on_time() {
        let variant = variant(Objective::Tardiness);
        let mut rest = Rest::new(&variant);
        let order = [3, 0, 4, 1, 2];
        for idle in [1.0, 4.0] {
            rest.follow(&variant, &order, idle);
            let (mut partial, mut done, mut clock) = (variant.empty(), 0.0, 0.0);
            for (placed, &job) in order.iter().enumerate() {
                variant.append(&mut partial, job.into());
                let Job { sum, mean, .. } = rest.jobs[usize::from(job)];
                done += sum;
                let start = clock + rest.starts[placed];
                let fronts: i64 = partial.fronts.iter().map(|front| front.0[0]).sum();
                clock = rest.clock(fronts as f64, done);
                let end = partial.fronts[1].0[0] as f64;
                assert!((start + rest.pace * mean - end).abs() < 1e-6);
                assert!((clock + rest.ends[placed] - end).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn chances_grow_from_early_to_late() {
        for objective in [Objective::Tardiness, Objective::TardyJobs] {
            assert_eq!(expected(objective, 3.0, -10.0, 10.0), (0.0, 0.0));
        }
        assert_eq!(expected(Objective::Tardiness, 3.0, 0.0, 10.0), (7.5, 1.5));
        assert_eq!(expected(Objective::Tardiness, 3.0, 10.0, 10.0), (30.0, 3.0));
        assert_eq!(expected(Objective::TardyJobs, 3.0, 0.0, 10.0), (1.5, 0.15));
        assert_eq!(expected(Objective::TardyJobs, 3.0, 10.0, 10.0), (3.0, 0.0));
    }
}

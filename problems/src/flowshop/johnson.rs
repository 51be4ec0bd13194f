//! [`JohnsonOrders`]: for every two machines, the optimal order of the jobs on these two.
//!
//! Johnson's rule (1954) with time lags (Mitten 1959): between the two machines, a job is delayed
//! by its times there, without queueing. The order is optimal whenever the machines become free, so
//! one order per pair serves every node, which skips the jobs already placed.

use super::bound::{MachinePairs, one};
use super::instance::Instance;
use super::tables::{Partial, Tables, Word};

/// A job on two machines: its time on the first, the lag, and its time on the second.
#[derive(Clone, Copy, Debug)]
pub struct Step<W> {
    /// The job; in evaluations over lanes, its place in them.
    pub job: u16,
    /// The three times.
    pub times: [W; 3],
}

/// Two machines, and all jobs in their optimal order there.
#[derive(Clone, Debug)]
pub struct Pair<W> {
    /// The first machine.
    pub first: usize,
    /// The second machine.
    pub second: usize,
    /// The jobs.
    pub steps: Vec<Step<W>>,
}

/// Pairs of machines.
#[derive(Clone, Debug)]
pub struct JohnsonOrders<W>(pub Vec<Pair<W>>);

impl<W: Word> JohnsonOrders<W> {
    /// These pairs of an instance, unless `keep_going` returns false on the way.
    pub fn new(
        instance: &Instance,
        pairs: MachinePairs,
        keep_going: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let machines = instance.machines();
        let pairs = pairs.of(machines);
        let sums: Vec<u32> = (0..instance.jobs())
            .flat_map(|job| {
                let sum = |sum: &mut u32, &time: &u32| Some(std::mem::replace(sum, *sum + time));
                instance.job(job).iter().scan(0, sum)
            })
            .collect();
        let up_to = |job: u16, machine: usize| sums[usize::from(job) * machines + machine];
        let pair = |(first, second)| {
            let step = |job: u16| {
                let times = instance.job(job.into());
                let lag = up_to(job, second) - up_to(job, first + 1);
                Step { job, times: [times[first], lag, times[second]].map(W::narrow) }
            };
            let mut steps: Vec<Step<W>> = (0..instance.jobs() as u16).map(step).collect();
            steps.sort_by_key(|step| {
                let [before, lag, after] = step.times.map(Word::wide);
                // First the jobs whose way to the second machine is shorter than that from the
                // first on, in increasing order; then the others, in decreasing order of the
                // latter.
                let (to, from) = (before + lag, lag + after);
                if to <= from { (0, i64::from(to)) } else { (1, -i64::from(from)) }
            });
            Pair { first, second, steps }
        };
        pairs.map(|of| keep_going().then(|| pair(of))).collect::<Option<_>>().map(Self)
    }

    /// The same with words known to be wide enough.
    pub fn narrow<N: Word>(&self) -> JohnsonOrders<N> {
        let step = |step: &Step<W>| Step {
            job: step.job,
            times: step.times.map(|time| N::narrow(time.wide())),
        };
        let pair = |pair: &Pair<W>| Pair {
            first: pair.first,
            second: pair.second,
            steps: pair.steps.iter().map(step).collect(),
        };
        JohnsonOrders(self.0.iter().map(pair).collect())
    }
}

/// When two machines are free, and the tails after the jobs left on each.
#[derive(Clone, Copy, Debug)]
pub struct Between<W> {
    /// When they are free.
    pub free: [W; 2],
    /// Their tails.
    pub after: [W; 2],
}

/// The bound of a pair: the makespan of the jobs on the two machines, between heads and tails.
pub fn walk<W: Word>(steps: impl Iterator<Item = Step<W>>, between: Between<W>) -> W {
    let [mut first, mut second] = between.free;
    for Step { times: [before, lag, after], .. } in steps {
        first = first.plus(before);
        second = second.max(first.plus(lag)).plus(after);
    }
    first.plus(between.after[0]).max(second.plus(between.after[1]))
}

/// LB2 of a child: with the job placed at the front, and at the back. It is never below LB1.
pub fn two<W: Word>(
    pairs: &JohnsonOrders<W>,
    tables: &Tables<W>,
    partial: &Partial<W>,
    job: u16,
    left: &[u16],
) -> [W; 2] {
    let mut between = vec![false; tables.jobs()];
    left.iter().filter(|&&other| other != job).for_each(|&job| between[usize::from(job)] = true);
    let mut bounds = one(partial, tables.job(job));
    for (side, bound) in bounds.iter_mut().enumerate() {
        let mut child = partial.clone();
        child.place(partial, tables.job(job), side == 1);
        for Pair { first, second, steps } in &pairs.0 {
            let steps = steps.iter().filter(|step| between[usize::from(step.job)]);
            let ends = child.ends_on(tables, [*first, *second]);
            *bound = walk(steps.copied(), ends).max(*bound);
        }
    }
    bounds
}

impl<W: Word> Partial<W> {
    /// When two machines are free, and their tails, as lower bounds.
    fn ends_on(&self, tables: &Tables<W>, machines: [usize; 2]) -> Between<W> {
        let width = tables.width;
        Between {
            free: machines.map(|k| self.ends[2 * k].max(tables.least()[width - 1 - 2 * k])),
            after: machines.map(|k| self.ends[width - 1 - 2 * k].max(tables.least()[2 * k])),
        }
    }

    /// LB2 of all schedules below this node.
    pub fn two_of_all(&self, pairs: &JohnsonOrders<W>, tables: &Tables<W>) -> W {
        let bounds = pairs.0.iter().map(|pair| {
            let ends = self.ends_on(tables, [pair.first, pair.second]);
            walk(pair.steps.iter().copied(), ends)
        });
        bounds.max().unwrap_or(W::narrow(0))
    }
}

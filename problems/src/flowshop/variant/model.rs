//! [`Variant`]: a flowshop with its objective and side conditions, and what its schedules cost.

use super::super::shop::Shop;
use super::lanes::{Dates, Passing, add_cost, append};
use super::objective::Objective;
use crate::simd::lanes::{Array, Number};

/// The largest number that results can hold exactly.
const MOST: i128 = 1 << 53;
/// The largest number of jobs that are searched by layers: a set of jobs is a word, of which some bits hold the last job.
pub const MOST_JOBS_BY_LAYERS: usize = 56;

/// A flowshop with its objective and side conditions. Release dates and setup times of the shop are respected.
#[derive(Clone, Debug)]
pub struct Variant {
    shop: Shop,
    objective: Objective,
    passing: Passing,
    weights: Vec<i64>,
    due: Vec<i64>,
    releases: Vec<i64>,
    /// A time at which every schedule without needless pauses has ended.
    horizon: i64,
    /// The largest absolute value of any cost or intermediate result.
    reach: i128,
}

/// A schedule's beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Partial {
    /// When each machine becomes free for the next job.
    pub fronts: Vec<Array<i64, 1>>,
    pub cost: Array<i64, 1>,
    pub last: Option<usize>,
}

impl Variant {
    /// A shop with an objective and the way jobs pass between machines.
    ///
    /// # Errors
    /// If a list is too long or too short, the shop lacks due dates that the objective needs, conditions cannot be
    /// combined, or costs could grow too large.
    pub fn new(mut shop: Shop, objective: Objective, passing: Passing) -> Result<Self, String> {
        let jobs = shop.instance.jobs();
        let each = |list: &Option<Vec<u32>>, what: &str, expected: usize| match list {
            Some(list) if list.len() != expected => {
                Err(format!("{} {what}, expected {expected}", list.len()))
            }
            _ => Ok(()),
        };
        each(&shop.due, "due dates", jobs)?;
        each(&shop.weights, "weights", jobs)?;
        each(&shop.releases, "release dates", jobs)?;
        each(&shop.setups, "setup times", shop.instance.machines() * jobs * jobs)?;
        let wide = |numbers: &Option<Vec<u32>>| -> Option<Vec<i64>> {
            numbers.as_ref().map(|all| all.iter().map(|&number| number.into()).collect())
        };
        let none = || vec![0; jobs];
        let (due, releases) = (wide(&shop.due), wide(&shop.releases).unwrap_or_else(none));
        if objective.needs_due_dates() && due.is_none() {
            return Err(format!("the objective {objective} needs due dates"));
        }
        for setups in shop.setups.iter_mut().flat_map(|setups| setups.chunks_mut(jobs * jobs)) {
            // No job follows itself.
            setups.iter_mut().step_by(jobs + 1).for_each(|setup| *setup = 0);
        }
        shop.setups = shop.setups.filter(|setups| setups.iter().any(|&setup| setup > 0));
        if passing == Passing::Blocking && shop.setups.is_some() {
            return Err("blocking and setup times cannot be combined".into());
        }
        let weights = wide(&shop.weights).filter(|_| objective.uses_weights());
        let (due, weights) = (due.unwrap_or_else(none), weights.unwrap_or_else(|| vec![1; jobs]));
        let most = |numbers: &[i64]| i128::from(numbers.iter().copied().max().unwrap_or(0));
        // A path through the times, or all of them where machines may pause in between; and a setup between any two jobs.
        let all = || (0..jobs).flat_map(|job| shop.instance.job(job));
        let times = match passing {
            Passing::Wait => i128::from(shop.instance.longest_path()),
            _ => all().map(|&time| i128::from(time)).sum(),
        };
        let longest = shop.setups.iter().flatten().copied().max().unwrap_or(0);
        let setups = i128::from(longest) * (jobs as i128 - 1);
        let horizon = times + setups + most(&releases);
        let scaled = |decimals: u32| match decimals {
            0 => "",
            _ => "; the limit applies to numbers without their decimal marks",
        };
        if horizon > i128::from(i32::MAX) {
            let scale = scaled(shop.decimals);
            let most = i32::MAX;
            return Err(format!("times that add up to {horizon}, expected at most {most}{scale}"));
        }
        let weight: i128 = weights.iter().map(|&weight| i128::from(weight)).sum();
        let weight = if objective.is_sum() { weight.max(1) } else { 1 };
        let due_dates = if objective.needs_due_dates() { most(&due) } else { 0 };
        let reach = (horizon + due_dates) * weight;
        if reach > MOST {
            let scale = scaled(shop.decimals + shop.weight_decimals);
            return Err(format!("costs that may reach {reach}, expected at most {MOST}{scale}"));
        }
        let horizon = horizon as i64;
        Ok(Self { shop, objective, passing, weights, due, releases, horizon, reach })
    }

    /// The shop.
    #[must_use]
    pub fn shop(&self) -> &Shop {
        &self.shop
    }

    /// The objective.
    #[must_use]
    pub fn objective(&self) -> Objective {
        self.objective
    }

    /// How jobs pass from machine to machine.
    #[must_use]
    pub fn passing(&self) -> Passing {
        self.passing
    }

    /// Whether jobs have release dates that matter.
    #[must_use]
    pub fn has_releases(&self) -> bool {
        self.releases.iter().any(|&release| release > 0)
    }

    /// Whether the value of a schedule is its makespan without any condition.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.objective == Objective::Makespan && !self.has_conditions()
    }

    /// Whether there are side conditions.
    #[must_use]
    pub fn has_conditions(&self) -> bool {
        self.passing != Passing::Wait || self.has_releases() || self.shop.setups.is_some()
    }

    /// The decimals of its values.
    #[must_use]
    pub fn decimals(&self) -> u32 {
        let of_times = if self.objective.is_time() { self.shop.decimals } else { 0 };
        let weighted = self.objective.uses_weights() && self.shop.weights.is_some();
        of_times + if weighted { self.shop.weight_decimals } else { 0 }
    }

    /// The number of jobs.
    #[must_use]
    pub fn jobs(&self) -> usize {
        self.shop.instance.jobs()
    }

    /// The number of machines.
    #[must_use]
    pub fn machines(&self) -> usize {
        self.shop.instance.machines()
    }

    /// The time of a job on a machine.
    pub(super) fn time(&self, job: usize, machine: usize) -> i64 {
        self.shop.instance.job(job)[machine].into()
    }

    /// By machine, the time of a job on all machines after it.
    pub(super) fn tails(&self, job: usize) -> Vec<i64> {
        let times = self.shop.instance.job(job).iter();
        let mut tails: Vec<i64> = times.map(|&time| time.into()).collect();
        let mut behind = 0;
        for tail in tails.iter_mut().rev() {
            (*tail, behind) = (behind, behind + *tail);
        }
        tails
    }

    /// The setup time of a machine between two jobs.
    #[must_use]
    pub fn setup(&self, machine: usize, before: usize, after: usize) -> i64 {
        let jobs = self.jobs();
        let at = (machine * jobs + before) * jobs + after;
        self.shop.setups.as_ref().map_or(0, |setups| setups[at].into())
    }

    pub(super) fn weight(&self, job: usize) -> i64 {
        self.weights[job]
    }

    pub(super) fn due(&self, job: usize) -> i64 {
        self.due[job]
    }

    pub(super) fn release(&self, job: usize) -> i64 {
        self.releases[job]
    }

    pub(super) fn dates<N: Number>(&self, job: usize) -> Dates<N> {
        Dates {
            weight: N::of(self.weights[job]),
            due: N::of(self.due[job]),
            release: N::of(self.releases[job]),
        }
    }

    /// Whether 32 bits hold all costs and intermediate results, also those of a few jobs too many.
    pub(super) fn is_narrow(&self) -> bool {
        self.reach < 1 << 28
    }

    /// A time at which every schedule without needless pauses has ended.
    pub(super) fn horizon(&self) -> i64 {
        self.horizon
    }

    /// The cost of no job.
    pub(super) fn no_cost<N: Number>(&self) -> N {
        if self.objective == Objective::Lateness { N::LOWEST } else { N::default() }
    }

    /// The empty schedule.
    pub(super) fn empty(&self) -> Partial {
        let fronts = vec![Array([0]); self.machines()];
        Partial { fronts, cost: Array([self.no_cost()]), last: None }
    }

    /// Appends a job to a schedule.
    pub(super) fn append(&self, partial: &mut Partial, job: usize) {
        let times = |k: usize| Array([self.time(job, k)]);
        let before = partial.last.filter(|_| self.shop.setups.is_some());
        let setups = before.map(|before| move |k: usize| Array([self.setup(k, before, job)]));
        let Dates { weight, due, release } = self.dates(job);
        let dates = Dates { weight: Array([weight]), due: Array([due]), release: Array([release]) };
        append(self.passing, &mut partial.fronts, times, setups, dates.release);
        let end = partial.fronts[self.machines() - 1];
        partial.cost = add_cost(self.objective, partial.cost, end, &dates);
        partial.last = Some(job);
    }

    /// The cost of a schedule.
    #[must_use]
    pub fn value(&self, order: &[u16]) -> i64 {
        let mut partial = self.empty();
        order.iter().for_each(|&job| self.append(&mut partial, job.into()));
        partial.cost.0[0]
    }

    /// When each operation of a schedule ends, by place in the order and by machine. A job that blocks its machine
    /// may leave it later.
    #[must_use]
    pub fn ends(&self, order: &[u16]) -> Vec<Vec<u32>> {
        let mut partial = self.empty();
        let ends = order.iter().map(|&job| {
            let job = usize::from(job);
            let free = partial.fronts[0].0[0].max(self.releases[job]);
            self.append(&mut partial, job);
            let fronts = partial.fronts.iter().map(|front| front.0[0]);
            match self.passing {
                // An operation begins when the job leaves the machine before.
                Passing::Blocking => {
                    let starts = std::iter::once(free).chain(fronts);
                    let ends = (0..self.machines()).map(|k| self.time(job, k)).zip(starts);
                    ends.map(|(time, start)| (start + time) as u32).collect()
                }
                _ => fronts.map(|front| front as u32).collect(),
            }
        });
        ends.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::instance::Instance;
    use super::*;

    #[test]
    fn lists_of_another_length_are_refused() {
        let with = |change: fn(&mut Shop)| {
            let mut shop = Shop::new(Instance::new(2, vec![1, 2, 3, 4, 5, 6]).unwrap());
            change(&mut shop);
            Variant::new(shop, Objective::FlowTime, Passing::Wait).map(|_| ())
        };
        assert_eq!(with(|shop| shop.setups = Some(vec![1; 18])), Ok(()));
        let refused = |change, line: &str| assert_eq!(with(change).unwrap_err(), line);
        refused(|shop| shop.due = Some(vec![1; 2]), "2 due dates, expected 3");
        refused(|shop| shop.weights = Some(vec![1; 4]), "4 weights, expected 3");
        refused(|shop| shop.releases = Some(Vec::new()), "0 release dates, expected 3");
        refused(|shop| shop.setups = Some(vec![1; 9]), "9 setup times, expected 18");
    }

    /// With decimals, the numbers in these errors are not those of the user's file.
    #[test]
    fn limits_say_that_they_apply_without_decimal_marks() {
        let mut shop = Shop::new(Instance::new(1, vec![700_000_000; 2]).unwrap());
        shop.releases = Some(vec![0, 100_000_000]);
        let why = |shop: &Shop| {
            Variant::new(shop.clone(), Objective::FlowTime, Passing::Wait).map(|_| ()).unwrap_err()
        };
        let limit = "times that add up to 2200000000, expected at most 2147483647";
        assert_eq!(why(&shop), limit);
        shop.decimals = 6;
        let scale = "; the limit applies to numbers without their decimal marks";
        assert_eq!(why(&shop), format!("{limit}{scale}"));
        (shop.decimals, shop.releases, shop.weight_decimals) = (0, None, 9);
        shop.weights = Some(vec![1_000_000_000, 4_000_000_000]);
        let why = why(&shop);
        assert!(why.starts_with("costs that may reach ") && why.ends_with(scale), "{why}");
    }
}

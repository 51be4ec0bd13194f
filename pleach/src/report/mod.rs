//! [`Report`]: what a search found and proved.

pub(crate) mod columns;
#[cfg(feature = "cli")]
pub(crate) mod json;
mod labels;
pub(crate) mod moment;
#[cfg(feature = "cli")]
pub(crate) mod repeats;
mod text;
#[cfg(feature = "cli")]
pub(crate) mod trace;

pub(crate) use labels::Labels;
use moment::Moment;
use pleach_core::search::tree::{Counts, Goal};
use pleach_core::wire::certificate::Certificate;
pub(crate) use pleach_runtime::gap;
use pleach_runtime::{Balance, Outcome, Stop};
pub(crate) use text::{counted, estimate, grouped, short};

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The best solution is known and proven.
    Optimal,
    /// Proven: no solution beats the value that the search started from.
    NoBetter,
    /// The count is complete.
    Counted,
    /// A solution was found, as requested.
    Found,
    /// Proven: there is no solution.
    Infeasible,
    /// Stopped early.
    Stopped,
}

impl Status {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Status::Optimal => "optimal",
            Status::NoBetter => "no-better",
            Status::Counted => "counted",
            Status::Found => "found",
            Status::Infeasible => "infeasible",
            Status::Stopped => "stopped",
        }
    }
}

/// What a search found and proved.
#[derive(Clone, Debug)]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// The value of the best solution found.
    pub objective: Option<i64>,
    /// The proven bound that no solution can beat; an upper bound when maximising.
    pub lower_bound: Option<i64>,
    /// The best solution found.
    pub solution: Option<Vec<i64>>,
    /// The count.
    pub count: u128,
    /// The number of optimal solutions, if it was requested and is known.
    pub optima: Option<u128>,
    /// The number of decimals of real values: see [`Tree::decimals`](crate::Tree::decimals).
    pub decimals: u32,
    /// Everything else: nodes, times, workers.
    pub outcome: Outcome,
    /// What the proof consists of, if it was requested and there is a proof.
    pub certificate: Option<Box<Certificate>>,
    /// When the best value and the bound changed, for a trace.
    pub(crate) moments: Vec<Moment>,
}

impl Report {
    /// Interprets an outcome, given the value that the search had to beat.
    pub(crate) fn new(outcome: Outcome, to_beat: Option<i64>) -> Self {
        let goal = outcome.goal;
        let stopped = outcome.stop.is_some_and(|why| why != Stop::Found);
        let status = match goal {
            _ if outcome.solution.is_some() && goal == Goal::Find => Status::Found,
            _ if stopped => Status::Stopped,
            Goal::Count => Status::Counted,
            // A starting solution may be worse than the value to beat; the search then proves nothing about it.
            _ if outcome
                .solution
                .as_ref()
                .is_some_and(|best| best.score == outcome.lower_bound) =>
            {
                Status::Optimal
            }
            _ if to_beat.is_some() => Status::NoBetter,
            _ => Status::Infeasible,
        };
        let optimises = matches!(goal, Goal::Minimise | Goal::Maximise);
        // The least score means that no bound is known, unless a solution or the value to beat has it.
        let is_known = outcome.lower_bound > i64::MIN
            || status == Status::Optimal
            || to_beat.is_some_and(|value| goal.score(value) == i64::MIN);
        let bounded = optimises && outcome.lower_bound < i64::MAX && is_known;
        let best = outcome.solution.clone().filter(|_| status != Status::NoBetter);
        Self {
            certificate: None,
            status,
            objective: best.as_ref().filter(|_| optimises).map(|best| goal.value(best.score)),
            lower_bound: bounded.then(|| goal.value(outcome.lower_bound)),
            solution: best.map(|best| best.solution),
            count: outcome.counts.total,
            optima: None,
            decimals: 0,
            outcome,
            moments: Vec::new(),
        }
    }

    /// The report of a search that was stopped before it began.
    pub(crate) fn unbegun(why: Stop, seconds: f64) -> Self {
        let outcome = Outcome {
            goal: Goal::Minimise,
            counts: Counts::default(),
            solution: None,
            stop: Some(why),
            lower_bound: i64::MIN,
            open: 1.0,
            seconds,
            earlier_seconds: 0.0,
            setup_seconds: seconds,
            workers: Vec::new(),
            balance: Balance::default(),
            sites: Vec::new(),
        };
        Self::new(outcome, None)
    }

    /// What stopped the search early, in a word.
    #[must_use]
    pub fn stopped_by(&self) -> Option<&'static str> {
        self.outcome.stop.filter(|_| self.status == Status::Stopped).and_then(Stop::word)
    }

    /// A value of the report as a real number.
    #[must_use]
    pub fn real(&self, value: i64) -> f64 {
        value as f64 / 10f64.powi(self.decimals.cast_signed())
    }

    /// The gap between the best solution and the bound, relative to the solution's value.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        Some(gap(self.objective?, self.lower_bound?))
    }

    /// Adds a second search, which counted the optimal solutions; without a solution that `attained`
    /// the value there is no count.
    pub(crate) fn add_optima(&mut self, second: Report, attained: bool) {
        match second.status {
            Status::Counted => self.optima = attained.then_some(second.count),
            _ => self.status = second.status,
        }
        let (all, more) = (&mut self.outcome, second.outcome);
        all.counts.add_saturating(&more.counts);
        all.seconds += more.seconds;
        all.setup_seconds += more.setup_seconds;
        all.stop = more.stop;
        all.balance.add(more.balance);
        for (worker, more) in all.workers.iter_mut().zip(more.workers) {
            worker.counts.add(&more.counts);
            worker.busy_s += more.busy_s;
            worker.idle_s += more.idle_s;
            worker.steals = worker.steals.saturating_add(more.steals);
        }
    }
}

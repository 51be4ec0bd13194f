//! What a run reports: while it goes on, and at its end.

use crate::activity::Activity;
use crate::control::Stop;
use pleach_core::tree::{Counts, Goal, Solution};

/// A look at a run that goes on.
#[derive(Clone, Debug, Default)]
pub struct Sight {
    /// Seconds since the start, and what the search had taken before a resume.
    pub seconds: f64,
    /// What was counted so far, over all units, and before a resume.
    pub counts: Counts,
    /// The part of the tree that is done, where that can be told.
    pub done: Option<f64>,
    /// The value of the best solution so far.
    pub best: Option<i64>,
    /// What no solution can beat, as far as is proven so far.
    pub bound: Option<i64>,
    /// Something that goes wrong without stopping the run: said once.
    pub warning: Option<String>,
}

/// What one unit did.
#[derive(Clone, Debug, Default)]
pub struct UnitReport {
    /// Its name: `cpu0`, `emulated0`.
    pub name: String,
    /// What it counted.
    pub counts: Counts,
    /// Seconds spent exploring.
    pub busy_s: f64,
    /// Seconds spent on looking for solutions beside the search.
    pub improve_s: f64,
    /// Seconds without work.
    pub idle_s: f64,
    /// Pieces of work received.
    pub steals: u64,
    /// Measured power, nodes a second; 0 if it never worked long enough to measure.
    pub power: u64,
    /// Activity over time, if it was asked for.
    pub activity: Option<Activity>,
}

/// What was said and moved to keep the units busy.
#[derive(Clone, Debug, Default)]
pub struct Balance {
    /// Requests for work.
    pub requests: u64,
    /// Requests that brought work.
    pub served: u64,
    /// Requests that were refused.
    pub refused: u64,
    /// Messages of any kind.
    pub messages: u64,
    /// Bytes of work that changed hands.
    pub moved_bytes: u64,
    /// Nodes bounded twice, where work is given away before its owner hears of it: they were counted
    /// by exploring it once more, from the best value known then.
    pub redundant: u64,
    /// From the last node until every unit knew of the end, in nanoseconds.
    pub ending_ns: u64,
    /// From asking to having work, for each request that brought some, in nanoseconds; the first
    /// [`Balance::KEPT`] of each unit.
    pub steal_ns: Vec<u64>,
}

impl Balance {
    /// Waiting times kept a unit.
    pub const KEPT: usize = 4096;

    /// Adds what was said and moved elsewhere.
    pub fn add(&mut self, other: Balance) {
        self.requests += other.requests;
        self.served += other.served;
        self.refused += other.refused;
        self.messages += other.messages;
        self.moved_bytes += other.moved_bytes;
        self.redundant += other.redundant;
        self.ending_ns += other.ending_ns;
        self.steal_ns.extend(other.steal_ns);
    }

    /// The median time from asking to having work.
    #[must_use]
    pub fn median_steal_ns(&self) -> Option<u64> {
        let mut sorted = self.steal_ns.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied()
    }
}

/// What a run has found, proven and used.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What the search was for.
    pub goal: Goal,
    /// What was counted, over all units.
    pub counts: Counts,
    /// The best solution found.
    pub solution: Option<Solution>,
    /// Why the run stopped early, if it did.
    pub stop: Option<Stop>,
    /// The least score that any solution can have, as far as is proven; `i64::MIN` if unbounded.
    pub lower_bound: i64,
    /// Open nodes left.
    pub open: f64,
    /// Seconds from start to end, and what the search had taken before a resume.
    pub seconds: f64,
    /// Of these, what it had taken before.
    pub earlier_seconds: f64,
    /// Seconds before the first node.
    pub setup_seconds: f64,
    /// What each unit did.
    pub units: Vec<UnitReport>,
    /// What was said and moved.
    pub balance: Balance,
}

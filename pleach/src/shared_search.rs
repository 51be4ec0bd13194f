//! [`Solver::run_across`]: a search that several processes share.

use crate::processes::Processes;
use crate::report::Report;
use crate::solver::Solver;
use pleach_core::search::problem::Problem;
use pleach_runtime::{Outcome, RunError, Stop};

/// The result of a shared search in one process.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SharedReport {
    /// The first process: the result of the whole search.
    Whole(Report),
    /// Another process: its part in the search, which proves nothing on its own.
    Part(Outcome),
    /// Another process, for which no search was left, or which has missed the end of the search.
    Over,
}

impl<P: Problem> Solver<'_, P> {
    /// Searches together with other processes. The first one leads: its limits and its checkpoint file apply to the
    /// search. Each of the others waits for a search and takes part in it with its own threads and devices; it leaves
    /// when `on_progress` breaks.
    ///
    /// ```no_run
    /// # use pleach::{Children, Goal, Tree};
    /// # struct Bits(u32);
    /// # impl Tree for Bits {
    /// #     type Node = u32;
    /// #     const GOAL: Goal = Goal::Count;
    /// #     fn root(&self) -> u32 { 0 }
    /// #     fn expand(&self, &n: &u32, _: Option<i64>, out: &mut Children<Self>) {
    /// #         if n == self.0 { return out.count(1); }
    /// #         out.child(n + 1);
    /// #         out.child(n + 1);
    /// #     }
    /// # }
    /// use pleach::{Processes, SharedReport, Solver};
    ///
    /// let processes = match std::env::args().nth(1) {
    ///     Some(address) => Processes::join(address, "pleach.key")?,
    ///     None => Processes::listen("0.0.0.0:7400", "pleach.key")?,
    /// };
    /// if let SharedReport::Whole(report) = Solver::new(Bits(40)).run_across(&processes)? {
    ///     println!("{}", report.count);
    /// }
    /// # Ok::<(), pleach::RunError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Solver::run`]; also if the network fails, or the first process searches something else.
    pub fn run_across(mut self, processes: &Processes) -> Result<SharedReport, RunError> {
        let leads = processes.share(&mut self.settings).is_none_or(|cluster| cluster.is_root());
        if leads {
            return self.run().map(SharedReport::Whole);
        }
        (self.settings.save, self.settings.resume) = (None, None);
        let outcome = loop {
            if processes.next_search(|| true)?.is_none() {
                return Ok(SharedReport::Over);
            }
            match self.run_part() {
                // The first process has restarted and searches again, or has ended.
                Err(RunError::Replaced | RunError::MissedEnd) => {}
                outcome => break outcome?,
            }
        };
        if outcome.stop == Some(Stop::Asked) {
            processes.sign_off()?;
        }
        Ok(SharedReport::Part(outcome))
    }
}

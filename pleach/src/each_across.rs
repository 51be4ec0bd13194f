//! `Each::map_across`: loops of closures that several processes share.

use crate::each::{Costs, Each, cost_before};
use crate::processes::Processes;
use pleach_cluster::First;
use pleach_core::search::work::{Malformed, Pack, Reader};
use pleach_loops::looping::{Loop, LoopReport, RemoteLoop, ResultPlacement, ShareLoops, run_loop};
use pleach_runtime::sync::lock;
use pleach_runtime::{RunError, WorkerPool};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

impl Processes {
    /// Begins a loop in all processes.
    fn begin_loop(&self, about: &str) -> Result<(), RunError> {
        let Some(cluster) = self.cluster() else { return Ok(()) };
        cluster.can_begin_loops()?;
        if cluster.is_root() {
            return cluster.begin_loops(about.into(), First::default());
        }
        let order = cluster.next_order(|| true)?;
        if order.is_none() {
            self.note_end();
        }
        let same = order.is_some_and(|order| order.about == about.as_bytes());
        if !same || cluster.first_of_loops(false, || true)?.is_none() {
            return Err(RunError::Follow("the first process is running a different loop, or none"));
        }
        Ok(())
    }

    /// Informs the others that this process cannot continue the loop that it has begun.
    fn fail_loop(&self, why: &RunError) {
        let known = matches!(why, RunError::Site { .. } | RunError::Lost(_));
        if let Some(cluster) = self.cluster().filter(|_| !known) {
            cluster.fail_loops(&why.to_string());
        }
    }

    /// Ends the loop once all processes know. Returns warnings.
    fn end_loop(&self) -> Result<Vec<String>, RunError> {
        match self.cluster().filter(|cluster| cluster.is_root()) {
            Some(cluster) => cluster.end_loops_together(),
            None => Ok(Vec::new()),
        }
    }
}

impl Each<'_> {
    /// Computes a value for each unit, on all processes that share the loop; each process gets all values. All of them
    /// must call this with the same number of units. `None` if the loop was stopped.
    ///
    /// # Errors
    /// If the network fails, or another process runs another loop.
    ///
    /// # Panics
    /// If the closure has panicked.
    pub fn map_across<T: Pack + Send>(
        mut self,
        processes: &Processes,
        value: impl Fn(usize) -> T + Sync,
    ) -> Result<(Option<Vec<T>>, LoopReport), RunError> {
        let values = (0..self.n).map(|_| Mutex::new(None)).collect();
        processes.begin_loop(&format!("{} units of {}", self.n, std::any::type_name::<T>()))?;
        self.settings.cluster = processes.cluster().cloned();
        let costs = self.costs();
        let all = Shared { values, value, costs };
        let outcome = run_loop(WorkerPool::shared(), &all, &self.settings, &mut *self.watch);
        let mut report = outcome.inspect_err(|why| processes.fail_loop(why))?.report;
        report.warnings.extend(processes.end_loop()?);
        let take =
            |value: Mutex<Option<T>>| value.into_inner().unwrap_or_else(PoisonError::into_inner);
        let values = all.values.into_iter().map(take).collect::<Option<Vec<T>>>();
        Ok((values.filter(|_| report.complete), report))
    }
}

/// A closure as a loop that several processes share.
struct Shared<T, F> {
    values: Vec<Mutex<Option<T>>>,
    value: F,
    costs: Costs,
}

impl<T, F> Shared<T, F> {
    fn at(&self, unit: usize) -> MutexGuard<'_, Option<T>> {
        lock(&self.values[unit])
    }
}

impl<T: Pack + Send, F: Fn(usize) -> T + Sync> Loop for Shared<T, F> {
    type Local = ();

    fn units(&self) -> usize {
        self.values.len()
    }

    fn cost_before(&self, unit: usize) -> f64 {
        cost_before(&self.costs, unit)
    }

    fn local(&self) {}

    fn run(&self, units: Range<usize>, (): &mut ()) {
        units.for_each(|unit| *self.at(unit) = Some((self.value)(unit)));
    }

    fn remote(&self) -> Option<&dyn RemoteLoop> {
        Some(self)
    }
}

impl<T: Pack + Send, F: Fn(usize) -> T + Sync> RemoteLoop for Shared<T, F> {
    fn result_placement(&self) -> ResultPlacement {
        ResultPlacement::All
    }

    fn pack(&self, unit: usize, out: &mut Vec<u8>) {
        self.at(unit).pack(out);
    }

    fn unpack(&self, unit: usize, from: &mut Reader<'_>) -> Result<(), Malformed> {
        let value: Option<T> = Pack::unpack(from)?;
        *self.at(unit) = Some(value.ok_or(Malformed::Range)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It made a loop that had run to its end look stopped.
    #[test]
    fn a_missing_value_is_refused() {
        let values = vec![Mutex::new(None::<u64>)];
        let all = Shared { values, value: |unit: usize| unit as u64, costs: None };
        for value in [None, Some(7u64)] {
            assert_eq!(all.unpack_all(0..1, &value.packed()).is_ok(), value.is_some());
            assert_eq!(*all.at(0), value);
        }
    }
}

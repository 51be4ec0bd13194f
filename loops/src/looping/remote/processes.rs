//! [`LoopProcesses`]: the processes that share a loop with this one, be it the root or not.

use super::super::loop_queue::{LoopQueue, StopQueueOnDrop, UnitsOf};
use super::super::settings::LoopSettings;
use super::super::sizes::Sizes;
use super::assignments::Assignments;
use super::coordinator::{LoopCoordinator, RemoteResult};
use super::message::{TakerReport, What, WorkerCount};
use super::orders::say;
use super::worker::LoopWorker;
use crate::looping::contract::RemoteLoop;
use pleach_cluster::Cluster;
use pleach_runtime::error::RunError;
use std::ops::Range;
use std::time::Instant;

/// The processes that share a loop with this one.
pub(in super::super) struct LoopProcesses<'a> {
    cluster: &'a Cluster,
    work: &'a dyn RemoteLoop,
    assignments: Assignments,
}

impl Drop for LoopProcesses<'_> {
    fn drop(&mut self) {
        self.cluster.end_loop();
    }
}

impl<'a> LoopProcesses<'a> {
    /// Those that the settings name.
    ///
    /// # Errors
    /// If the loop's results cannot travel, or another loop of these processes is under way.
    pub fn of(
        settings: &'a LoopSettings,
        work: Option<&'a dyn RemoteLoop>,
    ) -> Result<Option<Self>, RunError> {
        let Some(cluster) = settings.cluster.as_deref() else { return Ok(None) };
        if matches!(settings.sizes, Sizes::Static(_)) {
            return Err(RunError::Follow("a static split is for a single process"));
        }
        let work = work.ok_or(RunError::Follow("this loop is for a single process"))?;
        cluster.begin_loop()?;
        Ok(Some(Self { cluster, work, assignments: Assignments::default() }))
    }

    /// Whether another process leads.
    pub fn follows(&self) -> bool {
        !self.cluster.is_root()
    }

    /// For how many others there is a place in the loop: a follower knows the root alone.
    pub fn places(&self) -> usize {
        if self.follows() { 1 } else { self.cluster.others() }
    }

    /// Something has happened that the thread of [`LoopProcesses::keep`] should look at.
    pub fn ring(&self) {
        self.cluster.waker().ring();
    }

    /// Some rows are done.
    pub fn done(&self, rows: &Range<u32>) {
        if self.follows() && self.assignments.done(rows) {
            self.ring();
        }
    }

    /// Shares the loop with the others until it is over. The units here have these names.
    pub fn keep(
        &self,
        share: &LoopQueue<'_>,
        units: (UnitsOf<'_>, u64),
        names: &[String],
        start: Instant,
    ) -> Result<RemoteResult, RunError> {
        // If the network fails, or the root ends it early, nothing more is begun.
        let guard = StopQueueOnDrop(share);
        let (work, cluster, (units, all)) = (self.work, self.cluster, units);
        let remote_result = if self.follows() {
            let workers =
                WorkerCount { units: all, host: pleach_runtime::host(), names: names.to_vec() };
            let assignments = &self.assignments;
            let complete =
                LoopWorker { share, assignments, work, cluster, units, workers }.keep()?;
            RemoteResult { complete: Some(complete), ..RemoteResult::default() }
        } else {
            let first = names.len() - 1;
            LoopCoordinator { share, work, cluster, units, all, first, start }.keep()?
        };
        if remote_result.complete != Some(false) {
            std::mem::forget(guard);
        }
        if self.follows() && remote_result.complete == Some(true) {
            share.end_feeding();
        }
        Ok(remote_result)
    }

    /// Tells the root what each unit did in a loop that has come to its end.
    pub fn tell(&self, reports: Vec<TakerReport>) {
        if !self.follows() {
            return;
        }
        let at = self.cluster.sequence().at.saturating_sub(1);
        say(&mut self.cluster.session(), 0, at, What::UnitReports(reports));
    }
}

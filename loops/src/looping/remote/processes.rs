//! [`LoopProcesses`]: the processes that share a loop with this one, whether or not it is the root.

use super::super::loop_queue::{LoopQueue, UnitsOf};
use super::super::loop_thread::TakerTally;
use super::super::settings::LoopSettings;
use super::super::sizes::Sizes;
use super::assignments::Assignments;
use super::coordinator::{LoopCoordinator, RemoteResult};
use super::message::{What, WorkerCount};
use super::orders::send_message;
use super::worker::LoopWorker;
use crate::looping::contract::RemoteLoop;
use pleach_cluster::Cluster;
use pleach_runtime::error::RunError;
use pleach_runtime::on_drop::OnDrop;
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
    /// The processes that the settings name.
    ///
    /// # Errors
    /// If the loop's results cannot travel, or another loop of these processes is in progress.
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

    /// Whether another process is the root.
    pub fn follows(&self) -> bool {
        !self.cluster.is_root()
    }

    /// How many other processes the loop has room for; a follower knows only the root.
    pub fn places(&self) -> usize {
        if self.follows() { 1 } else { self.cluster.others() }
    }

    /// Wakes the thread of [`LoopProcesses::share_loop`].
    pub fn wake(&self) {
        self.cluster.waker().wake();
    }

    /// Marks rows as done.
    pub fn mark_done(&self, rows: &Range<u32>) {
        if self.follows() && self.assignments.mark_done(rows) {
            self.wake();
        }
    }

    /// Shares the loop with the others until it is over. The workers here have these names.
    pub fn share_loop(
        &self,
        share: &LoopQueue<'_>,
        units: (UnitsOf<'_>, u64),
        names: &[String],
        start: Instant,
    ) -> Result<RemoteResult, RunError> {
        // If the network fails, or the root ends the loop early, start nothing more.
        let guard = OnDrop(|| share.stop());
        let (work, cluster, (units, all)) = (self.work, self.cluster, units);
        let remote_result = if self.follows() {
            let workers =
                WorkerCount { units: all, host: pleach_runtime::host(), names: names.to_vec() };
            let assignments = &self.assignments;
            let complete =
                LoopWorker { share, assignments, work, cluster, units, workers }.run()?;
            RemoteResult { complete: Some(complete), ..RemoteResult::default() }
        } else {
            let first = names.len() - 1;
            LoopCoordinator { share, work, cluster, units, all, first, start }.run()?
        };
        if remote_result.complete != Some(false) {
            std::mem::forget(guard);
        }
        if self.follows() && remote_result.complete == Some(true) {
            share.end_feeding();
        }
        Ok(remote_result)
    }

    /// Reports to the root what each worker did in a finished loop.
    pub fn report_to_root(&self, reports: Vec<TakerTally>) {
        if !self.follows() {
            return;
        }
        let at = self.cluster.sequence().at.saturating_sub(1);
        send_message(&mut self.cluster.session(), 0, at, What::WorkerReports(reports));
    }
}

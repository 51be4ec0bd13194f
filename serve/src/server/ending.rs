//! What becomes of a job when its root has ended.

use super::folder::{NOT_STARTED, RESULT, RootEnd, numbers, remove_internal};
use super::job::StopReason;
use super::root::LOCK;
use super::state::{CRASHES, STEADY, Service, State, now};
use crate::api::JobState;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// How long a job waits after a fault that is not its own.
const RETRY: Duration = Duration::from_secs(30);
/// How long it waits after a crash or a signal.
const AGAIN: Duration = Duration::from_secs(1);
/// What roots say of a machine that has no memory, files or disk left, or whose disk fails, as the system numbers it.
const FAULTS: [&str; 7] = ["5", "11", "12", "23", "24", "28", "122"];

impl Service {
    /// A root has ended.
    pub(super) fn root_ended(&self, id: u64, run: u64, end: RootEnd) {
        let mut guard = self.lock();
        let state = &mut *guard;
        let Some(job) = state.jobs.get_mut(&id) else { return };
        let Some(root) = job.root.take_if(|root| root.run == run) else { return };
        let limited = job.view.args.iter().any(|arg| arg.starts_with("--memory"))
            || state.accounts.get(&job.view.user).is_some_and(|it| it.row.limits.memory.is_some());
        let done = end.is_done(limited);
        let RootEnd { code, result, stopped_by, last, said, .. } = end;
        if let Some(last) = last {
            job.update_last(last, now());
        }
        let view = &mut job.view;
        if root.since.elapsed() > STEADY {
            // A crash long ago had another cause.
            job.failures = 0;
        }
        let stopped_by = stopped_by.as_deref();
        let by_signal = stopped_by == Some("cancelled");
        let not_its_own = code == Some(NOT_STARTED)
            // What was right when it began is still right.
            || root.resumes && code == Some(2)
            || FAULTS.iter().any(|number| said.contains(&format!("(os error {number})")));
        let (keep, unread) = match result {
            Ok(result) => (Some(result), None),
            Err(why) => (None, Some(why)),
        };
        view.state = match (root.stop, code) {
            (Some(StopReason::Cancel), _) => JobState::Cancelled,
            _ if done && unread.is_none() => {
                (view.exit, view.error) = (code, None);
                JobState::Done
            }
            (Some(StopReason::SetAside), _) => JobState::Failed,
            (Some(StopReason::Pause), _) => JobState::Paused,
            (Some(StopReason::End), _) => JobState::Waiting,
            // One that does not end in time is killed; it continues from its last save.
            (Some(StopReason::Yield), None | Some(0 | 3 | NOT_STARTED)) => JobState::Waiting,
            _ if done => {
                (view.exit, view.error) = (code, unread);
                JobState::Failed
            }
            _ if by_signal => {
                view.error = Some("a signal stopped it".into());
                job.not_before = Some(Instant::now() + AGAIN);
                JobState::Waiting
            }
            _ if not_its_own => {
                view.error = Some(said);
                job.not_before = Some(Instant::now() + RETRY);
                JobState::Waiting
            }
            (_, Some(2)) => {
                (view.exit, view.error) = (code, Some(said));
                JobState::Failed
            }
            _ => {
                job.failures += 1;
                let how = match (code, stopped_by) {
                    (None, _) => "a signal ended it".into(),
                    (_, Some("memory")) => "it ran out of memory".into(),
                    (Some(code), _) => format!("exit code {code}"),
                };
                let error = if said.is_empty() { how } else { format!("{how}: {said}") };
                (view.exit, view.error) = (code, Some(error));
                job.not_before = Some(Instant::now() + AGAIN);
                if job.failures < CRASHES { JobState::Waiting } else { JobState::Failed }
            }
        };
        job.has_now(0, 0);
        if job.view.state == JobState::Paused {
            // It is no longer being saved: the planner gives another reason.
            job.view.why.clear();
        }
        if job.view.state.is_over() {
            let is_done = job.view.state == JobState::Done;
            self.retire(state, id, keep.filter(|_| is_done));
        } else {
            state.unsaved.insert(id);
            // The next root must not take it for its own. A root that never started does not hold it, but the root of a
            // service that was killed may.
            if code != Some(NOT_STARTED) {
                let _ = std::fs::remove_file(self.folder(id).join(RESULT));
            }
        }
        drop(guard);
        self.wake.notify_one();
        self.announce();
    }

    /// Stores what changed, and removes the internal files of jobs that are over.
    pub(super) fn flush(&self, state: &mut State) {
        for (id, failed) in state.flush() {
            self.clear(id, failed);
        }
    }

    /// Removes the internal files of a job that is over, once its root has ended.
    fn clear(&self, id: u64, failed: bool) {
        let folder = self.folder(id);
        if !remove_internal(&folder, failed) {
            tokio::spawn(async move {
                while !remove_internal(&folder, failed) {
                    sleep(LOCK).await;
                }
            });
        }
    }

    /// Removes the internal files of jobs that were over when an earlier service was killed.
    pub(super) fn clear_all(&self) {
        for id in numbers(&self.settings.data) {
            let over = {
                let state = self.lock();
                let job = state.store.job(id).ok().flatten();
                // The root of a job that is being cancelled may still run.
                job.filter(|job| job.state.is_over() && !state.jobs.contains_key(&id))
            };
            if let Some(job) = over {
                self.clear(id, job.state == JobState::Failed);
            }
        }
    }
}

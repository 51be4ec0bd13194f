//! The joiners: which are present, and which job each serves.

use super::caller::Caller;
use super::job::{Root, StopReason};
use super::refusal::Refused;
use super::state::{CRASHES, Joiner, STEADY, Service, State, now, threads};
use crate::api::{Assignment, Assignments, JobState, JoinerReport, JoinerView, Role};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How long the service waits for a change before it answers a joiner.
const WAIT: Duration = Duration::from_secs(20);
/// How long a joiner may be silent between two requests.
pub(super) const SILENCE: Duration = Duration::from_secs(5);
/// How long after a joiner left one of its requests may still arrive.
pub(super) const LATE: Duration = Duration::from_secs(60);
/// The maximum number of threads of a joiner.
const THREADS: u32 = 4096;
/// The maximum number of joiners.
const JOINERS: usize = 10_000;

/// A request of a joiner that waits.
struct Waiting {
    service: Arc<Service>,
    name: String,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(joiner) = self.service.lock().joiners.get_mut(&self.name) {
            joiner.waiting = joiner.waiting.saturating_sub(1);
            joiner.heard = Instant::now();
        }
    }
}

impl State {
    /// The order that the plan has for a joiner, and whether it is dismissed.
    fn order_for(&self, name: &str) -> (Option<Assignment>, bool) {
        let joiner = self.joiners.get(name);
        let order = || {
            let id = joiner?.job?;
            let root = self.jobs.get(&id)?.root.as_ref()?;
            let (run, port, key) = (root.run, root.port?, root.key.clone());
            root.stop.is_none().then_some(Assignment { job: id, run, port, key })
        };
        (order(), joiner.is_some_and(|joiner| joiner.dismissed))
    }

    /// Brings the joiners of an account up to date, or removes them if they are no longer admitted.
    pub fn update_joiners(&mut self, account: &str, admitted: bool) {
        let account_row = self.accounts.get(account).map(|account| &account.row);
        let only_for = account_row.and_then(|row| row.only_for.clone());
        self.joiners.retain(|name, joiner| {
            let own = name.split_once('/').is_some_and(|(of, _)| of == account);
            if own {
                joiner.only_for.clone_from(&only_for);
            }
            admitted || !own
        });
    }
}

impl Joiner {
    /// The jobs on which it crashed repeatedly: it does not serve them for a while.
    pub fn avoids(&self) -> Vec<u64> {
        let often = |&(_, &(times, at)): &(&u64, &(u32, Instant))| {
            times >= CRASHES && at.elapsed() < STEADY
        };
        self.crashes.iter().filter(often).map(|(&job, _)| job).collect()
    }
}

/// The name of a joiner, which begins with that of its account.
fn full_name(caller: &Caller, report: &JoinerReport) -> String {
    let own: String = report.name.chars().filter(|c| !c.is_control()).take(200).collect();
    format!("{}/{own}", caller.name)
}

impl Service {
    /// Answers a joiner once it should work elsewhere, or after a while.
    pub(super) async fn orders(
        self: &Arc<Self>,
        caller: &Caller,
        report: JoinerReport,
    ) -> Result<Assignments, Refused> {
        if report.leaving {
            // It may have reported this already, and must not seem to have come back.
            self.report(caller, report)?;
            return Ok(Assignments { dismissed: true, ..Assignments::default() });
        }
        let Some(name) = self.admit(caller, &report)? else {
            return Ok(Assignments { dismissed: true, ..Assignments::default() });
        };
        let waiting = Waiting { service: Arc::clone(self), name };
        let mut changes = self.changes();
        let changed = async {
            loop {
                changes.mark_unchanged();
                let (order, dismissed) = self.lock().order_for(&waiting.name);
                if dismissed
                    || order != report.serving
                    || !self.still_knows(caller)
                    || changes.changed().await.is_err()
                {
                    return;
                }
            }
        };
        // After a while it is answered, even if nothing has changed.
        let _ = timeout(WAIT, changed).await;
        let (order, dismissed) = {
            let state = self.lock();
            state.account_of(caller).ok_or_else(Refused::unknown)?;
            state.order_for(&waiting.name)
        };
        if dismissed && self.lock().joiners.remove(&waiting.name).is_some() {
            self.audit(&waiting.name, "left");
        }
        Ok(Assignments { order, dismissed })
    }

    /// Notes a joiner, and returns its name, which begins with that of its account; `None` if it has left.
    fn admit(&self, caller: &Caller, report: &JoinerReport) -> Result<Option<String>, Refused> {
        if caller.role != Role::Joiner {
            return Err(Refused(403, "expected the credentials of a joiner".into()));
        }
        if report.build != self.settings.build {
            let own = &self.settings.build;
            return Err(Refused(
                409,
                format!("the service runs pleach {own}, this joiner {}", report.build),
            ));
        }
        if !(1..=THREADS).contains(&report.threads) || report.name.len() > 200 {
            let (threads, bytes) = (report.threads, report.name.len());
            let why = format!(
                "{threads} threads and a name of {bytes} bytes: expected 1 to {THREADS} threads and at most 200 bytes"
            );
            return Err(Refused(400, why));
        }
        let name = full_name(caller, report);
        let mut state = self.lock();
        let account = state.account_of(caller).ok_or_else(Refused::unknown)?;
        let only_for = account.row.only_for.clone();
        if state.left.contains_key(&name) {
            return Ok(None);
        }
        if !state.joiners.contains_key(&name) {
            if state.joiners.len() >= JOINERS {
                return Err(Refused(
                    503,
                    format!("there are already {JOINERS} joiners, the maximum a service accepts"),
                ));
            }
            let joiner = Joiner {
                threads: report.threads,
                only_for,
                job: None,
                since: now(),
                waiting: 0,
                heard: Instant::now(),
                idle_since: Some(Instant::now()),
                dismissed: false,
                crashes: BTreeMap::new(),
            };
            state.joiners.insert(name.clone(), joiner);
            drop(state);
            self.audit(&name, &format!("joined with {}", threads(report.threads)));
            self.wake.notify_one();
            state = self.lock();
        }
        if let Some(joiner) = state.joiners.get_mut(&name) {
            joiner.waiting += 1;
            joiner.threads = report.threads;
        }
        Ok(Some(name))
    }

    /// Takes a report of a joiner that is answered at once: it leaves, or its search crashed.
    pub(super) fn report(
        &self,
        caller: &Caller,
        report: JoinerReport,
    ) -> Result<Assignments, Refused> {
        if caller.role != Role::Joiner {
            return Err(Refused(403, "expected the credentials of a joiner".into()));
        }
        let name = full_name(caller, &report);
        if report.leaving {
            let mut state = self.lock();
            // Its last request for orders may arrive later.
            if state.left.len() < JOINERS {
                state.left.insert(name.clone(), Instant::now());
            }
            let was_listed = state.joiners.remove(&name).is_some();
            drop(state);
            if was_listed {
                self.audit(&name, "left");
                self.wake.notify_one();
            }
        }
        if let Some((order, error)) = report.crashed {
            self.count_crash(&name, &order, &error);
        }
        Ok(Assignments::default())
    }

    /// A joiner's search crashed. A job that crashes several joiners is set aside. One joiner may be at fault itself: if
    /// it crashes repeatedly, it no longer serves the job.
    fn count_crash(&self, name: &str, order: &Assignment, error: &str) {
        let mut guard = self.lock();
        let state = &mut *guard;
        let (Some(job), Some(joiner)) =
            (state.jobs.get_mut(&order.job), state.joiners.get_mut(name))
        else {
            return;
        };
        // A joiner did not crash if it lost its root because the root ended. Only joiners that were
        // sent to a root know its key.
        let same =
            |root: &Root| root.run == order.run && root.key == order.key && root.stop.is_none();
        if !job.root.as_ref().is_some_and(same) {
            return;
        }
        // A crash long ago had another cause.
        job.crashed.retain(|_, at| at.elapsed() < STEADY);
        joiner.crashes.retain(|_, (_, at)| at.elapsed() < STEADY);
        job.view.crashes = if job.crashed.is_empty() { 1 } else { job.view.crashes + 1 };
        job.crashed.insert(name.into(), Instant::now());
        let times = joiner.crashes.get(&order.job).map_or(0, |(times, _)| *times);
        joiner.crashes.insert(order.job, (times + 1, Instant::now()));
        let error: String = error.chars().filter(|c| !c.is_control()).take(400).collect();
        let text = format!("job {} crashed: {error}", order.job);
        if job.crashed.len() >= CRASHES as usize {
            job.view.error = Some(format!("set aside after crashes of {CRASHES} joiners: {error}"));
            job.view.state = JobState::Failed;
            job.stop(StopReason::SetAside);
        }
        state.unsaved.insert(order.job);
        drop(guard);
        self.audit(name, &text);
        self.announce();
    }

    /// The joiners.
    pub(super) fn joiner_views(&self) -> Vec<JoinerView> {
        let state = self.lock();
        let view = |(name, joiner): (&String, &Joiner)| JoinerView {
            name: name.clone(),
            threads: joiner.threads,
            only_for: joiner.only_for.clone(),
            job: joiner.job,
            since: joiner.since,
        };
        state.joiners.iter().map(view).collect()
    }
}

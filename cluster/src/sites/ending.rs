//! The end of a search by several sites: the root's outcome, and what each site did.

use super::gateway_thread::GatewayResult;
use super::message::SessionMessage;
use super::session::{Incoming, Session};
use super::site_run::SiteRun;
use super::totals::SiteTotals;
use pleach_core::lease::ProgressReport;
use pleach_core::lease::gateway::Portion;
use pleach_core::search::tree::Counts;
use pleach_runtime::check::check_solution;
use pleach_runtime::control::Stop;
use pleach_runtime::driver::WorkerResult;
use pleach_runtime::error::RunError;
use pleach_runtime::gather::{complete_outcome, sum_workers};
use pleach_runtime::outcome::Watcher;
use pleach_runtime::outcome::{Balance, Outcome, SiteEnd, SiteReport, WorkerReport};
use pleach_runtime::watch::last_warnings;
use std::time::{Duration, Instant};

/// How long the root waits for the totals of other sites, if these may have died.
const ACCOUNTS: Duration = Duration::from_secs(3);

impl SiteRun<'_> {
    /// The outcome: at the root, of the whole search; elsewhere, of this site's part.
    pub fn gather_outcome(
        &self,
        session: &mut Session,
        (gateway_result, left): (GatewayResult, Vec<WorkerResult>),
        lag_ns: u64,
        watch: &mut Watcher<'_>,
    ) -> Result<Outcome, RunError> {
        let SiteRun { problem, run_state, .. } = *self;
        let mut outcome =
            Outcome { stop: gateway_result.stop, ..sum_workers(problem, run_state, left) };
        outcome.balance.add(gateway_result.balance);
        outcome.counts.add(&gateway_result.counts);
        match gateway_result.whole {
            None => {
                let totals = SiteTotals {
                    host: pleach_runtime::host(),
                    workers: outcome.workers.clone(),
                    balance: outcome.balance.clone(),
                    commits: gateway_result.commits,
                    lag_ns,
                    wasted: gateway_result.wasted,
                };
                session.send(0, &SessionMessage::SiteTotals(totals));
                outcome.seconds = run_state.seconds();
            }
            Some(whole) => {
                self.complete_outcome(&mut outcome, &whole);
                check_solution(problem, outcome.solution.as_ref())?;
                self.save_outcome(&outcome, &whole);
                // A process that joins now waits for the next search.
                session.end_search();
                outcome.seconds = run_state.seconds();
                self.hear_accounts(session);
                self.add_site_reports(&mut outcome, gateway_result.commits);
            }
        }
        last_warnings(problem, run_state, outcome.lower_bound, watch);
        Ok(outcome)
    }

    /// Completes the outcome from the whole: counts, bound, and whether work is left.
    fn complete_outcome(&self, outcome: &mut Outcome, whole: &Portion<Counts>) {
        outcome.counts = whole.done.clone();
        outcome.open = whole.size();
        let bounds = whole.open.iter().map(|piece| piece.least_bound);
        let least = bounds.min().unwrap_or(i64::MAX);
        complete_outcome(self.run_state, outcome, least);
    }

    fn save_outcome(&self, outcome: &Outcome, whole: &Portion<Counts>) {
        let Some(saver) = self.run_state.saver() else { return };
        let stopped = outcome.stop.is_some_and(|why| why != Stop::Found);
        let open = if stopped {
            whole.clone()
        } else {
            Portion { done: whole.done.clone(), open: vec![] }
        };
        let whole = ProgressReport::of(open);
        let saved = saver.write_whole(&whole, self.run_state.control());
        if let Some(warning) = saver.note_at_end(saved) {
            self.run_state.warn(warning);
        }
    }

    /// Receives the totals of the other sites.
    fn hear_accounts(&self, session: &mut Session) {
        let (others, start) = (self.others, Instant::now());
        while others.awaits_totals() && (!self.cluster.is_open() || start.elapsed() < ACCOUNTS) {
            let incoming = match session.next_incoming() {
                Ok(incoming) => incoming,
                // As below: everything was counted.
                Err(why) => return self.run_state.warn(why.to_string()),
            };
            match incoming {
                Some(Incoming::Message(from, SessionMessage::SiteTotals(totals))) => {
                    others.record_totals(from, totals);
                }
                // The failure comes too late to matter: everything was counted.
                Some(Incoming::Message(site, SessionMessage::Failed(why))) => {
                    self.run_state.warn(format!("site {site}: {why}"));
                    others.record_loss(site, self.run_state.now_ns());
                }
                Some(Incoming::Invalid(site)) => {
                    if others.record_no_totals(site) {
                        self.run_state.warn(format!("invalid message from site {site}"));
                    }
                }
                Some(Incoming::Lost(site)) => others.record_loss(site, self.run_state.now_ns()),
                // It failed before it took part. One that has sent its totals has stayed to the end.
                Some(Incoming::Left(site)) if others.awaits_totals_of(site) => {
                    others.record_loss(site, self.run_state.now_ns());
                }
                Some(Incoming::Note(line)) => self.run_state.warn(line),
                Some(_) => {}
                None => self.cluster.wait_for_arrival(session, Duration::from_millis(10)),
            }
        }
    }

    /// What each site did, with its workers.
    fn add_site_reports(&self, outcome: &mut Outcome, commits: u64) {
        let before = self.run_state.before.counted().unwrap_or_default().bounded;
        let counted = outcome.counts.bounded.saturating_sub(before);
        let mut workers = std::mem::take(&mut outcome.workers);
        let name =
            |site: &str, worker: &mut WorkerReport| worker.name = format!("{site}/{}", worker.name);
        let root = SiteReport {
            name: "site0".into(),
            host: pleach_runtime::host(),
            workers: (0..workers.len()).collect(),
            commits,
            ..SiteReport::default()
        };
        workers.iter_mut().for_each(|worker| name(&root.name, worker));
        let mut sites = vec![root];
        let mut explored = sum(workers.iter().map(|worker| worker.counts.bounded));
        for (mut report, totals, seen) in self.others.reports() {
            let account_came = totals.is_some();
            let totals = totals.unwrap_or_default();
            let first = workers.len();
            for mut worker in totals.workers {
                name(&report.name, &mut worker);
                workers.push(worker);
            }
            report.workers = (first..workers.len()).collect();
            let of_workers = workers[first..].iter().map(|worker| worker.counts.bounded);
            let unaccounted = if account_came { 0 } else { seen.bounded };
            explored = sum([explored, unaccounted].into_iter().chain(of_workers));
            report.redone = totals.wasted;
            outcome.balance.add(Balance { ending_ns: 0, ..totals.balance });
            sites.push(report);
        }
        // Surplus nodes that no site reported as dropped were wasted by the lost sites.
        let dropped = sum(sites.iter().map(|site| site.redone));
        let lost: Vec<&mut SiteReport> =
            sites.iter_mut().filter(|site| site.end == Some(SiteEnd::Lost)).collect();
        let rest = explored.saturating_sub(counted).saturating_sub(dropped);
        let each = rest / sum(lost.iter().map(|site| site.processes())).max(1);
        for site in lost {
            site.redone = site.redone.saturating_add(each.saturating_mul(site.processes()));
        }
        (outcome.workers, outcome.sites) = (workers, sites);
    }
}

/// A sum of numbers that sites report, which may be any.
fn sum(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, u64::saturating_add)
}

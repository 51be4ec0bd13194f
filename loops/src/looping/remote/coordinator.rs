//! [`LoopCoordinator`]: the root's side of a loop that several processes share: hands out ranges and collects results.

use super::super::loop_queue::{LoopQueue, UnitsOf};
use super::assignments::in_pieces;
use super::lent_ranges::ReturnedRange;
use super::message::{LoopMessage, What, WorkerCount};
use super::orders::{INVALID, exclude, is_excluded, pack_results, send_end, send_message};
use super::process::RemoteProcess;
use crate::looping::contract::{RemoteLoop, ResultPlacement};
use crate::looping::report::Part;
use pleach_cluster::Cluster;
use pleach_cluster::sites::loop_sequence::LoopSequence;
use pleach_cluster::sites::message::SessionMessage;
use pleach_cluster::sites::other_sites::site_name;
use pleach_cluster::sites::session::{Incoming, Session};
use pleach_runtime::error::RunError;
use pleach_runtime::outcome::{SiteEnd, SiteReport};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};

/// The root's side of a loop that several processes share.
pub(super) struct LoopCoordinator<'a> {
    pub share: &'a LoopQueue<'a>,
    pub work: &'a dyn RemoteLoop,
    pub cluster: &'a Cluster,
    /// The units of the loop for rows of the queue.
    pub units: UnitsOf<'a>,
    /// The number of units.
    pub all: u64,
    /// The taker that stands for site 0, if it had one.
    pub first: usize,
    pub start: Instant,
}

/// What other processes did.
#[derive(Debug, Default)]
pub(in super::super) struct RemoteResult {
    pub parts: Vec<Part>,
    pub sites: Vec<SiteReport>,
    pub warnings: Vec<String>,
    /// Whether the loop ran to its end, as reported to all.
    pub complete: Option<bool>,
}

/// Ranges in flight per process: while it does one, the next one waits there.
const UNDER_WAY: usize = 2;
/// The maximum pause between two checks of all processes.
const POLL_EVERY: Duration = Duration::from_millis(20);
/// How long the root waits for others to report what they did.
const ACCOUNTS: Duration = Duration::from_secs(3);

impl LoopCoordinator<'_> {
    /// Shares the loop with all processes that are ready for it until it ends.
    pub fn run(&self) -> Result<RemoteResult, RunError> {
        let (mut session, mut sequence) = (self.cluster.session(), self.cluster.sequence());
        let mut loop_run = LoopRun {
            coordinator: self,
            at: sequence.at,
            over: false,
            session: &mut session,
            sequence: &mut sequence,
            processes: BTreeMap::new(),
            gone: Vec::new(),
            number: 0,
            checked: Instant::now(),
            warnings: Vec::new(),
        };
        loop_run.run_to_end()
    }
}

/// A loop in progress.
struct LoopRun<'a> {
    coordinator: &'a LoopCoordinator<'a>,
    session: &'a mut Session,
    sequence: &'a mut LoopSequence,
    /// The number of this loop's step, and whether it is over.
    at: u32,
    over: bool,
    processes: BTreeMap<u32, RemoteProcess>,
    /// Processes whose places others have taken.
    gone: Vec<(u32, RemoteProcess)>,
    /// The number of the last range handed out.
    number: u32,
    /// When the root last checked whether others are silent.
    checked: Instant,
    warnings: Vec<String>,
}

impl LoopRun<'_> {
    fn run_to_end(&mut self) -> Result<RemoteResult, RunError> {
        for (site, word) in std::mem::take(&mut self.sequence.early) {
            if let Ok(LoopMessage { at: of, what: What::Ready(workers) }) =
                LoopMessage::from_bytes(&word)
            {
                self.ready(site, (of, workers))?;
            }
        }
        while !self.coordinator.share.end_if_idle() {
            self.handle_incoming()?;
            self.hand_out_ranges();
            self.drop_silent();
            self.coordinator.cluster.wait_for_arrival(self.session, POLL_EVERY);
        }
        self.announce_end();
        let (ended_at, complete) = (Instant::now(), self.coordinator.share.missing() == 0);
        let owes = |process: &RemoteProcess| complete && process.there && process.reports.is_none();
        while self.processes.values().any(owes) && ended_at.elapsed() < ACCOUNTS {
            self.handle_incoming()?;
            self.coordinator.cluster.wait_for_arrival(self.session, POLL_EVERY);
        }
        Ok(self.report(ended_at))
    }

    /// The taker that stands for a process.
    fn taker(&self, site: u32) -> usize {
        self.coordinator.first + site as usize
    }

    fn handle_incoming(&mut self) -> Result<(), RunError> {
        while let Some(incoming) = self.session.next_incoming()? {
            match incoming {
                Incoming::Message(site, SessionMessage::Loop(bytes)) => {
                    match LoopMessage::from_bytes(&bytes) {
                        Ok(word) => self.handle_message(site, word, bytes)?,
                        Err(why) => self.expel(site, &why.to_string())?,
                    }
                }
                Incoming::Message(site, SessionMessage::Failed(why)) => self.expel(site, &why)?,
                Incoming::Lost(site) | Incoming::Left(site) => {
                    self.remove_process(site, SiteEnd::Lost)
                }
                Incoming::Invalid(site) => self.expel(site, INVALID)?,
                Incoming::Note(line) => self.warnings.push(line),
                Incoming::End => return Err(RunError::Lost("the network was shut down".into())),
                Incoming::Message(..)
                | Incoming::Joined(_)
                | Incoming::TakenOver(_)
                | Incoming::Nothing => {}
            }
        }
        self.record_results();
        Ok(())
    }

    fn handle_message(
        &mut self,
        site: u32,
        word: LoopMessage,
        bytes: Vec<u8>,
    ) -> Result<(), RunError> {
        let now = self.at;
        if is_excluded(self.session, self.sequence, site) {
            return Ok(());
        }
        if let Some(process) = self.processes.get_mut(&site) {
            process.last_message = Instant::now();
        }
        match word.what {
            What::Ready(_) if word.at > now => {
                self.sequence.early.retain(|(other, _)| *other != site);
                self.sequence.early.push((site, bytes));
            }
            What::Ready(workers) => self.ready(site, (word.at, workers))?,
            What::Results { number, rows, bytes } if word.at == now && !self.over => {
                self.store_results(site, (number, rows), &bytes)?;
            }
            What::WorkerReports(reports) if word.at == now => {
                if let Some(process) = self.processes.get_mut(&site) {
                    process.reports = Some(reports);
                }
            }
            What::Heard => self.sequence.record_informed(site, word.at),
            What::Leave if word.at == now => {
                self.sequence.record_informed(site, now);
                self.remove_process(site, SiteEnd::Left);
            }
            _ => {}
        }
        Ok(())
    }

    /// A process is ready for a step.
    fn ready(&mut self, site: u32, (at, workers): (u32, WorkerCount)) -> Result<(), RunError> {
        if at < self.at || self.over {
            send_end(self.session, self.sequence, site, (at, &workers));
            return Ok(());
        }
        if self.processes.get(&site).is_some_and(|process| process.there) {
            return self.expel(site, "it reported twice that it was ready");
        }
        if workers.units != self.coordinator.all {
            let WorkerCount { units, .. } = workers;
            let all = self.coordinator.all;
            let why = format!("its loop has {units} units, the root's has {all}");
            return self.expel(site, &why);
        }
        let process = RemoteProcess::new(workers, self.coordinator.share.whole());
        self.record_results();
        let before = self.processes.insert(site, process);
        self.gone.extend(before.map(|process| (site, process)));
        self.coordinator.share.record_joined(self.taker(site));
        Ok(())
    }

    /// Excludes a process that failed or sent an invalid message. If all live and die together, that ends the run.
    fn expel(&mut self, site: u32, why: &str) -> Result<(), RunError> {
        let cluster = self.coordinator.cluster;
        if let Some(warning) = exclude(cluster, self.session, self.sequence, site, why)? {
            self.warnings.push(warning);
            self.remove_process(site, SiteEnd::Lost);
        }
        Ok(())
    }

    /// Stores results.
    fn store_results(
        &mut self,
        site: u32,
        (number, rows): (u32, Range<u32>),
        bytes: &[u8],
    ) -> Result<(), RunError> {
        let Some(process) = self.processes.get_mut(&site) else { return Ok(()) };
        match process.lent.expects(number, &rows) {
            ReturnedRange::Late => return Ok(()),
            ReturnedRange::Wrong => return self.expel(site, "it sent results of other units"),
            ReturnedRange::Good => {}
        }
        let LoopCoordinator { work, units, .. } = *self.coordinator;
        if let Err(why) = work.unpack_all(units(&rows), bytes) {
            return self.expel(site, &format!("its results cannot be read: {why}"));
        }
        process.did.ranges += u64::from(process.lent.add_results(number, &rows));
        process.new.push(rows);
        Ok(())
    }

    /// Records all results that arrived since the last call. Results that arrive together share the time equally.
    fn record_results(&mut self) {
        let LoopCoordinator { share, units, first, .. } = *self.coordinator;
        for (&site, process) in
            self.processes.iter_mut().filter(|(_, process)| !process.new.is_empty())
        {
            let took = process.since.elapsed();
            process.since = Instant::now();
            let new = std::mem::take(&mut process.new);
            let cost: f64 = new.iter().map(|rows| share.cost(rows)).sum();
            process.did.busy_ns += took.as_nanos() as u64;
            process.did.cost += cost;
            process.last = cost;
            for rows in new {
                process.did.units += units(&rows).len() as u64;
                let part = if cost > 0.0 { share.cost(&rows) / cost } else { 0.0 };
                share.record_done(first + site as usize, &rows, part * took.as_nanos() as f64);
            }
        }
    }

    /// Excludes a process: others do its ranges.
    fn remove_process(&mut self, site: u32, end: SiteEnd) {
        self.record_results();
        self.sequence.early.retain(|(other, _)| *other != site);
        let Some(process) = self.processes.get_mut(&site) else { return };
        if self.over {
            // It has done its part.
            process.there = false;
            return;
        }
        if process.takes && end == SiteEnd::Lost {
            self.warnings.push(format!("site {site} is lost: others do its part"));
        }
        process.there = false;
        process.end.get_or_insert((end, Instant::now()));
        self.take_back(site);
    }

    fn take_back(&mut self, site: u32) {
        let LoopCoordinator { share, units, first, .. } = *self.coordinator;
        let Some(process) = self.processes.get_mut(&site) else { return };
        if !std::mem::take(&mut process.takes) {
            return;
        }
        let rows = process.lent.take_back();
        process.redone += rows.iter().map(|rows| units(rows).len() as u64).sum::<u64>();
        share.requeue_ranges(first + site as usize, rows);
        if !std::mem::replace(&mut process.rests, true) {
            share.record_idle();
        }
    }

    /// Hands out ranges.
    fn hand_out_ranges(&mut self) {
        let LoopCoordinator { share, first, .. } = *self.coordinator;
        let mut gone = Vec::new();
        for (&site, process) in self.processes.iter_mut().filter(|(_, process)| process.takes) {
            let taker = first + site as usize;
            while process.lent.count() < UNDER_WAY {
                let rows = if process.rests {
                    share.first_range(taker)
                } else {
                    share.try_next(taker, process.last)
                };
                let Some(rows) = rows else { break };
                process.rests = false;
                if process.lent.count() == 0 {
                    process.since = Instant::now();
                }
                self.number += 1;
                process.lent.insert(self.number, rows.clone());
                share.record_start(taker, &rows);
                if !send_message(
                    self.session,
                    site,
                    self.at,
                    What::Run { number: self.number, rows },
                ) {
                    gone.push(site);
                    break;
                }
            }
            if process.lent.count() == 0 && !process.rests {
                process.rests = true;
                share.record_idle();
            }
        }
        gone.into_iter().for_each(|site| self.remove_process(site, SiteEnd::Lost));
    }

    /// Looks for silent processes: not even a part of a long message has arrived. They may live, and their results may
    /// come late, so they get nothing more of this loop.
    fn drop_silent(&mut self) {
        let lease = Duration::from_nanos(self.coordinator.cluster.terms().lease_ns);
        // Time during which this process was suspended does not count as silence of others.
        let now = Instant::now();
        let still = now.duration_since(self.checked).saturating_sub(lease / 4);
        self.checked = now;
        for process in self.processes.values_mut() {
            process.last_message = (process.last_message + still).min(now);
        }
        while let Some(site) = self.session.arriving() {
            if let Some(process) = self.processes.get_mut(&site) {
                process.last_message = Instant::now();
            }
        }
        let silent = |process: &RemoteProcess| {
            process.takes && process.lent.count() > 0 && process.last_message.elapsed() > lease
        };
        let silent: Vec<u32> = self
            .processes
            .iter()
            .filter(|(_, process)| silent(process))
            .map(|(site, _)| *site)
            .collect();
        for site in silent {
            self.warnings.push(format!("site {site} is silent: others do its part"));
            self.take_back(site);
        }
    }

    /// Reports to all that the loop is over, with the results if all need them.
    fn announce_end(&mut self) {
        let LoopCoordinator { share, work, units, .. } = *self.coordinator;
        let (at, complete) = (self.at, share.missing() == 0);
        self.over = true;
        let mut results = Vec::new();
        if complete && work.result_placement() == ResultPlacement::All {
            in_pieces(work, 0..share.rows(), units, |rows, bytes| {
                results.push(pack_results(self.session, at, (rows, bytes)));
            });
        }
        self.sequence.end_step(complete, results);
        for (&site, process) in self.processes.iter().filter(|(_, process)| process.there) {
            send_end(self.session, self.sequence, site, (at, &process.workers));
        }
    }

    fn report(&mut self, end: Instant) -> RemoteResult {
        let LoopCoordinator { share, start, .. } = *self.coordinator;
        let complete = self.sequence.past.last().map(|(complete, _)| *complete);
        let warnings = std::mem::take(&mut self.warnings);
        let mut remote_result = RemoteResult { warnings, complete, ..RemoteResult::default() };
        let mut seen: Vec<u32> = Vec::new();
        let here = self.processes.iter().map(|(site, process)| (*site, process));
        for (site, process) in self.gone.iter().map(|(site, process)| (*site, process)).chain(here)
        {
            let nth = seen.iter().filter(|&&other| other == site).count();
            seen.push(site);
            let name = site_name(site, nth);
            remote_result.parts.extend(process.parts(&name, share.whole(), end - start));
            remote_result.sites.push(process.site(name, start));
        }
        remote_result
    }
}

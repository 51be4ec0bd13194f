//! [`Ferry`]: the root's side of a loop that several processes share: it hands out ranges, and takes in results.

use super::super::share::{LoopQueue, UnitsOf};
use super::errands::in_pieces;
use super::guest::Guest;
use super::loans::{Loans, ReturnedRange};
use super::orders::{say, tell};
use super::word::{Crowd, What, Word};
use crate::error::RunError;
use crate::looping::report::{LoopSite, Part};
use crate::outcome::Parting;
use crate::sites::Cluster;
use crate::sites::loop_sequence::LoopSequence;
use crate::sites::message::SessionMessage;
use crate::sites::other_sites::site_name;
use crate::sites::session::{Heard, Session};
use pleach_core::looping::{Kept, LoopAfar};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};

/// The root's side of a loop that several processes share.
pub(super) struct Ferry<'a> {
    pub share: &'a LoopQueue<'a>,
    pub work: &'a dyn LoopAfar,
    pub cluster: &'a Cluster,
    /// The units of the loop that rows stand for.
    pub units: UnitsOf<'a>,
    /// All units.
    pub all: u64,
    /// The taker that stands for site 0, if it had one.
    pub first: usize,
    pub start: Instant,
}

/// What other processes did.
#[derive(Debug, Default)]
pub(in super::super) struct Ferried {
    pub parts: Vec<Part>,
    pub sites: Vec<LoopSite>,
    pub warnings: Vec<String>,
    /// Whether the loop has come to its end, as all were told.
    pub complete: Option<bool>,
}

/// Ranges under way to a process and back: while it does one, the next one waits for it.
const UNDER_WAY: usize = 2;
/// The longest rest between two looks at all processes.
const LOOK: Duration = Duration::from_millis(20);
/// How long the root waits for others to tell what they did.
const ACCOUNTS: Duration = Duration::from_secs(3);

impl Ferry<'_> {
    /// Shares the loop with all processes that are ready for it, until it is over.
    pub fn keep(&self) -> Result<Ferried, RunError> {
        let (mut session, mut sequence) = (self.cluster.session(), self.cluster.sequence());
        let mut voyage = Voyage {
            ferry: self,
            at: sequence.at,
            over: false,
            session: &mut session,
            sequence: &mut sequence,
            guests: BTreeMap::new(),
            gone: Vec::new(),
            number: 0,
            warnings: Vec::new(),
        };
        voyage.go()
    }
}

/// A loop under way.
struct Voyage<'a> {
    ferry: &'a Ferry<'a>,
    session: &'a mut Session,
    sequence: &'a mut LoopSequence,
    /// The step that this loop is, and whether it is over.
    at: u32,
    over: bool,
    guests: BTreeMap<u32, Guest>,
    /// Those whose places others have now.
    gone: Vec<(u32, Guest)>,
    /// The number of the last range that was handed out.
    number: u32,
    warnings: Vec<String>,
}

impl Voyage<'_> {
    fn go(&mut self) -> Result<Ferried, RunError> {
        for (site, word) in std::mem::take(&mut self.sequence.early) {
            if let Ok(Word { at: of, what: What::Ready(crowd) }) = Word::from_bytes(&word) {
                self.ready(site, (of, crowd))?;
            }
        }
        while !self.ferry.share.close() {
            self.listen()?;
            self.feed();
            self.look();
            self.ferry.cluster.rest(self.session, LOOK);
        }
        self.end();
        let (told, complete) = (Instant::now(), self.ferry.share.missing() == 0);
        let owes = |guest: &Guest| complete && guest.there && guest.deeds.is_none();
        while self.guests.values().any(owes) && told.elapsed() < ACCOUNTS {
            self.listen()?;
            self.ferry.cluster.rest(self.session, LOOK);
        }
        Ok(self.report(told))
    }

    /// The taker that stands for a site.
    fn taker(&self, site: u32) -> usize {
        self.ferry.first + site as usize
    }

    fn listen(&mut self) -> Result<(), RunError> {
        while let Some(heard) = self.session.hear()? {
            match heard {
                Heard::SessionMessage(site, SessionMessage::Loop(bytes)) => {
                    match Word::from_bytes(&bytes) {
                        Ok(word) => self.take(site, word, bytes)?,
                        Err(why) => self.wrong(site, &why.to_string())?,
                    }
                }
                Heard::SessionMessage(site, SessionMessage::Failed(why)) => {
                    self.wrong(site, &why)?
                }
                Heard::Lost(site) | Heard::Left(site) => self.lose(site, Parting::Lost),
                // Somebody else has its place now.
                Heard::Joined(site) => drop(self.sequence.barred.remove(&site)),
                Heard::Invalid(site) => {
                    self.warnings.push(format!("invalid message from site {site}"));
                }
                Heard::Note(line) => self.warnings.push(line),
                Heard::End => return Err(RunError::Lost("the network has ended".into())),
                Heard::SessionMessage(..) | Heard::Nothing => {}
            }
        }
        self.settle();
        Ok(())
    }

    fn take(&mut self, site: u32, word: Word, bytes: Vec<u8>) -> Result<(), RunError> {
        let now = self.at;
        if self.sequence.barred.contains(&site) {
            return Ok(());
        }
        if let Some(guest) = self.guests.get_mut(&site) {
            guest.heard = Instant::now();
        }
        match word.what {
            What::Ready(_) if word.at > now => {
                self.sequence.early.retain(|(other, _)| *other != site);
                self.sequence.early.push((site, bytes));
            }
            What::Ready(crowd) => self.ready(site, (word.at, crowd))?,
            What::Results { number, rows, bytes } if word.at == now && !self.over => {
                self.keep(site, (number, rows), &bytes)?;
            }
            What::Did(deeds) if word.at == now => {
                if let Some(guest) = self.guests.get_mut(&site) {
                    guest.deeds = Some(deeds);
                }
            }
            What::Heard => self.sequence.hears(site, word.at),
            What::Leave if word.at == now => {
                self.sequence.hears(site, now);
                self.lose(site, Parting::Left);
            }
            _ => {}
        }
        Ok(())
    }

    /// A process is ready for a step.
    fn ready(&mut self, site: u32, (at, crowd): (u32, Crowd)) -> Result<(), RunError> {
        if at < self.at || self.over {
            tell(self.session, self.sequence, site, (at, &crowd));
            return Ok(());
        }
        if self.guests.get(&site).is_some_and(|guest| guest.there) {
            return self.wrong(site, "it was ready twice");
        }
        if crowd.units != self.ferry.all {
            let Crowd { units, .. } = crowd;
            let all = self.ferry.all;
            let why = format!("its loop has {units} units, and the root's {all}");
            return self.wrong(site, &why);
        }
        let stays = self.ferry.work.kept() == Kept::Apart;
        let loans = if stays { Loans::that_stay() } else { Loans::default() };
        let guest = Guest::new(crowd, loans, self.ferry.share.whole());
        self.settle();
        let before = self.guests.insert(site, guest);
        self.gone.extend(before.map(|guest| (site, guest)));
        self.ferry.share.come(self.taker(site));
        Ok(())
    }

    /// A process has failed, or has said what makes no sense. Where all live and die together, that is the end.
    fn wrong(&mut self, site: u32, why: &str) -> Result<(), RunError> {
        if !self.ferry.cluster.is_open() {
            return Err(RunError::Site { site, why: why.into() });
        }
        self.warnings.push(format!("site {site} takes no further part: {why}"));
        self.sequence.barred.insert(site);
        self.lose(site, Parting::Lost);
        Ok(())
    }

    /// Keeps results.
    fn keep(
        &mut self,
        site: u32,
        (number, rows): (u32, Range<u32>),
        bytes: &[u8],
    ) -> Result<(), RunError> {
        let Some(guest) = self.guests.get_mut(&site) else { return Ok(()) };
        match guest.loans.expects(number, &rows) {
            ReturnedRange::Late => return Ok(()),
            ReturnedRange::Wrong => return self.wrong(site, "results of other units came"),
            ReturnedRange::Good => {}
        }
        let Ferry { work, units, .. } = *self.ferry;
        if let Err(why) = work.unpack(units(&rows), bytes) {
            return self.wrong(site, &format!("its results cannot be read: {why}"));
        }
        guest.did.ranges += u64::from(guest.loans.came(number, &rows));
        guest.new.push(rows);
        Ok(())
    }

    /// Notes all results that have come since this was done last. What came together took the same time together.
    fn settle(&mut self) {
        let Ferry { share, units, first, .. } = *self.ferry;
        for (&site, guest) in self.guests.iter_mut().filter(|(_, guest)| !guest.new.is_empty()) {
            let took = guest.since.elapsed();
            guest.since = Instant::now();
            let new = std::mem::take(&mut guest.new);
            let cost: f64 = new.iter().map(|rows| share.cost(rows)).sum();
            guest.did.busy += took;
            guest.did.cost += cost;
            guest.last = cost;
            for rows in new {
                guest.did.units += units(&rows).len() as u64;
                let part = if cost > 0.0 { share.cost(&rows) / cost } else { 0.0 };
                share.note(first + site as usize, &rows, part * took.as_nanos() as f64);
            }
        }
    }

    /// A process takes no further part: others do what it had.
    fn lose(&mut self, site: u32, end: Parting) {
        self.settle();
        self.sequence.early.retain(|(other, _)| *other != site);
        let Some(guest) = self.guests.get_mut(&site) else { return };
        if self.over {
            // It has done its part.
            guest.there = false;
            return;
        }
        if guest.takes && end == Parting::Lost {
            self.warnings.push(format!("site {site} is lost: others do what it had"));
        }
        guest.there = false;
        guest.end.get_or_insert((end, Instant::now()));
        self.take_back(site);
    }

    fn take_back(&mut self, site: u32) {
        let Ferry { share, units, first, .. } = *self.ferry;
        let Some(guest) = self.guests.get_mut(&site) else { return };
        if !std::mem::take(&mut guest.takes) {
            return;
        }
        let (rows, undone) = guest.loans.take_back();
        guest.redone += rows.iter().map(|rows| units(rows).len() as u64).sum::<u64>();
        share.undo(undone);
        share.miss(first + site as usize, rows);
        if !std::mem::replace(&mut guest.rests, true) {
            share.rest();
        }
    }

    /// Hands out ranges.
    fn feed(&mut self) {
        let Ferry { share, first, .. } = *self.ferry;
        let mut gone = Vec::new();
        for (&site, guest) in self.guests.iter_mut().filter(|(_, guest)| guest.takes) {
            let taker = first + site as usize;
            while guest.loans.count() < UNDER_WAY {
                let rows = if guest.rests {
                    share.begin(taker)
                } else {
                    share.try_next(taker, guest.last)
                };
                let Some(rows) = rows else { break };
                guest.rests = false;
                if guest.loans.count() == 0 {
                    guest.since = Instant::now();
                }
                self.number += 1;
                guest.loans.lend(self.number, rows.clone());
                share.hold(taker, &rows);
                if !say(self.session, site, self.at, What::Run { number: self.number, rows }) {
                    gone.push(site);
                    break;
                }
            }
            if guest.loans.count() == 0 && !guest.rests {
                guest.rests = true;
                share.rest();
            }
        }
        gone.into_iter().for_each(|site| self.lose(site, Parting::Lost));
    }

    /// Looks for processes that say nothing any more. They may live, and their results may come late; so they are
    /// given nothing more of this loop.
    fn look(&mut self) {
        let lease = Duration::from_nanos(self.ferry.cluster.terms().lease_ns);
        if self.ferry.work.kept() == Kept::Apart {
            // What it has done would be done twice.
            return;
        }
        let silent =
            |guest: &Guest| guest.takes && guest.loans.count() > 0 && guest.heard.elapsed() > lease;
        let silent: Vec<u32> =
            self.guests.iter().filter(|(_, guest)| silent(guest)).map(|(site, _)| *site).collect();
        for site in silent {
            self.warnings.push(format!("site {site} says nothing: others do what it had"));
            self.take_back(site);
        }
    }

    /// The loop is over: all are told, with the results if all need them.
    fn end(&mut self) {
        let Ferry { share, work, units, .. } = *self.ferry;
        let (at, complete) = (self.at, share.missing() == 0);
        self.over = true;
        let mut results = Vec::new();
        if complete && work.kept() == Kept::All {
            in_pieces(work, 0..share.rows(), units, |rows, bytes| {
                results.push((rows, bytes.into()))
            });
        }
        self.sequence.step(complete, results);
        for (&site, guest) in self.guests.iter().filter(|(_, guest)| guest.there) {
            tell(self.session, self.sequence, site, (at, &guest.crowd));
        }
    }

    fn report(&mut self, end: Instant) -> Ferried {
        let Ferry { share, start, .. } = *self.ferry;
        let complete = self.sequence.past.last().map(|(complete, _)| *complete);
        let warnings = std::mem::take(&mut self.warnings);
        let mut ferried = Ferried { warnings, complete, ..Ferried::default() };
        let mut seen: Vec<u32> = Vec::new();
        let here = self.guests.iter().map(|(site, guest)| (*site, guest));
        for (site, guest) in self.gone.iter().map(|(site, guest)| (*site, guest)).chain(here) {
            let nth = seen.iter().filter(|&&other| other == site).count();
            seen.push(site);
            let name = site_name(site, nth);
            ferried.parts.extend(guest.parts(&name, share.whole(), end - start));
            ferried.sites.push(guest.site(name, start));
        }
        ferried
    }
}

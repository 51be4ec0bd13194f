//! [`Mpi`]: a network of all processes that a launcher started.

use super::calls::Calls;
use super::dialect::Dialect;
use super::library::OpenLibrary;
use super::link::RankLink;
use super::message::{CHUNK, InboxEvent, PartFault, PartKind};
use crate::rest::Rest;
use crate::{Arrival, Members, NetError, Network, Rank};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The maximum number of messages taken in one poll.
const TAKEN: usize = 8;

/// All processes of a job, over MPI.
pub struct Mpi<D: Dialect> {
    calls: Calls<D>,
    name: String,
    me: Rank,
    /// The links by site.
    links: Vec<RankLink<D>>,
    /// The sites to which something is being sent, and from which something is being received; each once.
    sends: Vec<Rank>,
    receives: Vec<Rank>,
    /// The sites that have died.
    dead: Vec<Rank>,
    /// The number of sites that have not announced their end.
    talking: u32,
    ready: VecDeque<Arrival>,
    /// Spare memory for parts of long messages.
    spare: Vec<Vec<u8>>,
    rest: Rest,
    /// The longest message allowed.
    limit: usize,
    failed: Option<NetError>,
    finished: bool,
    over: bool,
}

/// Initializes the library. `None` if there is only one process.
pub fn network<D: Dialect>(
    opened: &OpenLibrary,
    limit: usize,
) -> Result<Option<Box<dyn Network>>, NetError> {
    let calls = Calls::<D>::initialize(opened)?;
    let (me, sites) = calls.rank_and_size()?;
    if let Some(launched) = opened.launched.filter(|&launched| launched != sites) {
        let library = opened.version.clone();
        return Err(NetError::OtherLauncher { launched, seen: sites, library });
    }
    if sites == 1 {
        calls.finalize()?;
        return Ok(None);
    }
    Ok(Some(Box::new(Mpi {
        calls,
        name: format!("MPI ({})", opened.version),
        me,
        links: (0..sites).map(|_| RankLink::default()).collect(),
        sends: Vec::new(),
        receives: Vec::new(),
        dead: Vec::new(),
        talking: sites - 1,
        ready: VecDeque::new(),
        spare: Vec::new(),
        rest: Rest::new(Instant::now()),
        limit,
        failed: None,
        finished: false,
        over: false,
    })))
}

impl<D: Dialect> Mpi<D> {
    fn post(&mut self, to: Rank, bytes: Vec<u8>) -> Result<(), NetError> {
        NetError::check_message((to, self.sites()), self.finished, (bytes.len(), self.limit))?;
        if to == self.me {
            self.ready.push_back(Arrival::Message { from: to, bytes });
            return Ok(());
        }
        if self.dead.contains(&to) {
            return Ok(());
        }
        self.links[to as usize].outbox.push(bytes);
        self.start(to)
    }

    /// Hands waiting messages for a site to the library, as far as possible.
    fn start(&mut self, to: Rank) -> Result<(), NetError> {
        self.rest.wake(Instant::now());
        if !self.sends.contains(&to) {
            self.sends.push(to);
        }
        self.push_to(to)?;
        Ok(())
    }

    fn push_to(&mut self, to: Rank) -> Result<bool, NetError> {
        let pushed = self.links[to as usize].push(&self.calls, to);
        self.or_lose(to, pushed)
    }

    /// Checks the result of an operation on a site's link: the site is lost if it has died.
    fn or_lose(&mut self, site: Rank, result: Result<bool, NetError>) -> Result<bool, NetError> {
        if result != Err(NetError::Died) {
            return result;
        }
        self.on_site_lost(site);
        Ok(true)
    }

    /// Handles the death of a site. Its transfers under way stay with the library.
    fn on_site_lost(&mut self, site: Rank) {
        if self.dead.contains(&site) {
            return;
        }
        self.dead.push(site);
        let link = std::mem::take(&mut self.links[site as usize]);
        // After announcing its end, it may leave at any time.
        if !link.inbox.is_ended() {
            self.talking -= 1;
            self.ready.push_back(Arrival::Lost(site));
        }
    }

    fn advance(&mut self) -> Result<(), NetError> {
        let mut moved = self.push()?;
        if self.ready.is_empty() {
            moved |= self.pull()?;
            moved |= self.find()?;
        }
        if moved {
            self.rest.wake(Instant::now());
        }
        let silent = self.talking == 0 && self.sends.is_empty() && self.ready.is_empty();
        if self.finished && silent {
            self.over = true;
            // With dead processes, finalizing would block.
            if self.dead.is_empty() {
                self.calls.finalize()?;
            }
            self.ready.push_back(Arrival::End);
        }
        Ok(())
    }

    fn push(&mut self) -> Result<bool, NetError> {
        let (mut moved, mut i) = (false, 0);
        while let Some(&to) = self.sends.get(i) {
            moved |= self.push_to(to)?;
            if self.links[to as usize].sends() {
                i += 1;
            } else {
                self.sends.swap_remove(i);
            }
        }
        Ok(moved)
    }

    /// Takes messages that were matched before and have arrived since.
    fn pull(&mut self) -> Result<bool, NetError> {
        let (mut moved, mut i) = (false, 0);
        while let Some(&from) = self.receives.get(i) {
            let collected = self.collect(from);
            moved |= self.or_lose(from, collected)?;
            if self.links[from as usize].receives() {
                i += 1;
            } else {
                self.receives.swap_remove(i);
            }
        }
        Ok(moved)
    }

    /// Matches new messages, and takes those that are complete.
    fn find(&mut self) -> Result<bool, NetError> {
        for taken in 0..TAKEN {
            let found = match self.calls.probe() {
                Err(NetError::Died) => {
                    let before = self.dead.len();
                    let dead = self.calls.dead_ranks()?.into_iter();
                    dead.flat_map(Rank::try_from).for_each(|site| self.on_site_lost(site));
                    return Ok(self.dead.len() > before);
                }
                found => found?,
            };
            let Some(found) = found else { return Ok(taken > 0) };
            let from = Rank::try_from(found.from).unwrap_or(Rank::MAX);
            let garbled = |what| NetError::Garbled { from, what };
            if self.dead.contains(&from) {
                continue;
            }
            if from >= self.sites() {
                return Err(garbled("a message from an unknown rank"));
            }
            let kind =
                PartKind::from_tag(found.tag).ok_or(garbled("a message with an unknown tag"))?;
            if found.length > CHUNK {
                return Err(garbled("a message of an invalid length"));
            }
            let spare = if kind == PartKind::Part { self.spare.pop() } else { None };
            let received = self.calls.receive(found, spare.unwrap_or_default());
            let collected = received.and_then(|received| {
                self.links[from as usize].expect(kind, received);
                self.collect(from)
            });
            self.or_lose(from, collected)?;
            if self.links[from as usize].receives() && !self.receives.contains(&from) {
                self.receives.push(from);
            }
        }
        Ok(true)
    }

    /// Takes messages that have arrived from a site.
    fn collect(&mut self, from: Rank) -> Result<bool, NetError> {
        let (link, mut moved) = (&mut self.links[from as usize], false);
        while let Some((kind, bytes)) = link.pull(&self.calls)? {
            moved = true;
            match link.inbox.accept_part(kind, bytes, self.limit) {
                Ok(InboxEvent::Part(memory))
                    if kind == PartKind::Part && self.spare.len() < TAKEN =>
                {
                    self.spare.push(memory);
                }
                Ok(InboxEvent::Part(_)) => {}
                Ok(InboxEvent::Message(bytes)) => {
                    self.ready.push_back(Arrival::Message { from, bytes });
                }
                Ok(InboxEvent::End) => self.talking -= 1,
                Err(PartFault::TooLong(bytes)) => {
                    return Err(NetError::too_long(bytes, self.limit));
                }
                Err(PartFault::Garbled(what)) => return Err(NetError::Garbled { from, what }),
            }
        }
        Ok(moved)
    }

    /// Remembers the first failure.
    fn record_failure(&mut self, result: Result<(), NetError>) {
        if let Err(error) = result {
            self.failed.get_or_insert(error);
        }
    }
}

impl<D: Dialect> Network for Mpi<D> {
    fn me(&self) -> Rank {
        self.me
    }

    fn sites(&self) -> u32 {
        self.links.len() as u32
    }

    fn members(&self) -> Members {
        if self.calls.survives_deaths() { Members::Mortal } else { Members::Fixed }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn send(&mut self, to: Rank, bytes: Vec<u8>) {
        if self.failed.is_none() {
            let posted = self.post(to, bytes);
            self.record_failure(posted);
        }
    }

    fn poll(&mut self) -> Result<Option<Arrival>, NetError> {
        if self.failed.is_none() && !self.over {
            let advanced = self.advance();
            self.record_failure(advanced);
        }
        match &self.failed {
            Some(error) => Err(error.clone()),
            None => Ok(self.ready.pop_front()),
        }
    }

    fn rest(&self) -> Option<Duration> {
        let now = Instant::now();
        Some(if self.ready.is_empty() { self.rest.at(now) } else { Duration::ZERO })
    }

    fn finish(&mut self) {
        if self.finished || self.failed.is_some() {
            return;
        }
        self.finished = true;
        let me = self.me;
        let lives = |to: &Rank| *to != me && !self.dead.contains(to);
        for to in (0..self.sites()).filter(lives).collect::<Vec<_>>() {
            self.links[to as usize].outbox.push_end();
            let started = self.start(to);
            self.record_failure(started);
        }
    }

    fn abort(&mut self, code: i32) {
        if !self.over {
            self.calls.abort(code);
        }
    }
}

impl<D: Dialect> Drop for Mpi<D> {
    /// Ends the job after a panic: the others would wait for this site forever.
    fn drop(&mut self) {
        if std::thread::panicking() && !self.over {
            self.calls.abort(101);
        }
    }
}

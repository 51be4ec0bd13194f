//! [`Session`]: a network that carries messages about searches, and its members.

use super::join_ticket::{JoinRequest, JoinTicket, SEARCH_OVER};
use super::message::{Order, SessionMessage};
use super::place::{Place, former_place, free_place, other_standby};
use super::reconnect::{Admission, OfflineNetwork};
use crate::{Arrival, Caller, Entrance, Members, Network};
use pleach_core::lease::SiteId;
use pleach_core::search::work::Pack;
use pleach_runtime::error::RunError;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The maximum number of messages of a site other than the root about later searches that are kept.
const EARLY: usize = 1000;
/// The longest of them, in bytes. Most are requests.
const LONGEST_EARLY: usize = 1 << 20;

/// An arrival from the network.
pub enum Incoming {
    /// A message about the search under way.
    Message(SiteId, SessionMessage),
    /// A process has taken a place.
    Joined(SiteId),
    /// A process became unreachable.
    Lost(SiteId),
    /// A process has left for good.
    Left(SiteId),
    /// A process has sent an invalid message.
    Invalid(SiteId),
    /// A line for the user.
    Note(String),
    /// Another process has taken this root's place, and listens here, if known.
    TakenOver(Option<String>),
    /// The network has ended.
    End,
    /// Nothing of interest.
    Nothing,
}

/// A network that carries messages about searches, and its members.
pub struct Session {
    network: Box<dyn Network>,
    entrance: Option<Box<dyn Entrance>>,
    /// The number of the search under way, or of the last one.
    search: u64,
    all: Vec<Place>,
    /// The tokens of processes that were excluded.
    barred: Vec<u64>,
    /// Messages about searches that have not begun here yet.
    early: VecDeque<(SiteId, u64, SessionMessage)>,
    /// The welcome for newcomers, while a search is under way.
    welcome: Option<Arc<[u8]>>,
    /// The number of the search in each newcomer's welcome.
    announced_to: HashMap<SiteId, u64>,
    /// Join requests that wait for a search to begin.
    callers: Vec<JoinRequest>,
    /// Lines for the user.
    notes: VecDeque<String>,
    /// At the root: the run under way and its term, and whether searches are saved.
    run: (u64, u32),
    saved: bool,
    /// Whether another process has taken this root's place, and where it listens, if it says so.
    taken_over: Option<Option<String>>,
    /// The search in which this site takes part, and when its order came.
    order: Option<(Order, Instant)>,
    dismissed: bool,
    finished: bool,
}

impl Session {
    /// A session over a network.
    pub fn new(network: Box<dyn Network>, entrance: Option<Box<dyn Entrance>>) -> Self {
        let (me, places) = (network.me(), network.sites());
        let all = network.members() != Members::Changing;
        let place = |site| {
            let there = all || site == 0 || site == me;
            Place { there, given: there, ..Place::default() }
        };
        Self {
            network,
            entrance,
            search: 0,
            all: (0..places).map(place).collect(),
            barred: Vec::new(),
            early: VecDeque::new(),
            welcome: None,
            announced_to: HashMap::new(),
            callers: Vec::new(),
            notes: VecDeque::new(),
            run: (0, 0),
            saved: false,
            taken_over: None,
            order: None,
            dismissed: false,
            finished: false,
        }
    }

    /// This site.
    pub fn me(&self) -> SiteId {
        self.network.me()
    }

    /// The message of a site that has lost the root, with the reason if it is known.
    pub fn root_loss(&mut self) -> String {
        let reason = self.network.loss_reason().map_or(String::new(), |why| format!(": {why}"));
        format!("the connection to the root is lost{reason}")
    }

    /// Disconnects from the lost root, and so from all others.
    pub fn disconnect(&mut self) {
        self.network = Box::new(OfflineNetwork { me: self.me(), places: self.places() });
        // Searches that it has announced will not take place.
        self.early.clear();
        self.all.iter_mut().for_each(|place| place.there = false);
    }

    /// Continues in a rejoined network.
    pub fn come_back(&mut self, (network, welcome): Admission) -> Result<(), RunError> {
        *self = Self::new(network, None);
        self.apply_welcome(&welcome)
    }

    /// The root's order, if this site, which had this number in the run of an earlier order, can continue with its
    /// work.
    pub fn continues(&mut self, me: SiteId, begun: &Order) -> Option<Order> {
        let again = self.early.front().and_then(|(_, search, message)| match message {
            SessionMessage::Begin(order) if order.continues(begun) => {
                Some((*search, order.clone()))
            }
            _ => None,
        });
        let (search, order) = again.filter(|_| me == self.me())?;
        self.early.pop_front();
        self.search = search;
        Some(order)
    }

    /// Makes the search under way begin again here with this order.
    pub fn announce(&mut self, order: Order) {
        self.early.push_front((0, self.search, SessionMessage::Begin(order)));
        self.search = self.search.saturating_sub(1);
    }

    /// Excludes a site, if possible.
    pub fn expel(&mut self, site: SiteId, reason: &str) -> bool {
        if let Some(entrance) = &mut self.entrance {
            entrance.expel(site, reason);
            self.barred.extend(self.all.get(site as usize).and_then(|place| place.token));
            self.set_present(site, false);
        }
        self.entrance.is_some()
    }

    /// The number of places for sites.
    pub fn places(&self) -> u32 {
        self.all.len() as u32
    }

    /// Whether a site is present.
    pub fn is_there(&self, site: SiteId) -> bool {
        self.all.get(site as usize).is_some_and(|place| place.there)
    }

    /// The other sites that are present.
    pub fn others(&self) -> Vec<SiteId> {
        let me = self.network.me();
        (0..self.places()).filter(|&site| site != me && self.is_there(site)).collect()
    }

    /// The machine of a site, if known.
    pub fn host_of(&self, site: SiteId) -> &str {
        self.all.get(site as usize).map_or("", |place| &place.host)
    }

    /// Whether the process at a place had it before, and has come back.
    pub fn is_back(&self, site: SiteId) -> bool {
        self.all.get(site as usize).is_some_and(|place| place.again)
    }

    /// Sends a site a message about the search under way. Returns whether the site is present.
    pub fn send(&mut self, to: SiteId, message: &SessionMessage) -> bool {
        let there = self.is_there(to) && !self.finished;
        if there {
            self.network.send(to, message.to_bytes(self.search));
        }
        there
    }

    /// Packs a message about the search under way that several sites get.
    pub fn pack_shared(&self, message: &SessionMessage) -> Arc<[u8]> {
        message.to_bytes(self.search).into()
    }

    /// Sends a site such a message.
    pub fn send_shared(&mut self, to: SiteId, message: &Arc<[u8]>) {
        if self.is_there(to) && !self.finished {
            self.network.send_shared(to, message);
        }
    }

    /// Sends a message to all others.
    pub fn send_all(&mut self, message: &SessionMessage) {
        for to in self.others() {
            self.send(to, message);
        }
    }

    /// The number of processes that wait for a search to begin, at the root.
    pub fn callers(&self) -> usize {
        self.callers.len()
    }

    /// Whether a process that was admitted has not arrived yet.
    pub fn awaits_arrivals(&self) -> bool {
        self.all.iter().any(|place| place.given && !place.there)
    }

    /// The site that takes the root's place if the root is gone, and where others reach it then.
    pub fn standby(&self) -> Option<(SiteId, &str)> {
        let mut places = (0..).zip(&self.all).filter(|(_, place)| place.there);
        places.find_map(|(site, place)| Some((site, place.standby.as_deref()?)))
    }

    /// Notes that the searches of this root are saved, so that a standby can copy them.
    pub fn allow_standby(&mut self) {
        self.saved = true;
    }

    /// Notes that a site leaves for good, and no longer stands by.
    pub fn forget_standby(&mut self, site: SiteId) {
        if let Some(place) = self.all.get_mut(site as usize) {
            place.standby = None;
        }
    }

    /// Begins a search, at the root.
    pub fn begin_search(&mut self, order: Order) {
        self.search += 1;
        (self.run, self.taken_over) = ((order.run, order.term), None);
        let message = SessionMessage::Begin(order);
        self.send_all(&message);
        self.welcome = Some(message.to_bytes(self.search).into());
        self.look_at_the_entrance();
    }

    /// Ends a search, at the root: newcomers wait for the next one.
    pub fn end_search(&mut self) {
        self.welcome = None;
    }

    /// Takes the welcome that this newcomer received.
    pub fn apply_welcome(&mut self, bytes: &[u8]) -> Result<(), RunError> {
        let (search, message) = SessionMessage::from_bytes(bytes)?;
        self.early.push_back((0, search, message));
        Ok(())
    }

    /// The position of the root's next order among the early messages.
    fn announced(&self) -> Option<usize> {
        self.early.iter().position(|(_, search, message)| {
            *search > self.search && matches!(message, SessionMessage::Begin(_))
        })
    }

    /// The next search that was announced; `Some(None)` if no search follows.
    pub fn next_order(&mut self) -> Option<Option<Order>> {
        if let Some(at) = self.announced() {
            let (_, search, message) = self.early.remove(at)?;
            self.search = search;
            self.early.retain(|(_, about, _)| *about >= search);
            if let SessionMessage::Begin(order) = message {
                self.order = Some((order.clone(), Instant::now()));
                return Some(Some(order));
            }
        }
        self.dismissed.then_some(None)
    }

    /// Whether the root has ended the search under way, or begun another one.
    pub fn is_past(&self) -> bool {
        self.dismissed || self.announced().is_some()
    }

    /// Notes that the root has ended in an orderly way.
    pub fn note_end(&mut self) {
        self.dismissed = true;
    }

    /// Whether the root has ended in an orderly way.
    pub fn is_dismissed(&self) -> bool {
        self.dismissed
    }

    /// Takes the search in which this site takes part now, and when its order came.
    pub fn take_order(&mut self) -> Option<(Order, Instant)> {
        self.order.take()
    }

    /// The next arrival from the network, if there is one.
    pub fn next_incoming(&mut self) -> Result<Option<Incoming>, RunError> {
        let now = self.early.iter().position(|(_, search, message)| {
            *search == self.search && !matches!(message, SessionMessage::Begin(_))
        });
        if let Some((from, _, message)) = now.and_then(|at| self.early.remove(at)) {
            return Ok(Some(Incoming::Message(from, message)));
        }
        self.look_at_the_entrance();
        if let Some(note) = self.notes.pop_front() {
            return Ok(Some(Incoming::Note(note)));
        }
        if let Some(address) = self.taken_over.take() {
            return Ok(Some(Incoming::TakenOver(address)));
        }
        let Some(arrival) = self.network.poll()? else { return Ok(None) };
        Ok(Some(match arrival {
            Arrival::Message { from, bytes } => self.read_message(from, &bytes),
            Arrival::Joined { site, .. } => {
                self.set_present(site, true);
                self.bring_up_to_date(site);
                Incoming::Joined(site)
            }
            Arrival::Lost(site) => {
                self.set_present(site, false);
                Incoming::Lost(site)
            }
            Arrival::End => Incoming::End,
        }))
    }

    /// A site that is present, and of which a part of a long message has arrived since the last call.
    pub fn arriving(&mut self) -> Option<SiteId> {
        while let Some(site) = self.network.arriving() {
            if self.is_there(site) {
                return Some(site);
            }
        }
        None
    }

    /// Informs a joiner of the current search if its welcome was about one that is over. If no search follows, nothing
    /// can be sent any more, and the joiner is cut off. If it asks again, it learns whether it took part.
    fn bring_up_to_date(&mut self, site: SiteId) {
        if self.network.me() != 0 {
            return;
        }
        if self.finished {
            self.entrance.iter_mut().for_each(|entrance| entrance.expel(site, SEARCH_OVER));
            self.set_present(site, false);
        } else if self.announced_to.get(&site) != Some(&self.search)
            && let Some(welcome) = self.welcome.as_deref().map(<[u8]>::to_vec)
        {
            self.network.send(site, welcome);
        }
    }

    fn set_present(&mut self, site: SiteId, there: bool) {
        if let Some(place) = self.all.get_mut(site as usize) {
            (place.there, place.given) = (there, there);
            place.left = if there { None } else { place.left.or_else(|| Some(Instant::now())) };
        }
    }

    fn read_message(&mut self, from: SiteId, bytes: &[u8]) -> Incoming {
        match SessionMessage::from_bytes(bytes) {
            // Only the root gives orders.
            Ok((
                _,
                SessionMessage::Begin(_)
                | SessionMessage::Dismissed
                | SessionMessage::Standby(_)
                | SessionMessage::Copy(_),
            )) if from != 0 => Incoming::Invalid(from),
            Ok((_, SessionMessage::Dismissed)) => {
                self.dismissed = true;
                Incoming::Nothing
            }
            // Whichever search the sender knows of.
            Ok((_, SessionMessage::Left)) if self.network.me() == 0 => {
                self.set_present(from, false);
                Incoming::Left(from)
            }
            // No site knows of a search before the root does.
            Ok((search, message)) if search > self.search && self.network.me() != 0 => {
                let kept = || self.early.iter().filter(|(sender, ..)| *sender == from).count();
                if from != 0 && (bytes.len() > LONGEST_EARLY || kept() >= EARLY) {
                    return Incoming::Nothing;
                }
                self.early.push_back((from, search, message));
                Incoming::Nothing
            }
            Ok((search, message)) if search == self.search => Incoming::Message(from, message),
            Ok(_) => Incoming::Nothing,
            Err(_) => Incoming::Invalid(from),
        }
    }

    /// Handles callers at the entrance. All requests are read before one is admitted: since the last call, processes
    /// may have withdrawn theirs.
    fn look_at_the_entrance(&mut self) {
        let mut requests = std::mem::take(&mut self.callers);
        while let Some(caller) = self.entrance.as_mut().and_then(|entrance| entrance.next()) {
            match caller {
                Caller::JoinRequest { number, host, bytes } => match JoinTicket::unpacked(&bytes) {
                    Ok(ticket) => requests.push(JoinRequest { number, host, ticket }),
                    Err(why) => self.refuse(number, &format!("invalid join request: {why}")),
                },
                Caller::Withdrawn { number } => requests.retain(|it| it.number != number),
                Caller::Note(note) => self.notes.push_back(note),
            }
        }
        requests.into_iter().for_each(|request| self.admit(request));
    }

    fn postpone(&mut self, number: u32, reason: &str) {
        if let Some(entrance) = &mut self.entrance {
            entrance.postpone(number, reason);
        }
    }

    fn refuse(&mut self, number: u32, reason: &str) {
        if let Some(entrance) = &mut self.entrance {
            entrance.refuse(number, reason);
        }
    }

    /// Gives a caller its former place or another one, or makes it wait for a search to begin.
    fn admit(&mut self, request: JoinRequest) {
        if self.barred.contains(&request.ticket.token) {
            return self.refuse(request.number, "it was excluded");
        }
        if self.finished {
            let JoinRequest { number, ticket, .. } = request;
            let had_place = self.all.iter().any(|place| place.token == Some(ticket.token));
            return self.refuse(number, ticket.late_refusal(had_place, self.run));
        }
        let newer = |(run, term)| run == self.run.0 && term > self.run.1;
        if request.ticket.search.is_some_and(newer) {
            let address = request.ticket.standby.clone().filter(|_| request.ticket.succeeds);
            self.taken_over = Some(address);
        }
        if self.taken_over.is_some() || request.ticket.succeeds {
            // A joiner that has come back to the wrong root tries the other one.
            return self.postpone(request.number, "another process has taken over this search");
        }
        let Some(welcome) = self.welcome.clone() else { return self.callers.push(request) };
        let JoinRequest { number, host, ticket } = request;
        if let Some(why) = self.refuses_standby(&ticket) {
            return self.refuse(number, &why);
        }
        let place = former_place(&self.all, &ticket).map(|place| (place, true));
        let place = place.or_else(|| free_place(&self.all).map(|place| (place, false)));
        let Some(entrance) = &mut self.entrance else { return };
        match place {
            Some((site, again)) => {
                let place = &mut self.all[site as usize];
                let (there, token, standby) = (place.there, Some(ticket.token), ticket.standby);
                *place = Place { there, given: true, token, left: None, host, again, standby };
                self.announced_to.insert(site, self.search);
                entrance.admit(number, site, welcome);
            }
            None => entrance.postpone(number, "all places are taken"),
        }
    }

    /// Why a process cannot be the standby, if it wants to be.
    fn refuses_standby(&self, ticket: &JoinTicket) -> Option<String> {
        ticket.standby.as_ref()?;
        if !self.saved {
            return Some("there is nothing to copy: the root needs --checkpoint FILE".into());
        }
        let other = other_standby(&self.all, ticket);
        other.map(|other| format!("site {other} is already the standby"))
    }

    /// How long to rest before the next poll of the network; `None`: until it wakes this process.
    pub fn rest(&self) -> Option<Duration> {
        self.network.rest()
    }

    /// Announces that this site sends no more.
    pub fn finish(&mut self) {
        self.finished = true;
        // Refuses all that wait.
        self.look_at_the_entrance();
        self.network.finish();
    }

    /// Ends the network at once.
    pub fn abort(&mut self, code: i32) {
        self.network.abort(code);
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;

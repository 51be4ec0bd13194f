//! [`Link`]: a network that carries parcels, and who is there.

use super::adrift::{Adrift, Entered};
use super::parcel::{Order, Parcel};
use crate::error::RunError;
use pleach_net::{Arrival, Caller, Entrance, Members, Network, SiteId};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a site says that has lost the root.
pub(crate) const ROOT_LOST: &str = "the connection to the root is lost";

/// What a network has brought.
pub(crate) enum Heard {
    /// About the search under way.
    Parcel(SiteId, Parcel),
    Joined(SiteId),
    Lost(SiteId),
    /// A line for the user.
    Note(String),
    End,
    /// Nothing that matters now.
    Nothing,
}

/// Somebody at the entrance.
struct Knock {
    number: u32,
    host: String,
    /// The place that it had before it lost the root.
    was: Option<SiteId>,
}

/// A network that carries parcels, and who is there.
pub(crate) struct Link {
    network: Box<dyn Network>,
    entrance: Option<Box<dyn Entrance>>,
    /// The number of the search under way, or of the last one.
    search: u64,
    /// Whether there is somebody at each place.
    there: Vec<bool>,
    /// Whether each place was given to somebody, who may not be there yet.
    given: Vec<bool>,
    /// The machine at each place, as far as is known.
    hosts: Vec<String>,
    /// Whether whoever was let in last at each place had it before.
    again: Vec<bool>,
    /// Parcels about searches that have not begun here.
    early: VecDeque<(SiteId, u64, Parcel)>,
    /// What newcomers are told of the search under way.
    welcome: Option<Arc<[u8]>>,
    /// The search that each newcomer was told of.
    told: HashMap<SiteId, u64>,
    /// Callers that wait for a search to begin.
    callers: Vec<Knock>,
    /// The search that this site is to take part in, and when it heard of it.
    order: Option<(Order, Instant)>,
    dismissed: bool,
    finished: bool,
}

impl Link {
    pub fn new(network: Box<dyn Network>, entrance: Option<Box<dyn Entrance>>) -> Self {
        let (me, places) = (network.me(), network.sites());
        let all = network.members() != Members::Changing;
        let there: Vec<bool> = (0..places).map(|site| all || site == 0 || site == me).collect();
        Self {
            network,
            entrance,
            search: 0,
            given: there.clone(),
            there,
            hosts: vec![String::new(); places as usize],
            again: vec![false; places as usize],
            early: VecDeque::new(),
            welcome: None,
            told: HashMap::new(),
            callers: Vec::new(),
            order: None,
            dismissed: false,
            finished: false,
        }
    }

    pub fn me(&self) -> SiteId {
        self.network.me()
    }

    /// The root is lost, and with it all others.
    pub fn drift(&mut self) {
        self.network = Box::new(Adrift { me: self.me(), places: self.places() });
        self.there.fill(false);
    }

    /// Goes on in a network that it has entered again.
    pub fn come_back(&mut self, (network, welcome): Entered) -> Result<(), RunError> {
        *self = Self::new(network, None);
        self.welcomed(&welcome)
    }

    /// Whether a site that was at a place before, in a run that this order began, can continue with what it has.
    pub fn continues(&mut self, me: SiteId, begun: &Order) -> bool {
        let again = self.early.front().and_then(|(_, search, parcel)| match parcel {
            Parcel::Begin(order) if order.continues(begun) => Some(*search),
            _ => None,
        });
        let Some(search) = again.filter(|_| me == self.me()) else { return false };
        self.early.pop_front();
        self.search = search;
        true
    }

    /// How many places there are for sites.
    pub fn places(&self) -> u32 {
        self.there.len() as u32
    }

    /// Whether somebody is at a place.
    pub fn is_there(&self, site: SiteId) -> bool {
        self.there.get(site as usize).copied().unwrap_or_default()
    }

    /// The other sites that are there.
    pub fn others(&self) -> Vec<SiteId> {
        let me = self.network.me();
        (0..self.places()).filter(|&site| site != me && self.is_there(site)).collect()
    }

    /// The machine that a site is on, as far as is known.
    pub fn host_of(&self, site: SiteId) -> &str {
        self.hosts.get(site as usize).map_or("", String::as_str)
    }

    /// Whether the site at a place had it before, and lost the root.
    pub fn is_back(&self, site: SiteId) -> bool {
        self.again.get(site as usize).copied().unwrap_or_default()
    }

    /// Sends to a site about the search under way. Returns whether anybody is there.
    pub fn send(&mut self, to: SiteId, parcel: &Parcel) -> bool {
        let there = self.is_there(to) && !self.finished;
        if there {
            self.network.send(to, parcel.to_bytes(self.search));
        }
        there
    }

    /// Sends to all others.
    pub fn send_all(&mut self, parcel: &Parcel) {
        for to in self.others() {
            self.send(to, parcel);
        }
    }

    /// The root begins a search.
    pub fn begin(&mut self, order: Order) {
        self.search += 1;
        let parcel = Parcel::Begin(order);
        self.send_all(&parcel);
        self.welcome = Some(parcel.to_bytes(self.search).into());
        for knock in std::mem::take(&mut self.callers) {
            self.let_in(knock);
        }
    }

    /// The root ends a search: newcomers wait for the next one.
    pub fn pause(&mut self) {
        self.welcome = None;
    }

    /// Takes what a newcomer was told at the entrance.
    pub fn welcomed(&mut self, bytes: &[u8]) -> Result<(), RunError> {
        let (search, parcel) = Parcel::from_bytes(bytes)?;
        self.early.push_back((0, search, parcel));
        Ok(())
    }

    /// Where the root's next order lies among what came early.
    fn announced(&self) -> Option<usize> {
        self.early.iter().position(|(_, search, parcel)| {
            *search > self.search && matches!(parcel, Parcel::Begin(_))
        })
    }

    /// The next search that has been announced; inside, `None` if there will be none.
    pub fn next_order(&mut self) -> Option<Option<Order>> {
        if let Some(at) = self.announced() {
            let (_, search, parcel) = self.early.remove(at)?;
            self.search = search;
            self.early.retain(|(_, about, _)| *about >= search);
            if let Parcel::Begin(order) = parcel {
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

    /// The search that this site is to take part in now, and when it heard of it.
    pub fn take_order(&mut self) -> Option<(Order, Instant)> {
        self.order.take()
    }

    /// What the network has brought, if it has brought anything.
    pub fn hear(&mut self) -> Result<Option<Heard>, RunError> {
        let now = self.early.iter().position(|(_, search, parcel)| {
            *search == self.search && !matches!(parcel, Parcel::Begin(_))
        });
        if let Some((from, _, parcel)) = now.and_then(|at| self.early.remove(at)) {
            return Ok(Some(Heard::Parcel(from, parcel)));
        }
        if let Some(note) = self.look_at_the_entrance() {
            return Ok(Some(Heard::Note(note)));
        }
        let Some(arrival) = self.network.poll()? else { return Ok(None) };
        Ok(Some(match arrival {
            Arrival::Letter { from, bytes } => self.read(from, &bytes),
            Arrival::Joined { site, .. } => {
                self.set(site, true);
                self.bring_up_to_date(site);
                Heard::Joined(site)
            }
            Arrival::Lost(site) => {
                self.set(site, false);
                Heard::Lost(site)
            }
            Arrival::End => Heard::End,
        }))
    }

    /// Whoever was let in may have been told of a search that is over.
    fn bring_up_to_date(&mut self, site: SiteId) {
        if self.network.me() != 0 || self.told.get(&site) == Some(&self.search) {
            return;
        }
        if let Some(welcome) = self.welcome.as_deref().map(<[u8]>::to_vec) {
            self.network.send(site, welcome);
        } else if self.finished {
            self.network.send(site, Parcel::Dismissed.to_bytes(self.search));
        }
    }

    fn set(&mut self, site: SiteId, there: bool) {
        for places in [&mut self.there, &mut self.given] {
            if let Some(place) = places.get_mut(site as usize) {
                *place = there;
            }
        }
    }

    fn read(&mut self, from: SiteId, bytes: &[u8]) -> Heard {
        match Parcel::from_bytes(bytes) {
            // Only the root gives orders.
            Ok((_, Parcel::Begin(_) | Parcel::Dismissed)) if from != 0 => {
                Heard::Note(format!("site {from} gave an order that only the root may give"))
            }
            Ok((_, Parcel::Dismissed)) => {
                self.dismissed = true;
                Heard::Nothing
            }
            // Whatever search it knew of.
            Ok((_, Parcel::Left)) if self.network.me() == 0 => {
                self.set(from, false);
                Heard::Lost(from)
            }
            // Nobody knows of a search before the root does.
            Ok((search, parcel)) if search > self.search && self.network.me() != 0 => {
                self.early.push_back((from, search, parcel));
                Heard::Nothing
            }
            Ok((search, parcel)) if search == self.search => Heard::Parcel(from, parcel),
            Ok(_) => Heard::Nothing,
            Err(why) => Heard::Note(format!("site {from} sent what no site sends: {why}")),
        }
    }

    /// Lets callers in. Returns a line for the user if there is one.
    fn look_at_the_entrance(&mut self) -> Option<String> {
        while let Some(caller) = self.entrance.as_mut().and_then(|entrance| entrance.next()) {
            match caller {
                Caller::Knock { number, host, bytes } => {
                    let was = bytes.try_into().map(SiteId::from_le_bytes).ok();
                    self.let_in(Knock { number, host, was });
                }
                Caller::Note(note) => return Some(note),
            }
        }
        None
    }

    /// Gives a caller the place that it had, or the first free one, or has it wait for a search to begin.
    fn let_in(&mut self, knock: Knock) {
        let Some(entrance) = &mut self.entrance else { return };
        if self.finished {
            return entrance.refuse(knock.number, "the search is over");
        }
        let Some(welcome) = &self.welcome else { return self.callers.push(knock) };
        let Knock { number, host, was } = knock;
        let free = |&place: &usize| self.given.get(place) == Some(&false);
        let was = was.map(|site| site as usize).filter(free);
        match was.or_else(|| self.given.iter().position(|given| !given)) {
            Some(place) => {
                entrance.admit(number, place as SiteId, Arc::clone(welcome));
                self.told.insert(place as SiteId, self.search);
                self.hosts[place] = host;
                self.again[place] = was == Some(place);
                self.given[place] = true;
            }
            None => entrance.refuse(number, "all places are taken"),
        }
    }

    /// How long there is nothing to do for the network; `None`: until it wakes this process.
    pub fn rest(&self) -> Option<Duration> {
        self.network.rest()
    }

    pub fn finish(&mut self) {
        self.finished = true;
        for Knock { number, .. } in std::mem::take(&mut self.callers) {
            if let Some(entrance) = &mut self.entrance {
                entrance.refuse(number, "the search is over");
            }
        }
        self.network.finish();
    }

    pub fn abort(&mut self, code: i32) {
        self.network.abort(code);
    }
}

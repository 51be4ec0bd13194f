//! A tiny room of peers with countable work: one state of the protocol, and the moves out of it.

use super::cuts::Cuts;
use super::pile::{Pile, Strip, Tally};
use crate::balance::{
    Action, Chooser, Event, Lineage, Message, Peer, PeerId, Policy, Source, Ticket,
};
use std::collections::{BTreeMap, VecDeque};

/// A message under way, with the units of work that travel beside it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Letter<P> {
    message: Message,
    units: P,
}

impl<P> Letter<P> {
    fn is_answer(&self) -> bool {
        matches!(self.message, Message::Refuse | Message::Ack { .. })
    }
}

/// A room whose units are all alike.
pub(super) type Heaps = Room<u8>;
/// A room whose units have numbers, so that it matters who does which.
pub(super) type Strips = Room<Strip>;

/// Everything that the future of a run depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Room<P> {
    pub peers: Vec<Peer>,
    /// Units of work in each peer's hands.
    units: Vec<P>,
    /// Units done, by anyone.
    done: Tally,
    total: u8,
    /// One queue for each ordered pair of peers.
    links: Vec<VecDeque<Letter<P>>>,
    /// Peers that asked to be woken.
    resting: Vec<bool>,
    /// Peers that asked since anything changed: once refused, they rest until something does.
    tried: Vec<bool>,
    /// Peers that have heard whether they have work.
    started: Vec<bool>,
    /// Pieces that the givers still keep, with their units.
    kept: BTreeMap<Ticket, P>,
    /// The counter that all peers share.
    count: usize,
    /// The snapshot under way.
    pub cuts: Cuts,
    finished: u8,
    /// Refusals and receipts arrive before anything else happens.
    ///
    /// Nothing is overlooked by that: one who waits for a refusal does nothing else meanwhile but
    /// refuse others and pass waves on, and one who waits for a receipt only sends no report, so
    /// that the same states come out whichever of the two is first.
    pub eager: bool,
    /// Takes what is said to be left for what is still to be done, as a faulty driver would.
    #[cfg(test)]
    pub believes: bool,
}

/// One thing that can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    Step(usize),
    Deliver(usize),
    Wake(usize),
    Snapshot,
}

/// Plays back one choice, and notes how many there were.
#[derive(Default)]
pub(super) struct Scripted {
    pub choice: u32,
    pub options: u32,
}

impl Chooser for Scripted {
    fn choose(&mut self, n: u32) -> u32 {
        self.options = n;
        self.choice
    }
}

impl<P: Pile> Room<P> {
    /// A room in which peer 0 holds all units and nothing has happened yet.
    pub fn new(peers: u32, units: u8, policy: Policy) -> Self {
        let mut held = vec![P::default(); peers as usize];
        held[0] = P::whole(units);
        Self::spread(held, policy, 0)
    }

    /// A room in which each peer holds so many units, as after a resume; a tree that grows by chance is
    /// drawn from the seed.
    pub fn spread(units: Vec<P>, policy: Policy, seed: u64) -> Self {
        let n = units.len();
        let peers = n as u32;
        let lineage = Lineage::new(peers, &policy, seed);
        Self {
            peers: (0..peers).map(|me| Peer::new(me, &lineage, policy.clone())).collect(),
            total: units.iter().map(P::len).sum(),
            units,
            done: Tally::default(),
            links: vec![VecDeque::new(); n * n],
            resting: vec![false; n],
            tried: vec![false; n],
            started: vec![false; n],
            kept: BTreeMap::new(),
            count: n,
            cuts: Cuts::default(),
            finished: 0,
            eager: false,
            #[cfg(test)]
            believes: false,
        }
    }

    /// All that can happen next.
    pub fn moves(&self) -> Vec<Move> {
        let n = self.peers.len();
        if usize::from(self.finished) == n {
            return Vec::new();
        }
        let answer = |link: &usize| self.links[*link].front().is_some_and(Letter::is_answer);
        if let Some(link) = (0..n * n).find(answer).filter(|_| self.eager) {
            return vec![Move::Deliver(link)];
        }
        let steps = (0..n).filter(|&p| self.can_step(p)).map(Move::Step);
        let mail = (0..n * n).filter(|&l| !self.links[l].is_empty()).map(Move::Deliver);
        let wakes = (0..n).filter(|&p| self.resting[p] && !self.tried[p]).map(Move::Wake);
        let may_cut = self.cuts.possible() && !self.peers[0].finished() && self.count > 0;
        let snapshot = may_cut.then_some(Move::Snapshot);
        steps.chain(mail).chain(wakes).chain(snapshot).collect()
    }

    /// A peer steps while it has work, and once at the very start to hear that it has none.
    fn can_step(&self, peer: usize) -> bool {
        !self.peers[peer].finished() && (self.units[peer].len() > 0 || !self.started[peer])
    }

    /// Carries out a move; an error says which law it broke.
    pub fn play(&mut self, what: Move, chooser: &mut dyn Chooser) -> Result<(), String> {
        let mut coming = P::default();
        let (peer, event) = match what {
            Move::Step(peer) => {
                self.started[peer] = true;
                if self.units[peer].len() > 0 {
                    self.units[peer].step(&mut self.done);
                    self.cuts.on_done(peer);
                    self.changed();
                }
                // No time passes, so that powers stay equal and the states few.
                (peer, Event::Stepped { nodes: 0, busy_ns: 0 })
            }
            Move::Deliver(link) => {
                let (from, peer) = (link / self.peers.len(), link % self.peers.len());
                let letter = self.links[link].pop_front().ok_or("an empty link delivered")?;
                coming = letter.units;
                if self.peers[peer].finished() && !letter.message.is_talk() {
                    return Err(format!("{:?} reached a finished peer", letter.message));
                }
                (peer, Event::Mail { from: from as PeerId, message: letter.message })
            }
            Move::Wake(peer) => {
                self.resting[peer] = false;
                (peer, Event::Woke)
            }
            Move::Snapshot => {
                (0, Event::Snapshot { epoch: self.cuts.begin(self.peers.len(), self.done.once) })
            }
        };
        let mut next = Some(event);
        let talk = matches!(event, Event::Mail { message: Message::Left { .. }, .. });
        while let Some(event) = next.take() {
            let mut actions = Vec::new();
            let comes = matches!(event, Event::Mail { message: Message::Work { .. }, .. });
            let more = if comes { coming.len() } else { 0 };
            let size = f64::from(self.units[peer].len() + more);
            self.peers[peer].on(event, 0, size, chooser, &mut actions);
            for action in actions {
                if matches!(action, Action::Give { .. } | Action::Trim) {
                    next = Some(Event::Gave);
                }
                if action == Action::Leave && self.count == 1 {
                    next = Some(Event::AllIdle);
                }
                let copies = self.act(peer, action, &mut coming)?;
                for (ticket, size) in copies {
                    let holds = Event::Holds { ticket, size };
                    self.peers[peer].on(holds, 0, 0.0, chooser, &mut Vec::new());
                }
            }
        }
        if coming.len() > 0 && !talk {
            return Err(format!("{coming:?} came to peer {peer} in vain"));
        }
        Ok(())
    }

    fn changed(&mut self) {
        self.tried.fill(false);
    }

    /// Carries out what a peer wants; `coming` are the units that came with the message. Says which
    /// copies have changed.
    fn act(
        &mut self,
        peer: usize,
        action: Action,
        coming: &mut P,
    ) -> Result<Vec<(Ticket, f64)>, String> {
        let mut changed = Vec::new();
        let believes = self.believes();
        match action {
            Action::Send { to, message } => {
                let left = matches!(message, Message::Left { .. });
                let units = if left { self.units[peer].clone() } else { P::default() };
                self.send(peer, to, message, units);
            }
            Action::Give { to, ticket, epoch, from, share } => {
                let giver = match from {
                    Source::Own => &mut self.units[peer],
                    Source::Held { ticket, .. } => {
                        self.kept.get_mut(&ticket).ok_or("a copy is not kept")?
                    }
                };
                let size = giver.len();
                let units = crate::work::portion(share, size.into()) as u8;
                if units == 0 {
                    return Err(format!("peer {peer} gives of {size} units"));
                }
                let given = giver.split(units);
                if let Source::Held { ticket: of, owner } = from {
                    changed.push((of, f64::from(size - units)));
                    self.send(peer, owner, Message::Trim { ticket }, given.clone());
                }
                if to as usize == peer {
                    self.units[peer].put(given);
                    self.changed();
                    return Ok(changed);
                }
                changed.push((ticket, f64::from(units)));
                if self.kept.insert(ticket, given.clone()).is_some() {
                    return Err(format!("{ticket:?} was used twice"));
                }
                self.send(peer, to, Message::Work { ticket, epoch }, given);
            }
            Action::Hold { ticket } => {
                let left = std::mem::take(coming);
                let copy = self.kept.get_mut(&ticket).ok_or("a copy is not kept")?;
                // Of what is left, some may have been given away since.
                let still = copy.without(&copy.without(&left));
                *copy = if believes { left } else { still };
                changed.push((ticket, copy.len().into()));
            }
            Action::Trim => {
                let (away, before) = (std::mem::take(coming), self.units[peer].clone());
                self.units[peer] = before.without(&away);
                let twice = away.without(&before);
                if !twice.done(&self.done) {
                    return Err(format!("{twice:?} was nowhere, and is not done"));
                }
                self.done.said += twice.len();
                self.changed();
            }
            Action::Take { ticket } => {
                self.units[peer].put(std::mem::take(coming));
                self.cuts.on_taken(peer, ticket);
                self.changed();
            }
            Action::Cut { epoch } => {
                let own = self.kept.iter().filter(|(ticket, _)| ticket.giver as usize == peer);
                let kept = own.map(|(&ticket, units)| (ticket, units.len()));
                self.cuts.on_cut(peer, epoch, self.units[peer].len(), kept, self.total)?;
            }
            Action::Release { ticket } => {
                if self.kept.remove(&ticket).is_none() {
                    return Err(format!("{ticket:?} was released but not kept"));
                }
                self.cuts.on_released(ticket);
            }
            Action::Join if self.count == 0 => return Err("joined after the end".into()),
            Action::Join => self.count += 1,
            Action::Leave => {
                self.count = self.count.checked_sub(1).ok_or("more left than were counted")?;
            }
            Action::Beat { .. } => {}
            Action::WakeAt { .. } => self.resting[peer] = true,
            Action::Finish => {
                self.finished += 1;
                if self.done.once != self.total {
                    return Err(format!("an end after {} of {} units", self.done.once, self.total));
                }
            }
        }
        Ok(changed)
    }

    fn send(&mut self, from: usize, to: PeerId, message: Message, units: P) {
        self.tried[from] |= matches!(message, Message::Ask { .. });
        let link = from * self.peers.len() + to as usize;
        self.links[link].push_back(Letter { message, units });
    }

    /// The longest queue.
    pub fn longest_queue(&self) -> usize {
        self.links.iter().map(VecDeque::len).max().unwrap_or(0)
    }

    /// Whether the run is over, with nothing left anywhere.
    pub fn over(&self) -> Result<bool, String> {
        if usize::from(self.finished) < self.peers.len() {
            return Ok(false);
        }
        let mut letters = self.links.iter().flatten();
        if let Some(letter) = letters.find(|letter| !letter.message.is_talk()) {
            return Err(format!("{:?} is still under way at the end", letter.message));
        }
        if let Some((ticket, _)) = self.kept.first_key_value() {
            return Err(format!("{ticket:?} is still kept at the end"));
        }
        if self.done.again != self.done.said {
            return Err(format!("done twice, and what was said of it: {:?}", self.done));
        }
        if !self.cuts.complete() {
            return Err(format!("a snapshot is not complete at the end: {:?}", self.cuts));
        }
        Ok(true)
    }

    #[cfg(test)]
    fn believes(&self) -> bool {
        self.believes
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self)]
    const fn believes(&self) -> bool {
        false
    }
}

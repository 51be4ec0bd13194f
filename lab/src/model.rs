//! A tiny model of peers with countable work: one state of the protocol, and the moves out of it.

use super::cuts::Cuts;
use super::shared::Shared;
use super::work_set::{Account, Set, UnitsDone, WorkSet};
use pleach_core::steal::late::LateEffects;
use pleach_core::steal::{
    Action, Chooser, Effects, Event, InFlight, Interpreter, Message, Peer, PeerId, PeerTree,
    Policy, Violation,
};
use std::collections::VecDeque;

/// The depth of all units: exploring down to a greater one does a unit.
const UNITS_DEPTH: u32 = 2;

/// A message on its way, with the units that travel with it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ModelMessage<P> {
    message: Message,
    units: Option<P>,
}

impl<P> ModelMessage<P> {
    fn is_answer(&self) -> bool {
        matches!(self.message, Message::Refuse | Message::Ack { .. })
    }
}

/// A model whose pieces are any sets of units.
pub(super) type SetModel = Model<Set>;

/// A set of peers, of which a model has at most 32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct PeerSet(u32);

impl PeerSet {
    fn has(self, peer: usize) -> bool {
        self.0 >> peer & 1 == 1
    }

    fn insert(&mut self, peer: usize) {
        self.0 |= 1 << peer;
    }

    fn remove(&mut self, peer: usize) {
        self.0 &= !(1 << peer);
    }
}

/// Everything that the future of a run depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Model<P> {
    pub interpreters: Vec<Shared<Interpreter<P>>>,
    /// Peers whose batch of actions was interrupted.
    busy: PeerSet,
    pub state: ModelState<P>,
}

/// The model without its peers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ModelState<P> {
    /// The units that each peer holds.
    pub units: Vec<P>,
    pub done: UnitsDone,
    total: u8,
    /// A queue for each ordered pair of peers.
    links: Vec<Shared<VecDeque<ModelMessage<P>>>>,
    /// Peers that asked to be woken.
    resting: PeerSet,
    /// Peers that asked since something last changed: once refused, they rest until something does.
    tried: PeerSet,
    /// Peers that know whether they have work.
    started: PeerSet,
    /// The counter that all peers share.
    count: usize,
    /// The snapshot under way.
    pub cuts: Cuts,
    /// Scores of solutions yet to be found, by any peer, in any order.
    pub finds: Vec<i64>,
    /// The best score found.
    best: i64,
    finished: u8,
    /// Whether something was sent since the batch began or was last interrupted.
    sent: bool,
    /// Whether refusals and receipts arrive before anything else happens.
    ///
    /// This misses nothing: until a refusal arrives, a waiting peer only refuses others and passes waves on, and until
    /// a receipt arrives, it only withholds its report, so the same states follow in either order.
    pub eager: bool,
    /// Treats what an owner reports as left as still to be done, as a faulty driver would.
    pub believes: bool,
    /// Sometimes finds that work cannot be split after all.
    pub stubborn: bool,
}

/// A possible next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    Step(usize),
    /// A peer reaches the depth that it must explore down to.
    Reach(usize),
    Find(usize, usize),
    Deliver(usize),
    Wake(usize),
    Snapshot,
    /// A peer continues with the actions of its last event.
    Act(usize),
}

/// Replays one choice, and counts the alternatives.
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

impl<P: WorkSet> Model<P> {
    /// A model in which peer 0 holds all units and nothing has happened yet.
    pub fn new(peers: u32, units: u8, policy: Policy) -> Self {
        let mut held = vec![0; peers as usize];
        held[PeerTree::new(peers, policy.tree, 0).first() as usize] = units;
        Self::spread(&held, policy, 0)
    }

    /// A model in which each peer starts with a number of units, as after a resume. The seed determines a random tree.
    pub fn spread(units: &[u8], policy: Policy, seed: u64) -> Self {
        let n = units.len();
        let peers = n as u32;
        let tree = PeerTree::new(peers, policy.tree, seed);
        let peer = |me| Peer::new(me, &tree, policy.clone());
        let ends = units.iter().scan(0, |end, &units| {
            *end += units;
            Some(P::range(*end - units, *end))
        });
        let state = ModelState {
            units: ends.collect(),
            total: units.iter().sum(),
            done: UnitsDone::default(),
            links: vec![Shared::new(VecDeque::new()); n * n],
            resting: PeerSet::default(),
            tried: PeerSet::default(),
            started: PeerSet::default(),
            count: n,
            cuts: Cuts::default(),
            finds: Vec::new(),
            best: i64::MAX,
            finished: 0,
            sent: false,
            eager: false,
            believes: false,
            stubborn: false,
        };
        let interpreters =
            (0..peers).map(|me| Shared::new(Interpreter::new(peer(me), true))).collect();
        Self { interpreters, busy: PeerSet::default(), state }
    }

    /// All possible next events.
    pub fn moves(&self) -> Vec<Move> {
        let (n, state) = (self.interpreters.len(), &self.state);
        if usize::from(state.finished) == n {
            return Vec::new();
        }
        let free = |link: &usize| !self.busy.has(link % n);
        let answer = |link: &usize| state.links[*link].front().is_some_and(ModelMessage::is_answer);
        if let Some(link) = (0..n * n).filter(free).find(answer).filter(|_| state.eager) {
            return vec![Move::Deliver(link)];
        }
        let deliveries = (0..n * n).filter(free).filter(|&l| !state.links[l].is_empty());
        let mut moves: Vec<Move> = Vec::new();
        for peer in 0..n {
            if self.busy.has(peer) {
                moves.push(Move::Act(peer));
            } else if self.can_step(peer) {
                let depth = self.depth_at(peer);
                moves.extend(depth.map(|_| Move::Reach(peer)));
                // A stretch above the units changes nothing, except that the peer has started.
                let steps = depth.is_none_or(|depth| depth > UNITS_DEPTH);
                if steps || !state.started.has(peer) {
                    moves.push(Move::Step(peer));
                }
                let better = |&at: &usize| state.finds[at] < self.interpreters[peer].peer().best();
                let finds = (0..state.finds.len()).filter(|_| state.units[peer].len() > 0);
                moves.extend(finds.filter(better).map(|at| Move::Find(peer, at)));
            }
        }
        moves.extend(deliveries.map(Move::Deliver));
        let wakes = |&p: &usize| state.resting.has(p) && !state.tried.has(p) && !self.busy.has(p);
        moves.extend((0..n).filter(wakes).map(Move::Wake));
        let root = self.interpreters[0].peer();
        let may_cut = state.cuts.possible() && !root.finished() && !self.busy.has(0);
        if may_cut && (state.count > 0 || !root.uses_counter()) {
            moves.push(Move::Snapshot);
        }
        moves
    }

    /// A peer steps while it has work, and once at the start to learn that it has none.
    fn can_step(&self, peer: usize) -> bool {
        !self.interpreters[peer].peer().finished()
            && (self.works(peer) || !self.state.started.has(peer))
    }

    /// Whether a peer does units itself.
    fn works(&self, peer: usize) -> bool {
        let units = self.state.units[peer].len();
        units > 0 && !self.interpreters[peer].peer().waits(units.into())
    }

    /// The depth down to which a peer that works must explore, if there is one.
    fn depth_at(&self, peer: usize) -> Option<u32> {
        self.interpreters[peer].peer().explores_down_to().filter(|_| self.works(peer))
    }

    /// Plays a move. An error names the law that was broken.
    pub fn play(&mut self, what: Move, chooser: &mut dyn Chooser) -> Result<(), String> {
        self.state.sent = false;
        let (peer, event, incoming) = match what {
            Move::Act(peer) => return self.proceed(peer, chooser),
            Move::Step(peer) | Move::Reach(peer) => {
                let (works, depth) = (self.works(peer), self.depth_at(peer));
                self.state.step(peer, works && depth.is_none_or(|depth| depth > UNITS_DEPTH));
                // No time passes, so that powers stay equal and there are few states.
                let stepped = Event::Stepped { nodes: 0, busy_ns: 0 };
                let reached = depth.filter(|_| matches!(what, Move::Reach(_)));
                (peer, reached.map_or(stepped, |depth| Event::ReachedDepth { depth }), None)
            }
            Move::Find(peer, at) => {
                let score = self.state.finds.remove(at);
                self.state.best = self.state.best.min(score);
                (peer, Event::Found { score }, None)
            }
            Move::Deliver(link) => {
                let (from, peer) = (link / self.interpreters.len(), link % self.interpreters.len());
                let in_flight =
                    self.state.links[link].pop_front().ok_or("an empty link delivered")?;
                if self.interpreters[peer].peer().finished() && !in_flight.message.is_talk() {
                    return Err(format!("{:?} reached a finished peer", in_flight.message));
                }
                let event = Event::Message { from: from as PeerId, message: in_flight.message };
                (peer, event, in_flight.units)
            }
            Move::Wake(peer) => {
                self.state.resting.remove(peer);
                (peer, Event::Woke, None)
            }
            Move::Snapshot => {
                self.state.count += usize::from(self.interpreters[0].peer().uses_counter());
                let done = self.state.done.units;
                let epoch = self.state.cuts.begin(self.interpreters.len(), done);
                (0, Event::Snapshot { epoch }, None)
            }
        };
        let effects = &mut ModelEffects { state: &mut self.state, me: peer };
        self.interpreters[peer].begin_event(event, incoming, 0, chooser, effects);
        self.proceed(peer, chooser)
    }

    /// Carries out the actions of a peer, up to the point where others can observe their order.
    ///
    /// What a peer does with its own work, and what it sends, may happen at once: nobody can observe when a message was
    /// sent, only when it arrives. Changing the shared counter after something was sent is different: the batch is
    /// interrupted there, and others may move first.
    fn proceed(&mut self, peer: usize, chooser: &mut dyn Chooser) -> Result<(), String> {
        let interpreter = &mut self.interpreters[peer];
        loop {
            let counts = matches!(interpreter.next_action(), Some(Action::Join | Action::Leave));
            if counts && self.state.sent {
                self.busy.insert(peer);
                break;
            }
            self.busy.remove(peer);
            let effects = &mut ModelEffects { state: &mut self.state, me: peer };
            if !interpreter.carry_out_next(0, chooser, effects)? {
                break;
            }
        }
        if self.state.cuts.over() {
            let recording = self.interpreters.iter_mut().filter(|peer| peer.records_snapshots());
            recording.for_each(|peer| peer.end_snapshots());
        }
        if P::EXACT { self.account() } else { Ok(()) }
    }

    /// Every unit must be in one place: held by a peer, on its way, or done.
    fn account(&self) -> Result<(), String> {
        let mut account = Account::default();
        account.add(&self.state.done.units);
        self.state.units.iter().for_each(|units| account.add(&units.set()));
        let in_flight = self
            .state
            .links
            .iter()
            .flat_map(|link| link.iter())
            .filter_map(|in_flight| in_flight.units.as_ref());
        let to_take = self.interpreters.iter().filter_map(|interpreter| interpreter.to_take());
        in_flight.chain(to_take).for_each(|units| account.add(&units.set()));
        account.close(self.state.total)
    }

    /// Delivers a message that no peer of the model sent. Returns whether it was dropped.
    #[cfg(test)]
    pub fn intrude(
        &mut self,
        peer: usize,
        from: PeerId,
        message: Message,
        chooser: &mut dyn Chooser,
    ) -> bool {
        let before = self.interpreters[peer].clone();
        if self.busy.has(peer) {
            return false;
        }
        let units = message.brings_work().then(P::default);
        let effects = &mut ModelEffects { state: &mut self.state, me: peer };
        self.interpreters[peer].begin_event(
            Event::Message { from, message },
            units,
            0,
            chooser,
            effects,
        );
        let dropped = self.interpreters[peer] == before;
        let _ = self.proceed(peer, chooser);
        dropped
    }

    /// The longest queue.
    pub fn longest_queue(&self) -> usize {
        self.state.links.iter().map(|link| link.len()).max().unwrap_or(0)
    }

    /// Whether the run is over; fails if anything is left anywhere.
    pub fn over(&self) -> Result<bool, String> {
        let state = &self.state;
        if usize::from(state.finished) < self.interpreters.len() {
            return Ok(false);
        }
        let mut queued = state.links.iter().flat_map(|link| link.iter());
        if let Some(in_flight) = queued.find(|in_flight| !in_flight.message.is_talk()) {
            return Err(format!("{:?} is still on its way at the end", in_flight.message));
        }
        if let Some((ticket, _)) =
            self.interpreters.iter().flat_map(|interpreter| interpreter.ledger().pieces()).next()
        {
            return Err(format!("{ticket:?} is still kept at the end"));
        }
        if state.done.again != state.done.said {
            return Err(format!(
                "work done twice differs from the reports of it: {:?}",
                state.done
            ));
        }
        if !state.cuts.complete() {
            return Err(format!("a snapshot is incomplete at the end: {:?}", state.cuts));
        }
        if let Some(interpreter) =
            self.interpreters.iter().find(|interpreter| interpreter.peer().best() != state.best)
        {
            let heard = interpreter.peer().best();
            return Err(format!("a peer ends with the score {heard} instead of {}", state.best));
        }
        Ok(true)
    }
}

impl<P: WorkSet> ModelState<P> {
    /// A peer starts, and does a unit if it works.
    fn step(&mut self, peer: usize, works: bool) {
        self.started.insert(peer);
        if works {
            let unit = self.units[peer].pop();
            self.done.note(unit);
            self.cuts.on_done(peer, unit);
            self.changed();
        }
    }

    pub fn changed(&mut self) {
        self.tried = PeerSet::default();
    }
}

/// What one peer of a model can do.
pub(super) struct ModelEffects<'a, P> {
    pub state: &'a mut ModelState<P>,
    pub me: usize,
}

impl<P: WorkSet> Effects for ModelEffects<'_, P> {
    type Piece = P;
    type Error = String;

    fn size(&mut self) -> f64 {
        self.state.units[self.me].len().into()
    }

    fn size_of(&self, piece: &P) -> f64 {
        piece.len().into()
    }

    fn split(&mut self, share: f64) -> Result<Option<P>, String> {
        let own = &mut self.state.units[self.me];
        let size = own.len();
        let part = || pleach_core::search::work::portion(share, size.into()) as u8;
        let units = if share < 1.0 { part() } else { size };
        if units == 0 {
            return Err(format!("peer {} gave from {size} units", self.me));
        }
        let refuses = self.state.stubborn && size == 2;
        Ok((!refuses).then(|| own.split(units)))
    }

    fn add_work(&mut self, piece: P) -> Result<(), String> {
        self.state.units[self.me].put(piece);
        self.state.changed();
        Ok(())
    }

    fn send(&mut self, to: PeerId, message: Message, units: Option<P>) {
        if matches!(message, Message::Ask { .. }) {
            self.state.tried.insert(self.me);
        }
        let link = self.me * self.state.units.len() + to as usize;
        self.state.links[link].push_back(ModelMessage { message, units });
        self.state.sent = true;
    }

    fn cut(&mut self, epoch: u64, in_flight: InFlight<P>) -> Result<(), String> {
        let InFlight { kept, taken } = in_flight;
        let kept = kept.into_iter().map(|(ticket, to, piece)| (ticket, to, piece.set()));
        let in_flight = InFlight { kept: kept.collect(), taken };
        let units = self.state.units[self.me].set();
        self.state.cuts.on_cut(self.me, epoch, units, in_flight, self.state.total)
    }

    fn join_counter(&mut self) -> Result<(), String> {
        if self.state.count == 0 {
            return Err("joined after the end".into());
        }
        self.state.count += 1;
        Ok(())
    }

    fn leave_counter(&mut self) -> Result<bool, String> {
        let left = self.state.count.checked_sub(1).ok_or("more peers left than had joined")?;
        self.state.count = left;
        Ok(left == 0)
    }

    fn update_incumbent(&mut self, _score: i64) {}

    fn wake_at(&mut self, _at_ns: u64) {
        self.state.resting.insert(self.me);
    }

    fn finish(&mut self) -> Result<(), String> {
        self.state.finished += 1;
        let (done, total) = (self.state.done.units.len(), self.state.total);
        if done == total { Ok(()) } else { Err(format!("ended after {done} of {total} units")) }
    }

    fn report_violation(&mut self, violation: Violation) -> Result<(), String> {
        Err(format!("peer {}: {violation:?}", self.me))
    }

    fn late(&mut self) -> Option<&mut dyn LateEffects<P, String>> {
        Some(self)
    }
}

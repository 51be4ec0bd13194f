//! [`Peer`]: one worker's side of the protocol, a pure state machine.

use super::asking::{Asking, Context, Next};
use super::broker::{Broker, log2_load};
use super::chooser::Chooser;
use super::late::copies::Copies;
use super::message::{Action, Event, Message};
use super::mutant::Mutant;
use super::policy::{End, Policy, Victim};
use super::power::{Power, PowerMeter};
use super::quiet::{Rules, Step, Totals, Waves};
use super::subtree::SubtreePower;
use super::thieves::{Thief, Thieves};
use super::ticket::{PeerId, Ticket};
use super::tree::{PeerTree, TreePlace};
use std::sync::Arc;

mod count;
mod depth;
mod give;
mod handling;
mod report;

/// One worker's side of the protocol: it sees numbers, messages and tickets, never a node of the tree.
///
/// Its [`Interpreter`](super::Interpreter) reports every [`Event`] with the size of the worker's work, and carries out
/// the [`Action`]s before the next event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    pub(super) me: PeerId,
    pub(super) peers: u32,
    pub(super) policy: Arc<Policy>,
    place: TreePlace,
    waves: Waves,
    meter: PowerMeter,
    /// The power of the subtree, where shares depend on it.
    subtree: SubtreePower,
    /// The depth down to which the worker has yet to explore before this peer gives or waits.
    down_to: Option<u32>,
    /// At a master: the depth down to which the worker explored last.
    depth: u32,
    /// Where depths adapt: the depth at which the work that arrived last first made a large enough pool; until it has, the
    /// depth down to which it was explored first.
    first_depth: u32,
    /// Whether the work that arrived last has yet to make such a pool.
    is_first_pool: bool,
    asking: Asking,
    pub(super) thieves: Thieves,
    broker: Broker,
    /// Late giving: the copies that the master keeps.
    pub(super) copies: Copies,
    /// Late giving: the piece that came last.
    pub(super) piece: Option<Ticket>,
    /// The load last reported to the broker, and when the next report is due.
    reported_load: u32,
    pub(super) report_at_ns: u64,
    /// The number of peers of the subtree, including this one, that have not had their part of the whole.
    unserved: u32,
    pub(super) work: Totals,
    pub(super) unacknowledged: u64,
    /// If work is divided once: the peers that have had their part, and which of them asked again.
    served: Vec<PeerId>,
    asked_again: Vec<Thief>,
    /// Whether it has left the shared counter.
    left: bool,
    /// The best known score.
    best: i64,
    /// The other peers that are present, in order; `None` if all are.
    others: Option<Vec<PeerId>>,
    /// Where all peers are present at first: those that are gone.
    gone: Vec<PeerId>,
    /// The number of peers of the subtree, including this one, without the subtrees of children that are gone. In a
    /// random tree, counting them visits each.
    present: u32,
    /// The last epoch that began with a cut.
    pub(super) epoch: u64,
    finished: bool,
    #[cfg(any(test, feature = "faults"))]
    pub(super) mutant: Mutant,
}

impl Peer {
    /// Peer `me` of the peers in a tree. The run gives peer 0 the whole work.
    #[must_use]
    pub fn new(me: PeerId, tree: &PeerTree, policy: Policy) -> Self {
        let place = TreePlace::new(me, tree);
        let policy = policy.of_peer(me, tree.peers());
        let mut peer = Self {
            me,
            peers: tree.peers(),
            waves: Waves::new(&place),
            meter: PowerMeter::new(policy.whole_power),
            subtree: SubtreePower::default(),
            down_to: policy.cutoff.filter(|_| me == 0),
            depth: 1,
            first_depth: 1,
            is_first_pool: false,
            policy: Arc::new(policy),
            asking: Asking::default(),
            thieves: Thieves::default(),
            broker: Broker::default(),
            copies: Copies::default(),
            piece: None,
            reported_load: 0,
            report_at_ns: 0,
            unserved: place.size(),
            present: place.size(),
            place,
            work: Totals::default(),
            unacknowledged: 0,
            served: Vec::new(),
            asked_again: Vec::new(),
            left: false,
            best: i64::MAX,
            others: None,
            gone: Vec::new(),
            epoch: 0,
            finished: false,
            #[cfg(any(test, feature = "faults"))]
            mutant: Mutant::None,
        };
        peer.begin_at_top();
        peer
    }

    /// The same peer where others come and go: it asks only those that have joined, and where
    /// requests follow the tree, it is a tree of those.
    #[must_use]
    pub fn with_changing_peers(self) -> Self {
        let mut peer = Self { others: Some(Vec::new()), ..self };
        peer.find_place(0.0, &mut Vec::new());
        peer
    }

    /// The peer's number.
    #[must_use]
    pub fn me(&self) -> PeerId {
        self.me
    }

    /// The number of peers.
    #[must_use]
    pub fn peers(&self) -> u32 {
        self.peers
    }

    /// Whether the peer has seen the end of all work.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// Whether a shared counter detects the end of all work.
    #[must_use]
    pub fn uses_counter(&self) -> bool {
        self.policy.end == Some(End::Counter)
    }

    /// The last epoch that began here with a cut.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The best score that the peer knows.
    #[must_use]
    pub fn best(&self) -> i64 {
        self.best
    }

    /// The peer's speed: as given by hand, or else as measured.
    #[must_use]
    pub fn power(&self) -> Power {
        self.policy.fixed_power(self.me).unwrap_or(self.meter.power())
    }

    /// Reacts to an event at time `now_ns`; `size` is the size of the worker's work.
    pub fn handle_event(
        &mut self,
        event: Event,
        now_ns: u64,
        size: f64,
        chooser: &mut dyn Chooser,
        actions: &mut Vec<Action>,
    ) {
        if self.finished {
            // Requests and refusals may still arrive. Nobody waits for an answer.
            return;
        }
        if size > 0.0 && self.left && !event.brings_work() {
            // Only a gateway has work that no message brought.
            self.rejoin_counter(actions);
        }
        match event {
            Event::Stepped { nodes, busy_ns } => {
                self.meter.add(nodes, busy_ns);
                self.end_descent_if_full(size);
                self.serve_thieves(size, actions);
                self.report_what_is_left(now_ns, size, actions);
                if self.is(Mutant::CountsLate) {
                    self.rejoin_counter(actions);
                }
            }
            Event::ReachedDepth { depth } => self.on_depth_reached(depth, size, actions),
            Event::EndedDescent => {
                // Memory is short, so this work will not make a full pool.
                (self.down_to, self.is_first_pool) = (None, false);
                self.serve_thieves(size, actions);
            }
            Event::Gave => self.serve_thieves(size, actions),
            Event::NotSplit { thief } => self.on_not_split(thief, actions),
            Event::Message { from, message } => self.on_message(from, message, size, actions),
            Event::Woke => self.asking.on_woke(),
            Event::Snapshot { epoch } => {
                self.on_snapshot(epoch, actions);
                self.change_counter(Action::Leave, actions);
            }
            Event::Refilled => self.on_refilled(size, actions),
            // Without work it asks below.
            Event::Short if size > 0.0 => self.ask_for_work(now_ns, chooser, actions),
            Event::Short => {}
            Event::Came { peer } => self.on_came(peer, size, actions),
            Event::Lost { peer } => self.on_lost(peer, size, actions),
            Event::AllIdle => self.pass_on_done(self.me, actions),
            Event::Found { score } => self.spread_best(score, self.me, actions),
        }
        if self.finished {
            return;
        }
        self.refill_pool(size);
        self.report_power(actions);
        if self.policy.victim == Victim::Broker {
            self.report_load(now_ns, size, actions);
        }
        if size == 0.0 {
            self.on_empty(now_ns, chooser, actions);
        }
    }

    /// Sends a better score to the neighbours in the tree, except the one it came from.
    ///
    /// Links keep order, so the score arrives ahead of the report of the peer that found it: it reaches the root before
    /// the root detects the end, and every other peer before `Done` does.
    fn spread_best(&mut self, score: i64, from: PeerId, actions: &mut Vec<Action>) {
        if score < self.best || self.is(Mutant::SpreadsAnyScore) && self.best != score {
            self.best = score;
            for peer in self.neighbours(from) {
                let at = actions.len();
                self.change_counter(Action::Join, actions);
                send(peer, Message::Best { score }, actions);
                if self.is(Mutant::SendsBeforeCounting) {
                    actions[at..].reverse();
                }
            }
        }
    }

    /// The neighbours in the tree of peers.
    pub(crate) fn tree_neighbours(&self) -> impl Iterator<Item = PeerId> {
        self.neighbours(self.me)
    }

    /// The neighbours in the tree except one. Where peers come and go, all others are neighbours of
    /// peer 0: it knows of all, while any other place may be empty.
    fn neighbours(&self, but: PeerId) -> impl Iterator<Item = PeerId> {
        let (parent, children) = match &self.others {
            None => (self.place.parent(), self.place.children().collect()),
            Some(others) if self.me == 0 => (None, others.clone()),
            Some(_) => (Some(0), Vec::new()),
        };
        parent.into_iter().chain(children).filter(move |&peer| peer != but)
    }

    /// Passes `Done` on, away from the neighbour that it came from.
    fn pass_on_done(&mut self, from: PeerId, actions: &mut Vec<Action>) {
        self.neighbours(from).for_each(|peer| send(peer, Message::Done, actions));
        actions.push(Action::Finish);
        self.finished = true;
    }

    /// Handles work from a source other than a peer.
    fn on_refilled(&mut self, size: f64, actions: &mut Vec<Action>) {
        self.rejoin_counter(actions);
        let parked = self.asking.on_work(self.me, &self.place, &self.policy);
        parked.into_iter().for_each(|peer| send(peer, Message::Unpark, actions));
        self.begin_round();
        self.serve_waiting(size, actions);
    }

    /// Handles a peer that has joined.
    fn on_came(&mut self, peer: PeerId, size: f64, actions: &mut Vec<Action>) {
        // A root that was restarted may have more places than this peer knows of.
        self.peers = self.peers.max(peer + 1);
        self.gone.retain(|&gone| gone != peer);
        self.count_present();
        if self.place.parent() == Some(peer) {
            self.subtree.forget_report();
        }
        if let Some(others) = &mut self.others
            && let Err(at) = others.binary_search(&peer)
            && peer != self.me
        {
            others.insert(at, peer);
            self.asking.on_woke();
            self.find_place(size, actions);
        }
    }

    /// Where peers come and go and requests follow the tree, finds the place in the tree of those
    /// that are present.
    fn find_place(&mut self, size: f64, actions: &mut Vec<Action>) {
        let Some(others) = self.others.as_ref().filter(|_| self.policy.follows_the_tree()) else {
            return;
        };
        let former = self.place.parent();
        self.place = self.place.among(others);
        self.count_present();
        self.subtree.move_to(&self.place);
        self.asking.on_new_place();
        // A new parent that knew of this place earlier may have been refused here before this work came.
        let new = self.place.parent().filter(|&parent| former != Some(parent));
        let notifies = size > 0.0 && self.policy.asks_along_the_tree();
        // A parent at which this peer waits would conclude that the peer no longer waits.
        if let Some(parent) = new.filter(|&parent| notifies && !self.asking.waits_at(parent)) {
            send(parent, Message::Unpark, actions);
        }
    }

    /// Counts the peers of the subtree, since its place in the tree has changed, or which peers are gone.
    fn count_present(&mut self) {
        self.present = self.place.size_without(&self.gone);
    }

    /// Handles a peer that is gone.
    fn on_lost(&mut self, peer: PeerId, size: f64, actions: &mut Vec<Action>) {
        match &mut self.others {
            Some(others) => others.retain(|&other| other != peer),
            None if !self.gone.contains(&peer) => self.gone.push(peer),
            None => {}
        }
        self.count_present();
        self.thieves.remove(peer);
        self.subtree.remove(peer);
        self.asked_again.retain(|thief| thief.peer != peer);
        self.served.retain(|&served| served != peer);
        self.begin_next_round();
        self.asking.on_lost(peer, &self.policy, self.others.is_some());
        self.find_place(size, actions);
        if self.policy.victim == Victim::Broker && self.me == 0 {
            // The thief that it should have served is passed on again.
            self.broker.on_passed(peer, false, 0, &mut self.thieves);
            self.thieves.remove(peer);
        }
    }

    /// Begins an epoch, and passes it on to the children.
    fn on_snapshot(&mut self, epoch: u64, actions: &mut Vec<Action>) {
        self.cut(epoch, actions);
        for child in self.place.children() {
            self.change_counter(Action::Join, actions);
            send(child, Message::Snapshot { epoch }, actions);
        }
    }

    /// Begins an epoch with a cut, unless it has begun.
    fn cut(&mut self, epoch: u64, actions: &mut Vec<Action>) {
        if epoch > self.epoch {
            self.epoch = epoch;
            actions.push(Action::Cut { epoch });
        }
    }

    /// Passes requests on, at a broker; reports the load periodically, at a worker.
    fn report_load(&mut self, now_ns: u64, size: f64, actions: &mut Vec<Action>) {
        if self.me == 0 {
            while let Some((peer, thief)) = self.broker.pass(size, &mut self.thieves) {
                let Thief { peer: thief, power, .. } = thief;
                send(peer, Message::Pass { thief, power }, actions);
            }
            return;
        }
        let load = self.load(size);
        if log2_load(load) != self.reported_load && now_ns >= self.report_at_ns {
            self.reported_load = log2_load(load);
            self.report_at_ns = now_ns + self.policy.report_ns;
            send(0, Message::Load { load }, actions);
        }
    }

    /// Without work, asks, waits or rests, and takes part in the waves.
    fn on_empty(&mut self, now_ns: u64, chooser: &mut dyn Chooser, actions: &mut Vec<Action>) {
        if self.keeps_copies() && self.lend_to_itself(actions) {
            return;
        }
        let refused = self.thieves.extract_not_waiting();
        refused.iter().for_each(|thief| self.refuse(thief, actions));
        self.ask_for_work(now_ns, chooser, actions);
        match self.policy.end {
            Some(End::Counter) => return self.leave_counter(actions),
            Some(End::Leases) => return,
            Some(End::Waves | End::Requests) | None => {}
        }
        // A peer that never rests always has a request under way, and is idle meanwhile.
        let idle_while_asking = self.is(Mutant::IdleWhileAsking) || self.policy.rests.never();
        let waits = self.asking.asked() && !idle_while_asking;
        if !waits && self.unacknowledged == 0 && self.copies.is_empty() {
            let at_requests = self.policy.end == Some(End::Requests);
            let rules = Rules {
                begins: !at_requests
                    || self.place.children().all(|child| self.thieves.contains(child)),
                two_waves: !self.is(Mutant::OneWave),
                counts: !self.is(Mutant::NoCounts),
            };
            if let Some(step) = self.waves.on_idle(self.work, rules) {
                self.carry_out_step(step, actions);
                // A single peer has nobody to wait for.
                if self.peers == 1 && !self.finished {
                    self.on_empty(now_ns, chooser, actions);
                }
            }
        }
    }

    /// The request to repeat to a peer that may have missed one: a waiting request if this peer waits there already.
    #[must_use]
    pub fn request_again(&self, to: PeerId) -> Message {
        self.request(self.asking.waits_at(to))
    }

    fn request(&self, waits: bool) -> Message {
        let for_all = self.policy.share.is_by_subtree() || self.asking.at_start(&self.policy);
        let workers = if for_all { self.place.size() } else { 0 };
        Message::Ask { power: self.compared_power(), workers, waits }
    }

    /// Asks the peers that the policy names.
    fn ask_for_work(&mut self, now_ns: u64, chooser: &mut dyn Chooser, actions: &mut Vec<Action>) {
        loop {
            let context = Context {
                me: self.me,
                peers: self.peers,
                policy: &self.policy,
                place: &self.place,
                thieves: &self.thieves,
                others: self.others.as_deref(),
            };
            let (to, waits) = match self.asking.next(&context, chooser) {
                Next::Ask(to) => (to, false),
                Next::Wait(to) => (to, true),
                Next::Rest(rest_ns) => {
                    return actions.push(Action::WakeAt { at_ns: now_ns + rest_ns });
                }
                Next::Nothing => return,
            };
            // A broker treats the request as a report that there is no work here.
            self.reported_load = 0;
            send(to, self.request(waits), actions);
        }
    }

    fn carry_out_step(&mut self, step: Step, actions: &mut Vec<Action>) {
        let down = |message, actions: &mut Vec<Action>| {
            self.place.children().for_each(|child| send(child, message, actions));
        };
        match step {
            Step::Ask => down(Message::Wave, actions),
            Step::Report(Totals { sent, received }) => {
                if let Some(parent) = self.place.parent() {
                    send(parent, Message::Report { sent, received }, actions);
                }
            }
            Step::End => self.pass_on_done(self.me, actions),
        }
    }

    #[cfg(any(test, feature = "faults"))]
    pub(super) fn is(&self, mutant: Mutant) -> bool {
        self.mutant == mutant
    }

    #[cfg(not(any(test, feature = "faults")))]
    #[allow(clippy::unused_self)]
    pub(super) const fn is(&self, _mutant: Mutant) -> bool {
        false
    }
}

/// Adds a message to the actions.
pub(super) fn send(to: PeerId, message: Message, actions: &mut Vec<Action>) {
    actions.push(Action::Send { to, message });
}

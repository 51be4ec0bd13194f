//! [`Asking`]: how a peer without work gets some. Each rule has its own file.

mod lifelines;
mod masters;
mod overlay;
mod turns;

use super::PeerId;
use super::chooser::Chooser;
use super::policy::{Policy, Victim};
use super::thieves::Thieves;
use super::tree::TreePlace;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Ask; the victim refuses if it has no work.
    Ask(PeerId),
    /// Ask; the request stays with the victim until there is work.
    Wait(PeerId),
    /// Rest for this many nanoseconds.
    Rest(u64),
    /// Wait for an event.
    Nothing,
}

/// The requests of a peer without work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Asking {
    /// The peer that was asked and has yet to answer.
    asked: Option<PeerId>,
    /// Peers at which this one waits for work.
    waiting: Vec<PeerId>,
    /// Children that had nothing.
    empty: Vec<PeerId>,
    /// Peers that were gone when they were asked, and will not answer.
    lost: Vec<PeerId>,
    /// Refusals in a row.
    refusals: u32,
    /// Rests in a row.
    rests: u32,
    resting: bool,
    /// Whether the peer has rested since it last had work.
    rested: bool,
    /// The last offset asked in the ring.
    turn: u32,
    /// Whether the peer has ever had work; kept only where it matters.
    served: bool,
    /// Whether the parent believes that there is no work here, and so must be notified of new work.
    parent_thinks_empty: bool,
}

/// What the choice of a victim depends on.
pub(super) struct Context<'a> {
    pub me: PeerId,
    pub peers: u32,
    pub policy: &'a Policy,
    pub place: &'a TreePlace,
    pub thieves: &'a Thieves,
    /// The other peers that are present, in order; `None` if all are.
    pub others: Option<&'a [PeerId]>,
}

impl Context<'_> {
    /// Whether a peer is present.
    fn is_present(&self, peer: PeerId) -> bool {
        self.others.is_none_or(|others| others.binary_search(&peer).is_ok())
    }
}

impl Asking {
    /// Whether an answer is outstanding.
    pub fn asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Whether a request of this peer waits at another.
    pub fn waits_at(&self, peer: PeerId) -> bool {
        self.waiting.contains(&peer)
    }

    /// Records work from a peer. Returns the peers to notify that there is work here.
    pub fn on_work(&mut self, from: PeerId, place: &TreePlace, policy: &Policy) -> Vec<PeerId> {
        if self.asked == Some(from) {
            self.asked = None;
        }
        let mut parked = std::mem::take(&mut self.waiting);
        if let Some(parent) = place.parent().filter(|_| self.parent_thinks_empty)
            && !parked.contains(&parent)
        {
            parked.push(parent);
        }
        parked.retain(|&peer| peer != from);
        let served = policy.victim == Victim::TreeThenLifelines;
        *self = Self { asked: self.asked, turn: self.turn, served, ..Self::default() };
        parked
    }

    /// Records a refusal.
    pub fn on_refusal(&mut self, from: PeerId, policy: &Policy) {
        if self.asked == Some(from) {
            self.asked = None;
            self.refusals += u32::from(!policy.rests.never());
            // A request that expects an answer replaces one that waits.
            self.waiting.retain(|&peer| peer != from);
            if policy.asks_along_the_tree() {
                self.empty.push(from);
            }
        }
    }

    /// Records that a peer is gone.
    pub fn on_lost(&mut self, peer: PeerId, policy: &Policy, may_return: bool) {
        if self.asked == Some(peer) {
            self.on_refusal(peer, policy);
        }
        if may_return {
            self.waiting.retain(|&other| other != peer);
            self.resting = false;
        } else if self.waiting.contains(&peer) && !self.lost.contains(&peer) {
            self.lost.push(peer);
        }
    }

    /// Records that a peer that had no work now has some.
    pub fn on_unpark(&mut self, from: PeerId) {
        self.empty.retain(|&peer| peer != from);
    }

    /// Records that a thief was refused.
    pub fn on_refused(&mut self, thief: PeerId, place: &TreePlace, policy: &Policy) {
        let parent = place.parent() == Some(thief);
        self.parent_thinks_empty |= parent && policy.asks_along_the_tree();
    }

    /// Records a change of the tree: what this peer knew of its children, and its parent of it, may
    /// no longer apply.
    pub fn on_new_place(&mut self) {
        self.empty.clear();
        self.parent_thinks_empty = true;
    }

    /// Ends a rest.
    pub fn on_woke(&mut self) {
        self.resting = false;
    }

    /// What to do next. Called until the answer is to rest or wait.
    pub fn next(&mut self, context: &Context<'_>, chooser: &mut dyn Chooser) -> Next {
        if context.peers < 2 || self.resting {
            return Next::Nothing;
        }
        let next = match context.policy.victim {
            // The work that the rule would bring may never come, and work can be anywhere.
            _ if !self.lost.is_empty() => self.at_random(context, chooser),
            Victim::TreeThenLifelines => self.tree_then_lifelines(context, chooser),
            Victim::Random => self.at_random(context, chooser),
            Victim::Ring => self.in_a_ring(context),
            Victim::Lifelines => self.lifelines(context, chooser),
            Victim::Overlay { bridges } => self.overlay(context, bridges, chooser),
            Victim::Master | Victim::Broker | Victim::Late => self.at_the_center(context),
            Victim::Parent { siblings } => self.parent(context, siblings),
        };
        let next = match next {
            Next::Ask(peer) | Next::Wait(peer) if !context.is_present(peer) => {
                self.at_random(context, chooser)
            }
            next => next,
        };
        match next {
            Next::Ask(victim) => self.asked = Some(victim),
            Next::Wait(victim) => self.waiting.push(victim),
            Next::Rest(_) => {
                self.resting = true;
                self.rested = context.policy.victim == Victim::TreeThenLifelines;
                self.refusals = 0;
            }
            Next::Nothing => {}
        }
        next
    }

    /// Waits at the first of these peers at which it is not yet waiting.
    fn wait_at(&self, mut peers: impl Iterator<Item = PeerId>) -> Next {
        peers.find(|peer| !self.waiting.contains(peer)).map_or(Next::Nothing, Next::Wait)
    }
}

/// Asks any other present peer, or rests if there is none.
fn random(context: &Context<'_>, chooser: &mut dyn Chooser) -> Next {
    match context.others {
        None => {
            let other = chooser.choose(context.peers - 1);
            Next::Ask(other + u32::from(other >= context.me))
        }
        Some([]) => Next::Rest(context.policy.rests.longest_ns),
        Some(others) => Next::Ask(others[chooser.choose(others.len() as u32) as usize]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steal::{
        Action, End, Event, Message, PRESETS, Peer, PeerTree, Power, SeededChooser, Ticket,
    };

    #[test]
    fn only_present_peers_are_asked() {
        let places = 9;
        for preset in PRESETS {
            let more = if preset.0 == "weighted" { ":weights=1/2" } else { "" };
            let policy = &Policy::parse(&format!("{}{more}", preset.0)).unwrap();
            for (me, there) in [(5, &[0, 2][..]), (0, &[7]), (3, &[]), (0, &[])] {
                let tree = PeerTree::new(places, policy.tree, 0);
                let (place, thieves) = (&TreePlace::new(me, &tree), &Thieves::default());
                let others = Some(there);
                let context = Context { me, peers: places, policy, place, thieves, others };
                let (mut asking, chooser) = (Asking::default(), &mut SeededChooser::new(1, me));
                let mut asked = 0;
                for _ in 0..200 {
                    match asking.next(&context, chooser) {
                        Next::Ask(peer) => {
                            assert!(there.contains(&peer), "{} asks {peer}", preset.0);
                            asking.on_refusal(peer, policy);
                            asked += 1;
                        }
                        Next::Wait(peer) => {
                            assert!(there.contains(&peer), "{} waits at {peer}", preset.0);
                            asked += 1;
                        }
                        Next::Rest(_) => asking.on_woke(),
                        Next::Nothing => break,
                    }
                }
                let masters = ["static", "dynamic", "guided", "master-worker"];
                let alone = there.is_empty() || me == 0 && masters.contains(&preset.0);
                let down = me == 0 && preset.0 == "hierarchical-master-worker";
                assert!(asked > 0 || alone || down, "{} asks none of {there:?}", preset.0);
            }
        }
    }

    /// A request repeated to a peer must not replace a waiting one with one that can be refused.
    #[test]
    fn a_waiting_request_is_repeated_as_a_waiting_one() {
        let policy = Policy::parse("lifelines").unwrap();
        let mut chooser = SeededChooser::new(1, 1);
        let mut peer = Peer::new(1, &PeerTree::new(4, policy.tree, 0), policy);
        let (mut waits_at, mut actions) = (Vec::new(), Vec::new());
        let mut event = Event::Stepped { nodes: 0, busy_ns: 0 };
        for now_ns in 0..100 {
            let is_request = |to, message| peer_request(&waits_at, to) == message;
            assert!((0..4).all(|to| is_request(to, peer.request_again(to))), "at {now_ns}");
            peer.handle_event(event, now_ns, 0.0, &mut chooser, &mut actions);
            event = Event::Woke;
            for action in actions.drain(..) {
                match action {
                    Action::Send { to, message: Message::Ask { waits: true, .. } } => {
                        waits_at.push(to);
                    }
                    Action::Send { to: from, message: Message::Ask { waits: false, .. } } => {
                        event = Event::Message { from, message: Message::Refuse };
                        waits_at.retain(|&peer| peer != from);
                    }
                    _ => {}
                }
            }
        }
        assert!(!waits_at.is_empty());
    }

    fn peer_request(waits_at: &[PeerId], to: PeerId) -> Message {
        Message::Ask { power: Power(0), workers: 0, waits: waits_at.contains(&to) }
    }

    /// A peer of an overlay that others join and leave.
    struct Changing(Peer);

    impl Changing {
        fn new(me: PeerId) -> Self {
            let policy = Policy::parse("overlay:degree=1,bridges=random").unwrap();
            let policy = Policy { end: Some(End::Leases), ..policy };
            let tree = PeerTree::new(64, policy.tree, 3);
            Self(Peer::new(me, &tree, policy).with_changing_peers())
        }

        fn sends(&mut self, event: Event, size: f64) -> Vec<(PeerId, Message)> {
            let (mut chooser, mut actions) = (SeededChooser::new(1, 0), Vec::new());
            self.0.handle_event(event, 0, size, &mut chooser, &mut actions);
            let sent = actions.into_iter().filter_map(|action| match action {
                Action::Send { to, message } => Some((to, message)),
                _ => None,
            });
            sent.collect()
        }

        /// The peers that it asks, and whether it waits there.
        fn asks(&mut self, event: Event, size: f64) -> Vec<(PeerId, bool)> {
            let asked =
                self.sends(event, size).into_iter().filter_map(|(to, message)| match message {
                    Message::Ask { waits, .. } => Some((to, waits)),
                    _ => None,
                });
            asked.collect()
        }
    }

    const STEPPED: Event = Event::Stepped { nodes: 0, busy_ns: 0 };
    const NOBODY: [(PeerId, bool); 0] = [];

    fn refused_by(from: PeerId) -> Event {
        Event::Message { from, message: Message::Refuse }
    }

    /// The bridge used to be drawn among all places. Most are empty, and a peer whose bridge was
    /// one of those asked others at random.
    #[test]
    fn where_peers_come_and_go_an_overlay_is_a_tree_of_those_present() {
        let mut peer = Changing::new(9);
        for other in [0, 7, 20] {
            assert_eq!(peer.asks(Event::Came { peer: other }, 1.0), NOBODY);
        }
        // Along the path 0, 7, 9, 20: the bridge, which is no neighbour, the child, and the parent.
        assert_eq!(peer.asks(STEPPED, 0.0), [(0, true), (20, false)]);
        assert_eq!(peer.asks(refused_by(20), 0.0), [(7, true)]);
        assert_eq!(peer.asks(STEPPED, 0.0), NOBODY);
        // The next parent is asked in place of one that is gone, and the child once more.
        assert_eq!(peer.asks(Event::Lost { peer: 7 }, 0.0), [(20, false)]);
        assert_eq!(peer.asks(refused_by(20), 0.0), NOBODY);
        assert_eq!(peer.asks(Event::Came { peer: 8 }, 0.0), [(20, false)]);
        assert_eq!(peer.asks(refused_by(20), 0.0), [(8, true)]);
        // Its parent may believe that there is no work here.
        let mut peer = Changing::new(9);
        assert_eq!(peer.asks(Event::Came { peer: 0 }, 1.0), NOBODY);
        let sent = peer.sends(Event::Refilled, 5.0);
        assert!(sent.contains(&(0, Message::Unpark)), "{sent:?}");
    }

    /// Messages of a peer in a new place used to be dropped, so requests to it stayed without an answer.
    #[test]
    fn a_peer_may_come_to_a_place_that_did_not_exist() {
        let mut peer = Changing::new(9);
        peer.sends(Event::Came { peer: 64 }, 0.0);
        assert_eq!(peer.0.peers(), 65);
    }

    /// A parent that knew of its new child first was refused, and would not ask there again until more work came.
    #[test]
    fn a_new_parent_learns_of_work_that_is_already_here() {
        let (mut parent, mut child) = (Changing::new(7), Changing::new(9));
        parent.sends(Event::Came { peer: 0 }, 1.0);
        child.sends(Event::Came { peer: 0 }, 0.0);
        // Peer 7 takes its place between the others, and asks before the child knows of it.
        assert!(parent.asks(Event::Came { peer: 9 }, 0.0).contains(&(9, false)));
        let request = Message::Ask { power: Power(0), workers: 0, waits: false };
        let sent = child.sends(Event::Message { from: 7, message: request }, 0.0);
        assert!(sent.contains(&(7, Message::Refuse)), "{sent:?}");
        let asks = parent.asks(refused_by(9), 0.0);
        assert!(!asks.contains(&(9, false)), "{asks:?}");
        let ticket = Ticket { giver: 0, number: 0 };
        let work = Event::Message { from: 0, message: Message::Work { ticket, epoch: 0 } };
        let sent = child.sends(work, 5.0);
        assert!(!sent.contains(&(7, Message::Unpark)), "{sent:?}");
        assert_eq!(child.sends(Event::Came { peer: 7 }, 5.0), [(7, Message::Unpark)]);
        let unpark = Event::Message { from: 9, message: Message::Unpark };
        assert!(parent.asks(unpark, 0.0).contains(&(9, false)));
        // A parent that stays is not notified again, and one without work has nothing to say.
        assert!(child.sends(Event::Came { peer: 20 }, 5.0).is_empty());
        let sent = child.sends(Event::Came { peer: 8 }, 0.0);
        assert!(!sent.contains(&(8, Message::Unpark)), "{sent:?}");
    }

    /// Any place but that of peer 0 may be empty, so scores and the end do not pass through it.
    #[test]
    fn where_peers_come_and_go_scores_and_the_end_pass_through_peer_0() {
        let (mut root, mut other) = (Changing::new(0), Changing::new(9));
        for peer in [3, 20] {
            root.sends(Event::Came { peer }, 1.0);
            other.sends(Event::Came { peer }, 1.0);
        }
        other.sends(Event::Came { peer: 0 }, 1.0);
        let found = Event::Found { score: 5 };
        let best = Message::Best { score: 5 };
        assert_eq!(root.sends(found, 1.0), [(3, best), (20, best)]);
        assert_eq!(other.sends(found, 1.0), [(0, best)]);
        let done = Message::Done;
        assert_eq!(root.sends(Event::AllIdle, 1.0), [(3, done), (20, done)]);
        assert!(other.sends(Event::Message { from: 0, message: done }, 1.0).is_empty());
    }

    /// A peer stops resting once a peer at which it waited is lost.
    #[test]
    fn a_loss_ends_a_rest() {
        let policy = &Policy::parse("lifelines").unwrap();
        let tree = PeerTree::new(4, policy.tree, 0);
        let (place, thieves) = (&TreePlace::new(1, &tree), &Thieves::default());
        let (mut asking, chooser) = (Asking::default(), &mut SeededChooser::new(1, 1));
        let others = [0, 2, 3];
        let context = |others| Context { me: 1, peers: 4, policy, place, thieves, others };
        loop {
            match asking.next(&context(Some(&others)), chooser) {
                Next::Ask(peer) => asking.on_refusal(peer, policy),
                Next::Wait(_) => {}
                Next::Rest(_) if asking.waiting.is_empty() => asking.on_woke(),
                Next::Rest(_) => break,
                Next::Nothing => panic!("nothing to do"),
            }
        }
        let lost = asking.waiting[0];
        let left: Vec<_> = others.into_iter().filter(|&peer| peer != lost).collect();
        assert_eq!(asking.next(&context(Some(&left)), chooser), Next::Nothing);
        asking.on_lost(lost, policy, true);
        assert_ne!(asking.next(&context(Some(&left)), chooser), Next::Nothing);
    }
}

//! [`Asking`]: what a peer without work does to get some.

use super::PeerId;
use super::chooser::Chooser;
use super::hungry::Hungry;
use super::overlay::Overlay;
use super::policy::{Policy, Victim};

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Ask, and be told if there is none.
    Ask(PeerId),
    /// Ask, and wait there until there is some.
    Wait(PeerId),
    /// Rest for so long.
    Rest(u64),
    /// Nothing but wait.
    Nothing,
}

/// The questions of a peer without work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Asking {
    /// Who was asked and will answer.
    asked: Option<PeerId>,
    /// Where the peer waits for work.
    waiting: Vec<PeerId>,
    /// Neighbours below that had nothing.
    empty: Vec<PeerId>,
    /// Refusals in a row, and rests in a row.
    refusals: u32,
    rests: u32,
    resting: bool,
    /// Whether it has rested since it had work.
    rested: bool,
    /// Where the ring was left.
    turn: u32,
    /// Whether the peer ever got work, where that makes a difference.
    served: bool,
    /// Whether the parent thinks that there is nothing here, where it must know.
    parent_thinks_empty: bool,
}

/// What the choice of whom to ask depends on.
pub(super) struct Around<'a> {
    pub me: PeerId,
    pub peers: u32,
    pub policy: &'a Policy,
    pub overlay: &'a Overlay,
    pub hungry: &'a Hungry,
}

impl Asking {
    /// Whether an answer is to come.
    pub fn asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Takes note of work from a peer; returns those to be told that there is work here.
    pub fn on_work(&mut self, from: PeerId, overlay: &Overlay, policy: &Policy) -> Vec<PeerId> {
        if self.asked == Some(from) {
            self.asked = None;
        }
        let mut told = std::mem::take(&mut self.waiting);
        if let Some(parent) = overlay.parent().filter(|_| self.parent_thinks_empty)
            && !told.contains(&parent)
        {
            told.push(parent);
        }
        told.retain(|&peer| peer != from);
        let served = policy.share.is_once() || policy.victim == Victim::Woven;
        *self = Self { asked: self.asked, turn: self.turn, served, ..Self::default() };
        told
    }

    /// Takes note that a peer has nothing to give.
    pub fn on_refusal(&mut self, from: PeerId, policy: &Policy) {
        if self.asked == Some(from) {
            self.asked = None;
            self.refusals += 1;
            // A question that wants an answer takes the place of one that waits.
            self.waiting.retain(|&peer| peer != from);
            if policy.asks_along_the_tree() {
                self.empty.push(from);
            }
        }
    }

    /// Takes note that a peer that had nothing has something.
    pub fn on_unpark(&mut self, from: PeerId) {
        self.empty.retain(|&peer| peer != from);
    }

    /// Takes note that a peer was told that there is nothing here.
    pub fn on_refused(&mut self, thief: PeerId, overlay: &Overlay, policy: &Policy) {
        let parent = overlay.parent() == Some(thief);
        self.parent_thinks_empty |= parent && policy.asks_along_the_tree();
    }

    /// Whether the peer has never had work, and is to get its part of all.
    pub fn at_start(&self, policy: &Policy) -> bool {
        policy.victim == Victim::Woven && !self.served && !self.rested
    }

    /// The time to rest is over.
    pub fn on_woke(&mut self) {
        self.resting = false;
    }

    /// What to do next; to be called until there is nothing.
    pub fn next(&mut self, around: &Around<'_>, chooser: &mut dyn Chooser) -> Next {
        if around.peers < 2 || self.resting {
            return Next::Nothing;
        }
        let next = match around.policy.victim {
            Victim::Woven if !self.served && !self.rested => self.start(around),
            Victim::Woven => self.lifelines(around, chooser),
            Victim::Random => {
                self.rest(around).unwrap_or_else(|| Next::Ask(random(around, chooser)))
            }
            Victim::Ring => self.rest(around).unwrap_or_else(|| {
                self.turn = self.turn % (around.peers - 1) + 1;
                Next::Ask((around.me + self.turn) % around.peers)
            }),
            Victim::Lifelines => self.lifelines(around, chooser),
            Victim::Overlay { bridges } => self.overlay(around, bridges, chooser),
            Victim::Master => self.master(around),
            Victim::Broker | Victim::Late => self.wait_at((around.me > 0).then_some(0).into_iter()),
            Victim::Parent { siblings } => {
                let beside = around.overlay.beside().filter(|_| siblings);
                self.wait_at(around.overlay.parent().into_iter().chain(beside))
            }
        };
        match next {
            Next::Ask(victim) => self.asked = Some(victim),
            Next::Wait(victim) => self.waiting.push(victim),
            Next::Rest(_) => {
                self.resting = true;
                self.rested = around.policy.victim == Victim::Woven;
                self.refusals = 0;
            }
            Next::Nothing => {}
        }
        next
    }

    /// What to do where one is asked after the other, with rests in between: unless it is to ask.
    fn rest(&mut self, around: &Around<'_>) -> Option<Next> {
        if self.asked() {
            return Some(Next::Nothing);
        }
        let policy = around.policy;
        if self.refusals < policy.patience {
            return None;
        }
        let rest_ns = policy.rest_ns.saturating_mul(1 << self.rests.min(32));
        // Rests that cannot grow longer need not be counted.
        self.rests += u32::from(rest_ns < policy.longest_rest_ns);
        Some(Next::Rest(rest_ns.min(policy.longest_rest_ns)))
    }

    /// Wait at the parent, and at first for nothing else: work is spread down the tree.
    fn start(&mut self, around: &Around<'_>) -> Next {
        match self.wait_at(around.overlay.parent().into_iter()) {
            // What does not come soon may not come at all.
            Next::Nothing => Next::Rest(around.policy.longest_rest_ns),
            wait => wait,
        }
    }

    /// Some at random first; then wait at the neighbours in the cube.
    fn lifelines(&mut self, around: &Around<'_>, chooser: &mut dyn Chooser) -> Next {
        if self.asked() {
            Next::Nothing
        } else if self.refusals < around.policy.patience {
            Next::Ask(random(around, chooser))
        } else {
            let dimensions = u32::BITS - (around.peers - 1).leading_zeros();
            let neighbours = (0..dimensions).map(|bit| around.me ^ (1 << bit));
            self.wait_at(neighbours.filter(|&peer| peer < around.peers))
        }
    }

    /// The children at random, but those who have asked or have nothing; once there are none, wait
    /// at the parent; in parallel at the bridge.
    fn overlay(&mut self, around: &Around<'_>, bridges: bool, chooser: &mut dyn Chooser) -> Next {
        let bridge = around.overlay.bridge().filter(|_| bridges);
        if let next @ Next::Wait(_) = self.wait_at(bridge.into_iter()) {
            return next;
        }
        if self.asked() {
            return Next::Nothing;
        }
        let open = |&child: &PeerId| !around.hungry.has(child) && !self.empty.contains(&child);
        let open: Vec<PeerId> = around.overlay.children().filter(open).collect();
        if open.is_empty() {
            return self.wait_at(around.overlay.parent().into_iter());
        }
        Next::Ask(open[chooser.choose(open.len() as u32) as usize])
    }

    /// Wait at peer 0; with an even division only once.
    fn master(&mut self, around: &Around<'_>) -> Next {
        if around.me == 0 || self.served && around.policy.share.is_once() {
            return Next::Nothing;
        }
        self.wait_at([0].into_iter())
    }

    fn wait_at(&self, mut peers: impl Iterator<Item = PeerId>) -> Next {
        peers.find(|peer| !self.waiting.contains(peer)).map_or(Next::Nothing, Next::Wait)
    }
}

/// Any other peer.
fn random(around: &Around<'_>, chooser: &mut dyn Chooser) -> PeerId {
    let other = chooser.choose(around.peers - 1);
    other + u32::from(other >= around.me)
}

//! [`Asking`]: what a peer without work does to get some. Each rule has a file of its own.

mod lifelines;
mod masters;
mod overlay;
mod turns;

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
            Victim::Woven => self.woven(around, chooser),
            Victim::Random => self.at_random(around, chooser),
            Victim::Ring => self.in_a_ring(around),
            Victim::Lifelines => self.lifelines(around, chooser),
            Victim::Overlay { bridges } => self.overlay(around, bridges, chooser),
            Victim::Master => self.master(around),
            Victim::Broker | Victim::Late => self.at_peer_0(around),
            Victim::Parent { siblings } => self.parent(around, siblings),
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

    /// Waits at the first of these peers at which it does not wait yet.
    fn wait_at(&self, mut peers: impl Iterator<Item = PeerId>) -> Next {
        peers.find(|peer| !self.waiting.contains(peer)).map_or(Next::Nothing, Next::Wait)
    }
}

/// Any other peer.
fn random(around: &Around<'_>, chooser: &mut dyn Chooser) -> PeerId {
    let other = chooser.choose(around.peers - 1);
    other + u32::from(other >= around.me)
}

//! [`Thieves`]: the peers that have asked for work and are not answered yet.

use super::PeerId;
use super::power::Power;

/// A peer that asked for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Thief {
    /// The peer.
    pub peer: PeerId,
    /// Its speed.
    pub power: Power,
    /// The number of peers for which it asks: itself and all below it in the tree; 0 if only for itself.
    pub workers: u32,
    /// Whether it waits until there is work; otherwise it is refused when there is none.
    pub waits: bool,
}

/// Thieves in the order in which they asked, each at most once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Thieves {
    thieves: Vec<Thief>,
}

impl Thieves {
    /// Adds a request, replacing an older one by the same thief.
    pub fn add(&mut self, thief: Thief) {
        self.remove(thief.peer);
        self.thieves.push(thief);
    }

    /// Removes a thief.
    pub fn remove(&mut self, peer: PeerId) {
        self.thieves.retain(|thief| thief.peer != peer);
    }

    /// Whether no thief waits for an answer.
    pub fn is_empty(&self) -> bool {
        self.thieves.is_empty()
    }

    /// Whether this peer waits for an answer.
    pub fn contains(&self, peer: PeerId) -> bool {
        self.thieves.iter().any(|thief| thief.peer == peer)
    }

    /// Removes and returns the first thief.
    pub fn next(&mut self) -> Option<Thief> {
        (!self.thieves.is_empty()).then(|| self.thieves.remove(0))
    }

    /// Removes and returns the thieves to refuse; those that wait stay.
    pub fn extract_not_waiting(&mut self) -> Vec<Thief> {
        self.thieves.extract_if(.., |thief| !thief.waits).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Action, Event, Fraction, Message, Peer, PeerTree, Policy, SeededChooser};
    use super::*;

    /// A thief whose piece could not be split off at once gets its share later, and no more than that.
    #[test]
    fn a_thief_served_late_gets_no_more_than_its_share() {
        let policy = Policy::parse("adaptive").unwrap();
        for workers in [0, 1] {
            let mut chooser = SeededChooser::new(1, 0);
            let mut peer = Peer::new(0, &PeerTree::new(3, policy.tree, 0), policy.clone());
            let mut given = |event| {
                let mut actions = Vec::new();
                peer.handle_event(event, 5, 1000.0, &mut chooser, &mut actions);
                let give = |action: &Action| match action {
                    Action::Give { thief, share, .. } => Some((*thief, *share)),
                    _ => None,
                };
                actions.iter().find_map(give)
            };
            let step = Event::Stepped { nodes: 1_000_000, busy_ns: 1_000_000_000 };
            assert_eq!(given(step), None);
            let message = Message::Ask { power: Power(3000), workers, waits: true };
            let (thief, share) = given(Event::Message { from: 1, message }).unwrap();
            assert_ne!(share, Fraction::from(0.5));
            assert_eq!(given(Event::NotSplit { thief }), None);
            assert_eq!(given(step), Some((thief, share)));
        }
    }
}

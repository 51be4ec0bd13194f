//! [`Hungry`]: those who have asked and are to be answered later.

use super::PeerId;
use super::share::Power;

/// One who has asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Thief {
    pub peer: PeerId,
    /// How fast it is.
    pub power: Power,
    /// Peers for whom it asks: itself and all below it in the tree; 0 if for itself alone.
    pub units: u32,
    /// Whether it waits until there is work; else it is told when there is none.
    pub waits: bool,
}

/// Thieves in the order in which they asked, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Hungry {
    thieves: Vec<Thief>,
}

impl Hungry {
    /// Takes note of a question; an older one of the same thief is forgotten.
    pub fn add(&mut self, thief: Thief) {
        self.remove(thief.peer);
        self.thieves.push(thief);
    }

    /// Forgets a thief.
    pub fn remove(&mut self, peer: PeerId) {
        self.thieves.retain(|thief| thief.peer != peer);
    }

    /// Whether nobody has asked.
    pub fn is_empty(&self) -> bool {
        self.thieves.is_empty()
    }

    /// Whether a peer has asked.
    pub fn has(&self, peer: PeerId) -> bool {
        self.thieves.iter().any(|thief| thief.peer == peer)
    }

    /// The first who asked.
    pub fn next(&mut self) -> Option<Thief> {
        (!self.thieves.is_empty()).then(|| self.thieves.remove(0))
    }

    /// Those who are to be told that there is no work; those who wait stay.
    pub fn in_vain(&mut self) -> Vec<Thief> {
        self.thieves.extract_if(.., |thief| !thief.waits).collect()
    }
}

//! [`Thieves`]: those that have asked and have yet to be answered.

use super::PeerId;
use super::power::Power;

/// A peer that asked for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Thief {
    /// Who it is.
    pub peer: PeerId,
    /// Its speed.
    pub power: Power,
    /// The peers for which it asks: itself and all below it in the tree; 0 if only for itself.
    pub units: u32,
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
    pub fn has(&self, peer: PeerId) -> bool {
        self.thieves.iter().any(|thief| thief.peer == peer)
    }

    /// Removes and returns the first thief.
    pub fn next(&mut self) -> Option<Thief> {
        (!self.thieves.is_empty()).then(|| self.thieves.remove(0))
    }

    /// Removes and returns the thieves to refuse; those that wait stay.
    pub fn in_vain(&mut self) -> Vec<Thief> {
        self.thieves.extract_if(.., |thief| !thief.waits).collect()
    }
}

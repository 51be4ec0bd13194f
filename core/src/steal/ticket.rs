//! The names of peers and pieces of work, and parts of a whole.

use crate::search::work::Pack;

/// A peer's number, from 0 to n − 1. Peer 0 starts with the whole work and ends the run.
pub type PeerId = u32;

/// The name of a piece of work: the peer that gave it, and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Pack)]
pub struct Ticket {
    /// The peer that gave the piece.
    pub giver: PeerId,
    /// The giver's count of gifts.
    pub number: u64,
}

/// A part of a whole, from 0 to 1.
///
/// Held as bits, so that actions can be compared and hashed: the order of non-negative numbers is that
/// of their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fraction(u64);

impl Fraction {
    /// The part as a number.
    #[must_use]
    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl From<f64> for Fraction {
    fn from(value: f64) -> Self {
        Self(value.to_bits())
    }
}

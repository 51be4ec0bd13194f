//! [`Checkpoint`]: a search that was stopped, as bytes; and how the cuts of its peers make one.

use crate::balance::Ticket;
use crate::tree::{Counts, Solution};
use crate::wire::{Kind, Unreadable, open, seal};
use crate::work::{Malformed, Pack, Reader, Work};
use std::collections::HashSet;
use std::sync::Arc;

/// All that is needed to go on with a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checkpoint {
    /// Of the search: another instance, bound, branching or reference has another one.
    pub fingerprint: u64,
    /// What whoever saves wants to find again; not read here.
    pub about: String,
    /// Time that the search has taken so far.
    pub elapsed_ns: u64,
    /// What was counted so far.
    pub counts: Counts,
    /// The score that solutions must beat.
    pub best: i64,
    /// The best solution so far.
    pub solution: Option<Solution>,
    /// The open work.
    pub pieces: Vec<Work>,
}

impl Checkpoint {
    /// The checkpoint as a file holds it.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        seal(Kind::Checkpoint, self.fingerprint, self)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If the bytes are anything but a checkpoint as it was written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Unreadable> {
        let (fingerprint, checkpoint) = open(Kind::Checkpoint, bytes)?;
        Ok(Self { fingerprint, ..checkpoint })
    }
}

/// The content of the envelope: the fingerprint is in its head.
impl Pack for Checkpoint {
    const LEAST: usize = 8;

    fn pack(&self, out: &mut Vec<u8>) {
        self.about.as_bytes().to_vec().pack(out);
        (self.elapsed_ns, self.counts, self.best).pack(out);
        self.solution.iter().cloned().collect::<Vec<_>>().pack(out);
        self.pieces.pack(out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let about = String::from_utf8(Pack::unpack(from)?).map_err(|_| Malformed::Range)?;
        let (elapsed_ns, counts, best) = Pack::unpack(from)?;
        let mut solutions: Vec<Solution> = Pack::unpack(from)?;
        let Counts { branched, bounded, total, .. } = counts;
        // What a search adds must not come to more than can be counted.
        let beyond = [branched, bounded, elapsed_ns].iter().any(|&n| n > u64::MAX / 2);
        if solutions.len() > 1 || beyond || total > u128::MAX / 2 {
            return Err(Malformed::Range);
        }
        let (solution, pieces) = (solutions.pop(), Pack::unpack(from)?);
        Ok(Self { fingerprint: 0, about, elapsed_ns, counts, best, solution, pieces })
    }
}

/// What one unit writes down when its peer says `Cut`.
#[derive(Clone, Debug, Default)]
pub struct Cut {
    /// The work at hand.
    pub work: Work,
    /// What was counted.
    pub counts: Counts,
    /// Pieces given and not acknowledged.
    pub kept: Vec<(Ticket, Arc<Work>)>,
    /// Tickets of the pieces taken since the cut before.
    pub taken: Vec<Ticket>,
}

/// The work and the counts of a whole snapshot: a piece that is kept by its giver counts unless its
/// receiver had taken it.
#[must_use]
pub fn assemble(cuts: Vec<Cut>) -> (Counts, Vec<Work>) {
    let taken: HashSet<Ticket> = cuts.iter().flat_map(|cut| cut.taken.iter().copied()).collect();
    let mut counts = Counts::default();
    let mut pieces = Vec::new();
    for cut in cuts {
        counts.add(&cut.counts);
        pieces.push(cut.work);
        let lost = cut.kept.into_iter().filter(|(ticket, _)| !taken.contains(ticket));
        pieces.extend(lost.map(|(_, work)| Arc::unwrap_or_clone(work)));
    }
    pieces.retain(|piece| !piece.bytes.is_empty());
    (counts, pieces)
}

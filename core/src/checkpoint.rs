//! [`Checkpoint`]: a stopped search as bytes, and how the cuts of its peers make one.

use crate::balance::{OnTheWay, PeerId, Ticket};
use crate::tree::{Counts, Solution};
use crate::wire::{Kind, Unreadable, open, seal};
use crate::work::{Malformed, Pack, Reader, Work};
use std::collections::HashMap;
use std::sync::Arc;

/// All that is needed to resume a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checkpoint {
    /// The search's print: it differs for another instance, bound, branching or reference.
    pub fingerprint: u64,
    /// What the program that saves wants to find again. Not read here.
    pub about: String,
    /// The time that the search has taken so far.
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

/// What one unit records when its peer says `Cut`.
#[derive(Clone, Debug, Default)]
pub struct Cut {
    /// The peer.
    pub peer: PeerId,
    /// Its work.
    pub work: Work,
    /// What it counted.
    pub counts: Counts,
    /// The pieces on their way to and from it.
    pub on_the_way: OnTheWay<Arc<Work>>,
}

/// The counts and the open work of a whole snapshot. A piece that its giver keeps is open unless its
/// receiver had taken it.
#[must_use]
pub fn assemble(cuts: Vec<Cut>) -> (Counts, Vec<Work>) {
    let mut last = HashMap::new();
    for cut in &cuts {
        let taken = cut.on_the_way.taken.iter();
        last.extend(taken.map(|&(giver, number)| ((cut.peer, giver), number)));
    }
    let was_taken = |ticket: Ticket, to: PeerId| {
        last.get(&(to, ticket.giver)).is_some_and(|&number| number >= ticket.number)
    };
    let mut counts = Counts::default();
    let mut pieces = Vec::new();
    for cut in cuts {
        counts.add(&cut.counts);
        pieces.push(cut.work);
        let kept = cut.on_the_way.kept.into_iter();
        let open = kept.filter(|&(ticket, to, _)| !was_taken(ticket, to));
        pieces.extend(open.map(|(_, _, work)| Arc::unwrap_or_clone(work)));
    }
    pieces.retain(|piece| !piece.bytes.is_empty());
    (counts, pieces)
}

//! [`Checkpoint`]: a stopped search as bytes, and how the cuts of its peers make one.

use crate::lease::gateway::Portion;
use crate::lease::wire::{pack_subs, unpack_subs};
use crate::lease::{Lease, ProgressReport, Rec, nested};
use crate::search::tree::{Counts, Solution};
use crate::search::work::{Malformed, Pack, Reader, Work};
use crate::steal::{OnTheWay, PeerId, Ticket};
use crate::wire::{ContentKind, Unreadable, can_grow, open, seal};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// All that is needed to resume a search: the progress report of the whole, and what goes with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checkpoint {
    /// The search's print: it differs for another instance, bound, branching or reference.
    pub fingerprint: u64,
    /// The random number of the run, which a resumed run keeps: it tells this run from any other of the same
    /// search, which may have begun with another value to beat.
    pub run: u64,
    /// What the program that saves wants to find again. Not read here.
    pub about: String,
    /// The time that the search has taken so far.
    pub elapsed_ns: u64,
    /// What was counted so far, but for what other sites hold.
    pub counts: Counts,
    /// The score that solutions must beat.
    pub best: i64,
    /// The best solution so far.
    pub solution: Option<Solution>,
    /// The open work, but for what other sites hold.
    pub pieces: Vec<Work>,
    /// What other sites hold. None in a run of one process.
    pub subs: BTreeMap<Lease, Rec<Portion<Counts>>>,
}

impl Checkpoint {
    /// The checkpoint as a file holds it.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        seal(ContentKind::Checkpoint, self.fingerprint, self)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If the bytes are anything but a checkpoint as it was written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Unreadable> {
        let (fingerprint, content) = open(ContentKind::Checkpoint, bytes)?;
        Ok(Self { fingerprint, ..content })
    }

    /// What became of the whole search, as the root of a run of several sites holds it.
    #[must_use]
    pub fn progress_report(&self) -> ProgressReport<Portion<Counts>> {
        let open = self.pieces.iter().cloned().map(Arc::new).collect();
        ProgressReport { content: Portion { done: self.counts, open }, subs: self.subs.clone() }
    }

    /// The same checkpoint of another state of the search.
    #[must_use]
    pub fn with_progress_report(self, progress_report: &ProgressReport<Portion<Counts>>) -> Self {
        let ProgressReport { content, subs } = progress_report;
        let pieces = content.open.iter().map(|piece| Work::clone(piece)).collect();
        Self { counts: content.done, pieces, subs: subs.clone(), ..self }
    }

    /// What was counted so far by all sites, as far as the file tells.
    ///
    /// # Errors
    /// If it is more than a search can count.
    pub fn counted(&self) -> Result<Counts, Malformed> {
        let mut sum = self.counts;
        for (_, rec) in nested(&self.subs) {
            let counts = rec.content().done;
            // Neither is more than half of what there are numbers for.
            if !can_grow(&sum) || !can_grow(&counts) {
                return Err(Malformed::Range);
            }
            sum.add(&counts);
        }
        if can_grow(&sum) { Ok(sum) } else { Err(Malformed::Range) }
    }

    /// The checkpoint for a run of one process, where nobody else holds anything: all that others held is
    /// taken over as far as the file tells.
    ///
    /// # Errors
    /// If more was counted than a search can count.
    pub fn flattened(mut self) -> Result<Self, Malformed> {
        self.counts = self.counted()?;
        let open = nested(&self.subs).flat_map(|(_, rec)| &rec.content().open);
        self.pieces.extend(open.map(|piece| Work::clone(piece)));
        self.subs.clear();
        Ok(self)
    }
}

/// The content of the envelope: the fingerprint is in its head.
impl Pack for Checkpoint {
    const LEAST: usize = 11;

    fn pack(&self, out: &mut Vec<u8>) {
        self.run.pack(out);
        self.about.as_bytes().to_vec().pack(out);
        (self.elapsed_ns, self.counts, self.best).pack(out);
        self.solution.pack(out);
        self.pieces.pack(out);
        pack_subs(&self.subs, out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let run = Pack::unpack(from)?;
        let about = String::from_utf8(Pack::unpack(from)?).map_err(|_| Malformed::Range)?;
        let (elapsed_ns, counts, best) = Pack::unpack(from)?;
        if elapsed_ns > u64::MAX / 2 || !can_grow(&counts) {
            return Err(Malformed::Range);
        }
        let (solution, pieces) = Pack::unpack(from)?;
        let subs = unpack_subs(None, from)?;
        Ok(Self { fingerprint: 0, run, about, elapsed_ns, counts, best, solution, pieces, subs })
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

//! [`Checkpoint`]: a stopped search as bytes, assembled from the cuts of its peers.

use crate::lease::gateway::Portion;
use crate::lease::wire::{pack_subs, unpack_subs};
use crate::lease::{Lease, ProgressReport, Rec, nested};
use crate::search::tree::{Counts, Solution};
use crate::search::work::{Malformed, Pack, Reader, Work};
use crate::steal::{InFlight, PeerId, Ticket};
use crate::wire::{ContentKind, FORMAT, HEAD, Unreadable, open, seal};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// All that is needed to resume a search: a progress report of the whole, with its context.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checkpoint {
    /// The fingerprint of the search: it differs for another instance, bound, branching or reference.
    pub fingerprint: u64,
    /// The random number of the run, which a resumed run keeps. It distinguishes this run from others of the same
    /// search, which may have begun with another value to beat.
    pub run: u64,
    /// How often another process has taken the root's place in this run. Of two roots of one run, the one with the
    /// higher term counts.
    pub term: u32,
    /// Text for the program that saves. Not read here.
    pub about: String,
    /// The time spent on the search so far.
    pub elapsed_ns: u64,
    /// The counts so far, without those that other sites hold.
    pub counts: Counts,
    /// The score that solutions must beat.
    pub best: i64,
    /// The best solution so far.
    pub solution: Option<Solution>,
    /// The open work, without what other sites hold.
    pub pieces: Vec<Work>,
    /// The leases of other sites. Empty in a run of one process.
    pub subs: BTreeMap<Lease, Rec<Portion<Counts>>>,
}

impl Checkpoint {
    /// The number of bytes at the beginning of a file that [`Checkpoint::run_of`] needs.
    pub const BEGINNING: u64 = HEAD as u64 + 10;

    /// The number of the run that saved a file with these bytes at its beginning. The rest is not checked.
    #[must_use]
    pub fn run_of(begin: &[u8]) -> Option<u64> {
        let (head, content) = begin.split_at_checked(HEAD)?;
        let ours = head.starts_with(&ContentKind::Checkpoint.mark()) && head[4] == FORMAT;
        ours.then(|| u64::unpack(&mut Reader::new(content)).ok())?
    }

    /// The checkpoint as the bytes of a file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        seal(ContentKind::Checkpoint, self.fingerprint, self)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If the bytes are not an undamaged checkpoint.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Unreadable> {
        let (fingerprint, content) = open(ContentKind::Checkpoint, bytes)?;
        Ok(Self { fingerprint, ..content })
    }

    /// The progress report of the whole search, as the root of a run of several sites holds it.
    #[must_use]
    pub fn progress_report(&self) -> ProgressReport<Portion<Counts>> {
        let open = self.pieces.iter().cloned().map(Arc::new).collect();
        ProgressReport {
            content: Portion { done: self.counts.clone(), open },
            subs: self.subs.clone(),
        }
    }

    /// The same checkpoint with another state of the search.
    #[must_use]
    pub fn with_progress_report(self, progress_report: &ProgressReport<Portion<Counts>>) -> Self {
        let ProgressReport { content, subs } = progress_report;
        let pieces = content.open.iter().map(|piece| Work::clone(piece)).collect();
        Self { counts: content.done.clone(), pieces, subs: subs.clone(), ..self }
    }

    /// The counts of all sites so far, as far as the file records them.
    ///
    /// # Errors
    /// If they are more than a search can count.
    pub fn counted(&self) -> Result<Counts, Malformed> {
        let mut sum = self.counts.clone();
        for (_, rec) in nested(&self.subs) {
            let counts = &rec.content().done;
            // Each is at most half of what fits, so their sum fits.
            if !sum.can_grow() || !counts.can_grow() {
                return Err(Malformed::Range);
            }
            sum.add(counts);
        }
        if sum.can_grow() { Ok(sum) } else { Err(Malformed::Range) }
    }

    /// The checkpoint for a run of one process: the leases of other sites are taken over by their last progress reports
    /// in the file.
    ///
    /// # Errors
    /// If the counts are more than a search can count.
    pub fn flattened(mut self) -> Result<Self, Malformed> {
        self.counts = self.counted()?;
        let open = nested(&self.subs).flat_map(|(_, rec)| &rec.content().open);
        self.pieces.extend(open.map(|piece| Work::clone(piece)));
        self.subs.clear();
        Ok(self)
    }
}

/// The content of the envelope. The fingerprint is in the envelope's head.
impl Pack for Checkpoint {
    const LEAST: usize = 12;

    fn pack(&self, out: &mut Vec<u8>) {
        (self.run, self.term).pack(out);
        self.about.pack(out);
        self.elapsed_ns.pack(out);
        self.counts.pack(out);
        self.best.pack(out);
        self.solution.pack(out);
        self.pieces.pack(out);
        pack_subs(&self.subs, out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (run, term, about) = Pack::unpack(from)?;
        let (elapsed_ns, counts, best): (u64, Counts, i64) = Pack::unpack(from)?;
        if elapsed_ns > u64::MAX / 2 {
            return Err(Malformed::Range);
        }
        let (solution, pieces) = Pack::unpack(from)?;
        let subs = unpack_subs(from)?;
        Ok(Self {
            fingerprint: 0,
            run,
            term,
            about,
            elapsed_ns,
            counts,
            best,
            solution,
            pieces,
            subs,
        })
    }
}

/// What a worker records when its peer asks for a `Cut`.
#[derive(Clone, Debug, Default)]
pub struct Cut {
    /// The peer.
    pub peer: PeerId,
    /// Its work.
    pub work: Work,
    /// Its counts.
    pub counts: Counts,
    /// The pieces on their way to and from it.
    pub in_flight: InFlight<Arc<Work>>,
}

/// The counts and the open work of a complete snapshot. A piece that its giver keeps is open unless its receiver
/// had taken it.
#[must_use]
pub fn assemble(cuts: Vec<Cut>) -> (Counts, Vec<Work>) {
    let mut last = HashMap::new();
    for cut in &cuts {
        let taken = cut.in_flight.taken.iter();
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
        let kept = cut.in_flight.kept.into_iter();
        let open = kept.filter(|&(ticket, to, _)| !was_taken(ticket, to));
        pieces.extend(open.map(|(_, _, work)| Arc::unwrap_or_clone(work)));
    }
    pieces.retain(|piece| !piece.bytes.is_empty());
    (counts, pieces)
}

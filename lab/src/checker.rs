//! [`Checker`]: watches a simulated run from outside the protocol and collects its figures.

use super::figures::{Depth, Figures};
use super::load::{Load, WorkDone};
use pleach_core::steal::{Message, PeerId, PeerTree, Ticket};
use pleach_core::wire::checkpoint::{Cut, assemble};

/// Watches a run: who has work, and what is on its way.
pub(super) struct Checker {
    pub figures: Figures,
    /// Each peer's depth in the tree of peers.
    depths: Vec<u8>,
    /// Whether each peer has work.
    working: Vec<bool>,
    /// How many peers have work.
    workers: u32,
    /// Pieces given and not yet taken up.
    flying: u64,
    pub finished: u32,
    /// The best score, when it was found, and when the last peer so far learned of it.
    best: (i64, u64, u64),
    cuts: Cuts,
    /// The work done twice because pieces are given late.
    twice: WorkDone,
}

/// The snapshot under way.
#[derive(Default)]
struct Cuts {
    taken: Vec<Cut>,
    done: WorkDone,
    best: Option<i64>,
}

impl Checker {
    pub fn new(tree: &PeerTree) -> Self {
        let peers = tree.peers();
        let mut depths: Vec<u8> = Vec::with_capacity(peers as usize);
        let messages_by_peer = vec![0; peers as usize];
        let mut figures = Figures { peers, messages_by_peer, ..Figures::default() };
        for me in 0..peers {
            let parent = tree.parent(me);
            // In a chain of more than 256 peers, the last row holds all the rest.
            let depth = parent.map_or(0, |parent| depths[parent as usize].saturating_add(1));
            depths.push(depth);
            let depth = usize::from(depth);
            if figures.depths.len() <= depth {
                figures.depths.resize(depth + 1, Depth::default());
            }
            figures.depths[depth].peers += 1;
        }
        Self {
            figures,
            depths,
            working: vec![false; peers as usize],
            workers: 0,
            flying: 0,
            finished: 0,
            best: (i64::MAX, 0, 0),
            cuts: Cuts::default(),
            twice: WorkDone::default(),
        }
    }

    /// Whether a peer has work now.
    pub fn works(&mut self, peer: PeerId, works: bool) {
        let before = std::mem::replace(&mut self.working[peer as usize], works);
        self.workers = self.workers + u32::from(works) - u32::from(before);
    }

    pub fn on_send(&mut self, from: PeerId, message: &Message, bytes: u64, work_bytes: u64) {
        let requests = u64::from(matches!(message, Message::Ask { .. }));
        let depth = &mut self.figures.depths[usize::from(self.depths[from as usize])];
        depth.requests += requests;
        depth.messages += 1;
        depth.bytes += bytes;
        self.figures.requests += requests;
        self.figures.messages += 1;
        self.figures.messages_by_peer[from as usize] += 1;
        self.figures.bytes += bytes;
        self.figures.work_bytes += work_bytes;
        self.figures.refused += u64::from(matches!(message, Message::Refuse));
        let pieces = u64::from(message.brings_work());
        self.flying += pieces;
        self.figures.pieces += pieces;
    }

    /// A peer reads a message and takes up the work that comes with it.
    pub fn on_read(&mut self, message: &Message) {
        self.flying -= u64::from(message.brings_work());
    }

    /// Some work was done after it had been given away.
    pub fn on_twice(&mut self, twice: &WorkDone) {
        self.twice.add(twice);
        self.figures.redundant = self.twice.counts.clone();
    }

    /// A peer found a score or learned of it.
    pub fn on_score(&mut self, score: i64, now_ns: u64) {
        if score < self.best.0 {
            self.best = (score, now_ns, now_ns);
        } else if score == self.best.0 {
            self.best.2 = self.best.2.max(now_ns);
        }
    }

    pub fn on_finish(&mut self, peer: PeerId, now_ns: u64) -> Result<(), String> {
        if self.workers > 0 || self.flying > 0 {
            return Err(format!(
                "peer {peer} learns of the end while {} peers have work and {} pieces are on their way",
                self.workers, self.flying
            ));
        }
        if self.finished == 0 {
            self.figures.declared_ns = now_ns;
        }
        self.finished += 1;
        self.figures.time_ns = self.figures.time_ns.max(now_ns);
        Ok(())
    }

    /// Whether a snapshot may be requested, because none is under way.
    pub fn may_cut(&self) -> bool {
        self.cuts.taken.is_empty() && self.finished == 0
    }

    /// Records a peer's cut. Once all peers have made theirs, nothing may be missing or counted twice.
    pub fn on_cut(
        &mut self,
        cut: Cut,
        done: WorkDone,
        best: i64,
        load: &impl Load,
    ) -> Result<(), String> {
        self.cuts.best = Some(self.cuts.best.map_or(best, |before| before.min(best)));
        self.cuts.taken.push(cut);
        self.cuts.done.add(&done);
        if self.cuts.taken.len() < self.working.len() {
            return Ok(());
        }
        let Cuts { taken, done, best } = std::mem::take(&mut self.cuts);
        let (_, open) = assemble(taken);
        self.figures.snapshots += 1;
        let checked = load.check(&done, best.unwrap_or(i64::MAX), &open);
        checked.map_err(|why| format!("inconsistent snapshot: {why}"))
    }

    /// Checks a run at its end: what was done, the scores that the peers know, and that no piece is still kept.
    pub fn close(
        mut self,
        done: WorkDone,
        scores: impl Iterator<Item = i64>,
        kept: Option<Ticket>,
        load: &impl Load,
    ) -> Result<Figures, String> {
        if let Some(ticket) = kept {
            return Err(format!("{ticket:?} is still kept at the end"));
        }
        if !self.cuts.taken.is_empty() {
            return Err("a snapshot is incomplete at the end".into());
        }
        let mut scores = scores.peekable();
        let best = scores.peek().copied().unwrap_or(i64::MAX);
        if let Some(other) = scores.find(|&score| score != best) {
            return Err(format!("peers end with the scores {best} and {other}"));
        }
        // The excess must be exactly what was reported as done twice.
        let whole =
            done.without(&self.twice).ok_or("more was reported as done twice than was done")?;
        load.check(&whole, best, &[])?;
        let (score, found_ns, last_ns) = self.best;
        self.figures.counts = done.counts;
        self.figures.best = Some(best).filter(|&best| best < i64::MAX);
        self.figures.spread_ns = (score < i64::MAX).then(|| last_ns - found_ns);
        self.figures.alone_ns = load.total_ns();
        Ok(self.figures)
    }
}

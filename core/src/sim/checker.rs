//! [`Checker`]: watches a simulated run from outside the protocol, and takes its figures.

use super::figures::{Depth, Figures};
use super::load::Load;
use crate::balance::{Lineage, Message, PeerId, Ticket};
use crate::checkpoint::{Cut, assemble};
use crate::tree::Counts;

/// Watches a run: who has work, what is on its way, and what was said.
pub(super) struct Checker {
    pub figures: Figures,
    /// Each peer's depth in the tree of peers.
    depths: Vec<u8>,
    /// Whether each peer has work, and how many have.
    working: Vec<bool>,
    workers: u32,
    /// Pieces given and not taken up yet.
    flying: u64,
    pub finished: u32,
    /// The best score of all, when it was found, and when the last peer so far heard of it.
    best: (i64, u64, u64),
    cuts: Cuts,
}

/// The snapshot that is being taken.
#[derive(Default)]
struct Cuts {
    taken: Vec<Cut>,
    best: Option<i64>,
    /// Pieces that were kept at a cut and are not released yet.
    unsettled: u64,
}

impl Checker {
    pub fn new(lineage: &Lineage) -> Self {
        let peers = lineage.peers();
        let mut depths: Vec<u8> = Vec::with_capacity(peers as usize);
        let mut figures = Figures { peers, ..Figures::default() };
        for me in 0..peers {
            let parent = lineage.parent(me);
            // A chain of more than 256 peers has the rest of them in its last row.
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
        self.figures.bytes += bytes;
        self.figures.work_bytes += work_bytes;
        self.figures.refused += u64::from(matches!(message, Message::Refuse));
    }

    pub fn on_give(&mut self) {
        self.flying += 1;
        self.figures.pieces += 1;
    }

    pub fn on_take(&mut self, peer: PeerId) {
        self.flying -= 1;
        self.works(peer, true);
    }

    /// A peer found a score, or heard of it.
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
                "peer {peer} hears of the end while {} peers have work and {} pieces are on their way",
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

    /// Whether a snapshot may be asked for: the last one must be settled.
    pub fn may_cut(&self) -> bool {
        self.cuts.taken.is_empty() && self.cuts.unsettled == 0 && self.finished == 0
    }

    /// A peer is written down; once all are, nothing may be missing or twice.
    pub fn on_cut(&mut self, cut: Cut, best: i64, load: &impl Load) -> Result<(), String> {
        self.cuts.unsettled += cut.kept.len() as u64;
        self.cuts.best = Some(self.cuts.best.map_or(best, |before| before.min(best)));
        self.cuts.taken.push(cut);
        if self.cuts.taken.len() < self.working.len() {
            return Ok(());
        }
        let (counts, open) = assemble(std::mem::take(&mut self.cuts.taken));
        let best = self.cuts.best.take().unwrap_or(best);
        self.figures.snapshots += 1;
        load.check(&counts, best, &open).map_err(|why| format!("a snapshot is not whole: {why}"))
    }

    /// A piece that was kept at a cut has been released.
    pub fn settle(&mut self) {
        self.cuts.unsettled -= 1;
    }

    /// Judges a run at whose end everything was counted so, and the peers knew these scores and kept
    /// these pieces.
    pub fn close(
        mut self,
        counts: Counts,
        scores: impl Iterator<Item = i64>,
        kept: Option<Ticket>,
        load: &impl Load,
    ) -> Result<Figures, String> {
        if let Some(ticket) = kept {
            return Err(format!("{ticket:?} is still kept at the end"));
        }
        if !self.cuts.taken.is_empty() {
            return Err("a snapshot is not complete at the end".into());
        }
        let mut scores = scores.peekable();
        let best = scores.peek().copied().unwrap_or(i64::MAX);
        if let Some(other) = scores.find(|&score| score != best) {
            return Err(format!("peers end with the scores {best} and {other}"));
        }
        // What was said to be counted twice is all that is too much.
        let whole = counts.without(&self.figures.redundant).ok_or("less was counted than twice")?;
        load.check(&whole, best, &[])?;
        let (score, found_ns, last_ns) = self.best;
        self.figures.counts = counts;
        self.figures.best = Some(best).filter(|&best| best < i64::MAX);
        self.figures.spread_ns = (score < i64::MAX).then(|| last_ns - found_ns);
        self.figures.alone_ns = load.total_ns();
        Ok(self.figures)
    }
}

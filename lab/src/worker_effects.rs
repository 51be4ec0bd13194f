//! [`WorkerEffects`]: what one peer of a simulated cluster can do.

use super::cluster_state::ClusterState;
use super::load::{Hand, Load};
use pleach_core::search::work::Work;
use pleach_core::steal::late::LateEffects;
use pleach_core::steal::{Effects, InFlight, Message, PeerId, Violation};
use pleach_core::wire::checkpoint::Cut;
use std::sync::Arc;

/// One peer, and the cluster around it.
pub(super) struct WorkerEffects<'w, 'a, L: Load> {
    pub state: &'w mut ClusterState<'a, L>,
    pub me: PeerId,
    pub now_ns: u64,
}

impl<L: Load> WorkerEffects<'_, '_, L> {
    pub fn hand(&mut self) -> &mut dyn Hand {
        &mut *self.state.workers[self.me as usize].hand
    }
}

impl<L: Load> Effects for WorkerEffects<'_, '_, L> {
    type Piece = Arc<Work>;
    type Error = String;

    fn size(&mut self) -> f64 {
        self.hand().size()
    }

    fn size_of(&self, piece: &Arc<Work>) -> f64 {
        piece.size
    }

    fn split(&mut self, share: f64) -> Result<Option<Arc<Work>>, String> {
        let worker = &mut self.state.workers[self.me as usize];
        let piece = worker.hand.split(share).map(Arc::new);
        self.state.checker.works(self.me, worker.hand.size() > 0.0);
        if piece.is_none() && worker.hand.may_give_nothing() {
            return Ok(None);
        }
        piece.map(Some).ok_or(format!("peer {} gave from fewer than two nodes", self.me))
    }

    fn add_work(&mut self, piece: Arc<Work>) -> Result<(), String> {
        let put = self.hand().add_work(&piece.bytes);
        self.state.checker.works(self.me, true);
        put.map_err(|why| format!("a piece cannot be read: {why}"))
    }

    fn send(&mut self, to: PeerId, message: Message, piece: Option<Arc<Work>>) {
        self.state.post(self.me, to, message, piece, self.now_ns);
    }

    fn cut(&mut self, _epoch: u64, in_flight: InFlight<Arc<Work>>) -> Result<(), String> {
        let peer = self.me;
        let (work, done, best) = (self.hand().copy(), self.hand().done(), self.hand().best());
        let cut = Cut { peer, work, counts: done.counts.clone(), in_flight };
        self.state.checker.on_cut(cut, done, best, self.state.load)
    }

    fn join_counter(&mut self) -> Result<(), String> {
        if self.state.count == 0 {
            return Err("joined after the end".into());
        }
        self.state.count += 1;
        Ok(())
    }

    fn leave_counter(&mut self) -> Result<bool, String> {
        let left = self.state.count.checked_sub(1).ok_or("more peers left than had joined")?;
        self.state.count = left;
        Ok(left == 0)
    }

    fn update_incumbent(&mut self, score: i64) {
        self.hand().update_incumbent(score);
        self.state.checker.on_score(score, self.now_ns);
    }

    fn wake_at(&mut self, at_ns: u64) {
        self.state.plan_to_wake(self.me, at_ns.max(self.now_ns));
    }

    fn finish(&mut self) -> Result<(), String> {
        let worker = &self.state.workers[self.me as usize];
        let there_ns = self.now_ns - worker.clock.joins_ns;
        // The time for messages is subtracted at the end.
        self.state.checker.figures.idle_ns += there_ns.saturating_sub(worker.busy_ns);
        self.state.checker.on_finish(self.me, self.now_ns)
    }

    fn report_violation(&mut self, violation: Violation) -> Result<(), String> {
        Err(format!("peer {}: {violation:?}", self.me))
    }

    fn late(&mut self) -> Option<&mut dyn LateEffects<Arc<Work>, String>> {
        Some(self)
    }
}

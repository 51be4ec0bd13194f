//! Lets simulated clusters trim work, which `master-worker:late` needs.

use super::load::{Hand, Load};
use super::worker_effects;
use pleach_core::search::work::Work;
use pleach_core::steal::late::LateEffects;
use std::sync::Arc;

impl<L: Load> worker_effects::WorkerEffects<'_, '_, L> {
    /// A hand that holds only this work.
    fn holding(&self, work: &Work) -> Result<L::Hand, String> {
        let mut hand = self.state.load.hand();
        if !work.bytes.is_empty() {
            hand.add_work(&work.bytes).map_err(|why| format!("a copy cannot be read: {why}"))?;
        }
        Ok(hand)
    }

    /// The work that is in one piece and not in the other.
    fn without(&self, work: &Work, other: &Work) -> Result<L::Hand, String> {
        let mut hand = self.holding(work)?;
        if !other.bytes.is_empty() {
            hand.trim(&other.bytes).map_err(|why| format!("a copy cannot be trimmed: {why}"))?;
        }
        Ok(hand)
    }
}

impl<L: Load> LateEffects<Arc<Work>, String> for worker_effects::WorkerEffects<'_, '_, L> {
    fn copy(&mut self) -> Result<Arc<Work>, String> {
        Ok(Arc::new(self.hand().copy()))
    }

    fn split_copy(
        &mut self,
        copy: &Arc<Work>,
        share: f64,
    ) -> Result<(Arc<Work>, Option<Arc<Work>>), String> {
        let mut hand = self.holding(copy)?;
        let given = hand.split(share).map(Arc::new);
        Ok((Arc::new(hand.copy()), given))
    }

    fn intersect(&mut self, copy: &Arc<Work>, left: &Arc<Work>) -> Result<Arc<Work>, String> {
        let done = self.without(copy, left)?.copy();
        Ok(Arc::new(self.without(copy, &done)?.copy()))
    }

    /// The missing part of `away` has been done here and will be done again elsewhere. A separate hand repeats it to
    /// count it.
    fn trim(&mut self, away: &Arc<Work>) -> Result<(), String> {
        let hand = self.hand();
        let (before, best) = (hand.copy(), hand.best());
        hand.trim(&away.bytes).map_err(|why| format!("work cannot be trimmed: {why}"))?;
        let works = hand.size() > 0.0;
        self.state.checker.works(self.me, works);
        let mut twice = self.without(away, &before)?;
        twice.update_incumbent(best);
        while twice.size() > 0.0 {
            twice.run(1 << 30);
        }
        self.state.checker.on_twice(&twice.done());
        Ok(())
    }
}

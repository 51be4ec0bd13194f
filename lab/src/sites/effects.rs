//! [`SiteWorkerEffects`]: what one worker of a simulated site can do, including its gateway.

use super::fleet_state::FleetState;
use crate::load::{Hand, Load};
use pleach_core::lease::SiteId;
use pleach_core::search::work::Work;
use pleach_core::steal::{Effects, InFlight, Message, PeerId, Violation};
use pleach_core::wire::checkpoint::Cut;
use std::sync::Arc;

/// One worker, and all the sites around it.
pub(super) struct SiteWorkerEffects<'w, 'a, L: Load> {
    pub state: &'w mut FleetState<'a, L>,
    pub site: SiteId,
    /// Its number inside its site.
    pub me: PeerId,
    pub now_ns: u64,
}

impl<L: Load> SiteWorkerEffects<'_, '_, L> {
    fn worker(&self) -> u32 {
        self.state.gateway(self.site) + self.me
    }

    fn hand(&mut self) -> &mut dyn Hand {
        let worker = self.worker() as usize;
        &mut *self.state.workers[worker].hand
    }
}

impl<L: Load> Effects for SiteWorkerEffects<'_, '_, L> {
    type Piece = Arc<Work>;
    type Error = String;

    /// A gateway can give everything it has, so it reports one node more.
    fn size(&mut self) -> f64 {
        if self.me > 0 {
            return self.hand().size();
        }
        let spare = self.hand().size();
        if spare > 0.0 { spare + 1.0 } else { 0.0 }
    }

    fn size_of(&self, piece: &Arc<Work>) -> f64 {
        piece.size
    }

    fn split(&mut self, share: f64) -> Result<Option<Arc<Work>>, String> {
        if self.me == 0 {
            let worker = self.worker();
            return Ok(self.state.split_spare(worker, share).map(Arc::new));
        }
        let piece = self.hand().split(share).map(Arc::new);
        if piece.is_none() && self.hand().may_give_nothing() {
            return Ok(None);
        }
        piece.map(Some).ok_or(format!("worker {} gave from fewer than two nodes", self.worker()))
    }

    fn add_work(&mut self, piece: Arc<Work>) -> Result<(), String> {
        let put = self.hand().add_work(&piece.bytes);
        put.map_err(|why| format!("a piece cannot be read: {why}"))
    }

    fn send(&mut self, to: PeerId, message: Message, piece: Option<Arc<Work>>) {
        self.state.send_near(self.site, self.me, to, (message, piece), self.now_ns);
    }

    fn cut(&mut self, _epoch: u64, in_flight: InFlight<Arc<Work>>) -> Result<(), String> {
        let (work, done) = (self.hand().copy(), self.hand().done());
        let cut = Cut { peer: self.me, work, counts: done.counts.clone(), in_flight };
        let record = &mut self.state.records[self.site as usize];
        record.cuts.push((cut, done));
        if record.cuts.len() == record.peers as usize {
            let gateway = record.first;
            self.state.plan(gateway, self.now_ns);
        }
        Ok(())
    }

    fn join_counter(&mut self) -> Result<(), String> {
        self.state.records[self.site as usize].count += 1;
        Ok(())
    }

    /// The site itself counts as one more, so that its workers never end on their own.
    fn leave_counter(&mut self) -> Result<bool, String> {
        let record = &mut self.state.records[self.site as usize];
        record.count = record.count.checked_sub(1).ok_or("more peers left than had joined")?;
        if record.count == 0 {
            let gateway = record.first;
            self.state.plan(gateway, self.now_ns);
        }
        Ok(false)
    }

    fn update_incumbent(&mut self, score: i64) {
        self.hand().update_incumbent(score);
        if self.me == 0 {
            let gateway = self.worker();
            self.state.plan(gateway, self.now_ns);
        }
    }

    fn wake_at(&mut self, at_ns: u64) {
        self.state.plan_to_wake(self.worker(), at_ns.max(self.now_ns));
    }

    fn finish(&mut self) -> Result<(), String> {
        Err("workers of a site declared the end".into())
    }

    fn report_violation(&mut self, violation: Violation) -> Result<(), String> {
        Err(format!("worker {}: {violation:?}", self.worker()))
    }
}

//! [`InnerEffects`]: the effects of the gateway as a peer among the workers of its site.

use super::spare_piece::SparePiece;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::Work;
use pleach_core::steal::{Effects, InFlight, Message, PeerId, Violation};
use pleach_core::wire::checkpoint::Cut;
use pleach_runtime::error::RunError;
use pleach_runtime::outcome::Balance;
use pleach_runtime::run_state::RunState;
use pleach_runtime::site_state::SiteState;
use pleach_runtime::transport::{PeerMessage, Transport};
use std::sync::Arc;

/// The effects of peer 0 among the workers, which explores at most the top of work that arrives.
pub(super) struct InnerEffects<'a> {
    pub run_state: &'a RunState<'a>,
    pub site_state: &'a SiteState,
    pub spare: SparePiece<'a>,
    pub transport: Transport,
    pub balance: Balance,
    /// What the gateway explored itself: the top of work that arrived.
    pub counts: Counts,
    /// When to wake its peer.
    pub wake_at_ns: Option<u64>,
}

impl Effects for InnerEffects<'_> {
    type Piece = Arc<Work>;
    type Error = RunError;

    /// The gateway may give all its work, so it pretends to have one more node.
    fn size(&mut self) -> f64 {
        let spare = self.spare.size();
        if spare > 0.0 { spare + 1.0 } else { 0.0 }
    }

    fn size_of(&self, piece: &Arc<Work>) -> f64 {
        piece.size
    }

    fn split(&mut self, share: f64) -> Result<Option<Arc<Work>>, RunError> {
        Ok(self.spare.split(share).map(Arc::new))
    }

    fn add_work(&mut self, piece: Arc<Work>) -> Result<(), RunError> {
        Ok(self.spare.add_work(&piece.bytes)?)
    }

    fn send(&mut self, to: PeerId, message: Message, work: Option<Arc<Work>>) {
        self.balance.messages += 1;
        if let Some(work) = work.as_ref().filter(|_| message.brings_work()) {
            self.balance.moved_bytes += work.bytes.len() as u64;
        }
        self.transport.send(to, PeerMessage { from: 0, message, work });
    }

    fn cut(&mut self, _epoch: u64, in_flight: InFlight<Arc<Work>>) -> Result<(), RunError> {
        let work = self.spare.copy();
        self.site_state.hand_in(Cut { peer: 0, work, counts: self.counts.clone(), in_flight });
        Ok(())
    }

    fn join_counter(&mut self) -> Result<(), RunError> {
        self.run_state.control().add_busy();
        Ok(())
    }

    /// The gateway checks by itself whether nobody is busy.
    fn leave_counter(&mut self) -> Result<bool, RunError> {
        self.run_state.control().remove_busy();
        Ok(false)
    }

    /// Workers of one process share the incumbent.
    fn update_incumbent(&mut self, _score: i64) {}

    fn wake_at(&mut self, at_ns: u64) {
        self.wake_at_ns = Some(at_ns);
    }

    fn finish(&mut self) -> Result<(), RunError> {
        Ok(())
    }

    fn report_violation(&mut self, violation: Violation) -> Result<(), RunError> {
        Err(RunError::Protocol(format!("the gateway: {violation:?}")))
    }
}

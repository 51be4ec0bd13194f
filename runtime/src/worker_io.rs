//! [`WorkerIo`]: a worker's executor, mailbox and counts, and the effects of its peer.

use crate::error::RunError;
use crate::executor::Executor;
use crate::outcome::{Balance, WorkerReport};
use crate::run_state::RunState;
use crate::transport::{PeerMessage, Transport};
use pleach_core::search::work::Work;
use pleach_core::steal::{Effects, InFlight, Message, PeerId, Violation};
use pleach_core::wire::checkpoint::Cut;
use std::sync::Arc;

/// A worker without its peer.
pub(crate) struct WorkerIo<'a> {
    pub me: PeerId,
    pub run_state: &'a RunState<'a>,
    pub executor: Box<dyn Executor + 'a>,
    pub transport: Transport,
    pub report: WorkerReport,
    pub balance: Balance,
    /// When to wake the peer.
    pub wake_at_ns: Option<u64>,
    /// When it last asked for work.
    asked_at_ns: u64,
}

impl<'a> WorkerIo<'a> {
    pub fn new(
        me: PeerId,
        run_state: &'a RunState<'a>,
        executor: Box<dyn Executor + 'a>,
        transport: Transport,
        report: WorkerReport,
    ) -> Self {
        let balance = Balance::default();
        let (wake_at_ns, asked_at_ns) = (None, 0);
        Self { me, run_state, executor, transport, report, balance, wake_at_ns, asked_at_ns }
    }

    /// Hands over all work and counts of the worker. The worker keeps nothing, and discards earlier messages.
    pub fn hand_over(&mut self, in_flight: InFlight<Arc<Work>>) -> Cut {
        self.report.counts.add(&self.executor.flush().counts);
        while self.transport.poll().is_some() {}
        self.wake_at_ns = None;
        self.run_state.counters(self.me).publish_size(0.0);
        let work = self.executor.explorer().drain();
        Cut { peer: self.me, work, counts: self.report.counts.clone(), in_flight }
    }

    /// Counts a message that is about to be read.
    pub fn note_message(&mut self, message: &Message) {
        if message.brings_work() {
            self.report.steals += 1;
            if self.balance.steal_ns.len() < Balance::KEPT {
                self.balance.steal_ns.push(self.run_state.now_ns() - self.asked_at_ns);
            }
        }
        if *message == Message::Refuse {
            self.balance.refused += 1;
        }
    }
}

impl Effects for WorkerIo<'_> {
    type Piece = Arc<Work>;
    type Error = RunError;

    fn size(&mut self) -> f64 {
        self.executor.explorer().size()
    }

    fn size_of(&self, piece: &Arc<Work>) -> f64 {
        piece.size
    }

    fn split(&mut self, share: f64) -> Result<Option<Arc<Work>>, RunError> {
        let explorer = self.executor.explorer();
        let piece = if share < 1.0 { explorer.split(share) } else { Some(explorer.drain()) };
        self.run_state.counters(self.me).publish_size(explorer.size());
        Ok(piece.map(Arc::new))
    }

    fn add_work(&mut self, piece: Arc<Work>) -> Result<(), RunError> {
        self.executor.explorer().add_work(&piece.bytes)?;
        let counters = self.run_state.counters(self.me);
        counters.include_work(piece.least_bound);
        counters.publish_size(self.executor.explorer().size());
        Ok(())
    }

    fn send(&mut self, to: PeerId, message: Message, work: Option<Arc<Work>>) {
        if matches!(message, Message::Ask { .. }) {
            self.balance.requests += 1;
            self.asked_at_ns = self.run_state.now_ns();
        }
        if let Some(work) = work.as_ref().filter(|_| message.brings_work()) {
            self.balance.served += 1;
            self.balance.moved_bytes += work.bytes.len() as u64;
        }
        self.balance.messages += 1;
        self.transport.send(to, PeerMessage { from: self.me, message, work });
    }

    fn cut(&mut self, _epoch: u64, in_flight: InFlight<Arc<Work>>) -> Result<(), RunError> {
        self.report.counts.add(&self.executor.flush().counts);
        let (peer, work) = (self.me, self.executor.explorer().copy());
        self.run_state.hand_in(Cut { peer, work, counts: self.report.counts.clone(), in_flight });
        Ok(())
    }

    fn join_counter(&mut self) -> Result<(), RunError> {
        self.run_state.control().add_busy();
        Ok(())
    }

    fn leave_counter(&mut self) -> Result<bool, RunError> {
        let Some(site_state) = self.run_state.site_state() else {
            return Ok(self.run_state.control().remove_busy());
        };
        if self.executor.explorer().size() == 0.0 {
            self.report.counts.add(&self.executor.flush().counts);
            site_state.record_counts(self.me, self.report.counts.clone());
        }
        if self.run_state.control().remove_busy() {
            site_state.wake_gateway();
        }
        // The gateway decides when the search is over.
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
        Err(RunError::Protocol(format!("peer {}: {violation:?}", self.me)))
    }
}

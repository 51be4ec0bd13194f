//! [`ClusterState`]: a simulated cluster without its peers: the workers, their messages, and the pending events.

use super::checker::Checker;
use super::load::{Hand, Load, WorkResult};
use super::machine::Clock;
use super::network::Traffic;
use super::queue::Queue;
use super::slots::Slots;
use pleach_core::search::work::Work;
use pleach_core::steal::{Message, PeerId};
use std::collections::VecDeque;
use std::sync::Arc;

/// A message on its way or waiting to be read.
pub(super) struct SimMessage {
    pub from: PeerId,
    pub to: PeerId,
    pub message: Message,
    pub work: Option<Arc<Work>>,
}

/// A stretch of work in progress.
pub(super) struct Stretch {
    pub since_ns: u64,
    pub until_ns: u64,
    /// Its result, if that is already known; otherwise its cost.
    pub result: Result<WorkResult, u64>,
    /// The depth down to which it explores, if the peer demanded one.
    pub to_depth: Option<u32>,
}

/// A worker without its peer.
pub(super) struct Worker<'a> {
    pub hand: Box<dyn Hand + 'a>,
    pub clock: Clock,
    pub messages: VecDeque<u32>,
    pub stretch: Option<Stretch>,
    /// When the next turn is due. All its other turns in the queue are stale.
    pub turn_ns: u64,
    /// When it will have read its current message.
    pub free_ns: u64,
    pub wake_ns: u64,
    pub began: bool,
    pub busy_ns: u64,
}

impl<'a> Worker<'a> {
    /// A worker that has not begun.
    pub fn new(hand: Box<dyn Hand + 'a>, clock: Clock) -> Self {
        Self {
            hand,
            clock,
            messages: VecDeque::new(),
            stretch: None,
            turn_ns: NEVER,
            free_ns: 0,
            wake_ns: NEVER,
            began: false,
            busy_ns: 0,
        }
    }

    /// When it next looks at its messages; `None` if it will do so anyway, when it begins or at the end of its stretch.
    pub fn looks_ns(&self, now_ns: u64) -> Option<u64> {
        match &self.stretch {
            _ if !self.began => None,
            None => Some(now_ns.max(self.free_ns)),
            Some(Stretch { result: Ok(_), .. }) => None,
            Some(Stretch { since_ns, until_ns, .. }) => {
                let poll_ns = self.clock.poll_ns.max(1);
                let looks = now_ns.saturating_sub(*since_ns).div_ceil(poll_ns);
                Some((since_ns + looks * poll_ns).min(*until_ns))
            }
        }
    }

    /// Ends a stretch, maybe early. Returns what it did and how long it took; `None` if it had not begun.
    pub fn end_stretch(&mut self, stretch: Stretch, now_ns: u64) -> Option<(WorkResult, u64)> {
        let Stretch { since_ns, until_ns, result, .. } = stretch;
        if now_ns < until_ns && now_ns <= since_ns {
            return None;
        }
        let ran = match result {
            Ok(ran) => ran,
            Err(cost_ns) if now_ns >= until_ns => self.hand.run(cost_ns),
            Err(cost_ns) => self.hand.run(self.clock.done(since_ns, now_ns).min(cost_ns)),
        };
        let busy_ns = now_ns - since_ns;
        self.busy_ns += busy_ns;
        Some((ran, busy_ns))
    }
}

/// No time.
pub(super) const NEVER: u64 = u64::MAX;

/// The kinds of events, in the last two bits of a word in the queue; the other bits say which worker or message it is.
pub(super) const MESSAGE: u64 = 0;
pub(super) const TURN: u64 = 1;
pub(super) const WAKE: u64 = 2;
pub(super) const SNAPSHOT: u64 = 3;

/// A cluster without its peers.
pub(super) struct ClusterState<'a, L: Load> {
    /// The size of a message without the work that travels with it.
    pub message_bytes: u64,
    pub load: &'a L,
    pub queue: Queue,
    pub traffic: Traffic<'a>,
    pub workers: Vec<Worker<'a>>,
    pub messages: Slots<SimMessage>,
    pub checker: Checker,
    /// The counter that all peers share.
    pub count: u64,
}

impl<L: Load> ClusterState<'_, L> {
    /// Schedules a worker's next turn and replaces any other.
    pub fn plan(&mut self, me: PeerId, at_ns: u64) {
        self.workers[me as usize].turn_ns = at_ns;
        self.queue.push(at_ns, u64::from(me) << 2 | TURN);
    }

    /// Schedules a worker's wake-up.
    pub fn plan_to_wake(&mut self, me: PeerId, at_ns: u64) {
        self.workers[me as usize].wake_ns = at_ns;
        self.queue.push(at_ns, u64::from(me) << 2 | WAKE);
    }

    /// Sends a message.
    pub fn post(
        &mut self,
        from: PeerId,
        to: PeerId,
        message: Message,
        work: Option<Arc<Work>>,
        now_ns: u64,
    ) {
        let work_bytes = work.as_ref().map_or(0, |work| work.bytes.len() as u64);
        let bytes = self.message_bytes + work_bytes;
        self.checker.on_send(from, &message, bytes, work_bytes);
        let at_ns = self.traffic.send(from, to, bytes, now_ns);
        let place = self.messages.put(SimMessage { from, to, message, work });
        self.queue.push(at_ns, u64::from(place) << 2 | MESSAGE);
    }
}

//! [`ClusterState`]: a simulated cluster without its peers: the units, their messages, and the pending events.

use super::checker::Checker;
use super::load::{Hand, Load, WorkResult};
use super::machine::Clock;
use super::network::Traffic;
use super::queue::Queue;
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
}

/// A unit without its peer.
pub(super) struct Unit<'a> {
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
    /// The depth down to which it explores next, before it gives.
    pub seeds: Option<u32>,
}

impl<'a> Unit<'a> {
    /// A unit that has not begun.
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
            seeds: None,
        }
    }
}

/// No time.
pub(super) const NEVER: u64 = u64::MAX;

/// The kinds of events, in the last two bits of a word in the queue; the other bits say which unit or message it is.
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
    pub units: Vec<Unit<'a>>,
    pub messages: Vec<Option<SimMessage>>,
    /// Free places in `messages`.
    pub empty: Vec<u32>,
    pub checker: Checker,
    /// The counter that all peers share.
    pub count: u64,
}

impl<L: Load> ClusterState<'_, L> {
    /// Schedules a unit's next turn and replaces any other.
    pub fn plan(&mut self, me: PeerId, at_ns: u64) {
        self.units[me as usize].turn_ns = at_ns;
        self.queue.push(at_ns, u64::from(me) << 2 | TURN);
    }

    /// Schedules a unit's wake-up.
    pub fn plan_to_wake(&mut self, me: PeerId, at_ns: u64) {
        self.units[me as usize].wake_ns = at_ns;
        self.queue.push(at_ns, u64::from(me) << 2 | WAKE);
    }

    pub fn take_message(&mut self, in_flight: u32) -> Option<SimMessage> {
        self.empty.push(in_flight);
        self.messages[in_flight as usize].take()
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
        let in_flight = Some(SimMessage { from, to, message, work });
        let place = if let Some(place) = self.empty.pop() {
            self.messages[place as usize] = in_flight;
            place
        } else {
            self.messages.push(in_flight);
            self.messages.len() as u32 - 1
        };
        self.queue.push(at_ns, u64::from(place) << 2 | MESSAGE);
    }
}

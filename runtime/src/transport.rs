//! [`Transport`]: messages and work between the threads of a process, through a mailbox per peer, which can wake its
//! owner.

use crate::sync::{AtomicBool, Condvar, Mutex, Ordering, lock, spin_loop};
use pleach_core::search::work::Work;
use pleach_core::steal::{Message, PeerId};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long an idle thread polls for messages before it sleeps.
pub const SPIN: Duration = Duration::from_micros(20);

/// A message on its way, with the work that goes with it.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerMessage {
    /// The sender.
    pub from: PeerId,
    /// The message.
    pub message: Message,
    /// The work that goes with a [`Message::Work`] or a [`Message::Late`], and with no other.
    pub work: Option<Arc<Work>>,
}

#[derive(Default)]
struct MailboxState {
    queue: VecDeque<PeerMessage>,
    asleep: bool,
    woken: bool,
}

/// One peer's mailbox.
#[derive(Default)]
pub struct Mailbox {
    slot: Mutex<MailboxState>,
    waker: Condvar,
    /// Whether `queue` is not empty or the owner must wake up; readable without the lock.
    waiting: AtomicBool,
}

impl Mailbox {
    /// Adds a message and wakes the owner if it sleeps.
    pub fn push(&self, message: PeerMessage) {
        self.change(|slot| slot.queue.push_back(message));
    }

    /// Wakes the owner without a message.
    pub fn wake_owner(&self) {
        self.change(|slot| slot.woken = true);
    }

    fn change(&self, what: impl FnOnce(&mut MailboxState)) {
        let mut slot = lock(&self.slot);
        what(&mut slot);
        self.waiting.store(true, Ordering::Release);
        let asleep = slot.asleep;
        drop(slot);
        if asleep {
            self.waker.notify_one();
        }
    }

    /// Takes all messages.
    pub fn collect(&self, into: &mut VecDeque<PeerMessage>) {
        let mut slot = lock(&self.slot);
        into.append(&mut slot.queue);
        slot.woken = false;
        self.waiting.store(false, Ordering::Release);
    }

    /// Sleeps until a message or a wake-up arrives, or the time is up.
    fn sleep(&self, at_most: Option<Duration>) {
        let mut slot = lock(&self.slot);
        let deadline = at_most.map(|time| Instant::now() + time);
        slot.asleep = true;
        while slot.queue.is_empty() && !slot.woken {
            let Some(deadline) = deadline else {
                slot = self.waker.wait(slot).unwrap_or_else(std::sync::PoisonError::into_inner);
                continue;
            };
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { break };
            let woken = self.waker.wait_timeout(slot, left);
            slot = woken.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
        slot.asleep = false;
    }
}

/// The mailboxes of a process. Clones share them.
#[derive(Clone)]
pub struct Mailboxes {
    boxes: Arc<[Mailbox]>,
}

impl Mailboxes {
    /// Creates mailboxes for this many peers.
    #[must_use]
    pub fn new(peers: u32) -> Self {
        Self { boxes: (0..peers).map(|_| Mailbox::default()).collect() }
    }

    /// The number of mailboxes.
    #[must_use]
    pub fn peers(&self) -> u32 {
        self.boxes.len() as u32
    }

    /// A peer's access to the mailboxes.
    #[must_use]
    pub fn transport(&self, me: PeerId) -> Transport {
        Transport { boxes: Arc::clone(&self.boxes), me, inbox: VecDeque::new(), spin: SPIN }
    }

    /// Wakes one peer.
    pub fn wake_peer(&self, peer: PeerId) {
        self.boxes[peer as usize].wake_owner();
    }

    /// Wakes all peers.
    pub fn wake_all(&self) {
        self.boxes.iter().for_each(Mailbox::wake_owner);
    }

    /// Takes the messages that were never read.
    #[must_use]
    pub fn leftovers(&self) -> Vec<PeerMessage> {
        let mut all = VecDeque::new();
        self.boxes.iter().for_each(|mailbox| mailbox.collect(&mut all));
        all.into()
    }
}

/// One peer's access to the messages of its process.
///
/// Messages between two peers arrive in the order sent; no other order is guaranteed. Sending never blocks.
pub struct Transport {
    boxes: Arc<[Mailbox]>,
    me: PeerId,
    inbox: VecDeque<PeerMessage>,
    /// How long to poll for messages before sleeping.
    pub spin: Duration,
}

impl Transport {
    fn own(&self) -> &Mailbox {
        &self.boxes[self.me as usize]
    }

    /// Sends a message to another peer.
    pub fn send(&mut self, to: PeerId, message: PeerMessage) {
        self.boxes[to as usize].push(message);
    }

    /// Takes the next message, if any.
    pub fn poll(&mut self) -> Option<PeerMessage> {
        if self.inbox.is_empty() && self.waiting() {
            let mailbox = &self.boxes[self.me as usize];
            mailbox.collect(&mut self.inbox);
        }
        self.inbox.pop_front()
    }

    /// Whether a message may be waiting; cheap enough to call every microsecond.
    #[inline]
    pub fn waiting(&self) -> bool {
        self.own().waiting.load(Ordering::Acquire)
    }

    /// Waits for a message, a wake-up, or the end of this time.
    pub fn wait(&mut self, at_most: Option<Duration>) {
        if !self.inbox.is_empty() {
            return;
        }
        let start = Instant::now();
        let spin = at_most.map_or(self.spin, |time| time.min(self.spin));
        while !self.waiting() {
            if start.elapsed() >= spin {
                let left = at_most.map(|time| time.saturating_sub(start.elapsed()));
                if left != Some(Duration::ZERO) {
                    self.own().sleep(left);
                }
                return;
            }
            spin_loop();
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;

    /// Every message is seen and no wake-up is lost, however sender and sleeper interleave.
    #[test]
    fn no_wake_is_lost() {
        loom::model(|| {
            let mailbox = loom::sync::Arc::new(Mailbox::default());
            let senders: Vec<_> = (1..3)
                .map(|from| {
                    let mailbox = mailbox.clone();
                    let message = PeerMessage { from, message: Message::Refuse, work: None };
                    loom::thread::spawn(move || mailbox.push(message))
                })
                .collect();
            let mut seen = VecDeque::new();
            while seen.len() < 2 {
                mailbox.sleep(None);
                mailbox.collect(&mut seen);
            }
            senders.into_iter().for_each(|sender| sender.join().unwrap());
            assert!(!mailbox.waiting.load(Ordering::Acquire));
        });
    }

    /// After a message is pushed, either the flag is set or the message has been taken.
    #[test]
    fn the_flag_announces_every_message() {
        loom::model(|| {
            let mailbox = loom::sync::Arc::new(Mailbox::default());
            let sender = {
                let mailbox = mailbox.clone();
                let message = PeerMessage { from: 1, message: Message::Refuse, work: None };
                loom::thread::spawn(move || mailbox.push(message))
            };
            let mut seen = VecDeque::new();
            if mailbox.waiting.load(Ordering::Acquire) {
                mailbox.collect(&mut seen);
                assert_eq!(seen.len(), 1);
            }
            sender.join().unwrap();
            assert_eq!(mailbox.waiting.load(Ordering::Acquire), seen.is_empty());
        });
    }

    /// A wake-up without a message wakes a sleeper just as a message does.
    #[test]
    fn a_wake_up_without_a_message_wakes() {
        loom::model(|| {
            let mailbox = loom::sync::Arc::new(Mailbox::default());
            let waker = {
                let mailbox = mailbox.clone();
                loom::thread::spawn(move || mailbox.wake_owner())
            };
            mailbox.sleep(None);
            waker.join().unwrap();
        });
    }
}

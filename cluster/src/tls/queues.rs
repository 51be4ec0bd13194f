//! The queues between the caller's thread and the loop's thread: [`Orders`] one way, the [`CallerMailbox`] the other.

use super::logic::{Delivery, HubCommand, HubEvent};
use super::wire::Wire;
use crate::Rank;
use pleach_runtime::sync::lock;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A thread of the network calls this when something arrives after a poll found nothing.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// A command, perhaps with a connection.
pub enum QueuedCommand {
    Command(HubCommand),
    Wire(u32, Box<Wire>, HubCommand),
}

/// Commands on their way to a loop, which is woken for them.
pub struct Orders {
    queue: Mutex<Vec<QueuedCommand>>,
    waker: mio::Waker,
    stop: AtomicBool,
    /// The number of connections that the loop serves.
    pub connections: AtomicUsize,
}

impl Orders {
    pub fn new(waker: mio::Waker) -> Self {
        let (stop, connections) = Default::default();
        Self { queue: Mutex::default(), waker, stop, connections }
    }

    pub fn push(&self, item: QueuedCommand) {
        let mut queue = lock(&self.queue);
        queue.push(item);
        let first = queue.len() == 1;
        drop(queue);
        if first {
            self.wake();
        }
    }

    /// Takes all commands in order.
    pub fn take_all(&self, into: &mut Vec<QueuedCommand>) {
        std::mem::swap(&mut *lock(&self.queue), into);
    }

    /// Ends the loop.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.wake();
    }

    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    fn wake(&self) {
        // This fails only without memory; the loop also checks twice a second.
        let _: io::Result<()> = self.waker.wake();
    }
}

/// The maximum number of events that wait for the caller.
const MOST_EVENTS: usize = 1000;

#[derive(Default)]
struct CallerQueues {
    deliveries: VecDeque<Delivery>,
    events: VecDeque<HubEvent>,
    /// Sites of which a part of a long message has arrived.
    arriving: BTreeSet<Rank>,
    /// Bytes of unread messages, by the connection that they came on.
    unread: BTreeMap<u32, usize>,
}

/// Arrivals and events for the caller.
pub struct CallerMailbox {
    inside: Mutex<CallerQueues>,
    wake: Wake,
}

impl CallerMailbox {
    pub fn new(wake: Wake) -> Self {
        Self { inside: Mutex::default(), wake }
    }

    /// Adds arrivals and events, and wakes the caller if it may sleep. Returns the connections with more than this many
    /// bytes of unread messages.
    pub fn push_all(
        &self,
        deliveries: &mut Vec<Delivery>,
        events: &mut Vec<HubEvent>,
        most: usize,
    ) -> Vec<u32> {
        if deliveries.is_empty() && events.is_empty() {
            return Vec::new();
        }
        let mut inside = lock(&self.inside);
        let wake = !deliveries.is_empty() && inside.deliveries.is_empty()
            || !events.is_empty() && inside.events.is_empty();
        let mut flooded = Vec::new();
        for delivery in deliveries.drain(..) {
            if let Some((number, bytes)) = weight(&delivery) {
                let unread = inside.unread.entry(number).or_default();
                *unread += bytes;
                if *unread > most && !flooded.contains(&number) {
                    flooded.push(number);
                }
            }
            inside.deliveries.push_back(delivery);
        }
        for event in events.drain(..) {
            // The caller may not poll for days, while processes ask and go away.
            if let HubEvent::Withdrawn { number } = event
                && let Some(at) = inside.events.iter().position(
                    |it| matches!(it, HubEvent::JoinRequest { number: its, .. } if *its == number),
                )
            {
                inside.events.remove(at);
                continue;
            }
            let keep = inside.events.len() < MOST_EVENTS || !matches!(event, HubEvent::Note(_));
            if keep {
                inside.events.push_back(event);
            }
        }
        drop(inside);
        if wake {
            (self.wake)();
        }
        flooded
    }

    pub fn pop(&self) -> Option<Delivery> {
        let mut inside = lock(&self.inside);
        let delivery = inside.deliveries.pop_front()?;
        if let Some((number, bytes)) = weight(&delivery)
            && let Some(unread) = inside.unread.get_mut(&number)
        {
            *unread -= bytes;
            if *unread == 0 {
                inside.unread.remove(&number);
            }
        }
        Some(delivery)
    }

    /// The bytes of unread messages that came on this connection.
    pub fn unread_bytes(&self, number: u32) -> usize {
        lock(&self.inside).unread.get(&number).copied().unwrap_or_default()
    }

    /// Notes the sites of which a part of a long message has arrived.
    pub fn note_arriving(&self, sites: &mut Vec<Rank>) {
        if !sites.is_empty() {
            lock(&self.inside).arriving.extend(sites.drain(..));
        }
    }

    /// A site of which a part of a long message has arrived since the last call.
    pub fn take_arriving(&self) -> Option<Rank> {
        lock(&self.inside).arriving.pop_first()
    }

    /// Whether something waits for the caller.
    pub fn has_arrivals(&self) -> bool {
        !lock(&self.inside).deliveries.is_empty()
    }

    pub fn take_event(&self) -> Option<HubEvent> {
        lock(&self.inside).events.pop_front()
    }
}

/// The connection of a message, and the bytes that it counts for.
fn weight(delivery: &Delivery) -> Option<(u32, usize)> {
    match delivery {
        // A message takes memory even if it is empty.
        Delivery::Message { number, bytes, .. } => Some((*number, bytes.len() + 64)),
        _ => None,
    }
}

/// Limits notes about unauthenticated peers: a few at once, then one a second.
pub struct Notes {
    left: u32,
    since: Instant,
    silent: u64,
}

impl Notes {
    const BURST: u32 = 5;

    pub fn new(now: Instant) -> Self {
        Self { left: Self::BURST, since: now, silent: 0 }
    }

    /// The note, if it may be shown now, with the number of notes that were not.
    pub fn admit(&mut self, note: &str, now: Instant) -> Option<String> {
        let seconds = now.saturating_duration_since(self.since).as_secs();
        self.since += Duration::from_secs(seconds);
        self.left = Self::BURST.min(self.left.saturating_add(seconds as u32));
        if self.left == 0 {
            self.silent += 1;
            return None;
        }
        self.left -= 1;
        let silent = std::mem::take(&mut self.silent);
        let more = format!(" ({silent} more were not shown)");
        Some(format!("{note}{}", if silent > 0 { &more } else { "" }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::hello::Hello;
    use super::*;

    #[test]
    fn notes_are_rate_limited() {
        let start = Instant::now();
        let mut notes = Notes::new(start);
        let noted = (0..1000).filter_map(|_| notes.admit("a", start)).count();
        assert_eq!(noted, 5);
        let later = start + Duration::from_millis(1500);
        assert_eq!(notes.admit("b", later), Some("b (995 more were not shown)".into()));
        assert_eq!(notes.admit("c", later), None);
    }

    /// Each process that asked to join used to stay here until the caller polled.
    #[test]
    fn requests_that_were_withdrawn_before_anyone_looked_are_forgotten() {
        let mailbox = CallerMailbox::new(Arc::new(|| {}));
        let hello =
            Hello { version: "1".into(), host: "a".into(), contact: None, bytes: Vec::new() };
        let asks = |number| HubEvent::JoinRequest { number, hello: hello.clone() };
        let put = |event| mailbox.push_all(&mut Vec::new(), &mut vec![event], 0);
        for number in 0..1000 {
            put(asks(number));
            put(HubEvent::Withdrawn { number });
        }
        put(asks(1000));
        assert_eq!(mailbox.take_event(), Some(asks(1000)));
        // The caller knows of this one.
        put(HubEvent::Withdrawn { number: 1000 });
        assert_eq!(mailbox.take_event(), Some(HubEvent::Withdrawn { number: 1000 }));
        assert_eq!(mailbox.take_event(), None);
    }

    #[test]
    fn messages_that_wait_are_counted_by_connection() {
        let mailbox = CallerMailbox::new(Arc::new(|| {}));
        let message = |number| Delivery::Message { from: 1, number, bytes: vec![0; 36] };
        let put =
            |number, most| mailbox.push_all(&mut vec![message(number)], &mut Vec::new(), most);
        assert_eq!(put(3, 150), []);
        assert_eq!(put(4, 150), []);
        assert_eq!(put(3, 150), [3]);
        assert_eq!([3, 4, 5].map(|number| mailbox.unread_bytes(number)), [200, 100, 0]);
        while mailbox.pop().is_some() {}
        assert_eq!(mailbox.push_all(&mut vec![message(3)], &mut Vec::new(), 150), []);
    }
}

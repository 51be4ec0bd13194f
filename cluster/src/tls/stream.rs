//! [`StreamSender`] and [`StreamReceiver`]: the messages of one joiner to another on a direct link, none of which is
//! lost or delivered twice when the link breaks. Pure.
//!
//! Messages go through the root, until the sender begins a *stream*: it sends the stream's number both through the root
//! and on the link, and then all messages on the link. The receiver delivers messages of a stream only once its number
//! has come through the root, so that they do not overtake earlier ones. The sender keeps messages until the receiver
//! confirms them. When the link breaks, the sender asks through the root how many have arrived, and sends the others
//! through the root.

use std::collections::VecDeque;
use std::sync::Arc;

/// The way that messages take to another site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// Through the root.
    #[default]
    Root,
    /// On this link.
    Link(u32),
    /// None until the other site has said what arrived of the stream whose link broke.
    Broken,
}

/// Messages to another site.
#[derive(Debug, Default)]
pub struct StreamSender {
    pub way: Way,
    /// The number of the latest stream.
    pub stream: u64,
    /// How many messages of the stream are known to have arrived.
    arrived: u64,
    /// The messages after those.
    kept: VecDeque<Arc<[u8]>>,
    bytes: usize,
}

impl StreamSender {
    /// Begins the next stream, on this link. Returns its number.
    pub fn begin(&mut self, link: u32) -> u64 {
        self.way = Way::Link(link);
        self.stream += 1;
        self.arrived = 0;
        self.stream
    }

    /// Keeps a message until it is confirmed.
    pub fn keep(&mut self, bytes: Arc<[u8]>) {
        self.bytes += weight(&bytes);
        self.kept.push_back(bytes);
    }

    /// The bytes of messages that are not confirmed.
    pub fn kept_bytes(&self) -> usize {
        self.bytes
    }

    /// Whether every message is on its way through the root, or confirmed.
    pub fn is_flushed(&self) -> bool {
        self.kept.is_empty()
    }

    /// Forgets messages that have arrived: this many since the stream began. Returns whether that is possible.
    pub fn confirm(&mut self, count: u64) -> bool {
        let more = count.checked_sub(self.arrived).filter(|&more| more <= self.kept.len() as u64);
        for bytes in self.kept.drain(..more.unwrap_or(0) as usize) {
            self.bytes -= weight(&bytes);
        }
        self.arrived += more.unwrap_or(0);
        more.is_some()
    }

    /// Ends a broken stream. Returns the messages that go through the root.
    pub fn end(&mut self) -> VecDeque<Arc<[u8]>> {
        (self.way, self.bytes) = (Way::Root, 0);
        std::mem::take(&mut self.kept)
    }
}

/// The bytes that a message counts for: even an empty one takes memory.
fn weight(bytes: &[u8]) -> usize {
    bytes.len() + 64
}

/// A stream that arrives.
#[derive(Debug, Default)]
struct ArrivingStream {
    number: u64,
    link: u32,
    received: u64,
    confirmed: u64,
    /// Messages that wait for the stream's number to come through the root, and their bytes.
    held: Vec<Vec<u8>>,
    bytes: usize,
    /// Bytes received since the last confirmation.
    unconfirmed: usize,
}

/// Messages from another site.
#[derive(Debug, Default)]
pub struct StreamReceiver {
    stream: Option<ArrivingStream>,
    /// The number of the stream that the root has announced last.
    announced: u64,
    /// The number of the last stream that has ended.
    ended: u64,
}

/// A receiver confirms this many messages, or bytes, at once; fewer only when some time has passed.
const MESSAGES: u64 = 64;
const BYTES: usize = 256 << 10;

impl StreamReceiver {
    /// Begins a stream on a link. Returns whether that is possible.
    pub fn begin(&mut self, number: u64, link: u32) -> bool {
        let new = self.stream.is_none() && number > self.ended;
        if new {
            self.stream = Some(ArrivingStream { number, link, ..ArrivingStream::default() });
        }
        new
    }

    /// Takes a message of the stream on this link. Returns it if it can be delivered now.
    pub fn add(&mut self, link: u32, bytes: Vec<u8>) -> Option<Vec<u8>> {
        let stream = self.stream.as_mut().filter(|stream| stream.link == link)?;
        stream.received += 1;
        stream.unconfirmed += bytes.len();
        if stream.number == self.announced {
            return Some(bytes);
        }
        stream.bytes += weight(&bytes);
        stream.held.push(bytes);
        None
    }

    /// The bytes of messages that wait for the root's announcement.
    pub fn held_bytes(&self) -> usize {
        self.stream.as_ref().map_or(0, |stream| stream.bytes)
    }

    /// Notes that the root has announced a stream. Returns the messages that can be delivered now.
    pub fn announce(&mut self, number: u64) -> Vec<Vec<u8>> {
        self.announced = number;
        match &mut self.stream {
            Some(stream) if stream.number == number => {
                stream.bytes = 0;
                std::mem::take(&mut stream.held)
            }
            _ => Vec::new(),
        }
    }

    /// The link of the stream, with its number and count of messages, if they should be confirmed now: enough of them
    /// have arrived, or `all` that have are asked for.
    pub fn confirmation(&mut self, all: bool) -> Option<(u32, u64, u64)> {
        let stream = self.stream.as_mut()?;
        let new = stream.received - stream.confirmed;
        if new < MESSAGES && stream.unconfirmed < BYTES && (new == 0 || !all) {
            return None;
        }
        (stream.confirmed, stream.unconfirmed) = (stream.received, 0);
        Some((stream.link, stream.number, stream.received))
    }

    /// Ends a stream whose link broke. Returns how many of its messages arrived, and its link.
    pub fn end(&mut self, number: u64) -> (u64, Option<u32>) {
        self.ended = self.ended.max(number);
        match self.stream.take_if(|stream| stream.number == number) {
            Some(stream) => (stream.received, Some(stream.link)),
            None => (0, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The question through the root may overtake what the link still has.
    #[test]
    fn a_stream_does_not_begin_after_its_end() {
        let mut incoming = StreamReceiver::default();
        assert!(incoming.announce(1).is_empty());
        assert_eq!(incoming.end(1), (0, None));
        assert!(!incoming.begin(1, 7) && incoming.begin(2, 8));
        assert_eq!((incoming.add(7, vec![1]), incoming.add(8, vec![2])), (None, None));
        assert_eq!(incoming.announce(2), [[2]]);
        assert_eq!(incoming.end(2), (1, Some(8)));
    }

    #[test]
    fn impossible_confirmations_change_nothing() {
        let mut outgoing = StreamSender::default();
        outgoing.begin(7);
        (0..3).for_each(|i| outgoing.keep(Arc::from([i])));
        assert!(outgoing.confirm(2) && !outgoing.confirm(1) && !outgoing.confirm(4));
        assert_eq!(outgoing.kept_bytes(), 65);
        assert_eq!(outgoing.end(), [Arc::from([2])]);
        assert!(outgoing.is_flushed());
    }
}

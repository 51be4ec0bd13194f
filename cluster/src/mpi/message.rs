//! Cuts messages into parts that fit into an MPI message, and joins parts into messages; without a network.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of bytes of one MPI message. Counts in MPI have 31 bits; much smaller pieces also keep a message
/// to another site from waiting behind a long one.
pub const CHUNK: usize = 512 << 10;

/// The kind of an MPI message: its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// A whole message of at most [`CHUNK`] bytes.
    Whole = 0,
    /// The length of a longer one, in 8 bytes.
    Length = 1,
    /// The next bytes of it, at most [`CHUNK`].
    Part = 2,
    /// Nothing: the sender sends no more.
    End = 3,
}

impl PartKind {
    pub fn from_tag(tag: i32) -> Option<Self> {
        [Self::Whole, Self::Length, Self::Part, Self::End]
            .into_iter()
            .find(|&kind| kind as i32 == tag)
    }
}

/// The content of one MPI message: part of a message's bytes, which are shared and not copied.
#[derive(Clone, Debug)]
pub struct MessagePart {
    pub kind: PartKind,
    message: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl MessagePart {
    fn new(kind: PartKind, bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        Self { kind, message: Arc::new(bytes), range }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.message[self.range.clone()]
    }
}

/// Messages on their way to one site.
#[derive(Debug, Default)]
pub struct RankOutbox {
    /// The range of the first one covers the rest of it.
    pieces: VecDeque<MessagePart>,
}

impl RankOutbox {
    /// Adds a message.
    pub fn push(&mut self, bytes: Vec<u8>) {
        if bytes.len() <= CHUNK {
            return self.pieces.push_back(MessagePart::new(PartKind::Whole, bytes));
        }
        let length = (bytes.len() as u64).to_le_bytes().to_vec();
        self.pieces.push_back(MessagePart::new(PartKind::Length, length));
        self.pieces.push_back(MessagePart::new(PartKind::Part, bytes));
    }

    /// Adds the end.
    pub fn push_end(&mut self) {
        self.pieces.push_back(MessagePart::new(PartKind::End, Vec::new()));
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Takes the content of the next MPI message.
    pub fn next_part(&mut self) -> Option<MessagePart> {
        let first = self.pieces.front_mut()?;
        if first.range.len() <= CHUNK {
            return self.pieces.pop_front();
        }
        let end = first.range.start + CHUNK;
        let piece = MessagePart { range: first.range.start..end, ..first.clone() };
        first.range.start = end;
        Some(piece)
    }
}

/// What is complete after an MPI message.
#[derive(Debug, PartialEq, Eq)]
pub enum InboxEvent {
    /// No message yet; the memory can be reused.
    Part(Vec<u8>),
    /// A message.
    Message(Vec<u8>),
    /// The sender sends no more.
    End,
}

/// Why an MPI message is invalid.
#[derive(Debug, PartialEq, Eq)]
pub enum PartFault {
    /// The message is longer than allowed.
    TooLong(u64),
    /// The MPI message is out of place.
    Garbled(&'static str),
}

/// Messages on their way from one site.
#[derive(Debug, Default)]
pub struct Inbox {
    /// An incomplete message, and its length.
    open: Option<(Vec<u8>, usize)>,
    ended: bool,
}

impl Inbox {
    /// Whether the sender has announced that it sends no more.
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Takes the next MPI message. No message may be longer than `limit`, and no memory is allocated for a longer one.
    pub fn accept_part(
        &mut self,
        kind: PartKind,
        bytes: Vec<u8>,
        limit: usize,
    ) -> Result<InboxEvent, PartFault> {
        if self.ended {
            return Err(PartFault::Garbled("a message after its last one"));
        }
        if self.open.is_some() != (kind == PartKind::Part) {
            return Err(PartFault::Garbled("parts of messages out of order"));
        }
        match kind {
            PartKind::Whole if bytes.len() > limit => Err(PartFault::TooLong(bytes.len() as u64)),
            PartKind::Whole => Ok(InboxEvent::Message(bytes)),
            PartKind::Length => self.begin(bytes, limit),
            PartKind::Part => self.add(bytes),
            PartKind::End => {
                self.ended = true;
                Ok(InboxEvent::End)
            }
        }
    }

    fn begin(&mut self, bytes: Vec<u8>, limit: usize) -> Result<InboxEvent, PartFault> {
        let length = bytes[..].try_into().map(u64::from_le_bytes);
        let length = length.map_err(|_| PartFault::Garbled("an invalid length"))?;
        match usize::try_from(length) {
            Ok(short) if short <= CHUNK => Err(PartFault::Garbled("a short message in parts")),
            Ok(short) if short <= limit => {
                let mut message = Vec::new();
                message.try_reserve_exact(short).map_err(|_| PartFault::TooLong(length))?;
                self.open = Some((message, short));
                Ok(InboxEvent::Part(bytes))
            }
            _ => Err(PartFault::TooLong(length)),
        }
    }

    fn add(&mut self, bytes: Vec<u8>) -> Result<InboxEvent, PartFault> {
        let Some((mut message, length)) = self.open.take() else {
            return Ok(InboxEvent::Part(bytes));
        };
        if bytes.is_empty() || bytes.len() > length - message.len() {
            return Err(PartFault::Garbled("a part of a wrong length"));
        }
        message.extend_from_slice(&bytes);
        if message.len() == length {
            return Ok(InboxEvent::Message(message));
        }
        self.open = Some((message, length));
        Ok(InboxEvent::Part(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Passes everything from an outbox to an inbox.
    fn travel(outbox: &mut RankOutbox, limit: usize) -> Result<Vec<InboxEvent>, PartFault> {
        let mut inbox = Inbox::default();
        let mut arrived = Vec::new();
        while let Some(piece) = outbox.next_part() {
            assert!(piece.bytes().len() <= CHUNK);
            match inbox.accept_part(piece.kind, piece.bytes().to_vec(), limit)? {
                InboxEvent::Part(_) => {}
                whole => arrived.push(whole),
            }
        }
        Ok(arrived)
    }

    /// Bytes in which no two chunks are equal.
    fn filled(length: usize) -> Vec<u8> {
        (0..length).map(|i| (i ^ (i >> 8) ^ (i >> 16)) as u8).collect()
    }

    fn lengths() -> impl Strategy<Value = usize> {
        let near = |length: usize| length - 2..length + 3;
        prop_oneof![0..100_usize, near(CHUNK), near(2 * CHUNK), CHUNK..5 * CHUNK]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn messages_arrive_whole_and_in_order(lengths in prop::collection::vec(lengths(), 0..6)) {
            let mut outbox = RankOutbox::default();
            let messages: Vec<_> = lengths.into_iter().map(filled).collect();
            messages.iter().for_each(|message| outbox.push(message.clone()));
            outbox.push_end();
            let mut expected: Vec<_> = messages.into_iter().map(InboxEvent::Message).collect();
            expected.push(InboxEvent::End);
            prop_assert_eq!(travel(&mut outbox, 5 * CHUNK), Ok(expected));
            prop_assert!(outbox.is_empty());
        }

        #[test]
        fn no_input_gives_too_long_a_message(
            messages in prop::collection::vec((0..5_i32, 0..70_u64), 0..40),
        ) {
            let (mut inbox, limit) = (Inbox::default(), CHUNK + 50);
            for (tag, size) in messages {
                let Some(kind) = PartKind::from_tag(tag) else { continue };
                let length = (CHUNK as u64 + size).to_le_bytes().to_vec();
                let bytes = if kind == PartKind::Length { length } else { filled(size as usize * 8000) };
                match inbox.accept_part(kind, bytes, limit) {
                    Ok(InboxEvent::Message(message)) => prop_assert!(message.len() <= limit),
                    Ok(_) => {}
                    Err(_) => break,
                }
            }
        }
    }

    #[test]
    fn tags_are_the_kinds() {
        for kind in [PartKind::Whole, PartKind::Length, PartKind::Part, PartKind::End] {
            assert_eq!(PartKind::from_tag(kind as i32), Some(kind));
        }
        assert_eq!((PartKind::from_tag(-1), PartKind::from_tag(4)), (None, None));
    }

    #[test]
    fn parts_share_the_message() {
        let mut outbox = RankOutbox::default();
        outbox.push(filled(2 * CHUNK));
        let pieces: Vec<_> = std::iter::from_fn(|| outbox.next_part()).collect();
        let kinds: Vec<_> = pieces.iter().map(|piece| piece.kind).collect();
        assert_eq!(kinds, [PartKind::Length, PartKind::Part, PartKind::Part]);
        assert!(Arc::ptr_eq(&pieces[1].message, &pieces[2].message));
    }

    #[test]
    fn lengths_are_bounded() {
        let limit = 3 * CHUNK;
        for (length, fits) in [(limit, true), (limit + 1, false)] {
            let mut outbox = RankOutbox::default();
            outbox.push(filled(length));
            assert_eq!(travel(&mut outbox, limit).is_ok(), fits, "{length}");
        }
        let mut outbox = RankOutbox::default();
        outbox.push(filled(9));
        assert_eq!(travel(&mut outbox, 8), Err(PartFault::TooLong(9)));
        let huge = u64::MAX.to_le_bytes().to_vec();
        let taken = Inbox::default().accept_part(PartKind::Length, huge, limit);
        assert_eq!(taken, Err(PartFault::TooLong(u64::MAX)));
    }

    #[test]
    fn invalid_messages_are_refused() {
        let length = |length: usize| (PartKind::Length, (length as u64).to_le_bytes().to_vec());
        let part = |length| (PartKind::Part, vec![0; length]);
        let cases = [
            vec![part(1)],
            vec![length(2 * CHUNK), length(2 * CHUNK)],
            vec![length(2 * CHUNK), (PartKind::Whole, vec![1])],
            vec![length(2 * CHUNK), (PartKind::End, vec![])],
            vec![length(2 * CHUNK), part(0)],
            vec![length(CHUNK + 1), part(CHUNK), part(2)],
            vec![length(CHUNK + 1), part(CHUNK), part(1), part(1)],
            vec![length(CHUNK)],
            vec![(PartKind::Length, vec![0; 7])],
            vec![(PartKind::End, vec![]), (PartKind::End, vec![])],
            vec![(PartKind::End, vec![]), (PartKind::Whole, vec![1])],
        ];
        for messages in cases {
            let mut inbox = Inbox::default();
            let (last, first) = messages.split_last().unwrap();
            for (kind, bytes) in first {
                inbox.accept_part(*kind, bytes.clone(), 4 * CHUNK).unwrap();
            }
            let taken = inbox.accept_part(last.0, last.1.clone(), 4 * CHUNK);
            assert!(matches!(taken, Err(PartFault::Garbled(_))), "{:?}: {taken:?}", last.0);
        }
    }
}

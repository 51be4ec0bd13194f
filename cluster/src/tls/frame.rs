//! [`Frame`]: the unit of transfer over TLS: a head of 16 bytes and a body. All numbers are little-endian.
//!
//! The head: kind, three zeros, length of the body, site, number. In frames to the root, the site is the receiver; in
//! frames from the root, it is the site that the frame is about. The number is that of a connection: a place may pass
//! to another process, and a message for one process must not reach the next. On direct links both are zero.

/// Bytes of a head.
pub const HEAD: usize = 16;
/// The longest part of a message. Longer messages are cut, so that others need not wait behind them.
pub const CHUNK: usize = 32 << 10;
/// The maximum number of bytes of its own that a joining caller may send.
pub const BYTES_LIMIT: usize = 4096;
/// The longest name of a host or version.
pub const NAME_LIMIT: usize = 100;
/// The longest contact: a key of 44 bytes and an address of IPv6 with its scope.
pub const CONTACT_LIMIT: usize = 44 + 58;
/// The longest hello.
pub const HELLO_LIMIT: usize = 32 + 2 * NAME_LIMIT + CONTACT_LIMIT + BYTES_LIMIT;
/// The longest reason.
pub const REASON_LIMIT: usize = 1000;

/// The kind of a frame. [`FrameKind::Hello`] and [`FrameKind::Refuse`] must never change: other versions must
/// understand them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameKind {
    /// A sign of life.
    Beat,
    /// The joiner's first frame.
    Hello,
    /// A code and a reason: the connection ends.
    Refuse,
    /// The joiner's place, its connection's number, and the number of places. The first message from site 0 after it
    /// has the bytes of the root's caller.
    Welcome,
    /// Another site has joined.
    Joined,
    /// Another site is gone.
    Lost,
    /// A message of at most [`CHUNK`] bytes.
    Whole,
    /// The length of a longer message.
    Start,
    /// The next bytes of it.
    Part,
    /// The joiner sends no more messages.
    Finish,
    /// No site sends any more, and all messages have arrived.
    End,
    /// The joiner's last frame.
    Bye,
    /// A joiner wants to write to another one directly.
    Introduce,
    /// The contact of the site that this frame is about.
    Introduced,
    /// The first frame on a direct link from the site that was called: the link is open.
    Linked,
    /// The number of a stream: what follows comes directly, and is part of it. Sent both ways.
    Switched,
    /// The number of a stream whose link broke: how many of its messages arrived?
    Broken,
    /// The number of a stream, and how many of its messages have arrived.
    Received,
}

/// All kinds by their numbers, with the shortest and the longest body.
const KINDS: [(FrameKind, usize, usize); 18] = [
    (FrameKind::Beat, 0, 0),
    (FrameKind::Hello, 0, HELLO_LIMIT),
    (FrameKind::Refuse, 1, REASON_LIMIT + 1),
    (FrameKind::Welcome, 4, 4),
    (FrameKind::Joined, 0, HELLO_LIMIT),
    (FrameKind::Lost, 0, 0),
    (FrameKind::Whole, 0, CHUNK),
    (FrameKind::Start, 8, 8),
    (FrameKind::Part, 1, CHUNK),
    (FrameKind::Finish, 0, 0),
    (FrameKind::End, 0, 0),
    (FrameKind::Bye, 0, 0),
    (FrameKind::Introduce, 0, 0),
    (FrameKind::Introduced, 1, CONTACT_LIMIT),
    (FrameKind::Linked, 0, 0),
    (FrameKind::Switched, 8, 8),
    (FrameKind::Broken, 8, 8),
    (FrameKind::Received, 16, 16),
];

/// What is wrong with a frame.
pub type FrameFault = &'static str;

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: FrameKind,
    pub site: u32,
    pub number: u32,
    pub body: Vec<u8>,
}

impl Frame {
    pub fn new(kind: FrameKind, site: u32, number: u32, body: Vec<u8>) -> Self {
        Self { kind, site, number, body }
    }

    /// The head of a frame with a body of this length.
    pub fn head(kind: FrameKind, site: u32, number: u32, length: usize) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        head[0] = kind as u8;
        head[4..8].copy_from_slice(&(length as u32).to_le_bytes());
        head[8..12].copy_from_slice(&site.to_le_bytes());
        head[12..].copy_from_slice(&number.to_le_bytes());
        head
    }
}

/// Cuts a stream of bytes into frames. Uses no more memory than the longest body.
#[derive(Debug, Default)]
pub struct FrameReader {
    head: Vec<u8>,
    /// A frame with an incomplete body, and the full length of the body.
    open: Option<(Frame, usize)>,
}

impl FrameReader {
    /// Takes bytes off the front, up to the end of the next frame.
    pub fn read_frame(&mut self, bytes: &mut &[u8]) -> Result<Option<Frame>, FrameFault> {
        if self.open.is_none() {
            self.head.extend_from_slice(take_bytes(bytes, HEAD - self.head.len()));
            let Ok(head) = <[u8; HEAD]>::try_from(&self.head[..]) else { return Ok(None) };
            self.head.clear();
            self.open = Some(parse_head(&head)?);
        }
        if let Some((frame, length)) = &mut self.open {
            frame.body.extend_from_slice(take_bytes(bytes, *length - frame.body.len()));
            if frame.body.len() < *length {
                return Ok(None);
            }
        }
        Ok(self.open.take().map(|(frame, _)| frame))
    }
}

/// Takes up to this many bytes off the front.
fn take_bytes<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (front, rest) = bytes.split_at(length.min(bytes.len()));
    *bytes = rest;
    front
}

fn parse_head(head: &[u8; HEAD]) -> Result<(Frame, usize), FrameFault> {
    let number =
        |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let kind = KINDS.get(usize::from(head[0]));
    let &(kind, least, most) = kind.ok_or("a frame of an unknown kind")?;
    if head[1..4] != [0; 3] {
        return Err("a frame with a garbled head");
    }
    let length = number(4) as usize;
    if length < least || length > most {
        return Err("a frame of a wrong length");
    }
    Ok((Frame::new(kind, number(8), number(12), Vec::with_capacity(length)), length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_their_numbers() {
        assert!(KINDS.iter().enumerate().all(|(i, &(kind, ..))| kind as usize == i));
    }

    #[test]
    fn frames_are_read_however_they_are_cut() {
        let frames = [
            Frame::new(FrameKind::Whole, 3, 9, vec![7; 100]),
            Frame::new(FrameKind::Beat, 0, 0, Vec::new()),
            Frame::new(FrameKind::Whole, 1, u32::MAX, Vec::new()),
            Frame::new(FrameKind::Start, 1, 2, vec![1; 8]),
        ];
        let mut bytes = Vec::new();
        for frame in &frames {
            let head = Frame::head(frame.kind, frame.site, frame.number, frame.body.len());
            bytes.extend([&head[..], &frame.body].concat());
        }
        for step in 1..bytes.len() {
            let (mut reader, mut seen) = (FrameReader::default(), Vec::new());
            for mut piece in bytes.chunks(step) {
                while let Some(frame) = reader.read_frame(&mut piece).unwrap() {
                    seen.push(frame);
                }
                assert_eq!(piece, []);
            }
            assert_eq!(seen, frames, "in steps of {step}");
        }
    }

    #[test]
    fn no_memory_is_taken_for_a_long_body() {
        for (kind, _, most) in KINDS {
            let head = Frame::head(kind, 0, 0, most + 1);
            assert_eq!(
                FrameReader::default().read_frame(&mut &head[..]),
                Err("a frame of a wrong length")
            );
            assert!(most <= CHUNK);
        }
    }
}

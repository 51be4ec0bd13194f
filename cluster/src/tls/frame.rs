//! [`Frame`]: what TLS carries, one after the other: a head of 16 bytes and a body. All numbers are little-endian.
//!
//! The head: kind, three zeros, length of the body, site, number. The site is the receiver on the way to
//! the root, and the one that the frame is about on the way from it. The number is that of a connection:
//! a place may change hands, and what was meant for one process must not reach the next.

/// Bytes of a head.
pub const HEAD: usize = 16;
/// The longest part of a message. Longer ones are cut, so that others need not wait behind them.
pub const CHUNK: usize = 32 << 10;
/// The most bytes of a caller that joins.
pub const BYTES_LIMIT: usize = 4096;
/// The longest name of a host or version.
pub const NAME_LIMIT: usize = 100;
/// The longest hello.
pub const HELLO_LIMIT: usize = 32 + 2 * NAME_LIMIT + BYTES_LIMIT;
/// The longest reason.
pub const REASON_LIMIT: usize = 1000;

/// What a frame says. [`FrameKind::Hello`] and [`FrameKind::Refuse`] stay as they are forever: other versions must
/// understand them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameKind {
    /// Still here.
    Beat,
    /// The joiner's first word.
    Hello,
    /// A code and a reason: the connection ends.
    Refuse,
    /// The joiner's place, its connection's number, and how many places there are. The first message of
    /// site 0 after it has the caller's bytes.
    Welcome,
    /// Another joiner, with its caller's bytes.
    Joined,
    /// It is gone.
    Lost,
    /// A message of at most [`CHUNK`] bytes.
    Whole,
    /// The length of a longer one.
    Start,
    /// The next bytes of it.
    Part,
    /// The joiner sends no more messages.
    Finish,
    /// Nobody does, and all have arrived.
    End,
    /// The joiner's last word.
    Bye,
}

const KINDS: [FrameKind; 12] = [
    FrameKind::Beat,
    FrameKind::Hello,
    FrameKind::Refuse,
    FrameKind::Welcome,
    FrameKind::Joined,
    FrameKind::Lost,
    FrameKind::Whole,
    FrameKind::Start,
    FrameKind::Part,
    FrameKind::Finish,
    FrameKind::End,
    FrameKind::Bye,
];

impl FrameKind {
    /// The shortest and the longest body.
    fn lengths(self) -> (usize, usize) {
        match self {
            Self::Beat | Self::Lost | Self::Finish | Self::End | Self::Bye => (0, 0),
            Self::Hello | Self::Joined => (0, HELLO_LIMIT),
            Self::Refuse => (1, REASON_LIMIT + 1),
            Self::Welcome => (4, 4),
            Self::Whole => (0, CHUNK),
            Self::Start => (8, 8),
            Self::Part => (1, CHUNK),
        }
    }
}

/// What is wrong with what a peer sent.
pub type FrameFault = &'static str;

/// One of them.
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

    /// The head of a frame.
    pub fn head(kind: FrameKind, site: u32, number: u32, length: usize) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        head[0] = kind as u8;
        head[4..8].copy_from_slice(&(length as u32).to_le_bytes());
        head[8..12].copy_from_slice(&site.to_le_bytes());
        head[12..].copy_from_slice(&number.to_le_bytes());
        head
    }
}

/// Cuts a stream of bytes into frames. Takes no more memory than the longest body.
#[derive(Debug, Default)]
pub struct FrameReader {
    head: Vec<u8>,
    /// A frame whose body is not complete, and the length of that.
    open: Option<(Frame, usize)>,
}

impl FrameReader {
    /// Takes bytes off the front, up to the end of the next frame.
    pub fn take(&mut self, bytes: &mut &[u8]) -> Result<Option<Frame>, FrameFault> {
        if self.open.is_none() {
            self.head.extend_from_slice(off(bytes, HEAD - self.head.len()));
            let Ok(head) = <[u8; HEAD]>::try_from(&self.head[..]) else { return Ok(None) };
            self.head.clear();
            self.open = Some(open(&head)?);
        }
        if let Some((frame, length)) = &mut self.open {
            frame.body.extend_from_slice(off(bytes, *length - frame.body.len()));
            if frame.body.len() < *length {
                return Ok(None);
            }
        }
        Ok(self.open.take().map(|(frame, _)| frame))
    }
}

/// Takes up to this many bytes off the front.
fn off<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (front, rest) = bytes.split_at(length.min(bytes.len()));
    *bytes = rest;
    front
}

fn open(head: &[u8; HEAD]) -> Result<(Frame, usize), FrameFault> {
    let number =
        |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let kind = *KINDS.get(usize::from(head[0])).ok_or("a frame of an unknown kind")?;
    if head[1..4] != [0; 3] {
        return Err("a frame with a garbled head");
    }
    let (length, (least, most)) = (number(4) as usize, kind.lengths());
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
        assert!(KINDS.iter().enumerate().all(|(i, &kind)| kind as usize == i));
    }

    #[test]
    fn frames_come_back_however_they_are_cut() {
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
                while let Some(frame) = reader.take(&mut piece).unwrap() {
                    seen.push(frame);
                }
                assert_eq!(piece, []);
            }
            assert_eq!(seen, frames, "in steps of {step}");
        }
    }

    #[test]
    fn no_memory_is_taken_for_a_long_body() {
        for kind in KINDS {
            let most = kind.lengths().1;
            let head = Frame::head(kind, 0, 0, most + 1);
            assert_eq!(
                FrameReader::default().take(&mut &head[..]),
                Err("a frame of a wrong length")
            );
            assert!(most <= CHUNK);
        }
    }
}

//! [`PartSequence`], which checks the order of message pieces, and [`MessageAssembler`], which joins them.

use super::frame::{CHUNK, Frame, FrameFault, FrameKind};

/// Checks the order of the pieces from one sender to one receiver.
#[derive(Debug, Default)]
pub struct PartSequence {
    /// The missing bytes of an incomplete message.
    left: u64,
}

impl PartSequence {
    pub fn is_open(&self) -> bool {
        self.left > 0
    }

    /// Takes a piece. Returns whether it completes a message.
    pub fn accept_part(&mut self, piece: &Frame, limit: usize) -> Result<bool, FrameFault> {
        if self.is_open() != (piece.kind == FrameKind::Part) {
            return Err("pieces of messages out of order");
        }
        match piece.kind {
            FrameKind::Whole if piece.body.len() <= limit => Ok(true),
            FrameKind::Start => {
                let length = piece.body[..].try_into().map(u64::from_le_bytes);
                let length = length.map_err(|_| "an invalid length")?;
                if length <= CHUNK as u64 {
                    return Err("a short message in pieces");
                }
                if length > limit as u64 {
                    return Err("a message longer than allowed");
                }
                self.left = length;
                Ok(false)
            }
            FrameKind::Part => {
                let length = piece.body.len() as u64;
                self.left = self.left.checked_sub(length).ok_or("more bytes than announced")?;
                Ok(self.left == 0)
            }
            _ => Err("a message longer than allowed"),
        }
    }
}

/// Bytes in half a second: a message that arrives more slowly on average is no sign of life.
const LEAST_IN_A_TICK: usize = 8 << 10;

/// Joins pieces into messages.
#[derive(Debug, Default)]
pub struct MessageAssembler {
    sequence: PartSequence,
    open: Vec<u8>,
    /// The ticks since the incomplete message began, and how much of it had arrived at the last one.
    ticks: usize,
    seen: usize,
}

impl MessageAssembler {
    pub fn is_open(&self) -> bool {
        self.sequence.is_open()
    }

    pub fn add_part(&mut self, piece: Frame, limit: usize) -> Result<Option<Vec<u8>>, FrameFault> {
        let done = self.sequence.accept_part(&piece, limit)?;
        match piece.kind {
            FrameKind::Whole => return Ok(Some(piece.body)),
            // Memory is allocated as bytes arrive, not as they are announced.
            FrameKind::Start => (self.open, self.ticks, self.seen) = (Vec::new(), 0, 0),
            _ => self.add(&piece.body),
        }
        Ok(done.then(|| std::mem::take(&mut self.open)))
    }

    /// Notes that half a second has passed. Returns whether more of an incomplete message has arrived meanwhile, fast
    /// enough.
    pub fn is_arriving(&mut self) -> bool {
        if !self.is_open() {
            return false;
        }
        self.ticks += 1;
        let length = self.open.len();
        let grows = length > std::mem::replace(&mut self.seen, length);
        grows && length / self.ticks >= LEAST_IN_A_TICK
    }

    fn add(&mut self, bytes: &[u8]) {
        let room = self.open.capacity() - self.open.len();
        if room < bytes.len() {
            // Double the memory, but never beyond what the message needs.
            let needed = bytes.len() + self.sequence.left as usize;
            let more = needed.min(self.open.len().max(1 << 20)).max(bytes.len());
            self.open.reserve_exact(more);
        }
        self.open.extend_from_slice(bytes);
    }
}

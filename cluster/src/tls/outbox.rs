//! [`FrameOutbox`]: the frames that wait to be sent on one connection.
//!
//! It has a lane for each site that messages go to, or come from. Lanes take turns, a frame at a time, so that short
//! messages do not wait behind long ones of another lane; each lane keeps its order.

use super::frame::{CHUNK, Frame, FrameKind, HEAD};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// A message's bytes.
enum MessageBytes {
    Own(Vec<u8>),
    /// Shared by all joiners.
    Shared(Arc<[u8]>),
}

impl MessageBytes {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }

    /// The bytes that it counts for while it waits.
    fn weight(&self) -> usize {
        match self {
            Self::Own(bytes) => bytes.len() + HEAD,
            Self::Shared(_) => HEAD,
        }
    }
}

/// A frame, or a long message that becomes many.
struct OutgoingFrame {
    kind: FrameKind,
    site: u32,
    number: u32,
    body: MessageBytes,
    /// The bytes of a long message that were sent.
    sent: Option<usize>,
}

/// Frames that wait to be sent.
#[derive(Default)]
pub struct FrameOutbox {
    /// Frames that go before all others.
    first: VecDeque<Frame>,
    lanes: BTreeMap<u32, VecDeque<OutgoingFrame>>,
    /// The lanes that are not empty, in the order of their turns.
    turns: VecDeque<u32>,
    /// Frames that go after all others.
    last: VecDeque<FrameKind>,
    waiting: usize,
}

impl FrameOutbox {
    /// The number of bytes that wait, without shared ones.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    pub fn is_empty(&self) -> bool {
        self.first.is_empty() && self.turns.is_empty() && self.last.is_empty()
    }

    /// Adds a frame that goes before all others.
    pub fn push_first(&mut self, frame: Frame) {
        self.first.push_back(frame);
    }

    /// Adds a frame that goes after all others.
    pub fn push_last(&mut self, kind: FrameKind) {
        self.last.push_back(kind);
    }

    /// Adds a frame to a lane.
    pub fn push_frame(&mut self, lane: u32, frame: Frame) {
        let Frame { kind, site, number, body } = frame;
        self.add(
            lane,
            OutgoingFrame { kind, site, number, body: MessageBytes::Own(body), sent: None },
        );
    }

    /// Adds a message of any length to a lane.
    pub fn push_message(&mut self, lane: u32, site: u32, number: u32, bytes: Vec<u8>) {
        self.push_frame(lane, Frame::new(FrameKind::Whole, site, number, bytes));
    }

    /// Adds a message of any length to a lane, without copying it.
    pub fn push_shared(&mut self, lane: u32, site: u32, number: u32, bytes: Arc<[u8]>) {
        let body = MessageBytes::Shared(bytes);
        self.add(lane, OutgoingFrame { kind: FrameKind::Whole, site, number, body, sent: None });
    }

    fn add(&mut self, lane: u32, item: OutgoingFrame) {
        self.waiting += item.body.weight();
        let items = self.lanes.entry(lane).or_default();
        if items.is_empty() {
            self.turns.push_back(lane);
        }
        items.push_back(item);
    }

    /// Writes frames until there are this many bytes or no more frames.
    pub fn write_frames(&mut self, out: &mut Vec<u8>, until: usize) {
        while out.len() < until && self.next(out) {}
    }

    fn next(&mut self, out: &mut Vec<u8>) -> bool {
        if let Some(frame) = self.first.pop_front() {
            write_frame(out, frame.kind, frame.site, frame.number, &frame.body);
            return true;
        }
        let Some(lane) = self.turns.pop_front() else {
            let Some(kind) = self.last.pop_front() else { return false };
            write_frame(out, kind, 0, 0, &[]);
            return true;
        };
        let Some(items) = self.lanes.get_mut(&lane) else { return true };
        if let Some(item) = items.front_mut()
            && write_next(item, out)
        {
            self.waiting -= item.body.weight();
            items.pop_front();
        }
        if items.is_empty() {
            self.lanes.remove(&lane);
        } else {
            self.turns.push_back(lane);
        }
        true
    }
}

/// Writes the next frame of an item. Returns whether it was the last.
fn write_next(item: &mut OutgoingFrame, out: &mut Vec<u8>) -> bool {
    let (site, number, bytes) = (item.site, item.number, item.body.bytes());
    if item.kind != FrameKind::Whole || bytes.len() <= CHUNK {
        write_frame(out, item.kind, site, number, bytes);
        return true;
    }
    let Some(sent) = item.sent else {
        write_frame(out, FrameKind::Start, site, number, &(bytes.len() as u64).to_le_bytes());
        item.sent = Some(0);
        return false;
    };
    let end = bytes.len().min(sent + CHUNK);
    write_frame(out, FrameKind::Part, site, number, &bytes[sent..end]);
    item.sent = Some(end);
    end == bytes.len()
}

fn write_frame(out: &mut Vec<u8>, kind: FrameKind, site: u32, number: u32, body: &[u8]) {
    out.extend(Frame::head(kind, site, number, body.len()));
    out.extend_from_slice(body);
}

#[cfg(test)]
mod tests {
    use super::super::frame::FrameReader;
    use super::super::messages::MessageAssembler;
    use super::*;

    fn frames(outbox: &mut FrameOutbox) -> Vec<Frame> {
        let mut bytes = Vec::new();
        outbox.write_frames(&mut bytes, usize::MAX);
        let (mut rest, mut reader) = (&bytes[..], FrameReader::default());
        std::iter::from_fn(|| reader.read_frame(&mut rest).unwrap()).collect()
    }

    #[test]
    fn lanes_take_turns_and_the_end_comes_last() {
        let mut outbox = FrameOutbox::default();
        outbox.push_last(FrameKind::Finish);
        outbox.push_message(1, 1, 5, vec![1; 3 * CHUNK - 1]);
        outbox.push_message(1, 1, 5, vec![3]);
        outbox.push_shared(2, 2, 6, vec![2; 7].into());
        outbox.push_first(Frame::new(FrameKind::Beat, 0, 0, Vec::new()));
        assert_eq!(outbox.waiting(), 3 * CHUNK - 1 + 1 + 3 * HEAD);
        let frames = frames(&mut outbox);
        let kinds: Vec<(FrameKind, u32)> = frames.iter().map(|f| (f.kind, f.site)).collect();
        use FrameKind::{Beat, Finish, Part, Start, Whole};
        let part = (Part, 1);
        let expected = [(Beat, 0), (Start, 1), (Whole, 2), part, part, part, (Whole, 1)];
        assert_eq!(kinds, [&expected[..], &[(Finish, 0)]].concat());
        assert!(outbox.is_empty() && outbox.waiting() == 0);
        let mut messages = MessageAssembler::default();
        let ones = frames.into_iter().filter(|frame| frame.site == 1);
        let whole: Vec<Vec<u8>> =
            ones.filter_map(|f| messages.add_part(f, 3 * CHUNK).unwrap()).collect();
        assert_eq!(whole, [vec![1; 3 * CHUNK - 1], vec![3]]);
    }
}

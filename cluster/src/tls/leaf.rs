//! [`Leaf`]: a joiner's side. Its only connection, number 0, leads to the root.

use super::frame::{Frame, FrameFault, FrameKind};
use super::hello::{Hello, Refusal, RefusalCode};
use super::logic::{Delivery, HubCommand, HubEvent, HubOutput, Limits, Logic};
use super::messages::MessageAssembler;
use super::outbox::FrameOutbox;
use crate::Rank;
use std::collections::BTreeMap;

/// The stage of a joiner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeafStage {
    /// It waits for a place.
    Asking,
    /// It has a place, and waits for the welcome's bytes.
    Placed,
    /// It has joined.
    Inside,
    /// The end has come, and its last frame is being sent.
    Ending,
    /// Nothing more happens.
    Over,
}

/// A joiner's side.
pub struct Leaf {
    limits: Limits,
    stage: LeafStage,
    me: Rank,
    /// The number of each place's connection, or 0.
    places: Vec<u32>,
    /// Messages on their way here.
    messages: BTreeMap<Rank, MessageAssembler>,
    outbox: FrameOutbox,
    out: HubOutput,
}

impl Leaf {
    /// A joiner that sends this hello.
    pub fn new(hello: &Hello, limits: Limits) -> Self {
        let mut outbox = FrameOutbox::default();
        outbox.push_first(Frame::new(FrameKind::Hello, 0, 0, hello.write()));
        let out = HubOutput { touched: vec![0], ..HubOutput::default() };
        let (places, messages) = (Vec::new(), BTreeMap::new());
        Self { limits, stage: LeafStage::Asking, me: 0, places, messages, outbox, out }
    }

    fn welcome(&mut self, frame: &Frame) -> Result<(), FrameFault> {
        let places = frame.body[..].try_into().map(u32::from_le_bytes);
        let places = places.map_err(|_| "a welcome without places")?;
        if frame.site == 0 || frame.site >= places || places > super::PLACES_LIMIT {
            return Err("an impossible place");
        }
        self.me = frame.site;
        self.places = vec![0; places as usize];
        self.stage = LeafStage::Placed;
        Ok(())
    }

    fn joined(&mut self, frame: Frame) -> Result<(), FrameFault> {
        let Frame { site, number, body: bytes, .. } = frame;
        let me = self.me;
        let foreign = site != 0 && site != me && number != 0;
        let place = self.places.get_mut(site as usize).filter(|place| foreign && **place == 0);
        *place.ok_or("a join at an impossible place")? = number;
        self.out.deliveries.push(Delivery::Joined { site, number, bytes });
        Ok(())
    }

    fn lost(&mut self, frame: &Frame) -> Result<(), FrameFault> {
        let Frame { site, number, .. } = *frame;
        let known = |place: &&mut u32| **place == number && number != 0;
        *self.places.get_mut(site as usize).filter(known).ok_or("the loss of an empty place")? = 0;
        self.messages.remove(&site);
        self.out.deliveries.push(Delivery::Lost { site });
        Ok(())
    }

    fn handle_part(&mut self, piece: Frame) -> Result<(), FrameFault> {
        let from = piece.site;
        let number = *self.places.get(from as usize).ok_or("a message from nobody")?;
        if from != 0 && number == 0 {
            return Err("a message from nobody");
        }
        let first = from == 0 && self.stage == LeafStage::Placed;
        let limit = if first { self.limits.welcome } else { self.limits.message };
        let messages = self.messages.entry(from).or_default();
        let Some(bytes) = messages.add_part(piece, limit)? else { return Ok(()) };
        if first {
            self.stage = LeafStage::Inside;
            let (site, places) = (self.me, self.places.len() as u32);
            self.out.events.push(HubEvent::Welcome { site, places, bytes });
        } else {
            self.out.deliveries.push(Delivery::Message { from, number, bytes });
        }
        Ok(())
    }

    fn refused(&mut self, body: &[u8]) -> Result<(), FrameFault> {
        let refusal = Refusal::read(body)?;
        self.out.cut.push((0, None));
        if self.stage == LeafStage::Asking {
            self.stage = LeafStage::Over;
            self.out.events.push(HubEvent::Refused(refusal));
        } else {
            self.on_disconnected(0, &format!("the root ended the connection: {}", refusal.reason));
        }
        Ok(())
    }
}

impl Logic for Leaf {
    fn handle_frame(&mut self, _: u32, frame: Frame) -> Result<(), FrameFault> {
        match (self.stage, frame.kind) {
            (LeafStage::Over, _) | (_, FrameKind::Beat) => Ok(()),
            (_, FrameKind::Refuse) => self.refused(&frame.body),
            (LeafStage::Asking, FrameKind::Welcome) => self.welcome(&frame),
            (LeafStage::Placed | LeafStage::Inside, FrameKind::Joined) => self.joined(frame),
            (LeafStage::Placed | LeafStage::Inside, FrameKind::Lost) => self.lost(&frame),
            (
                LeafStage::Placed | LeafStage::Inside,
                FrameKind::Whole | FrameKind::Start | FrameKind::Part,
            ) => self.handle_part(frame),
            (LeafStage::Inside, FrameKind::End)
                if !self.messages.values().any(MessageAssembler::is_open) =>
            {
                self.stage = LeafStage::Ending;
                self.outbox.push_last(FrameKind::Bye);
                self.out.touched.push(0);
                Ok(())
            }
            _ => Err("a frame out of place"),
        }
    }

    fn handle_command(&mut self, order: HubCommand) {
        // Without the root nothing would ever be sent.
        if matches!(self.stage, LeafStage::Over) {
            return;
        }
        match order {
            HubCommand::Send { to, number, bytes } => {
                self.outbox.push_message(to, to, number, bytes)
            }
            HubCommand::Finish => self.outbox.push_last(FrameKind::Finish),
            HubCommand::Flooded { .. } => {
                let why = "more arrived than was read";
                self.out.cut.push((0, Some(Refusal::new(RefusalCode::Cut, why))));
                return self.on_disconnected(0, why);
            }
            HubCommand::JoinRequest { .. }
            | HubCommand::Admit { .. }
            | HubCommand::Refuse { .. }
            | HubCommand::Expel { .. } => {}
        }
        self.out.touched.push(0);
    }

    fn on_disconnected(&mut self, _: u32, why: &str) {
        let stage = std::mem::replace(&mut self.stage, LeafStage::Over);
        self.outbox = FrameOutbox::default();
        match stage {
            LeafStage::Over => {}
            LeafStage::Ending => self.out.deliveries.push(Delivery::End),
            LeafStage::Asking | LeafStage::Placed => {
                self.out.events.push(HubEvent::Refused(Refusal::new(RefusalCode::Cut, why)));
            }
            LeafStage::Inside => {
                self.out.events.push(HubEvent::Gone(why.into()));
                self.out.deliveries.push(Delivery::Lost { site: 0 });
            }
        }
    }

    fn on_flushed(&mut self, _: u32) {
        if self.stage == LeafStage::Ending {
            self.stage = LeafStage::Over;
            self.out.deliveries.push(Delivery::End);
        }
    }

    fn outbox(&mut self, _: u32) -> Option<&mut FrameOutbox> {
        (self.stage != LeafStage::Over).then_some(&mut self.outbox)
    }

    fn output_mut(&mut self) -> &mut HubOutput {
        &mut self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A joiner without its root used to keep everything that it sent.
    #[test]
    fn without_the_root_nothing_is_kept() {
        let hello = Hello { version: "1".into(), host: "here".into(), bytes: Vec::new() };
        let mut leaf = Leaf::new(&hello, Limits::default());
        leaf.handle_frame(0, Frame::new(FrameKind::Welcome, 1, 1, 4_u32.to_le_bytes().into()))
            .unwrap();
        leaf.handle_command(HubCommand::Send { to: 0, number: 0, bytes: vec![1; 100] });
        assert!(leaf.outbox.waiting() > 100);
        leaf.on_disconnected(0, "it was closed");
        leaf.handle_command(HubCommand::Send { to: 0, number: 0, bytes: vec![1; 100] });
        assert_eq!(leaf.outbox.waiting(), 0);
    }
}

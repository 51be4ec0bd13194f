//! [`Leaf`]: a joiner's side. Connection 0 leads to the root, the others directly to other joiners.

use super::frame::{Frame, FrameFault, FrameKind};
use super::hello::{Hello, Refusal, RefusalCode};
use super::links::{LeafOutput, Links};
use super::logic::{Delivery, HubCommand, HubEvent, HubOutput, Limits, Logic};
use super::messages::MessageAssembler;
use super::outbox::FrameOutbox;
use super::secure::KnownKeys;
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
    links: Links,
    /// Whether the caller sends no more, which the root does not know yet.
    finishing: bool,
    out: HubOutput,
}

impl Leaf {
    /// A joiner that sends this hello. Keys of others are added as the root introduces them.
    pub fn new(hello: &Hello, keys: KnownKeys, limits: Limits) -> Self {
        let mut outbox = FrameOutbox::default();
        outbox.push_first(Frame::new(FrameKind::Hello, 0, 0, hello.write()));
        let out = HubOutput { touched: vec![0], ..HubOutput::default() };
        let (places, messages) = (Vec::new(), BTreeMap::new());
        let (stage, me, finishing) = (LeafStage::Asking, 0, false);
        let links = Links::new(hello, keys, limits);
        Self { limits, stage, me, places, messages, outbox, links, finishing, out }
    }

    /// The links, and where their output goes.
    fn links(&mut self) -> (&mut Links, LeafOutput<'_>) {
        (&mut self.links, LeafOutput { root: &mut self.outbox, out: &mut self.out })
    }

    /// Informs the root, once everything that was sent directly has arrived, that this site sends no more.
    fn finish(&mut self) {
        if self.finishing && self.links.is_flushed() {
            self.finishing = false;
            self.outbox.push_last(FrameKind::Finish);
            self.out.touched.push(0);
        }
    }

    fn welcome(&mut self, frame: &Frame) -> Result<(), FrameFault> {
        let places = frame.body[..].try_into().map(u32::from_le_bytes);
        let places = places.map_err(|_| "a welcome without places")?;
        if frame.site == 0 || frame.site >= places || places > super::PLACES_LIMIT {
            return Err("an impossible place");
        }
        self.me = frame.site;
        self.links.set_place(self.me);
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
        self.links.on_joined(site, number);
        self.out.deliveries.push(Delivery::Joined { site, number, bytes });
        Ok(())
    }

    fn lost(&mut self, frame: &Frame) -> Result<(), FrameFault> {
        let Frame { site, number, .. } = *frame;
        let known = |place: &&mut u32| **place == number && number != 0;
        *self.places.get_mut(site as usize).filter(known).ok_or("the loss of an empty place")? = 0;
        self.messages.remove(&site);
        self.links.on_lost(site, &mut self.out);
        self.out.deliveries.push(Delivery::Lost { site });
        Ok(())
    }

    fn handle_part(&mut self, piece: Frame) -> Result<(), FrameFault> {
        let from = piece.site;
        let number = *self.places.get(from as usize).ok_or("a message from an empty place")?;
        if from != 0 && number == 0 {
            return Err("a message from an empty place");
        }
        let first = from == 0 && self.stage == LeafStage::Placed;
        let limit = if first { self.limits.welcome } else { self.limits.message };
        let messages = self.messages.entry(from).or_default();
        let Some(bytes) = messages.add_part(piece, limit)? else { return Ok(()) };
        if from != 0 {
            let (links, mut ways) = self.links();
            links.on_relayed(from, &mut ways);
        }
        if first {
            self.stage = LeafStage::Inside;
            let (site, places) = (self.me, self.places.len() as u32);
            self.out.events.push(HubEvent::Welcome { site, places, bytes });
        } else {
            self.out.deliveries.push(Delivery::Message { from, number, bytes });
        }
        Ok(())
    }

    /// Ends the connection with the root, and so all others.
    fn give_up(&mut self, why: &str) {
        self.out.cut.push((0, Some(Refusal::new(RefusalCode::Cut, why))));
        self.on_disconnected(0, why);
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

impl Leaf {
    fn handle_root_frame(&mut self, frame: Frame) -> Result<(), FrameFault> {
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
            (LeafStage::Placed | LeafStage::Inside, FrameKind::Introduced) => {
                let (links, mut ways) = self.links();
                links.on_introduced(&frame, &mut ways)
            }
            (
                LeafStage::Placed | LeafStage::Inside,
                FrameKind::Switched | FrameKind::Broken | FrameKind::Received,
            ) => {
                let (links, mut ways) = self.links();
                links.on_root_frame(&frame, &mut ways)
            }
            (LeafStage::Inside, FrameKind::End)
                if !self.messages.values().any(MessageAssembler::is_open) =>
            {
                self.stage = LeafStage::Ending;
                self.links.end(&mut self.out);
                self.outbox.push_last(FrameKind::Bye);
                self.out.touched.push(0);
                Ok(())
            }
            _ => Err("a frame out of place"),
        }
    }
}

impl Logic for Leaf {
    fn handle_frame(&mut self, number: u32, frame: Frame) -> Result<(), FrameFault> {
        let handled = if number == 0 {
            self.handle_root_frame(frame)
        } else {
            let (links, mut ways) = self.links();
            links.on_link_frame(number, frame, &mut ways)
        };
        self.finish();
        handled
    }

    fn handle_command(&mut self, order: HubCommand) {
        // Without the root nothing would ever be sent.
        if matches!(self.stage, LeafStage::Over) {
            if let HubCommand::JoinRequest { number, .. } = order {
                self.out.cut.push((number, None));
            }
            return;
        }
        match order {
            HubCommand::Send { to, number, bytes } => {
                let (links, mut ways) = self.links();
                if links.send((to, number), bytes, &mut ways) {
                    return self.give_up("a site does not read what is sent to it");
                }
                if self.outbox.waiting() > 2 * self.limits.waiting {
                    return self.give_up("the root does not read what is sent to it");
                }
            }
            HubCommand::Finish => {
                self.finishing = true;
                self.links.flush(&mut self.out);
                self.finish();
            }
            // The loop reads no more from the root until the caller has caught up.
            HubCommand::Flooded { number: 0 } => {}
            HubCommand::Flooded { .. } => return self.give_up("more arrived than was read"),
            HubCommand::JoinRequest { number, key, .. } => {
                let (links, mut ways) = self.links();
                links.on_called(number, key, &mut ways);
            }
            HubCommand::SendShared { .. }
            | HubCommand::Admit { .. }
            | HubCommand::Refuse { .. }
            | HubCommand::Expel { .. } => {}
        }
        self.out.touched.push(0);
    }

    fn on_disconnected(&mut self, number: u32, why: &str) {
        if number != 0 {
            let (links, mut ways) = self.links();
            links.on_link_lost(number, &mut ways);
            return self.finish();
        }
        self.links.end(&mut self.out);
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

    fn on_tick(&mut self) {
        let (links, mut ways) = self.links();
        links.on_tick(&mut ways);
        let arriving = self
            .messages
            .iter_mut()
            .filter_map(|(&from, messages)| messages.is_arriving().then_some(from));
        self.out.arriving.extend(arriving);
        self.finish();
    }

    fn on_flushed(&mut self, number: u32) {
        if number == 0 && self.stage == LeafStage::Ending {
            self.stage = LeafStage::Over;
            self.out.deliveries.push(Delivery::End);
        }
    }

    fn outbox(&mut self, number: u32) -> Option<&mut FrameOutbox> {
        match number {
            0 => (self.stage != LeafStage::Over).then_some(&mut self.outbox),
            _ => self.links.outbox(number),
        }
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
        let (version, host) = ("1".into(), "here".into());
        let hello = Hello { version, host, contact: None, bytes: Vec::new() };
        let mut leaf = Leaf::new(&hello, KnownKeys::default(), Limits::default());
        leaf.handle_frame(0, Frame::new(FrameKind::Welcome, 1, 1, 4_u32.to_le_bytes().into()))
            .unwrap();
        leaf.handle_command(HubCommand::Send { to: 0, number: 0, bytes: vec![1; 100] });
        assert!(leaf.outbox.waiting() > 100);
        leaf.on_disconnected(0, "it was closed");
        leaf.handle_command(HubCommand::Send { to: 0, number: 0, bytes: vec![1; 100] });
        assert_eq!(leaf.outbox.waiting(), 0);
    }

    /// A joiner used to keep any amount for a root that reads too slowly.
    #[test]
    fn what_waits_for_the_root_is_limited() {
        let (version, host) = ("1".into(), "here".into());
        let hello = Hello { version, host, contact: None, bytes: Vec::new() };
        let limits = Limits { waiting: 1000, ..Limits::default() };
        let mut leaf = Leaf::new(&hello, KnownKeys::default(), limits);
        leaf.handle_frame(0, Frame::new(FrameKind::Welcome, 1, 1, 4_u32.to_le_bytes().into()))
            .unwrap();
        let sends = (0..100).find(|_| {
            leaf.handle_command(HubCommand::Send { to: 0, number: 0, bytes: vec![1; 100] });
            leaf.stage == LeafStage::Over
        });
        assert!((10..20).contains(&sends.unwrap()), "{sends:?}");
        assert_eq!(leaf.outbox.waiting(), 0);
    }
}

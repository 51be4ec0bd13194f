//! [`Hub`]: the root's side. It gives places to joiners and relays messages between them. It trusts nobody: an invalid
//! frame ends its connection.

use super::frame::{Frame, FrameFault, FrameKind};
use super::hello::{Hello, Refusal, RefusalCode};
use super::logic::{CLOSED, Delivery, HubCommand, HubEvent, HubOutput, Limits, Logic};
use super::messages::{MessageAssembler, PartSequence};
use super::outbox::FrameOutbox;
use crate::Rank;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The reason why nobody is admitted any more.
const SEARCH_OVER: &str = "the search is over";

/// The maximum number of joiners that wait to be admitted.
const MOST_JOIN_REQUESTS: usize = 256;

/// A message being relayed.
#[derive(Default)]
struct RelayedMessage {
    sequence: PartSequence,
    /// The number of the receiver's connection.
    number: u32,
}

/// An authenticated connection.
struct HubMember {
    /// Its place; `None` until it is admitted.
    site: Option<Rank>,
    hello: Hello,
    outbox: FrameOutbox,
    /// Messages to the root.
    messages: MessageAssembler,
    /// Messages to others.
    relayed: BTreeMap<Rank, RelayedMessage>,
    finished: bool,
}

/// The root's side.
pub struct Hub {
    limits: Limits,
    /// The number of each place's connection, or 0.
    places: Vec<u32>,
    members: BTreeMap<u32, HubMember>,
    newest: u32,
    finished: bool,
    /// Whether all have been sent the end.
    ending: bool,
    over: bool,
    out: HubOutput,
}

impl Hub {
    /// A root with this many places, of which it has the first.
    pub fn new(places: u32, limits: Limits) -> Self {
        Self {
            limits,
            places: vec![0; places as usize],
            members: BTreeMap::new(),
            newest: 0,
            finished: false,
            ending: false,
            over: false,
            out: HubOutput::default(),
        }
    }

    fn on_join_request(&mut self, number: u32, hello: Hello) {
        let full = self.members.values().filter(|m| m.site.is_none()).count() >= MOST_JOIN_REQUESTS;
        // Nobody may show the key of another one as its own, whose links it would get.
        let key = |hello: &Hello| hello.contact.map(|contact| contact.key);
        let copied = self.members.values().any(|member| key(&member.hello) == key(&hello));
        let hello = Hello { contact: hello.contact.filter(|_| !copied), ..hello };
        let (outbox, messages, relayed) = Default::default();
        let member = HubMember {
            site: None,
            hello: hello.clone(),
            outbox,
            messages,
            relayed,
            finished: false,
        };
        self.members.insert(number, member);
        self.newest = self.newest.max(number);
        if self.over {
            self.refuse(number, Refusal::new(RefusalCode::Refused, SEARCH_OVER));
        } else if full {
            let why = "too many processes are joining at once";
            self.refuse(number, Refusal::new(RefusalCode::Busy, why));
        } else {
            self.out.events.push(HubEvent::JoinRequest { number, hello });
        }
    }

    fn refuse(&mut self, number: u32, refusal: Refusal) {
        if self.members.get(&number).is_some_and(|member| member.site.is_none()) {
            self.members.remove(&number);
            self.out.cut.push((number, Some(refusal)));
        }
    }

    fn admit(&mut self, number: u32, site: Rank, welcome: Arc<[u8]>) {
        if self.finished {
            return self.refuse(number, Refusal::new(RefusalCode::Refused, SEARCH_OVER));
        }
        let exists = site > 0 && (site as usize) < self.places.len();
        if !exists || welcome.len() > self.limits.welcome {
            let why = if exists { "the welcome is too long" } else { "there is no such place" };
            self.out.events.push(HubEvent::Note(format!("site {site} cannot join: {why}")));
            return self.refuse(number, Refusal::new(RefusalCode::Refused, why));
        }
        // The root's caller knows that it is the same process, whose old connection broke on its side only.
        self.expel(site, "it came back on another connection");
        let Some(mut member) = self.members.remove(&number).filter(|m| m.site.is_none()) else {
            // The joiner is gone already: the caller learns that the place is free again.
            self.out.deliveries.push(Delivery::Joined { site, number, bytes: Vec::new() });
            return self.out.deliveries.push(Delivery::Lost { site });
        };
        member.site = Some(site);
        let places = (self.places.len() as u32).to_le_bytes().to_vec();
        member.outbox.push_first(Frame::new(FrameKind::Welcome, site, number, places));
        member.outbox.push_shared(0, 0, 0, welcome);
        let bytes = member.hello.bytes.clone();
        for (&other, its) in &mut self.members {
            let Some(place) = its.site else { continue };
            // A joiner's own bytes are for the root only.
            member
                .outbox
                .push_frame(place, Frame::new(FrameKind::Joined, place, other, Vec::new()));
            its.outbox.push_frame(site, Frame::new(FrameKind::Joined, site, number, Vec::new()));
            self.out.touched.push(other);
        }
        self.places[site as usize] = number;
        self.members.insert(number, member);
        self.out.touched.push(number);
        self.out.deliveries.push(Delivery::Joined { site, number, bytes });
    }

    /// Adds a message to the outbox of the process with this connection, if it still has this place.
    fn send(&mut self, to: Rank, number: u32, add: impl FnOnce(&mut FrameOutbox)) {
        let there = number > 0 && self.places.get(to as usize) == Some(&number);
        if let Some(member) = self.members.get_mut(&number).filter(|_| there) {
            add(&mut member.outbox);
            self.out.touched.push(number);
            self.check_backlog(number);
        }
    }

    /// Ends the connection of the process at a place, if there is one.
    fn expel(&mut self, site: Rank, why: &str) {
        let number = self.places.get(site as usize).copied().unwrap_or_default();
        if number > 0 {
            self.out.cut.push((number, Some(Refusal::new(RefusalCode::Cut, why))));
            self.on_disconnected(number, why);
        }
    }

    /// Ends a connection for which too many bytes wait.
    fn check_backlog(&mut self, number: u32) {
        let slow = |member: &HubMember| member.outbox.waiting() > self.limits.waiting;
        if self.members.get(&number).is_some_and(slow) {
            let why = "it does not read what is sent to it";
            self.out.cut.push((number, Some(Refusal::new(RefusalCode::Cut, why))));
            self.on_disconnected(number, why);
        }
    }

    /// Takes a piece of a message from a site.
    fn handle_part(&mut self, from: u32, site: Rank, piece: Frame) -> Result<(), FrameFault> {
        let (to, number, limit) = (piece.site, piece.number, self.limits.message);
        let Some(member) = self.members.get_mut(&from) else { return Ok(()) };
        if member.finished {
            return Err("a message after the last one");
        }
        if to == site || to as usize >= self.places.len() {
            return Err("a message to an invalid place");
        }
        if to == 0 {
            if number != 0 {
                return Err("a message to another root");
            }
            if let Some(bytes) = member.messages.add_part(piece, limit)? {
                self.out.deliveries.push(Delivery::Message { from: site, number: from, bytes });
            }
            return Ok(());
        }
        let relayed = member.relayed.entry(to).or_default();
        if !relayed.sequence.is_open() {
            relayed.number = number;
        }
        if number != relayed.number || number == 0 || number > self.newest {
            return Err("a message with a forged number");
        }
        let done = relayed.sequence.accept_part(&piece, limit)?;
        if done {
            member.relayed.remove(&to);
        }
        if self.places[to as usize] == number {
            self.forward(number, site, Frame { site, number: 0, ..piece });
        }
        Ok(())
    }

    /// Sends a joiner a frame about a site.
    fn forward(&mut self, number: u32, site: Rank, frame: Frame) {
        if let Some(member) = self.members.get_mut(&number) {
            member.outbox.push_frame(site, frame);
            self.out.touched.push(number);
            self.check_backlog(number);
        }
    }

    /// Passes a frame about direct links on to the site that it is for, if it is still there.
    fn relay_control(&mut self, from: u32, site: Rank, frame: Frame) -> Result<(), FrameFault> {
        let Some(member) = self.members.get(&from) else { return Ok(()) };
        let open = |relayed: &RelayedMessage| relayed.sequence.is_open();
        if member.relayed.get(&frame.site).is_some_and(open) {
            return Err("pieces of messages out of order");
        }
        let (to, number) = (frame.site, frame.number);
        let there = self.places.get(to as usize) == Some(&number) && number > 0;
        if to != site && to != 0 && there && !self.ending {
            self.forward(number, site, Frame { site, number: 0, ..frame });
        }
        Ok(())
    }

    /// Gives two joiners each other's contacts, if both write directly.
    fn introduce(&mut self, from: u32, to: u32) {
        let contact = |number| {
            let member = self.members.get(&number)?;
            Some((member.site?, member.hello.contact?))
        };
        let (Some(one), Some(other)) = (contact(from), contact(to)) else { return };
        if from == to || self.ending {
            return;
        }
        // The one that will be called is informed first: it must know the caller's key.
        for (number, (site, its_number, contact)) in
            [(to, (one.0, from, one.1)), (from, (other.0, to, other.1))]
        {
            let frame = Frame::new(FrameKind::Introduced, site, its_number, contact.write());
            self.forward(number, site, frame);
        }
    }

    fn finish_of(&mut self, number: u32) -> Result<(), FrameFault> {
        let Some(member) = self.members.get_mut(&number) else { return Ok(()) };
        if member.finished || member.messages.is_open() || !member.relayed.is_empty() {
            return Err("an end inside a message");
        }
        member.finished = true;
        self.announce_end();
        Ok(())
    }

    /// Announces the end to all joiners once all have finished, and to the caller once all joiners know. Until then,
    /// the caller refuses those that ask to join: it knows whether they took part. Processes that the caller has not
    /// answered by then learn only that the search is over.
    fn announce_end(&mut self) {
        let mut inside = self.members.values().filter(|member| member.site.is_some());
        if self.finished && !self.ending && inside.all(|member| member.finished) {
            self.ending = true;
            for (&number, member) in self.members.iter_mut().filter(|(_, m)| m.site.is_some()) {
                member.outbox.push_last(FrameKind::End);
                self.out.touched.push(number);
            }
        }
        let empty = self.members.values().all(|member| member.site.is_none());
        if self.ending && empty && !self.over {
            self.over = true;
            self.out.deliveries.push(Delivery::End);
            for number in Vec::from_iter(self.members.keys().copied()) {
                self.refuse(number, Refusal::new(RefusalCode::Refused, SEARCH_OVER));
            }
        }
    }
}

impl Logic for Hub {
    fn handle_frame(&mut self, number: u32, frame: Frame) -> Result<(), FrameFault> {
        let Some(member) = self.members.get(&number) else { return Ok(()) };
        match (member.site, frame.kind) {
            (_, FrameKind::Beat) => Ok(()),
            (Some(site), FrameKind::Whole | FrameKind::Start | FrameKind::Part) => {
                self.handle_part(number, site, frame)
            }
            (Some(site), FrameKind::Switched | FrameKind::Broken | FrameKind::Received) => {
                self.relay_control(number, site, frame)
            }
            (Some(_), FrameKind::Introduce) => {
                self.introduce(number, frame.number);
                Ok(())
            }
            (Some(_), FrameKind::Finish) => self.finish_of(number),
            (Some(_), FrameKind::Bye) if self.ending => {
                self.out.cut.push((number, None));
                self.on_disconnected(number, "");
                Ok(())
            }
            // The joiner gives its reason for ending the connection.
            (_, FrameKind::Refuse) => {
                let why = Refusal::read(&frame.body)?.reason;
                self.out.cut.push((number, None));
                self.on_disconnected(number, &why);
                Ok(())
            }
            _ => Err("a frame out of place"),
        }
    }

    fn handle_command(&mut self, order: HubCommand) {
        match order {
            HubCommand::Send { to, number, bytes } => {
                self.send(to, number, |outbox| outbox.push_message(0, 0, 0, bytes));
            }
            HubCommand::SendShared { to, number, bytes } => {
                self.send(to, number, |outbox| outbox.push_shared(0, 0, 0, bytes));
            }
            HubCommand::JoinRequest { number, hello, .. } => self.on_join_request(number, hello),
            HubCommand::Admit { number, site, welcome } => self.admit(number, site, welcome),
            HubCommand::Refuse { number, refusal } => self.refuse(number, refusal),
            HubCommand::Expel { site, reason } => self.expel(site, &reason),
            HubCommand::Flooded { number } => {
                if self.members.contains_key(&number) {
                    let why = "it sends faster than the root reads";
                    self.out.cut.push((number, Some(Refusal::new(RefusalCode::Cut, why))));
                    self.on_disconnected(number, why);
                }
            }
            HubCommand::Finish => {
                self.finished = true;
                self.announce_end();
            }
        }
    }

    fn on_disconnected(&mut self, number: u32, why: &str) {
        let Some(member) = self.members.remove(&number) else { return };
        let Some(site) = member.site else {
            return self.out.events.push(HubEvent::Withdrawn { number });
        };
        self.places[site as usize] = 0;
        if !self.ending {
            self.out.deliveries.push(Delivery::Lost { site });
            // A joiner that has finished may disconnect.
            if !member.finished || why != CLOSED {
                let host = &member.hello.host;
                let note = format!("site {site} on {host} is lost: {why}");
                self.out.events.push(HubEvent::Note(note));
            }
            for (&other, its) in self.members.iter_mut().filter(|(_, its)| its.site.is_some()) {
                its.outbox.push_frame(site, Frame::new(FrameKind::Lost, site, number, Vec::new()));
                self.out.touched.push(other);
            }
        }
        self.announce_end();
    }

    fn on_tick(&mut self) {
        for member in self.members.values_mut() {
            self.out.arriving.extend(member.site.filter(|_| member.messages.is_arriving()));
        }
    }

    fn on_flushed(&mut self, _: u32) {}

    fn outbox(&mut self, number: u32) -> Option<&mut FrameOutbox> {
        self.members.get_mut(&number).map(|member| &mut member.outbox)
    }

    fn output_mut(&mut self) -> &mut HubOutput {
        &mut self.out
    }
}

#[cfg(test)]
mod tests {
    use super::super::secure::PUBLIC;
    use super::*;

    /// A process asks on a connection.
    fn ask(hub: &mut Hub, number: u32) {
        let hello =
            Hello { version: "1".into(), host: "here".into(), contact: None, bytes: Vec::new() };
        hub.handle_command(HubCommand::JoinRequest { number, hello, key: [0; PUBLIC] });
    }

    /// It gets place 2.
    fn join(hub: &mut Hub, number: u32) {
        ask(hub, number);
        hub.handle_command(HubCommand::Admit { number, site: 2, welcome: Arc::from([]) });
    }

    /// A process whose connection broke on its side only used to be kept out by its own old connection.
    #[test]
    fn a_process_that_comes_back_replaces_its_old_connection() {
        let mut hub = Hub::new(4, Limits::default());
        for number in [7, 8] {
            join(&mut hub, number);
        }
        let out = hub.output_mut();
        let joined = |number| Delivery::Joined { site: 2, number, bytes: Vec::new() };
        assert_eq!(out.deliveries, [joined(7), Delivery::Lost { site: 2 }, joined(8)]);
        assert!(
            matches!(&out.cut[..], [(7, Some(word))] if word.code == RefusalCode::Cut),
            "{out:?}"
        );
        // Late frames of the old connection, and its end, do not affect the new one.
        assert_eq!(hub.handle_frame(7, Frame::new(FrameKind::Beat, 0, 0, Vec::new())), Ok(()));
        hub.on_disconnected(7, CLOSED);
        assert_eq!(hub.places[2], 8);
    }

    /// The root used to cut off a joiner if all results of a loop together were longer than what may wait for it.
    #[test]
    fn messages_for_several_sites_may_wait_without_limit() {
        let mut hub = Hub::new(4, Limits { waiting: 5000, ..Limits::default() });
        join(&mut hub, 7);
        let bytes: Arc<[u8]> = vec![1; 2000].into();
        for _ in 0..10 {
            let bytes = Arc::clone(&bytes);
            hub.handle_command(HubCommand::SendShared { to: 2, number: 7, bytes });
        }
        assert!(hub.output_mut().cut.is_empty());
        assert_eq!(Arc::strong_count(&bytes), 11);
        for _ in 0..3 {
            hub.handle_command(HubCommand::Send { to: 2, number: 7, bytes: vec![1; 2000] });
        }
        assert!(matches!(&hub.output_mut().cut[..], [(7, Some(_))]));
    }

    /// A message that took longer than a lease period used to count as silence.
    #[test]
    fn parts_of_a_long_message_are_signs_of_life() {
        let mut hub = Hub::new(4, Limits::default());
        join(&mut hub, 7);
        let mut arriving = |kind, length| {
            let body = if kind == FrameKind::Start {
                100_000_u64.to_le_bytes().into()
            } else {
                vec![1; length]
            };
            hub.handle_frame(7, Frame::new(kind, 0, 0, body)).unwrap();
            hub.on_tick();
            std::mem::take(&mut hub.output_mut().arriving)
        };
        // First nothing of it has arrived, then as much as four ticks require.
        assert_eq!(arriving(FrameKind::Start, 0), []);
        assert_eq!(arriving(FrameKind::Part, 40_000), [2]);
        assert_eq!(arriving(FrameKind::Beat, 0), []);
        assert_eq!(arriving(FrameKind::Part, 1), [2]);
        assert_eq!(arriving(FrameKind::Part, 1), []);
        assert_eq!(arriving(FrameKind::Part, 40_000), [2]);
        // The last part makes it a message.
        assert_eq!(arriving(FrameKind::Part, 19_998), []);
        assert!(matches!(hub.out.deliveries.last(), Some(Delivery::Message { from: 2, .. })));
    }

    /// A process that asked and went away used to count as one that waits.
    #[test]
    fn requests_are_withdrawn() {
        let mut hub = Hub::new(4, Limits::default());
        ask(&mut hub, 7);
        hub.on_disconnected(7, CLOSED);
        assert_eq!(hub.out.events.len(), 2);
        assert_eq!(hub.out.events[1], HubEvent::Withdrawn { number: 7 });
    }

    /// A process that came back while the root's network closed used to be refused without checking who it was.
    #[test]
    fn the_caller_answers_requests_until_the_end() {
        let mut hub = Hub::new(4, Limits::default());
        join(&mut hub, 7);
        hub.out = HubOutput::default();
        ask(&mut hub, 8);
        hub.handle_command(HubCommand::Finish);
        ask(&mut hub, 9);
        assert_eq!((hub.out.events.len(), hub.out.cut.len()), (2, 0));
        // The last site goes.
        hub.on_disconnected(7, CLOSED);
        ask(&mut hub, 10);
        assert!(hub.out.cut.iter().map(|(number, _)| *number).eq(8..11), "{:?}", hub.out);
        assert_eq!(hub.out.deliveries.last(), Some(&Delivery::End));
    }

    /// A site that ends its connection with a reason used to be refused for a frame out of place.
    #[test]
    fn the_reason_of_a_site_that_leaves_is_noted() {
        let mut hub = Hub::new(4, Limits::default());
        join(&mut hub, 7);
        let refusal = Refusal::new(RefusalCode::Cut, "more arrived than was read");
        assert_eq!(hub.handle_frame(7, refusal.frame()), Ok(()));
        let lost = hub.output_mut().deliveries.last();
        assert_eq!(lost, Some(&Delivery::Lost { site: 2 }));
        let noted = |event: &HubEvent| matches!(event, HubEvent::Note(line) if line.contains("more arrived"));
        assert!(hub.output_mut().events.iter().any(noted), "{:?}", hub.output_mut().events);
    }
}

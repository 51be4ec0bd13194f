//! [`Links`]: a joiner's direct links to other joiners, and which messages take them. Pure.
//!
//! The root introduces two joiners to each other: each learns the other's key and address. One of them connects; both
//! write on the link. Where no link can be opened, or too few messages would use it, messages go through the root.

use super::frame::{Frame, FrameFault, FrameKind};
use super::hello::{Contact, Hello, Refusal, RefusalCode};
use super::logic::{Delivery, HubOutput, Limits};
use super::messages::MessageAssembler;
use super::outbox::FrameOutbox;
use super::secure::{KnownKeys, PublicKey};
use super::stream::{StreamReceiver, StreamSender, Way};
use crate::Rank;
use pleach_runtime::sync::lock;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum number of links that this process opens; it accepts as many again.
const MOST_LINKS: usize = 16;
/// The numbers of links that this process opens begin here; those of links that it accepts are smaller.
const FIRST_OPENED: u32 = 1 << 31;
/// Ticks after which the count of recent messages is halved, and after which what has arrived is confirmed.
const HALF_LIFE: u32 = 20;
const CONFIRM: u32 = 4;
/// Ticks between two attempts to link to a site: at first, after a link, and at most.
const FIRST_REST: u32 = 4;
const LINK_REST: u32 = 20;
const MOST_REST: u32 = 240;

/// A direct link.
struct Link {
    site: Rank,
    /// Whether the other side has accepted it.
    open: bool,
    outbox: FrameOutbox,
    /// Whether a stream arrives on it.
    streams: bool,
    messages: MessageAssembler,
}

/// Another joiner.
#[derive(Default)]
struct OtherJoiner {
    /// The number of its connection with the root.
    number: u32,
    contact: Option<Contact>,
    asked: bool,
    links: usize,
    /// The messages in both directions, those of the past halved again and again.
    recent: u32,
    /// Ticks until the next attempt to link to it, and after a failure.
    rest: u32,
    next_rest: u32,
    outgoing: StreamSender,
    incoming: StreamReceiver,
}

/// Where frames, deliveries and orders to connect go.
pub struct LeafOutput<'a> {
    /// Frames to the root.
    pub root: &'a mut FrameOutbox,
    pub out: &'a mut HubOutput,
}

impl LeafOutput<'_> {
    /// Sends a site a frame about a stream through the root.
    fn by_root(&mut self, kind: FrameKind, (site, number): (Rank, u32), body: Vec<u8>) {
        self.root.push_frame(site, Frame::new(kind, site, number, body));
        self.out.touched.push(0);
    }
}

/// A joiner's direct links.
pub struct Links {
    limits: Limits,
    me: Rank,
    /// The first frame on links; `None` if this process has none.
    hello: Option<Hello>,
    keys: KnownKeys,
    peers: BTreeMap<Rank, OtherJoiner>,
    links: BTreeMap<u32, Link>,
    next: u32,
    ticks: u32,
    finishing: bool,
}

impl Links {
    /// The links of a process that sends this hello to the root. Adds keys of others as the root introduces them.
    pub fn new(hello: &Hello, keys: KnownKeys, limits: Limits) -> Self {
        let hello =
            hello.contact.map(|_| Hello { contact: None, bytes: Vec::new(), ..hello.clone() });
        let (peers, links) = Default::default();
        let (me, next, ticks, finishing) = (0, FIRST_OPENED, 0, false);
        Self { limits, me, hello, keys, peers, links, next, ticks, finishing }
    }

    /// Notes the place of this process.
    pub fn set_place(&mut self, me: Rank) {
        self.me = me;
    }

    /// Notes that a process has joined.
    pub fn on_joined(&mut self, site: Rank, number: u32) {
        self.peers
            .insert(site, OtherJoiner { number, next_rest: FIRST_REST, ..OtherJoiner::default() });
    }

    /// Notes that a process is lost.
    pub fn on_lost(&mut self, site: Rank, out: &mut HubOutput) {
        if let Some(contact) = self.peers.remove(&site).and_then(|peer| peer.contact) {
            lock(&self.keys).remove(&contact.key);
        }
        self.links.retain(|&number, link| {
            if link.site == site {
                out.cut.push((number, None));
            }
            link.site != site
        });
    }

    /// Ends all links.
    pub fn end(&mut self, out: &mut HubOutput) {
        out.cut.extend(std::mem::take(&mut self.links).into_keys().map(|number| (number, None)));
        lock(&self.keys).clear();
        self.hello = None;
    }

    /// Sends a message. Returns whether too much waits for its receiver.
    #[must_use]
    pub fn send(&mut self, to: (Rank, u32), bytes: Vec<u8>, ways: &mut LeafOutput<'_>) -> bool {
        let (site, number) = to;
        let peer = self.peers.get_mut(&site).filter(|peer| peer.number == number);
        let Some(peer) = peer else {
            ways.root.push_message(site, site, number, bytes);
            return false;
        };
        peer.recent += 1;
        match peer.outgoing.way {
            Way::Root => {
                ways.root.push_message(site, site, number, bytes);
                self.consider(site, ways);
                return false;
            }
            Way::Link(link) => {
                let bytes: Arc<[u8]> = bytes.into();
                if let Some(link) = self.links.get_mut(&link) {
                    link.outbox.push_shared(0, 0, 0, Arc::clone(&bytes));
                }
                peer.outgoing.keep(bytes);
                ways.out.touched.push(link);
            }
            Way::Broken => peer.outgoing.keep(bytes.into()),
        }
        let kept = peer.outgoing.kept_bytes();
        match peer.outgoing.way {
            Way::Link(link) if kept > self.limits.waiting => {
                self.cut(link, ways);
                false
            }
            // The root will judge the receiver by what it forwards, once the receiver has answered.
            Way::Broken => kept > 2 * self.limits.waiting,
            _ => false,
        }
    }

    /// Notes that a message from a site came through the root.
    pub fn on_relayed(&mut self, site: Rank, ways: &mut LeafOutput<'_>) {
        if let Some(peer) = self.peers.get_mut(&site) {
            peer.recent += 1;
            self.consider(site, ways);
        }
    }

    /// Opens a link to a site, or asks the root to be introduced, if that is worth it.
    fn consider(&mut self, site: Rank, ways: &mut LeafOutput<'_>) {
        let Some(hello) = self.hello.as_ref().filter(|_| !self.finishing) else { return };
        let Some(peer) = self.peers.get_mut(&site) else { return };
        if peer.recent < self.limits.link_after || peer.rest > 0 || peer.links > 0 {
            return;
        }
        let Some(contact) = peer.contact else {
            if !std::mem::replace(&mut peer.asked, true) {
                ways.by_root(FrameKind::Introduce, (site, peer.number), Vec::new());
            }
            return;
        };
        let (recent, mut outbox) = (peer.recent, FrameOutbox::default());
        outbox.push_first(Frame::new(FrameKind::Hello, 0, 0, hello.write()));
        if !self.make_room(recent, ways) {
            return;
        }
        let number = self.next;
        self.next = self.next.checked_add(1).unwrap_or(FIRST_OPENED);
        self.add(number, Link::new(site, false, outbox));
        ways.out.connect.push((number, contact));
    }

    fn add(&mut self, number: u32, link: Link) {
        if let Some(peer) = self.peers.get_mut(&link.site) {
            peer.links += 1;
        }
        self.links.insert(number, link);
    }

    /// Makes room for a link to a site with this number of recent messages, by ending a link that has far fewer.
    /// Returns whether there is room.
    fn make_room(&mut self, recent: u32, ways: &mut LeafOutput<'_>) -> bool {
        let opened = || self.links.range(FIRST_OPENED..);
        if opened().count() < MOST_LINKS {
            return true;
        }
        let least = opened()
            .map(|(&number, link)| {
                (self.peers.get(&link.site).map_or(0, |peer| peer.recent), number)
            })
            .min();
        let Some((_, number)) =
            least.filter(|(least, _)| 2 * least + self.limits.link_after < recent)
        else {
            return false;
        };
        self.cut(number, ways);
        true
    }

    /// Takes the contact of a site from the root.
    pub fn on_introduced(
        &mut self,
        frame: &Frame,
        ways: &mut LeafOutput<'_>,
    ) -> Result<(), FrameFault> {
        let contact = Contact::read(&frame.body).ok_or("an invalid contact")?;
        // Nobody may show the key of another one as its own.
        if self.peers.values().any(|peer| peer.has_key(contact.key)) {
            return Ok(());
        }
        let peer = self.peers.get_mut(&frame.site).filter(|peer| peer.number == frame.number);
        let Some(peer) = peer.filter(|peer| peer.contact.is_none()) else { return Ok(()) };
        peer.contact = Some(contact);
        lock(&self.keys).insert(contact.key);
        if peer.asked {
            self.consider(frame.site, ways);
        }
        Ok(())
    }

    /// Accepts a link from the process that has proven to have this key.
    pub fn on_called(&mut self, number: u32, key: PublicKey, ways: &mut LeafOutput<'_>) {
        let site = self.peers.iter().find(|(_, peer)| peer.has_key(key)).map(|(&site, _)| site);
        let own = |site| self.links.iter().find(move |(_, link)| link.site == site);
        let linked = |site| own(site).is_some_and(|(_, link)| link.open);
        let room = self.links.range(..FIRST_OPENED).count() < MOST_LINKS;
        let Some(site) = site.filter(|&site| room && !linked(site)) else {
            let refusal = Refusal::new(RefusalCode::Busy, "no link with this site is wanted");
            return ways.out.cut.push((number, Some(refusal)));
        };
        // If both call at once, the link that the lower site has opened is kept.
        if let Some((&own, _)) = own(site).filter(|_| site < self.me) {
            self.cut(own, ways);
        }
        let mut outbox = FrameOutbox::default();
        outbox.push_first(Frame::new(FrameKind::Linked, 0, 0, Vec::new()));
        self.add(number, Link::new(site, true, outbox));
        ways.out.touched.push(number);
        self.switch(site, number, ways);
    }

    /// Begins a stream to a site on an open link, if messages to it go through the root.
    fn switch(&mut self, site: Rank, number: u32, ways: &mut LeafOutput<'_>) {
        let (Some(peer), Some(link)) = (self.peers.get_mut(&site), self.links.get_mut(&number))
        else {
            return;
        };
        if peer.outgoing.way != Way::Root || self.finishing {
            return;
        }
        let stream = peer.outgoing.begin(number).to_le_bytes().to_vec();
        ways.by_root(FrameKind::Switched, (site, peer.number), stream.clone());
        link.outbox.push_frame(0, Frame::new(FrameKind::Switched, 0, 0, stream));
        ways.out.touched.push(number);
    }

    /// Takes a frame from a link.
    pub fn on_link_frame(
        &mut self,
        number: u32,
        frame: Frame,
        ways: &mut LeafOutput<'_>,
    ) -> Result<(), FrameFault> {
        let Some(link) = self.links.get_mut(&number) else { return Ok(()) };
        let site = link.site;
        if link.outbox.waiting() > self.limits.waiting {
            return Err("it does not read what is sent to it");
        }
        let Some(peer) = self.peers.get_mut(&site) else { return Ok(()) };
        match frame.kind {
            FrameKind::Beat => Ok(()),
            FrameKind::Refuse => {
                self.cut(number, ways);
                Ok(())
            }
            FrameKind::Linked if !link.open => {
                link.open = true;
                peer.next_rest = FIRST_REST;
                self.switch(site, number, ways);
                Ok(())
            }
            FrameKind::Switched if link.open && !link.streams => {
                link.streams = true;
                let begun = peer.incoming.begin(count(&frame.body)?, number);
                begun.then_some(()).ok_or("a stream out of order")
            }
            FrameKind::Whole | FrameKind::Start | FrameKind::Part if link.streams => {
                let bytes = link.messages.add_part(frame, self.limits.message)?;
                let Some(bytes) = bytes else { return Ok(()) };
                peer.recent += 1;
                if let Some(bytes) = peer.incoming.add(number, bytes) {
                    let from = (site, peer.number);
                    ways.out.deliveries.push(message(from, bytes));
                }
                if peer.incoming.held_bytes() > self.limits.waiting {
                    return Err("too much of a stream that was not announced");
                }
                confirm(peer, &mut self.links, false, ways.out);
                Ok(())
            }
            FrameKind::Received if peer.outgoing.way == Way::Link(number) => {
                let (stream, arrived) = counts(&frame.body)?;
                let valid = stream == peer.outgoing.stream && peer.outgoing.confirm(arrived);
                valid.then_some(()).ok_or("an impossible confirmation")
            }
            FrameKind::Finish if link.streams => {
                confirm(peer, &mut self.links, true, ways.out);
                Ok(())
            }
            _ => Err("a frame out of place"),
        }
    }

    /// Takes a frame about a stream that came through the root. The root does not check what joiners send each other:
    /// invalid frames are ignored.
    pub fn on_root_frame(
        &mut self,
        frame: &Frame,
        ways: &mut LeafOutput<'_>,
    ) -> Result<(), FrameFault> {
        let site = frame.site;
        let Some(peer) = self.peers.get_mut(&site) else { return Ok(()) };
        let to = (site, peer.number);
        match frame.kind {
            FrameKind::Switched => {
                let messages = peer.incoming.announce(count(&frame.body)?);
                ways.out.deliveries.extend(messages.into_iter().map(|bytes| message(to, bytes)));
            }
            FrameKind::Broken => {
                let stream = count(&frame.body)?;
                let (received, link) = peer.incoming.end(stream);
                let body = [stream.to_le_bytes(), received.to_le_bytes()].concat();
                ways.by_root(FrameKind::Received, to, body);
                if let Some(link) = link {
                    self.cut(link, ways);
                }
            }
            _ => {
                let (stream, received) = counts(&frame.body)?;
                let outgoing = &mut peer.outgoing;
                if outgoing.way == Way::Broken && stream == outgoing.stream {
                    outgoing.confirm(received);
                    for bytes in outgoing.end() {
                        ways.root.push_shared(site, site, to.1, bytes);
                    }
                    ways.out.touched.push(0);
                    // Another link may have opened meanwhile.
                    let other = self.links.iter().find(|(_, link)| link.site == site && link.open);
                    if let Some((&number, _)) = other {
                        self.switch(site, number, ways);
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends a link.
    fn cut(&mut self, number: u32, ways: &mut LeafOutput<'_>) {
        ways.out.cut.push((number, None));
        self.on_link_lost(number, ways);
    }

    /// Handles the end of a link.
    pub fn on_link_lost(&mut self, number: u32, ways: &mut LeafOutput<'_>) {
        let Some(link) = self.links.remove(&number) else { return };
        let Some(peer) = self.peers.get_mut(&link.site) else { return };
        peer.links -= 1;
        if link.open {
            peer.rest = LINK_REST;
        } else {
            peer.rest = peer.next_rest;
            peer.next_rest = (2 * peer.next_rest).min(MOST_REST);
        }
        if peer.outgoing.way == Way::Link(number) {
            peer.outgoing.way = Way::Broken;
            let stream = peer.outgoing.stream.to_le_bytes().to_vec();
            ways.by_root(FrameKind::Broken, (link.site, peer.number), stream);
        }
    }

    /// Notes that half a second has passed.
    pub fn on_tick(&mut self, ways: &mut LeafOutput<'_>) {
        self.ticks += 1;
        let halve = self.ticks.is_multiple_of(HALF_LIFE);
        for peer in self.peers.values_mut() {
            peer.rest = peer.rest.saturating_sub(1);
            peer.recent >>= u32::from(halve);
            if self.ticks.is_multiple_of(CONFIRM) {
                confirm(peer, &mut self.links, true, ways.out);
            }
        }
        for link in self.links.values_mut() {
            ways.out.arriving.extend(link.messages.is_arriving().then_some(link.site));
        }
        // A link that is hardly used any more costs more than it saves.
        let idle = |link: &Link| {
            self.peers.get(&link.site).is_none_or(|peer| peer.recent < self.limits.link_after / 16)
        };
        let idle = self.links.iter().filter(|(_, link)| halve && link.open && idle(link));
        for number in idle.map(|(&number, _)| number).collect::<Vec<u32>>() {
            self.cut(number, ways);
        }
    }

    /// Asks for what was sent directly to be confirmed now: nothing more will be sent.
    pub fn flush(&mut self, out: &mut HubOutput) {
        self.finishing = true;
        for peer in self.peers.values().filter(|peer| !peer.outgoing.is_flushed()) {
            if let Way::Link(number) = peer.outgoing.way
                && let Some(link) = self.links.get_mut(&number)
            {
                link.outbox.push_frame(0, Frame::new(FrameKind::Finish, 0, 0, Vec::new()));
                out.touched.push(number);
            }
        }
    }

    /// Whether everything that was sent directly has arrived.
    pub fn is_flushed(&self) -> bool {
        self.peers.values().all(|peer| peer.outgoing.is_flushed())
    }

    /// The frames that wait for a link.
    pub fn outbox(&mut self, number: u32) -> Option<&mut FrameOutbox> {
        self.links.get_mut(&number).map(|link| &mut link.outbox)
    }
}

impl OtherJoiner {
    fn has_key(&self, key: PublicKey) -> bool {
        self.contact.is_some_and(|contact| contact.key == key)
    }
}

impl Link {
    fn new(site: Rank, open: bool, outbox: FrameOutbox) -> Self {
        Self { site, open, outbox, streams: false, messages: MessageAssembler::default() }
    }
}

/// Confirms messages of a site, if it is time, and its link still exists.
fn confirm(
    peer: &mut OtherJoiner,
    links: &mut BTreeMap<u32, Link>,
    all: bool,
    out: &mut HubOutput,
) {
    let Some((number, stream, received)) = peer.incoming.confirmation(all) else { return };
    if let Some(link) = links.get_mut(&number) {
        let body = [stream.to_le_bytes(), received.to_le_bytes()].concat();
        link.outbox.push_frame(0, Frame::new(FrameKind::Received, 0, 0, body));
        out.touched.push(number);
    }
}

fn message((from, number): (Rank, u32), bytes: Vec<u8>) -> Delivery {
    Delivery::Message { from, number, bytes }
}

fn count(body: &[u8]) -> Result<u64, FrameFault> {
    body.try_into().map(u64::from_le_bytes).map_err(|_| "an invalid number")
}

fn counts(body: &[u8]) -> Result<(u64, u64), FrameFault> {
    let (one, other) = body.split_first_chunk::<8>().ok_or("an invalid number")?;
    Ok((u64::from_le_bytes(*one), count(other)?))
}

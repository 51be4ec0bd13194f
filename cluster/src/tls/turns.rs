//! [`Turns`]: the loop of one side. One thread serves all authenticated connections in turn.

use super::frame::{Frame, FrameKind};
use super::hello::{Contact, Refusal, RefusalCode};
use super::logic::{CLOSED, HubCommand, Limits, Logic};
use super::outbox::FrameOutbox;
use super::queues::{CallerMailbox, Orders, QueuedCommand};
use super::secure::Secure;
use super::wire::{ConnectionError, Handshake, TURN, Wire};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token, Waker};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Wakes the loop.
const WAKE: Token = Token(usize::MAX);
/// A connection on which nothing was sent for this long sends a sign of life.
const BEAT: Duration = Duration::from_millis(900);
/// How often silence is checked.
const TICK: Duration = Duration::from_millis(500);
/// The longest time for ending a connection.
const PARTING: Duration = Duration::from_secs(2);

struct Connection {
    wire: Wire,
    /// Its last frame, and the deadline for sending it, once the connection is being ended.
    parting: Option<(FrameOutbox, Instant)>,
}

/// The loop of one side.
pub struct Turns<L> {
    logic: L,
    limits: Limits,
    poll: Poll,
    orders: Arc<Orders>,
    mailbox: Arc<CallerMailbox>,
    links: BTreeMap<u32, Connection>,
    /// Connections from which more can be read, and to which more can be written.
    reads: BTreeSet<u32>,
    writes: BTreeSet<u32>,
    /// Connections whose other end may have closed: only a read that finds nothing more reveals it.
    closing: BTreeSet<u32>,
    scratch: Vec<u8>,
    ticked: Instant,
    /// How to connect to others, if this side does.
    secure: Option<Secure>,
}

impl<L: Logic> Turns<L> {
    pub fn new(
        logic: L,
        limits: Limits,
        mailbox: Arc<CallerMailbox>,
        secure: Option<Secure>,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        let orders = Arc::new(Orders::new(Waker::new(poll.registry(), WAKE)?));
        Ok(Self {
            logic,
            limits,
            poll,
            orders,
            mailbox,
            links: BTreeMap::new(),
            reads: BTreeSet::new(),
            writes: BTreeSet::new(),
            closing: BTreeSet::new(),
            scratch: vec![0; TURN],
            ticked: Instant::now(),
            secure,
        })
    }

    pub fn orders(&self) -> Arc<Orders> {
        self.orders.clone()
    }

    /// Takes over a connection. Another thread may have done its handshake.
    pub fn add(&mut self, number: u32, mut wire: Wire) {
        let both = Interest::READABLE | Interest::WRITABLE;
        let token = Token(number as usize);
        // Its silence counts from now on.
        wire.received_at = Instant::now();
        match self.poll.registry().register(&mut wire.socket, token, both) {
            Ok(()) => {
                self.links.insert(number, Connection { wire, parting: None });
                self.orders.connections.store(self.links.len(), Ordering::Relaxed);
                self.reads.insert(number);
                self.writes.insert(number);
            }
            Err(error) => self.logic.on_disconnected(number, &error.to_string()),
        }
    }

    /// Runs until it is stopped. Commands that were given before are still handled, and what they send is written as far
    /// as the sockets take it at once.
    pub fn run(mut self) {
        let mut events = Events::with_capacity(256);
        let mut orders = Vec::new();
        loop {
            let stops = self.orders.stopped();
            let reads = self.reads.iter().any(|&number| !self.is_held_back(number));
            let wait = if !stops && !reads && self.writes.is_empty() {
                TICK.saturating_sub(self.ticked.elapsed())
            } else {
                Duration::ZERO
            };
            if self.poll.poll(&mut events, Some(wait)).is_err() {
                // A signal ended the wait: there are no events.
                events.clear();
            }
            for event in events.iter().filter(|event| event.token() != WAKE) {
                let number = event.token().0 as u32;
                if event.is_readable() || event.is_read_closed() || event.is_error() {
                    self.reads.insert(number);
                }
                if event.is_read_closed() || event.is_error() {
                    self.closing.insert(number);
                }
                if event.is_writable() {
                    self.writes.insert(number);
                }
            }
            self.orders.take_all(&mut orders);
            for item in orders.drain(..) {
                match item {
                    QueuedCommand::Command(order) => self.logic.handle_command(order),
                    QueuedCommand::Wire(number, wire, order) => {
                        self.logic.handle_command(order);
                        self.add(number, *wire);
                    }
                }
            }
            let now = Instant::now();
            self.apply_output(now);
            self.read(now);
            self.apply_output(now);
            self.write(now);
            self.apply_output(now);
            if now.duration_since(self.ticked) >= TICK {
                self.check_silence(now);
                self.logic.on_tick();
                self.apply_output(now);
            }
            if stops {
                while !self.writes.is_empty() {
                    self.write(now);
                    self.apply_output(now);
                }
                break;
            }
        }
        for link in self.links.values_mut() {
            link.wire.close();
        }
    }

    /// Begins to connect to another joiner.
    fn connect(&self, contact: Contact, now: Instant) -> Result<Wire, String> {
        let secure = self.secure.as_ref().ok_or("this process opens no links")?;
        let socket = TcpStream::connect(contact.address).map_err(|error| error.to_string())?;
        let tls = secure.client_of(contact.key).map_err(|error| error.to_string())?;
        Ok(Wire::new(socket, tls.into(), now))
    }

    /// Whether this is a joiner's connection to the root, with so much unread that the root has to wait. The loop asks
    /// again at each tick: the caller has enough to do until the next tick.
    fn is_held_back(&self, number: u32) -> bool {
        number == 0
            && self.mailbox.unread_bytes(number) > self.limits.waiting
            && self.links.get(&number).is_some_and(|link| link.parting.is_none())
    }

    /// Gives each connection a turn to be read.
    fn read(&mut self, now: Instant) {
        for number in std::mem::take(&mut self.reads) {
            let held_back = self.is_held_back(number);
            let Some(link) = self.links.get_mut(&number) else { continue };
            if held_back {
                // The root is not silent: what it has sent waits in the socket.
                link.wire.received_at = now;
                self.reads.insert(number);
                continue;
            }
            let logic = &mut self.logic;
            let parting = link.parting.is_some();
            let mut each = |frame| if parting { Ok(()) } else { logic.handle_frame(number, frame) };
            match link.wire.read(&mut self.scratch, &mut each) {
                Ok((turn, length)) => {
                    if length > 0 {
                        link.wire.received_at = now;
                    }
                    // Whatever arrives after a short read makes an event of its own.
                    let empty = length > 0
                        && length < self.scratch.len()
                        && !self.closing.contains(&number);
                    match turn {
                        Handshake::More if !empty => drop(self.reads.insert(number)),
                        Handshake::More | Handshake::Done => {}
                        Handshake::Ended => self.on_closed(number, CLOSED),
                    }
                    // TLS itself may have something to send.
                    self.writes.insert(number);
                }
                Err(broken) => self.on_broken(number, &broken, now),
            }
        }
    }

    /// Gives each connection that has something to send a turn.
    fn write(&mut self, now: Instant) {
        for number in std::mem::take(&mut self.writes) {
            let Some(link) = self.links.get_mut(&number) else { continue };
            let mut none = FrameOutbox::default();
            let parting = link.parting.is_some();
            let outbox = match &mut link.parting {
                Some((outbox, _)) => outbox,
                None => self.logic.outbox(number).unwrap_or(&mut none),
            };
            match link.wire.write(outbox, now) {
                Ok(Handshake::More) => drop(self.writes.insert(number)),
                Ok(Handshake::Done) if outbox.is_empty() && link.wire.is_flushed() => {
                    if parting {
                        link.wire.close();
                    } else {
                        self.logic.on_flushed(number);
                    }
                }
                Ok(Handshake::Done) => {}
                Ok(Handshake::Ended) => self.on_closed(number, CLOSED),
                Err(broken) => self.on_broken(number, &broken, now),
            }
        }
    }

    /// Ends connections that have been silent for too long, and sends signs of life on the others.
    fn check_silence(&mut self, now: Instant) {
        // Time during which this process was suspended does not count as silence of others.
        let still = now.duration_since(self.ticked).saturating_sub(2 * TICK);
        self.ticked = now;
        let (mut silent, mut late) = (Vec::new(), Vec::new());
        for (&number, link) in &mut self.links {
            link.wire.received_at += still;
            match &link.parting {
                Some((_, until)) if now >= *until => late.push(number),
                Some(_) => {}
                None if now.saturating_duration_since(link.wire.received_at)
                    > self.limits.silence =>
                {
                    silent.push(number);
                }
                None => {
                    if now.saturating_duration_since(link.wire.sent_at) >= BEAT
                        && let Some(outbox) = self.logic.outbox(number).filter(|o| o.is_empty())
                    {
                        outbox.push_first(Frame::new(FrameKind::Beat, 0, 0, Vec::new()));
                        self.writes.insert(number);
                    }
                }
            }
        }
        late.into_iter().for_each(|number| self.drop_link(number));
        for number in silent {
            let why = format!("silent for {:.0} s", self.limits.silence.as_secs_f64());
            self.logic.on_disconnected(number, &why);
            self.end_connection(number, Some(Refusal::new(RefusalCode::Cut, &why)), now);
        }
    }

    fn on_closed(&mut self, number: u32, why: &str) {
        self.drop_link(number);
        self.logic.on_disconnected(number, why);
    }

    fn on_broken(&mut self, number: u32, broken: &ConnectionError, now: Instant) {
        let why = broken.to_string();
        match broken {
            ConnectionError::Frame(_) => {
                self.end_connection(number, Some(Refusal::new(RefusalCode::Cut, &why)), now)
            }
            _ => self.drop_link(number),
        }
        self.logic.on_disconnected(number, &why);
    }

    /// Ends a connection, with a last frame if there is one.
    fn end_connection(&mut self, number: u32, word: Option<Refusal>, now: Instant) {
        if let Some(link) = self.links.get_mut(&number).filter(|link| link.parting.is_none()) {
            let mut outbox = FrameOutbox::default();
            if let Some(word) = word {
                outbox.push_first(word.frame());
            }
            link.parting = Some((outbox, now + PARTING));
            self.writes.insert(number);
        }
    }

    fn drop_link(&mut self, number: u32) {
        if let Some(mut link) = self.links.remove(&number) {
            let _ = self.poll.registry().deregister(&mut link.wire.socket);
            self.orders.connections.store(self.links.len(), Ordering::Relaxed);
        }
        self.reads.remove(&number);
        self.writes.remove(&number);
        self.closing.remove(&number);
    }

    /// Carries out the output of the logic.
    fn apply_output(&mut self, now: Instant) {
        loop {
            let out = self.logic.output_mut();
            self.writes.extend(out.touched.drain(..));
            let cut = std::mem::take(&mut out.cut);
            let connect = std::mem::take(&mut out.connect);
            self.mailbox.note_arriving(&mut out.arriving);
            let most = self.limits.waiting;
            let flooded = self.mailbox.push_all(&mut out.deliveries, &mut out.events, most);
            if cut.is_empty() && flooded.is_empty() && connect.is_empty() {
                return;
            }
            for (number, contact) in connect {
                match self.connect(contact, now) {
                    Ok(wire) => self.add(number, wire),
                    Err(why) => self.logic.on_disconnected(number, &why),
                }
            }
            for (number, word) in cut {
                self.end_connection(number, word, now);
            }
            for number in flooded {
                self.logic.handle_command(HubCommand::Flooded { number });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::FrameFault;
    use super::super::logic::HubOutput;
    use super::*;
    use std::sync::atomic::AtomicUsize;

    /// A side that only counts its commands.
    #[derive(Default)]
    struct CommandCounter {
        handled: Arc<AtomicUsize>,
        out: HubOutput,
    }

    impl Logic for CommandCounter {
        fn handle_frame(&mut self, _: u32, _: Frame) -> Result<(), FrameFault> {
            Ok(())
        }

        fn handle_command(&mut self, _: HubCommand) {
            self.handled.fetch_add(1, Ordering::Relaxed);
        }

        fn on_disconnected(&mut self, _: u32, _: &str) {}

        fn on_tick(&mut self) {}

        fn on_flushed(&mut self, _: u32) {}

        fn outbox(&mut self, _: u32) -> Option<&mut FrameOutbox> {
            None
        }

        fn output_mut(&mut self) -> &mut HubOutput {
            &mut self.out
        }
    }

    /// The reason of a failure used to be lost if the network stopped before the loop had seen it.
    #[test]
    fn commands_given_before_a_stop_are_handled() {
        let counter = CommandCounter::default();
        let handled = Arc::clone(&counter.handled);
        let mailbox = Arc::new(CallerMailbox::new(Arc::new(|| {})));
        let turns = Turns::new(counter, Limits::default(), mailbox, None).unwrap();
        let orders = turns.orders();
        orders.push(QueuedCommand::Command(HubCommand::Finish));
        orders.stop();
        turns.run();
        assert_eq!(handled.load(Ordering::Relaxed), 1);
    }
}

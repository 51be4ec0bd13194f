//! [`Acceptor`]: the thread of the root or of a joiner for unauthenticated peers. It listens, and hands over only peers that have proven
//! the key and sent a hello.
//!
//! Everything that an unauthenticated peer can reach runs here, away from the loop of the run, and within limits: on
//! the number of unauthenticated peers, on the bytes and the time of each, and on this thread's share of a core.

use super::frame::HELLO_LIMIT;
use super::frame::{Frame, FrameKind, HEAD};
use super::hello::{Hello, Refusal};
use super::logic::{HubCommand, HubEvent};
use super::outbox::FrameOutbox;
use super::queues::{CallerMailbox, Notes, Orders, QueuedCommand};
use super::secure::Secure;
use super::wire::{ConnectionError, Handshake, Wire};
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use rustls::ServerConnection;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The first byte of a handshake.
const HANDSHAKE: [u8; 1] = [0x16];
/// The TLS alert `access_denied`.
const DENIED: [u8; 7] = [0x15, 3, 3, 0, 2, 2, 49];
const LISTENER: Token = Token(usize::MAX);
/// The maximum number of unauthenticated peers at once. If there are more, the oldest are dropped.
const MOST_UNAUTHENTICATED: usize = 256;
/// The longest time for a peer to authenticate.
const PATIENCE: Duration = Duration::from_secs(5);
/// The maximum number of bytes before the key is proven, and before the hello is complete.
const BEFORE_KEY: usize = 4 << 10;
const BEFORE_HELLO: usize = BEFORE_KEY + HELLO_LIMIT + 16 * HEAD;
/// The maximum number of connections accepted in a row.
const ACCEPTED: usize = 16;
/// Caps the acceptor at 1/SHARE of a core, after a first burst.
const SHARE: u32 = 10;
const BURST: Duration = Duration::from_millis(200);
const MOMENT: Duration = Duration::from_millis(1);

/// A peer that has not sent its hello yet.
struct UnauthenticatedPeer {
    address: SocketAddr,
    until: Instant,
    taken: usize,
    /// The socket, until a byte arrives: a silent peer costs nothing else.
    silent: Option<TcpStream>,
    /// The socket and the handshake, until the first message is complete.
    first: Option<(TcpStream, rustls::server::Acceptor)>,
    wire: Option<Box<Wire>>,
}

/// The state of an unauthenticated peer's handshake.
enum HelloOutcome {
    Pending,
    /// It has proven the key and sent its hello.
    Complete(Box<Hello>),
    /// It has the key but cannot join.
    Refused(Refusal),
    Failed(String),
}

/// The thread for unauthenticated peers.
pub struct Acceptor {
    listener: TcpListener,
    secure: Secure,
    version: String,
    poll: Poll,
    orders: Arc<Orders>,
    mailbox: Arc<CallerMailbox>,
    unauthenticated: BTreeMap<usize, UnauthenticatedPeer>,
    newest: usize,
    /// The last number given to an authenticated connection.
    known: u32,
    notes: Notes,
    /// The time that it has worked in excess of its share.
    debt: Duration,
}

impl Acceptor {
    pub fn new(
        mut listener: TcpListener,
        secure: Secure,
        version: String,
        orders: Arc<Orders>,
        mailbox: Arc<CallerMailbox>,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Self {
            listener,
            secure,
            version,
            poll,
            orders,
            mailbox,
            unauthenticated: BTreeMap::new(),
            newest: 0,
            known: 0,
            notes: Notes::new(Instant::now()),
            debt: Duration::ZERO,
        })
    }

    /// Wakes this thread.
    pub fn waker(&self) -> io::Result<mio::Waker> {
        mio::Waker::new(self.poll.registry(), Token(usize::MAX - 1))
    }

    /// Runs until the loop is stopped.
    pub fn run(mut self) {
        let (mut events, mut more, mut worked) = (Events::with_capacity(64), false, Instant::now());
        while !self.orders.stopped() {
            if let Some(over) = self.debt.checked_sub(BURST) {
                std::thread::sleep((over * SHARE).clamp(MOMENT, 50 * MOMENT));
            } else {
                let wait = if more { Some(Duration::ZERO) } else { self.rest() };
                if self.poll.poll(&mut events, wait).is_err() {
                    events.clear();
                }
            }
            let now = Instant::now();
            self.debt = self.debt.saturating_sub((now - worked) / SHARE);
            for event in &events {
                match event.token() {
                    LISTENER => more = true,
                    Token(number) => self.read_peer(number, now),
                }
            }
            events.clear();
            if more {
                more = self.accept(now);
            }
            self.expel_slow_peers(now);
            worked = Instant::now();
            self.debt += worked - now;
        }
    }

    /// How long the thread may wait.
    fn rest(&self) -> Option<Duration> {
        (!self.unauthenticated.is_empty()).then_some(200 * MOMENT)
    }

    /// Accepts a few connections. Returns whether there may be more.
    fn accept(&mut self, now: Instant) -> bool {
        for _ in 0..ACCEPTED {
            match self.listener.accept() {
                Ok((socket, address)) => self.add_unauthenticated(socket, address, now),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    // Probably too many files are open: the oldest unauthenticated peers make room.
                    self.note(&format!("cannot accept a connection: {error}"), now);
                    self.unauthenticated.pop_first();
                    std::thread::sleep(Duration::from_millis(10));
                    return true;
                }
            }
        }
        true
    }

    fn add_unauthenticated(&mut self, mut socket: TcpStream, address: SocketAddr, now: Instant) {
        self.newest += 1;
        let (number, until) = (self.newest, now + PATIENCE);
        if self.poll.registry().register(&mut socket, Token(number), Interest::READABLE).is_ok() {
            let silent = Some(socket);
            self.unauthenticated.insert(
                number,
                UnauthenticatedPeer { address, until, taken: 0, silent, first: None, wire: None },
            );
        }
        while self.unauthenticated.len() > MOST_UNAUTHENTICATED {
            // Peers that know the hash of the key are dropped last.
            let known = |newcomer: &UnauthenticatedPeer| newcomer.wire.is_some();
            let first = self.unauthenticated.iter().find(|(_, newcomer)| !known(newcomer));
            let Some(goes) = first.or(self.unauthenticated.first_key_value()) else { break };
            let goes = *goes.0;
            self.unauthenticated.remove(&goes);
        }
        self.read_peer(number, now);
    }

    /// Handles data from an unauthenticated peer.
    fn read_peer(&mut self, number: usize, now: Instant) {
        let Some(mut newcomer) = self.unauthenticated.remove(&number) else { return };
        match newcomer.read_hello(&self.secure, &self.version, now) {
            HelloOutcome::Pending => drop(self.unauthenticated.insert(number, newcomer)),
            HelloOutcome::Complete(hello) => {
                let Some(mut wire) = newcomer.wire else { return };
                let Some(key) = wire.peer_key() else { return };
                if self.poll.registry().deregister(&mut wire.socket).is_ok() {
                    self.known += 1;
                    let order = HubCommand::JoinRequest { number: self.known, hello: *hello, key };
                    self.orders.push(QueuedCommand::Wire(self.known, wire, order));
                }
            }
            HelloOutcome::Refused(refusal) => {
                let Some(mut wire) = newcomer.wire else { return };
                let mut outbox = FrameOutbox::default();
                outbox.push_first(refusal.frame());
                let _ = wire.write(&mut outbox, now);
                wire.close();
                let address = newcomer.address;
                self.note(&format!("{address} cannot join: {}", refusal.reason), now);
            }
            HelloOutcome::Failed(why) => {
                self.note(&format!("{} was turned away: {why}", newcomer.address), now);
            }
        }
    }

    /// Turns away peers that take too long.
    fn expel_slow_peers(&mut self, now: Instant) {
        while let Some(oldest) = self.unauthenticated.first_entry()
            && oldest.get().until <= now
        {
            let address = oldest.remove().address;
            self.note(&format!("{address} was turned away: it took too long"), now);
        }
    }

    fn note(&mut self, note: &str, now: Instant) {
        if let Some(note) = self.notes.admit(note, now) {
            self.mailbox.push_all(&mut Vec::new(), &mut vec![HubEvent::Note(note)], usize::MAX);
        }
    }
}

impl UnauthenticatedPeer {
    fn read_hello(&mut self, secure: &Secure, version: &str, now: Instant) -> HelloOutcome {
        if let Some(socket) = &self.silent {
            let mut first = [0];
            match socket.peek(&mut first) {
                Ok(0) => return HelloOutcome::Failed("it sent nothing".into()),
                Ok(_) if first == HANDSHAKE => {}
                Ok(_) => return HelloOutcome::Failed(ConnectionError::NoTls.to_string()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return HelloOutcome::Pending;
                }
                Err(error) => return HelloOutcome::Failed(error.to_string()),
            }
        }
        if let Some(socket) = self.silent.take() {
            self.first = Some((socket, rustls::server::Acceptor::default()));
        }
        if let Some((mut socket, mut acceptor)) = self.first.take() {
            match self.check_alpn(&mut socket, &mut acceptor, secure) {
                Ok(Some(tls)) => self.wire = Some(Box::new(Wire::new(socket, tls.into(), now))),
                Ok(None) => {
                    self.first = Some((socket, acceptor));
                    return HelloOutcome::Pending;
                }
                Err(broken) => {
                    if broken == ConnectionError::Key {
                        // Inform a joiner that has another key.
                        let _ = socket.write(&DENIED);
                    }
                    return HelloOutcome::Failed(broken.to_string());
                }
            }
        }
        loop {
            match self.read_limited(version, now) {
                Ok(Some(Handshake::More)) => {}
                Ok(Some(Handshake::Done)) | Ok(None) => return HelloOutcome::Pending,
                Ok(Some(Handshake::Ended)) => {
                    return HelloOutcome::Failed("it disconnected before its hello".into());
                }
                Err(outcome) => return outcome,
            }
        }
    }

    /// Checks the ALPN name in the first message.
    fn check_alpn(
        &mut self,
        socket: &mut TcpStream,
        acceptor: &mut rustls::server::Acceptor,
        secure: &Secure,
    ) -> Result<Option<ServerConnection>, ConnectionError> {
        while self.taken < BEFORE_KEY {
            let mut scratch = [0; BEFORE_KEY];
            let length = match socket.read(&mut scratch[self.taken..]) {
                Ok(0) => {
                    return Err(ConnectionError::Socket("it disconnected before its hello".into()));
                }
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(ConnectionError::Socket(error.to_string())),
            };
            let mut rest = &scratch[self.taken..self.taken + length];
            self.taken += length;
            let socket_error = |error: io::Error| ConnectionError::Socket(error.to_string());
            while !rest.is_empty() {
                acceptor.read_tls(&mut rest).map_err(socket_error)?;
            }
            match acceptor.accept() {
                Ok(Some(accepted)) => return Ok(Some(secure.server(accepted)?)),
                Ok(None) => {}
                Err((error, _)) => return Err(error.into()),
            }
        }
        Err(ConnectionError::Socket("it sent too much before its hello".into()))
    }

    /// Reads what has arrived, up to the limit for an unauthenticated peer.
    fn read_limited(
        &mut self,
        version: &str,
        now: Instant,
    ) -> Result<Option<Handshake>, HelloOutcome> {
        let Some(wire) = &mut self.wire else { return Ok(None) };
        let limit = if wire.is_unauthenticated() { BEFORE_KEY } else { BEFORE_HELLO };
        let room = limit.saturating_sub(self.taken).min(BEFORE_KEY);
        if room == 0 {
            return Err(HelloOutcome::Failed("it sent too much before its hello".into()));
        }
        let mut hello = None;
        let mut each = |frame: Frame| match (frame.kind, &hello) {
            (FrameKind::Hello, None) => {
                hello = Some(Hello::read(&frame.body, version));
                Ok(())
            }
            (FrameKind::Beat, Some(_)) => Ok(()),
            _ => Err("it did not send a hello"),
        };
        let read = wire.read(&mut [0; BEFORE_KEY][..room], &mut each);
        // TLS may have something to send, even after a failure.
        let written = wire.write(&mut FrameOutbox::default(), now);
        let goes = |broken: ConnectionError| HelloOutcome::Failed(broken.to_string());
        let (turn, length) = read.map_err(goes)?;
        written.map_err(goes)?;
        self.taken += length;
        match hello {
            Some(Ok(hello)) => Err(HelloOutcome::Complete(Box::new(hello))),
            Some(Err(refusal)) => Err(HelloOutcome::Refused(refusal)),
            None => Ok(Some(turn)),
        }
    }
}

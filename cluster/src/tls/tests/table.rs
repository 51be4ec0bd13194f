//! [`Table`]: a root that admits everybody, joiners, and raw connections, for tests.

use super::super::frame::{Frame, FrameKind, FrameReader};
use super::super::hello::Hello;
use super::super::outbox::FrameOutbox;
use super::super::secure::Secure;
use super::super::wire::{ConnectionError, Handshake, Wire};
use crate::tls::{
    self, JoinError, JoinOptions, Key, Limits, ListenOptions, Reach, Star, TlsEntrance,
};
use crate::{Arrival, Network, Rank};
use crate::{Caller, Entrance};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest time for anything on a busy machine.
pub const LONG: Duration = Duration::from_secs(20);

/// Sleeps until the network has something, or for a short time.
pub fn rest() {
    std::thread::park_timeout(Duration::from_millis(5));
}

fn wake() -> tls::Wake {
    let me = std::thread::current();
    Arc::new(move || me.unpark())
}

/// A root with its notes.
pub struct Table {
    pub star: Star,
    pub entrance: TlsEntrance,
    pub key: Key,
    pub limits: Limits,
    pub notes: Vec<String>,
    places: u32,
}

impl Table {
    pub fn new(places: u32, limits: Limits) -> Self {
        let key = Key::random().unwrap();
        let (address, version) = ("127.0.0.1:0".into(), "1".into());
        let listening = ListenOptions { address, key: key.clone(), version, places, limits };
        let (star, entrance) = tls::listen(listening, wake()).unwrap();
        Self { star, entrance, key, limits, notes: Vec::new(), places }
    }

    pub fn address(&self) -> SocketAddr {
        self.entrance.address()
    }

    pub fn joining(&self) -> JoinOptions {
        let (address, key, version) = (self.address().to_string(), self.key.clone(), "1".into());
        JoinOptions {
            address,
            key,
            version,
            bytes: vec![9],
            limits: self.limits,
            patience: LONG,
            reach: Reach::Automatic,
        }
    }

    /// Admits every caller, at the lowest free place of those given.
    pub fn serve_entrance(&mut self, free: &mut Vec<Rank>) {
        while let Some(caller) = self.entrance.next() {
            match caller {
                Caller::JoinRequest { number, .. } if free.is_empty() => {
                    self.entrance.postpone(number, "full")
                }
                Caller::JoinRequest { number, .. } => {
                    self.entrance.admit(number, free.remove(0), Arc::from([5; 99]));
                }
                Caller::Withdrawn { .. } => {}
                Caller::Note(note) => self.notes.push(note),
            }
        }
    }

    /// The next arrival, with the entrance closed.
    pub fn next(&mut self) -> Arrival {
        next(&mut self.star)
    }

    /// Admits joiners, one for each of these parts, which they run on their own threads.
    pub fn start_sites<F>(&mut self, parts: Vec<F>) -> Vec<std::thread::JoinHandle<()>>
    where
        F: FnOnce(Star) + Send + 'static,
    {
        let mut threads = Vec::new();
        for (site, part) in (1..self.places).zip(parts) {
            let joining = self.joining();
            threads.push(std::thread::spawn(|| {
                let (star, welcome) = tls::join(joining, wake()).unwrap();
                assert_eq!(welcome, [5; 99]);
                part(star);
            }));
            self.until_joined(site);
        }
        threads
    }

    /// Admits callers until this site has joined.
    pub fn until_joined(&mut self, site: Rank) {
        let (mut free, start) = (vec![site], Instant::now());
        loop {
            self.serve_entrance(&mut free);
            match self.star.poll().unwrap() {
                Some(Arrival::Joined { site: joined, .. }) if joined == site => return,
                Some(other) => panic!("{other:?} instead of {site}"),
                None => rest(),
            }
            assert!(start.elapsed() < LONG, "nobody joins: {:?}", self.notes);
        }
    }

    /// Waits for a note that contains this text.
    pub fn noted(&mut self, part: &str) {
        let start = Instant::now();
        while !self.notes.iter().any(|note| note.contains(part)) {
            assert!(start.elapsed() < LONG, "no '{part}' in {:?}", self.notes);
            self.serve_entrance(&mut Vec::new());
            rest();
        }
        self.notes.clear();
    }

    /// A joiner on its own thread: whether it gets in.
    pub fn joins(&self, joining: JoinOptions) -> std::thread::JoinHandle<Result<(), JoinError>> {
        std::thread::spawn(|| tls::join(joining, wake()).map(|_| ()))
    }

    /// An authenticated connection whose frames the test chooses.
    pub fn raw(&self) -> Raw {
        Raw::new(self.address(), &self.key)
    }

    /// Such a connection, admitted at this place.
    pub fn rogue(&mut self, site: Rank) -> Raw {
        let mut raw = self.raw();
        raw.say(Frame::new(FrameKind::Hello, 0, 0, hello().write()));
        self.until_joined(site);
        while !raw.heard.iter().any(|frame| frame.kind == FrameKind::Welcome) {
            raw.listen();
        }
        raw
    }
}

pub fn hello() -> Hello {
    Hello { version: "1".into(), host: "here".into(), contact: None, bytes: Vec::new() }
}

/// The next arrival.
pub fn next(star: &mut Star) -> Arrival {
    let start = Instant::now();
    loop {
        if let Some(arrival) = star.poll().unwrap() {
            return arrival;
        }
        assert!(start.elapsed() < LONG, "nothing arrives");
        rest();
    }
}

/// A test's end of a connection.
pub struct Raw {
    wire: Wire,
    outbox: FrameOutbox,
    pub heard: Vec<Frame>,
    pub ended: bool,
}

impl Raw {
    pub fn new(address: SocketAddr, key: &Key) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_nonblocking(true).unwrap();
        let tls = Secure::new(key).unwrap().client().unwrap();
        let wire = Wire::new(mio::net::TcpStream::from_std(socket), tls.into(), Instant::now());
        let mut raw =
            Self { wire, outbox: FrameOutbox::default(), heard: Vec::new(), ended: false };
        let start = Instant::now();
        while raw.wire.is_unauthenticated() && !raw.ended {
            raw.listen();
            assert!(start.elapsed() < LONG);
        }
        raw
    }

    /// Sends and receives what it can.
    pub fn listen(&mut self) {
        let written = self.wire.write(&mut self.outbox, Instant::now());
        let heard = &mut self.heard;
        let mut each = |frame| {
            heard.push(frame);
            Ok(())
        };
        match self.wire.read(&mut [0; 65536], &mut each) {
            Ok((Handshake::Ended, _)) | Err(ConnectionError::Socket(_)) => self.ended = true,
            Ok((_, 0)) => rest(),
            Ok(_) => {}
            Err(broken) => panic!("{broken}"),
        }
        self.ended |= written.is_err();
    }

    pub fn say(&mut self, frame: Frame) {
        self.outbox.push_frame(0, frame);
        self.listen();
    }

    /// Listens until the root ends the connection. Returns its reason, or an empty text.
    pub fn end(&mut self) -> String {
        let start = Instant::now();
        while !self.ended {
            self.listen();
            assert!(start.elapsed() < LONG, "not ended");
        }
        let last = self.heard.iter().find(|frame| frame.kind == FrameKind::Refuse);
        last.map(|frame| String::from_utf8_lossy(&frame.body[1..]).into()).unwrap_or_default()
    }
}

/// All frames in these bytes, which must be complete.
pub fn frames(mut bytes: &[u8]) -> Vec<Frame> {
    let mut reader = FrameReader::default();
    std::iter::from_fn(|| reader.read_frame(&mut bytes).unwrap()).collect()
}

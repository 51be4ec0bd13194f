//! [`join`]: joins a star.

use super::frame::BYTES_LIMIT;
use super::hello::{Hello, RefusalCode};
use super::join_error::{JoinError, Stage};
use super::leaf::Leaf;
use super::logic::{HubEvent, Limits};
use super::mail::{CallerMailbox, Orders, Wake};
use super::secure::Secure;
use super::star::Star;
use super::turns::Turns;
use super::wire::{ConnectionError, Handshake, Wire};
use super::{Key, outbox::FrameOutbox};
use mio::{Events, Interest, Poll, Token};
use pleach_runtime::host;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// The longest time for a connection and its handshake. Whatever answers at the address may never send anything, and
/// the root may come back to that address.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// The parameters of a joiner.
#[derive(Clone, Debug)]
pub struct JoinOptions {
    /// Where the root listens, as `HOST:PORT`.
    pub address: String,
    /// The key of the run.
    pub key: Key,
    /// The program's version, which the root must have too.
    pub version: String,
    /// What this site says about itself to the root's caller: at most 4,096 bytes.
    pub bytes: Vec<u8>,
    /// The limits on memory and time.
    pub limits: Limits,
    /// The longest time for joining.
    pub patience: Duration,
}

/// A report of the network's thread.
enum Report {
    Stage(Stage),
    /// It has sent its hello.
    Begun(Arc<Orders>, Arc<CallerMailbox>),
    /// An answer may have arrived.
    Answer,
    Failed(JoinError),
}

/// Joins the run that listens at an address. Returns the network, and the welcome of the root's caller. Another thread
/// calls `wake` when something arrives after a poll found nothing.
///
/// # Errors
///
/// If joining fails or takes too long.
pub fn join(joining: JoinOptions, wake: Wake) -> Result<(Star, Vec<u8>), JoinError> {
    let (address, limits, patience) = (joining.address.clone(), joining.limits, joining.patience);
    if joining.bytes.len() > BYTES_LIMIT {
        return Err(JoinError::Bytes { bytes: joining.bytes.len(), limit: BYTES_LIMIT });
    }
    let year = Duration::from_secs(365 * 24 * 3600);
    let deadline = Instant::now() + patience.min(year);
    let (sender, receiver) = channel();
    let begin = move || run(joining, deadline, wake, &sender);
    let thread = std::thread::Builder::new().name("tls".into()).spawn(begin);
    let thread = thread.map_err(|error| JoinError::Here { why: error.to_string() })?;
    let mut waiting = Waiting { receiver, deadline, stage: Stage::Name, begun: None };
    match waiting.answer(&address, patience) {
        Ok((orders, mailbox, (site, places, bytes))) => {
            let threads = vec![thread];
            Ok((Star::new((site, places), limits, orders, mailbox, None, threads), bytes))
        }
        Err(error) => {
            if let Some((orders, _)) = waiting.begun {
                orders.stop();
            }
            Err(error)
        }
    }
}

/// The caller's thread, which waits while the other one joins.
struct Waiting {
    receiver: Receiver<Report>,
    deadline: Instant,
    stage: Stage,
    begun: Option<(Arc<Orders>, Arc<CallerMailbox>)>,
}

/// The content of a welcome: the place, the number of places, and bytes.
type Welcome = (u32, u32, Vec<u8>);

impl Waiting {
    fn answer(
        &mut self,
        address: &str,
        patience: Duration,
    ) -> Result<(Arc<Orders>, Arc<CallerMailbox>, Welcome), JoinError> {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            match self.receiver.recv_timeout(left) {
                Ok(Report::Stage(stage)) => self.stage = stage,
                Ok(Report::Begun(orders, mailbox)) => {
                    self.stage = Stage::Answer;
                    self.begun = Some((orders, mailbox));
                }
                // Both threads watch the same deadline: an error after it means that joining took too long.
                Ok(Report::Failed(error)) if Instant::now() < self.deadline => return Err(error),
                Ok(Report::Answer) => {}
                Ok(Report::Failed(_)) | Err(RecvTimeoutError::Timeout) => {
                    let (address, stage) = (address.into(), self.stage);
                    return Err(JoinError::TimedOut {
                        address,
                        seconds: patience.as_secs(),
                        stage,
                    });
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(JoinError::Here { why: "the network thread ended".into() });
                }
            }
            let Some((orders, mailbox)) = &self.begun else { continue };
            match mailbox.take_event() {
                Some(HubEvent::Welcome { site, places, bytes }) => {
                    return Ok((orders.clone(), mailbox.clone(), (site, places, bytes)));
                }
                Some(HubEvent::Refused(refusal)) => {
                    let (address, reason) = (address.to_string(), refusal.reason);
                    return Err(match refusal.code {
                        RefusalCode::Version => JoinError::WrongVersion { address, reason },
                        RefusalCode::Refused => JoinError::Refused { address, reason },
                        RefusalCode::Busy => JoinError::Busy { address, reason },
                        RefusalCode::Cut => JoinError::Lost { address, why: reason },
                    });
                }
                _ => {}
            }
        }
    }
}

/// The other thread: connects, proves the key, sends the hello, and then runs the network's loop.
fn run(joining: JoinOptions, deadline: Instant, wake: Wake, sender: &Sender<Report>) {
    let wire = match connect(&joining, deadline, sender) {
        Ok(wire) => wire,
        Err(error) => return drop(sender.send(Report::Failed(error))),
    };
    let hello = Hello { version: joining.version, host: host(), bytes: joining.bytes };
    let answers = sender.clone();
    // Once nobody waits for an answer any more, the report goes nowhere.
    let both = move || {
        let _ = answers.send(Report::Answer);
        wake();
    };
    let mailbox = Arc::new(CallerMailbox::new(Arc::new(both)));
    let limits = joining.limits;
    match Turns::new(Leaf::new(&hello, limits), limits, mailbox.clone()) {
        Ok(mut turns) => {
            if sender.send(Report::Begun(turns.orders(), mailbox)).is_ok() {
                turns.add(0, wire);
                turns.run();
            }
        }
        Err(error) => {
            let failed = Report::Failed(JoinError::Here { why: error.to_string() });
            let _ = sender.send(failed);
        }
    }
}

fn connect(
    joining: &JoinOptions,
    deadline: Instant,
    sender: &Sender<Report>,
) -> Result<Wire, JoinError> {
    let address = || joining.address.clone();
    let stage = |stage| drop(sender.send(Report::Stage(stage)));
    let here = |why: String| JoinError::Here { why };
    let deadline = deadline.min(Instant::now() + HANDSHAKE);
    let secure = Secure::new(&joining.key).map_err(|error| here(error.to_string()))?;
    let unknown = |why| JoinError::NoSuchName { address: address(), why };
    let found = joining.address.to_socket_addrs();
    let found: Vec<SocketAddr> = found.map_err(|error| unknown(error.to_string()))?.collect();
    stage(Stage::Connection);
    let mut why = None;
    // Each address gets a part of the time: the first one may never answer.
    let mut addresses = (1..=found.len() as u32).rev().zip(&found);
    let socket = addresses.find_map(|(to_try, found)| {
        let left = deadline.saturating_duration_since(Instant::now()) / to_try;
        let left = left.max(Duration::from_millis(1));
        TcpStream::connect_timeout(found, left).map_err(|error| why = Some(error)).ok()
    });
    let Some(socket) = socket else {
        let Some(why) = why else { return Err(unknown("the name has no address".into())) };
        return Err(JoinError::Unreachable { address: address(), why: why.to_string() });
    };
    socket.set_nonblocking(true).map_err(|error| here(error.to_string()))?;
    stage(Stage::Key);
    let tls = secure.client().map_err(|error| here(error.to_string()))?;
    let socket = mio::net::TcpStream::from_std(socket);
    let mut wire = Wire::new(socket, tls.into(), Instant::now());
    match shake_hands(&mut wire, deadline) {
        Ok(()) => Ok(wire),
        Err(ConnectionError::Key) => Err(JoinError::WrongKey { address: address() }),
        Err(
            broken @ (ConnectionError::NoTls | ConnectionError::Tls(_) | ConnectionError::Frame(_)),
        ) => Err(JoinError::NotPleach { address: address(), why: broken.to_string() }),
        Err(ConnectionError::Socket(why)) => Err(JoinError::Lost { address: address(), why }),
    }
}

/// Completes the handshake: the root proves the key.
fn shake_hands(wire: &mut Wire, deadline: Instant) -> Result<(), ConnectionError> {
    let socket_error = |error: std::io::Error| ConnectionError::Socket(error.to_string());
    let mut poll = Poll::new().map_err(socket_error)?;
    let both = Interest::READABLE | Interest::WRITABLE;
    poll.registry().register(&mut wire.socket, Token(0), both).map_err(socket_error)?;
    let (mut events, mut scratch) = (Events::with_capacity(4), [0; 4096]);
    loop {
        wire.write(&mut FrameOutbox::default(), Instant::now())?;
        if !wire.is_unauthenticated() {
            break poll.registry().deregister(&mut wire.socket).map_err(socket_error);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ConnectionError::Socket("it took too long".into()));
        }
        // After a signal the poll returns early, without events.
        let _ = poll.poll(&mut events, Some(left));
        while let (turn @ (Handshake::More | Handshake::Ended), _) =
            wire.read(&mut scratch, &mut |_| Err("a frame before the hello"))?
        {
            if turn == Handshake::Ended {
                return Err(ConnectionError::Socket(
                    "it was closed before the key was shown".into(),
                ));
            }
        }
    }
}

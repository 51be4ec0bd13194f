//! [`join`]: joins a star.

use super::acceptor::Acceptor;
use super::frame::BYTES_LIMIT;
use super::hello::{Contact, Hello, RefusalCode};
use super::join_error::{JoinError, Stage};
use super::leaf::Leaf;
use super::logic::{HubEvent, Limits};
use super::queues::{CallerMailbox, Orders, Wake};
use super::secure::{KnownKeys, Secure};
use super::star::Star;
use super::turns::Turns;
use super::wire::{ConnectionError, Handshake, Wire};
use super::{Key, outbox::FrameOutbox};
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token};
use pleach_runtime::host;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs};
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
    /// The longest time for joining, and then between two parts of a welcome.
    pub patience: Duration,
    /// Where other joiners reach this one.
    pub reach: Reach,
}

/// Where other joiners reach a joiner, so that they write to each other directly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// At the address by which this one reaches the root, and a port that the system chooses.
    #[default]
    Automatic,
    /// At this `HOST:PORT`: this process listens on the same port of all its addresses.
    At(String),
    /// Nowhere: all messages go through the root.
    Nowhere,
}

/// A report of the network's thread.
enum Report {
    Stage(Stage),
    /// It has sent its hello.
    Begun(Box<Begun>),
    /// An answer may have arrived.
    Answer,
    Failed(JoinError),
}

/// A joiner that waits for its welcome.
struct Begun {
    orders: Arc<Orders>,
    mailbox: Arc<CallerMailbox>,
    /// What other joiners will reach.
    acceptor: Option<Acceptor>,
}

/// Joins the run that listens at an address. Returns the network, and the welcome of the root's caller. Another thread
/// calls `wake` when something arrives after a poll found nothing.
///
/// # Errors
///
/// If joining fails or takes too long.
pub fn join(joining: JoinOptions, wake: Wake) -> Result<(Star, Vec<u8>), JoinError> {
    let (address, limits) = (joining.address.clone(), joining.limits);
    if joining.bytes.len() > BYTES_LIMIT {
        return Err(JoinError::Bytes { bytes: joining.bytes.len(), limit: BYTES_LIMIT });
    }
    let year = Duration::from_secs(365 * 24 * 3600);
    let patience = joining.patience.min(year);
    let deadline = Instant::now() + patience;
    let (sender, receiver) = channel();
    let begin = move || run(joining, deadline, wake, &sender);
    let thread = std::thread::Builder::new().name("tls".into()).spawn(begin);
    let thread = thread.map_err(|error| JoinError::Here { why: error.to_string() })?;
    let mut waiting = Waiting { receiver, deadline, stage: Stage::Name, begun: None };
    let joined = waiting.answer(&address, patience).and_then(|(begun, welcome)| {
        let mut threads = vec![thread];
        let Begun { orders, mailbox, acceptor } = begun;
        let stop = orders.clone();
        let start = |acceptor: Acceptor| {
            let waker = acceptor.waker()?;
            let thread = std::thread::Builder::new().name("tls-acceptor".into());
            Ok((waker, thread.spawn(|| acceptor.run())?))
        };
        let accepts = acceptor.map(start).transpose().map_err(|error: io::Error| {
            stop.stop();
            JoinError::Here { why: error.to_string() }
        })?;
        let (waker, thread) = accepts.unzip();
        threads.extend(thread);
        let (site, places, bytes) = welcome;
        Ok((Star::new((site, places), limits, orders, mailbox, waker, threads), bytes))
    });
    if joined.is_err()
        && let Some(begun) = waiting.begun
    {
        begun.orders.stop();
    }
    joined
}

/// How often the caller's thread checks whether a welcome is arriving.
const LOOK: Duration = Duration::from_millis(100);

/// The caller's thread, which waits while the other one joins.
struct Waiting {
    receiver: Receiver<Report>,
    deadline: Instant,
    stage: Stage,
    begun: Option<Box<Begun>>,
}

/// The content of a welcome: the place, the number of places, and bytes.
type Welcome = (u32, u32, Vec<u8>);

impl Waiting {
    fn answer(&mut self, address: &str, patience: Duration) -> Result<(Begun, Welcome), JoinError> {
        loop {
            if self.welcome_arrives() {
                self.deadline = Instant::now() + patience;
            }
            let left = self.deadline.saturating_duration_since(Instant::now());
            match self.receiver.recv_timeout(left.min(LOOK)) {
                Ok(Report::Stage(stage)) => self.stage = stage,
                Ok(Report::Begun(begun)) => {
                    self.stage = Stage::Answer;
                    self.begun = Some(begun);
                }
                // Both threads watch the same deadline: an error after it means that joining took too long.
                Ok(Report::Failed(error)) if Instant::now() < self.deadline => return Err(error),
                Ok(Report::Answer) => {}
                Err(RecvTimeoutError::Timeout) if left > LOOK => {}
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
            let Some(begun) = self.begun.take() else { continue };
            match begun.mailbox.take_event() {
                Some(HubEvent::Welcome { site, places, bytes }) => {
                    return Ok((*begun, (site, places, bytes)));
                }
                Some(HubEvent::Refused(refusal)) => {
                    begun.orders.stop();
                    let (address, reason) = (address.to_string(), refusal.reason);
                    return Err(match refusal.code {
                        RefusalCode::Version => JoinError::WrongVersion { address, reason },
                        RefusalCode::Refused => JoinError::Refused { address, reason },
                        RefusalCode::Busy => JoinError::Busy { address, reason },
                        RefusalCode::Cut => JoinError::Lost { address, why: reason },
                    });
                }
                _ => self.begun = Some(begun),
            }
        }
    }

    /// Whether a part of a long welcome has arrived since the last call.
    fn welcome_arrives(&self) -> bool {
        self.begun.as_ref().is_some_and(|begun| begun.mailbox.take_arriving() == Some(0))
    }
}

/// The other thread: connects, proves the key, sends the hello, and then runs the network's loop.
fn run(joining: JoinOptions, deadline: Instant, wake: Wake, sender: &Sender<Report>) {
    // A name may take long to look up, and the root does not wait long for a hello.
    let named = match &joining.reach {
        Reach::At(address) => match listen_at(address) {
            Ok(named) => Some(named),
            Err(error) => {
                let (address, why) = (address.clone(), error.to_string());
                return drop(sender.send(Report::Failed(JoinError::Reach { address, why })));
            }
        },
        Reach::Automatic | Reach::Nowhere => None,
    };
    let wire = match connect(&joining, deadline, sender) {
        Ok(wire) => wire,
        Err(error) => return drop(sender.send(Report::Failed(error))),
    };
    // Without a port of its own, a joiner writes through the root.
    let listener = match joining.reach {
        Reach::Automatic => listen_beside(&wire).ok(),
        Reach::At(_) | Reach::Nowhere => named,
    };
    let listening = listener.map(|listener| Listening::new(&joining.key, listener)).transpose();
    let listening = match listening {
        Ok(listening) => listening,
        Err(why) => return drop(sender.send(Report::Failed(JoinError::Here { why }))),
    };
    let version = joining.version;
    let contact = listening.as_ref().map(|listening| listening.contact);
    let hello = Hello { version: version.clone(), host: host(), contact, bytes: joining.bytes };
    let answers = sender.clone();
    // Once nobody waits for an answer any more, the report goes nowhere.
    let both = move || {
        let _ = answers.send(Report::Answer);
        wake();
    };
    let mailbox = Arc::new(CallerMailbox::new(Arc::new(both)));
    let limits = joining.limits;
    let begin = || {
        let (keys, secure) = match &listening {
            Some(listening) => (listening.keys.clone(), Some(listening.secure.clone())),
            None => Default::default(),
        };
        let leaf = Leaf::new(&hello, keys, limits);
        let turns = Turns::new(leaf, limits, mailbox.clone(), secure)?;
        let orders = turns.orders();
        let acceptor = listening.map(|Listening { listener, secure, .. }| {
            Acceptor::new(listener, secure, version, orders.clone(), mailbox.clone())
        });
        Ok::<_, io::Error>((turns, Begun { orders, acceptor: acceptor.transpose()?, mailbox }))
    };
    match begin() {
        Ok((mut turns, begun)) => {
            if sender.send(Report::Begun(Box::new(begun))).is_ok() {
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

/// What other joiners need to reach this one.
struct Listening {
    listener: TcpListener,
    secure: Secure,
    keys: KnownKeys,
    contact: Contact,
}

impl Listening {
    fn new(run: &Key, (address, listener): (SocketAddr, TcpListener)) -> Result<Self, String> {
        let keys = KnownKeys::default();
        let secure = Secure::with_known_keys(run, &Key::random()?, keys.clone());
        let secure = secure.map_err(|error| error.to_string())?;
        let contact = Contact { key: secure.public_key(), address };
        Ok(Self { listener, secure, keys, contact })
    }
}

/// Listens at the address by which this process reaches the root.
fn listen_beside(wire: &Wire) -> io::Result<(SocketAddr, TcpListener)> {
    let listener = TcpListener::bind(SocketAddr::new(wire.socket.local_addr()?.ip(), 0))?;
    Ok((listener.local_addr()?, listener))
}

/// Listens at the port of this address, on all addresses of this machine.
fn listen_at(address: &str) -> io::Result<(SocketAddr, TcpListener)> {
    let found = address.to_socket_addrs()?.next();
    let found = found.ok_or_else(|| io::Error::other("the host name has no address"))?;
    let all: IpAddr = match found {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    Ok((found, TcpListener::bind(SocketAddr::new(all, found.port()))?))
}

fn connect(
    joining: &JoinOptions,
    deadline: Instant,
    sender: &Sender<Report>,
) -> Result<Wire, JoinError> {
    let address = || joining.address.clone();
    let stage = |stage| drop(sender.send(Report::Stage(stage)));
    let here = |why: String| JoinError::Here { why };
    let secure = Secure::new(&joining.key).map_err(|error| here(error.to_string()))?;
    let unknown = |why| JoinError::NoSuchName { address: address(), why };
    let found = joining.address.to_socket_addrs();
    let found: Vec<SocketAddr> = found.map_err(|error| unknown(error.to_string()))?.collect();
    stage(Stage::Connection);
    // A name may take as long to look up.
    let deadline = deadline.min(Instant::now() + HANDSHAKE);
    let mut why = None;
    // Each address gets a part of the time: the first one may never answer.
    let mut addresses = (1..=found.len() as u32).rev().zip(&found);
    let socket = addresses.find_map(|(to_try, found)| {
        let left = deadline.saturating_duration_since(Instant::now()) / to_try;
        let left = left.max(Duration::from_millis(1));
        TcpStream::connect_timeout(found, left).map_err(|error| why = Some(error)).ok()
    });
    let Some(socket) = socket else {
        let Some(why) = why else { return Err(unknown("the host name has no address".into())) };
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
    let socket_error = |error: io::Error| ConnectionError::Socket(error.to_string());
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A long welcome over a slow link used to be given up in the middle.
    #[test]
    fn a_welcome_may_take_longer_as_long_as_it_arrives() {
        let (sender, receiver) = channel();
        let poll = Poll::new().unwrap();
        let orders = Arc::new(Orders::new(mio::Waker::new(poll.registry(), Token(0)).unwrap()));
        let answer = move || drop(sender.send(Report::Answer));
        let mailbox = Arc::new(CallerMailbox::new(Arc::new(answer)));
        mailbox.note_arriving(&mut vec![0]);
        let begun = Some(Box::new(Begun { orders, mailbox: mailbox.clone(), acceptor: None }));
        // The time for joining is over.
        let deadline = Instant::now();
        let mut waiting = Waiting { receiver, deadline, stage: Stage::Answer, begun };
        let rest = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            let welcome = HubEvent::Welcome { site: 1, places: 2, bytes: vec![5; 99] };
            mailbox.push_all(&mut Vec::new(), &mut vec![welcome], usize::MAX);
        });
        let joined = waiting.answer("root", Duration::from_secs(20));
        rest.join().unwrap();
        assert_eq!(joined.map(|(_, welcome)| welcome).ok(), Some((1, 2, vec![5; 99])));
    }
}

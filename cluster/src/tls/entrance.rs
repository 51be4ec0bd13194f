//! [`listen`], which opens a star, and [`TlsEntrance`], where its root decides who joins.

use super::acceptor::Acceptor;
use super::hello::{Hello, Refusal, RefusalCode};
use super::hub::Hub;
use super::logic::{HubCommand, HubEvent, Limits};
use super::queues::{CallerMailbox, Orders, QueuedCommand, Wake};
use super::secure::Secure;
use super::star::Star;
use super::turns::Turns;
use super::{Key, PLACES_LIMIT};
use crate::{Caller, Entrance, NetError, Rank};
use mio::net::TcpListener;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

/// The parameters of a root that opens a star.
#[derive(Clone, Debug)]
pub struct ListenOptions {
    /// Where to listen, as `HOST:PORT`. Port 0: one that the system chooses.
    pub address: String,
    /// The key that joiners must have.
    pub key: Key,
    /// The program's version, which joiners must have too.
    pub version: String,
    /// The maximum number of sites at once, including this one.
    pub places: u32,
    /// The limits on memory and time.
    pub limits: Limits,
}

/// The root's side of joining: it decides who joins. Join requests and notes wake the caller like messages.
pub struct TlsEntrance {
    address: SocketAddr,
    orders: Arc<Orders>,
    mailbox: Arc<CallerMailbox>,
}

impl TlsEntrance {
    /// The address where the root listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Entrance for TlsEntrance {
    fn next(&mut self) -> Option<Caller> {
        loop {
            match self.mailbox.take_event()? {
                HubEvent::JoinRequest { number, hello } => {
                    let Hello { host, bytes, .. } = hello;
                    return Some(Caller::JoinRequest { number, host, bytes });
                }
                HubEvent::Withdrawn { number } => return Some(Caller::Withdrawn { number }),
                HubEvent::Note(note) => return Some(Caller::Note(note)),
                HubEvent::Welcome { .. } | HubEvent::Refused(_) | HubEvent::Gone(_) => {}
            }
        }
    }

    fn admit(&mut self, number: u32, site: Rank, welcome: Arc<[u8]>) {
        self.orders.push(QueuedCommand::Command(HubCommand::Admit { number, site, welcome }));
    }

    fn refuse(&mut self, number: u32, reason: &str) {
        let refusal = Refusal::new(RefusalCode::Refused, reason);
        self.orders.push(QueuedCommand::Command(HubCommand::Refuse { number, refusal }));
    }

    fn postpone(&mut self, number: u32, reason: &str) {
        let refusal = Refusal::new(RefusalCode::Busy, reason);
        self.orders.push(QueuedCommand::Command(HubCommand::Refuse { number, refusal }));
    }

    fn expel(&mut self, site: Rank, reason: &str) {
        self.orders.push(QueuedCommand::Command(HubCommand::Expel { site, reason: reason.into() }));
    }
}

/// Opens a star, as its root. Another thread calls `wake` when something arrives after a poll of the network or the
/// entrance found nothing.
///
/// # Errors
///
/// If listening at the address fails, or the number of places is out of range.
pub fn listen(listening: ListenOptions, wake: Wake) -> Result<(Star, TlsEntrance), NetError> {
    let ListenOptions { address, key, version, places, limits } = listening;
    let listen_error = |error: io::Error| NetError::Listen {
        address: address.clone(),
        kind: error.kind(),
        why: error.to_string(),
    };
    if !(1..=PLACES_LIMIT).contains(&places) {
        return Err(listen_error(wrong(format!("{places} places: expected 1 to {PLACES_LIMIT}"))));
    }
    let secure = Secure::new(&key).map_err(|error| listen_error(io::Error::other(error)))?;
    let listener = bind(&address).map_err(listen_error)?;
    let local = listener.local_addr().map_err(listen_error)?;
    let mailbox = Arc::new(CallerMailbox::new(wake));
    let turns = Turns::new(Hub::new(places, limits), limits, mailbox.clone(), None)
        .map_err(listen_error)?;
    let orders = turns.orders();
    let acceptor = Acceptor::new(listener, secure, version, orders.clone(), mailbox.clone());
    let acceptor = acceptor.map_err(listen_error)?;
    let waker = acceptor.waker().map_err(listen_error)?;
    let thread = |name: &str| std::thread::Builder::new().name(name.into());
    let mut star =
        Star::new((0, places), limits, orders.clone(), mailbox.clone(), Some(waker), Vec::new());
    star.add_thread(thread("tls").spawn(|| turns.run()).map_err(listen_error)?);
    star.add_thread(thread("tls-acceptor").spawn(|| acceptor.run()).map_err(listen_error)?);
    Ok((star, TlsEntrance { address: local, orders, mailbox }))
}

/// The error for an invalid argument: no retry can help.
fn wrong(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// Listens at the first of a name's addresses that works.
fn bind(address: &str) -> io::Result<TcpListener> {
    let mut last = wrong("the host name has no address".into());
    for address in address.to_socket_addrs().map_err(|error| wrong(error.to_string()))? {
        match TcpListener::bind(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

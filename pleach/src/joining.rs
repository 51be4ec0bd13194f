//! Processes that join over TLS: how the first one listens, and how others reach it.

use pleach_cluster::tls::{self, JoinOptions, Key, Limits, ListenOptions, Reach};
use pleach_cluster::{Admission, Cluster, Entrance, JoinTicket, NetError, Waker};
use pleach_core::lease::Terms;
use pleach_runtime::Cancel;
use pleach_runtime::RunError;
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The build of this library, which must be the same in all processes of a search: version and hash of the sources.
pub const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("PLEACH_SOURCES"));

/// The longest message between two processes.
pub(crate) const MESSAGE: usize = 1 << 29;

const SECOND: u64 = 1_000_000_000;

/// Times for processes that live and die together: none is ever presumed dead.
pub(crate) const LASTING: Terms =
    Terms { commit_ns: 2 * SECOND, lease_ns: 3600 * SECOND, patience_ns: 36_000 * SECOND };

/// Times for processes that join, leave and die.
pub(crate) const CHANGING: Terms =
    Terms { commit_ns: SECOND, lease_ns: 10 * SECOND, patience_ns: 60 * SECOND };

/// How long a process waits between two attempts to reach the root.
const AGAIN: Duration = Duration::from_millis(500);

/// The limits of links between processes: at a stop, a site hands over all its work in one message.
fn limits() -> Limits {
    Limits { message: MESSAGE, waiting: 2 * MESSAGE, ..Limits::default() }
}

/// Opens an address to processes with the same key. Returns the address at which they reach this one.
pub(crate) fn listen(
    address: String,
    key: Key,
    places: u32,
) -> Result<(Cluster, SocketAddr), NetError> {
    let waker = Arc::new(Waker::default());
    let rings = Arc::clone(&waker);
    let wake = Arc::new(move || rings.wake());
    let (version, limits) = (BUILD.to_string(), limits());
    let (star, entrance) =
        tls::listen(ListenOptions { address, key, version, places, limits }, wake)?;
    let at = entrance.address();
    let entrance = Some(Box::new(entrance) as Box<dyn Entrance>);
    Ok((Cluster::new(Box::new(star), entrance, waker, CHANGING), at))
}

/// Joins the process that listens at an address, and reconnects if the link is lost. Keeps trying until `patience`
/// runs out (never if `None`) or until it is cancelled.
pub(crate) fn join(
    at: String,
    key: Key,
    patience: Option<Duration>,
    reach: Reach,
    cancel: Cancel,
) -> Result<Cluster, RunError> {
    let waker = Arc::new(Waker::default());
    let token = RandomState::new().hash_one(std::process::id());
    let joiner = Joiner { at, key, token, patience, reach, waker: Arc::clone(&waker), cancel };
    let entered = joiner.enter(None).map_err(RunError::Lost)?;
    let again = Arc::new(move |place| joiner.enter(Some(place)));
    let mut terms = CHANGING;
    terms.patience_ns = patience.map_or(u64::MAX, |it| it.as_nanos() as u64).max(terms.lease_ns);
    Cluster::joined(entered, again, waker, terms)
}

/// What is needed to join a root.
struct Joiner {
    at: String,
    key: Key,
    /// A number by which the root recognises this process.
    token: u64,
    patience: Option<Duration>,
    reach: Reach,
    waker: Arc<Waker>,
    cancel: Cancel,
}

impl Joiner {
    /// Joins, at this process's earlier place if that is free. Tries again until patience runs out.
    fn enter(&self, place: Option<u32>) -> Result<Admission, String> {
        let start = Instant::now();
        loop {
            let left = self.patience.map(|patience| patience.saturating_sub(start.elapsed()));
            let rings = Arc::clone(&self.waker);
            let joining = JoinOptions {
                address: self.at.clone(),
                key: self.key.clone(),
                version: BUILD.into(),
                bytes: JoinTicket { token: self.token, place }.to_bytes(),
                limits: limits(),
                patience: left.unwrap_or(Duration::MAX).max(AGAIN),
                reach: self.reach.clone(),
            };
            match tls::join(joining, Arc::new(move || rings.wake())) {
                Ok((star, welcome)) => return Ok((Box::new(star), welcome)),
                Err(why) => {
                    let returns = place.is_some();
                    let passes = if returns { why.may_pass_on_return() } else { why.may_pass() };
                    let again = passes && left.is_none_or(|left| left > AGAIN);
                    if !again || self.cancel.is_cancelled() {
                        return Err(format!("cannot join: {why}"));
                    }
                }
            }
            std::thread::sleep(AGAIN);
        }
    }
}

//! Processes that join over TLS: how the first one listens, and how others reach it.

use pleach_cluster::tls::{
    self, JoinError, JoinOptions, Key, Limits, ListenOptions, Reach, Star, TlsEntrance, Wake,
};
use pleach_cluster::{
    Admission, Cluster, Entrance, JoinTicket, KeepCopy, NetError, Return, Waker, search_of,
};
use pleach_core::lease::Terms;
use pleach_core::search::work::Pack;
use pleach_runtime::sync::lock;
use pleach_runtime::{Cancel, RunError};
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The build of this library, which must be the same in all processes of a search: version and hash of the sources.
pub const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("PLEACH_SOURCES"));

/// The longest message between two processes.
pub(crate) const MESSAGE: usize = 1 << 29;

/// The same between processes that an MPI library started: they trust each other, and a site sends all its open work at
/// once.
pub(crate) const MESSAGE_BY_MPI: usize = 1 << 36;

const SECOND: u64 = 1_000_000_000;

/// Times for processes that live and die together: none is ever presumed dead.
pub(crate) const LASTING: Terms = Terms {
    commit_ns: 2 * SECOND,
    lease_ns: 3600 * SECOND,
    patience_ns: 36_000 * SECOND,
    most_commit_bytes: MESSAGE_BY_MPI as u64 / 2,
};

/// Times for processes that join, leave and die.
pub(crate) const CHANGING: Terms = Terms {
    commit_ns: SECOND,
    lease_ns: 10 * SECOND,
    patience_ns: 60 * SECOND,
    most_commit_bytes: MESSAGE as u64 / 2,
};

/// How long a process waits between two attempts to reach the root.
const AGAIN: Duration = Duration::from_millis(500);

/// The longest attempt to return where there is a standby, and then between two parts of a welcome: the other address may
/// answer.
const LONGEST_ATTEMPT: Duration = Duration::from_secs(10);

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
    let (star, entrance) = open(address, key, places, Arc::new(move || rings.wake()))?;
    let at = entrance.address();
    let entrance = Some(Box::new(entrance) as Box<dyn Entrance>);
    Ok((Cluster::new(Box::new(star), entrance, waker, CHANGING), at))
}

/// Opens an address to processes with the same key.
pub(crate) fn open(
    address: String,
    key: Key,
    places: u32,
    wake: Wake,
) -> Result<(Star, TlsEntrance), NetError> {
    let (version, limits) = (BUILD.to_string(), limits());
    tls::listen(ListenOptions { address, key, version, places, limits }, wake)
}

/// How a process joins a root.
pub(crate) struct Joining {
    /// Where the root listens.
    pub at: String,
    pub key: Key,
    /// How long to keep trying to reach it: without limit if `None`.
    pub patience: Option<Duration>,
    pub reach: Reach,
    /// If this process stands by to take the root's place.
    pub standby: Option<StandsBy>,
    /// Ends the attempts.
    pub cancel: Cancel,
}

/// How a process stands by to take the root's place.
pub(crate) struct StandsBy {
    /// Where others reach it then.
    pub address: String,
    /// Keeps copies of the root's file.
    pub keep_copy: KeepCopy,
    /// Whether to take the place of the root, which has been silent for this long.
    pub takes_over: TakesOver,
}

/// Whether to take the place of a root that has been silent for this long.
pub(crate) type TakesOver =
    Arc<dyn Fn(&Return, Duration) -> bool + Send + Sync + UnwindSafe + RefUnwindSafe>;

/// Joins a root, and reconnects if the link is lost.
pub(crate) fn join(joining: Joining) -> Result<Cluster, RunError> {
    let waker = Arc::new(Waker::default());
    let mut terms = CHANGING;
    let patience_ns = joining.patience.map_or(u64::MAX, |it| it.as_nanos() as u64);
    terms.patience_ns = patience_ns.max(terms.lease_ns);
    let keep_copy = joining.standby.as_ref().map(|standby| standby.keep_copy.clone());
    let at = Mutex::new(joining.at.clone());
    let joiner = Joiner { joining, at, tokens: RandomState::new(), waker: Arc::clone(&waker) };
    let entered = joiner.enter(None).map_err(RunError::Lost)?;
    let again = Arc::new(move |back: &Return| joiner.enter(Some(back)));
    Cluster::joined(entered, again, keep_copy, waker, terms)
}

/// What a standby answers a joiner that has lost the root.
enum StandbyAnswer {
    /// It has not taken the root's place, or cannot be reached.
    Waits,
    /// It has, and lets this process in.
    Leads(Admission),
    /// It leads another search, or an earlier term of this one.
    LeadsAnother,
}

/// A process that joins a root.
struct Joiner {
    joining: Joining,
    /// The address of the root that it joined last.
    at: Mutex<String>,
    /// Makes the number by which the process at an address recognises this one: nobody else learns it.
    tokens: RandomState,
    waker: Arc<Waker>,
}

impl Joiner {
    /// Joins; after the root was lost, at the earlier place if that is free, and perhaps at a standby that has become the
    /// root. Tries again until patience runs out.
    fn enter(&self, back: Option<&Return>) -> Result<Admission, String> {
        let (start, Joining { patience, standby, cancel, .. }) = (Instant::now(), &self.joining);
        let at = lock(&self.at).clone();
        let left = || patience.map(|patience| patience.saturating_sub(start.elapsed()));
        let mut foreign: Option<Instant> = None;
        // When the root answered last.
        let mut seen = start;
        loop {
            let failed = match self.attempt(&at, back, left()) {
                Ok((star, welcome)) => return Ok((Box::new(star), welcome)),
                Err(why) => why,
            };
            let is_there = failed.shows_root();
            if is_there {
                seen = Instant::now();
            }
            if let Some(back) = back
                && foreign.is_none_or(|at| at.elapsed() > CALL_EVERY)
            {
                match self.try_standby(&at, back, left()) {
                    StandbyAnswer::Leads(admission) => return Ok(admission),
                    StandbyAnswer::LeadsAnother => foreign = Some(Instant::now()),
                    StandbyAnswer::Waits => {}
                }
            }
            let takes_over = |standby: &StandsBy| {
                back.is_some_and(|back| (standby.takes_over)(back, seen.elapsed()))
            };
            let returns = back.is_some();
            let passes = if returns { failed.may_pass_on_return() } else { failed.may_pass() };
            // A root that answers is not gone.
            let succeeds = passes && !is_there && standby.as_ref().is_some_and(takes_over);
            let late = left().is_some_and(|left| left <= AGAIN);
            if succeeds || !passes || late || cancel.is_cancelled() {
                return Err(format!("cannot join: {failed}"));
            }
            std::thread::sleep(AGAIN);
        }
    }

    /// Tries to join the standby: it may have taken the place of the root that was lost.
    fn try_standby(&self, at: &str, back: &Return, left: Option<Duration>) -> StandbyAnswer {
        let Some(other) = back.standby.as_ref().filter(|&other| other != at) else {
            return StandbyAnswer::Waits;
        };
        let own = self.joining.standby.as_ref().is_some_and(|own| own.address == *other);
        // Whatever it answers otherwise, the root may come back.
        let Some((star, welcome)) =
            (!own).then(|| self.attempt(other, Some(back), left).ok()).flatten()
        else {
            return StandbyAnswer::Waits;
        };
        let (run, term) = back.search;
        if search_of(&welcome).is_none_or(|(its_run, its_term)| its_run != run || its_term <= term)
        {
            return StandbyAnswer::LeadsAnother;
        }
        *lock(&self.at) = other.clone();
        StandbyAnswer::Leads((Box::new(star), welcome))
    }

    /// Tries once to join at an address.
    fn attempt(
        &self,
        address: &str,
        back: Option<&Return>,
        left: Option<Duration>,
    ) -> Result<(Star, Vec<u8>), JoinError> {
        let Joining { key, reach, standby, .. } = &self.joining;
        let ticket = JoinTicket {
            token: self.tokens.hash_one(address),
            place: back.map(|back| back.place),
            search: back.map(|back| back.search),
            standby: standby.as_ref().map(|standby| standby.address.clone()),
            succeeds: false,
        };
        let rings = Arc::clone(&self.waker);
        let mut patience = left.unwrap_or(Duration::MAX).max(AGAIN);
        if back.is_some_and(|back| back.standby.is_some()) {
            patience = patience.min(LONGEST_ATTEMPT);
        }
        let joining = options(address, key, &ticket, patience, reach.clone());
        tls::join(joining, Arc::new(move || rings.wake()))
    }
}

fn options(
    address: &str,
    key: &Key,
    ticket: &JoinTicket,
    patience: Duration,
    reach: Reach,
) -> JoinOptions {
    JoinOptions {
        address: address.into(),
        key: key.clone(),
        version: BUILD.into(),
        bytes: ticket.packed(),
        limits: limits(),
        patience,
        reach,
    }
}

/// How often a root that has taken over calls its predecessor's address, and a joiner an address at which another
/// search is led.
const CALL_EVERY: Duration = Duration::from_secs(5);

/// Calls the address of a root's predecessor for as long as this process lives: if the predecessor comes back, it gives
/// way. Begins once this process saves the search.
pub(crate) fn inform_predecessor(
    address: String,
    key: Key,
    own: String,
    search: (u64, u32),
    saves: impl Fn() -> bool + Send + 'static,
) {
    let ticket = JoinTicket {
        search: Some(search),
        standby: Some(own),
        succeeds: true,
        ..JoinTicket::default()
    };
    let call = move || {
        while !saves() {
            std::thread::sleep(AGAIN);
        }
        loop {
            let joining = options(&address, &key, &ticket, CALL_EVERY, Reach::Nowhere);
            // The answer is always a refusal.
            let _ = tls::join(joining, Arc::new(|| ()));
            std::thread::sleep(CALL_EVERY);
        }
    };
    // Without this thread, only joiners that come back inform it.
    let _ = std::thread::Builder::new().name("predecessor".into()).spawn(call);
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_cluster::Caller;
    use pleach_cluster::tls::ONLY_STANDBY;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;

    /// Lets a standby come back and answers it with these reasons in turn, the last one for good. Returns why it could
    /// not join, and whether it asked to take the root's place, which it always may.
    fn answered(reasons: &[&str]) -> (String, bool) {
        let key = Key::random().unwrap();
        let (called, calls) = channel();
        let wake: Wake = Arc::new(move || {
            // Nobody waits for the last call.
            let _ = called.send(());
        });
        let (star, mut entrance) = open("127.0.0.1:0".into(), key.clone(), 2, wake).unwrap();
        let asked = Arc::new(AtomicBool::new(false));
        let asks = Arc::clone(&asked);
        let takes_over = move |_: &Return, _: Duration| {
            asks.store(true, Ordering::Relaxed);
            true
        };
        let standby = StandsBy {
            address: "127.0.0.1:1".into(),
            keep_copy: Arc::new(|_| ()),
            takes_over: Arc::new(takes_over),
        };
        let joining = Joining {
            at: entrance.address().to_string(),
            key,
            patience: None,
            reach: Reach::Nowhere,
            standby: Some(standby),
            cancel: Cancel::default(),
        };
        let (at, waker) = (Mutex::new(joining.at.clone()), Arc::default());
        let joiner = Joiner { joining, at, tokens: RandomState::new(), waker };
        let back = Return { place: 1, search: (7, 1), ..Return::default() };
        let refused = std::thread::scope(|scope| {
            let returns = scope.spawn(|| joiner.enter(Some(&back)).err());
            for (at, reason) in reasons.iter().enumerate() {
                let number = loop {
                    match entrance.next() {
                        Some(Caller::JoinRequest { number, .. }) => break number,
                        Some(_) => {}
                        None => calls.recv().unwrap(),
                    }
                };
                if at + 1 == reasons.len() && *reason != ONLY_STANDBY {
                    entrance.refuse(number, reason);
                } else {
                    entrance.postpone(number, reason);
                }
            }
            returns.join().unwrap()
        });
        drop(star);
        (refused.unwrap(), asked.load(Ordering::Relaxed))
    }

    /// It could take the place of a root that was alive, but had no place for it, or whose search was over.
    #[test]
    fn a_standby_does_not_take_the_place_of_a_root_that_refuses_it() {
        let (refused, asked) = answered(&["all places are taken", "the search is over"]);
        assert!(refused.ends_with("the search is over"), "{refused}");
        assert!(!asked, "it would have taken over");
    }

    /// Two standbys at each other's addresses used to count each other as the root.
    #[test]
    fn a_standby_is_not_the_root() {
        let (refused, asked) = answered(&[ONLY_STANDBY]);
        assert!(refused.ends_with(ONLY_STANDBY) && asked, "{refused}");
    }
}

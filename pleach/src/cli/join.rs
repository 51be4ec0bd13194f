//! `join HOST:PORT`: takes part in a search that another machine has opened.

use super::company::{BUILD, CHANGING, key_path, limits};
use super::console::{Console, DONE, STOPPED};
use super::flags::{Given, Kind, PATIENCE, Verb, address};
use super::follow::{Follower, Known, Parted, line};
use super::line::Line;
use super::log::Log;
use super::stopping::{NothingToLose, interrupts};
use super::told::Told;
use crate::campaign::Cancel;
use crate::failure::Failure;
use pleach_cluster::tls::{self, Joining, Key};
use pleach_cluster::{Cluster, Entered, JoinTicket, Order, Waker};
use pleach_core::search::tree::Counts;
use serde_json::json;
use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How long a process waits between two tries to reach the root.
const AGAIN: Duration = Duration::from_millis(500);

/// A search that this process has joined, and the first order that it has heard.
type Joined = (Arc<Cluster>, Order);

/// Joins a search, and takes part in it until its end.
pub fn join(
    known: Known<'_>,
    console: &Console<'_>,
    at: &str,
    given: &Given,
) -> Result<u8, Failure> {
    let cluster = enter(at, given)?;
    take_part(known, console, given, (&cluster, None))
}

/// Takes part in a search that this process has joined.
fn take_part(
    known: Known<'_>,
    console: &Console<'_>,
    own: &Given,
    (cluster, first): (&Arc<Cluster>, Option<Order>),
) -> Result<u8, Failure> {
    console.keep_log(Log::open(own)?);
    let (cancel, done) = (interrupts(), Cell::default());
    let follower = Follower { known, console, own, same: false, cancel, done };
    follower.note(&format!("joined as site {}", cluster.me()));
    let parted = match follower.all(cluster, first) {
        // A process that is to leave need not find the root again.
        Err(Failure::Lost(_)) if follower.cancel.is_cancelled() => Parted::Left,
        parted => parted?,
    };
    let (end, code) = match parted {
        Parted::Dismissed => {
            cluster.end();
            ("over", DONE)
        }
        Parted::Left => {
            cluster.leave();
            follower.note("left the search");
            ("left", STOPPED)
        }
    };
    if own.on("json") {
        let (searches, Counts { branched, bounded, .. }) = follower.done.get();
        let nodes = json!({ "branched": branched, "bounded": bounded });
        let version = env!("CARGO_PKG_VERSION");
        let part = json!({ "pleach": version, "joined": true, "searches": searches, "nodes": nodes, "end": end });
        console.print(&part.to_string())?;
    }
    Ok(code)
}

/// What is said to a process that comes too late.
const OVER: &str = "the search is over";

/// A problem of the user's own needs the words of the search before it can be made.
static OWN: OnceLock<Joined> = OnceLock::new();

/// The text of an input file, as the root of the search that was joined early has read it.
pub fn text_of_root(word: &str) -> Option<String> {
    let (_, order) = OWN.get()?;
    let told = Told::read(&order.about).ok()?;
    told.all["texts"][word].as_str().map(str::to_string)
}

/// Joins a search, once, and returns its command line with the units of this process.
pub fn early(at: &str, given: &Given) -> Result<Line, Failure> {
    if OWN.get().is_none() {
        let cluster = enter(at, given)?;
        let cancel = interrupts();
        let order = cluster.next_order(|| !cancel.is_cancelled())?;
        let Some(order) = order else {
            let why = if cancel.is_cancelled() { "left before the search began" } else { OVER };
            return Err(Failure::Machine(why.into()));
        };
        // Nobody else has set it.
        let _ = OWN.set((cluster, order));
    }
    let Some((_, order)) = OWN.get() else { return Err(Failure::Machine(OVER.into())) };
    Told::read(&order.about)?.is_of(true)?;
    line(order, (given, false)).map(|(_, line)| line)
}

/// Takes part in the search that was joined early, if one was.
pub fn go_on(known: Known<'_>, console: &Console<'_>, own: &Given) -> Option<Result<u8, Failure>> {
    let (cluster, order) = OWN.get()?;
    Some(take_part(known, console, own, (cluster, Some(order.clone()))))
}

/// Joins a search.
fn enter(at: &str, given: &Given) -> Result<Arc<Cluster>, Failure> {
    given.check(Kind { verb: Verb::Join, problem: "", named: &[] }).map_err(Failure::Usage)?;
    let at = address(at).map_err(|why| Failure::Usage(format!("join {why}")))?;
    let key = Key::read(Path::new(&key_path(given)));
    let key = key.map_err(|why| Failure::Usage(format!("--key: {why}")))?;
    let patience = given.get(&PATIENCE).map_err(Failure::Usage)?;
    let patience = patience.unwrap_or(Some(Duration::from_secs(60)));
    let waker = Arc::new(Waker::default());
    let token = RandomState::new().hash_one(std::process::id());
    let _joining = NothingToLose::until(None, |_| (String::new(), STOPPED));
    let way = Way { at, key, token, patience, waker: Arc::clone(&waker), cancel: interrupts() };
    let entered = way.enter(None).map_err(Failure::Machine)?;
    let again = Arc::new(move |place| way.enter(Some(place)));
    let mut terms = CHANGING;
    terms.patience_ns = patience.map_or(u64::MAX, |it| it.as_nanos() as u64).max(terms.lease_ns);
    Ok(Arc::new(Cluster::joined(entered, again, waker, terms)?))
}

/// The way to a root.
struct Way {
    at: String,
    key: Key,
    /// By which the root knows this process again.
    token: u64,
    patience: Option<Duration>,
    waker: Arc<Waker>,
    cancel: Cancel,
}

impl Way {
    /// Joins, at a place that this process had before if it is free. Tries again for as long as patience lasts.
    fn enter(&self, place: Option<u32>) -> Result<Entered, String> {
        let start = Instant::now();
        loop {
            let left = self.patience.map(|patience| patience.saturating_sub(start.elapsed()));
            let rings = Arc::clone(&self.waker);
            let joining = Joining {
                address: self.at.clone(),
                key: self.key.clone(),
                version: BUILD.into(),
                bytes: JoinTicket { token: self.token, place }.to_bytes(),
                limits: limits(),
                patience: left.unwrap_or(Duration::MAX).max(AGAIN),
            };
            match tls::join(joining, Arc::new(move || rings.ring())) {
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

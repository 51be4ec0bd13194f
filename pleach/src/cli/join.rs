//! `join HOST:PORT`: takes part in a search that another process has opened.

use super::company::key_path;
use super::console::{Console, DONE, STOPPED};
use super::flags::{FlagValues, Kind, PATIENCE, REACH, Verb, address};
use super::follow::{Follower, JoinEnd, Known, line};
use super::line::Line;
use super::log::Log;
use super::order_text::OrderText;
use super::service;
use super::stopping::{NothingToLose, interrupts};
use crate::failure::Failure;
use crate::joining;
use crate::provenance::Provenance;
use pleach_cluster::tls::Key;
use pleach_cluster::{Cluster, Order};
use pleach_core::search::tree::Counts;
use pleach_runtime::RunError;
use serde_json::json;
use std::cell::Cell;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A search that this process has joined, and the first order that it received.
type Joined = (Arc<Cluster>, Order);

/// Joins a search, and takes part in it until its end.
pub fn join(
    known: Known<'_>,
    console: &Console<'_>,
    at: &str,
    given: &FlagValues,
) -> Result<u8, Failure> {
    if let Some(served) = service::join(console, at, given, &key_path(given)) {
        return served;
    }
    let cluster = join_search(at, given)?;
    take_part(known, console, given, (&cluster, None))
}

/// Takes part in a search that this process has joined.
fn take_part(
    known: Known<'_>,
    console: &Console<'_>,
    own: &FlagValues,
    (cluster, first): (&Arc<Cluster>, Option<Order>),
) -> Result<u8, Failure> {
    console.keep_log(Log::open(own)?);
    let (cancel, done) = (interrupts(), Cell::default());
    let follower = Follower { known, console, own, same: false, cancel, done };
    follower.note(&format!("joined as site {}", cluster.me()));
    let parted = match follower.follow_searches(cluster, first) {
        // A process that is leaving need not reconnect to the root.
        Err(Failure::Lost(_)) if follower.cancel.is_cancelled() => JoinEnd::Left,
        parted => parted?,
    };
    let (end, code) = match parted {
        JoinEnd::Dismissed => {
            cluster.end();
            ("over", DONE)
        }
        JoinEnd::Left => {
            cluster.leave();
            follower.note("left the search");
            ("left", STOPPED)
        }
    };
    if own.on("json") {
        let (searches, Counts { branched, bounded, .. }) = follower.done.take();
        let nodes = json!({ "branched": branched, "bounded": bounded });
        let version = env!("CARGO_PKG_VERSION");
        let part = json!({ "pleach": version, "joined": true, "searches": searches, "nodes": nodes, "end": end });
        console.print(&Provenance::now().stamp(part).to_string())?;
    }
    Ok(code)
}

/// The message for a process that comes too late.
const OVER: &str = "the search is over";

/// A user's own problem needs the words of the search before it can be built.
static OWN: OnceLock<Joined> = OnceLock::new();

/// The text of an input file, as read by the root of a search that was joined early.
pub fn text_of_root(word: &str) -> Option<String> {
    let (_, order) = OWN.get()?;
    let order_text = OrderText::read(&order.about).ok()?;
    order_text.all["texts"][word].as_str().map(str::to_string)
}

/// Joins a search, once, and returns its command line with the units of this process.
pub fn early(at: &str, given: &FlagValues) -> Result<Line, Failure> {
    if OWN.get().is_none() {
        let cluster = join_search(at, given)?;
        let cancel = interrupts();
        let order = cluster.next_order(|| !cancel.is_cancelled())?;
        let Some(order) = order else {
            let why = if cancel.is_cancelled() { "left before the search began" } else { OVER };
            return Err(Failure::Machine(why.into()));
        };
        // Nothing else sets it.
        let _ = OWN.set((cluster, order));
    }
    let Some((_, order)) = OWN.get() else { return Err(Failure::Machine(OVER.into())) };
    OrderText::read(&order.about)?.is_of(true)?;
    line(order, (given, false)).map(|(_, line)| line)
}

/// Takes part in the search that was joined early, if one was.
pub fn go_on(
    known: Known<'_>,
    console: &Console<'_>,
    own: &FlagValues,
) -> Option<Result<u8, Failure>> {
    let (cluster, order) = OWN.get()?;
    Some(take_part(known, console, own, (cluster, Some(order.clone()))))
}

/// Joins a search.
fn join_search(at: &str, given: &FlagValues) -> Result<Arc<Cluster>, Failure> {
    given.check(Kind { verb: Verb::Join, problem: "", named: &[] }).map_err(Failure::Usage)?;
    let at = address(at).map_err(|why| Failure::Usage(format!("join {why}")))?;
    let key = Key::read(Path::new(&key_path(given)));
    let key = key.map_err(|why| Failure::Usage(format!("--key: {why}")))?;
    let patience = given.get(&PATIENCE).map_err(Failure::Usage)?;
    let patience = patience.unwrap_or(Some(Duration::from_secs(60)));
    let _joining = NothingToLose::until(None, |_| (String::new(), STOPPED));
    let reach = given.get(&REACH).map_err(Failure::Usage)?.unwrap_or_default();
    let joined = joining::join(at, key, patience, reach, interrupts());
    let failure = |why| match why {
        RunError::Lost(why) => Failure::Machine(why),
        why => why.into(),
    };
    joined.map(Arc::new).map_err(failure)
}

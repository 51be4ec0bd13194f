//! `join HOST:PORT`: takes part in a search that another process has opened.

use super::console::{Console, DONE, STOPPED};
use super::files::{keep_apart, key_path};
use super::flags::{FlagValues, PATIENCE, REACH, STANDBY, Verb, address};
use super::follow::{Follower, JoinEnd, Known, line};
use super::line::Line;
use super::log::Log;
use super::metrics::Metrics;
use super::order_text::OrderText;
use super::service;
use super::stopping::{InterruptiblePhase, interrupts};
use super::succession::lead;
use crate::failure::{Failure, usage};
use crate::joining::{self, Joining};
use crate::provenance::stamped;
use crate::results::JsonInteger;
use crate::standby::Standby;
use pleach_cluster::tls::Key;
use pleach_cluster::{Cluster, Order};
use pleach_core::search::tree::Counts;
use pleach_runtime::RunError;
use serde_json::json;
use std::cell::Cell;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A search that this process has joined.
struct Joined {
    cluster: Arc<Cluster>,
    /// The standby of this process, which takes the root's place if the root is gone; `None` if it
    /// does not stand by.
    standby: Option<Arc<Standby>>,
    /// Where the root listens.
    at: String,
    key: Key,
    /// The file of the key.
    key_path: String,
}

/// What a joined process does next.
pub enum AfterJoin {
    /// It ends with this exit code.
    Ends(u8),
    /// It takes the root's place with this command line.
    Leads(Box<Line>),
}

/// Joins a search, and takes part in it until its end.
pub fn join(
    known: Known<'_>,
    console: &Console<'_>,
    at: &str,
    given: &FlagValues,
) -> Result<AfterJoin, Failure> {
    if let Some(served) = service::join(console, at, given, &key_path(given)) {
        return served.map(AfterJoin::Ends);
    }
    match join_search(at, given)? {
        Some(joined) => take_part(known, console, given, (&joined, None)),
        None => Ok(AfterJoin::Ends(STOPPED)),
    }
}

/// Takes part in a search that this process has joined.
fn take_part(
    known: Known<'_>,
    console: &Console<'_>,
    own: &FlagValues,
    (joined, first): (&Joined, Option<Order>),
) -> Result<AfterJoin, Failure> {
    let Joined { cluster, standby, .. } = joined;
    console.keep_log(Log::open(own)?);
    let (cancel, done) = (interrupts(), Cell::default());
    let follower = Follower { known, console, own, same: false, cancel, done };
    follower.note(&format!("joined as site {}", cluster.me()));
    let parted = follower.follow_searches(cluster, first);
    if let Some(standby) = standby {
        let next = standby.end(matches!(parted, Ok(JoinEnd::Dismissed)));
        if let Some(next) = next.filter(|_| matches!(parted, Err(Failure::Lost(_)))) {
            follower.note("the root is gone: this process takes its place");
            // With another key, nobody could return.
            if Key::read(Path::new(&joined.key_path)).as_ref() != Ok(&joined.key) {
                let why = format!("the key file '{}' has changed", joined.key_path);
                return Err(Failure::Machine(format!("cannot take over: {why}")));
            }
            let line = lead(console, own, &joined.key_path, &next)?;
            let number = |path: &Path| std::fs::metadata(path).map(|file| file.ino()).ok();
            let (file, copied) = (next.file.clone(), number(&next.file));
            let search = (next.checkpoint.run, next.checkpoint.term);
            let saves = move || number(&file) != copied;
            let (at, key) = (joined.at.clone(), joined.key.clone());
            joining::inform_predecessor(at, key, next.address, search, saves);
            return Ok(AfterJoin::Leads(Box::new(line)));
        }
    }
    let parted = match parted {
        // A process that is leaving need not reconnect to the root.
        Err(Failure::Lost(_) | Failure::MissedEnd) if follower.cancel.is_cancelled() => {
            JoinEnd::Left
        }
        // A standby keeps its copy.
        Err(Failure::MissedEnd) => JoinEnd::Dismissed,
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
        let nodes = json!({ "branched": JsonInteger(branched), "bounded": JsonInteger(bounded) });
        let part = json!({ "joined": true, "searches": searches, "nodes": nodes, "end": end });
        console.print(&stamped(part))?;
    }
    if let Some(why) = standby.as_ref().and_then(|standby| standby.failure()) {
        return Err(Failure::Usage(why));
    }
    Ok(AfterJoin::Ends(code))
}

/// The message for a process that comes too late.
const OVER: &str = "the search is over";

/// A user's own problem needs the words of the search before it can be built.
static OWN: OnceLock<(Joined, Order)> = OnceLock::new();

/// The text of an input file, as read by the root of a search that was joined early.
pub fn text_of_root(word: &str) -> Option<String> {
    let (_, order) = OWN.get()?;
    let order_text = OrderText::read(&order.about).ok()?;
    order_text.all["texts"][word].as_str().map(str::to_string)
}

/// Joins a search, once, and returns its command line with the workers of this process.
pub fn early(at: &str, given: &FlagValues) -> Result<Line, Failure> {
    if OWN.get().is_none() {
        let left = || Failure::Left("left before the search began".into());
        let joined = join_search(at, given)?.ok_or_else(left)?;
        let cancel = interrupts();
        let order = joined.cluster.next_order(|| !cancel.is_cancelled())?;
        let over = || if cancel.is_cancelled() { left() } else { Failure::Machine(OVER.into()) };
        let order = order.ok_or_else(over)?;
        // Nothing else sets it.
        let _ = OWN.set((joined, order));
    }
    let Some((_, order)) = OWN.get() else { return Err(Failure::Machine(OVER.into())) };
    OrderText::read(&order.about)?.is_of(true)?;
    line(&order.about, (given, false)).map(|(_, line)| line)
}

/// Takes part in the search that was joined early, if one was.
pub fn take_part_early(
    known: Known<'_>,
    console: &Console<'_>,
    own: &FlagValues,
) -> Option<Result<AfterJoin, Failure>> {
    let (joined, order) = OWN.get()?;
    Some(take_part(known, console, own, (joined, Some(order.clone()))))
}

/// Joins a search, unless this process is asked to leave before.
fn join_search(at: &str, given: &FlagValues) -> Result<Option<Joined>, Failure> {
    given.check_alone(Verb::Join, &[])?;
    keep_apart(given, &[])?;
    let at = address(at).map_err(|why| Failure::Usage(format!("join {why}")))?;
    let key_path = key_path(given);
    let key = Key::read(Path::new(&key_path));
    let key = key.map_err(|why| Failure::Usage(format!("--key: {why}")))?;
    // Not only once it has joined, which may be hours later.
    Log::open(given)?;
    Metrics::open(given)?;
    let patience = given.get(&PATIENCE)?;
    let patience = patience.unwrap_or(Some(Duration::from_secs(60)));
    let standby = standby(&key, patience, given)?;
    let _joining = InterruptiblePhase::until(None, |_| (String::new(), STOPPED));
    let reach = given.get(&REACH)?.unwrap_or_default();
    let stands_by = standby.as_ref().map(|standby| standby.stands_by());
    let cancel = interrupts();
    let cluster = joining::join(Joining {
        at: at.clone(),
        key: key.clone(),
        patience,
        reach,
        standby: stands_by,
        cancel: cancel.clone(),
    });
    let cluster = match cluster {
        Ok(cluster) => Arc::new(cluster),
        Err(_) if cancel.is_cancelled() => return Ok(None),
        Err(RunError::Lost(why)) => return Err(Failure::Machine(why)),
        Err(why) => return Err(why.into()),
    };
    Ok(Some(Joined { cluster, standby, at, key, key_path }))
}

/// The least patience of a standby: it must last until it may take over.
const LEAST_PATIENCE: Duration = Duration::from_secs(15);

/// The standby that takes the root's place if the root is gone, if this process should stand by.
fn standby(
    key: &Key,
    patience: Option<Duration>,
    given: &FlagValues,
) -> Result<Option<Arc<Standby>>, Failure> {
    let address = given.get(&STANDBY)?;
    match (address, given.word("checkpoint")) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) if patience.is_some_and(|patience| patience < LEAST_PATIENCE) => {
            let least = LEAST_PATIENCE.as_secs();
            usage(format!("--standby needs a --patience of {least}s or more"))
        }
        (Some(address), Some(file)) => {
            Standby::new(&address, Path::new(file), key, interrupts()).map(Some)
        }
        (Some(_), None) => usage("--standby needs --checkpoint FILE, where it keeps a copy"),
        (None, Some(_)) => usage("--checkpoint has no effect without --standby"),
    }
}

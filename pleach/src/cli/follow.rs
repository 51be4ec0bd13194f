//! A process that takes part in the searches of another one: it reads none of its words and files itself.

use super::company::{CHANGING, VERSION, key_path};
use super::console::{Console, DONE, FAILED};
use super::flags::{FLAGS, Given, Kind, Lasts, PATIENCE, Verb, address};
use super::line::{Line, parse_again};
use super::progress::{Progress, interrupts};
use crate::campaign::{Cancel, Seen};
use crate::failure::Failure;
use crate::registry::{Act, Ended, Entry, Mode, Request, entry};
use crate::report::{Report, grouped};
use pleach_net::tls::{self, Joining, Key, Limits};
use pleach_run::{Bell, Cluster, Entered, Order, Stop};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a process that leaves waits for the root to notice.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long a process waits between two tries to reach the root.
const AGAIN: Duration = Duration::from_millis(500);

/// Flags that shape a search although they are not frozen.
const SHAPING: [&str; 2] = ["balance", "seed"];

/// Flags of each process for itself.
const OWN: [&str; 6] = ["threads", "devices", "slow", "simd", "pace", "quiet"];

/// Takes part in all searches of a root that a launcher has started.
pub fn follow(
    registry: &[Entry],
    console: &Console<'_>,
    cluster: &Arc<Cluster>,
    line: &Line,
) -> Result<u8, Failure> {
    // The root stops in order; whoever is needed for that must not end before.
    let _ = interrupts();
    let cancel = Cancel::default();
    let follower = Follower { registry, console, own: &line.given, same: true, cancel };
    match follower.all(cluster) {
        Ok(_) => {
            cluster.end();
            Ok(DONE)
        }
        // The root says why.
        Err(Failure::Ended(_)) => Ok(FAILED),
        Err(why) => {
            console.mute(false);
            let code = console.finish(|| Err(why));
            cluster.abort(code.into());
            Ok(code)
        }
    }
}

/// Joins a search that was opened with `--listen`.
pub fn join(
    registry: &[Entry],
    console: &Console<'_>,
    at: &str,
    given: &Given,
) -> Result<u8, Failure> {
    given.check(Kind { verb: Verb::Join, problem: "", named: &[] }).map_err(Failure::Usage)?;
    let at = address(at).map_err(|why| Failure::Usage(format!("join {why}")))?;
    let path = key_path(given);
    let key = Key::read(Path::new(&path));
    let key = key.map_err(|why| Failure::Usage(format!("--key {why}")))?;
    let patience = given.get(&PATIENCE).map_err(Failure::Usage)?;
    let patience = patience.unwrap_or(Some(Duration::from_secs(60)));
    let cancel = interrupts();
    let bell = Arc::new(Bell::default());
    let way = Way { at, key, patience, bell: Arc::clone(&bell), cancel: cancel.clone() };
    let entered = way.enter(None).map_err(Failure::Machine)?;
    let follower = Follower { registry, console, own: given, same: false, cancel };
    let at = way.at.clone();
    let again = Arc::new(move |place| way.enter(Some(place)));
    let mut terms = CHANGING;
    terms.patience_ns = patience.map_or(u64::MAX, |it| it.as_nanos() as u64).max(terms.lease_ns);
    let cluster = Arc::new(Cluster::joined(entered, again, bell, terms)?);
    follower.note(&format!("joined {at} as site {}", cluster.me()));
    match follower.all(&cluster)? {
        Parted::Dismissed => cluster.end(),
        Parted::Left => {
            cluster.leave();
            follower.note("left the search");
        }
    }
    Ok(DONE)
}

/// The way to a root.
struct Way {
    at: String,
    key: Key,
    patience: Option<Duration>,
    bell: Arc<Bell>,
    cancel: Cancel,
}

impl Way {
    /// Joins, at a place that this process had before if it is free. Tries again for as long as patience lasts.
    fn enter(&self, place: Option<u32>) -> Result<Entered, String> {
        let start = Instant::now();
        loop {
            let left = self.patience.map(|patience| patience.saturating_sub(start.elapsed()));
            let rings = Arc::clone(&self.bell);
            let joining = Joining {
                address: self.at.clone(),
                key: self.key.clone(),
                version: VERSION.into(),
                bytes: place.map_or(Vec::new(), |place| place.to_le_bytes().to_vec()),
                limits: Limits::default(),
                patience: left.unwrap_or(Duration::MAX).max(AGAIN),
            };
            match tls::join(joining, Arc::new(move || rings.ring())) {
                Ok((star, welcome)) => return Ok((Box::new(star), welcome)),
                Err(why) => {
                    let again = why.may_pass() && left.is_none_or(|left| left > AGAIN);
                    if !again || self.cancel.is_cancelled() {
                        return Err(format!("cannot join {}: {why}", self.at));
                    }
                }
            }
            std::thread::sleep(AGAIN);
        }
    }
}

/// How a process came to take no further part.
enum Parted {
    /// There is nothing more to search.
    Dismissed,
    /// It was asked to leave.
    Left,
}

/// A process that follows a root.
struct Follower<'a, 'o> {
    registry: &'a [Entry],
    console: &'a Console<'o>,
    own: &'a Given,
    /// Whether its own command line is the root's.
    same: bool,
    cancel: Cancel,
}

impl Follower<'_, '_> {
    fn note(&self, line: &str) {
        if !self.own.on("quiet") {
            self.console.note(line);
        }
    }

    /// Takes part in all searches that there are.
    fn all(&self, cluster: &Arc<Cluster>) -> Result<Parted, Failure> {
        loop {
            let waits = || !self.cancel.is_cancelled();
            let Some(order) = cluster.next_order(waits)? else {
                let left = self.cancel.is_cancelled();
                return Ok(if left { Parted::Left } else { Parted::Dismissed });
            };
            let report = match self.one(cluster, &order) {
                Err(Failure::Replaced) => continue,
                report => report?,
            };
            if report.outcome.stop == Some(Stop::Asked) {
                let start = Instant::now();
                // Until the root has noticed, what is on its way there must not be lost.
                cluster.next_order(|| start.elapsed() < FAREWELL)?;
                return Ok(Parted::Left);
            }
        }
    }

    /// Takes part in one search.
    fn one(&self, cluster: &Arc<Cluster>, order: &Order) -> Result<Report, Failure> {
        let unclear = || Failure::Inside("the root has ordered something unknown".into());
        let about = std::str::from_utf8(&order.about).map_err(|_| unclear())?;
        let told: Value = serde_json::from_str(about).map_err(|_| unclear())?;
        let mut line = self.line(&told).ok_or_else(unclear)??;
        line.given.cluster = Some(Arc::clone(cluster));
        line.given.texts.replace(texts(&told["texts"]));
        let [verb, problem, instance] = &line.words[..] else { return Err(unclear()) };
        let verb = [Verb::Solve, Verb::Count].into_iter().find(|it| it.word() == verb);
        let task = entry(self.registry, problem).zip(verb).and_then(|(it, verb)| it.task(verb));
        let Some(Act::Search(start)) = task.map(|task| task.act) else { return Err(unclear()) };
        let given = &line.given;
        let request = Request { instance, given, resumed: true, follows: true, note: &|_| {} };
        let start = start(&request)?;
        let hidden = given.on("quiet") || self.console.is_mute();
        let mut progress = Progress::new(self.console, hidden);
        let mut search = given.search().map_err(Failure::Usage)?;
        search.settings.about = about.into();
        search.cancel = self.cancel.clone();
        search.progress = Some(Box::new(|sight| progress.show(sight)));
        let ended = start(search, Mode::Look)?;
        drop(progress);
        let Ended::Seen(seen) = ended else { return Err(unclear()) };
        let Seen::Part(report) = *seen else { return Err(unclear()) };
        let nodes = grouped(report.outcome.counts.bounded.into());
        self.note(&format!("{nodes} nodes in {:.2} s", report.outcome.seconds));
        Ok(*report)
    }

    /// The command line of the root's search, with this process's own units.
    fn line(&self, told: &Value) -> Option<Result<Line, Failure>> {
        let strings = |list: &Value| -> Option<Vec<String>> {
            list.as_array()?.iter().map(|word| Some(word.as_str()?.to_string())).collect()
        };
        let (words, mut flags) = (strings(&told["words"])?, strings(&told["flags"])?);
        let name = |flag: &str| flag.trim_start_matches("--").split('=').next().map(str::to_string);
        flags.retain(|flag| {
            let about = FLAGS.iter().map(|item| item.about());
            let about = about.into_iter().find(|about| Some(about.name) == name(flag).as_deref());
            // The start is with the root.
            about.is_some_and(|about| {
                let shapes = about.lasts == Lasts::Frozen || SHAPING.contains(&about.name);
                let shared = self.same && OWN.contains(&about.name);
                (shapes || shared) && about.name != "start"
            })
        });
        if !self.same {
            let own = self.own.lasting(&[Lasts::Kept, Lasts::OneRun]);
            let is_own = |flag: &String| name(flag).is_some_and(|name| OWN.contains(&&*name));
            flags.extend(own.into_iter().filter(is_own));
        }
        Some(parse_again(&words, flags))
    }
}

/// The texts that the root has sent.
fn texts(told: &Value) -> BTreeMap<String, String> {
    let all = told.as_object().into_iter().flatten();
    all.filter_map(|(word, text)| Some((word.clone(), text.as_str()?.to_string()))).collect()
}

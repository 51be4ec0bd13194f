//! A process that takes part in the searches of a root, which sends it the words and files.

use super::console::{Console, DONE, FAILED};
use super::dashboard::Dashboard;
use super::flags::{FLAGS, FlagValues, Lasts, Verb};
use super::line::{Line, parse_again};
use super::looping::together;
use super::metrics::Metrics;
use super::order_text::{OrderText, unclear};
use super::progress::{Progress, Shown, interrupts};
use crate::campaign::{Inspection, Search};
use crate::failure::Failure;
use crate::registry::{Act, Ended, Entry, Mode, Request, Start, entry};
use crate::report::{Report, grouped};
use pleach_cluster::{Cluster, Order};
use pleach_core::search::tree::Counts;
use pleach_runtime::Cancel;
use pleach_runtime::Stop;
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two snapshots of a joiner that shows none.
const HIDDEN_PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// Flags that shape a search although they are not frozen.
pub const SHAPING: [&str; 2] = ["balance", "seed"];

/// Flags that each process sets for itself.
pub const OWN: [&str; 11] = [
    "threads", "devices", "slow", "simd", "pace", "memory", "quiet", "json", "dashboard", "log",
    "metrics",
];

/// What a process can search.
#[derive(Clone, Copy)]
pub enum Known<'a> {
    /// The problems of the command.
    Registry(&'a [Entry]),
    /// A user's own problem.
    Own(&'a dyn Fn(Search<'_>, Mode) -> Result<Ended, Failure>),
}

/// Takes part in all searches of a root that a launcher has started.
pub fn follow(
    known: Known<'_>,
    console: &Console<'_>,
    cluster: &Arc<Cluster>,
    line: &Line,
) -> Result<u8, Failure> {
    // The root stops in an orderly way; processes that it needs for that must not end earlier.
    let _ = interrupts();
    let cancel = Cancel::default();
    let done = Cell::default();
    let follower = Follower { known, console, own: &line.given, same: true, cancel, done };
    match follower.follow_searches(cluster, None) {
        Ok(_) => {
            cluster.end();
            Ok(DONE)
        }
        // The root reports why.
        Err(Failure::Ended(_)) => Ok(FAILED),
        Err(why) => {
            console.mute(false);
            let code = console.finish(|| Err(why));
            cluster.abort(code.into());
            Ok(code)
        }
    }
}

/// Why a process stopped taking part.
pub enum JoinEnd {
    /// There is nothing more to search.
    Dismissed,
    /// It was asked to leave.
    Left,
}

/// A process that follows a root.
pub struct Follower<'a, 'o> {
    pub known: Known<'a>,
    pub console: &'a Console<'o>,
    pub own: &'a FlagValues,
    /// Whether its own command line is the root's.
    pub same: bool,
    pub cancel: Cancel,
    /// The number of searches that it took part in, and what it counted in them.
    pub done: Cell<(u64, Counts)>,
}

impl Follower<'_, '_> {
    pub fn note(&self, line: &str) {
        if !self.own.on("quiet") && !self.own.on("json") {
            self.console.note(line);
        }
    }

    /// A dashboard, if this process was asked for one. Among processes that share a command line, the root shows it.
    fn open_dashboard(&self, words: &[&str]) -> Option<Dashboard> {
        let asked = self.own.on("dashboard") && !self.same;
        Dashboard::open(self.console, asked, words, &self.cancel)
    }

    /// Takes part in all searches, beginning with the one that it was informed of.
    pub fn follow_searches(
        &self,
        cluster: &Arc<Cluster>,
        mut first: Option<Order>,
    ) -> Result<JoinEnd, Failure> {
        let mut prepared = None;
        let begun = first.as_ref().map(|order| OrderText::read(&order.about)).transpose()?;
        loop {
            let waits = || !self.cancel.is_cancelled();
            let next = first.take().map_or_else(|| cluster.next_order(waits), |it| Ok(Some(it)));
            let Some(order) = next? else {
                let left = self.cancel.is_cancelled();
                return Ok(if left { JoinEnd::Left } else { JoinEnd::Dismissed });
            };
            if let (Known::Registry(_), true) = (self.known, together::is_loop(&order.about)) {
                let begun = Instant::now();
                let with = (&mut prepared, &self.cancel);
                let open = |words: &[&str]| self.open_dashboard(words);
                let complete = together::take_part(cluster, &order.about, self.own, with, &open)?;
                if complete {
                    let seconds = begun.elapsed().as_secs_f64();
                    self.note(&format!("took part in a loop for {seconds:.2} s"));
                }
                continue;
            }
            // A user's own tree was built from the first order.
            if let (Known::Own(_), Some(begun)) = (self.known, &begun)
                && !begun.has_instance_of(&OrderText::read(&order.about)?)
            {
                let why = "the root has started another search: join again";
                return Err(Failure::Machine(why.into()));
            }
            let report = match self.follow_search(cluster, &order) {
                Err(Failure::Replaced) => continue,
                report => report?,
            };
            if report.outcome.stop == Some(Stop::Asked) {
                cluster.sign_off()?;
                return Ok(JoinEnd::Left);
            }
        }
    }

    /// Takes part in one search.
    fn follow_search(&self, cluster: &Arc<Cluster>, order: &Order) -> Result<Report, Failure> {
        OrderText::read(&order.about)?.is_of(matches!(self.known, Known::Own(_)))?;
        let (order_text, mut line) = line(&order.about, (self.own, self.same))?;
        line.given.cluster = Some(Arc::clone(cluster));
        line.given.texts.replace(texts(&order_text["texts"]));
        let given = &line.given;
        let start: Start<'_> = match self.known {
            Known::Own(start) => Start::new(start),
            Known::Registry(registry) => {
                let [verb, problem, instance] = &line.words[..] else { return Err(unclear()) };
                let task = entry(registry, problem).zip(Verb::of(verb));
                let task = task.and_then(|(entry, verb)| entry.task(verb));
                let Some(Act::Search(read)) = task.map(|task| task.act) else {
                    return Err(unclear());
                };
                read(&Request { resumed: true, follows: true, ..Request::new(instance, given) })?
            }
        };
        let hidden = given.on("quiet") || self.console.is_mute();
        // The words for a user's own command begin with no verb.
        let verbs = usize::from(matches!(self.known, Known::Registry(_)));
        let words: Vec<&str> = line.words.iter().skip(verbs).map(String::as_str).collect();
        let mut board = self.open_dashboard(&words);
        let mut progress = Progress::new(self.console, Shown::new(hidden, board.as_mut()));
        progress.metrics = Metrics::open(self.own)?;
        progress.sites.follows = true;
        let mut search = given.search()?;
        search.settings.about = String::from_utf8_lossy(&order.about).into_owned();
        search.settings.cancel = self.cancel.clone();
        if hidden {
            // Each snapshot lists all sites, and every site takes its own.
            search.settings.progress_every = HIDDEN_PROGRESS_EVERY;
        }
        progress.decimals = start.labels.decimals;
        search.progress = Some(Box::new(|snapshot| progress.show(snapshot)));
        let ended = (start.search)(search, Mode::Inspect)?;
        drop(progress);
        drop(board);
        let Ended::Inspection(seen) = ended else { return Err(unclear()) };
        let Inspection::Part(report) = *seen else { return Err(unclear()) };
        let (searches, mut counts) = self.done.take();
        counts.add(&report.outcome.counts);
        self.done.set((searches + 1, counts));
        let nodes = grouped(report.outcome.counts.bounded.into());
        self.note(&format!("{nodes} nodes in {:.2} s", report.outcome.seconds));
        Ok(*report)
    }
}

/// What the root sent about a search, and its command line with this process's own workers. If the processes share a
/// command line, it includes the workers.
pub fn line(about: &[u8], (own, same): (&FlagValues, bool)) -> Result<(Value, Line), Failure> {
    let mut order_text = OrderText::read(about)?;
    order_text.retain(|name| {
        let about = FLAGS.iter().map(|item| item.about());
        about.into_iter().find(|about| about.name == name).is_some_and(|about| {
            let shapes = about.lasts == Lasts::Frozen || SHAPING.contains(&about.name);
            let shared = same && OWN.contains(&about.name);
            // The root has the starting solution.
            (shapes || shared) && about.name != "start"
        })
    });
    // The root does not send flags that apply to one run only.
    let may: &[&str] = if same { &["memory"] } else { &OWN };
    order_text.add(own.lasting(&[Lasts::Kept, Lasts::OneRun]), may);
    let OrderText { words, flags, all } = order_text;
    parse_again(&words, flags).map(|line| (all, line))
}

/// The texts that the root sent.
fn texts(order_text: &Value) -> BTreeMap<String, String> {
    let all = order_text.as_object().into_iter().flatten();
    all.filter_map(|(word, text)| Some((word.clone(), text.as_str()?.to_string()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::flags::MEMORY;
    use serde_json::json;

    #[test]
    fn every_process_keeps_to_its_memory_limit() {
        let order =
            json!({ "words": ["count", "uts", "T1"], "flags": ["--threads=3", "--balance=ring"] });
        let order = serde_json::to_vec(&order).unwrap();
        let own = parse_again(&[], vec!["--memory=1G".into(), "--threads=2".into()]).unwrap().given;
        for (same, threads) in [(true, "3"), (false, "2")] {
            let (_, line) = line(&order, (&own, same)).unwrap();
            assert_eq!(line.words, ["count", "uts", "T1"]);
            assert_eq!(line.given.get(&MEMORY).unwrap(), Some(1 << 30), "same: {same}");
            assert_eq!(line.given.word("threads"), Some(threads), "same: {same}");
            assert_eq!(line.given.word("balance"), Some("ring"), "same: {same}");
        }
    }
}

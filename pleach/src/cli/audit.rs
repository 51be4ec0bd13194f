//! `pleach audit`: checks the certificate of a proof, by exploring parts of its tree again.

use super::conduct::last_words;
use super::console::{Console, DONE, STOPPED};
use super::flags::{FlagValues, Kind, Lasts, SAMPLE, SEED, Use, Verb};
use super::line::Line;
use super::resume::{For, line_of};
use super::stopping::interrupts;
use crate::campaign::{Certify, Inspection};
use crate::certificate::{Audit, NoProof, Sample};
use crate::failure::{Failure, usage};
use crate::provenance::stamped;
use crate::registry::{Act, Ended, Entry, Mode, Request, entry};
use crate::report::{Labels, grouped};
use crate::results::JsonInteger;
use pleach_core::wire::certificate::Certificate;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The flags that it shares with other commands.
pub const FLAGS: [Use; 2] = [
    Use::with("all", "explore all regions again", ""),
    Use::with("seed", "seed of the sample", "a random one"),
];

/// Regions that are explored again by default.
const REGIONS: u64 = 20;

/// Audits the certificate that the words name.
pub fn run(registry: &[Entry], console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    let given = &line.given;
    given.check_alone(Verb::Audit, &FLAGS)?;
    let [_, file] = &line.words[..] else {
        return usage("audit: expected FILE, a file that --certificate wrote");
    };
    let sample = sample(given)?;
    let phase = last_words(console, &format!("audit {file}"), given);
    let read = match std::fs::metadata(file) {
        Ok(about) if !about.is_file() => Err("expected a regular file".into()),
        _ => std::fs::read(file).map_err(|why| why.to_string()),
    };
    let read =
        read.and_then(|bytes| Certificate::from_bytes(&bytes).map_err(|why| why.to_string()));
    let certificate = Arc::new(read.or_else(|why| usage(format!("cannot audit {file}: {why}")))?);
    let saved = line_of(file, &certificate.search.about, given, For::Audit(&console.program))?;
    let words: Vec<&str> = saved.words.iter().map(String::as_str).collect();
    let cannot =
        || usage(format!("cannot audit {file}: it does not name a search of this program"));
    let &[verb, problem, instance] = &words[..] else { return cannot() };
    let Some(verb) = Verb::of(verb) else { return cannot() };
    let Some(entry) = entry(registry, problem) else { return cannot() };
    let Some(task) = entry.task(verb) else { return cannot() };
    let Act::Search(start) = task.act else { return cannot() };
    let kind = Kind { verb, problem, named: task.flags };
    saved.given.check(kind).or_else(|why| usage(format!("cannot audit {file}: {why}")))?;
    let note = |text: &str| console.note(text);
    let request =
        Request { instance, given: &saved.given, resumed: true, follows: false, note: &note };
    let start = start(&request)?;
    let mut search = saved.given.search()?;
    search.settings.cancel = interrupts();
    search.certify = Certify::Audit(certificate.clone(), sample);
    drop(phase);
    let labels = start.labels;
    let began = Instant::now();
    let ended = (start.search)(search, Mode::Inspect)?;
    let Ended::Inspection(seen) = ended else { return Err(unexpected()) };
    let Inspection::Audit(result) = *seen else { return Err(unexpected()) };
    let seconds = began.elapsed().as_secs_f64();
    match result {
        Ok(audit) => {
            // They are part of what is proven.
            let flags = saved.given.lasting(&[Lasts::Frozen]);
            let shown = Shown { file, problem, instance, flags, labels: &labels, audit, seconds };
            let counts = verb == Verb::Count;
            let text = if given.on("json") { shown.json(counts) } else { shown.text(counts) };
            console.print(&text)?;
            Ok(DONE)
        }
        Err(NoProof::Wrong(why)) => usage(format!("{file} does not prove its result: {why}")),
        Err(NoProof::Stopped) => {
            console.note(&format!("the audit of {file} was stopped"));
            Ok(STOPPED)
        }
    }
}

fn unexpected() -> Failure {
    Failure::Inside("an audit searched".into())
}

/// The regions to explore again.
fn sample(given: &FlagValues) -> Result<Sample, Failure> {
    let size = given.get(&SAMPLE)?;
    let seed = given.get(&SEED)?;
    if given.on("all") {
        let other = size.map(|_| "sample").or(seed.map(|_| "seed"));
        return other.map_or(Ok(Sample::All), |other| {
            usage(format!("--all and --{other} contradict each other: give only one of them"))
        });
    }
    // The maker of a certificate must not be able to predict the sample.
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seed = seed.unwrap_or_else(|| now().as_nanos() as u64);
    Ok(Sample::Random(size.unwrap_or(REGIONS) as usize, seed))
}

/// A certificate that passed an audit.
struct Shown<'a> {
    file: &'a str,
    problem: &'a str,
    instance: &'a str,
    flags: Vec<String>,
    labels: &'a Labels,
    audit: Audit,
    seconds: f64,
}

impl Shown<'_> {
    fn json(&self, counts: bool) -> String {
        let Self { file, problem, instance, flags, labels, audit, seconds } = self;
        let Audit { regions, explored, counts: all, objective, bound } = audit;
        let count = if counts { json!(JsonInteger(all.total)) } else { Value::Null };
        let mut said = json!({
            "certificate": file,
            "problem": problem,
            "instance": instance,
            "flags": flags,
            "valid": true,
            "objective": objective.map(JsonInteger),
            "bound": bound.map(JsonInteger),
            "count": count,
            "regions": regions,
            "explored": explored,
            "nodes": {
                "branched": JsonInteger(all.branched),
                "bounded": JsonInteger(all.bounded),
            },
            "seconds": seconds,
        });
        labels.note_decimals(&mut said);
        stamped(said)
    }

    fn text(&self, counts: bool) -> String {
        let Self { file, problem, instance, flags, labels, audit, seconds } = self;
        let Audit { regions, explored, counts: all, objective, bound } = audit;
        let proves = match (objective, bound) {
            _ if counts => format!("the count is {}", grouped(all.total)),
            (Some(value), _) => format!("the optimum is {}", labels.value(*value)),
            (None, Some(bound)) => format!("no solution beats {}", labels.value(*bound)),
            (None, None) => "there is no solution".into(),
        };
        let nodes = grouped(all.bounded.into());
        let agree = match (regions, explored) {
            (1, 1) => format!(
                "1 region with {nodes} nodes makes up the tree; explored again in {seconds:.1} s, it agrees"
            ),
            (_, 1) => format!(
                "{regions} regions with {nodes} nodes make up the tree; 1 of them, explored again in {seconds:.1} s, \
                 agrees"
            ),
            _ => format!(
                "{regions} regions with {nodes} nodes make up the tree; {explored} of them, explored again in \
                 {seconds:.1} s, agree"
            ),
        };
        let search = [*problem, *instance].into_iter().chain(flags.iter().map(String::as_str));
        let search = search.collect::<Vec<_>>().join(" ");
        format!("{search}: {proves}, by {file}\n{agree}")
    }
}

//! [`Plan`]: the runs that a batch's file asks for.

use super::glob::matching;
use super::rows::Row;
use crate::cli::files::READ;
use crate::cli::flags::{FlagValues, Kind, TIME_LIMIT, Verb};
use crate::cli::keys::{Keys, table_of};
use crate::cli::line;
use crate::failure::Failure;
use crate::provenance::{COMMIT, processor};
use crate::registry::entry::Task;
use crate::registry::{Act, Entry, Request, entry, names};
use crate::results::VERSION;
use pleach_core::wire::fingerprint;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::{BTreeMap, BTreeSet};
use toml::Spanned;

/// Everything to run.
pub struct Plan {
    /// The command, such as `solve flowshop`, with the flags of all runs.
    pub command: String,
    /// Whether larger values are better.
    pub maximises: bool,
    /// The settings in the order of the file: names and flags.
    pub settings: Vec<(String, String)>,
    /// The runs, ordered so that the settings can be compared as early as possible.
    pub runs: Vec<Run>,
}

/// One run.
pub struct Run {
    /// Its arguments, without those that all runs have.
    pub args: Vec<String>,
    /// The position of its setting.
    pub setting: usize,
    /// The flags that change the problem; only runs that agree in them have the same optimum.
    pub question: String,
    /// The row with what is known before it has run.
    pub row: Row,
    /// The files that it reads.
    pub inputs: InputFiles,
}

/// The files that a run reads, with fingerprints of their bytes when the batch began.
#[derive(Clone, Default)]
pub struct InputFiles(Vec<(String, Option<u64>)>);

impl InputFiles {
    fn new(names: impl Iterator<Item = String>) -> Self {
        Self(names.map(|name| (name.clone(), bytes_of(&name))).collect())
    }

    /// A file whose bytes have changed.
    pub fn changed(&self) -> Option<&str> {
        let changed = self.0.iter().find(|(name, before)| bytes_of(name) != *before);
        changed.map(|(name, _)| name.as_str())
    }
}

/// The fingerprint of a file's bytes, if it can be read.
fn bytes_of(path: &str) -> Option<u64> {
    std::fs::read(path).ok().map(|bytes| fingerprint("input", &bytes))
}

/// The maximum number of runs of a batch.
const MOST_RUNS: usize = 1_000_000;
/// Flags that the batch sets itself, or that are for a single run.
const REFUSED: [&str; 20] = [
    "checkpoint", "every", "listen", "key", "places", "mpi", "trace", "certificate", "solution",
    "gantt", "schedule", "log", "metrics", "json", "quiet", "dashboard", "repeat", "show",
    "until-eof", "help",
];
/// Flags that change the problem.
const QUESTION: [&str; 8] =
    ["objective", "no-wait", "blocking", "due", "weights", "releases", "setups", "jobs-first"];

/// The settings in the order in which the file has them.
#[derive(Deserialize)]
struct SettingsOrder {
    #[serde(default)]
    settings: BTreeMap<Spanned<String>, IgnoredAny>,
}

/// What all runs have in common.
struct Common<'r> {
    file: &'r str,
    entry: &'r Entry,
    task: &'r Task,
    /// The words before the instance, and the flags after them.
    words: Vec<String>,
    flags: Vec<String>,
    /// The flags that keys stand for.
    keys: Vec<String>,
}

impl Plan {
    /// Reads a file's text. Paths in it are relative to the current folder. Every instance is read once with each
    /// setting, so that no error comes late.
    ///
    /// # Errors
    /// One line: file, line or key, value, and what was expected.
    pub fn read(registry: &[Entry], file: &str, text: &str) -> Result<Self, Failure> {
        let table = table_of(file, text).map_err(Failure::Usage)?;
        Self::of(registry, &Keys::new(file, &table), (file, text))
    }

    fn of(
        registry: &[Entry],
        keys: &Keys<'_>,
        (file, text): (&str, &str),
    ) -> Result<Self, Failure> {
        let bad = Failure::Usage;
        let mut common = common(registry, file, keys)?;
        let instances = keys.words("instances").map_err(bad)?;
        let limit = keys.word_if_any("time_limit").map_err(bad)?;
        if let Some(limit) = limit {
            let time = (TIME_LIMIT.parse)(&limit);
            time.or_else(|_| keys.wrong("time_limit", "a time, such as '60s', '500ms' or '10m'"))
                .map_err(bad)?;
            common.keys.push(format!("--time-limit={limit}"));
        }
        let threads = keys.if_any("threads", |key| keys.whole(key, None, 1..=1 << 16));
        if let Some(threads) = threads.map_err(bad)? {
            common.keys.push(format!("--threads={threads}"));
        }
        let seeds = if keys.has("seeds") {
            keys.list("seeds", 0..=i64::MAX).map_err(bad)?.into_iter().map(Some).collect()
        } else {
            vec![None]
        };
        let settings = settings(keys, text).map_err(bad)?;
        keys.finish().map_err(bad)?;
        let instances = found(file, &instances).map_err(bad)?;
        let once: BTreeSet<_> = seeds.iter().copied().collect();
        if once.len() < seeds.len() {
            return keys.wrong("seeds", "each seed once").map_err(bad);
        }
        if instances.len() * settings.len() * seeds.len() > MOST_RUNS {
            return keys.wrong("instances", &format!("at most {MOST_RUNS} runs")).map_err(bad);
        }
        for (name, flags) in &settings {
            common.flags_of(name, flags, seeds[0]).map_err(bad)?;
        }
        let mut first = Vec::new();
        for instance in &instances {
            for (at, setting) in settings.iter().enumerate() {
                first.push(common.run(instance, (at, setting), seeds[0])?);
            }
        }
        let runs = seeds.iter().flat_map(|seed| first.iter().map(|run| run.with_seed(*seed)));
        let runs = runs.collect();
        let (command, maximises) =
            ([common.words, common.flags].concat().join(" "), common.entry.maximises);
        Ok(Self { command, maximises, settings, runs })
    }
}

/// The command and its problem.
fn common<'r>(
    registry: &'r [Entry],
    file: &'r str,
    keys: &Keys<'_>,
) -> Result<Common<'r>, Failure> {
    let command = keys.word("command", Some("")).map_err(Failure::Usage)?;
    let all: Vec<String> = command.split_whitespace().map(String::from).collect();
    let begin = all.iter().position(|word| word.starts_with('-')).unwrap_or(all.len());
    let (words, flags) = all.split_at(begin);
    let verb = words.first().and_then(|word| Verb::of(word));
    let searches = verb.filter(|verb| matches!(verb, Verb::Solve | Verb::Count));
    let found = searches.zip(words.get(1)).and_then(|(verb, problem)| {
        let entry = entry(registry, problem)?;
        Some((entry, entry.task(verb)?))
    });
    match found.filter(|_| words.len() == 2) {
        Some((entry, task)) => {
            let (words, flags) = (words.to_vec(), flags.to_vec());
            Ok(Common { file, entry, task, words, flags, keys: Vec::new() })
        }
        None => {
            let [solve, count] = [Verb::Solve, Verb::Count]
                .map(|verb| names(registry, |entry| entry.task(verb).is_some()));
            let expected = format!(
                "'solve PROBLEM' with {solve}, or 'count PROBLEM' with {count}; flags may follow"
            );
            keys.wrong("command", &expected).map_err(Failure::Usage)
        }
    }
}

/// The settings: names and flags. Without any, there is one without flags.
fn settings(keys: &Keys<'_>, text: &str) -> Result<Vec<(String, String)>, String> {
    if !keys.has("settings") {
        return Ok(vec![("default".into(), String::new())]);
    }
    let mut all = keys.named_words("settings")?;
    for (_, flags) in &mut all {
        *flags = flags.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    // The parser sorts keys by name.
    let order: Option<SettingsOrder> = toml::from_str(text).ok();
    let order: BTreeMap<String, usize> = order
        .into_iter()
        .flat_map(|order| order.settings)
        .map(|(name, _)| (name.get_ref().clone(), name.span().start))
        .collect();
    all.sort_by_key(|(name, _)| order.get(name).copied());
    if all.is_empty() {
        return keys.wrong("settings", "at least one name with its flags");
    }
    if all.iter().any(|(name, _)| name.contains(char::is_control)) {
        return keys.wrong("settings", "names without line breaks and other control characters");
    }
    for (at, (name, flags)) in all.iter().enumerate() {
        if let Some((other, _)) = all[..at].iter().find(|(_, others)| others == flags) {
            return keys.wrong("settings", &format!("other flags for {name} than for {other}"));
        }
    }
    Ok(all)
}

/// The instances that words name, each once; a word with * or ? stands for the files that it matches.
fn found(file: &str, words: &[String]) -> Result<Vec<String>, String> {
    let mut all: Vec<String> = Vec::new();
    for word in words {
        let names = if word.contains(['*', '?']) && !std::path::Path::new(word).exists() {
            matching(word).map_err(|why| format!("{file}: instances: '{word}': {why}"))?
        } else {
            vec![word.clone()]
        };
        for name in names {
            if name == "-" {
                return Err(format!("{file}: instances: '-': expected a name or a file"));
            }
            if !all.contains(&name) {
                all.push(name);
            }
        }
    }
    Ok(all)
}

impl Common<'_> {
    /// A message about the flags of a setting.
    fn about_flags(&self, name: &str, flags: &str, why: &str) -> String {
        let why = why.trim_end_matches(" (see --help)");
        match flags {
            "" => format!("{}: the command: {why}", self.file),
            _ => format!("{}: settings.{name} = '{flags}': {why}", self.file),
        }
    }

    /// The flags of a run, checked against the command.
    fn flags_of(
        &self,
        name: &str,
        flags: &str,
        seed: Option<i64>,
    ) -> Result<(Vec<String>, FlagValues), String> {
        let wrong = |why: &str| self.about_flags(name, flags, why);
        let own = flags.split_whitespace().map(String::from);
        let seed = seed.map(|seed| format!("--seed={seed}"));
        let all: Vec<String> = self
            .flags
            .iter()
            .cloned()
            .chain(own)
            .chain(self.keys.iter().cloned())
            .chain(seed)
            .collect();
        let words = self.words.iter().chain(&all).map(|word| word.into());
        let line = line::parse(words).map_err(|why| wrong(&why.to_string()))?;
        if let Some(word) = line.words.get(2) {
            return Err(wrong(&format!("'{word}': expected flags")));
        }
        if let Some(flag) = REFUSED.into_iter().find(|flag| line.given.has(flag)) {
            return Err(wrong(&format!("--{flag} is not for the runs of a batch")));
        }
        let kind = Kind { verb: self.task.verb, problem: self.entry.name, named: self.task.flags };
        line.given.check(kind).map_err(|why| wrong(&why.to_string()))?;
        Ok((all, line.given))
    }

    /// A run, whose instance is read.
    fn run(
        &self,
        instance: &str,
        (at, (name, flags)): (usize, &(String, String)),
        seed: Option<i64>,
    ) -> Result<Run, Failure> {
        let (all, given) = self.flags_of(name, flags, seed).map_err(Failure::Usage)?;
        let request = Request::new(instance, &given);
        if let Act::Search(read) = self.task.act {
            read(&request).map_err(|why| match why {
                Failure::Usage(why) if why.starts_with("--") => {
                    Failure::Usage(self.about_flags(name, flags, &why))
                }
                Failure::Usage(why) => Failure::Usage(format!("{}: {why}", self.file)),
                other => other,
            })?;
        }
        let mut row = Row::empty();
        row.set("command", self.words.join(" "));
        row.set("instance", instance);
        row.set("setting", name);
        row.set("flags", [&self.flags.join(" "), flags].map(|it| it.trim()).join(" ").trim());
        let limit = given.get(&TIME_LIMIT).ok().flatten().flatten();
        row.set("time_limit", limit.map_or(String::new(), |limit| limit.as_secs_f64().to_string()));
        let record = given.record();
        row.set("threads", &record["threads"]);
        row.set("seed", &record["seed"]);
        let texts = inputs(&given);
        row.set("input", fingerprint_of(&texts));
        row.set("version", VERSION);
        row.set("commit", COMMIT);
        row.set("sources", env!("PLEACH_SOURCES"));
        row.set("processor", processor());
        let question = QUESTION.iter().filter(|flag| given.has(flag));
        let question: Vec<String> =
            question.map(|flag| format!("{flag}={:?}", value_of(&given, flag))).collect();
        let args = self.words.iter().cloned().chain([instance.to_string()]).chain(all).collect();
        let inputs = InputFiles::new(texts.into_keys());
        Ok(Run { args, setting: at, question: question.join(" "), row, inputs })
    }
}

/// The value of a flag, if it has one.
fn value_of<'g>(given: &'g FlagValues, flag: &str) -> Option<&'g str> {
    let switches = ["no-wait", "blocking", "jobs-first"];
    if switches.contains(&flag) { None } else { given.word(flag) }
}

/// All files that were read.
fn inputs(given: &FlagValues) -> BTreeMap<String, String> {
    let mut texts = given.texts.borrow().clone();
    for path in READ.into_iter().filter_map(|flag| given.word(flag)) {
        if !texts.contains_key(path)
            && let Ok(bytes) = std::fs::read(path)
        {
            texts.insert(path.into(), String::from_utf8_lossy(&bytes).into());
        }
    }
    texts
}

/// The fingerprint of files; empty if there are none.
fn fingerprint_of(texts: &BTreeMap<String, String>) -> String {
    if texts.is_empty() {
        return String::new();
    }
    let all: Vec<u8> =
        texts.iter().flat_map(|(name, text)| format!("{name}\0{text}\0").into_bytes()).collect();
    format!("{:016x}", fingerprint("batch", &all))
}

impl Run {
    /// The same run with another seed.
    fn with_seed(&self, seed: Option<i64>) -> Self {
        let mut args = self.args.clone();
        let mut row = self.row.clone();
        if let Some(seed) = seed {
            args.retain(|arg| !arg.starts_with("--seed="));
            args.push(format!("--seed={seed}"));
            row.set("seed", seed);
        }
        let (question, inputs) = (self.question.clone(), self.inputs.clone());
        Self { args, setting: self.setting, question, row, inputs }
    }
}

//! The flags, in one table, and what they mean.

use super::resume::{Going, about};
use super::units::{Units, slow_factors};
use crate::report::whole as whole_number;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use pleach_core::balance::Policy;
use pleach_core::work::Nodes;
use pleach_problems::simd::Level;
use pleach_run::{Save, Settings};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A flag: its name, what its value is called, what it does, and what holds where it is not given.
struct Flag {
    name: &'static str,
    value: Option<&'static str>,
    help: &'static str,
    default: &'static str,
}

const fn flag(
    name: &'static str,
    value: Option<&'static str>,
    help: &'static str,
    default: &'static str,
) -> Flag {
    Flag { name, value, help, default }
}

const BEST_HELP: &str = "value that a solution must beat: none, a number, and for flowshop and atsp \
                         optimum (as published), search (heuristics), for flowshop neh";
const DEVICES_HELP: &str = "what to use, between commas: cpu, gpu (all of them), gpu0 and so on, emulated (the code of GPUs on \
                            the CPU, for tests); choices after colons, as gpu:explorers=2048:inside=adapt";
const BALANCE_HELP: &str = "who gives how much to whom: adaptive, random-power, random-half, weighted, ring, \
                            lifelines, overlay, master-worker, hierarchical-master-worker, static, \
                            dynamic, guided; choices after a colon, as overlay:degree=4,bridges=no";
const TRACE_HELP: &str = "write the activity of every unit, the best value and the bound over time, as JSON; draw \
                          the last two if FILE ends in .svg";
const BOUND_HELP: &str =
    "flowshop: auto, one, one-tight, two; atsp: auto, partial, assignment, arborescence";
const BRANCHING_HELP: &str =
    "flowshop: auto, forward, backward, alternate, max-sum, min-branch, min-min";

const FLAGS: [Flag; 26] = [
    flag("threads", Some("N"), "CPU units", "all cores"),
    flag("devices", Some("LIST"), DEVICES_HELP, "cpu,gpu where a GPU works"),
    flag("slow", Some("UNIT=F"), "slow a unit by a factor, to try unequal machines", "none"),
    flag("balance", Some("NAME"), BALANCE_HELP, "adaptive"),
    flag("best", Some("V"), BEST_HELP, "search for flowshop and atsp, none for others"),
    flag(
        "start",
        Some("FILE"),
        "flowshop, atsp: a solution to start from, as --solution writes it",
        "none",
    ),
    flag("bound", Some("NAME"), BOUND_HELP, "auto, or one"),
    flag("branching", Some("NAME"), BRANCHING_HELP, "auto"),
    flag("all", None, "flowshop: count all optimal schedules too", "off"),
    flag("jobs-first", None, "flowshop: a file's lines are jobs, not machines", "off"),
    flag("time-limit", Some("TIME"), "stop after a time such as 500ms, 60s, 10m, 2h", "none"),
    flag("node-limit", Some("N"), "stop after about so many nodes", "none"),
    flag(
        "nodes",
        Some("KIND"),
        "how work is held: pool, interval (flowshop, count queens, atsp with bound partial)",
        "pool",
    ),
    flag("checkpoint", Some("FILE"), "save while running, and when stopped", "off"),
    flag("every", Some("TIME"), "time between two saves", "30s"),
    flag("show", None, "with resume: say what is in the file, and end", "off"),
    flag("simd", Some("LEVEL"), "code path: auto, off, avx2, avx512", "auto"),
    flag("seed", Some("N"), "all randomness", "0"),
    flag("trace", Some("FILE"), TRACE_HELP, "off"),
    flag("solution", Some("FILE"), "write the solution, as text", "off"),
    flag("gantt", Some("FILE"), "flowshop: write the schedule as a picture (SVG)", "off"),
    flag(
        "peers",
        Some("N"),
        "sim: how many peers, or some numbers between commas",
        "the scenario's",
    ),
    flag("svg", Some("FILE"), "sim: draw a chart over what varies (SVG)", "off"),
    flag("json", None, "print one JSON object and nothing else", "off"),
    flag("quiet", None, "no progress on the terminal", "off"),
    flag("help", None, "print this help", "off"),
];

/// Flags that make a search what it is: a saved one goes on with what it began with.
pub const FROZEN: [&str; 7] = ["best", "start", "bound", "branching", "all", "jobs-first", "nodes"];

/// Flags that are for one run alone, and not carried on when it is gone on with.
const PASSING: [&str; 7] =
    ["time-limit", "node-limit", "checkpoint", "show", "json", "quiet", "trace"];

/// The flags on a command line, as words.
pub fn given(matches: &ArgMatches) -> Vec<String> {
    let on_line = |flag: &&Flag| {
        let source = matches.value_source(flag.name);
        flag.name != "help" && source == Some(ValueSource::CommandLine)
    };
    let words = |flag: &Flag| -> Vec<String> {
        let name = flag.name;
        match flag.value {
            None => vec![format!("--{name}")],
            Some(_) => {
                let values = matches.get_many::<String>(name).into_iter().flatten();
                values.map(|value| format!("--{name}={value}")).collect()
            }
        }
    };
    FLAGS.iter().filter(on_line).flat_map(words).collect()
}

/// All flags, to be added to a command.
pub fn flags() -> impl Iterator<Item = Arg> {
    FLAGS.iter().map(|flag| {
        let help = match flag.default {
            "off" => flag.help.to_string(),
            default => format!("{} [default: {default}]", flag.help),
        };
        let arg = Arg::new(flag.name).long(flag.name).help(help).global(true);
        match (flag.name, flag.value) {
            ("help", _) => arg.short('h').action(ArgAction::Help),
            ("best", Some(value)) => arg.value_name(value).allow_negative_numbers(true),
            ("slow", Some(value)) => arg.value_name(value).action(ArgAction::Append),
            (_, Some(value)) => arg.value_name(value).action(ArgAction::Set),
            (_, None) => arg.action(ArgAction::SetTrue),
        }
    })
}

/// Time between two looks at a run, and at one that is traced.
const LOOK: Duration = Duration::from_millis(100);
const LOOK_TRACED: Duration = Duration::from_millis(10);
/// Time between two saves.
const EVERY: Duration = Duration::from_secs(30);

/// The value that a solution must beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Best {
    /// None.
    None,
    /// The best value published.
    Optimum,
    /// That of a quick heuristic.
    Neh,
    /// That of good heuristics, which go on beside the search.
    Search,
    /// This one.
    Value(i64),
}

impl std::fmt::Display for Best {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Best::None => f.write_str("none"),
            Best::Optimum => f.write_str("optimum"),
            Best::Neh => f.write_str("neh"),
            Best::Search => f.write_str("search"),
            Best::Value(value) => write!(f, "{value}"),
        }
    }
}

impl Best {
    fn parse(word: &str) -> Result<Self, String> {
        match word {
            "none" => Ok(Best::None),
            "optimum" => Ok(Best::Optimum),
            "neh" => Ok(Best::Neh),
            "search" => Ok(Best::Search),
            _ => word.parse().map(Best::Value).map_err(|_| {
                format!("--best {word}: expected none, optimum, neh, search or a whole number")
            }),
        }
    }
}

/// What the flags say.
pub struct Options {
    /// For the run.
    pub settings: Settings,
    /// The value to beat, if one was named.
    pub best: Option<Best>,
    /// A solution to start from.
    pub start: Option<PathBuf>,
    /// The bound and the branching as named.
    pub bound: Option<String>,
    /// See `bound`.
    pub branching: Option<String>,
    /// Whether to count all optimal solutions.
    pub all: bool,
    /// Whether files have a line for each job.
    pub jobs_first: bool,
    /// How work is held.
    pub nodes: Nodes,
    /// Where to save the search.
    pub checkpoint: Option<PathBuf>,
    /// How often.
    pub every: Duration,
    /// Whether only to say what a saved search holds.
    pub show: bool,
    /// The words before the flags, to be saved.
    pub words: Vec<String>,
    /// Those of them that are files which the problem reads.
    pub inputs: Vec<String>,
    /// The flags to be saved.
    pub kept: Vec<String>,
    /// The saved search to go on with.
    pub going: Option<Going>,
    /// Where to draw the schedule.
    pub gantt: Option<PathBuf>,
    /// The balance as it was named.
    pub balance: String,
    /// Which code path.
    pub simd: Level,
    /// Where to write the activity.
    pub trace: Option<PathBuf>,
    /// Where to write the solution.
    pub solution: Option<PathBuf>,
    /// How many peers to simulate, as it was given.
    pub peers: Option<String>,
    /// Where to draw a chart of what was simulated.
    pub svg: Option<PathBuf>,
    /// Whether to print JSON.
    pub json: bool,
    /// Whether to show no progress.
    pub quiet: bool,
    /// The flags in force, for the report.
    pub record: Value,
}

impl Options {
    /// Refuses flags that only flowshop has.
    ///
    /// # Errors
    /// One line: which flag.
    pub fn without_flowshop(&self, problem: &str) -> Result<(), String> {
        let names = ["start", "bound", "branching", "all", "jobs-first", "gantt"];
        self.refuse(&names, &format!("{problem} has no such choice"))
    }

    /// Refuses those of these flags that were given.
    ///
    /// # Errors
    /// One line: the first such flag, and why.
    pub fn refuse(&self, names: &[&str], why: &str) -> Result<(), String> {
        let given = [
            ("best", self.best.is_some()),
            ("start", self.start.is_some()),
            ("bound", self.bound.is_some()),
            ("branching", self.branching.is_some()),
            ("all", self.all),
            ("jobs-first", self.jobs_first),
            ("nodes", self.nodes != Nodes::Pool),
            ("checkpoint", self.checkpoint.is_some()),
            ("show", self.show),
            ("gantt", self.gantt.is_some()),
            ("solution", self.solution.is_some()),
            ("trace", self.trace.is_some()),
            ("peers", self.peers.is_some()),
            ("svg", self.svg.is_some()),
        ];
        match given.iter().find(|(name, given)| *given && names.contains(name)) {
            Some((name, _)) => Err(format!("--{name}: {why}")),
            None => Ok(()),
        }
    }

    /// The value to beat of a problem without heuristics.
    ///
    /// # Errors
    /// If it is not none or a number.
    pub fn plain_best(&self) -> Result<Option<i64>, String> {
        match self.best {
            None | Some(Best::None) => Ok(None),
            Some(Best::Value(value)) => Ok(Some(value)),
            Some(_) => Err("--best: expected none or a whole number".into()),
        }
    }

    /// How to save the search, with a state for whoever goes on with it.
    pub fn save(&self, state: &Value) -> Option<Save> {
        self.checkpoint.as_ref().map(|path| {
            let inputs = self.inputs.iter().filter(|word| Path::new(word) != path);
            let inputs: Vec<String> = inputs.cloned().collect();
            let about = about(&self.words, &inputs, &self.kept, state);
            Save { path: path.clone(), every: self.every, about }
        })
    }

    /// Reads the flags.
    ///
    /// # Errors
    /// One line: which flag, which value, and what was expected.
    pub fn read(matches: &ArgMatches) -> Result<Self, String> {
        let word = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let Units { threads, devices } = Units::read(word("threads"), word("devices"))?;
        let balance = word("balance").unwrap_or("adaptive");
        let seed = word("seed").map_or(Ok(0), |word| whole("seed", word, 0, u64::MAX))?;
        let node_limit = match word("node-limit") {
            None | Some("none") => None,
            Some(word) => Some(whole("node-limit", word, 1, u64::MAX - 1)?),
        };
        let best = word("best").map(Best::parse).transpose()?;
        let slow: Vec<&str> = matches
            .get_many::<String>("slow")
            .map(|words| words.flat_map(|word| word.split(',')).collect())
            .unwrap_or_default();
        let simd = word("simd").unwrap_or("auto");
        let level = Level::parse(simd).map_err(|why| format!("--simd {why}"))?;
        let nodes = Nodes::parse(word("nodes").unwrap_or("pool"));
        let nodes = nodes.map_err(|why| format!("--nodes {why}"))?;
        let every = word("every").map_or(Ok(EVERY), |word| time("every", word))?;
        if word("every").is_some() && word("checkpoint").is_none() {
            return Err("--every: expected together with --checkpoint".into());
        }
        let passing = |flag: &String| {
            let name = flag.trim_start_matches("--").split('=').next().unwrap_or_default();
            PASSING.contains(&name)
        };
        let kept = given(matches).into_iter().filter(|flag| !passing(flag)).collect();
        let limit = word("time-limit").filter(|&word| word != "none");
        let settings = Settings {
            threads,
            make_room: word("threads").is_none(),
            slow: slow_factors(&slow, threads)?,
            devices: devices.specs,
            policy: Policy::parse(balance).map_err(|why| format!("--balance: {why}"))?,
            time_limit: limit.map(|word| time("time-limit", word)).transpose()?,
            node_limit,
            seed,
            trace: word("trace").is_some(),
            look_every: if word("trace").is_some() { LOOK_TRACED } else { LOOK },
            ..Settings::default()
        };
        let record = json!({
            "threads": threads,
            "devices": devices.words,
            "slow": slow,
            "balance": balance,
            "best": word("best"),
            "start": word("start"),
            "bound": word("bound"),
            "branching": word("branching"),
            "all": matches.get_flag("all"),
            "jobs_first": matches.get_flag("jobs-first"),
            "time_limit": word("time-limit"),
            "node_limit": node_limit.map(|nodes| whole_number(nodes.into())),
            "nodes": nodes.to_string(),
            "checkpoint": word("checkpoint"),
            "every": word("every").unwrap_or("30s"),
            "simd": level.to_string(),
            "seed": whole_number(seed.into()),
            "trace": word("trace"),
            "solution": word("solution"),
            "gantt": word("gantt"),
            "json": matches.get_flag("json"),
            "quiet": matches.get_flag("quiet"),
        });
        Ok(Self {
            settings,
            best,
            start: word("start").map(PathBuf::from),
            bound: word("bound").map(str::to_string),
            branching: word("branching").map(str::to_string),
            all: matches.get_flag("all"),
            jobs_first: matches.get_flag("jobs-first"),
            nodes,
            checkpoint: word("checkpoint").map(PathBuf::from),
            every,
            show: matches.get_flag("show"),
            words: Vec::new(),
            inputs: Vec::new(),
            kept,
            going: None,
            gantt: word("gantt").map(PathBuf::from),
            balance: balance.to_string(),
            simd: level,
            trace: word("trace").map(PathBuf::from),
            solution: word("solution").map(PathBuf::from),
            peers: word("peers").map(str::to_string),
            svg: word("svg").map(PathBuf::from),
            json: matches.get_flag("json"),
            quiet: matches.get_flag("quiet"),
            record,
        })
    }
}

/// Reads a whole number within limits.
pub fn whole(name: &str, word: &str, least: u64, most: u64) -> Result<u64, String> {
    let number = word.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("--{name} {word}: expected a whole number from {least} to {most}"))
}

/// Reads a time with its unit.
fn time(flag: &str, word: &str) -> Result<Duration, String> {
    let digits = word.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(word.len());
    let (number, unit) = word.split_at(digits);
    let scale = match unit {
        "ms" => Some(1e-3),
        "s" => Some(1.0),
        "m" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    };
    let seconds = number.parse::<f64>().ok().zip(scale).map(|(number, scale)| number * scale);
    let seconds = seconds.filter(|seconds| (0.001..=1e9).contains(seconds));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("--{flag} {word}: expected a time such as 500ms, 60s, 10m or 2h"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_unit() {
        assert_eq!(time("time-limit", "60s"), Ok(Duration::from_secs(60)));
        assert_eq!(time("time-limit", "1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(time("time-limit", "500ms"), Ok(Duration::from_millis(500)));
        for bad in ["", "60", "s", "-1s", "1e300h", "nans", "3 weeks"] {
            assert!(time("every", bad).is_err(), "{bad}");
        }
    }
}

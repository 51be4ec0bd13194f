//! The command: words, flags, progress, results and exit codes.

mod atsp;
mod devices;
mod flowshop;
mod instance;
mod numbers;
mod options;
mod progress;
mod resume;
mod rows;
mod sim;
mod units;

pub use rows::rows;

use crate::draw;
use crate::report::{Report, Status, trace};
use crate::solver::Solver;
use clap::{Arg, ArgMatches, Command};
use options::Options;
use pleach_core::problem::{Plain, Problem};
use pleach_core::tree::{Goal, TreeSource};
use pleach_run::{RunError, Settings, Stop};
use resume::Going;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Why a command ends without a result.
#[derive(Debug)]
pub enum Failure {
    /// Bad usage or bad input: what is wrong, where, and what was expected.
    Usage(String),
    /// Something inside went wrong.
    Inside(String),
}

impl From<RunError> for Failure {
    fn from(why: RunError) -> Self {
        Failure::Inside(why.to_string())
    }
}

/// The time limit of a search for which no time is left.
const SHORTEST: Duration = Duration::from_millis(1);

/// Bad usage with this explanation.
fn usage<T>(why: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Usage(why.into()))
}

const ABOUT: &str = "Exact search of irregular trees, shared out over all cores";

const EXAMPLES: &str = "\
Examples:
  pleach solve flowshop ta021
  pleach solve flowshop my.txt --time-limit 60s --gantt out.svg
  pleach count queens 16
  pleach count uts T1L
  pleach count uts type=binomial,b0=2000,q=0.2,m=5,seed=7 --threads 2 --json
  pleach solve atsp ftv33
  pleach solve queens 30
  pleach solve knapsack data/knapsack/correlated-60.txt
  pleach solve flowshop ta022 --checkpoint run.pleach
  pleach resume run.pleach
  pleach sim uts T1L --peers 1000
  pleach sim scenarios/scale.toml --svg scale.svg
  pleach devices

Exit codes: 0 finished and proven, 1 an error inside, 2 bad usage or bad input,
3 stopped by a limit or by Ctrl-C with what is known so far.";

/// The whole command of the `pleach` binary.
#[must_use]
pub fn pleach() -> ExitCode {
    finish(|| {
        let matches = parse(command())?;
        match matches.subcommand() {
            Some(("resume", sub)) => {
                let file = sub.get_one::<String>("file").map_or("", String::as_str);
                let (matches, going) = resume::read(command(), file, sub)?;
                start(&matches, Some(going))
            }
            _ => start(&matches, None),
        }
    })
}

/// Flags that only simulations have.
const SIM_ONLY: [&str; 2] = ["peers", "svg"];

/// Carries out what the words say, from the start or from where a saved search was.
fn start(matches: &ArgMatches, going: Option<Going>) -> Result<ExitCode, Failure> {
    let (verb, sub) = matches.subcommand().unwrap_or(("", matches));
    let mut options = read(sub)?;
    if going.is_none() {
        options.refuse(&["show"], "expected with resume FILE").map_err(Failure::Usage)?;
    }
    if verb != "sim" {
        options.refuse(&SIM_ONLY, "expected with sim").map_err(Failure::Usage)?;
    }
    options.going = going;
    let word = |name| sub.get_one::<String>(name).cloned();
    match verb {
        "devices" => devices::show(&options),
        "sim" => sim::run(sub, &options),
        "solve" | "count" | "check" => {
            let words = ["problem", "instance"].into_iter().filter_map(word);
            options.words = std::iter::once(verb.to_string()).chain(words).collect();
            options.inputs = instance::inputs(&options.words);
            instance::run(verb, sub, &options)
        }
        _ => usage("expected solve, count, check, sim, resume or devices"),
    }
}

/// The command line of the `pleach` binary.
fn command() -> Command {
    let problem = |name: &'static str, about: &'static str, help: &'static str| {
        Command::new(name)
            .about(about)
            .arg(Arg::new("problem").value_name("PROBLEM").required(true).help(help))
            .arg(Arg::new("instance").value_name("INSTANCE").required(true).help("which one"))
    };
    Command::new("pleach")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .after_help(EXAMPLES)
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .subcommand_required(true)
        .args(options::flags())
        .subcommand(problem(
            "count",
            "Count all there is: nodes of a tree, or solutions",
            "queens (INSTANCE: board size) or uts (INSTANCE: a tree's name or key=value,…)",
        ))
        .subcommand(problem(
            "solve",
            "Find a solution, the best one with proof",
            "flowshop or atsp (INSTANCE: a name or a file), queens (INSTANCE: board size) or \
             knapsack (INSTANCE: a file)",
        ))
        .subcommand(
            problem(
                "check",
                "Compute a solution's value again, from the instance alone",
                "flowshop or atsp (INSTANCE: a name or a file)",
            )
            .arg(Arg::new("file").value_name("FILE").required(true).help("the solution")),
        )
        .subcommand(
            Command::new("resume")
                .about("Go on with a search that --checkpoint saved")
                .arg(Arg::new("file").value_name("FILE").required(true).help("the saved search")),
        )
        .subcommand(
            Command::new("sim")
                .about("Simulate a run on a cluster of many peers")
                .arg(Arg::new("problem").value_name("SCENARIO").required(true).help(
                    "a scenario's file (TOML); or a problem: uts, queens, flowshop, knapsack, interval",
                ))
                .arg(Arg::new("instance").value_name("INSTANCE").help("of a problem: which one")),
        )
        .subcommand(
            Command::new("devices").about("Say what this machine offers, with measured rates"),
        )
}

/// A whole command for a problem of your own: the standard flags, progress, JSON and exit codes.
///
/// Takes a tree, or the result of reading one. Words that are no flags come from [`words`].
#[must_use]
pub fn main<S: TreeSource>(source: S) -> ExitCode {
    let full = std::any::type_name::<S::Tree>();
    let name = full.rsplit("::").next().unwrap_or(full).to_lowercase();
    finish(|| {
        let (words, matches, going) = own()?;
        let mut options = read(&matches)?;
        (options.inputs, options.words, options.going) = (words.clone(), words, going);
        let tree = source.into_tree().map_err(Failure::Usage)?;
        let instance = options.words.join(" ");
        if options.going.is_none() {
            options.refuse(&["show"], "expected with resume FILE").map_err(Failure::Usage)?;
        }
        options.without_flowshop(&name).map_err(Failure::Usage)?;
        options.refuse(&SIM_ONLY, "expected with pleach sim").map_err(Failure::Usage)?;
        conclude(Plain(tree), &name, &instance, &options)
    })
}

/// The words on the command line that are no flags: files and sizes of a problem of your own.
///
/// With `resume FILE` they are those of the saved search. Ends the process with a message if the
/// command line cannot be read.
#[must_use]
pub fn words() -> Vec<String> {
    match own() {
        Ok((words, ..)) => words,
        Err(why) => {
            finish(|| Err(why));
            std::process::exit(2)
        }
    }
}

/// The command line of a problem of your own: its words, its flags, and what it goes on from.
fn own() -> Result<(Vec<String>, ArgMatches, Option<Going>), Failure> {
    let command = || {
        let help = "input of the problem; or: resume FILE, to go on with a saved search";
        let words = Arg::new("words").value_name("WORDS").num_args(0..).help(help);
        Command::new("pleach").disable_help_flag(true).arg(words).args(options::flags())
    };
    let words = |matches: &ArgMatches| -> Vec<String> {
        matches.get_many("words").map(|all| all.cloned().collect()).unwrap_or_default()
    };
    let matches = parse(command())?;
    match &words(&matches)[..] {
        [verb, file] if verb == "resume" => {
            let (matches, going) = resume::read(command(), file, &matches)?;
            Ok((words(&matches), matches, Some(going)))
        }
        words => Ok((words.to_vec(), matches, None)),
    }
}

/// Parses the command line; prints help and ends where that is asked for.
fn parse(command: Command) -> Result<ArgMatches, Failure> {
    command.try_get_matches().or_else(|why| {
        if why.use_stderr() {
            usage(format!("{} (see --help)", one_line(&why)))
        } else {
            // Nothing is left to do if not even help can be printed.
            let _ = why.print();
            std::process::exit(0)
        }
    })
}

/// What is wrong with a command line. It may go on over some lines, up to an empty one.
fn one_line(why: &clap::Error) -> String {
    let text = why.to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ").trim_start_matches("error: ").to_string()
}

fn read(matches: &ArgMatches) -> Result<Options, Failure> {
    Options::read(matches).map_err(Failure::Usage)
}

/// Carries it out, prints what went wrong, and turns it into an exit code: a panic is an error inside.
fn finish(act: impl FnOnce() -> Result<ExitCode, Failure>) -> ExitCode {
    let result = catch_unwind(AssertUnwindSafe(act));
    let panicked = |_| Err(Failure::Inside("it panicked, as said above".into()));
    result.unwrap_or_else(panicked).unwrap_or_else(|why| match why {
        Failure::Usage(line) => {
            eprintln!("pleach: {line}");
            ExitCode::from(2)
        }
        Failure::Inside(line) => {
            eprintln!("pleach: {line}; please report this with the command line");
            ExitCode::from(1)
        }
    })
}

/// Searches, shows progress, writes what was asked for, and prints the result.
fn conclude<P: Problem>(
    problem: P,
    name: &str,
    instance: &str,
    options: &Options,
) -> Result<ExitCode, Failure> {
    let best = options.plain_best().map_err(Failure::Usage)?;
    if best.is_some() && !matches!(problem.goal(), Goal::Minimise | Goal::Maximise) {
        return usage("--best: this problem has no value to beat, expected none");
    }
    if problem.goal() == Goal::Count && options.solution.is_some() {
        return usage("--solution: what is counted has no solution to be written");
    }
    if let Some(going) = options.going.as_ref().filter(|_| options.show) {
        return resume::show(&problem, name, instance, going, options);
    }
    let files = Files::open(options)?;
    let settings = Settings {
        best,
        save: options.save(&Value::Null),
        resume: options.going.as_ref().map(|going| going.checkpoint.clone()),
        ..options.settings.clone()
    };
    let report = search(problem, settings, options)?;
    files.deliver(&report, name, instance, options, &options.record)
}

/// Searches and shows progress.
fn search(problem: impl Problem, settings: Settings, options: &Options) -> Result<Report, Failure> {
    let mut progress = progress::Progress::new(options);
    let solver = Solver::of(problem).settings(settings);
    let searched = solver.on_progress(|sight| progress.show(sight)).run();
    let moments = progress.moments();
    searched.map(|report| Report { moments, ..report }).map_err(|why| {
        match (&why, &options.going) {
            (RunError::NoUnit(why), _) => Failure::Usage(format!("--devices: {why}")),
            (RunError::Save { .. }, _) => Failure::Usage(format!("--checkpoint {why}")),
            (RunError::Late(_), _) => Failure::Usage(format!("--balance {why}")),
            (RunError::Resume(_), Some(going)) => {
                Failure::Usage(format!("{} cannot be gone on with: {why}", going.file))
            }
            _ => why.into(),
        }
    })
}

/// The files that were asked for. They are opened first, so that a path that cannot be written
/// costs no search.
struct Files {
    trace: Option<File>,
    solution: Option<File>,
}

impl Files {
    fn open(options: &Options) -> Result<Self, Failure> {
        if options.trace.is_some() && options.trace == options.solution {
            return usage("--solution: expected another file than --trace");
        }
        Ok(Self {
            trace: options.trace.as_deref().map(|path| create("trace", path)).transpose()?,
            solution: options
                .solution
                .as_deref()
                .map(|path| create("solution", path))
                .transpose()?,
        })
    }

    /// Prints the result and writes the files.
    fn deliver(
        self,
        report: &Report,
        name: &str,
        instance: &str,
        options: &Options,
        record: &Value,
    ) -> Result<ExitCode, Failure> {
        let text = if options.json {
            report.json(name, instance, &options.balance, record).to_string()
        } else {
            let mut text = report.words(name, instance);
            let saved = options.checkpoint.as_ref().filter(|path| path.exists());
            if let (Status::Stopped, Some(path)) = (report.status, saved) {
                text += &format!("\nto go on: pleach resume {}", path.display());
            }
            text
        };
        // The result comes first: a file that cannot be written must not lose it.
        print(&text)?;
        if let Some(file) = self.trace {
            let drawn =
                options.trace.as_ref().is_some_and(|path| path.extension() == Some("svg".as_ref()));
            let picture = || draw::over_time::draw(&format!("{name} {instance}"), report);
            write(file, &if drawn { picture() } else { trace::data(report).to_string() })?;
        }
        if let (Some(file), Some(plan)) = (self.solution, &report.solution) {
            let numbers: Vec<String> = plan.iter().map(ToString::to_string).collect();
            write(file, &numbers.join(" "))?;
        }
        Ok(exit_code(report))
    }
}

fn exit_code(report: &Report) -> ExitCode {
    if report.status != Status::Stopped {
        return ExitCode::SUCCESS;
    }
    if report.outcome.stop == Some(Stop::Memory) {
        eprintln!("pleach: too many open nodes: the tree may have no end");
    }
    ExitCode::from(3)
}

/// Opens a file to be written later; what it holds stays until then.
fn create(flag: &str, path: &Path) -> Result<File, Failure> {
    let file = File::options().write(true).create(true).truncate(false).open(path);
    file.or_else(|why| usage(format!("--{flag} {}: {why}", path.display())))
}

fn write(mut file: File, text: &str) -> Result<(), Failure> {
    // What is no ordinary file, a terminal say, has no length to set.
    let _ = file.set_len(0);
    writeln!(file, "{text}").map_err(|why| Failure::Inside(format!("writing a file: {why}")))
}

/// Prints a line; a reader that has gone away is no fault of ours.
fn print(text: &str) -> Result<(), Failure> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(why) if why.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::Inside(format!("writing to standard output: {why}")))
        }
        _ => Ok(()),
    }
}

/// The rate of a problem on one thread within a short time, nodes a second.
fn measured_rate(problem: impl Problem) -> Result<f64, Failure> {
    measured_rate_with(problem, Settings { threads: 1, ..Settings::default() })
}

/// The rate of a problem on some units within a short time, nodes a second.
fn measured_rate_with(problem: impl Problem, settings: Settings) -> Result<f64, Failure> {
    let settings = Settings { time_limit: Some(Duration::from_millis(200)), ..settings };
    let report = Solver::of(problem).settings(settings).run()?;
    Ok(report.outcome.counts.bounded as f64 / report.outcome.seconds)
}

/// A JSON object of the machine's parts, for `devices --json`.
fn machine(cores: u32, levels: &[String], rates: &[(String, f64)]) -> serde_json::Value {
    let rates: serde_json::Map<String, serde_json::Value> =
        rates.iter().map(|(name, rate)| (name.clone(), json!(rate.round()))).collect();
    json!({ "cpu": { "cores": cores, "simd": levels, "nodes_per_second_and_thread": rates } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_inside() {
        assert_eq!(finish(|| panic!("in a tree of the user's")), ExitCode::from(1));
        assert_eq!(finish(|| usage("wrong")), ExitCode::from(2));
        assert_eq!(finish(|| Ok(ExitCode::SUCCESS)), ExitCode::SUCCESS);
    }
}

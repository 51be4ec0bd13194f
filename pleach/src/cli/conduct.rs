//! Runs a search for the command line: checks its files, shows progress, prints and writes the result.

use super::console::{Console, DONE, STOPPED};
use super::dashboard::Dashboard;
use super::files::{Output, about_solution, keep_apart};
use super::flags::{FlagValues, TIME_LIMIT};
use super::log::Log;
use super::metrics::Metrics;
use super::progress::{Progress, Shown};
use super::resume::{holds, origin, origin_again};
use super::show::{quoted, show};
use super::stopping::{InterruptiblePhase, interrupts, requests_to_save};
use crate::campaign::Inspection;
use crate::draw;
use crate::failure::Failure;
use crate::provenance::stamped;
use crate::registry::{Done, Ended, Mode, Start};
use crate::report::repeats::Repeats;
use crate::report::{Labels, Report, Status, trace};
use crate::results::RunData;
use pleach_cluster::mpi;
use pleach_runtime::Stop;
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

/// A search that the command line names.
pub struct Job<'a, 'o> {
    /// Where to print.
    pub console: &'a Console<'o>,
    /// The problem's name, and the words for the instance.
    pub name: &'a str,
    pub instance: &'a str,
    /// The words to save.
    pub words: &'a [String],
    /// Those words that name files for the problem to read.
    pub inputs: Vec<String>,
    /// The flags.
    pub given: &'a mut FlagValues,
    /// The time it took to read the instance.
    pub spent: Duration,
}

/// The phase in which an instance is read: it counts towards the time limit, and nothing is lost by a stop.
pub struct Reading {
    began: Instant,
    _phase: InterruptiblePhase,
}

impl Reading {
    /// For an instance to search.
    pub fn of(
        console: &Console<'_>,
        search: (&str, &str),
        given: &FlagValues,
    ) -> Result<Self, Failure> {
        let limit = given.get(&TIME_LIMIT)?.flatten();
        let began = Instant::now();
        Ok(Self { began, _phase: prepares(console, search, given, limit) })
    }

    /// For a solution to check.
    pub fn to_check(
        console: &Console<'_>,
        (name, instance): (&str, &str),
        given: &FlagValues,
    ) -> Self {
        let (mute, json) = (console.is_mute(), given.on("json"));
        let data =
            json!({ "instance": instance, "status": "stopped", "valid": null, "objective": null });
        let words = format!("{name} {instance}: stopped before the solution was checked");
        let phase = InterruptiblePhase::until(None, move |_| {
            (
                if mute {
                    String::new()
                } else if json {
                    stamped(data)
                } else {
                    words
                },
                STOPPED,
            )
        });
        Self { began: Instant::now(), _phase: phase }
    }

    /// Ends the phase; returns the time it took.
    pub fn over(self) -> Duration {
        self.began.elapsed()
    }
}

/// A phase in which a stop of `what` prints only that it was stopped.
pub fn last_words(console: &Console<'_>, what: &str, given: &FlagValues) -> InterruptiblePhase {
    let text = if console.is_mute() {
        String::new()
    } else if given.on("json") {
        stamped(json!({ "status": "stopped" }))
    } else {
        format!("{what}: stopped")
    };
    InterruptiblePhase::until(None, move |_| (text, STOPPED))
}

/// A phase in which a stop of a search being prepared prints only that it was stopped.
fn prepares(
    console: &Console<'_>,
    (name, instance): (&str, &str),
    given: &FlagValues,
    limit: Option<Duration>,
) -> InterruptiblePhase {
    let (name, instance) = (name.to_string(), instance.to_string());
    let preset = given.word("balance").unwrap_or("adaptive").to_string();
    let record = given.on("json").then(|| given.record());
    let (mute, began) = (console.is_mute(), Instant::now());
    InterruptiblePhase::until(limit.map(|limit| began + limit), move |why| {
        let report = Report::unbegun(why, began.elapsed().as_secs_f64());
        let text = match record {
            _ if mute => String::new(),
            Some(record) => report.json(&name, &instance, &preset, &record).to_string(),
            None => report.text(&name, &instance),
        };
        (text, STOPPED)
    })
}

impl Job<'_, '_> {
    /// Runs the search once for each start; prints and writes the result of the last run.
    pub fn run_searches(self, starts: Vec<Start<'_>>) -> Result<u8, Failure> {
        let Job { console, name, instance, words, inputs, given, mut spent } = self;
        if given.on("show") {
            let search = given.search()?;
            let start = starts.into_iter().next().ok_or_else(ran)?;
            let Start { labels, search: inspect } = start;
            let Ended::Inspection(seen) = inspect(search, Mode::Inspect)? else {
                return Err(ran());
            };
            return match *seen {
                Inspection::Contents(contents) => {
                    show(console, (name, instance), given, (&contents, &labels))
                }
                Inspection::Part(_) | Inspection::Audit(_) => Err(ran()),
            };
        }
        keep_apart(given, &inputs)?;
        console.keep_log(Log::open(given)?);
        let [trace, certificate] = ["trace", "certificate"].map(|flag| Output::of(flag, given));
        let files = Files {
            trace: trace?,
            certificate: certificate?,
            about_solution: about_solution(given)?,
        };
        let known = save(&console.program, words, &inputs, given)?;
        let resumes = known.is_some() || given.saving.from.is_some();
        let (mut last, mut repeats, mut answered) = (None, Repeats::default(), 0);
        let mut labels = Labels::default();
        let (runs, cancel, requests) = (starts.len() as u64, interrupts(), requests_to_save());
        let mut board = Dashboard::open(console, given.on("dashboard"), &[name, instance], &cancel);
        for (run, start) in (1..).zip(starts) {
            if let Some(board) = &mut board {
                board.begin(run, runs);
            }
            let shown = Shown::new(given.on("quiet"), board.as_mut());
            let saved = given.word("checkpoint");
            let mut progress =
                Progress::new(console, shown).answering((requests.clone(), answered), saved);
            progress.metrics = Metrics::open(given)?;
            progress.updates = given.on("updates");
            labels = start.labels;
            progress.decimals = labels.decimals;
            let mut search = given.search()?;
            let settings = &mut search.settings;
            settings.save_now = requests.from_now();
            let spent = std::mem::take(&mut spent);
            settings.time_limit = settings.time_limit.map(|limit| limit.saturating_sub(spent));
            // At its time limit, a resumed search reports what the file holds, once it is prepared.
            let limit = settings.time_limit.filter(|_| !resumes);
            let phase = prepares(console, (name, instance), given, limit);
            search.begins = Some(Box::new(move || drop(phase)));
            search.settings.cancel = cancel.clone();
            search.progress = Some(Box::new(|snapshot| progress.show(snapshot)));
            if let Some(path) = known.as_ref().filter(|_| !given.on("quiet")) {
                search.resumed = Some(Box::new(move || {
                    console.note(&format!("resuming the search in {path}"));
                }));
            }
            let Ended::Done(done) = (start.search)(search, Mode::Run)? else {
                return Err(Failure::Inside("a search was inspected instead of run".into()));
            };
            drop(progress);
            answered = requests.count();
            if cancel.is_cancelled() {
                last = Some(*done);
                break;
            }
            let outcome = &done.report.outcome;
            repeats
                .add(outcome.seconds, outcome.counts.bounded.max(outcome.counts.branched) as f64);
            last = Some(*done);
        }
        drop(board);
        let done = last.ok_or_else(|| Failure::Inside("no search was run".into()))?;
        write_result(console, (name, instance), given, files, (done, &repeats, &labels))
    }
}

fn ran() -> Failure {
    Failure::Inside("inspecting a saved search ran it".into())
}

/// Records how the search is saved; returns the file that seems to hold it already.
fn save(
    program: &str,
    words: &[String],
    inputs: &[String],
    given: &mut FlagValues,
) -> Result<Option<String>, Failure> {
    let Some(path) = given.word("checkpoint").map(str::to_string) else {
        if given.cluster.is_some() || given.has("certificate") {
            given.saving.origin = origin(program, words, inputs, given);
        }
        return Ok(None);
    };
    let inputs: Vec<String> = inputs.iter().filter(|word| **word != path).cloned().collect();
    if given.saving.from.is_some() {
        given.saving.origin = origin_again(given);
        return Ok(None);
    }
    given.saving.origin = origin(program, words, &inputs, given);
    Ok(holds(Path::new(&path), &given.saving.origin)?.then_some(path))
}

/// The requested output files.
struct Files {
    trace: Option<Output>,
    certificate: Option<Output>,
    about_solution: Vec<(&'static str, Output)>,
}

/// Prints the result and writes the files.
fn write_result(
    console: &Console<'_>,
    (name, instance): (&str, &str),
    given: &FlagValues,
    files: Files,
    (done, repeats, labels): (Done, &Repeats, &Labels),
) -> Result<u8, Failure> {
    let Done { report, settings, files: mut written } = done;
    let text = if given.on("json") {
        let mut record = given.record();
        settings.into_iter().for_each(|(key, value)| record[key] = value);
        labels.note_decimals(&mut record);
        let preset = given.word("balance").unwrap_or("adaptive");
        let data = report.data((name, instance), preset, &record);
        let names = report.solution.as_ref().and_then(|solution| labels.names_of(solution));
        RunData { repeats: repeats.data(), names, ..data }.json().to_string()
    } else {
        let mut text = report.labelled((name, instance), labels);
        if repeats.runs() > 1 {
            text += &format!("\n{}", repeats);
        }
        let saved = given.word("checkpoint").filter(|path| Path::new(path).exists());
        if let (Status::Stopped, Some(path)) = (report.status, saved) {
            text += &format!("\nto resume: {} resume {}", console.program, quoted(path));
        }
        text
    };
    // A file that cannot be written loses neither the result nor the other files.
    let mut written_all = console.print(&text);
    if let Some(file) = files.trace {
        let title = format!("{name} {instance}");
        let picture = || draw::over_time::draw(&title, &report, labels.decimals);
        let text =
            if file.ends_with("svg") { picture() } else { json!(trace::data(&report)).to_string() };
        written_all = written_all.and(file.write(&text));
    }
    let solution = report.solution.as_ref();
    written.extend(solution.map(|solution| ("solution", labels.file(solution))));
    for (flag, file) in files.about_solution {
        if let Some((_, text)) = written.iter().find(|(of, _)| *of == flag) {
            written_all = written_all.and(file.write(text));
            continue;
        }
        let name = file.leave();
        if !given.on("quiet") && !given.on("json") {
            console.note(&format!("there is no solution, so {name} is not written"));
        }
    }
    match (files.certificate, &report.certificate) {
        (Some(file), Some(certificate)) => {
            written_all = written_all.and(file.write_bytes(&certificate.to_bytes()));
        }
        (Some(file), None) if !given.on("quiet") && !given.on("json") => {
            let name = file.leave();
            console.note(&format!("there is no complete proof, so {name} is not written"));
        }
        _ => {}
    }
    written_all?;
    if report.status != Status::Stopped {
        return Ok(DONE);
    }
    if report.outcome.stop == Some(Stop::Memory) {
        let shared = mpi::processes_here().filter(|&n| n > 1);
        let shared = shared.map_or_else(String::new, |n| format!(" for {n} processes together"));
        let default = || format!("the default, four fifths of free memory{shared}");
        let most = given.word("memory").map_or_else(default, |size| format!("--memory {size}"));
        console.note(&format!(
            "the process has grown by more than the memory limit allows ({most}): raise --memory, or set a limit if the tree may be infinite"
        ));
    }
    Ok(STOPPED)
}

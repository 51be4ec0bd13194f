//! The command: words, flags, progress, results and exit codes.

mod audit;
mod batch;
mod checking;
mod company;
mod completing;
mod conduct;
pub(crate) mod console;
mod dashboard;
mod devices;
mod files;
pub(crate) mod flags;
mod follow;
mod help;
mod instances;
mod join;
mod keys;
mod line;
mod line_file;
mod list;
mod log;
mod looping;
mod man;
mod metrics;
mod order_text;
mod own;
mod own_line;
mod own_process;
pub(crate) mod progress;
pub(crate) mod read;
mod reporting;
mod reproduce;
mod resume;
mod service;
mod show;
pub(crate) mod sim;
mod stopping;
mod succession;
#[cfg(test)]
mod tests;

pub use own::main;
pub use own_line::words;
pub use read::{rows, text};

use crate::failure::{Failure, usage};
use crate::provenance::stamped;
use crate::registry::{Act, Checked, ENTRIES, Entry, Request, entry, names};
use crate::results::JsonInteger;
use conduct::{Job, Reading};
use console::{Console, DONE};
use files::{about_solution, keep_apart};
use flags::{Kind, SHARED, Verb};
use follow::{Known, follow};
use join::AfterJoin;
use line::{Line, no_more};
use pleach_gpu::ending::end;
use serde_json::json;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// The whole command of the `pleach` binary.
#[must_use]
pub fn pleach() -> ExitCode {
    end(whole(std::env::args_os().skip(1)))
}

/// The same command in a process that is an interpreter. It starts the command again, where necessary, as `program`.
/// Returns the exit code; the process should then end.
#[must_use]
pub fn embedded(program: PathBuf, args: Vec<OsString>) -> u8 {
    own_process::set_path(program);
    let code = whole(args);
    // Nothing else does that at the end of an interpreter. The result has been printed, so there is nothing to lose.
    let _ = std::io::stdout().flush();
    let _ = end(code);
    code
}

fn whole(args: impl IntoIterator<Item = OsString>) -> u8 {
    stopping::listen();
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    let console = Console::new(order_text::PLEACH, false, &mut out, &mut err);
    company::only_one_speaks(&console);
    run(&ENTRIES, &console, args)
}

/// Runs a command line on the problems of a registry.
pub(crate) fn run(
    registry: &[Entry],
    console: &Console<'_>,
    args: impl IntoIterator<Item = OsString>,
) -> u8 {
    console.finish(|| {
        let args: Vec<OsString> = args.into_iter().collect();
        let mut line = line::parse(args.iter().cloned())?;
        let [helps, shows_version] = ["help", "version"]
            .map(|name| line.given.on(name) || line.words.first().is_some_and(|it| it == name));
        if line.words.first().is_some_and(|word| word == "help") {
            line.words.remove(0);
        }
        if line.words.first().is_some_and(|it| it == "completions")
            && line.words.get(1).is_some_and(|it| it == completing::WORDS)
        {
            return completing::offer(registry, console, &line.words[2..]);
        }
        let shared = line.verb().is_some_and(|verb| SHARED.contains(&verb));
        if console.is_mute() && (!shared || helps || shows_version) {
            // Commands that processes do not share are run by the first process of a job only.
            return Ok(DONE);
        }
        if shows_version {
            return console.print(concat!("pleach ", env!("CARGO_PKG_VERSION"))).map(|()| DONE);
        }
        if helps {
            let help = help::fitted(&help::help(registry, &line.words)?);
            return console.print(&help).map(|()| DONE);
        }
        if line.words.first().is_some_and(|word| word != "submit") {
            stopping::stop_at_eof(&line)?;
        }
        let words: Vec<&str> = line.words.iter().map(String::as_str).collect();
        match words[..] {
            ["loop", ..] => {
                looping::check(&line)?;
                company::run_together(
                    console,
                    line,
                    |line| looping::run(console, &line),
                    |cluster, line| follow(Known::Registry(registry), console, cluster, line),
                )
            }
            ["audit", ..] => audit::run(registry, console, &line),
            ["batch", ..] => batch::run(registry, console, &line),
            ["instances", ..] => instances::run(registry, console, &line),
            ["completions", ..] => completing::run(console, &line),
            ["man", ..] => man::run(registry, console, &line),
            ["reproduce", ..] => reproduce::run(registry, console, &line),
            ["report", ..] => reporting::run(registry, console, &line),
            ["submit", ..] => service::submit(registry, console, &line, &args),
            ["serve", ..] => service::serve(console, &line),
            [
                "jobs" | "watch" | "result" | "pause" | "continue" | "priority" | "cancel" | "user",
                ..,
            ] => service::run(console, &line),
            ["join", at] => {
                match join::join(Known::Registry(registry), console, at, &line.given)? {
                    AfterJoin::Ends(code) => Ok(code),
                    AfterJoin::Leads(line) => company::run_together(
                        console,
                        *line,
                        |line| run_command(registry, console, line),
                        |cluster, line| follow(Known::Registry(registry), console, cluster, line),
                    ),
                }
            }
            ["join", ..] => usage("join: expected HOST:PORT, on which another process listens"),
            ["solve" | "count" | "resume", ..] => company::run_together(
                console,
                line,
                |line| search(registry, console, line),
                |cluster, line| follow(Known::Registry(registry), console, cluster, line),
            ),
            _ => run_command(registry, console, line),
        }
    })
}

/// Searches, or resumes a search.
fn search(registry: &[Entry], console: &Console<'_>, line: Line) -> Result<u8, Failure> {
    let words: Vec<&str> = line.words.iter().map(String::as_str).collect();
    match words[..] {
        ["resume", file] => {
            let cluster = line.given.cluster.clone();
            let reading = conduct::last_words(console, &format!("resume {file}"), &line.given);
            let mut saved = resume::read(file, &line.given, (&console.program, console.own))?;
            drop(reading);
            if let Some(pace) = saved
                .given
                .word("pace")
                .filter(|_| !line.given.has("pace") && !line.given.on("quiet"))
            {
                console.note(&format!("the search keeps its --pace {pace}"));
            }
            saved.given.cluster = cluster;
            run_command(registry, console, saved)
        }
        ["resume", ..] => usage("resume: expected FILE, a file that --checkpoint wrote"),
        _ => run_command(registry, console, line),
    }
}

/// Carries out a command.
fn run_command(registry: &[Entry], console: &Console<'_>, line: Line) -> Result<u8, Failure> {
    match line.verb() {
        Some(verb @ (Verb::Solve | Verb::Count | Verb::Check)) => {
            of_problem(registry, console, verb, line)
        }
        Some(Verb::Sim) => sim::run(registry, console, &line),
        Some(verb @ Verb::Devices) => {
            line.given.check_alone(verb, &[])?;
            let _phase = conduct::last_words(console, "devices", &line.given);
            if line.given.has("check") {
                return checking::check(registry, console, &line.given, &line.words[1..]);
            }
            for flag in ["time-limit", "quick"] {
                if line.given.has(flag) {
                    return usage(format!("--{flag} has no effect without --check"));
                }
            }
            no_more(&line.words, 1)?;
            devices::show(registry, console, &line.given)
        }
        _ => {
            let said = line.words.first().map_or(String::new(), |word| format!("'{word}': "));
            usage(format!(
                "{said}expected a command: solve, count, check, loop, sim, resume, join, devices, instances, audit, batch, reproduce, report, serve, submit, jobs, watch, result, pause, continue, priority, cancel, user, completions or man (see --help)"
            ))
        }
    }
}

/// Solves, counts or checks.
fn of_problem(
    registry: &[Entry],
    console: &Console<'_>,
    verb: Verb,
    mut line: Line,
) -> Result<u8, Failure> {
    let word = verb.word();
    let able = names(registry, |entry| entry.task(verb).is_some());
    let Some(problem) = line.words.get(1) else {
        return usage(format!("{word}: a problem is required: expected {able}"));
    };
    let found = entry(registry, problem).and_then(|entry| Some((entry, entry.task(verb)?)));
    let Some((entry, task)) = found else {
        return usage(format!("{word} {problem}: expected {able}"));
    };
    let kind = Kind { verb, problem: entry.name, named: task.flags };
    line.given.check(kind)?;
    let Some(instance) = line.words.get(2).cloned() else {
        return usage(format!("{word} {problem}: an instance is required: {}", entry.instance));
    };
    if verb == Verb::Check {
        no_more(&line.words, 4)?;
    }
    if let (Act::Search(read), [_, _, all @ ..]) = (task.act, &line.words[..])
        && all.len() > 1
    {
        return list::search_all(console, entry, read, all, &mut line.given);
    }
    let resumed = line.given.saving.from.is_some();
    let note = list::notes_once(console);
    let reading = match task.act {
        Act::Search(_) => Reading::of(console, (entry.name, &instance), &line.given)?,
        Act::Check(_) => Reading::to_check(console, (entry.name, &instance), &line.given),
    };
    let follows = line.given.saving.copied;
    let request =
        Request { instance: &instance, given: &line.given, resumed, follows, note: &note };
    let searches = match task.act {
        Act::Search(search) => list::repeated(&line.given, || search(&request))?,
        Act::Check(check) => {
            let Some(file) = line.words.get(3) else {
                return usage(format!("check {problem} {instance}: a solution FILE is required"));
            };
            let given = &line.given;
            let inputs = (entry.is_file)(&instance).then_some(&instance).into_iter();
            keep_apart(given, &inputs.chain([file]).cloned().collect::<Vec<_>>())?;
            let outputs = about_solution(given)?;
            let Checked { phrase, value, labels, files } = check(&request, file)?;
            let mut data =
                json!({ "instance": instance, "valid": true, "objective": JsonInteger(value) });
            labels.note_decimals(&mut data);
            let text = if line.given.on("json") {
                stamped(data)
            } else {
                format!("{} {instance}: {phrase} {}", entry.name, labels.value(value))
            };
            reading.over();
            console.print(&text)?;
            let mut written = Ok(());
            for (flag, file) in outputs {
                let text = files.iter().find(|(of, _)| *of == flag);
                written = written.and(text.map_or(Ok(()), |(_, text)| file.write(text)));
            }
            return written.map(|()| DONE);
        }
    };
    let inputs = (entry.is_file)(&instance).then(|| instance.clone()).into_iter().collect();
    let spent = reading.over();
    let Line { words, given } = &mut line;
    Job { console, name: entry.name, instance: &instance, words, inputs, given, spent }
        .run_searches(searches)
}

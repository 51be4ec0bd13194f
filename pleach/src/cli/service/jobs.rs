//! `pleach jobs`, `watch`, `result`, `pause`, `continue`, `priority` and `cancel`: jobs of a service, seen and
//! controlled by its users.

use super::super::console::{Console, DONE, FAILED, STOPPED};
use super::super::files::replace;
use super::super::flags::{Verb, priority as parse_priority};
use super::super::line::{Line, no_more};
use super::super::progress::so_far;
use super::super::stopping::interrupts;
use super::request::{client, escaped, failed, number, read};
use crate::decimal::written;
use crate::failure::{Failure, usage};
use crate::provenance::stamped;
use crate::report::columns::aligned;
use crate::report::{counted, estimate, grouped};
use pleach_serve::api::{JobState, JobView};
use pleach_serve::client::Client;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;

/// Lists jobs, or shows one.
pub fn list(console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    line.given.check_alone(Verb::Jobs, &[])?;
    no_more(&line.words, 2)?;
    let mut client = client(&line.given)?;
    if let Some(word) = line.words.get(1) {
        let id = number(Verb::Jobs, word)?;
        let path = format!("/v1/jobs/{id}");
        if line.given.on("json") {
            let job: Value = client.get(&path).map_err(failed)?;
            return console.print(&stamped(job)).map(|()| DONE);
        }
        let job: JobView = client.get(&path).map_err(failed)?;
        return console.print(&described(&job)).map(|()| DONE);
    }
    let jobs: Value = client.get("/v1/jobs").map_err(failed)?;
    if line.given.on("json") {
        return console.print(&stamped(jobs)).map(|()| DONE);
    }
    #[derive(Deserialize)]
    struct Jobs {
        jobs: Vec<JobView>,
    }
    let Jobs { jobs } = read(jobs)?;
    if jobs.is_empty() {
        return console.print("no jobs").map(|()| DONE);
    }
    let head = ["job", "user", "state", "threads", "best", "bound", "nodes", "command"];
    let rows = jobs.iter().map(|job| {
        let search = job.search.clone().unwrap_or_default();
        let value = |value: Option<i64>| {
            value.map_or(String::new(), |value| written(value, search.decimals))
        };
        vec![
            job.id.to_string(),
            job.user.clone(),
            job.state.word().to_string(),
            job.workers.to_string(),
            value(search.best),
            value(search.bound),
            if search.nodes > 0 { grouped(search.nodes.into()) } else { String::new() },
            job.args.join(" "),
        ]
    });
    let rows: Vec<Vec<String>> =
        std::iter::once(head.map(String::from).to_vec()).chain(rows).collect();
    console.print(&aligned(&rows)).map(|()| DONE)
}

/// A job in some lines.
fn described(job: &JobView) -> String {
    let mut text = format!("job {} of {}: {}", job.id, job.user, job.state.word());
    let mut add = |line: String| text += &format!("\n  {line}");
    if !job.args.is_empty() {
        add(job.args.join(" "));
    }
    if !job.state.is_over() {
        let joiners = match job.joiners {
            0 => String::new(),
            n => format!(" ({})", counted(n, "joiner")),
        };
        add(format!("{}{joiners}: {}", counted(job.workers, "thread"), job.why));
        if let Some(seconds) = job.more_in_s {
            add(format!("more threads are expected in about {}", minutes(seconds)));
        }
    }
    if job.search.is_some() {
        add(progress(job));
    }
    if job.priority != 0 {
        add(format!("priority {}", job.priority));
    }
    add(format!("{} thread-seconds", grouped(job.worker_s as u128)));
    match job.crashes {
        0 => {}
        1 => add("a joiner crashed".into()),
        times => add(format!("joiners crashed {times} times")),
    }
    if let Some(error) = &job.error {
        add(error.clone());
    }
    if let Some(warning) = job.search.as_ref().and_then(|search| search.warning.as_ref()) {
        add(format!("warning: {warning}"));
    }
    text
}

fn minutes(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// The state of a job's search on a line.
fn progress(job: &JobView) -> String {
    let Some(search) = &job.search else { return String::new() };
    let mut text = so_far(search.seconds, (search.best, search.bound), search.decimals);
    if search.workers > 0 {
        text += &format!("  {} of {} workers busy", search.busy, search.workers);
    }
    if let Some(done) = search.done {
        text += &format!("  estimated {} done", estimate(done));
    }
    text + &format!("  {} nodes", grouped(search.nodes.into()))
}

/// Follows a job until it is over.
pub fn watch(console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    line.given.check_alone(Verb::Watch, &[])?;
    no_more(&line.words, 2)?;
    let Some(word) = line.words.get(1) else { return usage("watch: expected the number of a job") };
    let id = number(Verb::Watch, word)?;
    let mut client = client(&line.given)?;
    let as_json = line.given.on("json");
    let (mut before, mut printed, cancel) = (String::new(), Ok(true), interrupts());
    let last = client.watch(id, |job| {
        let shown = match job {
            None => return !cancel.is_cancelled(),
            // Not stamped yet: a new date is no change.
            Some(job) if as_json => json!(job).to_string(),
            Some(job) => {
                let threads = counted(job.workers, "thread");
                format!("{}, {threads}  {}", job.state.word(), progress(job))
            }
        };
        if shown != before {
            let stamp = job.filter(|_| as_json).map(|job| stamped(json!(job)));
            printed = console.print_line(stamp.as_ref().unwrap_or(&shown));
            before = shown;
        }
        matches!(printed, Ok(true)) && !cancel.is_cancelled()
    });
    let last = last.map_err(failed)?;
    if !printed? {
        return Ok(STOPPED);
    }
    if let Some(job) = last.as_ref().filter(|job| !as_json && job.state == JobState::Failed) {
        say_end(console, job);
    }
    Ok(last.as_ref().map_or(STOPPED, code_of))
}

/// Says how a job without a result ended, and why.
fn say_end(console: &Console<'_>, job: &JobView) {
    let why = job.error.as_ref().map_or(String::new(), |why| format!(": {why}"));
    let is = if job.state == JobState::Cancelled { "is " } else { "" };
    console.note(&format!("job {} {is}{}{why}", job.id, job.state.word()));
}

/// The exit code for the end of a job.
fn code_of(job: &JobView) -> u8 {
    match (job.state, job.exit) {
        (JobState::Done, Some(code)) => code as u8,
        (JobState::Cancelled, _) => STOPPED,
        (JobState::Failed, Some(2)) => 2,
        (JobState::Failed, _) => FAILED,
        _ => DONE,
    }
}

/// Waits for the end of a job, and prints its result.
pub fn wait(console: &Console<'_>, client: &mut Client, id: u64) -> Result<u8, Failure> {
    let cancel = interrupts();
    let watched = client.watch(id, |_| !cancel.is_cancelled()).map_err(failed)?;
    let Some(job) = watched else {
        console.note(&format!("job {id} continues; to follow it: {} watch {id}", console.program));
        return Ok(STOPPED);
    };
    match job.state {
        JobState::Done => {
            print_result(console, client, id)?;
            Ok(code_of(&job))
        }
        _ => {
            say_end(console, &job);
            Ok(code_of(&job))
        }
    }
}

fn print_result(console: &Console<'_>, client: &mut Client, id: u64) -> Result<(), Failure> {
    let result = client.result(id).map_err(failed)?;
    console.print(String::from_utf8_lossy(&result).trim_end())
}

/// Prints the result of a job.
pub fn result(console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    line.given.check_alone(Verb::Result, &[])?;
    no_more(&line.words, 2)?;
    let Some(word) = line.words.get(1) else {
        return usage("result: expected the number of a job");
    };
    let id = number(Verb::Result, word)?;
    let mut client = client(&line.given)?;
    if let Some(folder) = line.given.word("fetch") {
        fetch(&mut client, id, Path::new(folder))?;
    }
    print_result(console, &mut client, id).map(|()| DONE)
}

/// Writes the files of a job to a folder.
fn fetch(client: &mut Client, id: u64, folder: &Path) -> Result<(), Failure> {
    #[derive(Deserialize)]
    struct Files {
        files: Vec<String>,
    }
    let Files { files } = client.get(&format!("/v1/jobs/{id}/files")).map_err(failed)?;
    std::fs::create_dir_all(folder)
        .or_else(|why| usage(format!("--fetch {}: {why}", folder.display())))?;
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        let fails = |why| Failure::Machine(format!("cannot write {}: {why}", path.display()));
        replace(&path, bytes).map_err(fails)
    };
    for name in files {
        // The service is trusted with searches, not with this machine.
        if Path::new(&name).file_name() != Some(name.as_ref()) {
            return Err(Failure::Machine(format!(
                "the service sent a file named '{name}': expected a name without folders"
            )));
        }
        let path = format!("/v1/jobs/{id}/files/{}", escaped(&name));
        let bytes = client.get_text(&path).map_err(failed)?;
        write(&name, &bytes)?;
    }
    let log = client.get_text(&format!("/v1/jobs/{id}/log")).map_err(failed)?;
    if log.is_empty() { Ok(()) } else { write("log.txt", &log) }
}

/// Pauses, continues or cancels jobs.
pub fn act(console: &Console<'_>, line: &Line, verb: Verb) -> Result<u8, Failure> {
    line.given.check_alone(verb, &[])?;
    if line.words.len() < 2 {
        return usage(format!("{}: expected numbers of jobs", verb.word()));
    }
    let ids = line.words[1..].iter().map(|word| number(verb, word));
    let ids = ids.collect::<Result<Vec<u64>, Failure>>()?;
    let mut client = client(&line.given)?;
    let mut refused = None;
    for id in ids {
        let path = format!("/v1/jobs/{id}/{}", verb.word());
        match client.post(&path, &json!({})).map_err(failed) {
            Ok(job) => show_change(console, line, job)?,
            // The other jobs are tried all the same.
            Err(why @ Failure::Usage(_)) => {
                if let Some(earlier) = refused.replace(why) {
                    console.note(&earlier.to_string());
                }
            }
            Err(why) => return Err(why),
        }
    }
    refused.map_or(Ok(DONE), Err)
}

/// Changes the priority of a job.
pub fn priority(console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    line.given.check_alone(Verb::Priority, &[])?;
    let [_, id, priority] = &line.words[..] else {
        return usage("priority: expected the number of a job and a priority");
    };
    let id = number(Verb::Priority, id)?;
    let priority =
        parse_priority(priority).map_err(|why| Failure::Usage(format!("priority {id} {why}")))?;
    let mut client = client(&line.given)?;
    let path = format!("/v1/jobs/{id}/priority");
    let job = client.post(&path, &json!({ "priority": priority })).map_err(failed)?;
    show_change(console, line, job).map(|()| DONE)
}

fn show_change(console: &Console<'_>, line: &Line, job: Value) -> Result<(), Failure> {
    if line.given.on("json") {
        return console.print(&stamped(job));
    }
    let job: JobView = read(job)?;
    let why = if job.why.is_empty() { String::new() } else { format!(": {}", job.why) };
    console.print(&format!("job {} is {}{why}", job.id, job.state.word()))
}

//! `pleach loop`: runs a loop of independent work, and reports the share of each worker.

mod loop_result;
mod split;
pub mod together;

use super::console::{Console, DONE, STOPPED};
use super::dashboard::Dashboard;
use super::files::{Output, keep_apart};
use super::flags::{COMPARE, FlagValues, Kind, REPEAT, Verb};
use super::line::Line;
use super::progress::Shown;
use super::stopping::{InterruptiblePhase, interrupts};
use crate::failure::{Failure, usage};
use crate::loops::runner::{self, Runner};
use crate::loops::{self, LOOPS, LoopCommand, LoopEntry};
use crate::report::repeats::Repeats;
use loop_result::LoopResult;
use pleach_loops::looping::LoopReport;
use pleach_loops::looping::ShareLoops;
use std::io::Write;
use std::time::Instant;
use together::Sharing;

/// Carries out the command.
pub fn run(console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    let Line { words, given } = line;
    let names: Vec<&str> = LOOPS.iter().map(|entry| entry.name).collect();
    let expected = || format!("expected one of {}", names.join(", "));
    let Some(name) = words.get(1) else {
        return usage(format!("loop: the name of a loop is required: {}", expected()));
    };
    let Some(entry) = loops::entry(name) else {
        return usage(format!("loop {name}: {}", expected()));
    };
    given.check(Kind { verb: Verb::Loop, problem: entry.name, named: entry.flags })?;
    let words = &words[2..];
    let (least, most) = entry.takes;
    if words.len() < least || words.len() > most {
        return usage(format!("loop {name}: expected {}", entry.words));
    }
    run_loop(console, entry, &LoopCommand { words, given })
}

/// Refuses a loop that several processes cannot share.
fn can_be_shared(entry: &LoopEntry, given: &FlagValues) -> Result<(), Failure> {
    if !entry.shared {
        return usage(format!("loop {}: several processes cannot share it", entry.name));
    }
    if given.on(COMPARE.about.name) {
        return usage("--compare-static is for a single process");
    }
    Ok(())
}

/// Refuses `--listen` for a loop that cannot be shared, before any process joins.
pub fn check(line: &Line) -> Result<(), Failure> {
    let entry = line.words.get(1).and_then(|name| loops::entry(name));
    let opened = entry.filter(|_| line.given.has("listen"));
    opened.map_or(Ok(()), |entry| can_be_shared(entry, &line.given))
}

fn run_loop(
    console: &Console<'_>,
    entry: &LoopEntry,
    command: &LoopCommand<'_>,
) -> Result<u8, Failure> {
    let given = command.given;
    let inputs: Vec<String> =
        command.words.iter().filter(|word| (entry.is_file)(word)).cloned().collect();
    keep_apart(given, &inputs)?;
    ends_as_expected(entry, given)?;
    let cancel = interrupts();
    let cluster = given.cluster.as_deref();
    // The processes of a launcher end together.
    let mut phase = cluster.is_none().then(|| stoppable(console, (entry, command)));
    if cluster.is_some() {
        can_be_shared(entry, given)?;
    }
    let mut job = (entry.prepare)(command)?;
    let sharing = cluster.map(|_| Sharing::new(entry, command)).transpose()?;
    let settings = runner::settings(given)?;
    // Bad input must not leave an empty file behind.
    let out = Output::of("out", given)?;
    let compare = given.on(COMPARE.about.name);
    let times = given.get(&REPEAT)?;
    // The first run has cold memory. Splits are compared by their best times, so dynamic sharing needs several runs too.
    let tries = times.unwrap_or(if compare { split::FEWEST as u64 } else { 1 });
    let (mut best, mut repeats): (Option<LoopReport>, _) = (None, Repeats::default());
    let words: Vec<&str> =
        [entry.name].into_iter().chain(command.words.iter().map(String::as_str)).collect();
    let mut board = Dashboard::open(console, given.on("dashboard"), &words, &cancel);
    for run in 1..=tries {
        if cancel.is_cancelled() {
            best = Some(LoopReport { complete: false, ..best.unwrap_or_default() });
            break;
        }
        if let Some(board) = &mut board {
            board.begin(run, tries);
        }
        let shown = Shown::new(given.on("quiet"), board.as_mut());
        let mut runner = Runner::new(&settings, shown, &cancel);
        let with = cluster.zip(sharing.as_ref());
        with.map_or(Ok(()), |(cluster, sharing)| sharing.announce_run(cluster))?;
        job.run(&mut runner)?;
        cluster.inspect(|cluster| cluster.end_loops());
        let report = runner.finish();
        if report.complete {
            job.check()?;
        }
        if times.is_some() && report.complete {
            repeats.add(report.seconds, job.found().work.0);
        }
        let complete = report.complete;
        if !complete || best.as_ref().is_none_or(|best| report.seconds < best.seconds) {
            best = Some(report);
        }
        if !complete {
            break;
        }
    }
    drop(board);
    let report = best.unwrap_or_default();
    for warning in report.warnings.iter().filter(|_| !given.on("quiet")) {
        console.note(&format!("warning: {warning}"));
    }
    if !report.complete {
        if let Some(out) = out {
            out.leave();
        }
        drop(phase);
        let result =
            LoopResult { entry, command, job: None, report: &report, split: None, repeats };
        console.print(&result.output())?;
        return Ok(STOPPED);
    }
    // Every run has the same result; the times are those of the fastest run.
    let found = job.found();
    let file = out.map(|out| Ok::<_, Failure>((out, job.file(command)?))).transpose()?;
    let faster;
    let mut result =
        LoopResult { entry, command, job: Some(&found), report: &report, split: None, repeats };
    if compare {
        let text = result.output();
        // The previous phase ends first, so there is never more than one.
        drop(phase.take());
        phase = Some(InterruptiblePhase::until(None, |_| (text, STOPPED)));
        if let Some((split, dynamic)) =
            split::find_best(&mut *job, &settings, &report.parts, &cancel)?
        {
            faster = dynamic;
            result.split = Some(split);
            // Both times are the least of alternating runs.
            if times.is_none() && faster.seconds < report.seconds {
                result.report = &faster;
            }
        }
    }
    drop(phase);
    // The result comes first, so that a file that cannot be written does not lose it.
    console.print(&result.output())?;
    if let Some((out, bytes)) = file {
        let stopped = format!("{}: {} is not written: stopped", console.program, out.name());
        let _phase = InterruptiblePhase::until(None, move |_| {
            // There is nowhere else to report that this failed.
            let _ = writeln!(std::io::stderr(), "{stopped}");
            (String::new(), STOPPED)
        });
        out.write_bytes(&bytes)?;
    }
    Ok(if cancel.is_cancelled() && compare { STOPPED } else { DONE })
}

/// A phase in which a stop of the loop prints only that it was stopped.
fn stoppable(
    console: &Console<'_>,
    (entry, command): (&LoopEntry, &LoopCommand<'_>),
) -> InterruptiblePhase {
    let (report, repeats) = (&LoopReport::default(), Repeats::default());
    let stopped = LoopResult { entry, command, job: None, report, split: None, repeats }.stopped();
    let (mute, began) = (console.is_mute(), Instant::now());
    InterruptiblePhase::until(None, move |_| {
        (if mute { String::new() } else { stopped(began.elapsed().as_secs_f64()) }, STOPPED)
    })
}

/// Refuses an output file whose name ends as another format.
fn ends_as_expected(entry: &LoopEntry, given: &FlagValues) -> Result<(), Failure> {
    let Some(path) = given.path("out").filter(|path| path.is_file() || !path.exists()) else {
        return Ok(());
    };
    if entry.writes.iter().any(|ending| path.extension().is_some_and(|it| it == *ending)) {
        return Ok(());
    }
    let expected = entry.writes.join(" or .");
    usage(format!("--out {}: expected a name that ends in .{expected}", path.display()))
}

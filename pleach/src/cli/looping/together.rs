//! Loops that several processes share: the first process says what to run, and the others run the same.

use crate::cli::dashboard::Dashboard;
use crate::cli::flags::{FlagValues, Lasts};
use crate::cli::line::{Line, parse_again};
use crate::cli::order_text::{OrderText, name_of, unclear};
use crate::cli::progress::Shown;
use crate::failure::Failure;
use crate::loops::inputs::{packed, unpacked};
use crate::loops::runner::{self, Runner};
use crate::loops::{self, Job, LoopCommand, LoopEntry};
use pleach_cluster::{Cluster, First};
use pleach_loops::looping::ShareLoops;
use pleach_runtime::Cancel;
use serde_json::json;
use std::sync::Arc;

/// Flags that each process sets for itself.
const OWN: [&str; 4] = ["threads", "devices", "slow", "simd"];
/// Flags that shape a loop although no loop lists them.
const SHAPING: [&str; 2] = ["chunks", "seed"];

/// What other processes learn about a loop, and the files that they ask for.
pub struct Sharing {
    about: Vec<u8>,
    files: First,
}

impl Sharing {
    /// For a loop that this process leads.
    pub fn new(entry: &LoopEntry, command: &LoopCommand<'_>) -> Result<Self, Failure> {
        let (files, print) = packed(&command.given.files.borrow())?;
        let words: Vec<&str> = ["loop", entry.name]
            .into_iter()
            .chain(command.words.iter().map(String::as_str))
            .collect();
        let flags = shaping(entry, command.given);
        let about = json!({ "words": words, "flags": flags, "print": print.to_string() });
        Ok(Self { about: about.to_string().into_bytes(), files: First::from(&files[..]) })
    }

    /// Begins a run in all processes.
    pub fn announce_run(&self, cluster: &Cluster) -> Result<(), Failure> {
        Ok(cluster.begin_loops(self.about.clone(), self.files.clone())?)
    }
}

/// The flags that say what the loop is.
fn shaping(entry: &LoopEntry, given: &FlagValues) -> Vec<String> {
    let named = |name: &str| {
        let of_loop = entry.flags.iter().any(|flag| flag.flag == name);
        SHAPING.contains(&name) || of_loop && name != "out"
    };
    let mut flags = given.lasting(&[Lasts::Frozen, Lasts::Kept, Lasts::OneRun]);
    flags.retain(|flag| named(name_of(flag)));
    flags
}

/// A loop that this process has prepared; the next run may be of the same loop.
pub struct Prepared {
    about: Vec<u8>,
    line: Line,
    job: Box<dyn Job>,
}

/// Whether an order is for a loop.
pub fn is_loop(about: &[u8]) -> bool {
    OrderText::read(about)
        .is_ok_and(|order_text| order_text.words.first().is_some_and(|word| word == "loop"))
}

/// Takes part in a run of a loop that another process leads, with the dashboard that `open` returns. Returns whether
/// the run completed.
pub fn take_part(
    cluster: &Arc<Cluster>,
    about: &[u8],
    own: &FlagValues,
    (before, cancel): (&mut Option<Prepared>, &Cancel),
    open: &dyn Fn(&[&str]) -> Option<Dashboard>,
) -> Result<bool, Failure> {
    // The files of the previous run serve again if the loop is the same.
    before.take_if(|before| before.about != about);
    let files = cluster.first_of_loops(before.is_some(), || !cancel.is_cancelled())?;
    let Some(files) = files else { return Ok(false) };
    if before.is_none() {
        *before = Some(prepare(cluster, about, (own, &files))?);
    }
    let Some(Prepared { line, job, .. }) = before else { return Ok(false) };
    let settings = runner::settings(&line.given)?;
    let words: Vec<&str> = line.words.iter().skip(1).map(String::as_str).collect();
    let mut board = open(&words);
    let mut runner = Runner::new(&settings, Shown::new(own.on("quiet"), board.as_mut()), cancel);
    job.run(&mut runner)?;
    Ok(runner.finish().complete)
}

/// Prepares a loop with this process's own threads and devices.
fn prepare(
    cluster: &Arc<Cluster>,
    about: &[u8],
    (own, files): (&FlagValues, &[u8]),
) -> Result<Prepared, Failure> {
    let mut order_text = OrderText::read(about)?;
    let entry = order_text.words.get(1).and_then(|name| loops::entry(name)).ok_or_else(unclear)?;
    order_text
        .retain(|name| SHAPING.contains(&name) || entry.flags.iter().any(|flag| flag.flag == name));
    order_text.add(own.lasting(&[Lasts::Frozen, Lasts::Kept, Lasts::OneRun]), &OWN);
    let OrderText { words, flags, .. } = order_text;
    let mut line = parse_again(&words, flags)?;
    line.given.cluster = Some(Arc::clone(cluster));
    line.given.files.replace(unpacked(files)?);
    let (least, most) = entry.takes;
    let command = LoopCommand { words: words.get(2..).unwrap_or_default(), given: &line.given };
    if !entry.shared || command.words.len() < least || command.words.len() > most {
        return Err(unclear());
    }
    let job = (entry.prepare)(&command)?;
    Ok(Prepared { about: about.to_vec(), line, job })
}

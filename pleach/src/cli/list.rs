//! [`search_all`]: several instances, one after the other, in one process.

use super::conduct::Job;
use super::console::{Console, DONE, STOPPED};
use super::flags::Given;
use super::progress::interrupts;
use crate::failure::{Failure, usage};
use crate::registry::{Entry, Request, Start};
use std::time::Instant;

/// Flags about one search only.
const OF_ONE: [&str; 7] = ["checkpoint", "trace", "solution", "gantt", "start", "show", "listen"];

/// How an instance is read.
type Read = fn(&Request<'_>) -> Result<Start<'static>, Failure>;

/// Searches several instances. All are read before the first one is searched.
pub fn search_all(
    console: &Console<'_>,
    entry: &Entry,
    read: Read,
    words: &[String],
    given: &mut Given,
) -> Result<u8, Failure> {
    if let Some(flag) = OF_ONE.into_iter().find(|flag| given.has(flag)) {
        return usage(format!("--{flag} takes one instance, not {}", words.len()));
    }
    if given.cluster.is_some() {
        return usage(format!("several processes search one instance, not {}", words.len()));
    }
    let note = |text: &str| console.note(text);
    let mut starts = Vec::new();
    for instance in words {
        let request = Request { instance, given, resumed: false, follows: false, note: &note };
        starts.push(read(&request)?);
    }
    let (begun, mut ended) = (Instant::now(), 0);
    for (instance, start) in words.iter().zip(starts) {
        let inputs = (entry.is_file)(instance).then(|| instance.clone()).into_iter().collect();
        let job = Job { console, name: entry.name, instance, words, inputs, given: &mut *given };
        ended += usize::from(job.conduct(start)? == DONE);
        if interrupts().is_cancelled() {
            break;
        }
        if !given.on("json") {
            console.print("")?;
        }
    }
    let (all, seconds) = (words.len(), begun.elapsed().as_secs_f64());
    if !given.on("json") {
        console
            .print(&format!("{ended} of {all} instances searched to the end in {seconds:.2} s"))?;
    }
    Ok(if ended == all { DONE } else { STOPPED })
}

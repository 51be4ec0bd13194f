//! Prints what a saved search holds, without running it.

use super::console::{Console, DONE};
use super::flags::FlagValues;
use crate::campaign::Contents;
use crate::failure::Failure;
use crate::provenance::stamped;
use crate::report::{Labels, estimate, gap, grouped};
use crate::results::{JsonInteger, JsonNumber, Seconds};
use pleach_core::search::tree::Goal;
use pleach_core::search::work::Nodes;
use serde_json::{Value, json};

/// Prints it.
pub fn show(
    console: &Console<'_>,
    (name, instance): (&str, &str),
    given: &FlagValues,
    (contents, labels): (&Contents, &Labels),
) -> Result<u8, Failure> {
    let file = given.saving.from.as_deref().unwrap_or_default();
    let text = if given.on("json") {
        let mut settings = given.record();
        labels.note_decimals(&mut settings);
        stamped(data(contents, (file, name, instance), settings))
    } else {
        let mut lines = contents_lines(contents, &format!("{file}: {name} {instance}"), labels);
        let what = if contents.pieces == 0 { "see its result" } else { "resume" };
        lines.push(format!("to {what}: {} resume {}", console.program, quoted(file)));
        lines.join("\n")
    };
    console.print(&text).map(|()| DONE)
}

fn data(contents: &Contents, (file, name, instance): (&str, &str, &str), settings: Value) -> Value {
    let (counts, seconds): (_, Seconds) = (&contents.counts, JsonNumber(contents.seconds));
    json!({
        "checkpoint": file,
        "problem": name,
        "instance": instance,
        "done": contents.done,
        "open": contents.open,
        "pieces": contents.pieces,
        "objective": contents.best.map(JsonInteger),
        "lower_bound": contents.bound.map(JsonInteger),
        "count": (contents.goal == Goal::Count).then_some(JsonInteger(counts.total)),
        "nodes": {
            "branched": JsonInteger(counts.branched),
            "bounded": JsonInteger(counts.bounded),
        },
        "seconds": seconds,
        "settings": settings,
    })
}

fn contents_lines(contents: &Contents, title: &str, labels: &Labels) -> Vec<String> {
    let Contents { open, best, bound, counts, .. } = contents;
    let held = match contents.held {
        Nodes::Interval => "interval",
        Nodes::Pool => "node",
    };
    let many = if *open == 1.0 { "" } else { "s" };
    let mut lines = vec![format!("{title}, saved after {:.1} s", contents.seconds)];
    lines.push(match contents.done {
        _ if contents.pieces == 0 => "nothing is left to do".into(),
        Some(done) => {
            let done = estimate(done);
            format!("{open} open {held}{many}; estimated share of the tree done: {done}")
        }
        None => format!("{open} open {held}{many}"),
    });
    let mut values = Vec::new();
    values.extend(best.map(|best| format!("best {}", labels.value(best))));
    values.extend(bound.map(|bound| format!("bound {}", labels.value(bound))));
    let both = best.zip(*bound);
    values.extend(both.map(|(best, bound)| format!("gap {:.2} %", 100.0 * gap(best, bound))));
    if contents.goal == Goal::Count {
        values.push(format!("{} counted", grouped(counts.total)));
    }
    if !values.is_empty() {
        lines.push(values.join(", "));
    }
    let [branched, bounded] = [counts.branched, counts.bounded].map(|n| grouped(n.into()));
    lines.push(format!("{branched} nodes branched, {bounded} bounded"));
    lines
}

/// A path quoted for a shell.
pub fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:,@%".contains(c);
    if path.chars().all(plain) { path.into() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

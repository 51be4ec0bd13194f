//! Going on with a saved search: what its file says, the command line it comes from, and `--show`.

use super::options::{FROZEN, Options, given};
use super::{Failure, print, usage};
use crate::report::{gap, grouped, signed, whole};
use clap::{ArgMatches, Command};
use pleach_core::checkpoint::Checkpoint;
use pleach_core::problem::Problem;
use pleach_core::tree::{Counts, Goal, Solution};
use pleach_core::wire::fingerprint;
use pleach_core::work::Nodes;
use pleach_run::load;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// A saved search to go on with.
pub struct Going {
    /// The file as it was named.
    pub file: String,
    /// What it holds.
    pub checkpoint: Arc<Checkpoint>,
    /// What the problem's own command wrote beside it.
    pub state: Value,
}

/// What a checkpoint says about itself: the command line, prints of the files on it, and a state.
pub fn about(words: &[String], inputs: &[String], flags: &[String], state: &Value) -> String {
    let files: Map<String, Value> =
        inputs.iter().filter_map(|word| Some((word.clone(), file_print(word)?.into()))).collect();
    json!({ "words": words, "flags": flags, "files": files, "state": state }).to_string()
}

/// The print of a file's content, if there is such a file.
fn file_print(path: &str) -> Option<u64> {
    let bytes = Path::new(path).is_file().then(|| std::fs::read(path).ok())??;
    Some(fingerprint("file", &bytes))
}

/// The strings of a list.
fn strings(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|word| Some(word.as_str()?.to_string())).collect()
}

/// The command line of a saved search, with the flags of this one beside it.
pub fn read(
    command: Command,
    file: &str,
    now: &ArgMatches,
) -> Result<(ArgMatches, Going), Failure> {
    let checkpoint = load(Path::new(file)).or_else(|why| usage(why.to_string()))?;
    let about: Value = serde_json::from_str(&checkpoint.about).unwrap_or_default();
    let (Some(mut words), Some(mut flags)) = (strings(&about["words"]), strings(&about["flags"]))
    else {
        return usage(format!("{file} cannot be gone on with: it was not saved by this command"));
    };
    for (path, print) in about["files"].as_object().into_iter().flatten() {
        if file_print(path) != print.as_u64() {
            return usage(format!("{file}: {path} is not there or has changed since"));
        }
    }
    let flags_now = given(now);
    let named = |flag: &str, name: &str| flag == name || flag.starts_with(&format!("{name}="));
    for name in FROZEN.map(|name| format!("--{name}")) {
        if flags_now.iter().any(|flag| named(flag, &name)) {
            return usage(format!("{name}: a search goes on with what it began with"));
        }
    }
    // Other units than before: what was said of those is out of date.
    let of_units = |flag: &String| ["--threads", "--slow"].iter().any(|name| named(flag, name));
    let other_devices = flags_now.iter().any(|flag| named(flag, "--devices"));
    if other_devices || flags_now.iter().any(of_units) {
        let stale = if other_devices { "--threads" } else { "--slow" };
        flags.retain(|flag| !named(flag, "--slow") && !named(flag, stale));
    }
    flags.push(format!("--checkpoint={file}"));
    flags.extend(flags_now);
    // Words that begin with a dash are words all the same; a verb comes before all else.
    let rest = words.split_off(usize::from(command.has_subcommands()).min(words.len()));
    let words = words.into_iter().chain(flags).chain(["--".into()]).chain(rest);
    let again = command.no_binary_name(true).args_override_self(true).try_get_matches_from(words);
    let matches = again.or_else(|why| usage(format!("{file}: {}", super::one_line(&why))))?;
    let state = about["state"].clone();
    Ok((matches, Going { file: file.to_string(), checkpoint, state }))
}

/// A search that is over, as a state says it: nothing is left to do.
pub fn over(state: &Value, fingerprint: u64) -> Option<Checkpoint> {
    let number = |key: &str| state[key].as_u64();
    let plan = state["solution"].as_array();
    let plan = plan.map(|plan| plan.iter().map(Value::as_i64).collect::<Option<Vec<i64>>>());
    let solution = match (plan, state["score"].as_i64()) {
        (Some(plan), Some(score)) => Some(Solution { score, plan: plan? }),
        _ => None,
    };
    let (branched, bounded) = (number("branched")?, number("bounded")?);
    Some(Checkpoint {
        fingerprint,
        elapsed_ns: number("elapsed_ns")?,
        counts: Counts { branched, bounded, depth: number("depth")? as u32, total: 0 },
        best: state["best"].as_i64()?,
        solution,
        ..Checkpoint::default()
    })
}

/// Says what is in a saved search, without running it.
pub fn show(
    problem: &dyn Problem,
    name: &str,
    instance: &str,
    going: &Going,
    options: &Options,
) -> Result<ExitCode, Failure> {
    let Going { file, checkpoint, .. } = going;
    if checkpoint.fingerprint != problem.fingerprint() {
        let why = pleach_core::wire::Unreadable::Foreign;
        return usage(format!("{file} cannot be gone on with: {why}"));
    }
    let mut explorer = problem.explorer();
    for piece in &checkpoint.pieces {
        let put = explorer.put(&piece.bytes);
        put.or_else(|why| usage(format!("{file} cannot be gone on with: {why}")))?;
    }
    let goal = problem.goal();
    let optimises = matches!(goal, Goal::Minimise | Goal::Maximise);
    let open = explorer.open_nodes();
    // Nodes from a device do not tell which part of the tree they are.
    let share = explorer.open_share().filter(|&share| share > 0.0 || open == 0.0);
    let done = share.map(|share| (1.0 - share).clamp(0.0, 1.0));
    // What was known before the search may have taken long to find.
    let least = going.state["least"].as_i64().unwrap_or(i64::MIN).max(problem.least_score());
    let bound = explorer.least_bound().unwrap_or(i64::MAX).max(least);
    let bound = bound.min(checkpoint.best);
    let known = optimises && ![i64::MIN, i64::MAX].contains(&bound);
    let bound = known.then(|| goal.value(bound));
    let best = checkpoint.solution.as_ref().filter(|_| optimises);
    let best = best.map(|best| goal.value(best.score));
    let first = &going.state["first"];
    let earlier = first["elapsed_ns"].as_f64().unwrap_or(0.0) * 1e-9;
    let setup_s = going.state["setup_s"].as_f64().unwrap_or(0.0);
    let seconds = checkpoint.elapsed_ns as f64 * 1e-9 + earlier + setup_s;
    let Counts { branched, bounded, total, .. } = checkpoint.counts;
    if options.json {
        let number = |value: Option<i64>| value.map_or(Value::Null, signed);
        return print(
            &json!({
                "checkpoint": file,
                "problem": name,
                "instance": instance,
                "done": done,
                "open": open,
                "pieces": checkpoint.pieces.len(),
                "objective": number(best),
                "lower_bound": number(bound),
                "count": (goal == Goal::Count).then(|| whole(total)),
                "nodes": { "branched": whole(branched.into()), "bounded": whole(bounded.into()) },
                "seconds": seconds,
                "settings": options.record,
            })
            .to_string(),
        )
        .map(|()| ExitCode::SUCCESS);
    }
    let held = match (options.nodes, open == 1.0) {
        (Nodes::Interval, one) => {
            if one {
                "interval"
            } else {
                "intervals"
            }
        }
        (Nodes::Pool, one) => {
            if one {
                "node"
            } else {
                "nodes"
            }
        }
    };
    let mut lines = vec![format!("{file}: {name} {instance}, saved after {seconds:.1} s")];
    lines.push(match done {
        _ if checkpoint.pieces.is_empty() => "nothing is left to do".into(),
        Some(done) => format!("{:.1} % of the tree done, {open} {held} open", 100.0 * done),
        None => format!("{open} {held} open"),
    });
    let mut values = Vec::new();
    values.extend(best.map(|best| format!("best {best}")));
    values.extend(bound.map(|bound| format!("bound {bound}")));
    values.extend(
        best.zip(bound).map(|(best, bound)| format!("gap {:.2} %", 100.0 * gap(best, bound))),
    );
    if goal == Goal::Count {
        values.push(format!("{} counted", grouped(total)));
    }
    if !values.is_empty() {
        lines.push(values.join(", "));
    }
    lines.push(format!(
        "{} nodes branched, {} bounded",
        grouped(branched.into()),
        grouped(bounded.into())
    ));
    let what = if checkpoint.pieces.is_empty() { "see its result" } else { "go on" };
    lines.push(format!("to {what}: pleach resume {file}"));
    print(&lines.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

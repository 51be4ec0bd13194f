//! `pleach batch`: runs instances with several settings and seeds, and compares the settings.

mod glob;
mod pictures;
mod plan;
mod rows;
mod summary;

use super::conduct::last_words;
use super::console::{Console, DONE, FAILED, STOPPED};
use super::files::{can_replace, keep_apart, not_a_dash, not_standard_output, replace};
use super::flags::{FlagValues, Use, Verb};
use super::line::{Line, no_more};
use super::own_process::{OwnProcess, result_of, this_program};
use super::progress::{self, interrupts};
use crate::failure::{Failure, usage};
use crate::input::text_of;
use crate::provenance::{Provenance, stamped};
use crate::registry::Entry;
use crate::results::{RunData, is_thread};
use pictures::PICTURES;
use plan::{Plan, Run};
use rows::{Row, Rows};
use serde_json::json;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use summary::{Summary, ended};

/// Where the rows go by default.
const TABLE: &str = "results.csv";

/// The flags that it shares with other commands.
pub const FLAGS: [Use; 1] =
    [Use::with("out", "CSV file to which each run appends a row; created if missing", TABLE)];

/// What help shows as an example of a file.
pub const EXAMPLE: &str = "\
Example of FILE.toml:
  command = \"solve flowshop\"          # or count queens, …; flags here are for all runs
  instances = [\"ta001\", \"mine/*.txt\"] # names, and files relative to FILE.toml
  time_limit = \"60s\"                  # optional, as are threads, seeds and settings
  threads = 2
  seeds = [1, 2, 3]
  [settings]                          # names, and the flags that they stand for
  default = \"\"
  pair = \"--bound two --branching min-branch\"";

/// Runs what has no row yet, and compares the settings.
pub fn run(registry: &[Entry], console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    let given = &line.given;
    given.check_alone(Verb::Batch, &FLAGS)?;
    let Some(file) = line.words.get(1) else {
        return usage("batch: expected FILE.toml, which lists instances and settings");
    };
    no_more(&line.words, 2)?;
    keep_apart(given, std::slice::from_ref(file))?;
    let out = given.path("out").unwrap_or(TABLE.into());
    not_a_dash("out", &out)?;
    not_standard_output("out", &out)?;
    let table = std::path::absolute(&out)
        .or_else(|why| usage(format!("--out {}: {why}", out.display())))?;
    for picture in PICTURES {
        let path = beside(&out, picture.kind);
        let shown = path.display();
        let lost = can_replace(&path).and_then(|()| picture.would_overwrite(&path));
        if lost.map_err(|why| Failure::Usage(format!("{shown}: {why}")))? {
            let out = out.display();
            return usage(format!(
                "--out {out} would replace {shown}, which 'batch' did not draw; choose another file"
            ));
        }
    }
    let phase = last_words(console, "batch", given);
    let plan = read(registry, file)?;
    let rows = Rows::open(&table)?;
    drop(phase);
    Batch { console, given, plan, rows, out, table }.run()
}

/// Reads a file. From then on, its folder is the current one, for this process and for the runs.
fn read(registry: &[Entry], file: &str) -> Result<Plan, Failure> {
    let cannot = |why: std::io::Error| Failure::Usage(format!("{file}: {why}"));
    let text = text_of(file).map_err(cannot)?;
    let folder = Path::new(file).parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or(Ok(()), std::env::set_current_dir).map_err(cannot)?;
    Plan::read(registry, file, &text)
}

/// A batch that can run.
struct Batch<'a, 'o> {
    console: &'a Console<'o>,
    given: &'a FlagValues,
    plan: Plan,
    rows: Rows,
    /// The file of the rows as the user named it, and its whole path.
    out: PathBuf,
    table: PathBuf,
}

impl Batch<'_, '_> {
    fn run(mut self) -> Result<u8, Failure> {
        let console = self.console;
        let quiet = self.given.on("quiet");
        let all = self.plan.runs.len();
        let open = self.plan.runs.iter().enumerate();
        let open = open.filter(|(_, run)| self.rows.done(&run.row).is_none()).map(|(at, _)| at);
        let open: Vec<usize> = open.collect();
        if open.len() < all && !quiet {
            let (done, out) = (all - open.len(), self.out.display());
            console.note(&format!("{done} of {all} runs are already in {out}"));
        }
        let (line, mut interrupted) = (progress::line(quiet), false);
        for (done, at) in (all - open.len()..).zip(open) {
            let run = &self.plan.runs[at];
            let of = |column| run.row.get(column);
            let what = format!("{}, {}, seed {}", of("instance"), of("setting"), of("seed"));
            line.set_message(format!("run {} of {all}: {what}", done + 1));
            line.tick();
            let Some(row) = row_of(run)? else {
                interrupted = true;
                break;
            };
            if row.get("status") == rows::FAILED {
                let why = row.get("message");
                line.suspend(|| console.note(&format!("{what}: failed: {why}")));
            }
            self.rows.add(row)?;
        }
        line.finish_and_clear();
        self.report(interrupted)
    }

    /// Prints the summary and draws the pictures.
    fn report(&self, interrupted: bool) -> Result<u8, Failure> {
        let console = self.console;
        let ended = ended(&self.plan, &self.rows);
        let summary = Summary::of(&self.plan, &ended);
        let pictures = PICTURES.map(|it| beside(&self.out, it.kind).display().to_string());
        let out = self.out.display().to_string();
        let text = if self.given.on("json") {
            let mut all =
                json!({ "command": self.plan.command, "rows": out, "pictures": pictures });
            if let (Some(all), Some(more)) = (all.as_object_mut(), summary.json().as_object_mut()) {
                all.append(more);
            }
            stamped(all)
        } else {
            format!("{}\n\n{out}\n{}", summary.text(), pictures.join("\n"))
        };
        console.print(&text)?;
        for line in &summary.contradictions {
            console.note(&format!("results contradict each other: {line}"));
        }
        // A picture that cannot be written does not lose the summary.
        for (picture, shown) in PICTURES.iter().zip(pictures) {
            let svg = (picture.draw)(&self.plan, &ended);
            let written =
                replace(&beside(&self.table, picture.kind), format!("{svg}\n").as_bytes());
            written.map_err(|why| Failure::Machine(format!("cannot write {shown}: {why}")))?;
        }
        if !summary.contradictions.is_empty() {
            return Ok(FAILED);
        }
        if interrupted {
            console.note("interrupted; run the same command again to continue");
            return Ok(STOPPED);
        }
        Ok(if summary.has_failed() { FAILED } else { DONE })
    }
}

/// The path of a picture next to a table.
fn beside(table: &Path, kind: &str) -> PathBuf {
    let name = table.file_stem().unwrap_or_default().to_string_lossy();
    table.with_file_name(format!("{name}-{kind}.svg"))
}

/// Runs a command; returns its row, or `None` if the user interrupts.
///
/// # Errors
/// If it cannot be started.
fn row_of(run: &Run) -> Result<Option<Row>, Failure> {
    if interrupts().is_cancelled() {
        return Ok(None);
    }
    let mut command = this_program();
    // A launcher of several processes has started only the batch.
    command.args(&run.args).args(["--json", "--quiet", "--mpi=off", "--until-eof"]);
    // The run ends with the batch, even if that is killed.
    command.stdin(Stdio::piped());
    let output = match OwnProcess::output(&mut command) {
        Err(why) if why.kind() == ErrorKind::Interrupted => return Ok(None),
        output => output.map_err(|why| Failure::Machine(format!("cannot start a run: {why}")))?,
    };
    let mut row = run.row.clone();
    match result_of(&output, true) {
        Ok(result) => fill(&mut row, &result),
        Err(why) => {
            row.set("status", rows::FAILED);
            row.set("message", why);
        }
    }
    if let Some(file) = run.inputs.changed() {
        row = run.row.clone();
        row.set("status", rows::FAILED);
        row.set("message", format!("{file} has changed since the batch began"));
    }
    let Provenance { host, date, .. } = Provenance::now();
    row.set("host", host);
    row.set("date", date);
    Ok(Some(row))
}

/// Fills in what a run has found.
fn fill(row: &mut Row, result: &RunData) {
    let nodes = result.nodes.as_ref();
    let text = |it: Option<String>| it.unwrap_or_default();
    row.set("status", &result.status);
    row.set("objective", text(result.objective.map(|it| result.value(it))));
    row.set("lower_bound", text(result.lower_bound.map(|it| result.value(it))));
    row.set("gap", text(result.gap.map(|it| it.0.to_string())));
    row.set("count", text(result.count.map(|it| it.to_string())));
    row.set("seconds", result.seconds.0);
    row.set("setup_seconds", text(result.setup_seconds.map(|it| it.0.to_string())));
    row.set("branched", text(nodes.and_then(|it| it.branched).map(|it| it.to_string())));
    let devices =
        result.workers.iter().map(|worker| worker.name.as_str()).filter(|name| !is_thread(name));
    row.set("devices", devices.collect::<Vec<_>>().join(" "));
    row.set("bounded", text(nodes.and_then(|it| it.bounded).map(|it| it.to_string())));
}

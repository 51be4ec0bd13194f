//! A part that runs commands of this program, each in its own process.

use super::data::Grid;
use super::measures;
use super::part::{Part, Runs};
use super::rows::{Row, Rows};
use crate::cli::own_process::{OwnProcess, all_read, read_along, result_of, this_program};
use crate::failure::Failure;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

/// The maximum number of processes that a part may start at once.
const MOST_PROCESSES: u32 = 256;
/// Flags of a search that joining processes need as well.
const SHARED_FLAGS: [&str; 4] = ["--threads", "--pace", "--devices", "--slow"];

/// The lists of a part's runs.
pub fn grid(runs: &Runs) -> Grid {
    Grid {
        x_name: runs.x_name.clone(),
        series_name: runs.series_name.clone(),
        xs: runs.x.clone(),
        series: runs.series.clone(),
        of: points(runs).map(|(series, x)| of(runs, series, x)).collect(),
        runs: runs.repeat as usize,
    }
}

/// All combinations of the lists.
fn points(runs: &Runs) -> impl Iterator<Item = (&str, &str)> {
    runs.series.iter().flat_map(|series| runs.x.iter().map(move |x| (series.as_str(), x.as_str())))
}

/// A template filled in with the values at a point.
fn filled(text: &str, series: &str, x: &str) -> String {
    text.replace("{x}", x).replace("{series}", series)
}

/// What a row measures: its command, and the number of processes.
fn of(runs: &Runs, series: &str, x: &str) -> String {
    let on = |n: &String| format!(" on {} processes", filled(n, series, x));
    filled(&runs.command, series, x) + &runs.processes.as_ref().map_or(String::new(), on)
}

/// Where the processes of a figure leave files: a folder, and the beginning of their names.
pub struct Place<'a> {
    pub folder: &'a Path,
    pub id: &'a str,
}

impl Place<'_> {
    /// A file that only this process uses.
    fn file(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}-{}.{ending}", self.id, std::process::id()))
    }
}

/// Runs what has no row yet.
///
/// # Errors
/// If a command fails, or a row cannot be written.
pub fn run(
    runs: &Runs,
    part: &Part,
    place: &Place<'_>,
    rows: &mut Rows,
    step: &dyn Fn(usize, usize),
) -> Result<(), Failure> {
    let mut missing = Vec::new();
    for (series, x) in points(runs) {
        let command = filled(&runs.command, series, x);
        let processes = runs.processes.as_ref().map(|n| filled(n, series, x));
        let row = Row {
            part: part.name.clone(),
            x: x.to_string(),
            series: series.to_string(),
            of: of(runs, series, x),
            ..Row::default()
        };
        for seed in 0..runs.repeat {
            let row = Row { seed, ..row.clone() };
            if !rows.has(&row) {
                missing.push((row, command.clone(), processes.clone()));
            }
        }
    }
    let all = missing.len();
    for (done, (mut row, command, processes)) in missing.into_iter().enumerate() {
        step(done, all);
        // Some figures show the same runs in different ways.
        let known = rows.elsewhere(&row).filter(|known| !runs.trace || !known.lists.is_empty());
        if let Some(known) = known {
            (row.figures, row.lists) = (known.figures.clone(), known.lists.clone());
            rows.add(row)?;
            continue;
        }
        let mut words: Vec<String> = command.split_whitespace().map(String::from).collect();
        let trace = place.file("trace");
        if runs.trace {
            words.extend(["--trace".into(), trace.display().to_string()]);
        }
        let failed = |why: String| Failure::Inside(format!("pleach {command}: {why}"));
        let n = processes.map_or(Ok(1), |n| n.parse());
        let n = n.ok().filter(|n| (1..=MOST_PROCESSES).contains(n));
        let n = n.ok_or_else(|| failed("expected a number of processes".into()))?;
        let output = run_one(&words, n, place).map_err(|why| failed(why.to_string()))?;
        let limited = command.contains("-limit");
        let run = result_of(&output, limited).map_err(failed)?;
        let took_part = run
            .sites
            .as_ref()
            .map_or(1, |sites| sites.iter().filter(|site| !site.workers.is_empty()).count());
        if took_part != n as usize {
            return Err(failed(format!("{took_part} of {n} processes took part")));
        }
        measures::note_measured(&mut row, &run);
        if runs.trace {
            let read = std::fs::read_to_string(&trace);
            let read = read.ok().and_then(|text| serde_json::from_str(&text).ok());
            let read = read.ok_or_else(|| failed("its trace cannot be read".into()))?;
            measures::note_active(&mut row, &read);
            // If it remains, the next run replaces it.
            let _ = std::fs::remove_file(&trace);
        }
        rows.add(row)?;
    }
    Ok(())
}

/// Runs a command on a number of processes.
fn run_one(words: &[String], processes: u32, place: &Place<'_>) -> std::io::Result<Output> {
    let mut root = this_program();
    root.args(words).arg("--json");
    let key = place.file("key");
    let key_word = key.display().to_string();
    if processes > 1 {
        root.args(["--listen", "127.0.0.1:0", "--key", &key_word]);
        root.args(["--places", &processes.to_string()]);
    } else {
        root.arg("--quiet");
    }
    let root = OwnProcess::start(root.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    let mut company = LoopProcesses { all: vec![root], key };
    let root = &mut company.all[0];
    let stdout = read_along(root.stdout.take());
    let mut said = root.stderr.take().map(BufReader::new);
    // The root prints its address; if it ends instead, it has printed why.
    let (mut heard, mut address) = (String::new(), None);
    while let (Some(said), None, true) = (&mut said, &address, processes > 1) {
        let mut line = String::new();
        if said.read_line(&mut line)? == 0 {
            break;
        }
        let rest = line.split("pleach join ").nth(1);
        address = rest.and_then(|rest| rest.split(' ').next()).map(String::from);
        heard += &line;
    }
    let stderr = read_along(said);
    if let Some(at) = address {
        for _ in 1..processes {
            let mut leaf = this_program();
            leaf.args(["join", &at, "--key", &key_word, "--quiet"]).args(shared(words));
            let leaf = leaf.stdout(Stdio::null()).stderr(Stdio::null());
            company.all.push(OwnProcess::start(leaf)?);
        }
    }
    let (root, leaves) = company.all.split_at_mut(1);
    let status = root[0].wait()?;
    for leaf in leaves {
        leaf.wait()?;
    }
    let stderr = [heard.into_bytes(), all_read(stderr)].concat();
    Ok(Output { status, stdout: all_read(stdout), stderr })
}

/// The flags of a search that joining processes need as well.
fn shared(words: &[String]) -> Vec<&String> {
    let is_shared = |word: &String| SHARED_FLAGS.contains(&word.as_str());
    words.windows(2).filter(|pair| is_shared(&pair[0])).flatten().collect()
}

/// A root process, those that joined it, and their key.
struct LoopProcesses {
    all: Vec<OwnProcess>,
    key: PathBuf,
}

impl Drop for LoopProcesses {
    fn drop(&mut self) {
        // A process that is still running has lost the others.
        self.all.clear();
        // A key file that remains is useless by now.
        let _ = std::fs::remove_file(&self.key);
    }
}

//! A part that runs commands of this program, each in a process of its own.

use super::data::Grid;
use super::measures;
use super::part::{Part, Runs};
use super::rows::{Row, Rows};
use crate::failure::Failure;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The most processes that a part may start at once.
const MOST_PROCESSES: u32 = 256;
/// The exit code of a run that a limit has stopped.
const STOPPED: i32 = 3;
/// Flags of a search that processes which join it must have as well.
const SHARED_FLAGS: [&str; 4] = ["--threads", "--pace", "--devices", "--slow"];

/// The lists of a part's runs.
pub fn grid(runs: &Runs) -> Grid {
    Grid {
        x_name: runs.x_name.clone(),
        series_name: runs.series_name.clone(),
        xs: runs.x.clone(),
        series: runs.series.clone(),
    }
}

/// Where the processes of a part leave files.
pub struct Place<'a> {
    pub folder: &'a Path,
    pub id: &'a str,
}

/// Runs what is not there yet.
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
    for (series, x) in runs.series.iter().flat_map(|series| runs.x.iter().map(move |x| (series, x)))
    {
        let filled = |text: &str| text.replace("{x}", x).replace("{series}", series);
        let command = filled(&runs.command);
        let processes = runs.processes.as_deref().map(filled);
        let of = [Some(command.clone()), processes.as_ref().map(|n| format!("on {n} processes"))];
        let row = Row {
            part: part.name.clone(),
            x: x.clone(),
            series: series.clone(),
            of: of.into_iter().flatten().collect::<Vec<_>>().join(" "),
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
        let mut words: Vec<String> = command.split_whitespace().map(String::from).collect();
        if runs.trace {
            words.push("--trace".into());
            words.push(picture(place, part, &row.series, &row.x).display().to_string());
        }
        let failed = |why: String| Failure::Inside(format!("pleach {command}: {why}"));
        let output = match processes {
            None => this_program().args(&words).args(["--json", "--quiet"]).output(),
            Some(n) => {
                let n = n.parse().ok().filter(|n| (1..=MOST_PROCESSES).contains(n));
                let n = n.ok_or_else(|| failed("expected a number of processes".into()))?;
                several(&words, n, place)
            }
        };
        let output = output.map_err(|why| failed(why.to_string()))?;
        let limited = command.contains("-limit");
        measures::note_measured(&mut row, &read(&output, limited).map_err(failed)?);
        rows.add(row)?;
    }
    Ok(())
}

/// Where a run leaves the picture of what its units did.
pub fn picture(place: &Place<'_>, part: &Part, series: &str, x: &str) -> PathBuf {
    let words = [place.id, &part.name, series, x].into_iter().filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("-");
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    place.folder.join(format!("{name}.svg"))
}

/// This program, to be run again.
fn this_program() -> Command {
    // Where the system does not tell, the name it was started by serves as well.
    let own = std::env::current_exe().unwrap_or_else(|_| "pleach".into());
    let mut command = Command::new(own);
    command.stdin(Stdio::null());
    command
}

/// The JSON that a run has printed.
fn read(output: &Output, limited: bool) -> Result<Value, String> {
    let code = output.status.code();
    if code != Some(0) && !(limited && code == Some(STOPPED)) {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next_back().unwrap_or("it was killed").to_string();
        return Err(said.trim_start_matches("pleach: ").to_string());
    }
    serde_json::from_slice(&output.stdout).map_err(|why| format!("no JSON: {why}"))
}

/// Runs a search by several processes of this machine.
fn several(words: &[String], processes: u32, place: &Place<'_>) -> std::io::Result<Output> {
    let key = place.folder.join(format!("{}-{}.key", place.id, std::process::id()));
    let key_word = key.display().to_string();
    let mut root = this_program();
    root.args(words).args(["--json", "--listen", "127.0.0.1:0", "--key", &key_word]);
    root.args(["--places", &processes.to_string()]);
    let mut root = root.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut company = Company { joined: Vec::new(), key: key.clone() };
    let mut said = root.stderr.take().map(BufReader::new);
    // The root says where it is to be joined; if it ends instead, it has said why.
    let (mut heard, mut address) = (String::new(), None);
    while let (Some(said), None) = (&mut said, &address) {
        let mut line = String::new();
        if said.read_line(&mut line)? == 0 {
            break;
        }
        address = line
            .split("pleach join ")
            .nth(1)
            .and_then(|rest| rest.split(' ').next())
            .map(String::from);
        heard += &line;
    }
    if let Some(at) = address {
        for _ in 1..processes {
            let mut leaf = this_program();
            leaf.args(["join", &at, "--key", &key_word, "--quiet"]).args(shared(words));
            company.joined.push(leaf.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
        }
    }
    let rest = std::thread::spawn(move || {
        let mut rest = Vec::new();
        // What cannot be read is not told.
        let _ = said.map(|mut said| said.read_to_end(&mut rest));
        rest
    });
    let mut output = root.wait_with_output()?;
    output.stderr = [heard.into_bytes(), rest.join().unwrap_or_default()].concat();
    company.wait()?;
    Ok(output)
}

/// Those of a search's flags that the processes which join it must have as well.
fn shared(words: &[String]) -> Vec<&String> {
    let is_shared = |word: &String| SHARED_FLAGS.contains(&word.as_str());
    words.windows(2).filter(|pair| is_shared(&pair[0])).flatten().collect()
}

/// The processes that joined a search, and its key.
struct Company {
    joined: Vec<Child>,
    key: PathBuf,
}

impl Company {
    /// Waits for all of them.
    fn wait(&mut self) -> std::io::Result<()> {
        self.joined.drain(..).try_for_each(|mut leaf| leaf.wait().map(|_| ()))
    }
}

impl Drop for Company {
    /// Whoever is still there has lost its root.
    fn drop(&mut self) {
        for leaf in &mut self.joined {
            // It may have ended by itself.
            let _ = leaf.kill();
            let _ = leaf.wait();
        }
        // A key that stays opens nothing any more.
        let _ = std::fs::remove_file(&self.key);
    }
}

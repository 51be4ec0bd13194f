//! `pleach batch` as a user sees it: each run once, whatever happens in between, and one line for bad input.

use crate::house::root;
use crate::outside::{end_of, folder, json, pleach, refused, until};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A new folder with a batch's file.
fn batch(name: &str, text: &str) -> PathBuf {
    let folder = folder("batch").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("batch.toml"), text).unwrap();
    folder
}

/// The words that run the batch of a folder.
fn words(folder: &Path) -> String {
    let folder = folder.display();
    format!("batch {folder}/batch.toml --out {folder}/results.csv")
}

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text)).concat()
}

/// Runs the batch of a folder to its end.
fn run(folder: &Path) -> String {
    let output = pleach(&words(folder));
    assert!(output.status.success(), "{}", said(&output));
    said(&output)
}

/// The values of a column in all rows.
fn column(folder: &Path, name: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.join("results.csv")).unwrap();
    assert!(text.ends_with('\n'), "{text}");
    let mut lines = text.lines().map(|line| {
        // Commas inside quotes are those of processors.
        let parts = line.split('"').enumerate();
        let plain =
            parts.map(|(i, part)| if i % 2 == 1 { part.replace(',', ";") } else { part.into() });
        let values = plain.collect::<String>();
        values.split(',').map(String::from).collect::<Vec<_>>()
    });
    let columns = lines.next().unwrap();
    let at = columns.iter().position(|column| column == name).unwrap();
    lines.map(|values| values[at].clone()).collect()
}

const QUEENS: &str = "command = 'count queens'
instances = [6, 8]
threads = 1
seeds = [1, 2]
[settings]
pools = ''
intervals = '--nodes interval'
";

#[test]
fn every_combination_has_one_row_and_the_pictures_show_all_settings() {
    let folder = batch("whole", QUEENS);
    let text = run(&folder);
    assert!(text.contains("setting") && text.contains("intervals"), "{text}");
    assert_eq!(column(&folder, "instance"), ["6", "6", "8", "8", "6", "6", "8", "8"]);
    let settings = ["pools", "intervals"].repeat(4);
    assert_eq!(column(&folder, "setting"), settings, "in the order of the file");
    assert_eq!(column(&folder, "seed"), ["1", "1", "1", "1", "2", "2", "2", "2"]);
    assert_eq!(column(&folder, "count"), ["4", "4", "92", "92"].repeat(2));
    for name in ["version", "commit", "processor", "host", "date", "threads", "seconds"] {
        assert!(column(&folder, name).iter().all(|value| !value.is_empty()), "{name}");
    }
    assert!(column(&folder, "version").iter().all(|it| it == env!("CARGO_PKG_VERSION")));
    for picture in ["results-profile.svg", "results-cactus.svg"] {
        let svg = fs::read_to_string(folder.join(picture)).unwrap();
        for setting in [">pools<", ">intervals<"] {
            assert!(svg.contains(setting), "{picture}: {svg}");
        }
        assert!(svg.contains("prefers-color-scheme:dark") && !svg.contains("NaN"), "{svg}");
    }
    let rows = fs::read(folder.join("results.csv")).unwrap();
    assert!(run(&folder).contains("8 of 8 runs are already in"));
    assert_eq!(fs::read(folder.join("results.csv")).unwrap(), rows);
}

#[test]
fn a_picture_of_the_user_is_not_replaced() {
    let folder = batch("picture", QUEENS);
    for picture in ["results-profile.svg", "results-cactus.svg"] {
        let path = folder.join(picture);
        fs::write(&path, "<svg>mine</svg>").unwrap();
        let output = pleach(&words(&folder));
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(picture) && text.contains("choose another file"), "{text}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "<svg>mine</svg>");
        assert!(!folder.join("results.csv").exists(), "no run has started");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        refused(&words(&folder), "is a directory");
        fs::remove_dir(&path).unwrap();
    }
    run(&folder);
}

#[test]
fn a_summary_is_json_too() {
    let folder = batch("json", QUEENS);
    let output = pleach(&format!("{} --json", words(&folder)));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["settings"][1]["name"], "intervals");
    assert_eq!((&report["settings"][1]["solved"], &report["missing"]), (&4.into(), &0.into()));
    assert_eq!(report["contradictions"], serde_json::json!([]));
    assert_eq!(report["commit"], column(&folder, "commit")[0].as_str());
}

#[test]
fn a_whole_last_row_needs_no_line_break() {
    let folder = batch("no-line-break", QUEENS);
    run(&folder);
    let file = folder.join("results.csv");
    let whole = fs::read_to_string(&file).unwrap();
    fs::write(&file, whole.trim_end()).unwrap();
    assert!(run(&folder).contains("8 of 8 runs are already in"));
    assert_eq!(fs::read_to_string(&file).unwrap(), whole);
}

#[test]
fn a_torn_row_is_run_again() {
    let folder = batch("torn", QUEENS);
    run(&folder);
    let file = folder.join("results.csv");
    let whole = fs::read_to_string(&file).unwrap();
    // A process that was killed has left the beginning of a row, or even of the first line.
    let torn = whole.trim_end().len() - 30;
    fs::write(&file, &whole[..torn]).unwrap();
    assert!(run(&folder).contains("7 of 8 runs are already in"));
    assert_eq!(column(&folder, "count"), ["4", "4", "92", "92"].repeat(2));
    fs::write(&file, &whole[..10]).unwrap();
    run(&folder);
    assert_eq!(column(&folder, "count").len(), 8);
}

#[test]
fn rows_that_are_not_text_are_refused() {
    let folder = batch("not-text", QUEENS);
    fs::write(folder.join("results.csv"), b"a\n\xe4\n").unwrap();
    refused(&words(&folder), "results.csv: line 2 is not text in UTF-8: save the file as UTF-8");
}

/// Starts a batch whose second run never ends, and waits for the row of the first one.
#[cfg(unix)]
fn endless(folder: &Path) -> std::process::Child {
    endless_by(Path::new(env!("CARGO_BIN_EXE_pleach")), folder)
}

/// The same by a program that is the command.
#[cfg(unix)]
fn endless_by(program: &Path, folder: &Path) -> std::process::Child {
    let mut command = Command::new(program);
    command.args(words(folder).split_whitespace());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let rows = || fs::read_to_string(folder.join("results.csv")).unwrap_or_default();
    until("the first row", || {
        let over = child.try_wait().unwrap();
        assert!(over.is_none(), "it ended, {over:?}");
        rows().lines().count() >= 2
    });
    child
}

#[cfg(unix)]
#[test]
fn an_interrupted_batch_goes_on_where_it_stopped() {
    let text = "command = 'count queens'\ninstances = [8, 22]\n";
    let folder = batch("interrupted", text);
    let child = endless(&folder);
    refused(&words(&folder), "results.csv: another process is writing it");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = end_of(child);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("run the same command again"), "{}", said(&output));
    assert_eq!(column(&folder, "instance"), ["8"]);
    fs::write(folder.join("batch.toml"), text.replace("22", "9")).unwrap();
    assert!(run(&folder).contains("1 of 2 runs are already in"));
    assert_eq!(column(&folder, "instance"), ["8", "9"]);
}

/// The process of a batch's run.
#[cfg(target_os = "linux")]
fn run_of(batch: &std::process::Child) -> String {
    let parent = batch.id().to_string();
    // A process's status: its number, name, state, and parent.
    let of_batch =
        |stat: &String| stat.rsplit(") ").next().unwrap().split(' ').nth(1) == Some(&parent);
    let mut found = None;
    until("a run", || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let mut statuses =
            processes.filter_map(|it| fs::read_to_string(it.path().join("stat")).ok());
        found = statuses.find(of_batch);
        found.is_some()
    });
    found.unwrap().split(' ').next().unwrap().to_string()
}

/// A batch that is killed takes its run with it, which would otherwise continue without a limit.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_batch_leaves_no_run() {
    let folder = batch("killed", "command = 'count queens'\ninstances = [8, 22]\n");
    let mut child = endless(&folder);
    let run = run_of(&child);
    child.kill().unwrap();
    child.wait().unwrap();
    // Once it has ended, its number may remain until its new parent notices.
    let lives = || {
        let stat = fs::read_to_string(format!("/proc/{run}/stat")).unwrap_or_default();
        stat.contains("(pleach)") && !stat.contains("(pleach) Z")
    };
    until("the end of the run", || !lives());
}

/// An update used to make all later runs impossible: the system names a replaced program by a path that does not exist.
#[cfg(target_os = "linux")]
#[test]
fn a_batch_continues_after_its_program_was_replaced() {
    let folder = batch("replaced", "command = 'count queens'\ninstances = [8, 22, 6]\n");
    let program = folder.join("pleach");
    fs::hard_link(env!("CARGO_BIN_EXE_pleach"), &program).unwrap();
    let child = endless_by(&program, &folder);
    // The second run never ends. Its program is needed until it has started.
    let run = run_of(&child);
    let started = || fs::read_to_string(format!("/proc/{run}/cmdline")).unwrap().contains("queens");
    until("the program of the run", started);
    fs::remove_file(&program).unwrap();
    fs::write(&program, "another version").unwrap();
    assert!(Command::new("kill").args(["-KILL", &run]).status().unwrap().success());
    let output = end_of(child);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert_eq!(column(&folder, "count"), ["92", "", "4"]);
}

/// A row says which files its run has read, so a run whose file changed after the batch began has failed.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_changes_during_a_batch_spoils_its_runs() {
    let text = "command = 'solve flowshop'\ninstances = ['ta001', 'ta051', 'shop.txt']\n";
    let folder = batch("meanwhile", text);
    let file = folder.join("shop.txt");
    fs::write(&file, "3 2\n1 2 3\n4 5 6\n").unwrap();
    let child = endless(&folder);
    fs::write(&file, "3 2\n1 2 3\n4 5 7\n").unwrap();
    // The second run never ends.
    assert!(Command::new("kill").args(["-KILL", &run_of(&child)]).status().unwrap().success());
    let output = end_of(child);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("shop.txt has changed since the batch began"));
    fs::write(folder.join("batch.toml"), text.replace(" 'ta051',", "")).unwrap();
    run(&folder);
    assert_eq!(column(&folder, "objective"), ["1278", "", "", "17"]);
}

#[test]
fn a_changed_file_is_another_instance() {
    let text = "command = 'solve flowshop'\ninstances = ['sh?p*.txt', 'shop.txt', 'ta001']\n";
    let folder = batch("changed", text);
    let file = folder.join("shop.txt");
    fs::write(&file, "3 2\n1 2 3\n4 5 6\n").unwrap();
    run(&folder);
    run(&folder);
    assert_eq!(column(&folder, "objective"), ["16", "1278"]);
    fs::write(&file, "3 2\n1 2 3\n4 5 7\n").unwrap();
    assert!(run(&folder).contains("1 of 2 runs are already in"));
    assert_eq!(column(&folder, "objective"), ["16", "1278", "17"]);
    assert_eq!(column(&folder, "instance"), ["shop.txt", "ta001", "shop.txt"]);
    // A problem with another objective has another optimum, which is no contradiction.
    let settings = "[settings]\nmakespan = ''\nflow = '--objective flow-time'\n";
    fs::write(folder.join("batch.toml"), format!("{text}{settings}").replace(", 'ta001'", ""))
        .unwrap();
    run(&folder);
    assert_eq!(column(&folder, "objective").len(), 4);
}

#[test]
fn limits_leave_a_row_with_a_gap() {
    let text =
        "command = 'solve flowshop --node-limit 1000'\ninstances = ['ta056']\ntime_limit = '1h'\n";
    let folder = batch("limits", text);
    run(&folder);
    assert_eq!(column(&folder, "status"), ["stopped"]);
    assert_eq!(column(&folder, "time_limit"), ["3600"]);
    assert!(column(&folder, "gap")[0].parse::<f64>().unwrap() > 0.0);
}

#[test]
fn a_failed_run_has_a_row_and_is_run_again() {
    let text = "command = 'solve queens'
instances = [8]
threads = 2
[settings]
fails = '--balance dynamic:cutoff=2,coordinator=yes,second_cutoff=4'
good = ''
";
    let folder = batch("failed", text);
    for rows in [2, 3] {
        let output = pleach(&words(&folder));
        let text = said(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("8, fails, seed 0: failed: --balance:"), "{text}");
        assert_eq!(column(&folder, "status").len(), rows);
    }
    assert_eq!(column(&folder, "status"), ["failed", "found", "failed"]);
    assert!(column(&folder, "message")[0].starts_with("--balance: second_cutoff"));
}

#[test]
fn bad_input_is_refused_before_anything_runs() {
    let good = "command = 'solve flowshop'\ninstances = ['ta001']\n";
    for (text, expected) in [
        ("command = ", "batch.toml, line 1: "),
        ("instances = [1]", "command is missing: expected 'solve PROBLEM' with flowshop"),
        (
            "command = 'loop spmm'\ninstances = [1]",
            "command = 'loop spmm': expected 'solve PROBLEM'",
        ),
        ("command = 'count atsp'\ninstances = [1]", "command = 'count atsp': expected 'solve"),
        ("command = 'solve flowshop'", "instances is missing: expected a list of strings"),
        ("command = 'solve flowshop'\ninstances = []", "instances = []: expected a list"),
        ("command = 'solve flowshop'\ninstances = ['ta001', 'ta999']", "batch.toml: ta999: "),
        (
            "command = 'solve flowshop'\ninstances = ['x*.txt']",
            "instances: 'x*.txt': no file matches",
        ),
        ("command = 'solve flowshop'\ninstances = ['-']", "'-': expected a name or a file"),
        ("command = 'count queens'\ninstances = [8, 'x']", "batch.toml: "),
        (&format!("{good}time_limit = '60x'"), "time_limit = '60x': expected a time"),
        (&format!("{good}threads = 0"), "threads = 0: expected a whole number from 1"),
        (&format!("{good}seeds = [-1]"), "seeds = [-1]: expected a list of whole numbers"),
        (&format!("{good}seeds = [1, 1]"), "seeds = [1, 1]: expected each seed once"),
        (&format!("{good}limit = 3"), "unknown key limit: expected one of command, instances"),
        (&format!("{good}settings = 3"), "settings = 3: expected a table [settings]"),
        (&format!("{good}[settings]\na = 3"), "settings.a = 3: expected a string"),
        (&format!("{good}[settings]"), "settings = a table: expected at least one name"),
        (&format!("{good}[settings]\na = ''\nb = ' '"), "expected other flags for b than for a"),
        (&format!("{good}[settings]\n\"a\\nb\" = ''"), "expected names without line breaks"),
        (&format!("{good}[settings]\na = '--until-eof'"), "--until-eof is not for the runs"),
        (&format!("{good}[settings]\na = '--bond one'"), "settings.a = '--bond one': unexpected"),
        (&format!("{good}[settings]\na = '--bound x'"), "settings.a = '--bound x': "),
        (
            &format!("{good}[settings]\na = '--peers 3'"),
            "--peers does not apply to 'solve flowshop'",
        ),
        (&format!("{good}[settings]\na = 'one'"), "settings.a = 'one': 'one': expected flags"),
        (&format!("{good}[settings]\na = '--trace t'"), "--trace is not for the runs of a batch"),
        (
            &format!("{good}threads = 1\n[settings]\na = '--threads 2'"),
            "settings.a = '--threads 2': ",
        ),
    ] {
        let folder = batch("bad", text);
        refused(&words(&folder), expected);
        assert!(!folder.join("results.csv").exists(), "{text}");
    }
    refused("batch", "expected FILE.toml");
    refused("batch nowhere.toml", "nowhere.toml: ");
    refused("batch a.toml b.toml", "unexpected argument 'b.toml'");
    refused("batch a.toml --threads 3", "--threads does not apply to 'batch'");
    let folder = batch("other", good);
    let file = folder.join("results.csv");
    for other in ["a,b\n1,2\n", "a letter without a line break"] {
        fs::write(&file, other).unwrap();
        refused(&words(&folder), "results.csv, line 1: expected the columns that 'batch' writes");
        assert_eq!(fs::read_to_string(&file).unwrap(), other);
    }
    let toml = folder.join("batch.toml").display().to_string();
    refused(&format!("batch {toml} --out {toml}"), "is the same file as the input");
    refused(&format!("batch {toml} --out -"), "--out -: expected a file");
    refused(&format!("batch {toml} --out /dev/null"), "/dev/null: expected a regular file");
}

#[test]
fn every_object_says_where_it_comes_from() {
    for words in ["solve queens 8", "count queens 6", "sim interval 1s --peers 2 --seed 1"] {
        let report = json(words);
        for key in ["pleach", "host", "processor", "commit", "date"] {
            assert!(report[key].as_str().is_some_and(|it| !it.is_empty()), "{words}: {key}");
        }
        let date = report["date"].as_str().unwrap();
        assert!(date.len() == 20 && date.ends_with('Z'), "{date}");
    }
}

#[test]
fn the_citation_has_the_version() {
    let citation = fs::read_to_string(root().join("CITATION.cff")).unwrap();
    let version = citation.lines().find_map(|line| line.strip_prefix("version: "));
    assert_eq!(version, Some(env!("CARGO_PKG_VERSION")));
}

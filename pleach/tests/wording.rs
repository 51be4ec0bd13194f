//! What a user reads: help, its examples, progress, results, pictures.

use crate::outside::{end_of, example, folder, json, output_of, pleach, refused};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn text(words: &str) -> String {
    String::from_utf8(pleach(words).stdout).unwrap()
}

/// The words of a command line, respecting quotes.
fn split(line: &str) -> Vec<String> {
    let quoted = line.split('"').enumerate();
    let words = quoted.flat_map(|(i, part)| match i % 2 {
        0 => part.split_whitespace().map(str::to_string).collect(),
        _ => vec![part.to_string()],
    });
    words.collect()
}

/// Every example of the overview and of each task's help succeeds within a short time.
#[test]
fn the_examples_of_help_work() {
    let folder = folder("examples");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for file in ["data/knapsack/correlated-60.txt", "scenarios/mixed-speeds.toml"] {
        let to = folder.join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(root.join(file), to).unwrap();
    }
    fs::write(folder.join("my.txt"), "4 3\n3 7 2 9\n8 1 6 4\n2 9 5 7\n").unwrap();
    let _ = fs::remove_file(folder.join("run.pleach"));
    let helps = ["--help", "solve flowshop --help", "count uts --help", "sim --help"].map(text);
    let mut seen = HashSet::new();
    for line in helps.iter().flat_map(|help| help.lines()) {
        let Some(example) = line.strip_prefix("  pleach ").filter(|&it| seen.insert(it)) else {
            continue;
        };
        let mut words = split(example);
        if words[0] == "devices" && words.len() > 1 {
            // The kernels of one problem: other tests check those of all.
            words.insert(1, "uts".into());
        }
        let searches = ["solve", "count", "resume"].contains(&words[0].as_str());
        if example.contains("--checkpoint") {
            // A search that a time limit stops before it begins saves nothing to resume.
            words.push("--node-limit=10000".into());
        } else if searches && !example.contains("--time-limit") {
            words.push("--time-limit=500ms".into());
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
        let output = output_of(command.current_dir(&folder).args(&words));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!([Some(0), Some(3)].contains(&output.status.code()), "{example}: {said}");
    }
    assert!(seen.len() >= 12, "{seen:?}");
}

#[test]
fn help_and_version_are_commands_too() {
    for (command, flag) in [
        ("help", "--help"),
        ("help solve flowshop", "solve flowshop --help"),
        ("version", "--version"),
    ] {
        assert_eq!(text(command), text(flag), "{command}");
    }
    let version = String::from_utf8(example("slow", &["--version"]).stdout).unwrap();
    assert_eq!(version, concat!("slow (pleach ", env!("CARGO_PKG_VERSION"), ")\n"));
}

#[test]
fn help_shows_only_what_applies() {
    let help = text("--help");
    for word in ["solve PROBLEM INSTANCE", "flowshop", "Problems:", "Examples:", "Exit codes"] {
        assert!(help.contains(word), "{word}: {help}");
    }
    let flowshop = text("solve flowshop --help");
    for word in ["--gantt", "--jobs-first", "[default: search]", "[default: all cores]", "Output:"]
    {
        assert!(flowshop.contains(word), "{word}: {flowshop}");
    }
    assert!(!flowshop.contains("--peers") && !flowshop.contains("--show"), "{flowshop}");
    let queens = text("count queens --help");
    assert!(queens.contains("--nodes") && !queens.contains("--gantt"), "{queens}");
    assert!(queens.contains("--whole") && !flowshop.contains("--whole"), "{queens}");
    assert!(!queens.contains("--best") && !queens.contains("--solution"), "{queens}");
    assert!(text("sim atsp --help").contains("--peers"));
    assert!(text("resume --help").contains("--show"));
    assert!(text("--version").starts_with("pleach "));
}

#[test]
fn trees_are_named_by_the_arguments_of_uts() {
    let output = |words: &[&str]| output_of(Command::new(env!("CARGO_BIN_EXE_pleach")).args(words));
    let counted = output(&["count", "uts", "-t 1 -a 3 -d 10 -b 4 -r 19", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&counted.stdout).unwrap();
    assert_eq!(report["count"], 4_130_071);
    assert_eq!(report["instance"], "-t 1 -a 3 -d 10 -b 4 -r 19");
    let wrong = output(&["count", "uts", "-t 1 -z 3"]);
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(wrong.status.code() == Some(2) && said.contains("'-z': expected one of"), "{said}");
}

#[test]
fn a_square_instance_says_how_it_was_read() {
    let file = folder("wording").join("square.txt");
    fs::write(&file, "3 3\n1 2 3\n4 5 6\n7 8 9\n").unwrap();
    let path = file.display();
    let said = |words: &str| String::from_utf8(pleach(words).stderr).unwrap();
    let words = format!("solve flowshop {path}");
    let note = said(&words);
    assert!(
        note.contains("read as 3 jobs × 3 machines") && note.contains("--jobs-first"),
        "{note}"
    );
    assert!(said(&format!("{words} --jobs-first")).contains("one line per job"));
    assert_eq!(said(&format!("{words} --quiet")), "");
    let report = json(&words);
    assert_eq!(report["settings"]["jobs"], 3);
    assert_eq!(report["settings"]["machines"], 3);
}

#[test]
fn an_instance_may_come_from_standard_input() {
    use std::io::Write;
    let mut child = Command::new(env!("CARGO_BIN_EXE_pleach"))
        .args(["solve", "flowshop", "-", "--json"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"3 2\n1 2 3\n4 5 6\n").unwrap();
    let output = end_of(child);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["objective"], 16);
    refused("solve flowshop - --checkpoint x.pleach", "--checkpoint cannot be combined with '-'");
}

#[test]
fn the_share_done_is_an_estimate() {
    let file = folder("wording").join("share.pleach");
    let _ = fs::remove_file(&file);
    let path = file.display();
    pleach(&format!("count queens 14 --node-limit 20000000 --threads 1 --checkpoint {path}"));
    let shown = text(&format!("resume {path} --show"));
    assert!(shown.contains("estimated share of the tree done: "), "{shown}");
    assert!(!shown.contains("100.0 %"), "{shown}");
}

#[test]
fn results_read_well() {
    let found = text("solve queens 200");
    assert!(found.starts_with("queens 200: found\n"), "{found}");
    let infeasible = text("solve queens 3");
    assert!(infeasible.starts_with("queens 3: infeasible\n"), "{infeasible}");
    let nothing = text("solve flowshop ta001 --best 1");
    assert!(nothing.contains("nothing beats 1 (no-better)"), "{nothing}");
    assert!(
        nothing.contains("solved without search in") || nothing.contains("nodes in"),
        "{nothing}"
    );
    assert!(!nothing.contains("0.00 a second"), "{nothing}");
    let seconds = pleach("count uts T1XXL --time-limit 1");
    assert_eq!(seconds.status.code(), Some(3));
}

fn picture(words: &str, name: &str) -> String {
    let file: PathBuf = folder("wording").join(name);
    assert!(pleach(&format!("{words} --trace {}", file.display())).status.success(), "{words}");
    fs::read_to_string(file).unwrap()
}

#[test]
fn a_trace_is_drawn_even_if_there_is_little_to_draw() {
    // The first solution is the best one, and the bound proves it at once.
    let svg = picture("solve flowshop ta001", "one-value.svg");
    assert!(svg.contains(">best<") && svg.contains(">bound<") && svg.contains(">1278<"), "{svg}");
    for word in ["NaN", "inf", "00000001", "999999"] {
        assert!(!svg.contains(word), "{word}: {svg}");
    }
    let svg = picture("count queens 13", "count.svg");
    assert!(svg.contains("nodes a second") && svg.matches(" V").count() >= 2, "{svg}");
}

#[test]
fn tours_and_knapsacks_are_simulated() {
    for words in [
        "sim atsp ftv33 --peers 100 --seed 0",
        "sim atsp ftv35 --peers 5,10 --seed 0 --bound assignment --best search",
        "sim atsp br17 --peers 5 --seed 0 --best optimum",
    ] {
        let output = pleach(words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words}: {said}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("efficiency"), "{words}");
    }
    let scenario = folder("wording").join("atsp.toml");
    let load = "[load]\nproblem = 'atsp'\ninstance = 'ftv33'\nbound = 'assignment'\n";
    fs::write(&scenario, format!("peers = [2, 20]\nseeds = [1]\n{load}")).unwrap();
    let report = json(&format!("sim {}", scenario.display()));
    assert_eq!(report["rows"].as_array().unwrap().len(), 2);
    refused(
        "sim atsp ftv33 --peers 3 --branching forward",
        "--branching does not apply to 'sim atsp'",
    );
}

/// A full disk is not a bug; the message names the file.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_cannot_be_written_is_named() {
    let output = pleach("solve queens 8 --solution /dev/full");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("cannot write /dev/full: ") && !said.contains("report"), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("queens 8: found"));
}

/// Scripts read these keys, whatever the problem.
#[test]
fn settings_record_every_flag() {
    let keys = [
        "threads", "devices", "slow", "pace", "repeat", "balance", "best", "start", "bound",
        "branching", "child_order", "all", "jobs_first", "objective", "no_wait", "blocking", "due",
        "weights", "releases", "setups", "time_limit", "node_limit", "memory", "nodes", "whole",
        "best_first", "checkpoint", "every", "listen", "key", "places", "mpi", "simd", "seed",
        "trace", "solution", "gantt", "beside", "schedule", "log", "metrics", "json", "quiet",
        "dashboard",
    ];
    for words in ["count queens 8", "solve queens 8", "solve atsp br17", "solve flowshop ta001"] {
        let report = json(&format!("{words} --seed 3 --time-limit 60"));
        let settings = report["settings"].as_object().unwrap();
        let found: Vec<&str> = settings.keys().map(String::as_str).take(keys.len()).collect();
        assert_eq!(found, keys, "{words}");
        assert_eq!((&settings["seed"], &settings["every"]), (&3.into(), &"30s".into()), "{words}");
        assert_eq!((&settings["time_limit"], &settings["all"]), (&"60".into(), &false.into()));
    }
}

/// Some editors put a byte-order mark at the start of a file, which used to be refused.
#[test]
fn a_byte_order_mark_is_skipped() {
    let folder = folder("mark");
    for (problem, text) in [
        ("flowshop", "2 3\n1 2\n3 4\n5 6\n"),
        ("knapsack", "2 10\n5 4\n6 5\n"),
        (
            "atsp",
            "DIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n\
                  EDGE_WEIGHT_SECTION\n0 1 2\n3 0 4\n5 6 0\nEOF\n",
        ),
    ] {
        let file = folder.join(problem);
        let answers = ["", "\u{feff}"].map(|mark| {
            fs::write(&file, format!("{mark}{text}")).unwrap();
            json(&format!("solve {problem} {}", file.display()))["objective"].clone()
        });
        assert!(answers[0].is_number(), "{problem}");
        assert_eq!(answers[0], answers[1], "{problem}");
    }
}

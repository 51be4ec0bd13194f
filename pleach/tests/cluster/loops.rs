//! Loops by several processes: results are those of one process, while others join, leave and die.

use super::party::{Process, free_address};
use crate::outside::{folder, json, output_of, refused, until};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A loop that is open for others.
struct Open {
    folder: PathBuf,
    address: String,
    root: Process,
    joined: u32,
}

fn pleach(words: &str, at: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
    command.args(words.split_whitespace()).current_dir(at);
    command
}

impl Open {
    fn begin(name: &str, files: &[(&str, &str)], words: &str) -> Self {
        let (folder, address) = (folder(&format!("loops-{name}")), free_address());
        let _ = fs::remove_file(folder.join("run.key"));
        for (file, text) in files {
            fs::write(folder.join(file), text).unwrap();
        }
        let words = format!("{words} --threads 1 --json --listen {address} --key run.key");
        let root = Process::start(&mut pleach(&words, &folder), &folder, "root");
        Self { folder, address, root, joined: 0 }
    }

    fn join(&mut self, flags: &str) -> Process {
        let key = self.folder.join("run.key");
        until("the key", || key.exists());
        let elsewhere = self.folder.join("elsewhere");
        fs::create_dir_all(&elsewhere).unwrap();
        let words = format!("join {} --key ../run.key --threads 1 {flags}", self.address);
        self.joined += 1;
        let name = format!("joiner-{}", self.joined);
        Process::start(&mut pleach(&words, &elsewhere), &self.folder, &name)
    }
}

fn ended(mut joiner: Process, code: i32) -> String {
    let end = joiner.end();
    assert_eq!(end, Some(code), "{}", joiner.said());
    joiner.said()
}

/// A matrix with some entries to either side of the diagonal.
fn band(rows: usize) -> String {
    let mut text = String::new();
    let mut entries = 0;
    for row in 1..=rows {
        for column in row.saturating_sub(15).max(1)..=(row + 15).min(rows) {
            writeln!(text, "{row} {column} {}.5", (row * 7 + column * 3) % 11).unwrap();
            entries += 1;
        }
    }
    format!("%%MatrixMarket matrix coordinate real general\n{rows} {rows} {entries}\n{text}")
}

#[test]
fn a_product_of_several_processes_is_that_of_one() {
    let matrix = band(20_000);
    let words = "loop spmm band.mtx --precision f64 --slow cpu0=200 --out together.mtx";
    let mut open = Open::begin("product", &[("band.mtx", &matrix)], words);
    let joiners = ["--slow cpu0=200"; 2].map(|slow| open.join(slow));
    let report = open.root.report();
    joiners.into_iter().for_each(|joiner| drop(ended(joiner, 0)));
    let alone = "loop spmm band.mtx --precision f64 --out alone.mtx";
    assert!(output_of(&mut pleach(alone, &open.folder)).status.success());
    let read = |name: &str| fs::read(open.folder.join(name)).unwrap();
    assert!(read("together.mtx") == read("alone.mtx"));
    let sites = report["sites"].as_array().unwrap();
    assert_eq!(sites.len(), 3, "{}", report["sites"]);
    let parts = report["loop"]["parts"].as_array().unwrap();
    let names: Vec<&str> = parts.iter().map(|part| part["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["site0/cpu0", "site1/cpu0", "site2/cpu0"]);
    let units: u64 = parts.iter().map(|part| part["units"].as_u64().unwrap()).sum();
    // Both passes go over all units.
    assert_eq!(units, 2 * report["loop"]["units"].as_u64().unwrap());
    assert!(parts.iter().all(|part| part["units"].as_u64().unwrap() > 0), "{parts:?}");
}

#[test]
fn leaving_or_dying_changes_no_picture() {
    let words = "loop rays sphere:20000 --size 1200x1200 --method march";
    let alone = json(words);
    for (signal, end, code) in [("-INT", "left", Some(3)), ("-KILL", "lost", None)] {
        // How long a process takes to join the loop depends on the machine.
        let in_it = [5, 15, 45, 135, 405].into_iter().any(|ticks| {
            let mut open = Open::begin("picture", &[], &format!("{words} --slow cpu0=40"));
            let (mut goes, mut stays) = (open.join("--slow cpu0=12"), open.join("--slow cpu0=6"));
            goes.says("joined as site", 1);
            until("work", || goes.is_over() || goes.worked() > ticks);
            if !goes.is_over() {
                goes.signal(signal);
            }
            let report = open.root.report();
            assert!([code, Some(0)].contains(&goes.end()), "{}", goes.said());
            assert_eq!(stays.end(), Some(0), "{}", stays.said());
            for key in ["checksum", "segments", "lost", "units"] {
                assert_eq!(report["loop"][key], alone["loop"][key], "{key}");
            }
            let sites = report["sites"].as_array().unwrap();
            sites.iter().filter(|site| site["end"] == end).count() == 1
        });
        assert!(in_it, "{signal} never came while the process was in the loop");
    }
}

#[test]
fn every_run_of_a_loop_is_joined() {
    let mut open = Open::begin("runs", &[], "loop csrmm fem:9000 --slow cpu0=100 --repeat 3");
    let joiner = open.join("");
    let report = open.root.report();
    let said = ended(joiner, 0);
    assert!(said.contains("took part in a loop"), "{said}");
    assert_eq!(report["repeats"]["runs"], 3);
    assert_eq!(report["loop"]["checksum"], json("loop csrmm fem:9000")["loop"]["checksum"]);
}

#[test]
fn what_several_processes_cannot_do_is_refused() {
    let listen = "--listen 127.0.0.1:0 --key /tmp/pleach-no.key";
    refused(&format!("loop lattice {listen}"), "loop lattice: several processes cannot share it");
    refused(
        &format!("loop csrmm fem:900 --compare-static {listen}"),
        "--compare-static is for a single process",
    );
}

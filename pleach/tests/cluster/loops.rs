//! Loops by several processes: results are those of one, whoever joins, leaves or dies.

use super::party::free_address;
use crate::outside::{folder, json, refused};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A loop that is open for others.
struct Open {
    folder: PathBuf,
    address: String,
    root: Child,
}

fn pleach(at: &Path, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
    command.args(words.split_whitespace()).current_dir(at).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
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
        let root = pleach(&folder, &words).spawn().unwrap();
        Self { folder, address, root }
    }

    fn join(&self, flags: &str) -> Child {
        let (key, since) = (self.folder.join("run.key"), Instant::now());
        while !key.exists() && since.elapsed() < Duration::from_secs(60) {
            sleep(Duration::from_millis(2));
        }
        let elsewhere = self.folder.join("elsewhere");
        fs::create_dir_all(&elsewhere).unwrap();
        let words = format!("join {} --key ../run.key --threads 1 {flags}", self.address);
        pleach(&elsewhere, &words).spawn().unwrap()
    }

    fn end(self) -> Value {
        let output = self.root.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn ended(joiner: Child, code: i32) -> Output {
    let output = joiner.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    output
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
    let open = Open::begin("product", &[("band.mtx", &matrix)], words);
    let joiners = ["--slow cpu0=200"; 2].map(|slow| open.join(slow));
    let folder = open.folder.clone();
    let report = open.end();
    joiners.into_iter().for_each(|joiner| drop(ended(joiner, 0)));
    let alone = pleach(&folder, "loop spmm band.mtx --precision f64 --out alone.mtx").output();
    assert!(alone.unwrap().status.success());
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
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
fn whoever_leaves_or_dies_changes_no_picture() {
    let words = "loop rays sphere:20000 --size 1200x1200 --method march";
    let alone = json(words);
    for (signal, end, code) in [("-INT", "left", Some(3)), ("-KILL", "lost", None)] {
        let open = Open::begin("picture", &[], &format!("{words} --slow cpu0=40"));
        let (goes, mut stays) = (open.join("--slow cpu0=6"), open.join("--slow cpu0=6"));
        // Until it has joined.
        sleep(Duration::from_millis(700));
        let id = goes.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        let report = open.end();
        assert_eq!(goes.wait_with_output().unwrap().status.code(), code);
        assert!(stays.wait().unwrap().success());
        for key in ["checksum", "segments", "lost", "units"] {
            assert_eq!(report["loop"][key], alone["loop"][key], "{key}");
        }
        let sites = report["sites"].as_array().unwrap();
        let ends = sites.iter().filter(|site| site["end"] == end).count();
        assert_eq!(ends, 1, "{}", report["sites"]);
    }
}

#[test]
fn every_run_of_a_loop_is_joined() {
    let open = Open::begin("runs", &[], "loop csrmm fem:9000 --slow cpu0=100 --repeat 3");
    let joiner = open.join("");
    let report = open.end();
    let said = String::from_utf8(ended(joiner, 0).stderr).unwrap();
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

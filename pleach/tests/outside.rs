//! Runs the command from outside: words in, output, JSON or a refusal out.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs it.
pub fn pleach(words: &str) -> Output {
    let words = words.split_whitespace();
    Command::new(env!("CARGO_BIN_EXE_pleach")).args(words).output().unwrap()
}

/// Runs it for its JSON.
pub fn json(words: &str) -> Value {
    let output = pleach(&format!("{words} --json"));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    // Every result says what found it, where and when.
    for key in ["pleach", "host", "processor", "commit", "date"] {
        assert!(said[key].is_string(), "{words}: {key} is missing");
    }
    said
}

/// A separate folder for a test's files.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The path of a file in a folder, where no file is yet.
pub fn fresh(group: &str, name: &str) -> PathBuf {
    let path = folder(group).join(name);
    let _ = fs::remove_file(&path);
    path
}

/// Runs it on bad input: one line that says so, nothing else, and exit code 2.
pub fn refused(words: &str, said: &str) {
    let output = pleach(words);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{words}: {stderr}");
    assert!(stderr.contains(said), "{words}: {stderr}");
    assert!(output.stdout.is_empty(), "{words}");
}

/// An example of this workspace, built beside the binary by `cargo test`.
pub fn example(name: &str, words: &[&str]) -> Output {
    Command::new(example_path(name)).args(words).output().unwrap()
}

/// Where an example of this workspace is.
pub fn example_path(name: &str) -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_pleach")).parent().unwrap();
    binary.join("examples").join(name)
}

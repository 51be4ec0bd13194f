//! Runs the command from outside: words in, output, JSON or a refusal out.

use serde_json::Value;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

/// No wait here is for time: this only ends a test that would never end.
const PATIENCE: Duration = Duration::from_secs(600);

/// Waits until a condition holds.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < PATIENCE, "gave up waiting for {what}");
        sleep(Duration::from_millis(5));
    }
}

/// Waits for what a process does, or for its end. A process that takes too long is killed, and the test fails.
pub fn guarded<T: Debug>(process: u32, wait: impl FnOnce() -> T) -> T {
    let (over, is_over) = channel::<()>();
    let guard = spawn(move || {
        let late = is_over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout);
        // It may have ended on its own.
        late && Command::new("kill").args(["-KILL", &process.to_string()]).status().is_ok()
    });
    let result = wait();
    drop(over);
    assert!(!guard.join().unwrap(), "a process was killed after {PATIENCE:?}: {result:?}");
    result
}

/// Runs a command to its end, with no input.
pub fn output_of(command: &mut Command) -> Output {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    end_of(command.spawn().unwrap())
}

/// Waits for the end of a process, and reads what it prints to pipes.
pub fn end_of(process: Child) -> Output {
    guarded(process.id(), || process.wait_with_output().unwrap())
}

/// Whether this process runs a single test. If not, this test runs in a process of its own, in which no other one takes
/// memory or frees it.
pub fn is_alone(test: &str) -> bool {
    const ALONE: &str = "PLEACH_TEST_ALONE";
    let alone = std::env::var_os(ALONE).is_some();
    if !alone {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let output = output_of(command.args(["--exact", test]).env(ALONE, "yes"));
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
    alone
}

/// Runs it.
pub fn pleach(words: &str) -> Output {
    let words = words.split_whitespace();
    output_of(Command::new(env!("CARGO_BIN_EXE_pleach")).args(words))
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

/// An example of this workspace, built alongside the binary by `cargo test`.
pub fn example(name: &str, words: &[&str]) -> Output {
    output_of(Command::new(example_path(name)).args(words))
}

/// Where an example of this workspace is.
pub fn example_path(name: &str) -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_pleach")).parent().unwrap();
    binary.join("examples").join(name)
}

//! [`Party`]: a root, and processes that join it.

use super::proxy::Proxy;
use crate::outside::folder;
use serde_json::Value;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A search whose counts are known.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    pub words: &'a str,
    pub count: Option<u64>,
    pub branched: Option<u64>,
    pub bounded: u64,
}

impl Search<'_> {
    /// Checks a report of it.
    pub fn check(&self, report: &Value) {
        // On a busy machine heuristics may not find the optimum in their second.
        let ends = ["counted", "optimal", "no-better"];
        assert!(ends.contains(&report["status"].as_str().unwrap()), "{report}");
        assert_eq!(report["nodes"]["bounded"], self.bounded, "{} {}", self.words, report["sites"]);
        if let Some(count) = self.count {
            assert_eq!(report["count"], count, "{}", self.words);
        }
        if let Some(branched) = self.branched {
            assert_eq!(report["nodes"]["branched"], branched, "{}", self.words);
        }
    }
}

/// A root, and processes that join it through a proxy. All of them are ended when it is dropped.
pub struct Party {
    pub folder: PathBuf,
    pub joiners: Vec<Child>,
    pub proxy: Proxy,
    root: Child,
    words: Vec<String>,
    address: String,
    key: PathBuf,
    pace: u64,
}

/// No search here takes as long.
const PATIENCE: Duration = Duration::from_secs(100);

fn pleach() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
    command.stdin(Stdio::null());
    command
}

/// An address where nobody listens.
pub fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

impl Party {
    /// A root that begins a search, with this pace and these flags.
    pub fn begin(name: &str, search: &Search<'_>, pace: u64, flags: &[&str]) -> Self {
        let folder = folder(&format!("cluster-{name}"));
        let key = folder.join("run.key");
        Self::root(folder, &key, search, pace, flags)
    }

    /// The same with a key somewhere.
    pub fn begin_with_key(name: &str, search: &Search<'_>, pace: u64, key: &Path) -> Self {
        Self::root(folder(&format!("cluster-{name}")), key, search, pace, &[])
    }

    fn root(folder: PathBuf, key: &Path, search: &Search<'_>, pace: u64, flags: &[&str]) -> Self {
        let _ = fs::remove_file(folder.join("run.pleach"));
        let address = free_address();
        let proxy = Proxy::new(&address);
        let words = search.words.split_whitespace().chain(flags.iter().copied());
        let words: Vec<&str> = words.collect();
        let root = start(&folder, key, &address, pace, &words);
        let key = key.to_path_buf();
        let words = words.into_iter().map(str::to_string).collect();
        Self { folder, joiners: Vec::new(), proxy, root, words, address, key, pace }
    }

    fn joining(&self, key: &Path, address: &str) -> Command {
        let mut command = pleach();
        command.args(["join", address, "--threads", "1", "--pace", &self.pace.to_string()]);
        command.arg("--key").arg(key).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// One more process joins.
    pub fn join(&mut self) {
        self.wait_for(&self.key);
        let joiner = self.joining(&self.key, &self.proxy.address).spawn().unwrap();
        self.joiners.push(joiner);
    }

    /// Waits until there is a file.
    pub fn wait_for(&self, file: &Path) {
        let since = Instant::now();
        while !file.exists() && since.elapsed() < PATIENCE {
            sleep(Duration::from_millis(5));
        }
    }

    /// What a process with another key is told.
    pub fn why_not(&self, key: &Path) -> String {
        let output = self.joining(key, &self.address).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    }

    /// What a process is told that tries somewhere for a while.
    pub fn why_not_at(&self, address: &str, patience: Duration) -> String {
        let mut command = self.joining(&self.key, address);
        command.arg("--patience").arg(format!("{}ms", patience.as_millis()));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    }

    /// Waits until so many connections are there.
    pub fn wait_for_sites(&self, sites: usize) {
        let since = Instant::now();
        while self.proxy.connections() + 1 < sites && since.elapsed() < PATIENCE {
            sleep(Duration::from_millis(5));
        }
        // They have yet to be let in.
        sleep(Duration::from_millis(300));
    }

    /// Sends a signal to a joiner.
    pub fn signal(&self, joiner: usize, signal: &str) {
        let id = self.joiners[joiner].id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Ends a joiner at once.
    pub fn kill(&mut self, joiner: usize) {
        let mut gone = self.joiners.swap_remove(joiner);
        gone.kill().unwrap();
        gone.wait().unwrap();
    }

    /// Ends the root at once, and resumes the search from its file, if it had come to write one.
    pub fn kill_root(&mut self) {
        self.root.kill().unwrap();
        self.root.wait().unwrap();
        let saved = self.folder.join("run.pleach").exists();
        let words = if saved { vec!["resume".to_string()] } else { self.words.clone() };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.root = start(&self.folder, &self.key, &self.address, self.pace, &words);
    }

    /// Whether the search has ended.
    pub fn is_over(&mut self) -> bool {
        self.root.try_wait().unwrap().is_some()
    }

    /// Waits for the end, and reads the report.
    pub fn end(&mut self) -> Value {
        let since = Instant::now();
        while !self.is_over() {
            assert!(since.elapsed() < PATIENCE, "no end: {}", self.said());
            sleep(Duration::from_millis(10));
        }
        let text = fs::read_to_string(self.folder.join("out")).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text} {}", self.said()))
    }

    fn said(&self) -> String {
        fs::read_to_string(self.folder.join("err")).unwrap_or_default()
    }
}

/// Starts a root, or resumes one.
fn start(folder: &Path, key: &Path, address: &str, pace: u64, words: &[&str]) -> Child {
    let file = folder.join("run.pleach");
    let mut command = pleach();
    match words {
        ["resume"] => command.arg("resume").arg(&file),
        words => command.args(words).arg("--checkpoint").arg(&file),
    };
    command.args(["--threads", "1", "--every", "200ms", "--json", "--listen", address]);
    command.args(["--pace", &pace.to_string()]).arg("--key").arg(key);
    command.stdout(File::create(folder.join("out")).unwrap());
    command.stderr(File::create(folder.join("err")).unwrap());
    command.spawn().unwrap()
}

impl Drop for Party {
    fn drop(&mut self) {
        for process in self.joiners.iter_mut().chain([&mut self.root]) {
            // Most have ended by themselves.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

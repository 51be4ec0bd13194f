//! [`Party`]: a root, and processes that join it.

use super::proxy::Proxy;
use crate::outside::{folder, output_of, until};
use serde_json::Value;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

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

/// An address where nobody listens. The system gives its port to nobody else before a root listens there: outgoing
/// connections get higher ones.
pub fn free_address() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = std::process::id() * 61 + NEXT.fetch_add(1, Ordering::Relaxed);
        let address = format!("127.0.0.1:{}", 20_000 + number % 12_000);
        if TcpListener::bind(&address).is_ok() {
            return address;
        }
    }
}

/// A process whose output goes to files.
pub struct Process {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Process {
    /// Starts a command; `name` names its files.
    pub fn start(command: &mut Command, folder: &Path, name: &str) -> Self {
        let (out, err) = (folder.join(format!("{name}.out")), folder.join(format!("{name}.err")));
        command.stdin(Stdio::null()).stdout(File::create(&out).unwrap());
        let child = command.stderr(File::create(&err).unwrap()).spawn().unwrap();
        Self { child, out, err }
    }

    /// Its standard error so far.
    pub fn said(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.err).unwrap()).into_owned()
    }

    /// Waits until it has printed something this many times.
    pub fn says(&mut self, text: &str, times: usize) {
        let err = self.err.clone();
        until(&format!("'{text}'"), || {
            let over = self.child.try_wait().unwrap();
            let said = String::from_utf8_lossy(&fs::read(&err).unwrap()).into_owned();
            let heard = said.matches(text).count() >= times;
            assert!(heard || over.is_none(), "it ended, {over:?}, and said only: {said}");
            heard
        });
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// How long it has worked so far, in ticks of the system's clock.
    pub fn worked(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // The name in brackets may hold anything.
        let fields = stat.rsplit(')').next().unwrap().split_whitespace();
        fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum()
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        // It may have ended on its own.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }

    pub fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end, and returns its exit code.
    pub fn end(&mut self) -> Option<i32> {
        let err = self.err.clone();
        until(&format!("the end of a process that writes to {}", err.display()), || self.is_over());
        self.child.wait().unwrap().code()
    }

    /// What it has printed.
    pub fn output(&self) -> String {
        fs::read_to_string(&self.out).unwrap()
    }

    /// Waits for the end, and reads the report.
    pub fn report(&mut self) -> Value {
        let code = self.end();
        let text = self.output();
        serde_json::from_str(&text)
            .unwrap_or_else(|why| panic!("{why}: {text}, exit code {code:?}: {}", self.said()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A root, and processes that join it by a proxy.
pub struct Party {
    pub folder: PathBuf,
    root: Option<Process>,
    pub joiners: Vec<Process>,
    pub proxy: Proxy,
    program: PathBuf,
    words: Vec<String>,
    address: String,
    key: PathBuf,
    /// Nodes a second of each worker.
    pace: u64,
    started: usize,
}

impl Party {
    /// A root that begins a search, with this pace and these flags.
    pub fn begin(name: &str, search: &Search<'_>, pace: u64, flags: &[&str]) -> Self {
        let words = search.words.split_whitespace().chain(flags.iter().copied());
        let words: Vec<&str> = words.collect();
        Self::of(Path::new(env!("CARGO_BIN_EXE_pleach")), name, pace, &words)
    }

    /// A root of any program.
    pub fn of(program: &Path, name: &str, pace: u64, words: &[&str]) -> Self {
        let folder = folder(&format!("cluster-{name}"));
        for file in ["run.pleach", "run.pleach.old", "run.key"] {
            let _ = fs::remove_file(folder.join(file));
        }
        let (key, address) = (folder.join("run.key"), free_address());
        let words: Vec<String> = words.iter().map(|word| (*word).to_string()).collect();
        let mut party = Self {
            proxy: Proxy::new(&address),
            root: None,
            joiners: Vec::new(),
            program: program.into(),
            folder,
            words,
            address,
            key,
            pace,
            started: 0,
        };
        party.begin_again();
        party
    }

    /// Starts a root with the words of the first one.
    fn begin_again(&mut self) {
        let words = self.words.clone();
        self.start_root(&words.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// The root.
    pub fn root(&mut self) -> &mut Process {
        self.root.as_mut().unwrap()
    }

    /// The address of the root.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Where the search is saved.
    pub fn file(&self) -> PathBuf {
        self.folder.join("run.pleach")
    }

    /// A command with the key of the search.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).arg("--key").arg(&self.key);
        if !words.contains(&"--threads") {
            command.args(["--threads", "1"]);
        }
        command
    }

    /// Starts a root with these words, or has it resume its file. There must be none.
    pub fn start_root(&mut self, words: &[&str]) {
        let file = self.file();
        let mut command = self.command(words);
        match words {
            ["resume", ..] => command.arg(&file),
            words if words.contains(&"--checkpoint") => &mut command,
            _ => command.arg("--checkpoint").arg(&file),
        };
        if !words.contains(&"--pace") {
            command.args(["--pace", &self.pace.to_string()]);
        }
        command.args(["--every", "200ms", "--json", "--listen", &self.address]);
        self.started += 1;
        let name = format!("root-{}", self.started);
        self.root = Some(Process::start(&mut command, &self.folder, &name));
    }

    /// Starts a root with the words of the first one at another address. There must be none.
    pub fn listen_at(&mut self, address: &str) {
        self.address = address.into();
        self.begin_again();
    }

    /// Ends the root at once, and starts one with these words.
    pub fn replace_root(&mut self, words: &[&str]) {
        self.root().kill();
        self.start_root(words);
    }

    /// Ends the root at once, and resumes the search from its file, if it had come to write one.
    pub fn kill_root(&mut self) {
        self.root().kill();
        if self.file().exists() {
            self.start_root(&["resume"]);
        } else {
            self.begin_again();
        }
    }

    /// The command of a process that joins.
    pub fn joining(&self, key: &Path, address: &str, flags: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["join", address]).args(flags).arg("--key").arg(key);
        if !["--threads", "--devices"].iter().any(|flag| flags.contains(flag)) {
            command.args(["--threads", "1"]);
        }
        if !flags.contains(&"--pace") {
            command.args(["--pace", &self.pace.to_string()]);
        }
        command
    }

    /// One more process joins.
    pub fn join(&mut self) {
        self.join_with(&[]);
    }

    /// One more process joins, with these flags.
    pub fn join_with(&mut self, flags: &[&str]) {
        let key = self.key.clone();
        until("the key", || key.exists());
        self.started += 1;
        let mut command = self.joining(&self.key, &self.proxy.address, flags);
        let name = format!("joiner-{}", self.started);
        self.joiners.push(Process::start(&mut command, &self.folder, &name));
    }

    /// Waits until all joiners are in.
    pub fn all_join(&mut self) {
        self.joiners.iter_mut().for_each(|joiner| joiner.says("joined as site", 1));
    }

    /// Waits until the root knows of this many threads, which all have work.
    pub fn all_work(&mut self, threads: u32) {
        self.root_reports(&format!(" {threads} of {threads} workers busy"));
    }

    /// Asks the root for its state until that has this text.
    pub fn root_reports(&mut self, text: &str) {
        let root = self.root();
        let heard = root.said().len();
        until(text, || {
            assert!(!root.is_over(), "it ended, and said only: {}", root.said());
            root.signal("-USR1");
            root.said()[heard..].contains(text)
        });
    }

    /// The reason why a process cannot join with another key, or elsewhere.
    pub fn why_not(&self, key: &Path, address: &str, flags: &[&str]) -> String {
        let output = output_of(&mut self.joining(key, address, flags));
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    }

    pub fn key(&self) -> &Path {
        &self.key
    }

    /// Ends a joiner at once.
    pub fn kill(&mut self, joiner: usize) {
        self.joiners.swap_remove(joiner).kill();
    }

    /// Waits for the end, and reads the report.
    pub fn end(&mut self) -> Value {
        self.root().report()
    }
}

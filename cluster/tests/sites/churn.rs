//! Processes that die, freeze and come back, in a star whose root is this process or another one.

use crate::signal::Signal;
use crate::star::{Folder, VERSION, limits};
use pleach_cluster::tls::{
    self, JoinOptions, Key, Limits, ListenOptions, Reach, Star, TlsEntrance,
};
use pleach_cluster::{Arrival, Network};
use pleach_cluster::{Caller, Entrance};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(25);

fn steady() -> Limits {
    Limits { silence: Duration::from_secs(3), ..limits() }
}

/// A process that is killed when this value is dropped.
struct Process(Child);

impl Process {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("churn").args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    fn signal(&self, name: &str) {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    fn output(&mut self) -> BufReader<ChildStdout> {
        BufReader::new(self.0.stdout.take().unwrap())
    }

    /// Waits until it ends successfully. Returns its output.
    fn end(mut self) -> String {
        let mut told = String::new();
        self.output().read_to_string(&mut told).unwrap();
        assert!(self.0.wait().unwrap().success(), "{told}");
        told
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Root {
    star: Star,
    entrance: TlsEntrance,
    signal: Signal,
    /// Places to give away.
    free: Vec<u32>,
}

impl Root {
    fn open(address: &str, key: &Path, free: &[u32]) -> Self {
        let signal = Signal::default();
        let key = Key::make(key).unwrap();
        let (address, version) = (address.into(), VERSION.into());
        let listening = ListenOptions { address, key, version, places: 4, limits: steady() };
        let (star, entrance) = tls::listen(listening, signal.wake()).unwrap();
        Self { star, entrance, signal, free: free.to_vec() }
    }

    fn next(&mut self) -> Arrival {
        let start = Instant::now();
        loop {
            while let Some(caller) = self.entrance.next() {
                match caller {
                    Caller::JoinRequest { number, .. } if self.free.is_empty() => {
                        self.entrance.postpone(number, "full");
                    }
                    Caller::JoinRequest { number, .. } => {
                        self.entrance.admit(number, self.free.remove(0), Arc::from([]));
                    }
                    Caller::Withdrawn { .. } | Caller::Note(_) => {}
                }
            }
            if let Some(arrival) = self.star.poll().unwrap() {
                return arrival;
            }
            assert!(start.elapsed() < LIMIT, "nothing arrives");
            self.signal.wait(Duration::from_secs(1));
        }
    }

    fn joined(&mut self, site: u32) {
        assert!(matches!(self.next(), Arrival::Joined { site: joined, .. } if joined == site));
    }

    /// Asks all to finish.
    fn end(mut self) {
        (1..4).for_each(|site| self.star.send(site, Vec::new()));
        self.star.finish();
        while self.next() != Arrival::End {}
    }
}

/// A site is killed while messages go to it, and another process takes its place: it gets none of them, and all others
/// are notified.
fn replaced(folder: &Path) {
    let key = folder.join("key");
    let mut root = Root::open("127.0.0.1:0", &key, &[1, 2]);
    let (address, key) = (root.entrance.address().to_string(), key.to_str().unwrap());
    let former = Process::start(&["echo", &address, key]);
    root.joined(1);
    let other = Process::start(&["echo", &address, key]);
    root.joined(2);
    root.star.send(1, vec![1]);
    assert_eq!(root.next(), Arrival::Message { from: 1, bytes: vec![1] });
    former.signal("-KILL");
    root.free.push(1);
    let newcomer = Process::start(&["echo", &address, key]);
    loop {
        root.star.send(1, vec![2; 100_000]);
        match root.star.poll().unwrap() {
            Some(Arrival::Lost(1)) => break,
            Some(Arrival::Message { from: 1, .. }) => {}
            Some(other) => panic!("{other:?}"),
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    root.star.send(1, vec![3]);
    root.joined(1);
    root.star.send(1, vec![4]);
    assert_eq!(root.next(), Arrival::Message { from: 1, bytes: vec![4] });
    root.end();
    let told = newcomer.end();
    assert_eq!(told.lines().filter(|line| line.starts_with("message")).count(), 1, "{told}");
    let told = other.end();
    let words: Vec<&str> = told.lines().collect();
    assert_eq!(words, ["joined 1", "lost 1", "joined 1", "end"]);
}

/// A site that freezes for too long is lost, is informed when it continues, and can come back.
fn still(folder: &Path) {
    let key = folder.join("key");
    let mut root = Root::open("127.0.0.1:0", &key, &[1]);
    let (address, key) = (root.entrance.address().to_string(), key.to_str().unwrap());
    let start = Instant::now();
    let mut site = Process::start(&["again", &address, key]);
    root.joined(1);
    site.signal("-STOP");
    assert_eq!(root.next(), Arrival::Lost(1));
    assert!(start.elapsed() >= Duration::from_secs(3));
    site.signal("-CONT");
    let mut lines = site.output().lines();
    let line = lines.next().unwrap().unwrap();
    assert_eq!(line, "lost 0: the root ended the connection: silent for 3 s");
    root.free.push(1);
    root.joined(1);
    root.end();
    assert_eq!(lines.last().unwrap().unwrap(), "end");
}

/// The root is killed. The next one has the same key and address, and the sites come back.
fn reborn(folder: &Path) {
    let key = folder.join("key");
    let key = key.to_str().unwrap();
    let mut first = Process::start(&["root", "127.0.0.1:0", key]);
    let mut lines = first.output().lines();
    let address = lines.next().unwrap().unwrap();
    let sites = [(); 2].map(|()| Process::start(&["again", &address, key]));
    let mut joined = [(); 2].map(|()| lines.next().unwrap().unwrap());
    joined.sort_unstable();
    assert_eq!(joined, ["joined 1", "joined 2"]);
    first.signal("-KILL");
    drop(first);
    let mut second = Root::open(&address, Path::new(key), &[1, 2]);
    (1..3).for_each(|site| second.joined(site));
    second.end();
    for site in sites {
        let told = site.end();
        assert!(told.contains("lost 0: ") && told.ends_with("end\n"), "{told}");
    }
}

/// Plays a case with this process as the judge.
pub const CASES: [(&str, Case); 3] = [("replaced", replaced), ("still", still), ("reborn", reborn)];

type Case = fn(&Path);

pub fn run(case: Case) -> Result<(), String> {
    let folder = Folder::new();
    let play = || case(&folder.0);
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(play)).map_err(|_| "see above".into())
}

/// Runs one of the started processes.
pub fn play(role: &str, address: &str, key: &str) {
    if role == "root" {
        let mut root = Root::open(address, Path::new(key), &[1, 2]);
        println!("{}", root.entrance.address());
        loop {
            match root.next() {
                // The site has joined once it answers.
                Arrival::Joined { site, .. } => root.star.send(site, vec![1]),
                Arrival::Message { from, .. } => println!("joined {from}"),
                _ => {}
            }
        }
    }
    while !echo(address, key) && role == "again" {}
}

/// Sends messages back. Returns whether it reached the end.
fn echo(address: &str, key: &str) -> bool {
    let (signal, start) = (Signal::default(), Instant::now());
    let mut star = loop {
        let joining = JoinOptions {
            address: address.into(),
            key: Key::read(key.as_ref()).unwrap(),
            version: VERSION.into(),
            bytes: Vec::new(),
            limits: steady(),
            patience: Duration::from_secs(5),
            reach: Reach::Automatic,
        };
        match tls::join(joining, signal.wake()) {
            Ok((star, _)) => break star,
            Err(error) => assert!(start.elapsed() < LIMIT, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    loop {
        match star.poll().unwrap() {
            Some(Arrival::Message { bytes, .. }) if bytes.is_empty() => star.finish(),
            Some(Arrival::Message { from, bytes }) => {
                println!("message of {} bytes", bytes.len());
                star.send(from, bytes);
            }
            Some(Arrival::Joined { site, .. }) => println!("joined {site}"),
            Some(Arrival::Lost(0)) => {
                println!("lost 0: {}", star.loss_reason().unwrap());
                return false;
            }
            Some(Arrival::Lost(site)) => println!("lost {site}"),
            Some(Arrival::End) => {
                println!("end");
                return true;
            }
            None => signal.wait(Duration::from_secs(1)),
        }
        assert!(start.elapsed() < LIMIT, "nothing arrives");
    }
}

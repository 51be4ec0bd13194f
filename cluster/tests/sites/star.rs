//! Starts the sites of a star, which find each other by files in a folder, and checks how they ended.

use crate::launch::{End, judge, wait};
use crate::signal::Signal;
use crate::site::{LONGEST, Site};
use pleach_cluster::tls::{self, JoinOptions, Key, Limits, ListenOptions, Reach};
use pleach_cluster::{Caller, Entrance};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

pub const VERSION: &str = "test";

pub fn limits() -> Limits {
    Limits { message: LONGEST, ..Limits::default() }
}

/// A folder of this test, removed at its end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pleach-cluster-star-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Plays a case between this many processes. An error has their output.
pub fn run(case: &str, sites: u32, end: End, limit: Duration) -> Result<(), String> {
    let folder = Folder::new();
    let logs: Vec<PathBuf> = (0..sites).map(|i| folder.0.join(format!("log-{i}"))).collect();
    let deadline = Instant::now() + limit;
    let start = |(i, log): (usize, &PathBuf)| {
        let file = File::create(log).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["star", case, folder.0.to_str().unwrap()]);
        command.args([i.to_string(), sites.to_string()]).stdin(Stdio::null());
        command.stdout(file.try_clone().unwrap()).stderr(file).spawn().unwrap()
    };
    let children: Vec<_> = logs.iter().enumerate().map(start).collect();
    let left = || deadline.saturating_duration_since(Instant::now());
    let statuses: Vec<_> = children.into_iter().map(|child| wait(child, left())).collect();
    let told: String = logs.iter().map(|log| fs::read_to_string(log).unwrap()).collect();
    // The first that has not ended, or has failed, stands for all.
    let bad = statuses.iter().find(|status| status.is_none_or(|status| !status.success()));
    judge(*bad.unwrap_or(&statuses[0]), sites, end, &told, limit)
}

/// Plays a case as one of the sites.
pub fn play(case: &str, folder: &str, number: &str, sites: &str) {
    let (folder, sites) = (PathBuf::from(folder), sites.parse().unwrap());
    let root = number == "0";
    crate::site::play_on(
        case,
        move || if root { open(&folder, sites) } else { join(&folder, sites) },
    );
}

fn open(folder: &Path, sites: u32) -> Site {
    let signal = Signal::default();
    let key = Key::make(&folder.join("key")).unwrap();
    let (address, version) = ("127.0.0.1:0".into(), VERSION.into());
    let listening = ListenOptions { address, key, version, places: sites, limits: limits() };
    let (star, mut entrance) = tls::listen(listening, signal.wake()).unwrap();
    fs::write(folder.join("draft"), entrance.address().to_string()).unwrap();
    fs::rename(folder.join("draft"), folder.join("address")).unwrap();
    let mut next = 1;
    while next < sites {
        match entrance.next() {
            Some(Caller::JoinRequest { number, .. }) => {
                entrance.admit(number, next, Arc::from(&b"welcome"[..]));
                next += 1;
            }
            Some(Caller::Withdrawn { .. }) => {}
            Some(Caller::Note(note)) => println!("{note}"),
            None => signal.wait(Duration::from_secs(1)),
        }
    }
    Site::of(Box::new(star), signal).gather(sites - 1)
}

fn join(folder: &Path, sites: u32) -> Site {
    let address = loop {
        match fs::read_to_string(folder.join("address")) {
            Ok(address) => break address,
            Err(_) => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let signal = Signal::default();
    let key = Key::read(&folder.join("key")).unwrap();
    let (version, bytes, patience) = (VERSION.into(), vec![1, 2], Duration::from_secs(10));
    let joining = JoinOptions {
        address,
        key,
        version,
        bytes,
        limits: limits(),
        patience,
        reach: Reach::Automatic,
    };
    let (star, welcome) = tls::join(joining, signal.wake()).unwrap();
    assert_eq!(welcome, b"welcome");
    Site::of(Box::new(star), signal).gather(sites - 2)
}

//! Chaos: a root and joiners that are killed, stopped, cut off, resumed and restarted with other flags at random
//! moments. Every result is right, or an error says why there is none; and there is always an end.

use super::party::{Party, Process};
use crate::outside::{example_path, until};
use oorandom::Rand64;
use pleach_cluster::tls::{self, JoinError, JoinOptions, Key, Limits, Reach};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::Duration;

/// A search whose result is known.
struct Task {
    words: String,
    program: PathBuf,
    /// What is counted, or the optimum.
    result: i64,
    /// Nodes bounded and branched, where every run of the search has the same.
    bounded: Option<u64>,
    branched: Option<u64>,
    /// Nodes a second of each worker: a search takes four of them about two seconds.
    pace: u64,
    /// Other starts, with which the search may begin again: all prove the same.
    starts: &'static [&'static [&'static str]],
}

const KNAPSACK: i64 = 215_359;

fn tasks() -> Vec<Task> {
    let pleach = || PathBuf::from(env!("CARGO_BIN_EXE_pleach"));
    let task = |words: &str, result: i64, nodes: (u64, Option<u64>)| Task {
        words: words.into(),
        program: pleach(),
        result,
        bounded: Some(nodes.0),
        branched: nodes.1,
        pace: nodes.0 / 8,
        starts: &[],
    };
    let ta030 = "solve flowshop ta030 --best optimum --bound one";
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/knapsack/correlated-60.txt");
    let knapsack = Task {
        starts: &[&["--best", "215359"], &["--best", "215358"], &["--best", "215400"], &[]],
        bounded: None,
        ..task(&format!("solve knapsack {file}"), KNAPSACK, (5_984_951, None))
    };
    // Nodes of a second each, on a lease of ten.
    let slow =
        Task { program: example_path("slow"), pace: 1_000_000, ..task("5 1000", 32, (62, None)) };
    vec![
        task("count uts T1", 4_130_071, (4_130_070, Some(824_953))),
        knapsack,
        task("count queens 13", 73_712, (4_674_889, None)),
        task(ta030, 2178, (45_246_962, Some(2_415_779))),
        slow,
        task("count uts T3", 4_112_897, (4_112_896, Some(513_863))),
        task("count queens 13 --nodes interval", 73_712, (4_674_889, None)),
        task(&format!("{ta030} --nodes interval"), 2178, (45_246_962, Some(2_415_779))),
        task(
            &format!("{ta030} --nodes interval --child-order job"),
            2178,
            (45_246_962, Some(2_415_779)),
        ),
        task(
            "count queens 13 --balance dynamic:share=chunk/1,cutoff=2,second_cutoff=4,coordinator=yes",
            73_712,
            (4_674_889, None),
        ),
    ]
}

/// As many runs as `PLEACH_CHAOS` says, or ten, from the seed `PLEACH_SEED`.
#[test]
fn chaos_changes_no_result() {
    let number = |name| std::env::var(name).ok().and_then(|word| word.parse().ok());
    let runs: u64 = number("PLEACH_CHAOS").unwrap_or(10);
    let first: u64 = number("PLEACH_SEED").unwrap_or(0);
    let tasks = tasks();
    let (seeds, events) = (Mutex::new(first..first + runs), AtomicUsize::new(0));
    let next = || seeds.lock().unwrap().next();
    // They mostly wait, for a joiner's return or the end of a lease.
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(seed) = next() {
                    let task = &tasks[seed as usize % tasks.len()];
                    let story = Chaos::begin(task, seed).run();
                    events.fetch_add(story.len(), Relaxed);
                    println!("seed {seed}: {}: {}", task.words, story.join(", "));
                }
            });
        }
    });
    println!("{runs} runs, {events:?} events");
}

/// How many searches are disturbed at the same time.
const AT_ONCE: usize = 5;

/// One disturbed search.
struct Chaos<'a> {
    task: &'a Task,
    party: Party,
    rng: Rand64,
    /// The value to beat that the search began with last.
    start: Vec<&'static str>,
    story: Vec<&'static str>,
}

/// The maximum number of events of a search.
const EVENTS: usize = 12;

impl<'a> Chaos<'a> {
    fn begin(task: &'a Task, seed: u64) -> Self {
        let words: Vec<&str> = task.words.split(' ').collect();
        let name = format!("chaos-{seed}");
        let mut party = Party::of(&task.program, &name, task.pace, &words);
        (0..3).for_each(|_| party.join());
        let rng = Rand64::new(u128::from(seed + 1));
        Self { task, party, rng, start: Vec::new(), story: Vec::new() }
    }

    fn run(mut self) -> Vec<&'static str> {
        loop {
            sleep(Duration::from_millis(self.rng.rand_range(50..700)));
            if self.party.root().is_over() {
                if self.is_done() {
                    break;
                }
                self.revive();
            } else if self.story.len() < EVENTS {
                self.disturb();
            } else if self.party.joiners.iter_mut().all(Process::is_over) {
                // A root that only coordinates does not end without any.
                self.party.join();
            }
        }
        for mut joiner in std::mem::take(&mut self.party.joiners) {
            if !joiner.is_over() {
                joiner.signal("-CONT");
                joiner.signal("-INT");
            }
            self.check_joiner(&mut joiner);
        }
        self.story
    }

    /// Checks what the root that has ended says; returns whether the search is done.
    fn is_done(&mut self) -> bool {
        let task = self.task;
        let root = self.party.root();
        let (code, said) = (root.end(), root.said());
        if code.is_none() || code == Some(130) {
            return false;
        }
        let report = root.report();
        let context = || format!("{} {:?}: {report} {said}", task.words, self.start);
        let done = match report["status"].as_str().unwrap() {
            "stopped" => {
                assert_eq!(code, Some(3), "{}", context());
                return false;
            }
            "counted" => report["count"] == task.result,
            "optimal" => report["objective"] == task.result,
            "no-better" => self.no_better_is_right(&report),
            _ => false,
        };
        assert!(done && code == Some(0), "{}", context());
        for (key, nodes) in [("bounded", task.bounded), ("branched", task.branched)] {
            if let Some(nodes) = nodes {
                assert_eq!(report["nodes"][key], nodes, "{}", context());
            }
        }
        true
    }

    /// No solution beats the value that the search began with.
    fn no_better_is_right(&self, report: &Value) -> bool {
        let to_beat: Option<i64> = self.start.get(1).and_then(|value| value.parse().ok());
        let known = if self.task.words.contains("--best optimum") { Some(2178) } else { to_beat };
        let right =
            known.is_some_and(|value| value >= self.task.result || self.task.result == 2178);
        right && report["lower_bound"].as_i64() == known
    }

    /// Ends the root if it lives, and resumes what it has saved.
    fn revive(&mut self) {
        if !self.party.file().exists() {
            self.start.clear();
        }
        self.party.kill_root();
    }

    /// Something happens.
    fn disturb(&mut self) {
        let joiners = self.party.joiners.len() as u64;
        let which = self.rng.rand_range(0..joiners.max(1)) as usize;
        let event = match self.rng.rand_range(0..20) {
            _ if joiners == 0 => self.join(),
            0 | 1 => {
                self.party.kill(which);
                self.join();
                "a joiner is killed"
            }
            2 => self.join(),
            3 | 4 => {
                self.party.proxy.cut(which);
                "a cut"
            }
            5 => {
                self.party.proxy.cut_near(which);
                "a cut on one side"
            }
            6 => {
                let time = Duration::from_millis(self.rng.rand_range(10..9000));
                self.party.proxy.stall(which, time);
                "a stall"
            }
            7 => self.pause(which, 10, 1500),
            8 => self.pause(which, 10_500, 11_500),
            9 => {
                let mut leaves = self.party.joiners.swap_remove(which);
                leaves.signal("-INT");
                self.check_joiner(&mut leaves);
                self.join();
                "a joiner leaves"
            }
            10 | 11 => {
                self.revive();
                "the root is killed"
            }
            12 => {
                self.party.root().signal("-INT");
                self.await_root();
                "the root is stopped"
            }
            13 => self.kill_root_with_joiner_asleep(which),
            14 => self.restart(&["--node-limit", "1000000000"], "a limit of nodes"),
            15 => self.restart(&["--node-limit", "1000"], "a low limit of nodes"),
            16 => self.restart(&["--time-limit", "300ms"], "a limit of time"),
            17 => self.restart(&["--threads", "2"], "more threads"),
            18 => self.start_otherwise(),
            _ => self.answer_wrongly(),
        };
        self.story.push(event);
    }

    fn join(&mut self) -> &'static str {
        self.party.join();
        "one joins"
    }

    fn pause(&mut self, which: usize, from_ms: u64, to_ms: u64) -> &'static str {
        self.party.joiners[which].signal("-STOP");
        sleep(Duration::from_millis(self.rng.rand_range(from_ms..to_ms)));
        self.party.joiners[which].signal("-CONT");
        if to_ms > 10_000 { "a long pause" } else { "a pause" }
    }

    fn await_root(&mut self) {
        let root = self.party.root();
        until("the end of a root that was stopped", || root.is_over());
    }

    /// A joiner hears that the search stops after its root is dead.
    fn kill_root_with_joiner_asleep(&mut self, which: usize) -> &'static str {
        self.party.joiners[which].signal("-STOP");
        self.party.root().signal("-INT");
        sleep(Duration::from_millis(self.rng.rand_range(10..400)));
        self.revive();
        self.party.joiners[which].signal("-CONT");
        "the root is killed while it stops"
    }

    /// The root is killed, and resumed with other flags.
    fn restart(&mut self, flags: &[&'static str], event: &'static str) -> &'static str {
        if self.party.file().exists() {
            let words: Vec<&str> = [&["resume"], flags].concat();
            self.party.replace_root(&words);
        }
        event
    }

    /// The root is killed, and the search starts over with another value to beat.
    fn start_otherwise(&mut self) -> &'static str {
        let Some(starts) = Some(self.task.starts).filter(|starts| !starts.is_empty()) else {
            self.revive();
            return "the root is killed";
        };
        self.start = starts[self.rng.rand_range(0..starts.len() as u64) as usize].to_vec();
        self.party.root().kill();
        for file in ["run.pleach", "run.pleach.old"] {
            let _ = fs::remove_file(self.party.folder.join(file));
        }
        let words: Vec<&str> =
            self.task.words.split(' ').chain(self.start.iter().copied()).collect();
        self.party.start_root(&words);
        "another start"
    }

    /// Other programs answer at the root's address while it is away.
    fn answer_wrongly(&mut self) -> &'static str {
        self.party.root().kill();
        let answers: [&[u8]; 3] = [b"HTTP/1.1 503 Service Unavailable\r\n\r\n", &[0x16, 3, 3], b""];
        let answer = answers[self.rng.rand_range(0..3) as usize];
        if let Ok(listener) = TcpListener::bind(self.party.address()) {
            listener.set_nonblocking(true).unwrap();
            for _ in 0..self.rng.rand_range(1..40) {
                if let Ok((mut socket, _)) = listener.accept() {
                    let _ = socket.set_nonblocking(true);
                    let _ = socket.read(&mut [0; 64]);
                    let _ = socket.write_all(answer);
                }
                sleep(Duration::from_millis(20));
            }
        }
        self.revive();
        "wrong answers"
    }

    /// A joiner has ended, or ends; never by a fault.
    fn check_joiner(&self, joiner: &mut Process) {
        let code = joiner.end();
        let said = joiner.said();
        assert!(matches!(code, Some(0 | 1 | 3 | 130)), "{code:?}: {said}");
        assert!(!said.contains("bug") && !said.contains("panicked"), "{said}");
    }
}

/// A program of another build is refused, and learns why.
#[test]
fn other_builds_do_not_join() {
    let search = super::QUEENS;
    let mut party = Party::begin("builds", &search, 300_000, &[]);
    party.root().says("to join", 1);
    let joining = |version: &str| JoinOptions {
        address: party.address().into(),
        key: Key::read(party.key()).unwrap(),
        version: version.into(),
        bytes: Vec::new(),
        limits: Limits::default(),
        patience: Duration::from_secs(60),
        reach: Reach::Automatic,
    };
    let (version, sources) = pleach::BUILD.split_once('+').unwrap();
    assert_eq!((version, sources.len()), (env!("CARGO_PKG_VERSION"), 8));
    for other in [version, "0.0.9", "0.1.0+other"] {
        match tls::join(joining(other), Arc::new(|| {})) {
            Err(JoinError::WrongVersion { reason, .. }) => {
                assert_eq!(
                    reason,
                    format!("the root is version {}, and this process is {other}", pleach::BUILD)
                );
            }
            Err(why) => panic!("{other}: {why}"),
            Ok(_) => panic!("{other} has joined"),
        }
    }
    search.check(&party.end());
}

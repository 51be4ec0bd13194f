//! Measures a network between two processes: `mpiexec -n 2 ping [LIBRARY]` over MPI; `ping tls` over TLS and loopback,
//! where it starts the other process itself.
//!
//! One way is half a round trip. Both sides rest as the network prescribes.

use pleach_cluster::mpi::{self, Choice};
use pleach_cluster::tls::{self, JoinOptions, Key, Limits, ListenOptions, Reach};
use pleach_cluster::{Arrival, Network};
use pleach_cluster::{Caller, Entrance};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The number of round trips, of which the first tenth does not count.
const ROUNDS: usize = 20_000;
const LONG: usize = 8 << 20;
const LONGS: usize = 30;
/// How long an idle network is watched.
const IDLE: Duration = Duration::from_secs(5);
/// The number of joins.
const JOINS: usize = 50;

type Link = Box<dyn Network>;

fn receive(network: &mut Link) -> Arrival {
    loop {
        if let Some(arrival) = network.poll().unwrap_or_else(|error| panic!("{error}")) {
            return arrival;
        }
        match network.rest() {
            None => std::thread::park_timeout(Duration::from_secs(1)),
            Some(Duration::ZERO) => {}
            Some(rest) => std::thread::sleep(rest),
        }
    }
}

/// Prints the median and the 99th percentile of the one-way time.
fn round_trips(network: &mut Link, length: usize) {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        if network.me() == 0 {
            network.send(1, vec![1; length]);
        }
        let Arrival::Message { bytes, .. } = receive(network) else { panic!("no message") };
        if network.me() == 1 {
            network.send(0, bytes);
        }
        times.push(start.elapsed() / 2);
    }
    times.drain(..ROUNDS / 10);
    times.sort_unstable();
    if network.me() == 0 {
        let micros = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e6;
        println!(
            "one way, {length:5} B       p50 {:7.2} µs   p99 {:7.2} µs",
            micros(50),
            micros(99)
        );
    }
}

/// Prints the one-way throughput of long messages.
fn stream(network: &mut Link) {
    let start = Instant::now();
    if network.me() == 0 {
        let message = vec![1; LONG];
        (0..LONGS).for_each(|_| network.send(1, message.clone()));
        receive(network);
        let rate = (LONG * LONGS) as f64 / start.elapsed().as_secs_f64();
        println!("messages of 8 MiB        {:.2} GB/s", rate / 1e9);
    } else {
        (0..LONGS).for_each(|_| drop(receive(network)));
        network.send(0, Vec::new());
    }
}

/// Processor time of all threads of this process so far, if the system reports it.
fn busy() -> Option<Duration> {
    let mut sum = 0;
    for task in std::fs::read_dir("/proc/self/task").ok()? {
        let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        sum += text.split(' ').next()?.parse::<u64>().ok()?;
    }
    Some(Duration::from_nanos(sum))
}

/// Prints the share of a core in use while the network is idle.
fn idle(network: &mut Link) {
    let (start, before) = (Instant::now(), busy());
    while start.elapsed() < IDLE {
        assert_eq!(network.poll(), Ok(None));
        let left = IDLE.saturating_sub(start.elapsed());
        match network.rest() {
            None => std::thread::park_timeout(left),
            Some(rest) => std::thread::sleep(rest),
        }
    }
    if let (Some(before), Some(after)) = (before, busy()) {
        let share = (after - before).as_secs_f64() / start.elapsed().as_secs_f64();
        println!("idle, site {}            {:.3} % of a core", network.me(), 100.0 * share);
    }
}

fn measure(network: &mut Link) {
    if network.me() == 0 {
        println!("{}", network.name());
    }
    if network.me() < 2 {
        round_trips(network, 64);
        round_trips(network, 8 << 10);
        stream(network);
        idle(network);
    }
    network.finish();
    while receive(network) != Arrival::End {}
}

fn by_mpi(choice: &str) {
    let choice: Choice = choice.parse().unwrap_or_else(|error| panic!("{error}"));
    let network = mpi::open(&choice, LONG).unwrap_or_else(|error| panic!("{error}"));
    measure(&mut network.expect("two processes: mpiexec -n 2 ping, or ping tls"));
}

/// Wakes this thread.
fn wake() -> tls::Wake {
    let me = std::thread::current();
    Arc::new(move || me.unpark())
}

fn root() {
    let folder = std::env::temp_dir().join(format!("pleach-ping-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("key");
    let key = Key::make(&file).unwrap_or_else(|error| panic!("{error}"));
    let (address, version) = ("127.0.0.1:0".into(), "ping".into());
    let listening = ListenOptions { address, key, version, places: 2, limits: Limits::default() };
    let (star, mut entrance) =
        tls::listen(listening, wake()).unwrap_or_else(|error| panic!("{error}"));
    let mut network: Link = Box::new(star);
    let program = std::env::current_exe().unwrap();
    let address = entrance.address().to_string();
    let joiner = Command::new(program).args(["join", &address]).arg(&file).spawn();
    let mut joined = 0;
    while joined <= JOINS {
        while let Some(caller) = entrance.next() {
            match caller {
                Caller::JoinRequest { number, .. } => {
                    entrance.admit(number, 1, Arc::from(vec![7; 10_000]))
                }
                Caller::Withdrawn { .. } | Caller::Note(_) => {}
            }
        }
        match network.poll().unwrap() {
            Some(Arrival::Joined { .. }) => {
                joined += 1;
                network.send(1, vec![1]);
            }
            Some(_) => {}
            None => std::thread::park_timeout(Duration::from_secs(1)),
        }
    }
    measure(&mut network);
    drop(network);
    joiner.unwrap().wait().unwrap();
    std::fs::remove_dir_all(folder).unwrap();
}

fn join(address: &str, file: &str) {
    let key = Key::read(file.as_ref()).unwrap_or_else(|error| panic!("{error}"));
    let mut times = Vec::new();
    loop {
        let start = Instant::now();
        let joining = JoinOptions {
            address: address.into(),
            key: key.clone(),
            version: "ping".into(),
            bytes: Vec::new(),
            limits: Limits::default(),
            patience: Duration::from_secs(10),
            reach: Reach::Automatic,
        };
        let (star, _) = tls::join(joining, wake()).unwrap_or_else(|error| panic!("{error}"));
        let mut network: Link = Box::new(star);
        assert!(matches!(receive(&mut network), Arrival::Message { from: 0, .. }));
        times.push(start.elapsed());
        if times.len() > JOINS {
            times.sort_unstable();
            let millis = |i: usize| times[i].as_secs_f64() * 1e3;
            println!(
                "join to first message    p50 {:.2} ms, longest {:.2} ms",
                millis(JOINS / 2),
                millis(JOINS)
            );
            return measure(&mut network);
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => by_mpi("auto"),
        ["tls"] => root(),
        ["join", address, file] => join(address, file),
        [choice, ..] => by_mpi(choice),
    }
}

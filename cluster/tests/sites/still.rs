//! Sites that do nothing: one that the system suspends, and all when there is nothing to do.

use crate::site::Site;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A site that is stopped for a second does not stall the others, although all write long messages to it.
pub fn stopped(open: impl FnOnce() -> Site) {
    // Started before the network, so that no process forks under it.
    let script =
        format!("read go && kill -STOP {0} && sleep 1; kill -CONT {0}", std::process::id());
    let mut helper =
        Command::new("sh").args(["-c", &script]).stdin(Stdio::piped()).spawn().unwrap();
    let site = open();
    let mut go = helper.stdin.take().unwrap();
    if site.me == 1 {
        stands_still(site, || go.write_all(b"go\n").unwrap());
    } else {
        drop(go);
        exchanges(site);
    }
    helper.wait().unwrap();
}

const LONG: usize = 20_000_000;

/// Is suspended, and then reports for how long.
fn stands_still(mut site: Site, stop: impl FnOnce()) {
    // The others have started once they have begun to write.
    let mut messages = Vec::new();
    messages.push(site.message());
    for to in site.others() {
        site.network.send(to, vec![1; LONG]);
    }
    let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
    stop();
    while longest < Duration::from_millis(900) {
        if let Some(pleach_cluster::Arrival::Message { from, bytes }) = site.look() {
            messages.push((from, bytes));
        }
        longest = longest.max(last.elapsed());
        last = Instant::now();
    }
    for to in site.others() {
        site.network.send(to, (longest.as_millis() as u32).to_le_bytes().to_vec());
    }
    while messages.len() < 6 {
        messages.push(site.message());
    }
    for from in site.others() {
        let mut lengths = messages.iter().filter(|(of, _)| *of == from).map(|(_, b)| b.len());
        assert_eq!((lengths.next(), lengths.next(), lengths.next()), (Some(1), Some(LONG), None));
    }
    site.end();
}

/// Passes a token around until the suspended site reports back, and notes the longest time without the token.
fn exchanges(mut site: Site) {
    let next = [2, 0, 3, 0][site.me as usize];
    site.network.send(1, vec![0]);
    site.network.send(1, vec![2; LONG]);
    if site.me == 0 {
        site.network.send(next, vec![7]);
    }
    let (mut last, mut longest, mut tokens) = (Instant::now(), Duration::ZERO, 0);
    let mut long = 0;
    let stood = loop {
        match site.message() {
            (1, bytes) if bytes.len() == 4 => break u32::from_le_bytes(bytes.try_into().unwrap()),
            (1, bytes) => long += bytes.len(),
            (_, bytes) => {
                assert_eq!(bytes, [7]);
                longest = longest.max(last.elapsed());
                (last, tokens) = (Instant::now(), tokens + 1);
                site.network.send(next, bytes);
            }
        }
    };
    println!("{tokens} tokens, {longest:?} without one, stood still for {stood} ms");
    assert_eq!(long, LONG);
    assert!(stood >= 900 && tokens > 10);
    assert!(longest < Duration::from_millis(stood.into()), "stalled for {longest:?}");
    // The token may still be on its way here.
    site.network.finish();
    while site.next() != pleach_cluster::Arrival::End {}
    site.content();
}

/// Processor time of all threads of this process so far.
fn busy() -> Duration {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let nanos = tasks.map(|task| {
        let text = std::fs::read_to_string(task.unwrap().path().join("schedstat")).unwrap();
        text.split(' ').next().unwrap().parse::<u64>().unwrap()
    });
    Duration::from_nanos(nanos.sum())
}

/// A site without anything to do uses at most a twentieth of a core.
pub fn idle(mut site: Site) {
    for to in site.others() {
        site.network.send(to, vec![1]);
    }
    for _ in site.others() {
        site.message();
    }
    let (start, before) = (Instant::now(), busy());
    let mut early = 0;
    // Others may have begun, and so end, sooner.
    while start.elapsed() < Duration::from_secs(2) {
        early += u32::from(site.look().is_some());
    }
    let share = (busy() - before).as_secs_f64() / start.elapsed().as_secs_f64();
    println!("idle at {:.1} % of a core", 100.0 * share);
    assert!(share <= 0.05, "{share}");
    for to in site.others() {
        site.network.send(to, vec![2]);
    }
    for _ in early..site.sites - 1 {
        site.message();
    }
    site.end();
}

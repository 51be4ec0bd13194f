//! Sites that fail, and jobs that end because of it.

use crate::site::{LONGEST, Site, content};
use pleach_cluster::{Arrival, NetError};
use std::time::{Duration, Instant};

pub fn play(case: &str, mut site: Site) {
    match case {
        "dropped" => dropped(site),
        "survived" => survived(site),
        _ => {
            meet(&mut site);
            if site.me == 1 {
                fail(case, site);
            } else {
                // Forever: a rank that returned from here would not have been taken down.
                site.next();
                site.content();
            }
        }
    }
}

/// Waits until all have begun.
fn meet(site: &mut Site) {
    for to in site.others() {
        site.network.send(to, Vec::new());
    }
    for _ in site.others() {
        assert_eq!(site.message().1, []);
    }
}

fn fail(case: &str, mut site: Site) {
    match case {
        "abort" => site.network.abort(7),
        "panic" => panic!("as asked"),
        "no-such-site" | "too-long" | "after-the-end" => {
            mistake(case, &mut site);
            site.content();
        }
        "quit" => {
            drop(site);
            std::process::exit(3);
        }
        "killed" => die(),
        _ => panic!("no case {case}"),
    }
}

fn die() -> ! {
    let script = format!("kill -KILL {}", std::process::id());
    std::process::Command::new("sh").args(["-c", &script]).status().unwrap();
    panic!("still alive");
}

/// All are notified of a death, whatever they were sending to the dead site; then they exchange messages, and end in an
/// orderly way.
fn survived(mut site: Site) {
    meet(&mut site);
    if site.me == 1 {
        die();
    }
    site.network.send(1, vec![4; 20_000_000]);
    let others: Vec<u32> = site.others().filter(|&to| to != 1).collect();
    for &to in &others {
        site.network.send(to, vec![6; 1_000_000]);
    }
    let (mut lost, mut messages) = (false, 0);
    while !lost || messages < others.len() {
        match site.next() {
            Arrival::Lost(1) => lost = true,
            Arrival::Message { bytes, .. } => {
                assert!(bytes.len() == 1_000_000 && bytes.iter().all(|&byte| byte == 6));
                messages += 1;
            }
            _ => panic!("an unexpected message"),
        }
    }
    site.network.send(1, vec![5]);
    site.network.finish();
    assert_eq!(site.next(), Arrival::End);
    content(site.me);
}

/// The next poll reports a mistake, and so do all further ones.
fn mistake(case: &str, site: &mut Site) {
    let (sites, limit) = (site.sites, LONGEST as u64);
    let error = match case {
        "no-such-site" => {
            site.network.send(sites, vec![1]);
            NetError::NoSite { to: sites, sites }
        }
        "too-long" => {
            site.network.send(0, vec![1; LONGEST + 1]);
            NetError::TooLong { bytes: limit + 1, limit }
        }
        _ => {
            site.network.finish();
            site.network.send(0, vec![1]);
            NetError::Finished { to: 0 }
        }
    };
    site.network.send(0, vec![1]);
    for _ in 0..2 {
        assert_eq!(site.network.poll(), Err(error.clone()));
    }
}

/// Dropped with messages under way, a network waits for nobody.
fn dropped(mut site: Site) {
    meet(&mut site);
    let me = site.me;
    for to in site.others() {
        site.network.send(to, vec![3; 20_000_000]);
    }
    assert!(!matches!(site.network.poll(), Ok(Some(Arrival::End))));
    let start = Instant::now();
    drop(site);
    assert!(start.elapsed() < Duration::from_secs(5));
    content(me);
}

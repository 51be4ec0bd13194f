//! Processes killed, stopped and cut off at random moments: every total is as published.

use super::party::{Party, Search};
use oorandom::Rand64;
use std::thread::sleep;
use std::time::Duration;

const SEARCHES: [Search<'_>; 6] = [
    Search {
        words: "count uts T1",
        count: Some(4_130_071),
        branched: Some(824_953),
        bounded: 4_130_070,
    },
    Search {
        words: "count uts T3",
        count: Some(4_112_897),
        branched: Some(513_863),
        bounded: 4_112_896,
    },
    Search { words: "count queens 13", count: Some(73_712), branched: None, bounded: 4_674_889 },
    Search {
        words: "count queens 13 --nodes interval",
        count: Some(73_712),
        branched: None,
        bounded: 4_674_889,
    },
    Search {
        words: "solve flowshop ta030 --best optimum --bound one",
        count: None,
        branched: Some(2_415_779),
        bounded: 45_246_962,
    },
    Search {
        words: "solve flowshop ta030 --best optimum --bound one --nodes interval",
        count: None,
        branched: Some(2_415_779),
        bounded: 45_246_962,
    },
];

/// How long a search takes four units if nothing befalls them.
const SECONDS: u64 = 2;

/// As many misfortunes as `PLEACH_KILLS` says, or a few.
#[test]
fn misfortunes_change_no_count() {
    let number = |name| std::env::var(name).ok().and_then(|word| word.parse().ok());
    let wanted: u64 = number("PLEACH_KILLS").unwrap_or(20);
    let (mut kills, mut seed): (u64, u64) = (0, number("PLEACH_SEED").unwrap_or(0));
    while kills < wanted {
        let rng = &mut Rand64::new(u128::from(seed + 1));
        let search = &SEARCHES[seed as usize % SEARCHES.len()];
        let happened = one(search, rng);
        kills += happened;
        if wanted > 20 {
            println!("seed {seed}: {happened} misfortunes, {kills} in all, {}", search.words);
        }
        seed += 1;
    }
}

/// One search with misfortunes; returns how many there were.
fn one(search: &Search<'_>, rng: &mut Rand64) -> u64 {
    let pace = search.bounded / (4 * SECONDS);
    let mut party = Party::begin("kills", search, pace, &[]);
    (0..3).for_each(|_| party.join());
    let mut happened = 0;
    loop {
        sleep(Duration::from_millis(rng.rand_range(50..700)));
        if party.is_over() || happened >= 12 {
            break;
        }
        happened += 1;
        let which = rng.rand_range(0..party.joiners.len().max(1) as u64) as usize;
        match rng.rand_range(0..12) {
            _ if party.joiners.is_empty() => party.join(),
            0..4 => {
                party.kill(which);
                party.join();
            }
            4 => party.kill(which),
            5 => party.join(),
            6 | 7 => party.proxy.cut(which),
            8 => {
                party.signal(which, "-STOP");
                sleep(Duration::from_millis(rng.rand_range(10..1500)));
                party.signal(which, "-CONT");
            }
            9 => {
                // Longer than the network, and custody, wait.
                party.signal(which, "-STOP");
                sleep(Duration::from_secs(11));
                party.signal(which, "-CONT");
            }
            10 => {
                party.signal(which, "-INT");
                party.joiners.swap_remove(which).wait().unwrap();
                party.join();
            }
            _ => party.kill_root(),
        }
    }
    search.check(&party.end());
    happened
}

//! [`random_fleet`]: random sites in which everything that can happen sometimes does.

use super::{Churn, Fleet, SiteClass};
use crate::chance::mix;
use crate::hub::Hub;
use crate::network::{Delays, Link, Network};
use crate::random_cluster::random_device;
use pleach_core::lease::Terms;
use pleach_core::steal::Policy;

/// A few sites of a few workers. The seed decides whether sites die (alone, in racks, or the root), join late, leave, are
/// cut off or pause, and whether messages are late.
#[must_use]
pub fn random_fleet(policy: Policy, seed: u64) -> Fleet {
    let drawn = |what: u64, below: u64| mix(seed, 97, what) % below;
    let often = |what: u64, most: u64| {
        if drawn(100 + what, 2) == 0 { drawn(what, most) as f64 } else { 0.0 }
    };
    let count = 1 + drawn(0, 12) as u32;
    let fast = drawn(1, u64::from(count) + 1) as u32;
    let classes = [
        SiteClass { count: fast, workers: 1 + drawn(2, 4) as u32, speed: 1.0, device: None },
        SiteClass {
            count: count - fast,
            workers: 1,
            speed: 0.2 + drawn(3, 30) as f64 / 10.0,
            device: (drawn(28, 3) == 0).then(|| random_device(seed)),
        },
    ];
    let (mean_ns, heavy) = (drawn(5, 3_000_000), drawn(6, 2) == 0);
    let delays = (drawn(4, 3) == 0).then_some(Delays { chance: 0.2, mean_ns, heavy });
    let link = Link { latency_ns: 1_000 + drawn(7, 200_000), bytes_per_ns: 0.1 };
    let churn = Churn {
        deaths: often(8, 900),
        joins: 900.0,
        leaves: often(9, 900),
        racks: often(10, 200),
        rack: 3,
        cuts: often(11, 400),
        cut_ns: 1 + drawn(12, 60_000_000),
        stops: often(13, 400),
        stop_ns: 1 + drawn(14, 60_000_000),
        root_deaths: often(15, 200),
        resume_ns: drawn(16, 40_000_000),
        notice_ns: drawn(17, 30_000_000),
        absent: drawn(18, u64::from(count)) as u32,
    };
    let calm = drawn(19, 4) == 0;
    Fleet {
        policy,
        sites: classes.into_iter().filter(|class| class.count > 0).collect(),
        network: Network { delays, ..Network::uniform(link) },
        hub: (drawn(32, 3) == 0).then(|| Hub {
            message_ns: drawn(29, 20_000),
            bytes_per_ns: 0.1,
            link_after: (drawn(30, 2) == 0).then(|| drawn(31, 200) as u32),
        }),
        near_ns: 500,
        handle_ns: 5_000,
        handle_near_ns: 300,
        poll_ns: 1_000 + drawn(20, 200_000),
        low_ns: 1 + drawn(21, 600_000),
        message_bytes: 40,
        terms: Terms {
            commit_ns: 3_000_000,
            lease_ns: 20_000_000,
            patience_ns: 150_000_000,
            most_commit_bytes: u64::MAX,
        },
        churn: if calm { Churn::default() } else { churn },
        open: drawn(27, 2) == 0,
        stop_ns: (drawn(22, 4) == 0).then(|| drawn(23, 600_000_000)),
        node_limit: (drawn(24, 5) == 0).then(|| drawn(25, 1 << 20)),
        progress_report_bytes: [0, 300, 1 << 20][drawn(26, 3) as usize],
        check_files: true,
        seed,
        most_events: 40_000_000,
    }
}

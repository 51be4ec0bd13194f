//! [`random_cluster`]: random clusters in which everything that can go wrong sometimes does.

use super::chance::mix;
use super::cluster::Cluster;
use super::device::{Device, Put};
use super::machine::{Changes, Class, Late, Machine, Pauses};
use super::network::{Delays, Level, Link, Network};
use pleach_core::search::inside::Inside;
use pleach_core::steal::Policy;

const NEAR: Link = Link { latency_ns: 20_000, bytes_per_ns: 1.0 };
const FAR: Link = Link { latency_ns: 500_000, bytes_per_ns: 0.01 };

/// A cluster with two classes of peers. The seed decides whether messages are delayed, whether peers
/// pause, join late or vary in speed, and whether snapshots are taken.
#[must_use]
pub fn random_cluster(peers: u32, policy: Policy, seed: u64) -> Cluster {
    let drawn = |what: u64, below: u64| mix(seed, 99, what) % below;
    let classes = vec![
        Class { count: peers / 2, speed: 1.0, poll_ns: 1 + drawn(0, 200_000), device: None },
        Class {
            count: peers - peers / 2,
            speed: 0.1 + drawn(1, 100) as f64,
            poll_ns: 50_000,
            device: None,
        },
    ];
    let mut machine = Machine::uniform(peers, drawn(2, 3) * 4_000, 0);
    machine.classes = classes.into_iter().filter(|class| class.count > 0).collect();
    if drawn(7, 2) == 0 {
        machine.pauses = Some(Pauses { every_ns: 3_000_000, length_ns: 2_000_000 });
    }
    if drawn(8, 2) == 0 {
        machine.changes = Some(Changes { every_ns: 500_000, least: 0.01 });
    }
    if drawn(9, 2) == 0 {
        machine.late = Some(Late { part: 0.5, until_ns: 20_000_000 });
    }
    Cluster {
        policy,
        machine,
        network: network(drawn),
        message_bytes: 40,
        snapshot_ns: (drawn(10, 2) == 0).then(|| 1 + drawn(11, 3_000_000)),
        seed,
        most_events: 100_000_000,
    }
}

/// A device, from a seed.
#[must_use]
pub fn random_device(seed: u64) -> Device {
    let drawn = |what: u64, below: usize| mix(seed, 98, what) as usize % below;
    Device {
        explorers: 1 + drawn(0, 40) as u32,
        step_ns: 1 + drawn(1, 100_000) as u64,
        trigger: drawn(2, 12) as u32,
        launch_ns: drawn(3, 20_000) as u64,
        copy_ns: drawn(4, 20_000) as u64,
        inside: Inside::ALL[drawn(5, Inside::ALL.len())].0,
        put: Put::ALL[drawn(6, Put::ALL.len())].0,
        one_gives: drawn(7, 3) == 0,
        cutoff: None,
        host_speed: 1.0,
    }
}

fn network(drawn: impl Fn(u64, u64) -> u64) -> Network {
    let levels = match drawn(3, 3) {
        0 => Vec::new(),
        1 => vec![Level { group: 3, link: NEAR }],
        _ => vec![Level { group: 2, link: NEAR }, Level { group: 6, link: FAR }],
    };
    let (mean_ns, heavy) = (drawn(5, 3_000_000), drawn(6, 2) == 0);
    let delays = (drawn(4, 3) > 0).then_some(Delays { chance: 0.2, mean_ns, heavy });
    let link = if drawn(3, 3) == 1 { FAR } else { NEAR };
    Network { levels, link, delays }
}

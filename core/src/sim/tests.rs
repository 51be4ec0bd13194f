//! Simulated clusters of synthetic work: what must hold in each, and what must come out.

use super::chance::mix;
use super::cluster::Cluster;
use super::figures::Figures;
use super::machine::{Class, Machine};
use super::network::{Link, Network};
use super::rough::rough;
use super::spans::Spans;
use crate::balance::Policy;

const LINK: Link = Link { latency_ns: 20_000, bytes_per_ns: 1.0 };

fn cluster(peers: u32, preset: &str, seed: u64) -> Cluster {
    Cluster {
        policy: Policy::parse(preset).unwrap(),
        machine: Machine::uniform(peers, 5_000, 100_000),
        network: Network::uniform(LINK),
        message_bytes: 40,
        snapshot_ns: None,
        seed,
        most_events: 100_000_000,
    }
}

#[test]
fn one_peer_takes_as_long_as_the_work() {
    let spans = Spans::new(1000, 123_456_789, 4, 0.5, 1);
    let figures = cluster(1, "adaptive", 0).run(&spans).unwrap();
    assert_eq!((figures.time_ns, figures.ending_ns()), (123_456_789, 0));
    assert_eq!((figures.messages, figures.events), (0, 2));
    let mut slow = cluster(1, "adaptive", 0);
    slow.machine.classes[0].speed = 0.25;
    assert_eq!(slow.run(&spans).unwrap().time_ns, 4 * 123_456_789);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let spans = Spans::new(1 << 20, 1_000_000_000, 6, 0.5, 1);
    for seed in 0..10 {
        let run = |seed| rough(40, Policy::default(), seed).run(&spans).unwrap();
        let first: Figures = run(seed);
        assert_eq!(first, run(seed));
        assert_ne!(first, run(seed + 1000));
    }
}

#[test]
fn whatever_happens_every_unit_is_done_once_and_every_peer_ends() {
    let (mut snapshots, mut longest) = (0, 0);
    for seed in 0..600 {
        let peers = 1 + (mix(seed, 0, 0) % 40) as u32;
        let preset = ["adaptive", "random-half", "adaptive:share=1/8"][seed as usize % 3];
        let units = 1 + mix(seed, 1, 0) % 20_000;
        let total_ns = mix(seed, 2, 0) % 200_000_000;
        let spans = Spans::new(units, total_ns, (seed % 9) as u32, 0.9, seed);
        let figures = rough(peers, Policy::parse(preset).unwrap(), seed).run(&spans);
        let figures = figures.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        snapshots += figures.snapshots;
        longest = longest.max(figures.longest_mail);
        assert_eq!(figures.work_ns, total_ns);
    }
    println!("{snapshots} snapshots, mail of {longest}");
    assert!(snapshots > 500);
}

#[test]
fn peers_share_what_they_can() {
    let spans = Spans::new(1 << 30, 100_000_000_000, 0, 0.0, 1);
    let figures = cluster(100, "adaptive", 1).run(&spans).unwrap();
    println!("100 peers x 1 s: {:.4}, {} events", figures.efficiency(), figures.events);
    assert!(figures.efficiency() > 0.97);
    let mut mixed = cluster(100, "adaptive", 1);
    mixed.machine.classes.push(Class { count: 2, speed: 200.0, poll_ns: 100_000 });
    let figures = mixed.run(&spans).unwrap();
    println!("100 slow and 2 fast peers: {:.4}", figures.efficiency());
    assert!(figures.efficiency() > 0.5);
}

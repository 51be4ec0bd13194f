//! Simulated clusters of synthetic work: laws that always hold, and results expected of some clusters.

use super::chance::mix;
use super::checker::Checker;
use super::cluster::Cluster;
use super::device::{Device, Put};
use super::figures::Figures;
use super::load::WorkDone;
use super::machine::{Class, Machine};
use super::network::{Delays, Link, Network};
use super::random_cluster::{random_cluster, random_device};
use super::spans::Spans;
use pleach_core::search::inside::Inside;
use pleach_core::search::tree::Counts;
use pleach_core::steal::{Message, Mutant, PeerTree, Policy, Ticket};

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
fn an_end_while_anything_is_left_is_caught() {
    let mut checker = Checker::new(&PeerTree::new(3, Policy::default().tree, 0));
    let ticket = Ticket { giver: 1, number: 0 };
    let work = Message::Work { ticket, epoch: 0 };
    checker.works(1, true);
    checker.on_send(1, &work, 40, 0);
    checker.works(1, false);
    assert!(checker.on_finish(0, 5).unwrap_err().contains("1 pieces are on their way"));
    checker.on_read(&work);
    checker.works(2, true);
    assert!(checker.on_finish(0, 5).unwrap_err().contains("1 peers have work"));
    checker.works(2, false);
    checker.on_finish(0, 7).unwrap();
    let spans = Spans::new(5, 5, 0, 0.0, 0);
    let counts = Counts { bounded: 4, ..Counts::default() };
    let done = WorkDone { counts, ..WorkDone::default() };
    let why = checker.close(done, [].into_iter(), None, &spans).unwrap_err();
    assert_eq!(why, "4 units instead of 5");
}

/// The time for messages used to count as idle time, too.
#[test]
fn peers_work_read_or_idle() {
    let mut cluster = cluster(20, "random-half", 0);
    cluster.machine.handle_ns = 500_000;
    let figures = cluster.run(&Spans::new(10_000, 1_000_000_000, 12, 0.8, 1)).unwrap();
    let all_ns = figures.busy_ns + figures.handling_ns + figures.idle_ns;
    assert!(figures.handling_ns > all_ns / 20, "{figures:?}");
    assert!(all_ns <= 20 * figures.time_ns, "{all_ns} of 20 times {}", figures.time_ns);
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
        let run = |seed| random_cluster(40, Policy::default(), seed).run(&spans).unwrap();
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
        let presets = [
            "adaptive",
            "random-half",
            "adaptive:share=1/8",
            "adaptive:end=counter",
            "overlay:share=subtree-power",
            "dynamic:cutoff=1,coordinator=yes",
            "static:cutoff=1,coordinator=yes",
            "dynamic:cutoff=1,second_cutoff=3,coordinator=yes",
            "hierarchical-master-worker:depth=2/4",
            "hierarchical-master-worker:depth=auto",
        ];
        let preset = presets[seed as usize % presets.len()];
        let units = 1 + mix(seed, 1, 0) % 20_000;
        let total_ns = mix(seed, 2, 0) % 200_000_000;
        let spans = Spans::new(units, total_ns, (seed % 9) as u32, 0.9, seed);
        let figures = random_cluster(peers, Policy::parse(preset).unwrap(), seed).run(&spans);
        let figures = figures.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        snapshots += figures.snapshots;
        longest = longest.max(figures.longest_queue);
        assert_eq!(figures.work_ns, total_ns);
    }
    println!("{snapshots} snapshots, {longest} messages waiting");
    assert!(snapshots > 500);
}

/// Devices of all kinds among the peers change nothing about what is done.
#[test]
fn devices_do_every_unit_once() {
    let (mut snapshots, mut pieces) = (0, 0);
    for seed in 0..600 {
        let peers = 1 + (mix(seed, 0, 0) % 12) as u32;
        let units = 1 + mix(seed, 1, 0) % 20_000;
        let total_ns = mix(seed, 2, 0) % 50_000_000;
        let spans = Spans::new(units, total_ns, (seed % 9) as u32, 0.9, seed);
        let mut cluster = random_cluster(peers, Policy::default(), seed);
        for class in &mut cluster.machine.classes {
            class.device = (seed % 3 > 0).then(|| random_device(mix(seed, 3, class.poll_ns)));
        }
        let figures = cluster.run(&spans).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        assert!(figures.work_ns >= total_ns && figures.counts.bounded == units, "seed {seed}");
        (snapshots, pieces) = (snapshots + figures.snapshots, pieces + figures.pieces);
    }
    println!("{snapshots} snapshots, {pieces} pieces");
    assert!(snapshots > 500 && pieces > 5000);
}

/// A device with too few nodes for its explorers is slow, one that has enough is not.
#[test]
fn a_device_is_as_fast_as_it_is_full() {
    let device = Device { inside: Inside::Hypercube, step_ns: 10_000, ..full_device(64) };
    let time = |units: u64, device: Device| {
        let mut one = cluster(1, "adaptive", 0);
        one.machine.classes[0].device = Some(device);
        let spans = Spans::new(units, 1_000_000 * units, 0, 0.0, 0);
        one.run(&spans).unwrap().time_ns as f64 / (1e6 * units as f64)
    };
    // One unit keeps one of 64 explorers busy, and 16 units 16 of them.
    assert_eq!(time(1, device), 64.0);
    assert_eq!(time(16, device), 4.0);
    assert!(time(6400, device) < 1.05);
    // All work begins in one explorer: nobody helps it, or others do.
    let one = Device { put: Put::One, ..device };
    assert_eq!(time(6400, Device { inside: Inside::None, ..one }), 64.0);
    assert!(time(6400, one) < 1.2);
    // A launch for each step costs time.
    let launches = Device { launch_ns: 100_000, trigger: 0, ..device };
    assert!(time(6400, launches) > time(6400, device));
}

fn full_device(explorers: u32) -> Device {
    Device {
        explorers,
        step_ns: 1000,
        trigger: explorers / 8,
        launch_ns: 0,
        copy_ns: 0,
        inside: Inside::default(),
        put: Put::Spread,
        one_gives: false,
        cutoff: None,
        host_speed: 1.0,
    }
}

#[test]
fn peers_share_work_well() {
    let spans = Spans::new(1 << 30, 100_000_000_000, 0, 0.0, 1);
    let figures = cluster(100, "adaptive", 1).run(&spans).unwrap();
    println!("100 peers x 1 s: {:.4}, {} events", figures.efficiency(), figures.events);
    assert!(figures.efficiency() > 0.97);
    let mut mixed = cluster(100, "adaptive", 1);
    mixed.machine.classes.push(Class { count: 2, speed: 200.0, poll_ns: 100_000, device: None });
    let figures = mixed.run(&spans).unwrap();
    println!("100 slow and 2 fast peers: {:.4}", figures.efficiency());
    assert!(figures.efficiency() > 0.5);
}

/// Some units are done twice, and all of them are reported.
#[test]
fn late_giving_loses_no_work() {
    let (mut twice, mut pieces) = (0, 0);
    for seed in 0..300 {
        let peers = 1 + (mix(seed, 0, 0) % 40) as u32;
        let units = 1 + mix(seed, 1, 0) % 20_000;
        let total_ns = mix(seed, 2, 0) % 200_000_000;
        let spans = Spans::new(units, total_ns, (seed % 9) as u32, 0.9, seed);
        let mut cluster = random_cluster(peers, Policy::parse("master-worker:late").unwrap(), seed);
        cluster.snapshot_ns = None;
        let figures = cluster.run(&spans).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        assert_eq!(figures.counts.bounded, units + figures.redundant.bounded);
        (twice, pieces) = (twice + figures.redundant.bounded, pieces + figures.pieces);
    }
    println!("{twice} units done twice, {pieces} pieces");
    assert!(twice > 0 && pieces > 1000);
}

/// The checker finds all known faults of the protocol but two: ending after one wave, and waves without counts. Those
/// show so rarely that only random walks through small models find them.
#[test]
fn mutants_are_caught() {
    for (mutant, said) in [
        (Mutant::ForgetsParked, "deadlock"),
        (Mutant::NeverAcknowledges, "deadlock"),
        (Mutant::TakesBeforeCut, "inconsistent snapshot"),
        (Mutant::ReleasesBeforeCut, "inconsistent snapshot"),
    ] {
        let caught = (0..5_000).find_map(|seed| {
            let spans = Spans::new(3 + mix(seed, 5, 0) % 100, 5_000_000, 3, 0.9, seed);
            let mut cluster = random_cluster(2 + (seed % 9) as u32, Policy::default(), seed);
            // Delay messages by as much time as the work takes: most faults show only then.
            cluster.network.delays = Some(Delays { chance: 0.3, mean_ns: 1_000_000, heavy: true });
            cluster.snapshot_ns = Some(300_000);
            // Peers that wait forever keep asking and refusing.
            cluster.most_events = 300_000;
            cluster.run_mutant(&spans, mutant).err().map(|why| (seed, why))
        });
        let (seed, why) = caught.unwrap_or_default();
        println!("{mutant:?} at seed {seed}: {why}");
        assert!(why.contains(said) || said == "deadlock" && why.contains("did not end"), "{why}");
    }
}

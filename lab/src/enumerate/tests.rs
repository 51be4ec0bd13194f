//! Enumerations of small models, with and without faults.

use super::*;
use crate::walk;
use pleach_core::steal::late::Recall;
use pleach_core::steal::{
    Chooser, End, Message, Mutant, PeerTree, Power, Rests, SeededChooser, Share, Ticket, Victim,
};
use std::ops::Range;

fn policy() -> Policy {
    let (victim, share) = (Victim::Random, Share::Part(2));
    let mut policy = Policy { victim, share, ..Policy::default() };
    policy.tree.degree = 2;
    policy.rests = Rests { patience: 1, first_ns: 0, longest_ns: 0 };
    policy
}

fn mutate<P: WorkSet>(model: &mut Model<P>, mutant: Mutant) {
    model.interpreters.iter_mut().for_each(|interpreter| interpreter.mutate(mutant));
}

#[test]
fn every_schedule_of_few_peers_ends_correctly() {
    // A model of 4 peers and 3 units takes minutes: `ci/prove.sh` runs it.
    for (peers, units) in [(1, 3), (2, 6), (3, 4)] {
        let reduced = every_schedule_reduced(peers, units, policy()).unwrap();
        println!("{peers} peers x {units} units, reduced: {reduced:?}");
        assert!(reduced.ends > 0);
        let full = every_schedule(peers, units, 0, policy()).unwrap();
        println!("{peers} peers x {units} units, in full: {full:?}");
        assert_eq!(full.longest, reduced.longest);
    }
}

#[test]
fn every_share_ends_correctly() {
    for share in [Share::Part(3), Share::Part(8), Share::Power] {
        let seen = every_schedule(3, 4, 0, Policy { share, ..policy() }).unwrap();
        println!("{share:?}, 3 peers x 4 units: {seen:?}");
    }
}

/// The counts alone prevent an early end, even if a peer with a request outstanding reports itself idle. Not reporting
/// merely saves waves.
#[test]
fn idle_while_asking_would_be_harmless() {
    let mut model = SetModel::new(3, 4, policy());
    mutate(&mut model, Mutant::IdleWhileAsking);
    println!("idle while asking: {:?}", explore(model).unwrap());
}

/// Each mutant is tried by enumerating small models and by random walks in a larger one, what costs least first.
#[test]
fn every_mutant_is_caught() {
    for (mutant, said) in [
        (Mutant::OneWave, "ended after"),
        (Mutant::NoCounts, "ended after"),
        (Mutant::ForgetsParked, "deadlock"),
        (Mutant::NeverAcknowledges, "deadlock"),
    ] {
        let breed = |peers, units| {
            let mut model = SetModel::new(peers, units, policy());
            mutate(&mut model, mutant);
            model
        };
        let as_said = |why: &String| why.contains(said);
        let enumerated = |peers, units| explore(breed(peers, units)).err().filter(as_said);
        let walked = |mut seeds: Range<u64>| {
            seeds.find_map(|seed| walk::walk(breed(4, 40), seed).err().filter(as_said))
        };
        let caught = enumerated(2, 4)
            .or_else(|| walked(0..2_000))
            .or_else(|| enumerated(3, 4))
            .or_else(|| walked(2_000..200_000));
        let caught = caught.unwrap_or_else(|| panic!("{mutant:?}: nothing says '{said}'"));
        println!("{mutant:?}: {}", caught.lines().next().unwrap_or_default());
    }
}

/// What catches a fault in the smallest of these models in which it shows: the first line, if it says one of these.
fn caught_in<const N: usize>(
    models: [(u32, u8); N],
    breed: impl Fn(u32, u8) -> SetModel,
    said: &[&str],
) -> Option<String> {
    models.into_iter().find_map(|(peers, units)| {
        let why = explore(breed(peers, units)).err()?;
        let line = why.lines().next().unwrap_or_default();
        said.iter().any(|said| line.contains(said)).then(|| line.to_string())
    })
}

/// All presets, with the tree's shape where that matters.
const PRESETS: [&str; 24] = [
    "adaptive:degree=2",
    "adaptive:degree=1",
    "ring:degree=10",
    "lifelines:patience=1",
    "overlay:degree=2",
    "overlay:degree=1",
    "static:degree=10",
    "dynamic:degree=10",
    "guided:degree=10",
    "master-worker:degree=10",
    "hierarchical-master-worker:degree=1",
    "hierarchical-master-worker:degree=2,grain=2/1,siblings=no",
    "overlay:bridges=no,degree=2",
    "static:cutoff=1,coordinator=yes",
    "dynamic:share=chunk/1,cutoff=1,coordinator=yes",
    "guided:cutoff=1,coordinator=yes",
    "hierarchical-master-worker:degree=1,depth=1/2",
    "hierarchical-master-worker:degree=2,depth=1,siblings=no",
    "hierarchical-master-worker:degree=1,depth=auto/1",
    "hierarchical-master-worker:degree=2,depth=auto/2,siblings=no",
    "overlay:degree=2,least=3",
    "master-worker:degree=10,least=3",
    "overlay:degree=2,share=subtree-power,weights=1/3",
    "overlay:degree=1,share=subtree-power,weights=1/3/9",
];

fn every_preset(end: &str) {
    for words in PRESETS {
        let words = format!("{words},end={end}");
        for (peers, units, snapshots) in [(2, 4, 1), (3, 3, 0)] {
            let mut model = SetModel::new(peers, units, timeless(&words));
            model.state.cuts.left = snapshots;
            let seen = explore(model);
            println!("{words}, {peers} peers x {units} units: {seen:?}");
            assert!(seen.unwrap().ends > 0);
        }
    }
}

#[test]
fn every_preset_ends_correctly() {
    every_preset("waves");
}

/// Peer 1 divides what peer 0 gives between all others.
#[test]
fn a_pool_that_is_divided_twice_ends_correctly() {
    for words in
        ["dynamic:share=chunk/2,cutoff=1,second_cutoff=3", "static:cutoff=1,second_cutoff=2"]
    {
        for end in ["waves", "counter"] {
            let words = format!("{words},coordinator=yes,end={end}");
            for (peers, units, snapshots) in [(3, 3, 1), (4, 2, 0)] {
                let mut model = SetModel::new(peers, units, timeless(&words));
                model.state.cuts.left = snapshots;
                let seen = explore(model);
                println!("{words}, {peers} peers x {units} units: {seen:?}");
                assert!(seen.unwrap().ends > 0);
            }
        }
    }
}

/// Waves start when all children of the root wait for work.
#[test]
fn overlays_end_correctly_with_upward_requests() {
    for shape in
        ["degree=2", "degree=1", "bridges=no,degree=2", "bridges=random,first=random,degree=1"]
    {
        let words = format!("overlay:{shape},end=requests");
        for (peers, units, snapshots) in [(1, 2, 0), (2, 4, 1), (3, 3, 0), (3, 2, 1)] {
            let mut model = SetModel::new(peers, units, timeless(&words));
            model.state.cuts.left = snapshots;
            let seen = explore(model);
            println!("{words}, {peers} peers x {units} units: {seen:?}");
            assert!(seen.unwrap().ends > 0);
        }
    }
}

#[test]
fn every_preset_ends_correctly_with_a_counter() {
    every_preset("counter");
    let counter = Policy { end: Some(End::Counter), ..policy() };
    for (peers, units, snapshots) in [(1, 3, 2), (2, 6, 1), (2, 4, 2), (3, 4, 0), (3, 3, 1)] {
        let seen = every_schedule(peers, units, snapshots, counter.clone()).unwrap();
        println!("counter, {peers} peers x {units} units, {snapshots} snapshots: {seen:?}");
    }
    for (peers, units) in [(2, 6), (3, 5)] {
        let late = timeless("master-worker:late,degree=1,end=counter");
        let seen = every_schedule(peers, units, 0, late).unwrap();
        println!("counter, late, {peers} peers x {units} units: {seen:?}");
    }
}

/// A counter that misses something on its way is caught in a small model.
#[test]
fn every_fault_of_a_counter_is_caught() {
    let counter = Policy { end: Some(End::Counter), ..policy() };
    for (mutant, said) in [
        (Mutant::CountsLate, ["ended after", "joined after the end"]),
        (Mutant::LeavesEarly, ["ended after", "reached a finished peer"]),
    ] {
        let mut model = SetModel::new(3, 4, counter.clone());
        mutate(&mut model, mutant);
        let caught = explore(model).err().unwrap_or_default();
        let line = caught.lines().next().unwrap_or_default();
        println!("{mutant:?}: {line}");
        assert!(said.iter().any(|said| line.contains(said)), "{mutant:?}: {caught}");
    }
}

/// Any peer may find a solution at any moment, even a worse one before it learns of a better one: all peers end with
/// the best score.
#[test]
fn every_peer_ends_with_the_best_score() {
    let presets = ["random-half:degree=2", "adaptive:degree=1", "overlay:degree=2"];
    for words in presets {
        for end in ["waves", "counter"] {
            let models = [(2, 4, &[2, 1][..]), (2, 3, &[3, 2, 1]), (3, 2, &[1])];
            for (peers, units, finds) in models {
                let mut model =
                    SetModel::new(peers, units, timeless(&format!("{words},end={end}")));
                model.state.finds = finds.to_vec();
                let seen = explore(model);
                println!("{words},end={end}, {peers} peers x {units} units, {finds:?}: {seen:?}");
                assert!(seen.unwrap().ends > 0);
            }
        }
    }
}

/// A counter detects the end correctly only if each change is counted before another peer can learn of it. Here the
/// actions of one event are interleaved with those of other peers.
#[test]
fn actions_in_the_wrong_order_are_caught() {
    let counter = Policy { end: Some(End::Counter), ..policy() };
    for (mutant, said) in [
        (Mutant::AcknowledgesBeforeJoining, ["ended after", "joined after the end"]),
        (Mutant::SendsBeforeCounting, ["ended after", "reached a finished peer"]),
        (Mutant::KeepsTheBest, ["ends with the score", "ends with the score"]),
        (Mutant::SpreadsAnyScore, ["ends with the score", "a state repeats"]),
    ] {
        let breed = |peers, units| {
            let mut model = SetModel::new(peers, units, counter.clone());
            model.state.finds = vec![2, 1];
            mutate(&mut model, mutant);
            model
        };
        let caught = caught_in([(2, 2), (2, 4), (3, 4)], breed, &said);
        println!("{mutant:?}: {}", caught.unwrap_or_else(|| panic!("{mutant:?} is not caught")));
    }
}

/// Work that turns out not to be splittable stays where it is, and no peer waits forever for a piece of it.
#[test]
fn work_that_cannot_be_split_is_not_given() {
    let late = "master-worker:late,degree=1";
    for words in ["random-half:degree=2", "adaptive:degree=2", "master-worker:degree=2", late] {
        let seen = if words == late {
            let mut model = RunModel::new(3, 4, timeless(words));
            model.state.stubborn = true;
            explore(model)
        } else {
            let mut model = SetModel::new(3, 3, timeless(words));
            model.state.stubborn = true;
            explore(model)
        };
        println!("{words}, at times unsplittable: {seen:?}");
        assert!(seen.unwrap().ends > 0);
    }
}

/// Whatever the network delivers, a peer neither panics nor loses count of its own work.
#[test]
fn invalid_messages_do_no_harm() {
    let mut dropped = 0;
    for seed in 0..3000 {
        let mut chance = SeededChooser::new(seed, 0);
        let words = PRESETS[chance.choose(PRESETS.len() as u32) as usize];
        let end = ["", ",end=counter"][chance.choose(2) as usize];
        let mut model = SetModel::new(4, 9, timeless(&format!("{words}{end}")));
        for _ in 0..30 {
            let ticket = Ticket { giver: chance.choose(6), number: u64::from(chance.choose(3)) };
            let (power, load) = (Power(u64::MAX), u64::MAX);
            let (epoch, thief) = (u64::from(chance.choose(2)), chance.choose(6));
            let hostile = [
                Message::Ack { ticket, epoch: 0 },
                Message::Report { sent: u64::MAX, received: 1 },
                Message::Work { ticket, epoch },
                Message::Pass { thief, power },
                Message::Passed { served: true, load },
                Message::Load { load },
                Message::Ask { power, workers: u32::MAX, waits: epoch == 1 },
                Message::Refuse,
                Message::Unpark,
                Message::Below { power, peers: u32::MAX },
                Message::Late(Recall::Left { ticket }),
            ];
            let message = hostile[chance.choose(hostile.len() as u32) as usize];
            let (to, from) = (chance.choose(4) as usize, chance.choose(6));
            dropped += usize::from(model.intrude(to, from, message, &mut chance));
            let moves = model.moves();
            if !moves.is_empty() {
                let what = moves[chance.choose(moves.len() as u32) as usize];
                // Invented messages may break laws; this test only requires that nothing panics.
                let _ = model.play(what, &mut chance);
            }
        }
    }
    println!("{dropped} messages dropped");
    assert!(dropped > 10_000);
}

/// A preset without timeouts: no peer rests for a time or delays its reports.
fn timeless(words: &str) -> Policy {
    let preset = Policy::parse(words).unwrap();
    let patience = preset.rests.patience.min(1);
    Policy { rests: Rests { patience, first_ns: 0, longest_ns: 0 }, report_ns: 0, ..preset }
}

/// Every random tree of three peers. `every_preset_ends_correctly` plays all schedules of the first two policies on trees
/// of these shapes, so those are reduced here.
#[test]
fn every_random_tree_ends_correctly() {
    for words in ["overlay:tree=random", "adaptive:tree=random", "overlay:bridges=no,tree=random"] {
        let mut trees = std::collections::HashSet::new();
        for seed in 0..8 {
            let parent = PeerTree::new(3, timeless(words).tree, seed).parent(2);
            if trees.insert(parent) {
                let mut model = SetModel::spread(&[3, 0, 0], timeless(words), seed);
                model.state.eager = !words.contains("bridges=no");
                let seen = explore(model);
                println!("{words}, 2 below {parent:?}, 3 peers x 3 units: {seen:?}");
                assert!(seen.unwrap().ends > 0);
            }
        }
        assert_eq!(trees.len(), 2);
    }
}

/// Late giving does some units twice: every unit is done, and every repetition is reported.
#[test]
fn late_trims_end_correctly() {
    for (peers, units) in [(1, 4), (2, 6), (2, 8), (3, 4), (3, 6)] {
        for words in ["master-worker:late", "master-worker:late,degree=1,share=1/3"] {
            let seen = every_schedule(peers, units, 0, timeless(words));
            println!("{words}, {peers} peers x {units} units: {seen:?}");
            assert!(seen.unwrap().ends > 0);
        }
    }
}

/// Each fault of late giving, in the protocol and in the driver, is caught in a small model.
#[test]
fn every_fault_of_late_trims_is_caught() {
    type Fault = fn(&mut RunModel);
    let faults: [(&str, Fault, &str); 3] = [
        ("trims in silence", |model| mutate(model, Mutant::TrimsInSilence), "Trim"),
        ("keeps copies", |model| mutate(model, Mutant::KeepsCopies), "deadlock"),
        ("believes what is left", |model| model.state.believes = true, "done"),
    ];
    for (name, fault, said) in faults {
        let mut model = RunModel::new(3, 6, timeless("master-worker:late,degree=1"));
        fault(&mut model);
        let caught = explore(model).err().unwrap_or_default();
        println!("{name}: {}", caught.lines().next().unwrap_or_default());
        assert!(caught.lines().next().unwrap_or_default().contains(said), "{name}: {caught}");
    }
}

/// Two masters on one level require five peers; few units suffice.
#[test]
fn masters_on_one_level_end_correctly() {
    let policy = timeless("hierarchical-master-worker:degree=2,grain=1");
    for units in [&[0, 2, 0, 0, 0][..], &[2, 0, 0, 0, 0]] {
        let mut model = SetModel::spread(units, policy.clone(), 0);
        model.state.eager = true;
        let seen = explore(model);
        println!("{units:?}: {seen:?}");
        assert!(seen.unwrap().ends > 0);
    }
}

#[test]
fn every_snapshot_holds_every_unit_once() {
    for (peers, units, snapshots) in [(1, 3, 2), (2, 6, 1), (2, 4, 2), (3, 3, 1)] {
        let seen = every_schedule(peers, units, snapshots, policy()).unwrap();
        println!("{peers} peers x {units} units, {snapshots} snapshots: {seen:?}");
    }
}

/// After a resume, any peer may have work.
#[test]
fn any_peer_may_start_with_work() {
    for units in [&[0, 3][..], &[2, 2], &[0, 3, 0], &[0, 2, 1], &[1, 1, 1]] {
        let seen = explore(SetModel::spread(units, policy(), 0)).unwrap();
        println!("{units:?}: {seen:?}");
    }
}

/// Each fault of a snapshot, in the protocol and in the driver, is caught in a small model.
#[test]
fn every_fault_of_a_snapshot_is_caught() {
    type Fault = fn(&mut SetModel);
    let faults: [(&str, Fault); 5] = [
        ("takes before the cut", |model| {
            mutate(model, Mutant::TakesBeforeCut);
        }),
        ("releases before the cut", |model| {
            mutate(model, Mutant::ReleasesBeforeCut);
        }),
        ("does not wait for the last cut", |model| {
            model.state.cuts.left = 2;
            model.state.cuts.impatient = true;
        }),
        ("forgets what was taken", |model| model.state.cuts.forgets_taken = true),
        ("forgets what is kept", |model| model.state.cuts.forgets_kept = true),
    ];
    for (name, fault) in faults {
        let breed = |peers, units| {
            let mut model = SetModel::new(peers, units, policy());
            model.state.cuts.left = 1;
            fault(&mut model);
            model
        };
        let said = ["inconsistent snapshot", "cuts for epoch"];
        let caught = caught_in([(2, 2), (2, 4), (3, 4)], breed, &said);
        println!("{name}: {}", caught.unwrap_or_else(|| panic!("'{name}' is not caught")));
    }
}

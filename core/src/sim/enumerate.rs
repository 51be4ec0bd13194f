//! Every schedule of a few peers with a few units of work, each state visited once.

use super::pile::Pile;
use super::room::{Heaps, Move, Room, Scripted, Strips};
use crate::balance::Policy;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// What an enumeration has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Different states.
    pub states: usize,
    /// Moves between them.
    pub moves: u64,
    /// States in which the run is over.
    pub ends: u64,
    /// The longest schedule.
    pub longest: usize,
    /// The longest queue between two peers.
    pub longest_queue: usize,
}

/// Plays every schedule of `peers` peers that share `units` units of work, and takes so many
/// snapshots, each at any moment.
///
/// Powers stay equal, time stands still, and a peer that was refused asks again once something has
/// changed. Under these conditions no schedule comes back to a state it has been in, so that each
/// one ends.
///
/// # Errors
/// The moves that lead to a broken law: an early end, work or a kept piece left at the end, a state
/// out of which nothing can happen, one that comes back, or a snapshot in which a unit is missing or
/// twice.
pub fn every_schedule(
    peers: u32,
    units: u8,
    snapshots: u8,
    policy: Policy,
) -> Result<Seen, String> {
    if policy.is_late() {
        return explore(Strips::new(peers, units, policy));
    }
    let mut room = Heaps::new(peers, units, policy);
    room.cuts.left = snapshots;
    explore(room)
}

/// The same without snapshots, with a fraction of the states: answers that leave nothing to choose
/// arrive at once.
///
/// # Errors
/// As [`every_schedule`].
pub fn every_schedule_reduced(peers: u32, units: u8, policy: Policy) -> Result<Seen, String> {
    let mut room = Heaps::new(peers, units, policy);
    room.eager = true;
    explore(room)
}

/// A state on the path that is being followed, and what is still to be tried from it.
struct Frame<P> {
    room: Room<P>,
    print: u64,
    moves: Vec<Move>,
    chooser: Scripted,
}

impl<P: Pile> Frame<P> {
    fn new(room: Room<P>, print: u64) -> Self {
        let moves = room.moves();
        Self { room, print, moves, chooser: Scripted::default() }
    }

    /// The next state, by the next move or the next choice within it.
    fn next(&mut self) -> Option<Result<Room<P>, String>> {
        let what = *self.moves.last()?;
        let mut room = self.room.clone();
        let played = room.play(what, &mut self.chooser);
        self.chooser.choice += 1;
        if self.chooser.choice >= self.chooser.options {
            self.chooser = Scripted::default();
            self.moves.pop();
        }
        Some(played.map(|()| room))
    }
}

pub(super) fn explore<P: Pile>(start: Room<P>) -> Result<Seen, String> {
    let mut seen = Seen::default();
    // Fingerprint to whether the state is on the path that is being followed.
    let mut visited: HashMap<u64, bool, BuildHasherDefault<AsIs>> = HashMap::default();
    let print = fingerprint(&start);
    visited.insert(print, true);
    let mut path = vec![Frame::new(start, print)];
    while let Some(frame) = path.last_mut() {
        let next = match frame.next() {
            Some(Ok(next)) => next,
            Some(Err(why)) => return Err(format!("{why}\n{}", story(&path))),
            None => {
                visited.insert(frame.print, false);
                path.pop();
                continue;
            }
        };
        seen.moves += 1;
        let print = fingerprint(&next);
        match visited.get(&print) {
            Some(false) => continue,
            Some(true) => return Err(format!("a state comes back\n{}", story(&path))),
            None => {}
        }
        let over = next.over();
        let frame = Frame::new(next, print);
        seen.longest = seen.longest.max(path.len());
        seen.longest_queue = seen.longest_queue.max(frame.room.longest_queue());
        match over {
            Ok(true) => seen.ends += 1,
            Ok(false) if frame.moves.is_empty() => {
                return Err(format!("nothing can happen, and it is not over\n{}", story(&path)));
            }
            Ok(false) => {}
            Err(why) => return Err(format!("{why}\n{}", story(&path))),
        }
        visited.insert(print, true);
        path.push(frame);
    }
    seen.states = visited.len();
    Ok(seen)
}

/// What each state on the path still had to try, to be read by whoever has to find the fault.
fn story<P: Pile>(path: &[Frame<P>]) -> String {
    let state = path.last().map(|frame| format!("{:#?}", frame.room)).unwrap_or_default();
    format!("after {} moves, in {state}", path.len())
}

/// A state's fingerprint: of a hundred million, two share one with a chance below 1 in 1,000.
fn fingerprint<P: Pile>(room: &Room<P>) -> u64 {
    let mut hasher = Fold(0x243f_6a88_85a3_08d3);
    room.hash(&mut hasher);
    hasher.finish()
}

/// A fast hasher: folds each word in by a full multiplication.
struct Fold(u64);

impl Hasher for Fold {
    fn finish(&self) -> u64 {
        let product = u128::from(self.0) * 0xf39c_c060_5ced_c835;
        (product >> 64) as u64 ^ product as u64
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * 0x9e37_79b9_7f4a_7c15;
        self.0 = ((product >> 64) as u64 ^ product as u64).wrapping_add(0x1319_8a2e_0370_7344);
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

/// Keys that are hashes already.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("keys are u64");
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::{End, Lineage, Mutant, Share, Victim};
    use crate::sim::walk;

    fn policy() -> Policy {
        let (victim, share) = (Victim::Random, Share::Part(2));
        Policy {
            victim,
            share,
            degree: 2,
            patience: 1,
            rest_ns: 0,
            longest_rest_ns: 0,
            ..Policy::default()
        }
    }

    #[test]
    fn every_schedule_of_few_peers_ends_rightly() {
        for (peers, units) in [(1, 3), (2, 6), (3, 4), (4, 3)] {
            let reduced = every_schedule_reduced(peers, units, policy()).unwrap();
            println!("{peers} peers x {units} units, reduced: {reduced:?}");
            assert!(reduced.ends > 0);
            if peers < 4 {
                let full = every_schedule(peers, units, 0, policy()).unwrap();
                println!("{peers} peers x {units} units, in full: {full:?}");
                assert_eq!(full.longest, reduced.longest);
            }
        }
    }

    #[test]
    fn every_share_ends_rightly() {
        for share in [Share::Part(3), Share::Part(8), Share::Power] {
            let seen = every_schedule(3, 4, 0, Policy { share, ..policy() }).unwrap();
            println!("{share:?}, 3 peers x 4 units: {seen:?}");
        }
    }

    /// Counts make an ending right even if a peer that has asked says that it is idle; that it does
    /// not say so only saves waves.
    #[test]
    fn idle_while_asking_would_be_harmless() {
        let mut room = Heaps::new(3, 4, policy());
        room.peers.iter_mut().for_each(|peer| peer.mutant = Mutant::IdleWhileAsking);
        println!("idle while asking: {:?}", explore(room).unwrap());
    }

    /// Each mutant is looked for by enumeration of a small room and by random walks in a larger one.
    #[test]
    fn every_mutant_is_caught() {
        for (mutant, said) in [
            (Mutant::OneWave, "an end after"),
            (Mutant::NoCounts, "an end after"),
            (Mutant::ForgetsParked, "nothing can happen"),
            (Mutant::NeverAcknowledges, "nothing can happen"),
        ] {
            let breed = |mut room: Heaps| {
                room.peers.iter_mut().for_each(|peer| peer.mutant = mutant);
                room
            };
            let small = explore(breed(Heaps::new(3, 4, policy()))).err();
            let walks = (0..200_000)
                .map(|seed| walk::walk(breed(Heaps::new(4, 40, policy())), seed))
                .find_map(Result::err);
            let caught = small.or(walks).unwrap_or_default();
            println!("{mutant:?}: {}", caught.lines().next().unwrap_or_default());
            assert!(caught.contains(said), "{mutant:?}: {caught}");
        }
    }

    /// Every preset, with a shape of its tree where it depends on that.
    const PRESETS: [&str; 13] = [
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
    ];

    fn every_preset(end: &str) {
        for words in PRESETS {
            let words = format!("{words},end={end}");
            for (peers, units, snapshots) in [(2, 4, 1), (3, 3, 0)] {
                let mut room = Heaps::new(peers, units, timeless(&words));
                room.cuts.left = snapshots;
                let seen = explore(room);
                println!("{words}, {peers} peers x {units} units: {seen:?}");
                assert!(seen.unwrap().ends > 0);
            }
        }
    }

    #[test]
    fn every_preset_ends_rightly() {
        every_preset("waves");
    }

    #[test]
    fn every_preset_ends_rightly_by_a_counter() {
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

    /// A counter that does not know of all that is on its way shows in a small room.
    #[test]
    fn every_fault_of_a_counter_is_caught() {
        let counter = Policy { end: Some(End::Counter), ..policy() };
        for (mutant, said) in [
            (Mutant::CountsLate, ["an end after", "joined after the end"]),
            (Mutant::LeavesEarly, ["an end after", "reached a finished peer"]),
        ] {
            let mut room = Heaps::new(3, 4, counter.clone());
            room.peers.iter_mut().for_each(|peer| peer.mutant = mutant);
            let caught = explore(room).err().unwrap_or_default();
            let line = caught.lines().next().unwrap_or_default();
            println!("{mutant:?}: {line}");
            assert!(said.iter().any(|said| line.contains(said)), "{mutant:?}: {caught}");
        }
    }

    /// As it is in the tests of presets: nobody rests for a time, or waits before it speaks.
    fn timeless(words: &str) -> Policy {
        let preset = Policy::parse(words).unwrap();
        let patience = preset.patience.min(1);
        Policy { patience, rest_ns: 0, longest_rest_ns: 0, report_ns: 0, ..preset }
    }

    /// Every tree of three peers that grows by chance, and a random one of four.
    #[test]
    fn every_random_tree_ends_rightly() {
        for words in
            ["overlay:tree=random", "adaptive:tree=random", "overlay:bridges=no,tree=random"]
        {
            let mut trees = std::collections::HashSet::new();
            for seed in 0..8 {
                let parent = Lineage::new(3, &timeless(words), seed).parent(2);
                if trees.insert(parent) {
                    let seen = explore(Heaps::spread(vec![3, 0, 0], timeless(words), seed));
                    println!("{words}, 2 below {parent:?}, 3 peers x 3 units: {seen:?}");
                    assert!(seen.unwrap().ends > 0);
                }
            }
            assert_eq!(trees.len(), 2);
        }
    }

    /// Whoever gives late has some units done twice: all are done, and what is too much was said.
    #[test]
    fn late_trims_end_rightly() {
        for (peers, units) in [(1, 4), (2, 6), (2, 8), (3, 4), (3, 6)] {
            for words in ["master-worker:late", "master-worker:late,degree=1,share=1/3"] {
                let seen = every_schedule(peers, units, 0, timeless(words));
                println!("{words}, {peers} peers x {units} units: {seen:?}");
                assert!(seen.unwrap().ends > 0);
            }
        }
    }

    /// Each fault of giving late, in the protocol and in the driver, shows in a small room.
    #[test]
    fn every_fault_of_late_trims_is_caught() {
        type Fault = fn(&mut Strips);
        let faults: [(&str, Fault, &str); 3] = [
            (
                "trims in silence",
                |room| room.peers.iter_mut().for_each(|peer| peer.mutant = Mutant::TrimsInSilence),
                "Trim",
            ),
            (
                "keeps copies",
                |room| room.peers.iter_mut().for_each(|peer| peer.mutant = Mutant::KeepsCopies),
                "nothing can happen",
            ),
            ("believes what is left", |room| room.believes = true, "done"),
        ];
        for (name, fault, said) in faults {
            let mut room = Strips::new(3, 6, timeless("master-worker:late,degree=1"));
            fault(&mut room);
            let caught = explore(room).err().unwrap_or_default();
            println!("{name}: {}", caught.lines().next().unwrap_or_default());
            assert!(caught.lines().next().unwrap_or_default().contains(said), "{name}: {caught}");
        }
    }

    /// Two masters on one level need five peers: with a few units.
    #[test]
    fn masters_beside_each_other_end_rightly() {
        let policy = timeless("hierarchical-master-worker:degree=2,grain=1");
        for units in [&[0, 2, 0, 0, 0][..], &[2, 0, 0, 0, 0]] {
            let mut room = Heaps::spread(units.to_vec(), policy.clone(), 0);
            room.eager = true;
            let seen = explore(room);
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

    /// After a resume any peer may have work.
    #[test]
    fn work_may_lie_anywhere_at_the_start() {
        for units in [&[0, 3][..], &[2, 2], &[0, 3, 0], &[0, 2, 1], &[1, 1, 1]] {
            let seen = explore(Heaps::spread(units.to_vec(), policy(), 0)).unwrap();
            println!("{units:?}: {seen:?}");
        }
    }

    /// Each fault of a snapshot, in the protocol and in the driver, shows in a small room.
    #[test]
    fn every_fault_of_a_snapshot_is_caught() {
        type Fault = fn(&mut Heaps);
        let faults: [(&str, Fault); 4] = [
            ("takes before the cut", |room| {
                room.peers.iter_mut().for_each(|peer| peer.mutant = Mutant::TakesBeforeCut);
            }),
            ("releases before the cut", |room| {
                room.peers.iter_mut().for_each(|peer| peer.mutant = Mutant::ReleasesBeforeCut);
            }),
            ("forgets what was taken", |room| room.cuts.forgets_taken = true),
            ("forgets what is kept", |room| room.cuts.forgets_kept = true),
        ];
        for (name, fault) in faults {
            let mut room = Heaps::new(3, 4, policy());
            room.cuts.left = 1;
            fault(&mut room);
            let caught = explore(room).err().unwrap_or_default();
            println!("{name}: {}", caught.lines().next().unwrap_or_default());
            assert!(caught.contains("a snapshot of"), "{name}: {caught}");
        }
    }
}

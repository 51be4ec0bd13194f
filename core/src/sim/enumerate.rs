//! Every schedule of a few peers with a few units of work, each state visited once.

use super::room::{Move, Room, Scripted};
use crate::balance::Policy;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What an enumeration has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Different states.
    pub states: usize,
    /// Moves between them.
    pub moves: usize,
    /// States in which the run is over.
    pub ends: usize,
    /// The longest queue between two peers.
    pub longest_queue: usize,
}

/// Plays every schedule of `peers` peers that share `units` units of work.
///
/// Powers stay equal, time stands still, and a peer that was refused asks again once something has changed.
///
/// # Errors
/// The moves that lead to a broken law: an early end, a unit or message or kept piece left at the
/// end, or a state from which no end can be reached.
pub fn every_schedule(peers: u32, units: u8, policy: Policy) -> Result<Seen, String> {
    explore(Room::new(peers, units, policy))
}

/// A state's fingerprint: with 128 bits, two of a billion states share one by chance 1 in 10^20.
fn fingerprint(room: &Room) -> u128 {
    let [low, high] = [0u8, 1].map(|salt| {
        let mut hasher = DefaultHasher::new();
        salt.hash(&mut hasher);
        room.hash(&mut hasher);
        hasher.finish()
    });
    u128::from(low) | u128::from(high) << 64
}

pub(super) fn explore(start: Room) -> Result<Seen, String> {
    let mut seen = Seen { states: 1, ..Seen::default() };
    let mut visited = HashMap::from([(fingerprint(&start), 0u32)]);
    let mut came_from: Vec<(u32, Option<(Move, u32)>)> = vec![(0, None)];
    let mut edges: Vec<(u32, u32)> = Vec::new();
    let mut ends = Vec::new();
    let mut open = vec![(0u32, start)];
    while let Some((at, room)) = open.pop() {
        let fail = |why: String, last: Option<Move>| {
            Err(format!("{why}\nafter {}", story(&came_from, at, last)))
        };
        seen.longest_queue = seen.longest_queue.max(room.longest_queue());
        match room.over() {
            Ok(false) => {}
            Ok(true) => {
                ends.push(at);
                continue;
            }
            Err(why) => return fail(why, None),
        }
        let moves = room.moves();
        if moves.is_empty() {
            return fail("nothing can happen, and it is not over".into(), None);
        }
        let mut reached = Vec::new();
        for what in moves {
            let mut chooser = Scripted { choice: 0, options: 1 };
            while chooser.choice < chooser.options {
                let mut next = room.clone();
                if let Err(why) = next.play(what, &mut chooser) {
                    return fail(why, Some(what));
                }
                reached.push((what, chooser.choice, next));
                chooser.choice += 1;
            }
        }
        for (what, choice, next) in reached {
            let fresh = visited.len() as u32;
            let to = *visited.entry(fingerprint(&next)).or_insert(fresh);
            edges.push((to, at));
            if to == fresh {
                came_from.push((at, Some((what, choice))));
                open.push((to, next));
            }
        }
    }
    seen.states = visited.len();
    seen.moves = edges.len();
    seen.ends = ends.len();
    match without_end(seen.states, edges, ends) {
        Some(lost) => Err(format!("no end after {}", story(&came_from, lost, None))),
        None => Ok(seen),
    }
}

/// A state from which no end can be reached, if there is one; edges point backwards.
fn without_end(states: usize, mut edges: Vec<(u32, u32)>, ends: Vec<u32>) -> Option<u32> {
    edges.sort_unstable();
    let mut reaches = vec![false; states];
    let mut open = ends;
    open.iter().for_each(|&end| reaches[end as usize] = true);
    while let Some(at) = open.pop() {
        let first = edges.partition_point(|&(to, _)| to < at);
        for &(_, from) in edges[first..].iter().take_while(|&&(to, _)| to == at) {
            if !std::mem::replace(&mut reaches[from as usize], true) {
                open.push(from);
            }
        }
    }
    reaches.iter().position(|&ok| !ok).map(|state| state as u32)
}

/// The moves that lead to a state, to be read by whoever has to find the fault.
fn story(came_from: &[(u32, Option<(Move, u32)>)], at: u32, last: Option<Move>) -> String {
    let mut moves: Vec<String> = last.iter().map(|what| format!("{what:?}")).collect();
    let mut at = at;
    while let (before, Some((what, choice))) = came_from[at as usize] {
        moves.push(format!("{what:?}/{choice}"));
        at = before;
    }
    moves.reverse();
    moves.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::{Mutant, Share};

    fn policy() -> Policy {
        let share = Share::Part(2);
        Policy { share, patience: 1, rest_ns: 0, longest_rest_ns: 0, ..Policy::default() }
    }

    #[test]
    fn every_schedule_of_few_peers_ends_rightly() {
        for (peers, units) in [(1, 3), (2, 6), (3, 4), (4, 3)] {
            let seen = every_schedule(peers, units, policy()).unwrap();
            println!("{peers} peers x {units} units: {seen:?}");
            assert!(seen.ends > 0);
        }
    }

    #[test]
    fn every_share_ends_rightly() {
        for share in [Share::Part(3), Share::Part(8), Share::Power] {
            let seen = every_schedule(3, 4, Policy { share, ..policy() }).unwrap();
            println!("{share:?}, 3 peers x 4 units: {seen:?}");
        }
    }

    #[test]
    fn every_mutant_is_caught() {
        for (mutant, said) in [
            (Mutant::OneWave, "an end after"),
            (Mutant::NoCounts, "an end after"),
            (Mutant::ForgetsParked, "nothing can happen"),
            (Mutant::NeverAcknowledges, "nothing can happen"),
        ] {
            let mut room = Room::new(3, 4, policy());
            room.peers.iter_mut().for_each(|peer| peer.mutant = mutant);
            let why = explore(room).expect_err(&format!("{mutant:?} was not caught"));
            println!("{mutant:?}: {}", why.lines().next().unwrap_or_default());
            assert!(why.contains(said), "{mutant:?}: {why}");
        }
    }
}

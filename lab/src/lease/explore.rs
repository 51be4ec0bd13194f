//! Enumerates every order of events in a small model: each state is visited once, and each must be able to reach an end
//! by steps that need no luck.

use super::lease_model::{Budget, LeaseModel};
use super::moves::Move;
use crate::fingerprints::{FingerprintMap, fingerprint};
use pleach_core::lease::LeaseMutant;
use std::collections::VecDeque;

/// The size of an enumeration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Different states.
    pub states: usize,
    /// Moves between them.
    pub moves: u64,
    /// States in which the search is over.
    pub ends: u64,
}

/// Plays every order of events: `places` for sites, the first `present` of them taken, share `units` units of work, and
/// whatever the budget allows may happen at any moment.
///
/// # Errors
/// The moves that lead to a broken law: a progress report that does not divide its lease, a lost solution, an early
/// end, a unit done twice without a fault, or a state that can reach no end without luck.
pub fn every_order(
    places: usize,
    present: usize,
    units: u32,
    budget: Budget,
) -> Result<Seen, String> {
    explore(LeaseModel::new(places, present, units, budget, LeaseMutant::None), usize::MAX)
}

/// How a state was first reached, and where it leads without luck.
struct Visit {
    from: u32,
    by: Option<Move>,
    next: Vec<u32>,
    over: bool,
}

/// Explores from a state until all reachable states, or this many, have been visited.
pub(super) fn explore(start: LeaseModel, most: usize) -> Result<Seen, String> {
    let mut seen = Seen::default();
    let mut places: FingerprintMap<u32> = FingerprintMap::default();
    places.insert(fingerprint(&start), 0);
    let mut visits = vec![Visit { from: 0, by: None, next: Vec::new(), over: false }];
    let mut queue = VecDeque::from([(0_u32, start.clone())]);
    while let Some((at, model)) = queue.pop_front() {
        let tell = |why, by| format!("{why}\n{}", story(&visits, at, by, &start));
        if model.over().map_err(|why| tell(why, None))? {
            visits[at as usize].over = true;
            seen.ends += 1;
            continue;
        }
        let mut sure = Vec::new();
        for (what, luck) in model.moves() {
            let mut next = model.clone();
            seen.moves += 1;
            next.play(what)
                .map_err(|why| format!("{why}\n{}", story(&visits, at, Some(what), &start)))?;
            let new = visits.len() as u32;
            let to = *places.entry(fingerprint(&next)).or_insert(new);
            if to == new {
                let visit = Visit { from: at, by: Some(what), next: Vec::new(), over: false };
                visits.push(visit);
                queue.push_back((new, next));
            }
            if !luck {
                sure.push(to);
            }
        }
        visits[at as usize].next = sure;
        if visits.len() >= most {
            return Ok(Seen { states: visits.len(), ..seen });
        }
    }
    seen.states = visits.len();
    if let Some(stuck) = stuck(&visits) {
        let why = "this state can reach no end without luck";
        return Err(format!("{why}\n{}", story(&visits, stuck, None, &start)));
    }
    Ok(seen)
}

/// A state that can reach no end by certain steps.
fn stuck(visits: &[Visit]) -> Option<u32> {
    let mut before = vec![Vec::new(); visits.len()];
    for (at, visit) in visits.iter().enumerate() {
        visit.next.iter().for_each(|&next| before[next as usize].push(at as u32));
    }
    let mut ends: Vec<bool> = visits.iter().map(|visit| visit.over).collect();
    let mut queue: Vec<u32> = (0..visits.len() as u32).filter(|&at| ends[at as usize]).collect();
    while let Some(at) = queue.pop() {
        for &earlier in &before[at as usize] {
            if !std::mem::replace(&mut ends[earlier as usize], true) {
                queue.push(earlier);
            }
        }
    }
    ends.iter().position(|&ends| !ends).map(|at| at as u32)
}

/// Describes the moves that led to a state, and the state.
fn story(visits: &[Visit], at: u32, last: Option<Move>, start: &LeaseModel) -> String {
    let mut moves: Vec<Move> = last.into_iter().collect();
    let mut here = at;
    while let Some(by) = visits[here as usize].by {
        moves.push(by);
        here = visits[here as usize].from;
    }
    moves.reverse();
    let mut model = start.clone();
    let played = moves.iter().try_for_each(|&what| model.play(what));
    let lines: Vec<String> = moves.iter().map(|what| format!("  {what:?}")).collect();
    format!("{}\n{played:?}\n{model:#?}", lines.join("\n"))
}

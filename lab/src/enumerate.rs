//! Enumerates every schedule of a few peers with a few units of work; each state is visited once.

use super::fingerprints::{FingerprintMap, fingerprint};
use super::late_model::RunModel;
use super::model::{Model, Move, Scripted, SetModel};
use super::work_set::WorkSet;
use pleach_core::steal::Policy;

/// The size of an enumeration.
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

/// Enumerates every schedule of `peers` peers that share `units` units of work. A number of snapshots may start at any
/// moment.
///
/// Powers stay equal, time stands still, and a refused peer asks again once something has changed. Under these
/// conditions no schedule visits a state twice, so every schedule ends.
///
/// # Errors
/// The moves that lead to a broken law: a unit that is lost or in two places, an early end, work or a kept piece left
/// at the end, a deadlock, a repeated state, or a snapshot in which a unit is missing or counted twice.
pub fn every_schedule(
    peers: u32,
    units: u8,
    snapshots: u8,
    policy: Policy,
) -> Result<Seen, String> {
    if policy.is_late() {
        return explore(RunModel::new(peers, units, policy));
    }
    let mut model = SetModel::new(peers, units, policy);
    model.state.cuts.left = snapshots;
    explore(model)
}

/// The same without snapshots and with a fraction of the states: answers that leave nothing to choose arrive at once.
///
/// # Errors
/// As [`every_schedule`].
pub fn every_schedule_reduced(peers: u32, units: u8, policy: Policy) -> Result<Seen, String> {
    let mut model = SetModel::new(peers, units, policy);
    model.state.eager = true;
    explore(model)
}

/// A state on the current path, and the moves still to be tried from it.
struct Frame<P> {
    model: Model<P>,
    print: u64,
    moves: Vec<Move>,
    chooser: Scripted,
}

impl<P: WorkSet> Frame<P> {
    fn new(model: Model<P>, print: u64) -> Self {
        let moves = model.moves();
        Self { model, print, moves, chooser: Scripted::default() }
    }

    /// The state after the next move, or after the next choice within a move.
    fn next(&mut self) -> Option<Result<Model<P>, String>> {
        let what = *self.moves.last()?;
        let mut model = self.model.clone();
        let played = model.play(what, &mut self.chooser);
        self.chooser.choice += 1;
        if self.chooser.choice >= self.chooser.options {
            self.chooser = Scripted::default();
            self.moves.pop();
        }
        Some(played.map(|()| model))
    }
}

pub(super) fn explore<P: WorkSet>(start: Model<P>) -> Result<Seen, String> {
    let mut seen = Seen::default();
    // Maps fingerprints to whether the state is on the current path.
    let mut visited: FingerprintMap<bool> = FingerprintMap::default();
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
            Some(true) => return Err(format!("a state repeats\n{}", story(&path))),
            None => {}
        }
        let over = next.over();
        let frame = Frame::new(next, print);
        seen.longest = seen.longest.max(path.len());
        seen.longest_queue = seen.longest_queue.max(frame.model.longest_queue());
        match over {
            Ok(true) => seen.ends += 1,
            Ok(false) if frame.moves.is_empty() => {
                return Err(format!("deadlock before the end\n{}", story(&path)));
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

/// Describes the state at the end of the path and how many moves led to it.
fn story<P: WorkSet>(path: &[Frame<P>]) -> String {
    let state = path.last().map(|frame| format!("{:#?}", frame.model)).unwrap_or_default();
    format!("after {} moves, in {state}", path.len())
}

#[cfg(test)]
mod tests;

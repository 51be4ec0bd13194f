//! Plays random schedules of models too large to enumerate; a seed replays each.

use super::chance::draw;
use super::late_model::RunModel;
use super::model::{Model, Move, SetModel};
use super::work_set::WorkSet;
use pleach_core::steal::{Chooser, Policy, SeededChooser};

/// Plays a random schedule of `peers` peers that share `units` units of work and find two solutions, while a number of
/// snapshots is taken.
///
/// # Errors
/// The law that was broken, as for [`super::enumerate::every_schedule`].
pub fn random_schedule(
    peers: u32,
    units: u8,
    snapshots: u8,
    policy: Policy,
    seed: u64,
) -> Result<usize, String> {
    if policy.is_late() {
        return walk(RunModel::new(peers, units, policy), seed);
    }
    let mut model = SetModel::new(peers, units, policy);
    model.state.cuts.left = snapshots;
    model.state.finds = vec![2, 1];
    model.state.stubborn = seed.is_multiple_of(4);
    walk(model, seed)
}

/// Peers differ greatly in how fast they work and read messages, redrawn for each schedule: chance alone rarely starves a
/// peer for long, and most faults need just that.
pub(super) fn walk<P: WorkSet>(mut model: Model<P>, seed: u64) -> Result<usize, String> {
    let mut chance = SeededChooser::new(seed, 0);
    let n = model.interpreters.len();
    let speeds: Vec<u32> = (0..2 * n).map(|_| 1 << (2 * chance.choose(6))).collect();
    let speed = |what: &Move| match *what {
        Move::Step(peer) | Move::Reach(peer) => speeds[peer],
        Move::Wake(peer) => speeds[n + peer],
        Move::Deliver(link) => speeds[n + link % n],
        Move::Act(peer) => speeds[n + peer],
        Move::Snapshot | Move::Find(..) => 1,
    };
    for length in 0.. {
        if model.over()? {
            return Ok(length);
        }
        let Some(what) = draw(&mut chance, model.moves(), speed) else {
            return Err(format!("deadlock before the end\nseed {seed}: {model:#?}"));
        };
        model.play(what, &mut chance).map_err(|why| format!("{why}\nseed {seed}: {model:#?}"))?;
    }
    unreachable!("the loop only returns")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_core::steal::{End, Share};

    #[test]
    fn random_schedules_of_many_peers_end_correctly() {
        let mut longest = 0;
        for seed in 0..3000 {
            let mut chance = SeededChooser::new(seed, 1);
            let presets = [
                "adaptive",
                "random-power",
                "ring",
                "lifelines",
                "overlay",
                "overlay:tree=random",
                "overlay:share=subtree-power,weights=1/9/3",
                "master-worker",
                "master-worker:late",
                "hierarchical-master-worker:grain=9/4/1",
                "hierarchical-master-worker:depth=2",
                "hierarchical-master-worker:depth=auto/2",
                "dynamic:cutoff=1,coordinator=yes",
                "dynamic:cutoff=1,second_cutoff=3,coordinator=yes",
            ];
            let preset = presets[chance.choose(presets.len() as u32) as usize];
            let preset = Policy::parse(preset).unwrap();
            let shares = [Share::Part(2), Share::Part(8), Share::Power, preset.share];
            let mut policy = Policy {
                share: shares[chance.choose(4) as usize],
                end: [None, Some(End::Counter)][chance.choose(2) as usize],
                ..preset
            };
            policy.tree.degree = 1 + chance.choose(4);
            policy.rests.patience = 1 + chance.choose(3);
            let (peers, units) = (1 + chance.choose(12), chance.choose(200) as u8);
            longest = longest.max(random_schedule(peers, units, 3, policy, seed).unwrap());
        }
        println!("3000 schedules, the longest of {longest} moves");
    }

    /// A peer that never rests is idle while it asks. Its requests can repeat without end, so its schedules cannot be
    /// enumerated.
    #[test]
    fn peers_that_never_rest_end_correctly() {
        let presets =
            ["random-half:patience=none", "ring:patience=none", "random-power:patience=none"];
        for seed in 0..1000 {
            let mut chance = SeededChooser::new(seed, 2);
            let preset = Policy::parse(presets[chance.choose(3) as usize]).unwrap();
            let end = [None, Some(End::Counter)][chance.choose(2) as usize];
            let mut policy = Policy { end, ..preset };
            policy.tree.degree = 1 + chance.choose(4);
            let (peers, units) = (1 + chance.choose(8), chance.choose(100) as u8);
            random_schedule(peers, units, 2, policy, seed).unwrap();
        }
    }
}

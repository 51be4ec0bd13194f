//! Tests leases from arbitrary states, reachable or not: as long as every progress report divides its lease, no move
//! may change that.

use super::bits::Bits;
use super::lease_model::{Budget, InFlight, LeaseModel};
use pleach_core::lease::{Lease, LeaseMessage, LeaseMutant, ProgressReport, Rec, Site, SiteId};
use pleach_core::search::tree::Solution;
use pleach_core::steal::{Chooser, SeededChooser};
use std::collections::BTreeMap;
use std::sync::Arc;

const PLACES: usize = 3;

/// A model with named random sets of units, random progress reports about them at random sites and in random packets,
/// and a random file.
fn arbitrary(chance: &mut SeededChooser, mutant: LeaseMutant) -> LeaseModel {
    let most = Budget {
        gives: 9,
        commits: 9,
        joins: 9,
        leaves: 9,
        deaths: 9,
        root_deaths: 9,
        restarts: 0,
        takeovers: 0,
        suspicions: 9,
        losses: 9,
        doubles: 9,
        ordered: chance.choose(2) == 0,
        trims: chance.choose(3) == 0,
    };
    let mut model = LeaseModel::new(PLACES, 1, 4, most, mutant);
    model.fault();
    for number in 0..4 {
        let lease = Lease { site: chance.choose(3), incarnation: 100, number };
        model.names.insert(lease, 1 + chance.choose(15) as u8);
    }
    let names: Vec<(Lease, u8)> =
        model.names.iter().map(|(&lease, &units)| (lease, units)).collect();
    let best = Some(Solution { score: 0, solution: vec![1] });
    for place in 0..PLACES {
        let mut site = Site::new(place as SiteId, 200 + place as u64);
        if place == 0 {
            let whole = divide(chance, &names, model.units, 3);
            site = Site::root(0, 200, whole, None);
        }
        let mut actions = Vec::new();
        site.record_solution(&Solution { score: 0, solution: vec![1] }, &mut actions);
        for &(lease, units) in &names {
            if chance.choose(3) == 0 {
                let part = divide(chance, &names, units, 3);
                let lender = (chance.choose(3) > 0).then(|| chance.choose(PLACES as u32));
                site.add_any_holding(lease, lender, chance.choose(3) == 0, part);
            }
        }
        model.place_site(place, site);
    }
    for &(lease, units) in &names {
        for _ in 0..chance.choose(4) {
            let progress_report = Arc::new(divide(chance, &names, units, 3));
            let best = best.clone();
            let message = match chance.choose(8) {
                0 => LeaseMessage::Work { lease, content: Bits::open(units), best },
                1 => LeaseMessage::Ack { lease },
                2 => LeaseMessage::Commit { lease, progress_report, best },
                3 => LeaseMessage::Return { lease, progress_report, best },
                4 => LeaseMessage::Returned { lease },
                5 => LeaseMessage::Adopt { lease },
                6 => LeaseMessage::Missing { lease },
                _ => LeaseMessage::Unknown { lease },
            };
            let (from, to) = (chance.choose(PLACES as u32), chance.choose(PLACES as u32));
            model.in_flight.push(InFlight { from, to, message });
        }
    }
    model.file = (chance.choose(2) == 0).then(|| (divide(chance, &names, model.units, 3), best));
    model
}

/// A random progress report of these units: whatever is not in a named sub-lease is done or open.
fn divide(
    chance: &mut SeededChooser,
    names: &[(Lease, u8)],
    units: u8,
    depth: u32,
) -> ProgressReport<Bits> {
    let mut subs = BTreeMap::new();
    let mut left = units;
    for &(lease, part) in names {
        if part & !left == 0 && part != units && depth > 0 && chance.choose(2) == 0 {
            left &= !part;
            let latest = (chance.choose(4) > 0).then(|| divide(chance, names, part, depth - 1));
            let (holder, acked) = (chance.choose(PLACES as u32), chance.choose(2) == 0);
            let (given, latest) = (Arc::new(Bits::open(part)), latest.map(Arc::new));
            subs.insert(lease, Rec { holder, acked, given, latest });
        }
    }
    let done = left & chance.choose(16) as u8;
    ProgressReport { content: Bits { done, open: left & !done, twice: 0 }, subs }
}

/// Plays random moves from a random state.
fn play(seed: u64, mutant: LeaseMutant) -> Result<(), String> {
    let mut chance = SeededChooser::new(seed, 3);
    let mut model = arbitrary(&mut chance, mutant);
    model.judge().expect("the states made here are right");
    for _ in 0..8 {
        if model.over().is_ok_and(|over| over) {
            break;
        }
        let moves = model.moves();
        if moves.is_empty() {
            break;
        }
        let what = moves[chance.choose(moves.len() as u32) as usize].0;
        model.play(what).map_err(|why| format!("{why}\nseed {seed}, {what:?}: {model:#?}"))?;
    }
    Ok(())
}

#[test]
fn every_step_keeps_all_progress_reports_correct() {
    for seed in 0..60_000 {
        play(seed, LeaseMutant::None).unwrap();
    }
}

#[test]
fn steps_that_break_a_progress_report_are_caught() {
    use LeaseMutant::{
        GivesAndKeeps, NestedWithoutBytes, ReturnWithoutSubs, TakeOverKeepsTheLease, TrimsTheSubs,
    };
    for mutant in
        [TakeOverKeepsTheLease, GivesAndKeeps, NestedWithoutBytes, ReturnWithoutSubs, TrimsTheSubs]
    {
        let caught = (0..2000).any(|seed| play(seed, mutant).is_err());
        assert!(caught, "{mutant:?}");
    }
}

//! What is exhausted and walked in every run of the tests, and the faults that must be noticed.

use super::settings::settings;
use super::walk::walk;
use super::{every_order, random_order};
use pleach_core::lease::LeaseMutant;

/// Whether these tests were built with `PLEACH_LONG`, as by `ci/prove.sh`.
pub(super) const LONG: bool = option_env!("PLEACH_LONG").is_some();

#[test]
fn settings_are_exhausted() {
    let mut states = 0;
    for setting in settings().iter().filter(|setting| LONG || !setting.long) {
        let (name, budget) = (setting.name, setting.budget);
        let seen = every_order(setting.places, setting.present, setting.units, budget);
        let seen = seen.unwrap_or_else(|why| panic!("{name}: {why}"));
        println!("{name}: {} states, {} moves, {} ends", seen.states, seen.moves, seen.ends);
        states += seen.states;
    }
    println!("leases: {states} states exhausted");
}

#[test]
fn random_walks_end_rightly() {
    let seeds = if LONG { 5_000_000 } else { 20_000 };
    let moves: usize = (0..seeds).map(|seed| random_order(seed).unwrap()).sum();
    println!("leases: {seeds} random walks of {moves} moves");
}

#[test]
fn every_fault_is_noticed() {
    for mutant in LeaseMutant::ALL {
        let caught = (0..20_000).find_map(|seed| Some((seed, walk(seed, mutant).err()?)));
        let (seed, why) = caught.unwrap_or_else(|| panic!("{mutant:?} is not noticed"));
        let why: String = why.lines().next().unwrap_or_default().chars().take(90).collect();
        println!("{mutant:?} is noticed in walk {seed}: {why}");
    }
}

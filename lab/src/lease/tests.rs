//! Enumerates and walks the models of leases, and checks that faults are caught.

use super::settings::settings;
use super::walk::walk;
use super::{every_order, random_order};
use pleach_core::lease::LeaseMutant;

/// Whether these tests were built with `PLEACH_LONG`, as by `ci/prove.sh`.
pub(super) const LONG: bool = option_env!("PLEACH_LONG").is_some();

#[test]
fn all_settings_hold_in_every_order() {
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
fn random_walks_end_correctly() {
    let seeds = if LONG { 5_000_000 } else { 20_000 };
    let moves: usize = (0..seeds).map(|seed| random_order(seed).unwrap()).sum();
    println!("leases: {seeds} random walks of {moves} moves");
}

#[test]
fn every_fault_is_caught() {
    for mutant in LeaseMutant::ALL {
        let caught = (0..20_000).find_map(|seed| Some((seed, walk(seed, mutant).err()?)));
        let (seed, why) = caught.unwrap_or_else(|| panic!("{mutant:?} is not caught"));
        let why: String = why.lines().next().unwrap_or_default().chars().take(90).collect();
        println!("{mutant:?} is caught in walk {seed}: {why}");
    }
}

//! What is exhausted and walked in every run of the tests, and the faults that must be noticed.

use super::settings::settings;
use super::walk::walk;
use super::{every_order, random_order};
use crate::custody::Mutant;

fn exhaust(long: bool) {
    let mut states = 0;
    for setting in settings().iter().filter(|setting| setting.long == long) {
        let (name, budget) = (setting.name, setting.budget);
        let seen = every_order(setting.places, setting.present, setting.units, budget);
        let seen = seen.unwrap_or_else(|why| panic!("{name}: {why}"));
        println!("{name}: {} states, {} moves, {} ends", seen.states, seen.moves, seen.ends);
        states += seen.states;
    }
    println!("custody: {states} states exhausted");
}

#[test]
fn small_settings_are_exhausted() {
    exhaust(false);
}

#[test]
#[ignore = "takes long: ci/prove.sh"]
fn large_settings_are_exhausted() {
    exhaust(true);
}

fn stroll(seeds: u64) {
    let moves: usize = (0..seeds).map(|seed| random_order(seed).unwrap()).sum();
    println!("custody: {seeds} random walks of {moves} moves");
}

#[test]
fn random_walks_end_rightly() {
    stroll(20_000);
}

#[test]
#[ignore = "takes long: ci/prove.sh"]
fn five_million_random_walks_end_rightly() {
    stroll(5_000_000);
}

#[test]
fn every_fault_is_noticed() {
    for mutant in Mutant::ALL {
        let caught = (0..20_000).find_map(|seed| Some((seed, walk(seed, mutant).err()?)));
        let (seed, why) = caught.unwrap_or_else(|| panic!("{mutant:?} is not noticed"));
        let why: String = why.lines().next().unwrap_or_default().chars().take(90).collect();
        println!("{mutant:?} is noticed in walk {seed}: {why}");
    }
}

//! Plays random orders of events in models too large to enumerate; a seed replays each.

use super::lease_model::{Budget, LeaseModel};
use super::moves::Move;
use crate::chance::draw;
use pleach_core::lease::LeaseMutant;
use pleach_core::steal::{Chooser, SeededChooser};

/// Plays a random order of events with up to four sites and six units. The seed also decides what may go wrong, and how
/// often. Returns the number of moves.
///
/// # Errors
/// The law that was broken, as for [`super::every_order`].
pub fn random_order(seed: u64) -> Result<usize, String> {
    walk(seed, LeaseMutant::None)
}

pub(super) fn walk(seed: u64, mutant: LeaseMutant) -> Result<usize, String> {
    let mut chance = SeededChooser::new(seed, 0);
    let mut up_to = |most: u32| chance.choose(most + 1) as u8;
    let faults = up_to(2) > 0;
    let mut some = |most: u32| if faults { up_to(most) } else { 0 };
    let (deaths, root_deaths, suspicions) = (some(3), some(2), some(2));
    let (losses, doubles, restarts) = (some(2), some(2), some(1));
    let takeovers = if restarts > 0 { 0 } else { some(1) };
    let budget = Budget {
        gives: 1 + up_to(7),
        commits: up_to(8),
        joins: up_to(2),
        leaves: up_to(1),
        deaths,
        root_deaths,
        restarts,
        takeovers,
        suspicions,
        losses,
        doubles,
        ordered: up_to(1) > 0,
        trims: up_to(2) == 0,
    };
    let (places, units) = (2 + chance.choose(4) as usize, 2 + chance.choose(5));
    let present = 1 + chance.choose(places as u32) as usize;
    let mut model = LeaseModel::new(places, present, units, budget, mutant);
    // Make some events rare, and work slow or fast as a whole: most faults need just that.
    let rare = 1 << chance.choose(5);
    let work = 1 << chance.choose(5);
    let tell = 1 << chance.choose(5);
    let weight = |what: &Move, luck: bool| match what {
        Move::Work(_) => work,
        Move::Tell(_) => tell,
        Move::Give(..) => 8,
        _ if luck => 32 / rare,
        _ => 32,
    };
    for length in 0..20_000 {
        if model.over().map_err(|why| format!("{why}\nseed {seed}: {model:#?}"))? {
            return Ok(length);
        }
        let weight = |(what, luck): &(Move, bool)| weight(what, *luck);
        let Some((what, _)) = draw(&mut chance, model.moves(), weight) else {
            return Err(format!("deadlock before the end\nseed {seed}: {model:#?}"));
        };
        model.play(what).map_err(|why| format!("{why}\nseed {seed}, {what:?}: {model:#?}"))?;
    }
    Err(format!("did not end after 20,000 moves\nseed {seed}: {model:#?}"))
}

//! [`improve`]: iterated greedy and beam search or annealing in turn, each from the best schedule of both.

use super::anneal::Anneal;
use super::beam::Beam;
use super::greedy::{Improve, greedy};
use super::model::Variant;
use super::objective::Objective;
use crate::simd::Level;
use crate::simd::lanes::Number;

/// A search for better schedules of a variant.
pub(super) fn improve(
    variant: &Variant,
    level: Level,
    start: (Vec<u16>, i64),
    seed: u64,
) -> Box<dyn Improve> {
    let greedy = greedy(variant, level, start.clone(), seed);
    let other = if variant.is_narrow() {
        other::<i32>(variant, level, &start, seed)
    } else {
        other::<i64>(variant, level, &start, seed)
    };
    match other {
        Some(other) => Box::new(Turns { searches: [greedy, other], best: start }),
        None => greedy,
    }
}

/// The search alongside iterated greedy, if there is one.
fn other<N: Number>(
    variant: &Variant,
    level: Level,
    start: &(Vec<u16>, i64),
    seed: u64,
) -> Option<Box<dyn Improve>> {
    if Beam::<N>::applies(variant) {
        Some(Box::new(Beam::<N>::new(variant, level, start.clone(), seed)))
    } else if variant.objective() == Objective::Tardiness {
        Some(Box::new(Anneal::<N>::new(variant, level, start.clone(), seed)))
    } else {
        None
    }
}

/// Two searches in turn, each with half the work once the second no longer comes first.
struct Turns {
    searches: [Box<dyn Improve>; 2],
    best: (Vec<u16>, i64),
}

impl Improve for Turns {
    fn round(&mut self, keep_going: &dyn Fn() -> bool) -> (Vec<u16>, i64) {
        let [first, second] = &mut self.searches;
        let behind = second.comes_first() || second.work() < first.work();
        let seconds_turn = behind && !second.exhausted();
        let (now, other) = if seconds_turn { (second, first) } else { (first, second) };
        let found = now.round(keep_going);
        if found.1 < self.best.1 {
            self.best = found.clone();
            other.adopt(&found.0, found.1);
        }
        found
    }

    fn adopt(&mut self, order: &[u16], value: i64) {
        self.best = (order.to_vec(), value);
        self.searches.iter_mut().for_each(|search| search.adopt(order, value));
    }

    fn work(&self) -> u64 {
        self.searches.iter().map(|search| search.work()).sum()
    }
}

//! [`improve`]: iterated greedy, beam search and annealing in turn, each from the best schedule of all.

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
    let mut searches = vec![greedy(variant, level, start.clone(), seed)];
    searches.extend(if variant.is_narrow() {
        others::<i32>(variant, level, &start, seed)
    } else {
        others::<i64>(variant, level, &start, seed)
    });
    Box::new(Turns { searches, best: start })
}

/// The searches alongside iterated greedy.
fn others<N: Number>(
    variant: &Variant,
    level: Level,
    start: &(Vec<u16>, i64),
    seed: u64,
) -> Vec<Box<dyn Improve>> {
    let mut others: Vec<Box<dyn Improve>> = Vec::new();
    if Beam::<N>::applies(variant) {
        others.push(Box::new(Beam::<N>::new(variant, level, start.clone(), seed)));
    }
    if variant.objective() == Objective::Tardiness {
        others.push(Box::new(Anneal::<N>::new(variant, level, start.clone(), seed)));
    }
    others
}

/// Searches in turn, each with the same amount of work once none has precedence any longer.
struct Turns {
    searches: Vec<Box<dyn Improve>>,
    best: (Vec<u16>, i64),
}

impl Improve for Turns {
    fn round(&mut self, keep_going: &dyn Fn() -> bool) -> (Vec<u16>, i64) {
        let open = || self.searches.iter().enumerate().filter(|(_, search)| !search.exhausted());
        let next = open()
            .find(|(_, search)| search.comes_first())
            .or_else(|| open().min_by_key(|(_, search)| search.work()))
            .map_or(0, |(nth, _)| nth);
        let found = self.searches[next].round(keep_going);
        if found.1 < self.best.1 {
            self.best = found.clone();
            let (before, from) = self.searches.split_at_mut(next);
            let others = before.iter_mut().chain(&mut from[1..]);
            others.for_each(|search| search.adopt(&found.0, found.1));
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

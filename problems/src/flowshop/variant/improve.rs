//! [`improve`]: iterated greedy and beam search in turn, each from the best schedule of both.

use super::beam::Beam;
use super::greedy::{Improve, greedy};
use super::model::Variant;
use crate::simd::Level;

/// A search for better schedules of a variant.
pub(super) fn improve(
    variant: &Variant,
    level: Level,
    start: (Vec<u16>, i64),
    seed: u64,
) -> Box<dyn Improve> {
    let greedy = greedy(variant, level, start.clone(), seed);
    let beam: Box<dyn Improve> = if variant.is_narrow() && Beam::<i32>::applies(variant) {
        Box::new(Beam::<i32>::new(variant, level, start.clone()))
    } else if Beam::<i64>::applies(variant) {
        Box::new(Beam::<i64>::new(variant, level, start.clone()))
    } else {
        return greedy;
    };
    Box::new(Turns { searches: [greedy, beam], best: start })
}

/// Two searches in turn, each with half the work.
struct Turns {
    searches: [Box<dyn Improve>; 2],
    best: (Vec<u16>, i64),
}

impl Improve for Turns {
    fn round(&mut self, keep_going: &dyn Fn() -> bool) -> (Vec<u16>, i64) {
        let [greedy, beam] = &mut self.searches;
        let beams = !beam.exhausted() && beam.work() < greedy.work();
        let (now, other) = if beams { (beam, greedy) } else { (greedy, beam) };
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

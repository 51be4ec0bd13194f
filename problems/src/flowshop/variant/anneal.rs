//! [`Anneal`]: simulated annealing for variants, by the values of all places of a job.
//!
//! A step draws one of the places by its Boltzmann weight, so that no step is rejected. Each cycle cools down from the
//! best schedule so far, twice as slowly as the one before.

use super::super::heuristic::insertion::Insert;
use super::greedy::{Improve, typical_difference};
use super::model::Variant;
use super::places::Places;
use crate::simd::Level;
use crate::simd::lanes::Number;
use oorandom::Rand64;

/// Temperatures at the start and at the end of a cycle, in typical differences between neighbours. With few jobs, a
/// single late one makes more of such a difference, and a cycle ends warmer: at `COLD_FEW` divided by their number.
const HOT: f64 = 0.3;
const COLD: f64 = 0.01;
const COLD_FEW: f64 = 2.0;
/// Steps per job of the first cycle.
const FIRST: u64 = 25;
/// Steps of a round.
const ROUND: u64 = 64;
/// Places whose values exceed the least one by more than this many temperatures are not drawn: their values are only
/// bounds.
const MARGIN: f64 = 12.0;

/// An annealing in progress.
pub(super) struct Anneal<N> {
    places: Places<N>,
    rng: Rand64,
    /// Temperatures at the start and at the end of a cycle.
    hot: f64,
    cold: f64,
    order: Vec<u16>,
    value: N,
    best: (Vec<u16>, i64),
    /// Steps of the cycle so far, and all of it.
    step: u64,
    length: u64,
    cycles: u64,
}

impl<N: Number> Anneal<N> {
    pub fn new(variant: &Variant, level: Level, start: (Vec<u16>, i64), seed: u64) -> Self {
        let typical = typical_difference(variant).max(1.0);
        Self {
            places: Places::new(variant, level),
            rng: Rand64::new(seed.into()),
            hot: typical * HOT,
            cold: typical * (COLD_FEW / variant.jobs() as f64).clamp(COLD, HOT),
            order: start.0.clone(),
            value: N::of(start.1),
            best: start,
            step: 0,
            length: FIRST * variant.jobs() as u64,
            cycles: 0,
        }
    }

    fn step(&mut self) {
        if self.step == self.length {
            (self.step, self.length) = (0, self.length * 2);
            self.cycles += 1;
        }
        if self.step == 0 {
            self.order.clone_from(&self.best.0);
            self.value = N::of(self.best.1);
        }
        let part = self.step as f64 / self.length as f64;
        let temperature = self.hot * (self.cold / self.hot).powf(part);
        self.step += 1;
        let Self { places, order, rng, .. } = self;
        let job = order.remove(rng.rand_range(0..order.len() as u64) as usize);
        let margin = N::of((MARGIN * temperature) as i64);
        let values = places.values(order, job, self.value, margin);
        let place = draw(values, margin, temperature, rng);
        order.insert(place, job);
        self.value = values[place];
        let value = self.value.into();
        if value < self.best.1 {
            self.best = (order.clone(), value);
        }
    }
}

impl<N: Number> Improve for Anneal<N> {
    fn round(&mut self, keep_going: &dyn Fn() -> bool) -> (Vec<u16>, i64) {
        for _ in 0..ROUND {
            if !keep_going() {
                break;
            }
            self.step();
        }
        self.best.clone()
    }

    fn adopt(&mut self, order: &[u16], value: i64) {
        self.best = (order.to_vec(), value);
    }

    fn work(&self) -> u64 {
        self.places.work()
    }

    fn comes_first(&self) -> bool {
        self.cycles == 0
    }
}

/// Draws an index by the Boltzmann weights of the values, of which none exceeds the least one by more than a margin.
fn draw<N: Number>(values: &[N], margin: N, temperature: f64, rng: &mut Rand64) -> usize {
    let least = values.iter().copied().min().unwrap_or_default();
    let weight = |&value: &N| {
        let excess = value - least;
        if excess > margin { 0.0 } else { (-(excess.into() as f64) / temperature).exp() }
    };
    let weights: Vec<f64> = values.iter().map(weight).collect();
    let mut left = rng.rand_float() * weights.iter().sum::<f64>();
    let drawn = weights.iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    // Rounding may leave a little.
    drawn.or_else(|| values.iter().position(|&value| value == least)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_the_margin_is_never_drawn() {
        let mut rng = Rand64::new(1);
        let drawn: Vec<usize> =
            (0..10_000).map(|_| draw(&[20, 33, 32, 20], 12, 1e9, &mut rng)).collect();
        let count = |index: usize| drawn.iter().filter(|&&drawn| drawn == index).count();
        assert_eq!(count(1), 0);
        assert!([0, 2, 3].into_iter().all(|index| count(index) > 3000), "{drawn:?}");
    }
}

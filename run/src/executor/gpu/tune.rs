//! [`Tune`]: learns while running how many explorers should take part, how long rounds should be
//! and when they should end early.

/// The target length of a round; thieves are answered at its end.
const ROUND_NS: f64 = 3e6;
/// Rounds per trial of a choice.
const TRIAL: u32 = 8;
/// The most steps per round.
const MOST: f64 = 1e6;

/// A search among a number and its halvings: it keeps its direction as long as that helps.
#[derive(Clone, Debug)]
struct Choice {
    halvings: u32,
    most: u32,
    /// Whether the next trial halves the number.
    down: bool,
    /// The node rate of the last trial.
    rate: f64,
    fixed: Option<u32>,
}

impl Choice {
    fn new(halvings: u32, most: u32, fixed: Option<u32>) -> Self {
        Self { halvings, most, down: true, rate: 0.0, fixed }
    }

    fn of(&self, number: u32) -> u32 {
        self.fixed.unwrap_or(number >> self.halvings).max(1)
    }

    /// Ends a trial; turns back if it was slower.
    fn note(&mut self, rate: f64) {
        self.down ^= rate < self.rate;
        let next = if self.down { self.halvings + 1 } else { self.halvings.saturating_sub(1) };
        (self.halvings, self.rate) = (next.min(self.most), rate);
    }
}

/// Chooses the number of explorers, the budget and the trigger.
#[derive(Clone, Debug)]
pub(super) struct Tune {
    most: u32,
    explorers: Choice,
    trigger: Choice,
    fixed_budget: Option<u32>,
    budget: f64,
    /// The number of trials; trigger and explorers take turns.
    trials: u32,
    rounds: u32,
    nodes: f64,
    spent_ns: f64,
}

impl Tune {
    /// For at most `most` explorers. A number of explorers, a budget or a trigger that is given
    /// stays fixed; with a trigger of 0, every step is a round.
    pub fn new(
        most: u32,
        explorers: Option<u32>,
        budget: Option<u32>,
        trigger: Option<u32>,
    ) -> Self {
        Self {
            most,
            explorers: Choice::new(0, 2, explorers),
            trigger: Choice::new(1, 6, trigger),
            fixed_budget: if trigger == Some(0) { Some(1) } else { budget },
            budget: 16.0,
            trials: 0,
            rounds: 0,
            nodes: 0.0,
            spent_ns: 0.0,
        }
    }

    /// The number of explorers that take part.
    pub fn explorers(&self) -> u32 {
        self.explorers.of(self.most)
    }

    /// Steps per explorer.
    pub fn budget(&self) -> u32 {
        self.fixed_budget.unwrap_or(self.budget as u32)
    }

    /// The number of explorers without work at which a round ends.
    pub fn trigger(&self) -> u32 {
        if self.trigger.fixed == Some(0) { 0 } else { self.trigger.of(self.explorers()) }
    }

    /// Records a round of this many steps.
    pub fn note(&mut self, nodes: u64, steps: u32, round_ns: u64) {
        let round_ns = (round_ns as f64).max(1.0);
        // At most double: steps may be cheap only because few explorers have work.
        let full = ROUND_NS / round_ns * f64::from(steps.max(1));
        self.budget = full.min(2.0 * self.budget).clamp(1.0, MOST);
        self.rounds += 1;
        self.nodes += nodes as f64;
        self.spent_ns += round_ns;
        if self.rounds < TRIAL {
            return;
        }
        let rate = self.nodes / self.spent_ns;
        let choice =
            if self.trials.is_multiple_of(2) { &mut self.trigger } else { &mut self.explorers };
        choice.note(rate);
        (self.trials, self.rounds, self.nodes, self.spent_ns) = (self.trials + 1, 0, 0.0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_come_to_take_as_long_as_they_should() {
        let mut tune = Tune::new(64, None, None, None);
        for _ in 0..200 {
            let steps = tune.budget();
            tune.note(u64::from(steps) * 64, steps, u64::from(steps) * 1000);
            assert!((16..=64).contains(&tune.explorers()));
            assert!((1..=64).contains(&tune.trigger()));
        }
        assert!((2000..4500).contains(&tune.budget()), "{}", tune.budget());
        // Rounds that end early do not change the budget.
        (0..50).for_each(|_| tune.note(9, 60, 60_000));
        assert_eq!(tune.budget(), 3000);
        let kept = Tune::new(64, Some(5), Some(7), Some(9));
        assert_eq!((kept.explorers(), kept.budget(), kept.trigger()), (5, 7, 9));
    }

    #[test]
    fn what_is_faster_is_found_and_mostly_kept() {
        let mut tune = Tune::new(64, None, None, Some(1));
        let mut kept = 0;
        for _ in 0..4000 {
            // Half as many explorers are twice as fast; a quarter as many are slower.
            let nodes = match tune.explorers() {
                64 => 500,
                32 => 1000,
                _ => 300,
            };
            tune.note(nodes, 100, 3_000_000);
            kept += u32::from(tune.explorers() == 32);
        }
        assert!(kept > 1800, "{kept} of 4000");
    }
}

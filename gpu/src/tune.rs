//! [`Tune`]: learns while running how many explorers should take part, whether they give nodes to one another, how long
//! rounds should be, and when they should end early.

use super::RoundReport;

/// The target length of a round while others ask for work, since requests are answered at its end.
const ASKED_NS: f64 = 3e6;
/// The target length while nobody asks: the overhead of a launch then weighs less.
const QUIET_NS: f64 = 12e6;
/// The number of rounds without a request after which nobody seems to ask any more.
const QUIET: u32 = 16;
/// Consecutive rounds without a rate that end a trial.
const PATIENCE: u32 = 32;
/// Rounds per measurement of a choice.
const TRIAL: u32 = 8;
/// The number changes only if another is better by this factor, twice in a row: rates are noisy.
const BETTER: f64 = 1.05;
/// Measurements between two trials: initial and maximum number.
const PAUSE: u32 = 1;
const LONGEST_PAUSE: u32 = 64;
/// The maximum number of steps per round.
const MOST: f64 = 1e6;

/// A number that may be halved or doubled several times.
#[derive(Clone, Copy, Debug)]
struct TuningChoice {
    halvings: u32,
    most: u32,
    /// Whether the next trial halves the number.
    down: bool,
    fixed: Option<u32>,
    pause: u32,
}

impl TuningChoice {
    fn new(halvings: u32, most: u32, fixed: Option<u32>) -> Self {
        Self { halvings, most, down: true, fixed, pause: PAUSE }
    }

    fn of(&self, number: u32) -> u32 {
        self.fixed.unwrap_or(number >> self.halvings).max(1)
    }

    /// The neighbour to try. If there is none, the next trial goes the other way.
    fn neighbour(&mut self) -> Option<u32> {
        let next = if self.down { self.halvings + 1 } else { self.halvings.wrapping_sub(1) };
        if self.fixed.is_some() {
            return None;
        }
        if next > self.most {
            self.down = !self.down;
            return None;
        }
        Some(next)
    }
}

/// What the user has fixed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fixed {
    pub explorers: Option<u32>,
    pub budget: Option<u32>,
    pub trigger: Option<u32>,
    pub gives: Option<bool>,
}

/// What is being measured.
#[derive(Clone, Copy, Debug)]
enum TuningStage {
    /// Nothing, for this many measurements.
    Rest(u32),
    /// The current number, before a neighbour is tried.
    Before { confirms: bool },
    /// A neighbour: the rate before, and the number before.
    Tried { confirms: bool, rate: f64, before: u32 },
}

/// Chooses the number of explorers, the budget and the trigger.
#[derive(Clone, Debug)]
pub(super) struct Tune {
    most: u32,
    /// The trigger, the number of explorers, and whether they give, tuned in turn.
    choices: [TuningChoice; 3],
    turn: usize,
    stage: TuningStage,
    /// The maximum number of explorers while they give.
    giving: u32,
    fixed_budget: Option<u32>,
    budget: f64,
    /// Rounds since others asked for work.
    quiet: u32,
    /// Consecutive rounds whose rates mean nothing.
    discarded: u32,
    rounds: u32,
    nodes: f64,
    spent_ns: f64,
}

const TRIGGER: usize = 0;
const EXPLORERS: usize = 1;
const GIVING: usize = 2;
/// The number that stands for giving; half of it stands for not giving.
const GIVES: u32 = 2;

impl Tune {
    /// For at most `most` explorers, of which only the first `giving` take part while they give. What is fixed stays
    /// so; with a trigger of 0, every step is a round.
    pub fn new(most: u32, giving: u32, fixed: Fixed) -> Self {
        let Fixed { explorers, budget, trigger, gives } = fixed;
        let gives = gives.map(|gives| if gives { GIVES } else { GIVES / 2 });
        Self {
            most,
            choices: [
                TuningChoice::new(0, 5, trigger),
                TuningChoice::new(0, 2, explorers),
                TuningChoice::new(0, 1, gives),
            ],
            giving,
            turn: GIVING,
            stage: TuningStage::Rest(PAUSE),
            fixed_budget: if trigger == Some(0) { Some(1) } else { budget },
            budget: 16.0,
            quiet: 0,
            discarded: 0,
            rounds: 0,
            nodes: 0.0,
            spent_ns: 0.0,
        }
    }

    /// Whether explorers give nodes to one another.
    pub fn gives(&self) -> bool {
        self.choices[GIVING].of(GIVES) == GIVES
    }

    /// The number of participating explorers.
    pub fn explorers(&self) -> u32 {
        let explorers = self.choices[EXPLORERS].of(self.most);
        if self.gives() { explorers.min(self.giving) } else { explorers }
    }

    /// Steps per explorer.
    pub fn budget(&self) -> u32 {
        self.fixed_budget.unwrap_or(self.budget as u32)
    }

    /// The number of explorers without work at which a round ends.
    pub fn trigger(&self) -> u32 {
        let trigger = &self.choices[TRIGGER];
        match trigger.fixed {
            Some(0) => 0,
            // There are never more idle explorers than explorers.
            Some(fixed) => fixed.min(self.explorers()),
            None => trigger.of(self.explorers() / 2),
        }
    }

    /// Records that others asked for work.
    pub fn asked(&mut self) {
        self.quiet = 0;
    }

    /// Records a round with this budget.
    pub fn note(&mut self, round: &RoundReport, budget: u32) {
        let RoundReport { steps, idle, .. } = *round;
        let round_ns = (round.round_ns as f64).max(1.0);
        self.quiet = self.quiet.saturating_add(1);
        let target_ns = if self.quiet > QUIET { QUIET_NS } else { ASKED_NS };
        // At most double the budget: steps may be cheap only because few explorers have work.
        let full = target_ns / round_ns * f64::from(steps.max(1));
        let doubles = full >= 2.0 * self.budget;
        self.budget = full.min(2.0 * self.budget).clamp(1.0, MOST);
        let ran_dry = steps < budget && 4 * u64::from(idle) > 3 * u64::from(self.explorers());
        if doubles || ran_dry {
            // Work is spreading over the device, or running out: rates mean nothing.
            (self.rounds, self.nodes, self.spent_ns) = (0, 0.0, 0.0);
            self.discarded += 1;
            if self.discarded >= PATIENCE {
                self.return_from_trial();
            }
            return;
        }
        self.discarded = 0;
        self.rounds += 1;
        self.nodes += round.counts.bounded as f64;
        self.spent_ns += round_ns + round.exchange_ns as f64;
        if self.rounds == TRIAL {
            self.measured(self.nodes / self.spent_ns);
            (self.rounds, self.nodes, self.spent_ns) = (0, 0.0, 0.0);
        }
    }

    /// Ends a trial of a number with which rounds cannot be measured.
    fn return_from_trial(&mut self) {
        self.discarded = 0;
        if matches!(self.stage, TuningStage::Tried { .. }) {
            self.measured(0.0);
        }
    }

    fn measured(&mut self, rate: f64) {
        let choice = &mut self.choices[self.turn];
        self.stage = match self.stage {
            TuningStage::Rest(left) if left > 1 => TuningStage::Rest(left - 1),
            TuningStage::Rest(_) => TuningStage::Before { confirms: false },
            TuningStage::Before { confirms } => match choice.neighbour() {
                Some(next) => {
                    let before = std::mem::replace(&mut choice.halvings, next);
                    TuningStage::Tried { confirms, rate, before }
                }
                None => self.next_turn(),
            },
            TuningStage::Tried { confirms, rate: base, before } => {
                if rate < BETTER * base {
                    (choice.halvings, choice.down) = (before, !choice.down);
                    choice.pause = (2 * choice.pause).min(LONGEST_PAUSE);
                    self.next_turn()
                } else if confirms {
                    choice.pause = PAUSE;
                    TuningStage::Before { confirms: false }
                } else {
                    choice.halvings = before;
                    TuningStage::Before { confirms: true }
                }
            }
        };
    }

    /// Pauses, then tries the next choice.
    fn next_turn(&mut self) -> TuningStage {
        self.turn = (self.turn + 1) % self.choices.len();
        // While explorers give, few are idle before the end of a round.
        if self.turn == TRIGGER && self.gives() {
            self.turn += 1;
        }
        TuningStage::Rest(self.choices[self.turn].pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_core::search::tree::Counts;

    fn report(nodes: u64, steps: u32, round_ns: u64, idle: u32) -> RoundReport {
        let counts = Counts { bounded: nodes, ..Counts::default() };
        RoundReport { counts, steps, round_ns, idle, ..RoundReport::default() }
    }

    #[test]
    fn rounds_reach_the_target_length() {
        let mut tune = Tune::new(64, 64, Fixed::default());
        for round in 0..200 {
            if round % 8 == 0 {
                tune.asked();
            }
            let steps = tune.budget();
            tune.note(&report(u64::from(steps) * 64, steps, u64::from(steps) * 1000, 0), 100);
            assert!((16..=64).contains(&tune.explorers()));
            assert!((1..=64).contains(&tune.trigger()));
        }
        assert!((2000..4500).contains(&tune.budget()), "{}", tune.budget());
        // Rounds that end early do not change the budget.
        (0..5).for_each(|_| tune.note(&report(9, 60, 60_000, 0), 100));
        assert_eq!(tune.budget(), 3000);
        // While nobody asks, rounds are longer.
        (0..50).for_each(|_| tune.note(&report(9, 60, 60_000, 0), 100));
        assert_eq!(tune.budget(), 12_000);
        let fixed = |explorers, budget, trigger| {
            let gives = Some(false);
            Tune::new(64, 64, Fixed { explorers, budget, trigger, gives })
        };
        let kept = fixed(Some(50), Some(7), Some(9));
        assert_eq!((kept.explorers(), kept.budget(), kept.trigger()), (50, 7, 9));
        // There are never more idle explorers than explorers.
        assert_eq!(fixed(Some(5), None, Some(9)).trigger(), 5);
    }

    /// How many of 4000 rounds used the best number of explorers, with relative errors of rates up to `noise`.
    fn kept(noise: f64) -> u32 {
        let fixed = Fixed { trigger: Some(1), gives: Some(false), ..Fixed::default() };
        let mut tune = Tune::new(64, 64, fixed);
        let (mut kept, mut seed) = (0, 1_u64);
        for _ in 0..4000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let off = 1.0 + noise * ((seed >> 33) as f64 / f64::from(1_u32 << 30) - 1.0);
            // Half as many explorers are a tenth faster; a quarter as many are slower.
            let nodes = match tune.explorers() {
                64 => 1000.0,
                32 => 1100.0,
                _ => 600.0,
            };
            tune.note(&report((nodes * off) as u64, 100, 3_000_000, 0), 100);
            kept += u32::from(tune.explorers() == 32);
        }
        kept
    }

    #[test]
    fn what_is_faster_is_found_and_kept() {
        assert!(kept(0.0) > 3800, "{} of 4000", kept(0.0));
        assert!(kept(0.06) > 3600, "{} of 4000 with noise", kept(0.06));
    }

    #[test]
    fn nothing_is_tried_while_work_spreads() {
        let mut tune = Tune::new(64, 64, Fixed::default());
        let first = (tune.explorers(), tune.trigger());
        for _ in 0..500 {
            tune.note(&report(1000, 100, 3_000_000, 49), 200);
            assert_eq!((tune.explorers(), tune.trigger()), first);
        }
    }

    /// In how many of 4000 rounds explorers gave, if that makes them faster by this factor.
    fn giving(factor: f64) -> u32 {
        let mut tune = Tune::new(64, 30, Fixed::default());
        let mut gave = 0;
        for _ in 0..4000 {
            assert!(tune.explorers() <= if tune.gives() { 30 } else { 64 });
            let nodes = 1000.0 * if tune.gives() { factor } else { 1.0 };
            tune.note(&report(nodes as u64, 100, 3_000_000, 0), 100);
            gave += u32::from(tune.gives());
        }
        gave
    }

    #[test]
    fn explorers_give_where_that_is_faster() {
        assert!(giving(1.5) > 3800, "{} of 4000", giving(1.5));
        assert!(giving(0.7) < 200, "{} of 4000", giving(0.7));
        let never = Tune::new(64, 0, Fixed { gives: Some(false), ..Fixed::default() });
        assert_eq!((never.gives(), never.explorers()), (false, 64));
    }

    #[test]
    fn trials_that_cannot_be_measured_end() {
        let mut tune = Tune::new(64, 64, Fixed::default());
        let mut gave = 0;
        for _ in 0..4000 {
            // Without giving, nearly all explorers run dry at once; with it, most wait, but the budget is used up.
            let steps = if tune.gives() { 100 } else { 16 };
            tune.note(&report(1000, steps, 3_000_000, 60), 100);
            gave += u32::from(tune.gives());
        }
        assert!(gave > 3500, "{gave} of 4000");
    }

    #[test]
    fn exchanges_count_as_time() {
        let mut tune = Tune::new(64, 64, Fixed::default());
        let mut gave = 0;
        for _ in 0..4000 {
            // Rounds without giving explore faster, but an exchange follows each.
            let (nodes, exchange_ns) = if tune.gives() { (1000, 0) } else { (1200, 3_000_000) };
            tune.note(&RoundReport { exchange_ns, ..report(nodes, 100, 3_000_000, 0) }, 100);
            gave += u32::from(tune.gives());
        }
        assert!(gave > 3500, "{gave} of 4000");
    }

    #[test]
    fn rounds_that_end_early_are_measured_too() {
        let fixed = Fixed { gives: Some(false), ..Fixed::default() };
        let mut tune = Tune::new(64, 64, fixed);
        let mut late = 0;
        for _ in 0..4000 {
            // Waiting for fewer idle explorers is faster.
            let trigger = tune.trigger();
            tune.note(
                &report(1000 - 10 * u64::from(trigger), 100, 3_000_000, trigger + trigger / 10),
                100,
            );
            late += u32::from(trigger == 32);
        }
        assert!(late < 1000 && tune.trigger() < 16, "{late}, {}", tune.trigger());
    }
}

//! [`Tune`]: how long rounds are, and when they end early, learnt while running.

/// How long a round should take: whoever asks for work is answered at its end.
const ROUND_NS: f64 = 3e6;
/// Rounds over which a choice is tried.
const TRIAL: u32 = 8;
/// Steps of a round at most.
const MOST: f64 = 1e6;

/// Chooses budget and trigger.
#[derive(Clone, Debug)]
pub(super) struct Tune {
    explorers: u32,
    budget: f64,
    /// The part of the explorers that may be without work, as a power of a half.
    halvings: i32,
    /// Whether the next trial is of a larger or of a smaller part.
    up: bool,
    rounds: u32,
    nodes: f64,
    spent_ns: f64,
    rate: f64,
    fixed: (Option<u32>, Option<u32>),
}

impl Tune {
    /// For so many explorers; a budget and a trigger may be given, and are kept then.
    pub fn new(explorers: u32, budget: Option<u32>, trigger: Option<u32>) -> Self {
        Self {
            explorers,
            budget: 16.0,
            halvings: 1,
            up: true,
            rounds: 0,
            nodes: 0.0,
            spent_ns: 0.0,
            rate: 0.0,
            fixed: (budget, trigger),
        }
    }

    /// Steps of each explorer.
    pub fn budget(&self) -> u32 {
        self.fixed.0.unwrap_or(self.budget as u32)
    }

    /// Explorers without work at which a round ends.
    pub fn trigger(&self) -> u32 {
        let part = (self.explorers >> self.halvings).max(1);
        self.fixed.1.unwrap_or(part)
    }

    /// Takes note of a round.
    pub fn note(&mut self, nodes: u64, round_ns: u64) {
        let round_ns = (round_ns as f64).max(1.0);
        // A round that ended early says little of how long a full one takes: by halves.
        let factor = (ROUND_NS / round_ns).clamp(0.5, 2.0);
        self.budget = (self.budget * factor).clamp(1.0, MOST);
        self.rounds += 1;
        self.nodes += nodes as f64;
        self.spent_ns += round_ns;
        if self.rounds < TRIAL {
            return;
        }
        let rate = self.nodes / self.spent_ns;
        // What made it slower is taken back, and the other way tried next.
        self.up ^= rate < self.rate;
        self.halvings = (self.halvings + if self.up { 1 } else { -1 }).clamp(0, 6);
        (self.rate, self.rounds, self.nodes, self.spent_ns) = (rate, 0, 0.0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_come_to_take_as_long_as_they_should() {
        let mut tune = Tune::new(64, None, None);
        for _ in 0..200 {
            let steps = tune.budget();
            tune.note(u64::from(steps) * 64, u64::from(steps) * 1000);
            assert!((1..=64).contains(&tune.trigger()));
        }
        assert!((2000..4500).contains(&tune.budget()), "{}", tune.budget());
        let kept = Tune::new(64, Some(7), Some(9));
        assert_eq!((kept.budget(), kept.trigger()), (7, 9));
    }
}

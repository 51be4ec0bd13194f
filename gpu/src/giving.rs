//! [`Giving`]: whether explorers give nodes to one another inside a launch.

use super::Inside;
use super::spec::Spec;
use pleach_core::search::work::Nodes;

/// Consecutive rounds that ended early before explorers start to give.
const EARLY: u32 = 2;
/// Consecutive rounds without a gift before explorers stop giving.
const NOTHING: u32 = 8;

/// Whether explorers give to one another in the next round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Giving {
    /// Whether this choice may change.
    tuned: bool,
    gives: bool,
    /// Consecutive rounds that argued for a change.
    against: u32,
    /// The maximum number of participating explorers while they give.
    most: u32,
}

impl Giving {
    /// Follows the spec. By default, explorers give while rounds would otherwise end early, provided that they exchange
    /// nodes, and that some can run `at_once` while they give.
    ///
    /// While they give, only as many explorers take part as can run at once, if others can reach the work of the rest.
    pub fn new(spec: &Spec, inside: Inside, nodes: Nodes, at_once: u32) -> Self {
        let most = if inside.takes_from_all() { at_once } else { u32::MAX };
        let tuned = spec.giving.is_none()
            && inside == Inside::Windows
            && nodes == Nodes::Pool
            && at_once > 0;
        Self { tuned, gives: spec.giving == Some(true), against: 0, most }
    }

    pub fn gives(self) -> bool {
        self.gives
    }

    /// How many of these explorers take part.
    pub fn of(self, explorers: u32) -> u32 {
        if self.gives { explorers.min(self.most) } else { explorers }
    }

    /// Records a round: the most steps that any explorer made and could have made, and how many nodes were given.
    pub fn note(&mut self, steps: u32, budget: u32, given: u32) {
        let against = if self.gives { given == 0 } else { steps < budget / 2 };
        self.against = if against { self.against + 1 } else { 0 };
        if self.tuned && self.against >= if self.gives { NOTHING } else { EARLY } {
            (self.gives, self.against) = (!self.gives, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn giving(words: &str) -> Giving {
        let spec = Spec::parse(words).unwrap();
        Giving::new(&spec, spec.inside.unwrap_or_default(), Nodes::Pool, 30)
    }

    #[test]
    fn thin_trees_are_given_around() {
        let mut giving = giving("gpu");
        for (steps, gives) in [(9, false), (90, false), (9, false), (9, true)] {
            giving.note(steps, 100, 0);
            assert_eq!(giving.gives(), gives);
        }
        // Rounds are long now, and stay long without gifts.
        (0..100).for_each(|_| giving.note(100, 100, 7));
        (1..NOTHING).for_each(|_| giving.note(100, 100, 0));
        assert!(giving.gives());
        giving.note(100, 100, 0);
        assert!(!giving.gives());
    }

    #[test]
    fn those_that_must_not_wait_for_one_another_never_give() {
        let spec = Spec::parse("gpu").unwrap();
        let mut giving = Giving::new(&spec, Inside::default(), Nodes::Pool, 0);
        (0..50).for_each(|_| giving.note(1, 100, 0));
        assert!(!giving.gives());
        assert_eq!(giving.of(40), 40);
    }

    #[test]
    fn an_explicit_choice_never_changes() {
        for (words, gives) in
            [("gpu:giving=always", true), ("gpu:giving=never", false), ("gpu:inside=ring", false)]
        {
            let mut giving = giving(words);
            (0..50).for_each(|i| giving.note(1, 100, u32::from(i > 20)));
            assert_eq!(giving.gives(), gives, "{words}");
        }
    }

    #[test]
    fn those_that_cannot_run_at_once_take_no_part() {
        for (words, part) in [("always", 30), ("never", 40), ("always:inside=ring", 40)] {
            assert_eq!(giving(&format!("gpu:giving={words}")).of(40), part, "{words}");
        }
    }
}

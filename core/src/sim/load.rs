//! [`Load`]: what the peers of a simulation work on, and the one made of any problem's explorers.

use crate::explorer::Explorer;
use crate::problem::Problem;
use crate::tree::{Counts, Goal};
use crate::work::{Malformed, Work};

/// What a stretch of work brought.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ran {
    /// What it cost: the time it takes at speed 1.
    pub cost_ns: u64,
    /// Nodes explored.
    pub nodes: u64,
    /// The score of a solution that was found.
    pub found: Option<i64>,
}

/// What one peer has in its hands.
pub trait Hand {
    /// Takes up work.
    ///
    /// # Errors
    /// If the bytes are no work of this load.
    fn put(&mut self, work: &[u8]) -> Result<(), Malformed>;

    /// Open nodes, as the peer is told.
    fn size(&self) -> f64;

    /// What it costs to finish what is at hand, where that can be known before.
    fn ahead_ns(&self) -> Option<u64>;

    /// Works for about this cost, less if work ends or a solution is found.
    fn run(&mut self, cost_ns: u64) -> Ran;

    /// Gives away a share of what there is.
    fn split(&mut self, share: f64) -> Option<Work>;

    /// Drops what there is of other work.
    ///
    /// # Errors
    /// If the bytes are no work of this load, or its work cannot be told apart.
    fn trim(&mut self, away: &[u8]) -> Result<(), Malformed>;

    /// Writes down what there is.
    fn copy(&mut self) -> Work;

    /// Looks only for better scores than this from now on.
    fn beat(&mut self, score: i64);

    /// The score to beat.
    fn best(&self) -> i64;

    /// What was counted.
    fn counts(&self) -> Counts;
}

/// What is worked on.
pub trait Load {
    /// One peer's part.
    type Hand: Hand;

    /// Empty hands.
    fn hand(&self) -> Self::Hand;

    /// The whole as one piece of work.
    fn root(&self) -> Work;

    /// What all of it costs, where that is known: the time one peer of speed 1 takes.
    fn total_ns(&self) -> Option<u64>;

    /// Whether what was counted and what is still open make up the whole.
    ///
    /// # Errors
    /// What is missing or too much.
    fn check(&self, counts: &Counts, best: i64, open: &[Work]) -> Result<(), String>;
}

/// A search of a problem, with the explorer that a real run would use.
pub struct Search<'p> {
    problem: &'p dyn Problem,
    /// Cost of a node, or else of a unit of fuel.
    node_ns: u64,
    /// The score that solutions must beat.
    start: i64,
    /// Whether the nodes depend on who explores what.
    varies: bool,
    /// What one explorer alone finds.
    alone: Option<Alone>,
}

/// What one explorer alone finds.
#[derive(Clone, Copy, Debug)]
struct Alone {
    counts: Counts,
    best: i64,
    cost_ns: u64,
}

impl<'p> Search<'p> {
    /// A search for solutions better than `start`, in which a node costs so much at speed 1.
    #[must_use]
    pub fn new(problem: &'p dyn Problem, node_ns: u64, start: i64) -> Self {
        Self { problem, node_ns, start, varies: false, alone: None }
    }

    /// The same of a problem whose explorers choose while they run, say which bound pays: its nodes then
    /// depend on who explores what, and only the best score is compared.
    #[must_use]
    pub fn varying(self) -> Self {
        Self { varies: true, ..self }
    }

    /// Lets one explorer search alone, to compare with, unless that takes more nodes than this; says
    /// whether it got to the end.
    ///
    /// # Panics
    /// If the problem's own root is malformed.
    pub fn measure(&mut self, most_nodes: u64) -> bool {
        let mut explorer = self.problem.explorer();
        explorer.put(&self.problem.root().bytes).expect("a root is canonical");
        let (mut counts, mut best, mut nodes) = (Counts::default(), self.start, 0);
        while explorer.size() > 0.0 && nodes < most_nodes {
            let progress = explorer.run(1 << 16, best);
            counts.add(&progress.counts);
            nodes += progress.used;
            best = progress.found.map_or(best, |found| found.score.min(best));
        }
        let done = explorer.size() == 0.0;
        self.alone = done.then_some(Alone { counts, best, cost_ns: nodes * self.node_ns });
        done
    }

    /// Whether the nodes are the same in whatever order they are explored.
    fn same_nodes(&self, alone: &Alone) -> bool {
        !self.varies && (self.problem.goal() == Goal::Count || alone.best == self.start)
    }
}

impl<'p> Load for Search<'p> {
    type Hand = Seat<'p>;

    fn hand(&self) -> Seat<'p> {
        Seat {
            explorer: self.problem.explorer(),
            node_ns: self.node_ns,
            best: self.start,
            counts: Counts::default(),
        }
    }

    fn root(&self) -> Work {
        self.problem.root()
    }

    fn total_ns(&self) -> Option<u64> {
        self.alone.map(|alone| alone.cost_ns)
    }

    fn check(&self, counts: &Counts, best: i64, open: &[Work]) -> Result<(), String> {
        let Some(alone) = self.alone else { return Ok(()) };
        let mut seat = self.hand();
        seat.beat(best);
        for piece in open {
            seat.put(&piece.bytes).map_err(|why| format!("a piece cannot be read: {why}"))?;
        }
        while seat.size() > 0.0 {
            seat.run(self.node_ns << 16);
        }
        let mut counts = *counts;
        counts.add(&seat.counts);
        if seat.best != alone.best {
            return Err(format!("a best score of {} instead of {}", seat.best, alone.best));
        }
        let key = |counts: &Counts| (counts.branched, counts.bounded, counts.total);
        if self.same_nodes(&alone) && key(&counts) != key(&alone.counts) {
            return Err(format!("{counts:?} instead of {:?}", alone.counts));
        }
        Ok(())
    }
}

/// One peer's explorer.
pub struct Seat<'p> {
    explorer: Box<dyn Explorer + 'p>,
    node_ns: u64,
    best: i64,
    counts: Counts,
}

impl Hand for Seat<'_> {
    fn put(&mut self, work: &[u8]) -> Result<(), Malformed> {
        self.explorer.put(work)
    }

    fn size(&self) -> f64 {
        self.explorer.size()
    }

    fn ahead_ns(&self) -> Option<u64> {
        None
    }

    fn run(&mut self, cost_ns: u64) -> Ran {
        let progress = self.explorer.run((cost_ns / self.node_ns).max(1), self.best);
        self.counts.add(&progress.counts);
        let found = progress.found.map(|found| found.score);
        self.best = found.map_or(self.best, |score| score.min(self.best));
        Ran { cost_ns: progress.used * self.node_ns, nodes: progress.used, found }
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        self.explorer.split(share)
    }

    fn trim(&mut self, away: &[u8]) -> Result<(), Malformed> {
        self.explorer.trim(away)
    }

    fn copy(&mut self) -> Work {
        self.explorer.copy()
    }

    fn beat(&mut self, score: i64) {
        self.best = self.best.min(score);
    }

    fn best(&self) -> i64 {
        self.best
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

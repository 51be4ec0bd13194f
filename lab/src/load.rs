//! [`Load`]: the work of simulated peers, and a load made from any problem's explorers.

use pleach_core::search::explorer::{Explorer, Progress};
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::{Counts, Goal};
use pleach_core::search::work::{Malformed, Work};

/// The result of a stretch of work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkResult {
    /// What it costs: the time that one explorer of speed 1 takes for it.
    pub work_ns: u64,
    /// The time that it takes at speed 1: more than its cost on a device that is short of work.
    pub time_ns: u64,
    /// Nodes explored.
    pub nodes: u64,
    /// The score of a solution that was found.
    pub found: Option<i64>,
}

/// The work that one peer holds.
pub trait Hand {
    /// Adds work.
    ///
    /// # Errors
    /// If the bytes are not work of this load.
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed>;

    /// Open nodes, as reported to the peer.
    fn size(&self) -> f64;

    /// The cost of finishing the work, if known in advance.
    fn ahead_ns(&self) -> Option<u64>;

    /// Works for about this cost, or less if the work ends or a solution is found.
    fn run(&mut self, cost_ns: u64) -> WorkResult;

    /// Explores from the top down to a depth, for about this cost and about this many nodes at most, if possible. The
    /// rest of the top stays open.
    fn seed(&mut self, _depth: u32, _cost_ns: u64, _nodes: u64) -> Option<WorkResult> {
        None
    }

    /// Whether a split may give nothing although there are two nodes.
    fn may_give_nothing(&self) -> bool {
        false
    }

    /// Splits a share off: all of the work, if the share is 1.
    fn split(&mut self, share: f64) -> Option<Work>;

    /// Drops what is also in other work.
    ///
    /// # Errors
    /// If the bytes are not work of this load, or work of this load cannot be compared.
    fn trim(&mut self, away: &[u8]) -> Result<(), Malformed>;

    /// A copy of the work.
    fn copy(&mut self) -> Work;

    /// From now on, looks only for better scores than this.
    fn update_incumbent(&mut self, score: i64);

    /// The score to beat.
    fn best(&self) -> i64;

    /// What was done.
    fn done(&self) -> WorkDone;
}

/// The work done: its counts, and which units it comprises.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkDone {
    /// Nodes and solutions counted.
    pub counts: Counts,
    /// Which units were done, if units have numbers.
    pub which: UnitChecksum,
}

impl WorkDone {
    /// Adds work done elsewhere.
    pub fn add(&mut self, other: &WorkDone) {
        self.counts.add(&other.counts);
        self.which.sum = self.which.sum.wrapping_add(other.which.sum);
        self.which.squares = self.which.squares.wrapping_add(other.which.squares);
    }

    /// What was done apart from `other`; `None` if less was done.
    #[must_use]
    pub fn without(&self, other: &WorkDone) -> Option<WorkDone> {
        let which = UnitChecksum {
            sum: self.which.sum.wrapping_sub(other.which.sum),
            squares: self.which.squares.wrapping_sub(other.which.squares),
        };
        Some(WorkDone { counts: self.counts.without(&other.counts)?, which })
    }
}

/// The sum of the numbers of some units, and the sum of their squares: a unit lost and another done twice do not cancel
/// out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitChecksum {
    sum: u128,
    squares: u128,
}

impl UnitChecksum {
    /// Adds the units with numbers in `from..to`, at most 2^40.
    pub fn add(&mut self, from: u64, to: u64) {
        let below = |n: u64| {
            let n = u128::from(n);
            let before = n.saturating_sub(1);
            (n * before / 2, before * n * (2 * n).saturating_sub(1) / 6)
        };
        let (upper, lower) = (below(to), below(from));
        self.sum = self.sum.wrapping_add(upper.0 - lower.0);
        self.squares = self.squares.wrapping_add(upper.1 - lower.1);
    }
}

/// The work of a simulated cluster.
pub trait Load {
    /// The work that one peer holds.
    type Hand: Hand;

    /// Empty hands.
    fn hand(&self) -> Self::Hand;

    /// The whole as one piece of work.
    fn root(&self) -> Work;

    /// The cost of the whole, if known: the time that one peer of speed 1 takes.
    fn total_ns(&self) -> Option<u64>;

    /// Checks that the work done and the work still open make up the whole.
    ///
    /// # Errors
    /// What is missing or was done twice.
    fn check(&self, done: &WorkDone, best: i64, open: &[Work]) -> Result<(), String>;
}

/// A search of a problem, with the explorers of a real run.
pub struct Search<'p> {
    problem: &'p dyn Problem,
    /// The cost of a node, or of a unit of fuel.
    node_ns: u64,
    /// The score that solutions must beat.
    start: i64,
    /// Whether the nodes depend on the schedule.
    varies: bool,
    /// What a single explorer finds.
    alone: Option<SoloResult>,
}

/// What a single explorer finds.
#[derive(Clone, Debug)]
struct SoloResult {
    counts: Counts,
    best: i64,
    cost_ns: u64,
}

impl<'p> Search<'p> {
    /// A search for solutions better than `start`, with the cost of a node at speed 1.
    #[must_use]
    pub fn new(problem: &'p dyn Problem, node_ns: u64, start: i64) -> Self {
        Self { problem, node_ns, start, varies: false, alone: None }
    }

    /// A search of a problem whose explorers choose while they run, for instance which bound pays off. Its nodes depend
    /// on the schedule, so only the best score is checked.
    #[must_use]
    pub fn varying(self) -> Self {
        Self { varies: true, ..self }
    }

    /// Searches with a single explorer, for comparison, unless that takes more nodes than this. Returns whether it
    /// finished.
    ///
    /// # Panics
    /// If the problem's root is malformed.
    pub fn measure(&mut self, most_nodes: u64) -> bool {
        let mut explorer = self.problem.explorer();
        explorer.add_work(&self.problem.root().bytes).expect("a root is canonical");
        let (mut counts, mut best, mut nodes) = (Counts::default(), self.start, 0);
        while explorer.size() > 0.0 && nodes < most_nodes {
            let progress = explorer.run(1 << 16, best);
            counts.add(&progress.counts);
            nodes += progress.used;
            best = progress.found.map_or(best, |found| found.score.min(best));
        }
        let cost_ns = nodes.checked_mul(self.node_ns).filter(|_| explorer.size() == 0.0);
        self.alone = cost_ns.map(|cost_ns| SoloResult { counts, best, cost_ns });
        self.alone.is_some()
    }

    /// Whether the number of nodes does not depend on the order of exploring.
    fn same_nodes(&self, alone: &SoloResult) -> bool {
        !self.varies && (self.problem.goal() == Goal::Count || alone.best == self.start)
    }
}

impl<'p> Load for Search<'p> {
    type Hand = SearchHand<'p>;

    fn hand(&self) -> SearchHand<'p> {
        SearchHand {
            problem: self.problem,
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
        self.alone.as_ref().map(|alone| alone.cost_ns)
    }

    fn check(&self, done: &WorkDone, best: i64, open: &[Work]) -> Result<(), String> {
        let Some(alone) = &self.alone else { return Ok(()) };
        let mut last_hand = self.hand();
        last_hand.update_incumbent(best);
        for piece in open {
            last_hand
                .add_work(&piece.bytes)
                .map_err(|why| format!("a piece cannot be read: {why}"))?;
        }
        while last_hand.size() > 0.0 {
            last_hand.run(self.node_ns << 16);
        }
        let mut counts = done.counts.clone();
        counts.add(&last_hand.counts);
        if last_hand.best != alone.best {
            return Err(format!("a best score of {} instead of {}", last_hand.best, alone.best));
        }
        let key = |counts: &Counts| Counts { depth: 0, ..counts.clone() };
        if self.same_nodes(alone) && key(&counts) != key(&alone.counts) {
            return Err(format!("{counts:?} instead of {:?}", alone.counts));
        }
        Ok(())
    }
}

/// One peer's explorer.
pub struct SearchHand<'p> {
    problem: &'p dyn Problem,
    explorer: Box<dyn Explorer + 'p>,
    node_ns: u64,
    best: i64,
    counts: Counts,
}

impl SearchHand<'_> {
    /// Adds up what was explored.
    fn note(&mut self, progress: Progress) -> WorkResult {
        self.counts.add(&progress.counts);
        let found = progress.found.map(|found| found.score);
        self.best = found.map_or(self.best, |score| score.min(self.best));
        let work_ns = progress.used * self.node_ns;
        WorkResult { work_ns, time_ns: work_ns, nodes: progress.used, found }
    }
}

impl Hand for SearchHand<'_> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        self.explorer.add_work(work)
    }

    fn size(&self) -> f64 {
        self.explorer.size()
    }

    fn ahead_ns(&self) -> Option<u64> {
        None
    }

    fn run(&mut self, cost_ns: u64) -> WorkResult {
        let progress = self.explorer.run((cost_ns / self.node_ns).max(1), self.best);
        self.note(progress)
    }

    fn seed(&mut self, depth: u32, cost_ns: u64, nodes: u64) -> Option<WorkResult> {
        let (top, own) = (self.problem.top()?, "an explorer takes its own work back");
        let work = self.explorer.drain();
        let fuel = nodes.min((cost_ns / self.node_ns).max(1));
        let seeded = top.seed(&work.bytes, depth, self.best, fuel, &|| true).expect(own);
        self.explorer.add_work(&seeded.work.bytes).expect(own);
        Some(self.note(seeded.progress))
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        if share < 1.0 { self.explorer.split(share) } else { Some(self.explorer.drain()) }
    }

    fn trim(&mut self, away: &[u8]) -> Result<(), Malformed> {
        self.explorer.trim(away)
    }

    fn copy(&mut self) -> Work {
        self.explorer.copy()
    }

    fn update_incumbent(&mut self, score: i64) {
        self.best = self.best.min(score);
    }

    fn best(&self) -> i64 {
        self.best
    }

    fn done(&self) -> WorkDone {
        WorkDone { counts: self.counts.clone(), ..WorkDone::default() }
    }
}

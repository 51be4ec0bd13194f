//! What a launch takes and returns: matches `cuda/launch.cuh` field by field.

/// Threads per block.
pub const THREADS: u32 = 128;

/// Explorers per block: a warp each, or a thread each if work is intervals and does not need a warp.
#[must_use]
pub fn explorers_per_block(kernel: &str, entry: KernelEntry) -> u32 {
    // A name may be followed by the sizes of an instance that are compiled in.
    let kernel = kernel.split(' ').next().unwrap_or(kernel);
    let team = entry == KernelEntry::Explore && crate::PARALLEL.contains(&kernel);
    if crate::INTERVALS.contains(&kernel) && !team { THREADS } else { THREADS / 32 }
}

/// Nodes per page.
pub const PAGE: u32 = 64;

/// The steps after which an explorer first checks whether others wait for nodes; `LOOK_EVERY` in `cuda/giving.cuh`.
pub const LOOK_EVERY: u32 = 16;

/// Words of a solution record before the plan.
pub const FOUND: usize = 4;

/// The arguments of every entry point, passed by value. Addresses are device addresses.
///
/// A stack is a ring of pages: its nodes fill them from the first one on, the lowest first. Every
/// explorer owns at least one page; the others are free and form their own ring.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Launch {
    /// `u32[pages * PAGE * words]`: nodes. If work is intervals, there are no stacks or pages: `u32[words *
    /// explorers]`, where the same words of all explorers are adjacent.
    pub pages: u64,
    /// `u32[span * explorers]`: page numbers; the rings of all explorers, interleaved.
    pub rings: u64,
    /// `u32[explorers * 2]`: where in its ring an explorer's pages begin, as a running count, and
    /// how many there are.
    pub stacks: u64,
    /// `u32[explorers]`: nodes on each stack, or the [`height`] of each interval.
    pub heights: u64,
    /// A [`LaunchReport`].
    pub report: u64,
    /// `u32[explorers * (FOUND + plan)]`: 1 if a solution was written, an unused word, the score as
    /// two words, low word first, then the plan.
    pub found: u64,
    /// `u32[]`: the problem's tables, shared by all nodes.
    pub tables: u64,
    /// `u32[free_room]`: numbers of free pages, except for pages never used.
    pub free: u64,
    /// For `put` and `take`: a [`Move`] for each explorer.
    pub moves: u64,
    /// For `put` and `take`: the words of the nodes that move.
    pub moved: u64,
    /// `u32[explorers]`: the mail of each, for those that wait for nodes inside a launch; zeros before the first.
    pub mail: u64,
    /// The number of explorers, one warp or one thread each.
    pub explorers: u32,
    /// Explorers that take part: the first ones; the others only give.
    pub active: u32,
    /// The maximum number of pages that an explorer can own: a power of two, at least 4.
    pub span: u32,
    /// Twice the number of pages.
    pub free_room: u32,
    /// Where the free pages begin.
    pub free_from: u32,
    /// How many free pages there are.
    pub free_pages: u32,
    /// How many pages have never been used: the first of the free pages, the last of all pages. The list omits them.
    pub unused: u32,
    /// The maximum number of steps per explorer in this launch.
    pub budget: u32,
    /// Explorers stop soon after this many are idle; 0 for never.
    pub trigger: u32,
    /// For `balance`: a [`StealRule`].
    pub steal_rule: u32,
    /// For `balance`: the round, from 0; with [`StealRule::Before`], how many preceding explorers to skip.
    pub round: u32,
    /// For `balance` with [`StealRule::Before`]: how many preceding explorers to look at.
    pub width: u32,
    /// For `balance`: only explorers with a greater height than this give; with intervals, at least [`ONE_LEAF`].
    pub least: u32,
    /// For `take`: whether the nodes stay, which makes this a copy.
    pub leave: u32,
    /// Constants of the instance, then its values.
    pub sizes: [u32; 10],
}

impl Launch {
    /// Updates the free pages for the next launch with those taken and returned in this one.
    pub fn turn(&mut self, report: &LaunchReport) {
        self.free_from = (self.free_from + report.taken) % self.free_room;
        self.free_pages = self.free_pages - report.taken + report.returned;
        self.unused = self.unused.saturating_sub(report.taken);
    }
}

/// What `explore`, `put` and `take` report; zeros before the launch, except the best score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchReport {
    /// The score that a solution must beat; kernels lower it.
    pub best: i64,
    /// Nodes branched.
    pub branched: u64,
    /// Nodes bounded.
    pub bounded: u64,
    /// The problem's own count.
    pub total: u64,
    /// The greatest depth.
    pub depth: u64,
    /// Nodes left on all stacks; with intervals, their leaves as the bits of an `f64`.
    pub nodes: u64,
    /// Explorers that stopped for lack of nodes or room.
    pub idle: u32,
    /// Explorers that stopped for lack of room.
    pub full: u32,
    /// Solutions written.
    pub found: u32,
    /// Free pages that were taken.
    pub taken: u32,
    /// Pages that became free.
    pub returned: u32,
    /// The maximum number of steps made by any explorer.
    pub steps: u32,
    /// Nodes that explorers gave to one another.
    pub given: u32,
    /// If explorers give nodes to one another: how many have begun, how many have nodes or are about to get some, and
    /// whether one has stopped for a reason other than waiting in vain, so that the others need not wait for nodes any
    /// longer.
    pub begun: u32,
    /// See `begun`.
    pub busy: u32,
    /// See `begun`.
    pub over: u32,
}

impl LaunchReport {
    /// The number of words.
    pub const WORDS: usize = 36;

    /// A report with this best score and zeros.
    #[must_use]
    pub fn words(best: i64) -> [u32; Self::WORDS] {
        let mut words = [0; Self::WORDS];
        let best = best.cast_unsigned();
        (words[0], words[1]) = (best as u32, (best >> 32) as u32);
        words
    }

    /// Reads a report back from words.
    #[must_use]
    pub fn read(words: &[u32; Self::WORDS]) -> Self {
        let wide = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        let [idle, full, found, taken, returned, steps, given] =
            std::array::from_fn(|i| words[12 + i]);
        let [.., begun, busy, over, _] = *words;
        Self {
            best: wide(0).cast_signed(),
            branched: wide(2),
            bounded: wide(4),
            total: wide(6),
            depth: wide(8),
            nodes: wide(10),
            idle,
            full,
            found,
            taken,
            returned,
            steps,
            given,
            begun,
            busy,
            over,
        }
    }
}

/// The nodes of one explorer that move.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Move {
    /// For `take`: lowest nodes to skip; 0 unless the nodes stay.
    pub skip: u32,
    /// How many nodes.
    pub nodes: u32,
    /// Where they are among the nodes that move, in nodes.
    pub at: u32,
    /// For `put`: how many fit.
    pub done: u32,
}

impl Move {
    /// The number of words.
    pub const WORDS: usize = 4;

    /// The move as words.
    #[must_use]
    pub fn words(self) -> [u32; Self::WORDS] {
        [self.skip, self.nodes, self.at, self.done]
    }
}

/// The entry points of every kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelEntry {
    /// Explorers branch their nodes.
    Explore = 0,
    /// Explorers without nodes steal from others.
    Balance = 1,
    /// Nodes come from the host.
    Put = 2,
    /// Nodes go to the host.
    Take = 3,
    /// Explorers branch their nodes, and give some to one another. Kernels of intervals lack this entry point.
    Give = 4,
}

impl KernelEntry {
    /// All of them, in the order of their numbers.
    pub const ALL: [KernelEntry; 5] = [
        KernelEntry::Explore,
        KernelEntry::Balance,
        KernelEntry::Put,
        KernelEntry::Take,
        KernelEntry::Give,
    ];

    /// Those of a kernel, in the same order.
    #[must_use]
    pub fn of(kernel: &str) -> &'static [KernelEntry] {
        let all = &Self::ALL;
        if crate::INTERVALS.contains(&kernel) { &all[..4] } else { all }
    }

    /// Its name in the compiled code.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            KernelEntry::Explore => "explore",
            KernelEntry::Balance => "balance",
            KernelEntry::Put => "put",
            KernelEntry::Take => "take",
            KernelEntry::Give => "give",
        }
    }
}

/// How explorers without nodes choose the explorers to steal from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StealRule {
    /// Explorers are the corners of a hypercube, and look at one neighbour per round.
    Hypercube = 0,
    /// Each idle explorer scans a window of others, which is wider the fewer are idle.
    Windows = 1,
    /// Each looks at some preceding explorers on a ring.
    Before = 2,
}

/// Explorers along each edge of the hypercube but the last, and the most along that; `EDGE` and `LAST_EDGE` in
/// `cuda/victims.cuh`.
const EDGE: u32 = 4;
const LAST_EDGE: u32 = 8;

impl StealRule {
    /// Rounds, one launch each, after which every explorer has looked at all those it may look at.
    #[must_use]
    pub fn rounds(self, explorers: u32) -> u32 {
        if self != StealRule::Hypercube {
            return 1;
        }
        let (mut rounds, mut scale) = (0, 1);
        while u64::from(scale) * u64::from(LAST_EDGE) < u64::from(explorers) {
            rounds += EDGE - 1;
            scale *= EDGE;
        }
        rounds + explorers.div_ceil(scale).saturating_sub(1)
    }
}

/// Blocks in a launch of this kernel with this many explorers.
#[must_use]
pub fn blocks(kernel: &str, entry: KernelEntry, explorers: u32) -> u32 {
    explorers.div_ceil(explorers_per_block(kernel, entry))
}

/// The height of an interval with this many leaves: the upper half of that number.
#[must_use]
pub fn height(leaves: f64) -> u32 {
    (leaves.to_bits() >> 32) as u32
}

/// The minimum number of leaves of an interval with this height.
#[must_use]
pub fn least_leaves(height: u32) -> f64 {
    f64::from_bits(u64::from(height) << 32)
}

/// The height of a single leaf, which cannot be divided.
pub const ONE_LEAF: u32 = 0x3ff0_0000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_cover_every_edge() {
        let rounds = |explorers| StealRule::Hypercube.rounds(explorers);
        // Edges of 4 and 3, 4 and 8, 4 and 4 and 8, and of 8, 4, 4, 4.
        assert_eq!([1, 2, 8, 9, 32, 33, 512].map(rounds), [0, 1, 7, 5, 10, 8, 16]);
        assert_eq!(StealRule::Windows.rounds(4096), 1);
    }

    #[test]
    fn heights_are_in_the_order_of_lengths() {
        assert_eq!((height(0.0), height(1.0), height(2.0)), (0, ONE_LEAF, 0x4000_0000));
        let leaves: Vec<f64> = (0..60).map(|i| 1.5_f64.powi(9 * i)).collect();
        assert!(leaves.windows(2).all(|two| height(two[0]) < height(two[1])));
        assert!(
            leaves.iter().all(|&n| (1.0 - 1e-6..=1.0).contains(&(least_leaves(height(n)) / n)))
        );
    }

    #[test]
    fn reports_survive_the_trip_through_words() {
        for best in [0, -5, i64::MAX, i64::MIN] {
            let words = LaunchReport::words(best);
            assert_eq!(
                LaunchReport::read(&words),
                LaunchReport { best, ..LaunchReport::default() }
            );
        }
        let words = std::array::from_fn(|i| i as u32);
        let report = LaunchReport::read(&words);
        assert_eq!((report.depth, report.idle, report.steps), (9 << 32 | 8, 12, 17));
    }
}

//! [`Round`]: what explorers do in one round of kernels and between rounds, and what came of it.

use pleach_core::search::tree::Counts;

/// How explorers without nodes get some from others inside the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inside {
    /// In a single launch: each searches a window of its own, and the windows together cover all
    /// explorers. The fewer are empty, the wider the windows.
    #[default]
    Windows,
    /// From the one before.
    Ring,
    /// From the nearest of some before that has two nodes.
    Search,
    /// From the nearest of some before that has more than the mean.
    Large,
    /// The same, where the window moves on from launch to launch, doubles while many are empty, and halves while few
    /// are.
    Adapt,
    /// From their neighbours in a hypercube, one launch per neighbour.
    Hypercube,
    /// Not at all: each explores what it was given, as in codes that divide work over a device once.
    None,
}

impl Inside {
    /// All of them, with their names.
    pub const ALL: [(Self, &str); 7] = [
        (Self::Windows, "windows"),
        (Self::Ring, "ring"),
        (Self::Search, "search"),
        (Self::Large, "large"),
        (Self::Adapt, "adapt"),
        (Self::Hypercube, "hypercube"),
        (Self::None, "none"),
    ];

    /// Whether it also works while some explorers take no part.
    pub(crate) fn takes_from_all(self) -> bool {
        self == Self::Windows
    }
}

/// How explorers that hold intervals bound the children of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundingMode {
    /// An explorer is a thread, which bounds them one after the other.
    Alone,
    /// An explorer is a warp, which bounds all of them at once.
    Parallel,
}

/// How work comes to a device and leaves it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Whether the first explorer gets all that arrives; else it is spread.
    pub one_gets: bool,
    /// Who gives.
    pub gives: Givers,
}

/// Which explorers give work to somebody outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Givers {
    /// Each gives a part of its nodes. Where work is intervals, those with the longest ones give them.
    #[default]
    Even,
    /// One, drawn at random, gives all that it has.
    One,
    /// Each gives the right part of its interval.
    Each,
}

/// What one round of kernels should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// The score that a solution must beat.
    pub best: i64,
    /// Explorers that take part.
    pub explorers: u32,
    /// The most steps per explorer.
    pub budget: u32,
    /// The number of explorers without work at which the round ends; 0 for never.
    pub trigger: u32,
    /// Whether explorers give nodes to one another meanwhile.
    pub giving: bool,
    /// How nodes are exchanged afterwards.
    pub inside: Inside,
}

/// The result of a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoundReport {
    /// What was counted.
    pub counts: Counts,
    /// How long the kernels took.
    pub round_ns: u64,
    /// The most steps that any explorer made.
    pub steps: u32,
    /// Explorers that stopped for lack of nodes or room.
    pub idle: u32,
    /// Explorers that stopped for lack of room.
    pub full: u32,
    /// Nodes that explorers gave to one another.
    pub given: u32,
    /// The best solution found: its score and its words.
    pub found: Option<(i64, Vec<u32>)>,
}

//! [`Round`] and [`RoundReport`]: what explorers do in one round of kernels, and its result.

use pleach_core::search::inside::Inside;
use pleach_core::search::tree::Counts;

/// How explorers that hold intervals bound the children of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundingMode {
    /// An explorer is a thread, which bounds the children one after the other.
    Alone,
    /// An explorer is a warp, which bounds all children at once.
    Parallel,
}

/// How work arrives at a device and leaves it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Whether the first explorer gets all that arrives; otherwise it is spread.
    pub one_gets: bool,
    /// Which explorers give work away.
    pub gives: Givers,
}

/// Which explorers give work away when it leaves the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Givers {
    /// Each gives some of its nodes. If work is held as intervals, those with the longest ones give them.
    #[default]
    Even,
    /// One, drawn at random, gives all it has, unless no other has any; if it has nothing, the thief gets nothing.
    One,
    /// Each gives the right part of its interval.
    Each,
}

/// What a round of kernels should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// The score that a solution must beat.
    pub best: i64,
    /// Participating explorers.
    pub explorers: u32,
    /// The maximum number of steps per explorer.
    pub budget: u32,
    /// The number of explorers without work at which the round ends; 0 for never.
    pub trigger: u32,
    /// Whether explorers give nodes to one another during the round.
    pub giving: bool,
    /// How nodes are exchanged after the round.
    pub inside: Inside,
}

/// The result of a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoundReport {
    /// What the kernels counted.
    pub counts: Counts,
    /// How long exploring took.
    pub round_ns: u64,
    /// How long explorers then exchanged nodes.
    pub exchange_ns: u64,
    /// The maximum number of steps that any explorer made.
    pub steps: u32,
    /// Explorers that stopped for lack of nodes or room.
    pub idle: u32,
    /// Explorers that stopped for lack of room.
    pub full: u32,
    /// The best solution found: its score and its words.
    pub found: Option<(i64, Vec<u32>)>,
}

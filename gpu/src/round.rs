//! [`Round`] and [`RoundReport`]: what explorers do in one round of kernels, and its result.

use pleach_core::search::tree::Counts;

/// The width of a window, unless it is given.
const WINDOW: u32 = 32;

/// How explorers without nodes get some from others inside the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inside {
    /// In a single launch: each looks in its own window, and together the windows cover all explorers. The fewer
    /// explorers are idle, the wider the windows.
    #[default]
    Windows,
    /// From the preceding explorer; in the next exchange from the one before that, and so on round the ring.
    Ring,
    /// From the nearest preceding explorer, within a window of this width, that has two nodes.
    Search(u32),
    /// From the nearest preceding explorer, within a window of this width, that has more than the mean.
    Large(u32),
    /// Like [`Inside::Large`], but the window advances from launch to launch, doubles while many are idle, and halves
    /// while few are.
    Adapt,
    /// From their neighbours in a hypercube, one launch per neighbour.
    Hypercube,
    /// Not at all: each explores what it was given, as in codes that divide work over a device once.
    None,
}

impl Inside {
    /// All values with their names.
    pub const ALL: [(Self, &str); 7] = [
        (Self::Windows, "windows"),
        (Self::Ring, "ring"),
        (Self::Search(WINDOW), "search"),
        (Self::Large(WINDOW), "large"),
        (Self::Adapt, "adapt"),
        (Self::Hypercube, "hypercube"),
        (Self::None, "none"),
    ];

    /// Parses a name; with `search` and `large` the width of the window may follow, as in `search/64`.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let (name, width) =
            word.split_once('/').map_or((word, None), |(name, width)| (name, Some(width)));
        let (inside, _) = Self::ALL.into_iter().find(|(_, known)| *known == name)?;
        let Some(width) = width else { return Some(inside) };
        let width = width.parse().ok().filter(|width| (1..=1 << 20).contains(width))?;
        match inside {
            Self::Search(_) => Some(Self::Search(width)),
            Self::Large(_) => Some(Self::Large(width)),
            _ => None,
        }
    }

    /// Whether it also works while some explorers take no part.
    pub(crate) fn takes_from_all(self) -> bool {
        self == Self::Windows
    }
}

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
    /// One, drawn at random, gives all it has.
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
    /// The most steps per explorer.
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

//! [`Policy`]: the choices that make up a way of balancing.

mod parse;
mod presets;

pub use presets::PRESETS;

use super::PeerId;
use super::power::Power;
use super::share::Share;
use super::tree::{Growth, TreeShape};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Which peers an idle peer asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Victim {
    /// At the start its parent in the tree; later a few peers at random, and then it waits at its
    /// neighbours in a hypercube.
    Woven,
    /// Any other peer, each with equal probability.
    Random,
    /// The peers after it, one after the other.
    Ring,
    /// A few peers at random; then it waits at its neighbours in a hypercube.
    Lifelines,
    /// Its children in the tree. Once they have nothing it waits at its parent.
    Overlay {
        /// Whether it also waits at a peer elsewhere in the tree.
        bridges: bool,
    },
    /// Peer 0, the only peer that gives.
    Master,
    /// Peer 0, which knows every peer's load and has the most loaded peer give.
    Broker,
    /// Its parent in the tree: work goes down only.
    Parent {
        /// Whether inner peers also wait at the next inner peer on their level.
        siblings: bool,
    },
    /// Peer 0, which gives from copies of pieces that are out: see [`late`](super::late).
    Late,
}

impl Victim {
    /// Whether all peers are alike, so that any of them may have the whole work at first.
    fn is_without_center(self) -> bool {
        matches!(self, Victim::Random | Victim::Ring | Victim::Lifelines | Victim::Overlay { .. })
    }
}

/// How the end of all work is detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// By waves over the tree of peers, which gather the numbers of pieces sent and received.
    Waves,
    /// By such waves, which begin once all children of the root wait for work from it.
    Requests,
    /// By a counter that all units of a process share: units that are not idle, and messages on their
    /// way that matter.
    Counter,
    /// By leases, which know when nothing is held any more: between sites.
    Leases,
}

/// How often an idle peer asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rests {
    /// Refusals in a row before it rests.
    pub patience: u32,
    /// The first rest. Each further one in a row is twice as long.
    pub first_ns: u64,
    /// The longest rest.
    pub longest_ns: u64,
}

/// A way of balancing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Which peers to ask.
    pub victim: Victim,
    /// How much to give.
    pub share: Share,
    /// Nodes to give at a time, from the root's level down; the last number holds for all levels below.
    pub grains: Arc<[u32]>,
    /// The power of each peer, given by hand; the last one holds for all peers after it. Powers are
    /// measured if there are none.
    pub weights: Arc<[u32]>,
    /// Whether the weights are to be measured first, by a search on each peer alone.
    pub profile: bool,
    /// Whether power is measured over the whole time since the start, not in windows.
    pub whole_power: bool,
    /// The tree of peers.
    pub tree: TreeShape,
    /// The depth to which peer 0 explores before it gives; only where it alone gives.
    pub cutoff: Option<u32>,
    /// Whether peer 0 only gives for as long as it can; only where it alone gives.
    pub coordinator: bool,
    /// The depths to which parents in the tree explore, from the root's level down; the last one holds for all levels
    /// below. They leave what is deeper to their children. None for no limit.
    pub depths: Arc<[u32]>,
    /// How often to ask.
    pub rests: Rests,
    /// Time between two reports of a worker about its load.
    pub report_ns: u64,
    /// How the end is detected; `None` leaves that to the run: a counter inside one process, waves
    /// elsewhere.
    pub end: Option<End>,
}

/// All peers of a run have the same policy, so it never tells two of their states apart.
impl Hash for Policy {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            victim: Victim::Woven,
            share: Share::Power,
            grains: Arc::default(),
            weights: Arc::default(),
            profile: false,
            whole_power: false,
            tree: TreeShape {
                growth: Growth::Full,
                degree: 10,
                levels: 0,
                drawn_bridges: false,
                drawn_first: false,
            },
            cutoff: None,
            coordinator: false,
            depths: Arc::default(),
            rests: Rests { patience: 2, first_ns: 5_000, longest_ns: 640_000 },
            report_ns: 1_000_000,
            end: None,
        }
    }
}

impl Policy {
    /// The power of a peer that was given by hand.
    pub(super) fn weight(&self, peer: PeerId) -> Option<Power> {
        let weight = self.weights.get(peer as usize).or(self.weights.last());
        weight.map(|&weight| Power(weight.into()))
    }

    /// Whether parents ask their children, and so must know which of them have work.
    pub(super) fn asks_along_the_tree(&self) -> bool {
        matches!(self.victim, Victim::Overlay { .. })
    }

    /// Whether some nodes may be explored twice, so that counts are not exact.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.victim == Victim::Late
    }

    /// Whether some peers explore down to a depth only, which takes work held as open nodes.
    #[must_use]
    pub fn has_depths(&self) -> bool {
        self.cutoff.is_some() || !self.depths.is_empty()
    }

    /// Whether a peer gives work to thieves.
    pub(super) fn gives(&self, peer: PeerId) -> bool {
        !matches!(self.victim, Victim::Master | Victim::Late) || peer == 0
    }
}

//! [`Policy`]: the choices that make up a balancing policy.

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
    TreeThenLifelines,
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
    /// Peer 0, which gives from copies of the pieces that it gave out: see [`late`](super::late).
    Late,
}

impl Victim {
    /// Whether all peers have the same role, so that any of them may have the whole work at first.
    fn is_without_center(self) -> bool {
        matches!(self, Victim::Random | Victim::Ring | Victim::Lifelines | Victim::Overlay { .. })
    }
}

/// How the end of all work is detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// By waves over the tree of peers, which gather the numbers of pieces sent and received.
    Waves,
    /// By waves that begin only once all children of the root wait for work from it.
    Requests,
    /// By a counter that all workers of a process share: workers that are not idle, and messages on their
    /// way that matter.
    Counter,
    /// By leases, between sites: the search is over when no work is held any more.
    Leases,
}

/// How often an idle peer asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rests {
    /// Refusals in a row before it rests; `u32::MAX` for never.
    pub patience: u32,
    /// The first rest. Each further one in a row is twice as long.
    pub first_ns: u64,
    /// The longest rest.
    pub longest_ns: u64,
}

impl Rests {
    /// Whether a peer never rests, but asks until it gets work.
    pub(super) fn never(&self) -> bool {
        self.patience == u32::MAX
    }
}

/// A balancing policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Which peers to ask.
    pub victim: Victim,
    /// How much to give.
    pub share: Share,
    /// Nodes to give at a time, from the root's level down; the last number applies to all levels below.
    pub grains: Arc<[u32]>,
    /// Work of a smaller size is not divided.
    pub least: u64,
    /// The power of each peer, set by hand; the last one applies to all peers after it. If empty, powers are measured,
    /// and parts that are given once are equal.
    pub weights: Arc<[u32]>,
    /// Whether to measure the weights first, by a search on each peer alone.
    pub profile: bool,
    /// Whether power is measured over the whole time since the start, not in windows.
    pub whole_power: bool,
    /// The tree of peers.
    pub tree: TreeShape,
    /// The depth to which peer 0 explores before it gives, if only peer 0 gives.
    pub cutoff: Option<u32>,
    /// The depth to which a site explores the work that it receives before it divides it evenly between its workers, where
    /// one of them coordinates all sites. In a single process, peer 1 does so with what peer 0 gives, for all other peers.
    pub second_cutoff: Option<u32>,
    /// Whether peer 0, if only peer 0 gives, explores nothing below [`Policy::cutoff`] and gives all its work away.
    pub coordinator: bool,
    /// The depths to which parents in the tree explore, from the root's level down; the last one applies to all levels
    /// below. They leave deeper nodes to their children. Empty for no limit.
    pub depths: Arc<[u32]>,
    /// If parents in the tree adapt these depths: they explore until they have this many open nodes for each peer below
    /// them.
    pub pool: Option<u32>,
    /// How often to ask.
    pub rests: Rests,
    /// Time between two reports of a worker about its load.
    pub report_ns: u64,
    /// How the end is detected; `None` leaves that to the run: a counter inside one process, waves in simulated
    /// clusters. Between processes, leases decide.
    pub end: Option<End>,
}

/// All peers of a run have the same policy, so hashing it would not distinguish their states.
impl Hash for Policy {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            victim: Victim::TreeThenLifelines,
            share: Share::Power,
            grains: Arc::default(),
            least: 2,
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
            second_cutoff: None,
            coordinator: false,
            depths: Arc::default(),
            pool: None,
            rests: Rests { patience: 2, first_ns: 5_000, longest_ns: 640_000 },
            report_ns: 1_000_000,
            end: None,
        }
    }
}

impl Policy {
    /// The power of a peer, if set by hand.
    pub(super) fn fixed_power(&self, peer: PeerId) -> Option<Power> {
        let weight = self.weights.get(peer as usize).or(self.weights.last());
        weight.map(|&weight| Power(weight.into()))
    }

    /// Whether parents ask their children, and so must know which of them have work.
    pub(super) fn asks_along_the_tree(&self) -> bool {
        matches!(self.victim, Victim::Overlay { .. })
    }

    /// Whether each peer's place in the tree says where it asks for work, not only at the start.
    #[must_use]
    pub fn follows_the_tree(&self) -> bool {
        matches!(self.victim, Victim::Overlay { .. } | Victim::Parent { .. })
    }

    /// Whether some nodes may be explored twice, so that counts are not exact.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.victim == Victim::Late
    }

    /// Whether parents in the tree explore only down to a depth, which requires a single process.
    #[must_use]
    pub fn has_masters(&self) -> bool {
        self.pool.is_some() || !self.depths.is_empty()
    }

    /// Whether some peers explore only down to a depth, which requires work held as open nodes.
    #[must_use]
    pub fn has_depths(&self) -> bool {
        self.cutoff.is_some() || self.has_masters()
    }

    /// The policy of the sites, for which there are this many places. They may come and go.
    #[must_use]
    pub fn between_sites(&self, places: u32, come_and_go: bool) -> Self {
        // Leases decide when the search is over, the root explores down to the cutoff before any peer begins, and each
        // site divides its work itself.
        let (end, cutoff, second_cutoff) = (Some(End::Leases), None, None);
        let mut policy = Self { end, cutoff, second_cutoff, ..self.clone() };
        if come_and_go && !policy.follows_the_tree() {
            // Each site has the root as its parent: any other place may be empty.
            policy.tree =
                TreeShape { growth: Growth::Full, degree: places, levels: 0, ..policy.tree };
        }
        policy
    }

    /// The policy of the workers of a site, where this is that of the whole run.
    #[must_use]
    pub fn inside_site(&self) -> Self {
        let inside = Self { end: Some(End::Counter), ..Self::default() };
        if self.second_cutoff.is_none() {
            return inside;
        }
        // The gateway gives an equal part to each worker whenever work arrives, and explores nothing below the cutoff.
        Self { victim: Victim::Master, share: Share::Even, coordinator: true, ..inside }
    }

    /// Whether one peer divides the work between all, once.
    pub(super) fn divides_once(&self) -> bool {
        self.victim == Victim::Master && self.share.is_once()
    }

    /// The policy of one of these peers.
    pub(super) fn of_peer(self, peer: PeerId, peers: u32) -> Self {
        let share = if self.divider(peers) == Some(peer) { Share::Even } else { self.share };
        Self { share, ..self }
    }

    /// The peer that explores what peer 0 gives down to the second cutoff, and divides it between all other peers. It is
    /// the only one that asks peer 0.
    pub(super) fn divider(&self, peers: u32) -> Option<PeerId> {
        (self.coordinator && self.second_cutoff.is_some() && peers > 2).then_some(1)
    }

    /// Whether one of these peers gives work to thieves.
    pub(super) fn gives(&self, peer: PeerId, peers: u32) -> bool {
        let anyone = !matches!(self.victim, Victim::Master | Victim::Late);
        anyone || peer == 0 || self.divider(peers) == Some(peer)
    }
}

//! [`Figures`]: how long a simulated run took and how well it used its peers.

use super::sites::SiteFigures;
use pleach_core::search::tree::Counts;

/// What the peers at one depth of the tree of peers sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Peers at this depth.
    pub peers: u64,
    /// Requests for work they sent.
    pub requests: u64,
    /// Messages of any kind they sent.
    pub messages: u64,
    /// Bytes they sent.
    pub bytes: u64,
}

/// The results of a simulated run. All times are simulated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// The number of peers.
    pub peers: u32,
    /// The sum of their speeds.
    pub power: f64,
    /// From the start until the last peer learned of the end.
    pub time_ns: u64,
    /// When the end was declared.
    pub declared_ns: u64,
    /// When the last work was done.
    pub last_work_ns: u64,
    /// The time one peer of speed 1 would need for the work done.
    pub work_ns: u64,
    /// What the peers could have done in the time for which they worked; devices short of work do less.
    pub possible_ns: u64,
    /// The time a sequential search would need, if known.
    pub alone_ns: Option<u64>,
    /// Peers' time spent on work, including pauses.
    pub busy_ns: u64,
    /// Peers' time spent reading messages.
    pub handling_ns: u64,
    /// Peers' time spent on neither, from joining until learning of the end.
    pub idle_ns: u64,
    /// Nodes and solutions counted.
    pub counts: Counts,
    /// The part counted twice, if work is given away before its owner is notified.
    pub redundant: Counts,
    /// The best score, if any.
    pub best: Option<i64>,
    /// From finding the best score until the last peer knew it.
    pub spread_ns: Option<u64>,
    /// Requests for work.
    pub requests: u64,
    /// Requests that were refused.
    pub refused: u64,
    /// Pieces of work that changed hands.
    pub pieces: u64,
    /// Messages of any kind.
    pub messages: u64,
    /// Bytes sent.
    pub bytes: u64,
    /// Bytes of work among them.
    pub work_bytes: u64,
    /// The same figures by the sender's depth in the tree of peers.
    pub depths: Vec<Depth>,
    /// The messages that each peer sent.
    pub messages_by_peer: Vec<u64>,
    /// The maximum number of messages that ever waited at one peer.
    pub longest_queue: usize,
    /// Snapshots taken and checked.
    pub snapshots: u32,
    /// Events simulated.
    pub events: u64,
    /// Further figures of a run on sites.
    pub sites: Option<SiteFigures>,
}

impl Figures {
    /// The speed-up over one peer of speed 1.
    #[must_use]
    pub fn speed_up(&self) -> f64 {
        self.alone_ns.unwrap_or(self.work_ns) as f64 / (self.time_ns as f64).max(1.0)
    }

    /// The speed-up divided by the sum of the peers' speeds.
    #[must_use]
    pub fn efficiency(&self) -> f64 {
        // Sites come and go: divide by what the sites present at each moment could have done.
        let useful_ns = self.alone_ns.unwrap_or(self.work_ns) as f64;
        let of_sites = |sites: &SiteFigures| useful_ns / sites.capacity_ns.max(1.0);
        self.sites.as_ref().map_or(self.speed_up() / self.power, of_sites)
    }

    /// The fraction of the work that was wasted.
    #[must_use]
    pub fn redone(&self) -> f64 {
        let useful_ns = self.alone_ns.unwrap_or(self.work_ns);
        self.work_ns.saturating_sub(useful_ns) as f64 / (useful_ns as f64).max(1.0)
    }

    /// The fraction of the peers' time spent on neither work nor messages.
    #[must_use]
    pub fn idle(&self) -> f64 {
        let all_ns = self.busy_ns + self.handling_ns + self.idle_ns;
        self.idle_ns as f64 / (all_ns as f64).max(1.0)
    }

    /// The work that the peers did, as a fraction of what they could have done while they worked.
    #[must_use]
    pub fn fill(&self) -> f64 {
        self.work_ns as f64 / (self.possible_ns as f64).max(1.0)
    }

    /// From the last work to the declared end.
    #[must_use]
    pub fn ending_ns(&self) -> u64 {
        self.declared_ns.saturating_sub(self.last_work_ns)
    }

    /// A total divided by the number of peers.
    #[must_use]
    pub fn each(&self, all: u64) -> f64 {
        all as f64 / f64::from(self.peers.max(1))
    }
}

//! [`Figures`]: what a simulated run took, and how well it used its peers.

use crate::tree::Counts;

/// What peers at one depth of the tree of peers said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Peers at this depth.
    pub peers: u64,
    /// Requests for work that they sent.
    pub requests: u64,
    /// Messages of any kind that they sent.
    pub messages: u64,
    /// Bytes that they sent.
    pub bytes: u64,
}

/// What a simulated run took. Times are simulated ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Peers.
    pub peers: u32,
    /// Their speeds, added up.
    pub power: f64,
    /// From the start until the last peer knew of the end.
    pub time_ns: u64,
    /// When the end was declared.
    pub declared_ns: u64,
    /// When the last work was done.
    pub last_work_ns: u64,
    /// What the work done would take one peer of speed 1.
    pub work_ns: u64,
    /// The same for a search by one explorer alone, where that is known.
    pub alone_ns: Option<u64>,
    /// Peers' time spent on work, pauses within it included.
    pub busy_ns: u64,
    /// Peers' time spent on reading messages.
    pub handling_ns: u64,
    /// Peers' time spent on neither, from when they came until they knew of the end.
    pub idle_ns: u64,
    /// What was counted.
    pub counts: Counts,
    /// What of it was counted twice, where work is given away before its owner hears of it.
    pub redundant: Counts,
    /// The best score, where there is one.
    pub best: Option<i64>,
    /// From when the best score was found until the last peer knew.
    pub spread_ns: Option<u64>,
    /// Requests for work.
    pub requests: u64,
    /// Requests that were refused.
    pub refused: u64,
    /// Pieces of work that changed hands.
    pub pieces: u64,
    /// Messages of any kind.
    pub messages: u64,
    /// Bytes sent, and those of work among them.
    pub bytes: u64,
    /// See `bytes`.
    pub work_bytes: u64,
    /// The same by depth of the sender in the tree of peers.
    pub depths: Vec<Depth>,
    /// The most messages that ever waited at one peer.
    pub longest_mail: usize,
    /// Snapshots that were taken, and found whole.
    pub snapshots: u32,
    /// Events that were simulated.
    pub events: u64,
}

impl Figures {
    /// How much faster than one peer of speed 1 the run was.
    #[must_use]
    pub fn speed_up(&self) -> f64 {
        self.alone_ns.unwrap_or(self.work_ns) as f64 / (self.time_ns as f64).max(1.0)
    }

    /// The part of what all peers together could have done in that time: the speed-up over the sum of
    /// the single powers.
    #[must_use]
    pub fn efficiency(&self) -> f64 {
        self.speed_up() / self.power
    }

    /// The part of the peers' time without work and without messages.
    #[must_use]
    pub fn idle(&self) -> f64 {
        let all_ns = self.busy_ns + self.handling_ns + self.idle_ns;
        self.idle_ns as f64 / (all_ns as f64).max(1.0)
    }

    /// From the last work to the declared end.
    #[must_use]
    pub fn ending_ns(&self) -> u64 {
        self.declared_ns.saturating_sub(self.last_work_ns)
    }

    /// A number of all peers, for one of them on average.
    #[must_use]
    pub fn each(&self, all: u64) -> f64 {
        all as f64 / f64::from(self.peers.max(1))
    }
}

//! [`SiteFigures`]: how long a simulated run on sites took, and what it cost.

use pleach_core::search::tree::Counts;

/// The results of a simulated run on sites. All times are simulated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteFigures {
    /// Places for sites.
    pub sites: u32,
    /// Units of all sites.
    pub units: u32,
    /// From the start until the root declares the end.
    pub time_ns: u64,
    /// When the last site learned of the end.
    pub heard_ns: u64,
    /// When the last work was done.
    pub last_work_ns: u64,
    /// The time that one unit of speed 1 would have needed for all the work done, including lost work.
    pub work_ns: u64,
    /// What the units could have done in the time for which they worked; devices short of work do less.
    pub possible_ns: u64,
    /// The time that one unit of speed 1 needs, if known.
    pub alone_ns: Option<u64>,
    /// The speeds of all units present, integrated over time.
    pub capacity_ns: f64,
    /// Nodes and solutions counted.
    pub counts: Counts,
    /// The best score, if any.
    pub best: Option<i64>,
    /// Sites that joined later.
    pub joined: u32,
    /// Sites that left in an orderly way.
    pub left: u32,
    /// Sites that died.
    pub died: u32,
    /// Sites that were cut off from all others for a while.
    pub cut_off: u32,
    /// Sites that paused for a while.
    pub stood: u32,
    /// Progress reports sent.
    pub commits: u64,
    /// Pieces that moved between sites.
    pub pieces: u64,
    /// Messages between sites.
    pub messages: u64,
    /// Messages that site 0 forwarded as a hub.
    pub forwarded: u64,
    /// The time that it took for these and its own.
    pub hub_ns: u64,
    /// Bytes between sites.
    pub bytes: u64,
    /// Requests for work between sites.
    pub requests: u64,
    /// Messages inside sites.
    pub near: u64,
    /// The size of the largest progress report in bytes.
    pub largest: u64,
    /// Nodes that sites were allowed to explore, if there is a limit.
    pub granted: u64,
    /// Files written.
    pub files: u32,
    /// Events simulated.
    pub events: u64,
    /// The state of the run at some moments.
    pub over_time: Vec<Occupancy>,
}

/// The state of a run at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Occupancy {
    /// The time.
    pub at_ns: u64,
    /// Sites present.
    pub sites: u32,
    /// Units that work.
    pub busy: u32,
    /// Units present.
    pub units: u32,
}

impl SiteFigures {
    /// The useful fraction of what all units present could have done.
    #[must_use]
    pub fn efficiency(&self) -> f64 {
        self.alone_ns.unwrap_or(self.work_ns) as f64 / self.capacity_ns.max(1.0)
    }

    /// The fraction of the work that was wasted.
    #[must_use]
    pub fn redone(&self) -> f64 {
        let useful = self.alone_ns.unwrap_or(self.work_ns);
        self.work_ns.saturating_sub(useful) as f64 / (useful as f64).max(1.0)
    }
}

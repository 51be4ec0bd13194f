//! [`SiteFigures`]: how long a simulated run on sites took, and what it cost.

use pleach_core::search::tree::Counts;

/// The results of a simulated run on sites. All times are simulated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteFigures {
    /// Places for sites.
    pub sites: u32,
    /// Units of all sites.
    pub units: u32,
    /// From the start until the root declared the end.
    pub time_ns: u64,
    /// When the last site heard of it.
    pub heard_ns: u64,
    /// When the last work was done.
    pub last_work_ns: u64,
    /// The time one unit of speed 1 would have needed for all that was done, also for what was lost.
    pub work_ns: u64,
    /// The time one unit of speed 1 needs, where that is known.
    pub alone_ns: Option<u64>,
    /// The speeds of all units that were there, added up over time.
    pub capacity_ns: f64,
    /// What was counted.
    pub counts: Counts,
    /// The best score, if any.
    pub best: Option<i64>,
    /// Sites that joined after the beginning.
    pub joined: u32,
    /// Sites that left in order.
    pub left: u32,
    /// Sites that died.
    pub died: u32,
    /// Sites that were cut off from all others for a while.
    pub cut_off: u32,
    /// Sites that stood still for a while.
    pub stood: u32,
    /// Progress reports sent.
    pub commits: u64,
    /// Pieces that went from site to site.
    pub pieces: u64,
    /// Messages between sites, and their bytes.
    pub messages: u64,
    /// Bytes between sites.
    pub bytes: u64,
    /// Requests for work between sites.
    pub requests: u64,
    /// Messages inside sites.
    pub near: u64,
    /// The most bytes that one progress report took.
    pub largest: u64,
    /// Nodes that sites were allowed to explore, where there is a limit.
    pub granted: u64,
    /// Files written.
    pub files: u32,
    /// Events simulated.
    pub events: u64,
    /// How the run stood at some moments.
    pub over_time: Vec<Moment>,
}

/// How a run stands at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    /// The time.
    pub at_ns: u64,
    /// Sites that are there.
    pub sites: u32,
    /// Units that work.
    pub busy: u32,
    /// Units that are there.
    pub units: u32,
}

impl SiteFigures {
    /// The useful part of what all units that were there could have done.
    #[must_use]
    pub fn efficiency(&self) -> f64 {
        self.alone_ns.unwrap_or(self.work_ns) as f64 / self.capacity_ns.max(1.0)
    }

    /// The part of the work that was done in vain.
    #[must_use]
    pub fn redone(&self) -> f64 {
        let useful = self.alone_ns.unwrap_or(self.work_ns);
        self.work_ns.saturating_sub(useful) as f64 / (useful as f64).max(1.0)
    }
}

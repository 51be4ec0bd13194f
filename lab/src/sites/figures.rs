//! [`SiteFigures`]: what is known of a simulated run on sites beyond the figures of any run.

/// Further results of a simulated run on sites. All times are simulated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteFigures {
    /// The speeds of all workers present, integrated over time.
    pub capacity_ns: f64,
    /// Sites that joined later.
    pub joined: u32,
    /// Sites that left in an orderly way.
    pub left: u32,
    /// Sites that died.
    pub died: u32,
    /// Progress reports sent.
    pub commits: u64,
    /// Messages that site 0 forwarded as a hub.
    pub forwarded: u64,
    /// The time that it took for these and its own.
    pub hub_ns: u64,
    /// The size of the largest progress report in bytes.
    pub largest: u64,
    /// Nodes that sites were allowed to explore, if there is a limit.
    pub granted: u64,
    /// Files written.
    pub files: u32,
    /// The state of the run at some moments.
    pub over_time: Vec<Occupancy>,
}

/// The state of a run at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Occupancy {
    /// The time.
    pub at_ns: u64,
    /// Workers that work.
    pub busy: u32,
    /// Workers present.
    pub workers: u32,
}

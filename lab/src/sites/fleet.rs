//! [`Fleet`]: everything about a simulated run on sites except the load.

use super::incidents::Churn;
use crate::network::Network;
use pleach_core::lease::Terms;
use pleach_core::steal::Policy;

/// Sites of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteClass {
    /// The number of sites.
    pub count: u32,
    /// Units in each.
    pub units: u32,
    /// The speed of each unit; costs are given for speed 1.
    pub speed: f64,
}

/// Everything about a simulated run on sites except the load.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// How work is balanced between sites; inside each it is `adaptive`.
    pub policy: Policy,
    /// The sites, in the order of their numbers.
    pub sites: Vec<SiteClass>,
    /// The links between sites.
    pub network: Network,
    /// Time for a message inside a site.
    pub near_ns: u64,
    /// Time to read a message from another site, and one from the same.
    pub handle_ns: u64,
    /// Time to read a message inside a site.
    pub handle_near_ns: u64,
    /// Time between two looks of a working unit at its mail.
    pub poll_ns: u64,
    /// How long the spare piece may be missing before a site asks outside.
    pub low_ns: u64,
    /// The size of a message without the work that travels with it.
    pub message_bytes: u64,
    /// When leases are reported, asked for, suspected and given up.
    pub terms: Terms,
    /// What goes wrong.
    pub churn: Churn,
    /// Whether each site knows which others are there, and asks only those.
    pub open: bool,
    /// The run is stopped in order at this time, if at all.
    pub stop_ns: Option<u64>,
    /// The search is stopped once this many nodes were explored, if at all.
    pub node_limit: Option<u64>,
    /// How large the progress reports are that sites tell, if that can be.
    pub progress_report_bytes: u64,
    /// Whether every file of the root is checked: that takes long with many sites.
    pub check_files: bool,
    /// All randomness.
    pub seed: u64,
    /// The run is given up after this number of events.
    pub most_events: u64,
}

impl Fleet {
    /// The number of sites.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.sites.iter().map(|class| class.count).sum()
    }
}

//! [`Fleet`]: everything about a simulated run on sites except the load.

use super::incidents::Churn;
use crate::device::Device;
use crate::hub::Hub;
use crate::network::Network;
use pleach_core::lease::Terms;
use pleach_core::steal::Policy;

/// Sites of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteClass {
    /// The number of sites.
    pub count: u32,
    /// Workers of each.
    pub workers: u32,
    /// The speed of each worker; costs are given for speed 1.
    pub speed: f64,
    /// Whether its workers are devices.
    pub device: Option<Device>,
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
    /// Whether site 0 forwards what other sites send each other.
    pub hub: Option<Hub>,
    /// Time for a message inside a site.
    pub near_ns: u64,
    /// Time to read a message from another site.
    pub handle_ns: u64,
    /// Time to read a message inside a site.
    pub handle_near_ns: u64,
    /// Time between two checks for messages by a working worker.
    pub poll_ns: u64,
    /// How long a site may be without a spare piece before it asks outside.
    pub low_ns: u64,
    /// The size of a message without the work that travels with it.
    pub message_bytes: u64,
    /// When leases are reported, requested, suspected and abandoned.
    pub terms: Terms,
    /// What goes wrong.
    pub churn: Churn,
    /// Whether each site knows which others are present, and asks only those.
    pub open: bool,
    /// When the run is stopped in an orderly way, if at all.
    pub stop_ns: Option<u64>,
    /// After how many explored nodes the search stops, if at all.
    pub node_limit: Option<u64>,
    /// The maximum size of sites' progress reports, where reports can be shortened.
    pub progress_report_bytes: u64,
    /// Whether every file of the root is checked; that is slow with many sites.
    pub check_files: bool,
    /// All randomness.
    pub seed: u64,
    /// The run is abandoned after this number of events.
    pub most_events: u64,
}

impl Fleet {
    /// The number of sites.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.sites.iter().map(|class| class.count).sum()
    }
}

//! [`JoinTicket`]: what a process says about itself when it asks to join.

use pleach_core::lease::SiteId;
use pleach_core::search::work::Pack;

/// What a process says about itself when it asks to join.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pack)]
pub struct JoinTicket {
    /// A random number of the process, a different one for each address that it joins: only the process with this
    /// number can return to its place.
    pub token: u64,
    /// The place that it had before it lost the root.
    pub place: Option<SiteId>,
    /// The last run that it knows, and the term of its root.
    pub search: Option<(u64, u32)>,
    /// Where others reach it once it takes, or has taken, the root's place.
    pub standby: Option<String>,
    /// Whether it has taken the root's place, and only informs its predecessor.
    pub succeeds: bool,
}

/// A process that asks to join.
pub(super) struct JoinRequest {
    pub number: u32,
    pub host: String,
    pub ticket: JoinTicket,
}

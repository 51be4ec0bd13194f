//! [`JoinTicket`]: what a process says about itself when it asks to join.

use pleach_core::lease::SiteId;
use pleach_core::search::work::Pack;

/// The reason why nobody can join any more.
pub(super) const SEARCH_OVER: &str = "the search is over";
/// The reason for a process that comes back after the end, and had a place here or knows the last run. It need not have
/// had work.
pub(super) const MISSED_END: &str = "the search is over, and this process took part in it";

/// What a process says about itself when it asks to join.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pack)]
pub struct JoinTicket {
    /// A random number of the process, a different one for each address that it joins: only the process with this
    /// number can return to its place.
    pub token: u64,
    /// The place that it had before it lost the root.
    pub place: Option<SiteId>,
    /// If it comes back: the last run that it knows, and the term of its root; zeros without one, as in a loop.
    pub search: Option<(u64, u32)>,
    /// Where others reach it once it takes, or has taken, the root's place.
    pub standby: Option<String>,
    /// Whether it has taken the root's place, and only informs its predecessor.
    pub succeeds: bool,
}

impl JoinTicket {
    /// Why this process cannot join any more, where the root's last run and term are these. `had_place`: it had a place
    /// there, and nobody else has had that place since. A process whose place another one has had looks like one that
    /// never joined, unless it knows the last run.
    pub(super) fn late_refusal(&self, had_place: bool, (run, term): (u64, u32)) -> &'static str {
        // Another process may have given it the place, or have it now. Loops have no run.
        let is_last = |(known, its): (u64, u32)| run > 0 && known == run && its <= term;
        let took_part = self.search.is_some_and(|search| had_place || is_last(search));
        if took_part { MISSED_END } else { SEARCH_OVER }
    }
}

/// A process that asks to join.
pub(super) struct JoinRequest {
    pub number: u32,
    pub host: String,
    pub ticket: JoinTicket,
}

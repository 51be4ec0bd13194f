//! [`Place`]: a place for a process, at the root, and which one a process is given.

use super::join_ticket::JoinTicket;
use pleach_core::lease::SiteId;
use std::time::{Duration, Instant};

/// A place for a process.
#[derive(Clone, Default)]
pub(super) struct Place {
    /// Whether a process is present.
    pub there: bool,
    /// Whether the place was given to a process, which may not be present yet.
    pub given: bool,
    /// The token of the process that has or had the place.
    pub token: Option<u64>,
    /// When the place became empty, if it is.
    pub left: Option<Instant>,
    /// The machine of the process, if known.
    pub host: String,
    /// Whether the process that was admitted last had the place before.
    pub again: bool,
    /// Where others reach the process once it takes the root's place, if it is a standby.
    pub standby: Option<String>,
}

/// How long an empty place is kept for its process, which may return.
const PLACE_HELD_FOR: Duration = Duration::from_secs(10);

/// The place that a process had before, even if its old connection still seems to be alive.
pub(super) fn former_place(all: &[Place], ticket: &JoinTicket) -> Option<SiteId> {
    let place = ticket.place.filter(|&place| place > 0)?;
    let known = all.get(place as usize)?;
    // A root that has just restarted has not given this place to anybody.
    let fresh = known.token.is_none() && !known.given;
    (fresh || known.token == Some(ticket.token)).then_some(place)
}

/// The site that already stands by, if a process with this ticket wants to.
pub(super) fn other_standby(all: &[Place], ticket: &JoinTicket) -> Option<SiteId> {
    let there = |place: &Place| {
        place.given || place.left.is_some_and(|left| left.elapsed() < PLACE_HELD_FOR)
    };
    let mut others = (0..).zip(all).filter(|(_, place)| place.token != Some(ticket.token));
    let other = others.find(|(_, place)| place.standby.is_some() && there(place));
    other.map(|(site, _)| site)
}

/// A place for a newcomer: one that nobody has had, or else the one that has been empty longest, if it has been empty
/// long enough.
pub(super) fn free_place(all: &[Place]) -> Option<SiteId> {
    let free = || (0..).zip(all).filter(|(_, place)| !place.given);
    let new = free().find(|(_, place)| place.left.is_none());
    let old = || {
        let kept = |left: Instant| left.elapsed() < PLACE_HELD_FOR;
        let mut left: Vec<(Instant, SiteId)> =
            free().filter_map(|(site, place)| Some((place.left?, site))).collect();
        left.retain(|(left, _)| !kept(*left));
        left.into_iter().min().map(|(_, site)| site)
    };
    new.map(|(site, _)| site).or_else(old)
}

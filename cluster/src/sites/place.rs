//! [`Place`]: a place for a process, at the root.

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
pub(super) const PLACE_HELD_FOR: Duration = Duration::from_secs(10);

//! [`Inspection`]: what comes of looking at a search that has begun.

use super::Contents;
use crate::report::Report;

/// What comes of looking at a search that has begun.
pub(crate) enum Inspection {
    /// What its checkpoint holds.
    Contents(Contents),
    /// Another process has begun it: what this one did for it.
    Part(Box<Report>),
}

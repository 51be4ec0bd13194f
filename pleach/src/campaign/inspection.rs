//! [`Inspection`]: the result of inspecting a search that has begun.

use super::Contents;
use crate::certificate::{Audit, NoProof};
use crate::report::Report;

/// The result of inspecting a search that has begun.
pub(crate) enum Inspection {
    /// The contents of its checkpoint.
    Contents(Contents),
    /// For a search that another process leads: the part of this process in it.
    Part(Box<Report>),
    /// The result of an audit.
    Audit(Result<Audit, NoProof>),
}

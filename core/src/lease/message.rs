//! Lease messages between sites, and the actions that a site asks for.

use super::name::{HoldingId, Lease, SiteId};
use super::progress_report::ProgressReport;
use crate::search::tree::Solution;
use crate::search::work::Pack;
use std::sync::Arc;

/// A message about a lease. The order of the kinds is part of the wire format.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Pack)]
pub enum LeaseMessage<C> {
    /// "Hold this work for me."
    Work {
        /// Its name.
        lease: Lease,
        /// The work: all of it is open.
        content: C,
        /// The best solution that the sender knows.
        best: Option<Solution>,
    },
    /// "I hold it."
    Ack {
        /// The work.
        lease: Lease,
    },
    /// "This is how far I am."
    Commit {
        /// The work.
        lease: Lease,
        /// Its progress.
        progress_report: Arc<ProgressReport<C>>,
        /// The best solution that the sender knows, read after the progress report was taken.
        best: Option<Solution>,
    },
    /// "I received your commit."
    Committed {
        /// The work.
        lease: Lease,
    },
    /// "I am done with it: take it over." Repeated unchanged until it is answered.
    Return {
        /// The work.
        lease: Lease,
        /// Its progress.
        progress_report: Arc<ProgressReport<C>>,
        /// The best solution that the sender knows.
        best: Option<Solution>,
    },
    /// "I have taken it over: forget it."
    Returned {
        /// The work.
        lease: Lease,
    },
    /// "You hold this, and now you hold it for me. How far are you?"
    Adopt {
        /// The work.
        lease: Lease,
    },
    /// "I do not hold this."
    Missing {
        /// The work.
        lease: Lease,
    },
    /// "You do not hold this for me."
    Unknown {
        /// The work.
        lease: Lease,
    },
}

impl<C> LeaseMessage<C> {
    /// The lease that the message is about.
    pub fn lease(&self) -> Lease {
        match *self {
            LeaseMessage::Work { lease, .. }
            | LeaseMessage::Ack { lease }
            | LeaseMessage::Commit { lease, .. }
            | LeaseMessage::Return { lease, .. }
            | LeaseMessage::Committed { lease }
            | LeaseMessage::Returned { lease }
            | LeaseMessage::Adopt { lease }
            | LeaseMessage::Missing { lease }
            | LeaseMessage::Unknown { lease } => lease,
        }
    }

    /// The solution in the message, if any.
    #[must_use]
    pub fn best(&self) -> Option<&Solution> {
        match self {
            LeaseMessage::Work { best, .. }
            | LeaseMessage::Commit { best, .. }
            | LeaseMessage::Return { best, .. } => best.as_ref(),
            _ => None,
        }
    }

    /// The progress report in the message, if any.
    #[must_use]
    pub fn progress_report(&self) -> Option<&ProgressReport<C>> {
        match self {
            LeaseMessage::Commit { progress_report, .. }
            | LeaseMessage::Return { progress_report, .. } => Some(progress_report),
            _ => None,
        }
    }
}

/// What the interpreter of a site must do, or must know that the site did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseAction<C> {
    /// Send this message, even if the receiver is the site itself.
    Send {
        /// The receiver.
        to: SiteId,
        /// The message.
        message: LeaseMessage<C>,
    },
    /// The site holds new work.
    Came {
        /// The work.
        lease: Lease,
        /// Its lender.
        from: SiteId,
    },
    /// The receiver has taken this work.
    Arrived {
        /// The work.
        lease: Lease,
    },
    /// Work that another site held was taken over into a holding of this site.
    TakenOver {
        /// The holding here.
        into: HoldingId,
        /// The work.
        lease: Lease,
    },
    /// The site holds this work no longer: forget what the workers have of it, and its counts.
    Dropped {
        /// The work.
        lease: Lease,
        /// What was done of it and what was open, without what the workers have: all wasted.
        content: C,
    },
    /// The holder of this work was silent for too long: the work is taken back.
    Lapsed {
        /// The work.
        lease: Lease,
        /// The silent site.
        holder: SiteId,
    },
    /// The lender of this work asked for its progress: a commit is due.
    Owed {
        /// The work.
        lease: Lease,
    },
    /// The site knows a better solution.
    Better,
}

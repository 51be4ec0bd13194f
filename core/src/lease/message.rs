//! The messages about leases: what sites say to each other, and what a site wants done.

use super::name::{HoldingId, Lease, SiteId};
use super::progress_report::ProgressReport;
use crate::search::tree::Solution;
use std::sync::Arc;

/// What one site tells another about a lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
        /// What became of it.
        progress_report: Arc<ProgressReport<C>>,
        /// The best solution that the sender knows: read after the progress report was taken.
        best: Option<Solution>,
    },
    /// "I have heard you": all that a commit is answered with.
    Committed {
        /// The work.
        lease: Lease,
    },
    /// "I am done with it: take over what I say." It is repeated, unchanged, until the answer comes.
    Return {
        /// The work.
        lease: Lease,
        /// What became of it.
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
    /// The lease that it is about.
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

    /// The solution that it brings, if it brings one.
    #[must_use]
    pub fn best(&self) -> Option<&Solution> {
        match self {
            LeaseMessage::Work { best, .. }
            | LeaseMessage::Commit { best, .. }
            | LeaseMessage::Return { best, .. } => best.as_ref(),
            _ => None,
        }
    }

    /// The progress report that it brings, if it brings one.
    #[must_use]
    pub fn progress_report(&self) -> Option<&ProgressReport<C>> {
        match self {
            LeaseMessage::Commit { progress_report, .. }
            | LeaseMessage::Return { progress_report, .. } => Some(progress_report),
            _ => None,
        }
    }
}

/// What a site wants done, or has done and its interpreter must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseAction<C> {
    /// Send this, also if the receiver is the site itself.
    Send {
        /// The receiver.
        to: SiteId,
        /// What to say.
        message: LeaseMessage<C>,
    },
    /// New work has come to be held.
    Came {
        /// The work.
        lease: Lease,
        /// Its lender.
        from: SiteId,
    },
    /// The receiver of this work has it, or has had it.
    Arrived {
        /// The work.
        lease: Lease,
        /// The receiver.
        at: SiteId,
    },
    /// Work that another site held has become part of what is held here.
    TakenOver {
        /// What is held here.
        into: HoldingId,
        /// The work.
        lease: Lease,
    },
    /// This is no longer held here: whatever is in hand of it is to be forgotten, with its counts.
    Dropped {
        /// The work.
        lease: Lease,
        /// What was done of it, and what was open, but for what the units have in hand: all in vain.
        content: C,
    },
    /// The holder of this work was silent for a lease: its work is taken back.
    Lapsed {
        /// The work.
        lease: Lease,
        /// The silent site.
        holder: SiteId,
    },
    /// The lender of this live work wants to know how far it is: a commit is due.
    Owed {
        /// The work.
        lease: Lease,
    },
    /// A better solution is known.
    Better,
}

//! [`Holding`]: work that a site holds for another.

use super::name::{HoldingId, SiteId};
use super::progress_report::ProgressReport;

/// Work that a site holds: the whole search, or work under a lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Holding<C> {
    pub(super) held: HoldingId,
    /// The site that it is held for: none for the root's, which is the whole search, and unknown for an orphan.
    pub(super) lender: Option<SiteId>,
    /// Whether it was returned. It then stays frozen until the lender has taken it over.
    pub(super) returning: bool,
    /// Whether the workers are working on it. What they hold is not in `part`.
    pub(super) in_use: bool,
    pub(super) part: ProgressReport<C>,
}

impl<C> Holding<C> {
    /// Its name.
    #[must_use]
    pub fn held(&self) -> HoldingId {
        self.held
    }

    /// The site that it is held for, if that is known.
    #[must_use]
    pub fn lender(&self) -> Option<SiteId> {
        self.lender
    }

    /// Whether it was returned.
    #[must_use]
    pub fn returning(&self) -> bool {
        self.returning
    }

    /// Its progress, without what the workers hold.
    #[must_use]
    pub fn part(&self) -> &ProgressReport<C> {
        &self.part
    }

    /// Whether it has no known lender.
    #[must_use]
    pub fn is_orphan(&self) -> bool {
        self.held.is_some() && self.lender.is_none()
    }
}

//! [`Holding`]: work that a site holds for another.

use super::name::{HoldingId, SiteId};
use super::progress_report::ProgressReport;

/// Work that a site holds: the whole search, or work under a lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Holding<C> {
    pub(super) held: HoldingId,
    /// The site that it is held for. The root holds the whole for nobody; an orphan's lender is unknown.
    pub(super) lender: Option<SiteId>,
    /// Whether it was returned: from then on it is frozen, until the lender has taken it over.
    pub(super) returning: bool,
    /// Whether the units have some of it in hand. What they have is not in `part`.
    pub(super) in_use: bool,
    pub(super) part: ProgressReport<C>,
}

impl<C> Holding<C> {
    /// What it is.
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

    /// Whether the units have some of it in hand.
    #[must_use]
    pub fn in_use(&self) -> bool {
        self.in_use
    }

    /// What became of it, but for what the units have in hand.
    #[must_use]
    pub fn part(&self) -> &ProgressReport<C> {
        &self.part
    }

    /// Whether nobody is known for whom it is held.
    #[must_use]
    pub fn is_orphan(&self) -> bool {
        self.held.is_some() && self.lender.is_none()
    }
}

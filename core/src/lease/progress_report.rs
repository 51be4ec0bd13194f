//! [`ProgressReport`]: a statement about a piece of work that may be old but is never wrong.

use super::name::{Lease, SiteId};
use std::collections::BTreeMap;
use std::collections::btree_map::Iter;
use std::sync::Arc;

/// The done and the open part of a piece of work. The lease protocol never looks inside.
pub trait Content: Clone + Default {
    /// Adds the content of another part of the work.
    fn add(&mut self, other: &Self);

    /// Whether some of it is still open.
    fn has_open(&self) -> bool;

    /// Its approximate size in bytes.
    fn bytes(&self) -> u64;
}

/// The state of a piece of work at one instant: each of its nodes is done, open here, or passed on under one of the
/// listed leases, and in only one of these.
///
/// This stays true whatever happens later: an old progress report only knows of less progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProgressReport<C> {
    /// What is done and what is open.
    pub content: C,
    /// The leases passed on.
    pub subs: BTreeMap<Lease, Rec<C>>,
}

/// The lender's record of a lease. It is complete, so that the lender can take the work back without asking
/// anyone. It also keeps the work as given: if the latest progress report grows too large, only that is sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rec<C> {
    /// The site that holds the work.
    pub holder: SiteId,
    /// Whether the holder has acknowledged it.
    pub acked: bool,
    /// The work as it was given: all of it is open.
    pub given: Arc<C>,
    /// The last progress report received, if any.
    pub latest: Option<Arc<ProgressReport<C>>>,
}

impl<C> Rec<C> {
    /// What is done and what is open, as far as known.
    #[must_use]
    pub fn content(&self) -> &C {
        self.latest.as_ref().map_or(&self.given, |latest| &latest.content)
    }

    /// The leases within it, as far as known.
    pub fn subs(&self) -> Iter<'_, Lease, Rec<C>> {
        self.latest.as_ref().map(|latest| latest.subs.iter()).unwrap_or_default()
    }
}

impl<C: Content> ProgressReport<C> {
    /// Work of which nothing was passed on.
    #[must_use]
    pub fn of(content: C) -> Self {
        Self { content, subs: BTreeMap::new() }
    }

    /// Whether all of it is done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        !self.content.has_open() && self.subs.is_empty()
    }
}

impl<C> ProgressReport<C> {
    /// All leases passed on, including those within other leases.
    pub fn nested(&self) -> impl Iterator<Item = (Lease, &Rec<C>)> {
        nested(&self.subs)
    }
}

/// All leases in a list, including those within other leases.
pub fn nested<C>(subs: &BTreeMap<Lease, Rec<C>>) -> impl Iterator<Item = (Lease, &Rec<C>)> {
    let mut levels = vec![subs.iter()];
    std::iter::from_fn(move || {
        loop {
            if let Some((&lease, rec)) = levels.last_mut()?.next() {
                levels.push(rec.subs());
                return Some((lease, rec));
            }
            levels.pop();
        }
    })
}

//! [`ProgressReport`]: a statement about a piece of work that may be old but is never wrong.

use super::name::{Lease, SiteId};
use std::collections::BTreeMap;
use std::collections::btree_map::Iter;
use std::sync::Arc;

/// What was done of a piece of work, and what of it is still open. The lease protocol never looks inside.
pub trait Content: Clone + Default {
    /// Adds what another part of the work amounts to.
    fn add(&mut self, other: &Self);

    /// Whether some of it is still open.
    fn has_open(&self) -> bool;

    /// About how many bytes it takes.
    fn bytes(&self) -> u64;
}

/// What became of a piece of work at one instant: all its nodes are either done, or open here, or given
/// on under one of the leases listed, and none is in two of these.
///
/// This stays true forever, however much happens later: an old progress report only knows of less progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProgressReport<C> {
    /// What is done and what is open.
    pub content: C,
    /// What was given on.
    pub subs: BTreeMap<Lease, Rec<C>>,
}

/// A lease as its lender has it: whole, so that the lender can take the work back without asking anyone. It
/// keeps the work as it was given too: if the rest grows too large, that alone is told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rec<C> {
    /// The site that holds the work.
    pub holder: SiteId,
    /// Whether the holder has said so.
    pub acked: bool,
    /// The work as it was given: all of it is open.
    pub given: Arc<C>,
    /// The last that was heard of it, if anything was.
    pub latest: Option<Arc<ProgressReport<C>>>,
}

impl<C> Rec<C> {
    /// What is done and what is open, as far as is known.
    #[must_use]
    pub fn content(&self) -> &C {
        self.latest.as_ref().map_or(&self.given, |latest| &latest.content)
    }

    /// What was given on of it, as far as is known.
    pub fn subs(&self) -> Iter<'_, Lease, Rec<C>> {
        self.latest.as_ref().map(|latest| latest.subs.iter()).unwrap_or_default()
    }
}

impl<C: Content> ProgressReport<C> {
    /// Work of which nothing was given on.
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
    /// All leases that were given on, those within other leases included.
    pub fn nested(&self) -> impl Iterator<Item = (Lease, &Rec<C>)> {
        nested(&self.subs)
    }
}

/// The same for a list of leases.
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

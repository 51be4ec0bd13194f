//! [`Portion`]: the content of progress reports: counts, and pieces of open work.

use crate::lease::{Content, ProgressReport};
use crate::search::explorer::{Explorer, check_division};
use crate::search::tree::Counts;
use crate::search::work::{Malformed, Pack, Work};
use std::fmt::Debug;
use std::iter::once;
use std::sync::Arc;

/// Counts that can be added up.
pub trait Tally: Clone + Default + Debug {
    /// Adds other counts.
    fn add(&mut self, other: &Self);
}

impl Tally for Counts {
    fn add(&mut self, other: &Self) {
        // No search counts that far, and a faulty site must not bring this one down.
        self.add_saturating(other);
    }
}

/// What is done and what is open of some work.
#[derive(Clone, Debug, Default, PartialEq, Pack)]
pub struct Portion<D> {
    /// What was done.
    pub done: D,
    /// What is open.
    pub open: Vec<Arc<Work>>,
}

impl<D: Tally> Portion<D> {
    /// Open work.
    #[must_use]
    pub fn open(open: Vec<Arc<Work>>) -> Self {
        Self { done: D::default(), open }
    }

    /// Open nodes.
    #[must_use]
    pub fn size(&self) -> f64 {
        self.open.iter().map(|piece| piece.size).sum()
    }
}

impl<D: Tally> Content for Portion<D> {
    fn add(&mut self, other: &Self) {
        self.done.add(&other.done);
        self.open.extend(other.open.iter().cloned());
    }

    fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    fn bytes(&self) -> u64 {
        32 + self.open.iter().map(|piece| 16 + piece.bytes.len() as u64).sum::<u64>()
    }
}

impl<D> ProgressReport<Portion<D>> {
    /// Checks, with an explorer that has no work, that this progress report divides what was `given`, if that is known,
    /// and that each one inside divides what its lease names; see [`check_division`].
    ///
    /// # Errors
    /// If work is malformed, is there twice, or was not given.
    pub fn check_division(
        &self,
        explorer: &mut dyn Explorer,
        given: Option<&Portion<D>>,
    ) -> Result<(), Malformed> {
        let nested =
            self.nested().filter_map(|(_, rec)| Some((rec.latest.as_deref()?, Some(&*rec.given))));
        once((self, given)).chain(nested).try_for_each(|(report, given)| {
            let passed_on = report.subs.values().map(|rec| &*rec.given);
            let open = once(&report.content).chain(passed_on).flat_map(|portion| &portion.open);
            let pieces: Vec<&Work> = open.map(|piece| &**piece).collect();
            check_division(explorer, &pieces, given.map(|given| &given.open[..]))
        })
    }
}

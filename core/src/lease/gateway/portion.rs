//! [`Portion`]: the content of progress reports: counts, and pieces of open work.

use crate::lease::Content;
use crate::search::tree::Counts;
use crate::search::work::{Pack, Work};
use std::fmt::Debug;
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

/// The done and the open part of some work.
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

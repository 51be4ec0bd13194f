//! [`LoopSequence`]: how far the processes are in an order of loops, and what those that come later must be told.

use pleach_core::lease::SiteId;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// Results of some rows.
pub type RowResults = (Range<u32>, Arc<[u8]>);

/// The most bytes of what is told first that travel in a packet.
const PACKET_BYTES: usize = 1 << 26;

/// How far a process is in an order of loops. Each loop is a step. What all are told before the first one is a step, too.
#[derive(Debug, Default)]
pub struct LoopSequence {
    /// The step under way.
    pub at: u32,
    /// At the root, of each step before: whether it came to its end, and what everybody needs of it.
    pub past: Vec<(bool, Vec<RowResults>)>,
    /// At the root: who was ready for a step before it had begun, and what it said.
    pub early: Vec<(SiteId, Vec<u8>)>,
    /// At the root: the last step whose end each has heard of, if it takes part in more.
    pub heard: BTreeMap<SiteId, u32>,
    /// At the root: who takes no further part, whatever it says.
    pub barred: BTreeSet<SiteId>,
}

/// What all are told before the first loop of an order.
#[derive(Clone, Debug, Default)]
pub struct First(Vec<RowResults>);

impl From<&[u8]> for First {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.chunks(PACKET_BYTES).map(|part| (0..0, part.into())).collect())
    }
}

impl LoopSequence {
    /// The root's, once it has begun: at the first loop.
    pub fn after(First(first): First, barred: BTreeSet<SiteId>) -> Self {
        Self { at: 1, past: vec![(true, first)], barred, ..Self::default() }
    }

    /// A process has heard of the end of a step.
    pub fn hears(&mut self, site: SiteId, at: u32) {
        let heard = self.heard.entry(site).or_insert(at);
        *heard = (*heard).max(at);
    }

    /// The step is over, to its end or not; these are its results, as far as everybody needs them.
    pub fn step(&mut self, complete: bool, results: Vec<RowResults>) {
        self.at += 1;
        self.past.push((complete, results));
    }
}

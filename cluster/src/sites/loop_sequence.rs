//! [`LoopSequence`]: the progress of the processes in an order of loops, and what late joiners must be sent.

use pleach_core::lease::SiteId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The maximum number of bytes of the initial data in a packet.
const PACKET_BYTES: usize = 1 << 26;

/// The progress of a process in an order of loops. Each loop is a step; the initial data before the first one is a
/// step, too.
#[derive(Debug, Default)]
pub struct LoopSequence {
    /// The step under way.
    pub at: u32,
    /// At the root: the initial data.
    pub first: First,
    /// At the root, for each previous step: whether it was completed, and messages with the results that everybody needs.
    /// Those of the initial data are packed once a process needs them.
    pub past: Vec<(bool, Vec<Arc<[u8]>>)>,
    /// At the root: the sites that were ready for a step before it had begun, with their messages.
    pub early: Vec<(SiteId, Vec<u8>)>,
    /// At the root: for each site that still takes part, the last step whose end it knows.
    pub informed: BTreeMap<SiteId, u32>,
    /// At the root: the excluded sites, where their connections cannot be cut.
    pub barred: BTreeSet<SiteId>,
}

/// The initial data of all processes, before the first loop of an order, in packets.
#[derive(Clone, Debug, Default)]
pub struct First(pub Vec<Arc<[u8]>>);

impl From<&[u8]> for First {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.chunks(PACKET_BYTES).map(Arc::from).collect())
    }
}

impl LoopSequence {
    /// The root's sequence at the first loop.
    pub fn after(first: First, barred: BTreeSet<SiteId>) -> Self {
        Self { at: 1, first, past: vec![(true, Vec::new())], barred, ..Self::default() }
    }

    /// Notes that a process knows of the end of a step.
    pub fn record_informed(&mut self, site: SiteId, at: u32) {
        let informed = self.informed.entry(site).or_insert(at);
        *informed = (*informed).max(at);
    }

    /// Ends the step, complete or not, with messages with the results that everybody needs.
    pub fn end_step(&mut self, complete: bool, results: Vec<Arc<[u8]>>) {
        self.at += 1;
        self.past.push((complete, results));
    }
}

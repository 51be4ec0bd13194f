//! [`Course`]: how far the processes are in an order of loops, and what those that come later must be told.

use pleach_net::SiteId;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Results of some rows.
pub(crate) type Piece = (Range<u32>, Arc<[u8]>);

/// The most bytes of what is told first that travel in a letter.
const LETTER: usize = 1 << 26;

/// How far a process is in an order of loops. Each loop is a step. What all are told before the first one is a step, too.
#[derive(Debug, Default)]
pub(crate) struct Course {
    /// The step under way.
    pub at: u32,
    /// At the root, of each step before: whether it came to its end, and what everybody needs of it.
    pub past: Vec<(bool, Vec<Piece>)>,
    /// At the root: who was ready for a step before it had begun, and what it said.
    pub early: Vec<(SiteId, Vec<u8>)>,
    /// At the root: the last step that each was told the end of.
    pub told: BTreeMap<SiteId, u32>,
}

impl Course {
    /// The root's, once it has begun: at the first loop.
    pub fn after(first: Vec<u8>) -> Self {
        let first = first.chunks(LETTER).map(|part| (0..0, part.into())).collect();
        Self { at: 1, past: vec![(true, first)], ..Self::default() }
    }

    /// The step is over, to its end or not; these are its results, as far as everybody needs them.
    pub fn step(&mut self, complete: bool, results: Vec<Piece>) {
        self.at += 1;
        self.past.push((complete, results));
    }
}

//! [`ScratchExplorer`]: a second explorer, in which copies are split, compared and trimmed.

use pleach_core::search::explorer::Explorer;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::{Malformed, Work};

/// Nodes to explore between two checks of whether to stop.
const FUEL: u64 = 1 << 14;

/// An explorer that is empty between calls.
pub(crate) struct ScratchExplorer<'a>(pub Box<dyn Explorer + 'a>);

impl ScratchExplorer<'_> {
    pub fn without(&mut self, work: &Work, other: &Work) -> Result<Work, Malformed> {
        self.0.add_work(&work.bytes)?;
        let trimmed = self.0.trim(&other.bytes);
        let rest = self.0.drain();
        trimmed.map(|()| rest)
    }

    /// The counts of the part of `away` that is not in `left`, explored with this score to beat.
    pub fn counted(
        &mut self,
        away: &Work,
        left: &Work,
        best: i64,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Counts, Malformed> {
        let gone = self.without(away, left)?;
        self.0.add_work(&gone.bytes)?;
        let mut counts = Counts::default();
        while self.0.size() > 0.0 && !stopped() {
            counts.add(&self.0.run(FUEL, best).counts);
        }
        self.0.drain();
        Ok(counts)
    }
}

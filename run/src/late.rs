//! [`Aside`]: an explorer beside the one at work, to split copies of work that is out, and to find out
//! what of it was explored twice.

use pleach_core::explorer::Explorer;
use pleach_core::tree::Counts;
use pleach_core::work::{Malformed, Work};

/// How many nodes to explore between two looks at whether to stop.
const FUEL: u64 = 1 << 14;

/// An explorer that holds nothing between two calls.
pub(crate) struct Aside<'a>(pub Box<dyn Explorer + 'a>);

impl Aside<'_> {
    /// Splits a copy: what is left, and what is given.
    pub fn split(&mut self, copy: &Work, share: f64) -> Result<(Work, Option<Work>), Malformed> {
        self.0.put(&copy.bytes)?;
        let given = self.0.split(share);
        Ok((self.0.drain(), given))
    }

    /// What is in both.
    pub fn both(&mut self, copy: &Work, left: &Work) -> Result<Work, Malformed> {
        let done = self.without(copy, left)?;
        self.without(copy, &done)
    }

    fn without(&mut self, work: &Work, other: &Work) -> Result<Work, Malformed> {
        self.0.put(&work.bytes)?;
        let trimmed = self.0.trim(&other.bytes);
        let rest = self.0.drain();
        trimmed.map(|()| rest)
    }

    /// What is counted in the part of `away` that is not in `left`, if it is explored from this score on.
    pub fn counted(
        &mut self,
        away: &Work,
        left: &Work,
        best: i64,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Counts, Malformed> {
        let gone = self.without(away, left)?;
        self.0.put(&gone.bytes)?;
        let mut counts = Counts::default();
        while self.0.size() > 0.0 && !stopped() {
            counts.add(&self.0.run(FUEL, best).counts);
        }
        self.0.drain();
        Ok(counts)
    }
}

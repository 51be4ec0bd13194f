//! [`Recorded`]: a problem whose explorers record the regions of the tree that they explore, for a certificate.

use crate::sync::{Mutex, lock};
use pleach_core::search::explorer::{Explorer, Progress};
use pleach_core::search::problem::Problem;
use pleach_core::search::region::Region;
use pleach_core::search::tree::Goal;
use pleach_core::search::work::{Malformed, Work};

/// A problem, and what its explorers have explored.
pub struct Recorded<'p> {
    problem: &'p dyn Problem,
    /// The approximate number of nodes in a region.
    size: u64,
    regions: Mutex<Vec<Region>>,
}

impl<'p> Recorded<'p> {
    /// Records regions of about this number of nodes.
    pub fn new(problem: &'p dyn Problem, size: u64) -> Self {
        Self { problem, size, regions: Mutex::new(Vec::new()) }
    }

    /// All regions so far. Together they are the whole tree, once a search has run to its end.
    pub fn into_regions(self) -> Vec<Region> {
        std::mem::take(&mut *lock(&self.regions))
    }
}

impl Problem for Recorded<'_> {
    fn goal(&self) -> Goal {
        self.problem.goal()
    }

    fn root(&self) -> Work {
        self.problem.root()
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        let inner = self.problem.explorer();
        Box::new(Recorder { recorded: self, inner, region: Region::default(), ran: false })
    }

    fn decimals(&self) -> u32 {
        self.problem.decimals()
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        self.problem.check(solution)
    }

    fn fingerprint(&self) -> u64 {
        self.problem.fingerprint()
    }

    fn set_stop_requested(&self, requested: bool) {
        self.problem.set_stop_requested(requested);
    }
}

/// An explorer and the region that it explores.
struct Recorder<'r> {
    recorded: &'r Recorded<'r>,
    inner: Box<dyn Explorer + 'r>,
    /// Without its ends.
    region: Region,
    /// Whether it has run since the region began.
    ran: bool,
}

impl Recorder<'_> {
    /// Ends the region with this work left.
    fn end(&mut self, ends: Vec<Vec<u8>>) {
        let region = std::mem::take(&mut self.region);
        lock(&self.recorded.regions).push(Region { ends, ..region });
        self.ran = false;
    }

    /// The open work as bytes, if there is any.
    fn open(&mut self) -> Vec<Vec<u8>> {
        if self.inner.size() == 0.0 { Vec::new() } else { vec![self.inner.copy().bytes] }
    }
}

impl Explorer for Recorder<'_> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        let open = if self.ran { Some(self.open()) } else { None };
        self.inner.add_work(work)?;
        if let Some(open) = open {
            self.end(open.clone());
            self.region.begins = open;
        }
        self.region.begins.push(work.to_vec());
        Ok(())
    }

    fn size(&self) -> f64 {
        self.inner.size()
    }

    fn open_nodes(&self) -> f64 {
        self.inner.open_nodes()
    }

    fn least_bound(&self) -> Option<i64> {
        self.inner.least_bound()
    }

    fn open_share(&self) -> Option<f64> {
        self.inner.open_share()
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        let progress = self.inner.run(fuel, best);
        self.ran = true;
        self.region.counts.add(&progress.counts);
        let over = self.inner.size() == 0.0;
        if over || self.region.counts.bounded >= self.recorded.size {
            let open = self.open();
            self.end(open.clone());
            self.region.begins = open;
        }
        progress
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        let given = self.inner.split(share)?;
        let kept = self.open();
        if self.ran {
            let mut ends = kept.clone();
            ends.push(given.bytes.clone());
            self.end(ends);
        }
        self.region.begins = kept;
        Some(given)
    }

    fn go_deep(&mut self) {
        self.inner.go_deep();
    }

    fn drain(&mut self) -> Work {
        let all = self.inner.drain();
        if self.ran {
            self.end(vec![all.bytes.clone()]);
        }
        self.region.begins.clear();
        all
    }

    fn trims(&self) -> bool {
        self.inner.trims()
    }

    fn trim(&mut self, away: &[u8]) -> Result<(), Malformed> {
        let open = self.open();
        self.inner.trim(away)?;
        if self.ran {
            self.end(open);
        }
        self.region.begins = self.open();
        Ok(())
    }

    fn copy(&mut self) -> Work {
        self.inner.copy()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_core::search::work::Nodes;
    use pleach_problems::queens::Queens;
    use pleach_problems::simd::Level;

    #[test]
    fn work_can_be_trimmed_while_it_is_recorded() {
        let mut queens = Queens::new(10, Level::Off).unwrap();
        queens.nodes = Nodes::Interval;
        let recorded = Recorded::new(&queens, u64::MAX);
        let (mut one, mut other) = (recorded.explorer(), queens.explorer());
        assert!(one.trims());
        other.add_work(&queens.root().bytes).unwrap();
        let whole = other.copy().bytes;
        let given = other.split(0.5).unwrap().bytes;
        let kept = other.copy().bytes;
        one.add_work(&whole).unwrap();
        one.trim(&given).unwrap();
        let begin = one.copy().bytes;
        other.trim(&begin).unwrap();
        assert!(other.size() == 0.0, "more was dropped than what was given");
        one.run(50, i64::MAX);
        let open = one.copy().bytes;
        one.trim(&kept).unwrap();
        assert!(one.size() == 0.0, "some of what was given is left");
        drop(one);
        let regions = recorded.into_regions();
        let [Region { begins, ends, .. }] = &regions[..] else { panic!("{regions:?}") };
        assert_eq!((begins, ends), (&vec![begin], &vec![open]));
    }
}

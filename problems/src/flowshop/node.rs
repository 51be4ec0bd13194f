//! [`Node`]: a partial schedule as it is sent.

use pleach_core::search::work::Pack;

/// The jobs placed at both ends of a schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pack)]
pub struct Node {
    /// The first jobs, in order.
    pub front: Vec<u16>,
    /// The last jobs, the very last one first.
    pub back: Vec<u16>,
}

impl Node {
    /// Jobs placed.
    #[must_use]
    pub fn placed(&self) -> usize {
        self.front.len() + self.back.len()
    }

    /// Places a job.
    pub fn place(&mut self, job: u16, back: bool) {
        if back { self.back.push(job) } else { self.front.push(job) }
    }

    /// Takes back the last job placed at an end.
    pub fn take_back(&mut self, back: bool) {
        if back {
            self.back.pop()
        } else {
            self.front.pop()
        };
    }

    /// Whether the jobs are different ones of `jobs`, with at least one left to place.
    #[must_use]
    pub fn valid(&self, jobs: usize) -> bool {
        let mut seen = vec![false; jobs];
        let placed = self.front.iter().chain(&self.back);
        let mut fresh = |&job: &u16| {
            seen.get_mut(usize::from(job)).is_some_and(|seen| !std::mem::replace(seen, true))
        };
        self.placed() < jobs && placed.into_iter().all(&mut fresh)
    }

    /// The jobs not placed, of `jobs` in all.
    #[must_use]
    pub fn left(&self, jobs: usize) -> Vec<u16> {
        let mut left = vec![true; jobs];
        self.front.iter().chain(&self.back).for_each(|&job| left[usize::from(job)] = false);
        (0..jobs as u16).filter(|&job| left[usize::from(job)]).collect()
    }

    /// The whole schedule, given its last missing job.
    #[must_use]
    pub fn schedule(&self, last: u16) -> Vec<u16> {
        let front = self.front.iter().copied().chain([last]);
        front.chain(self.back.iter().rev().copied()).collect()
    }
}

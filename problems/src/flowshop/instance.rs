//! [`Instance`]: the times of a permutation flowshop, and the makespan of a schedule.

use crate::permutation::permutation;
use std::fmt;

/// The maximum number of jobs: a search keeps one frame for each job placed.
pub const MOST_JOBS: usize = 10_000;
/// The longest path through the times, so that all sums of a search fit.
pub const LONGEST_PATH: u64 = i32::MAX as u64;

/// Jobs that visit all machines in the same order.
#[derive(Clone, PartialEq, Eq)]
pub struct Instance {
    jobs: usize,
    machines: usize,
    /// By job.
    times: Vec<u32>,
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", self.jobs, self.machines)?;
        f.debug_list().entries(self.times.chunks(self.machines)).finish()
    }
}

impl Instance {
    /// An instance with times given job by job.
    ///
    /// # Errors
    /// If there is no job or no machine, a job lacks times, or if there are too many jobs or sums could grow too
    /// large.
    pub fn new(machines: usize, times: Vec<u32>) -> Result<Self, String> {
        if machines == 0 || times.is_empty() {
            return Err("expected at least one job and one machine".into());
        }
        if !times.len().is_multiple_of(machines) {
            let n = times.len();
            return Err(format!("{n} times, expected {machines} for each job, one per machine"));
        }
        let jobs = times.len() / machines;
        if jobs > MOST_JOBS {
            return Err(format!("{jobs} jobs, expected at most {MOST_JOBS}"));
        }
        let instance = Self { jobs, machines, times };
        let longest = instance.longest_path();
        if longest > LONGEST_PATH {
            return Err(format!(
                "times that may add up to {longest} on a path, expected at most {LONGEST_PATH}"
            ));
        }
        Ok(instance)
    }

    /// Number of jobs.
    #[must_use]
    pub fn jobs(&self) -> usize {
        self.jobs
    }

    /// Number of machines.
    #[must_use]
    pub fn machines(&self) -> usize {
        self.machines
    }

    /// The times of a job, by machine.
    #[must_use]
    pub fn job(&self, job: usize) -> &[u32] {
        &self.times[job * self.machines..][..self.machines]
    }

    /// An upper bound on the length of any path through any schedule, where each step goes to
    /// another job or to another machine.
    #[must_use]
    pub fn longest_path(&self) -> u64 {
        let largest = |row: &[u32]| u64::from(row.iter().copied().max().unwrap_or(0));
        let by_job: u64 = self.times.chunks(self.machines).map(largest).sum();
        let column = |k: usize| self.times.iter().skip(k).step_by(self.machines).copied().max();
        let by_machine: u64 = (0..self.machines).map(|k| u64::from(column(k).unwrap_or(0))).sum();
        by_job + by_machine
    }

    /// When each operation of a schedule ends: by place in the order and by machine.
    #[must_use]
    pub fn ends(&self, order: &[u16]) -> Vec<Vec<u32>> {
        let mut free = vec![0; self.machines];
        let ends = order.iter().map(|&job| {
            let mut end = 0;
            for (free, &time) in free.iter_mut().zip(self.job(job.into())) {
                end = end.max(*free) + time;
                *free = end;
            }
            free.clone()
        });
        ends.collect()
    }

    /// The makespan of a schedule.
    #[must_use]
    pub fn makespan(&self, order: &[u16]) -> u32 {
        self.ends(order).last().and_then(|ends| ends.last().copied()).unwrap_or(0)
    }

    /// The order given by a solution, with jobs counted from 1.
    ///
    /// # Errors
    /// If a job is missing, unknown or repeated.
    pub fn order(&self, solution: &[i64]) -> Result<Vec<u16>, String> {
        permutation(solution, self.jobs, "job")
    }
}

/// A schedule as a solution, with jobs counted from 1.
#[must_use]
pub fn solution_of(order: &[u16]) -> Vec<i64> {
    order.iter().map(|&job| i64::from(job) + 1).collect()
}

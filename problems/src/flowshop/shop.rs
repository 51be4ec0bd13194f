//! [`Shop`]: a flowshop as a file describes it, with names, due dates and setup times.

use super::instance::Instance;

/// A flowshop as a file describes it.
///
/// A makespan depends on times, release dates and setup times; other objectives on due dates and weights, too.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shop {
    /// The times.
    pub instance: Instance,
    /// All times, due dates and release dates are multiples of 10 to the power of minus this.
    pub decimals: u32,
    /// The names of the jobs, all different; empty if they have only numbers.
    pub jobs: Vec<String>,
    /// The names of the machines, all different; empty if they have only numbers.
    pub machines: Vec<String>,
    /// When each job should be finished.
    pub due: Option<Vec<u32>>,
    /// The importance of each job.
    pub weights: Option<Vec<u32>>,
    /// All weights are multiples of 10 to the power of minus this.
    pub weight_decimals: u32,
    /// When each job becomes available.
    pub releases: Option<Vec<u32>>,
    /// Setup times: for each machine, a row for each preceding job, with a time for each following job.
    pub setups: Option<Vec<u32>>,
}

impl Shop {
    /// A shop of which only the times are known.
    #[must_use]
    pub fn new(instance: Instance) -> Self {
        Self {
            instance,
            decimals: 0,
            jobs: Vec::new(),
            machines: Vec::new(),
            due: None,
            weights: None,
            weight_decimals: 0,
            releases: None,
            setups: None,
        }
    }

    /// The name of a job, or else its number, counted from 1.
    #[must_use]
    pub fn job_name(&self, job: usize) -> String {
        self.jobs.get(job).cloned().unwrap_or_else(|| (job + 1).to_string())
    }

    /// The name of a machine, or else `M` and its number, counted from 1.
    #[must_use]
    pub fn machine_name(&self, machine: usize) -> String {
        self.machines.get(machine).cloned().unwrap_or_else(|| format!("M{}", machine + 1))
    }
}

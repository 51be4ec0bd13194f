//! [`Objective`]: what a schedule of a flowshop is judged by.

use pleach_core::search::named::named;

/// What a schedule is judged by; less is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Objective {
    /// When the last job is finished.
    #[default]
    Makespan,
    /// The time of all jobs from release to finish, weighted if jobs have weights.
    FlowTime,
    /// The total tardiness of all jobs, weighted if jobs have weights.
    Tardiness,
    /// The largest difference between a job's completion time and its due date; negative if all jobs are early.
    Lateness,
    /// The number of late jobs, or their weight if jobs have weights.
    TardyJobs,
}

named!(Objective {
    Makespan = "makespan",
    FlowTime = "flow-time",
    Tardiness = "tardiness",
    Lateness = "lateness",
    TardyJobs = "tardy-jobs",
} "makespan, flow-time, tardiness, lateness or tardy-jobs");

impl Objective {
    /// Whether it depends on due dates.
    #[must_use]
    pub fn needs_due_dates(self) -> bool {
        matches!(self, Self::Tardiness | Self::Lateness | Self::TardyJobs)
    }

    /// Whether it depends on weights.
    #[must_use]
    pub fn uses_weights(self) -> bool {
        self.is_sum()
    }

    /// Whether the costs of all jobs are added; otherwise the largest counts.
    #[must_use]
    pub fn is_sum(self) -> bool {
        matches!(self, Self::FlowTime | Self::Tardiness | Self::TardyJobs)
    }

    /// Whether values are times, as opposed to numbers of jobs.
    #[must_use]
    pub fn is_time(self) -> bool {
        self != Self::TardyJobs
    }
}

//! [`Objective`]: what a schedule of a flowshop is judged by.

use std::fmt;

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

impl Objective {
    /// All objectives.
    pub const ALL: [Self; 5] =
        [Self::Makespan, Self::FlowTime, Self::Tardiness, Self::Lateness, Self::TardyJobs];

    /// The objective with this name.
    ///
    /// # Errors
    /// Names the value and what was expected.
    pub fn parse(word: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|objective| objective.to_string() == word).ok_or_else(|| {
            format!("'{word}': expected makespan, flow-time, tardiness, lateness or tardy-jobs")
        })
    }

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

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Makespan => "makespan",
            Self::FlowTime => "flow-time",
            Self::Tardiness => "tardiness",
            Self::Lateness => "lateness",
            Self::TardyJobs => "tardy-jobs",
        })
    }
}

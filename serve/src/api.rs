//! The requests and answers of a service, as JSON.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A command to run.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// Its words and flags: `solve`, `flowshop`, `ta021`.
    pub args: Vec<String>,
    /// The files that it reads, by the names that `args` uses, in base 64.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// Among the jobs of one user, those with the highest priority come first.
    #[serde(default)]
    pub priority: i32,
    /// What makes a repeated submission the same job; a submission without one is a new job.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
}

/// The longest request, in bytes.
pub const LONGEST_REQUEST: usize = 64 << 20;

/// Whether a word of a command could name a file outside the job's folder.
#[must_use]
pub fn names_elsewhere(word: &str) -> bool {
    word.contains(['/', '\\', '\0']) || word.contains("..")
}

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// It searches, and other processes can take part.
    Search,
    /// It runs a loop in one process.
    Loop,
    /// It runs a simulation in one process.
    Simulation,
}

/// The state of a job.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// It has no process yet, or none at the moment.
    #[default]
    Waiting,
    /// Its root is running.
    Running,
    /// A user paused it.
    Paused,
    /// It ended with a result.
    Done,
    /// It ended with an error.
    Failed,
    /// A user cancelled it.
    Cancelled,
}

impl JobState {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Waiting, Self::Running, Self::Paused, Self::Done, Self::Failed, Self::Cancelled];

    /// Whether it will never run again.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }

    /// Its name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The state of a running search, as its root last reported it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Update {
    /// Seconds of search, including those before a resume.
    pub seconds: f64,
    /// Nodes bounded, including those before a resume.
    pub nodes: u64,
    /// The value of the best solution.
    pub best: Option<i64>,
    /// The proven bound.
    pub bound: Option<i64>,
    /// The estimated fraction of the tree that is done.
    pub done: Option<f64>,
    /// Processes that take part, the root included.
    pub sites: u32,
    /// Their workers.
    #[serde(rename = "units")]
    pub workers: u32,
    /// Workers that have work.
    pub busy: u32,
    /// Values are multiples of 10 to the power of minus this.
    pub decimals: u32,
    /// A problem that does not stop the search.
    pub warning: Option<String>,
}

/// A job.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct JobView {
    /// Its number.
    pub id: u64,
    /// Its owner.
    pub user: String,
    /// The command; empty for users who may not see it.
    pub args: Vec<String>,
    /// What it is doing.
    pub state: JobState,
    /// Its priority among its owner's jobs.
    pub priority: i32,
    /// When it was submitted, in seconds since 1970.
    pub submitted: f64,
    /// When it first ran.
    pub started: Option<f64>,
    /// When it ended.
    pub ended: Option<f64>,
    /// The threads that work for it now.
    pub workers: u32,
    /// The joiners among them.
    pub joiners: u32,
    /// Why it has this many threads.
    pub why: String,
    /// Seconds until it is expected to have more threads.
    pub more_in_s: Option<f64>,
    /// The time that threads have worked for it, in seconds.
    pub worker_s: f64,
    /// How often joiners crashed while they worked for it.
    pub crashes: u32,
    /// Why it failed.
    pub error: Option<String>,
    /// The exit code of its command.
    pub exit: Option<i32>,
    /// The state of its search.
    pub search: Option<Update>,
}

/// What a job's search has found and proven over time.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct SearchHistory {
    /// Values are multiples of 10 to the power of minus this.
    pub decimals: u32,
    /// What was known when; more often lately than long ago.
    pub history: Vec<HistoryPoint>,
}

/// A point of a search's history.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct HistoryPoint {
    /// When, in seconds since 1970.
    pub at: f64,
    /// The value of the best solution.
    pub best: Option<i64>,
    /// The proven bound.
    pub bound: Option<i64>,
    /// Workers that had work.
    pub busy: u32,
    /// Workers in all.
    #[serde(rename = "units")]
    pub workers: u32,
    /// Nodes bounded.
    pub nodes: u64,
}

/// What a user may do.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Submits jobs, and sees and controls their own.
    #[default]
    User,
    /// Sees and controls all jobs, users and joiners.
    Operator,
    /// Works for the searches that the service names.
    Joiner,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::User, Self::Operator, Self::Joiner];

    /// Its name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Operator => "operator",
            Self::Joiner => "joiner",
        }
    }
}

/// The most that a user may have at once.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct UserLimits {
    /// Threads.
    pub workers: Option<u32>,
    /// Jobs that are not over.
    pub jobs: Option<u32>,
    /// Memory of each root, in bytes.
    pub memory: Option<u64>,
    /// Files of all jobs, in bytes.
    pub bytes: Option<u64>,
}

/// An account: a user, or a key of joiners.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct UserView {
    /// The name.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// Its share of the machines, relative to the weights of others.
    pub weight: f64,
    /// The limits.
    pub limits: UserLimits,
    /// Thread-seconds used, of which half is forgotten in every half-life.
    pub usage: f64,
    /// Its threads now.
    pub workers: u32,
    /// For a key of joiners: the only user for whom they work.
    pub only_for: Option<String>,
}

/// A new account, or changes of one.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct UserChange {
    /// What it may do.
    pub role: Option<Role>,
    /// Its share of the machines, relative to the weights of others.
    pub weight: Option<f64>,
    /// The limits, all of them.
    pub limits: Option<UserLimits>,
    /// For a key of joiners: the only user for whom they work; an empty name if they work for all.
    pub only_for: Option<String>,
}

/// A process that joined the service.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct JoinerView {
    /// Its name: host and process.
    pub name: String,
    /// Its threads.
    pub threads: u32,
    /// The only user for whom it works.
    pub only_for: Option<String>,
    /// The job that it serves.
    pub job: Option<u64>,
    /// When it joined, in seconds since 1970.
    pub since: f64,
}

/// What a joiner reports.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct JoinerReport {
    /// Its name: host and process, or the job of Slurm, and a random word.
    pub name: String,
    /// Its threads.
    pub threads: u32,
    /// The build of its program.
    pub build: String,
    /// The order that it carries out.
    pub serving: Option<Assignment>,
    /// The order during which its search crashed, and the error.
    pub crashed: Option<(Assignment, String)>,
    /// Whether it is leaving.
    pub leaving: bool,
}

/// Where a joiner should work.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Assignment {
    /// The job.
    pub job: u64,
    /// The number of the root's start.
    pub run: u64,
    /// The port at which the root listens, on the host of the service.
    pub port: u16,
    /// The text of its key file.
    pub key: String,
}

/// The answer to a joiner.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Assignments {
    /// Where it should work; nowhere if it has to wait.
    pub order: Option<Assignment>,
    /// Whether it should end.
    pub dismissed: bool,
}

/// An error.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Refusal {
    /// One line.
    pub error: String,
}

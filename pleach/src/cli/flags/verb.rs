//! [`Verb`]: the commands, their words, and those that have flags in common.

/// The kinds of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Solve,
    Count,
    Check,
    Sim,
    Devices,
    Loop,
    Reproduce,
    Batch,
    Audit,
    Report,
    Resume,
    Join,
    Instances,
    Completions,
    Man,
    Serve,
    Submit,
    Jobs,
    Watch,
    Result,
    Pause,
    Continue,
    Priority,
    Cancel,
    User,
    /// A user's own command.
    Own,
}

/// The commands of `pleach` in the order in which help shows them: their words, and what they do.
pub const COMMANDS: [(Verb, &str, &str); 25] = [
    (
        Verb::Solve,
        "solve PROBLEM INSTANCE",
        "find the best solution, and prove that it is the best",
    ),
    (Verb::Count, "count PROBLEM INSTANCE", "count all solutions, or all nodes of a tree"),
    (Verb::Loop, "loop NAME ARGUMENTS", "run a loop of independent work"),
    (Verb::Check, "check PROBLEM INSTANCE FILE", "compute the value of the solution in FILE"),
    (Verb::Sim, "sim SCENARIO | PROBLEM INSTANCE", "simulate a run on a cluster"),
    (Verb::Resume, "resume FILE", "continue a search that --checkpoint saved"),
    (
        Verb::Join,
        "join HOST:PORT",
        "join a search that another process opened with --listen, or a service",
    ),
    (Verb::Devices, "devices", "list the devices of this machine, with measured rates"),
    (
        Verb::Instances,
        "instances PROBLEM",
        "list the instances that have names, with their best known values and bounds",
    ),
    (Verb::Audit, "audit FILE", "check a certificate that --certificate wrote"),
    (
        Verb::Batch,
        "batch FILE.toml",
        "run instances with several settings and seeds, a CSV row each",
    ),
    (
        Verb::Reproduce,
        "reproduce FIGURE...",
        "run the papers' experiments, and check which results are reproduced",
    ),
    (Verb::Report, "report FILE...", "write one HTML page about runs from their --json output"),
    (
        Verb::Serve,
        "serve",
        "run a service: a queue of several users, and the machines that they share",
    ),
    (Verb::Submit, "submit COMMAND", "put a command into the queue of a service"),
    (Verb::Jobs, "jobs [ID]", "list the jobs of a service, or show one"),
    (Verb::Watch, "watch ID", "follow a job until it is over"),
    (Verb::Result, "result ID", "print the result of a job"),
    (Verb::Pause, "pause ID...", "save jobs and take them off the machines"),
    (Verb::Continue, "continue ID...", "continue paused jobs"),
    (Verb::Priority, "priority ID N", "change the priority of a job"),
    (Verb::Cancel, "cancel ID...", "end jobs without a result"),
    (Verb::User, "user [NAME]", "list the users of a service, or create or change one"),
    (
        Verb::Completions,
        "completions SHELL",
        "print the script with which bash, zsh or fish completes commands",
    ),
    (Verb::Man, "man", "print the manual page"),
];

impl Verb {
    /// The command of this name.
    pub fn of(word: &str) -> Option<Self> {
        COMMANDS.iter().map(|(verb, ..)| *verb).find(|verb| verb.word() == word)
    }

    /// Its name; empty for a user's own command.
    pub fn word(self) -> &'static str {
        let found = COMMANDS.iter().find(|(verb, ..)| *verb == self);
        found.and_then(|(_, words, _)| words.split(' ').next()).unwrap_or_default()
    }
}

/// Commands that search.
pub const SEARCHES: &[Verb] = &[Verb::Solve, Verb::Count, Verb::Resume, Verb::Own];

/// Commands that several processes can share.
pub const SHARED: &[Verb] = &[Verb::Solve, Verb::Count, Verb::Resume, Verb::Own, Verb::Loop];

/// Commands that several processes can share, and `join`; all of them show progress.
pub const SHARED_AND_JOIN: &[Verb] =
    &[Verb::Solve, Verb::Count, Verb::Resume, Verb::Own, Verb::Loop, Verb::Join];

/// Commands that other processes can join.
pub const OPEN: &[Verb] =
    &[Verb::Solve, Verb::Count, Verb::Resume, Verb::Own, Verb::Loop, Verb::Serve];

/// Commands that have workers.
pub const SEARCHES_AND_JOIN: &[Verb] =
    &[Verb::Solve, Verb::Count, Verb::Resume, Verb::Own, Verb::Join];

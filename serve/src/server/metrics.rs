//! `/metrics`: the state of the service in the text format of Prometheus, for alerts and for scaling machines.

use super::state::Service;
use crate::api::{JobState, Role};
use std::fmt::Write;

impl Service {
    /// All metrics.
    pub(super) fn metrics(&self) -> Result<String, super::store::StoreError> {
        let state = self.lock();
        let mut text = String::new();
        let mut family = |name: &str, help: &str, values: &[(String, f64)]| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# HELP pleach_{name} {help}\n# TYPE pleach_{name} gauge");
            for (labels, value) in values {
                let _ = writeln!(text, "pleach_{name}{labels} {value}");
            }
        };
        let plain = |value: usize| vec![(String::new(), value as f64)];
        let numbers = state.store.numbers()?;
        let of = |word: &str| numbers.iter().find(|(state, _)| state == word).map_or(0, |it| it.1);
        let jobs = JobState::ALL.map(JobState::word);
        let jobs = jobs.map(|word| (format!("{{state=\"{word}\"}}"), of(word) as f64));
        family("jobs", "Jobs by state.", &jobs);
        family("joiners", "Processes that joined.", &plain(state.joiners.len()));
        let idle = state.joiners.values().filter(|joiner| joiner.job.is_none()).count();
        family("joiners_idle", "Joiners that serve no job.", &plain(idle));
        let threads: u32 = state.joiners.values().map(|joiner| joiner.threads).sum();
        family("joiner_threads", "Threads of all joiners.", &plain(threads as usize));
        let wanting = state.wanting();
        family("jobs_wanting", "Running searches that could use more threads.", &plain(wanting));
        let users = state.accounts.values().filter(|account| account.row.role != Role::Joiner);
        let label = |name: &str| format!("{{user=\"{}\"}}", name.replace(['"', '\\', '\n'], "_"));
        let (mut workers, mut usage) = (Vec::new(), Vec::new());
        for account in users {
            workers.push((label(&account.row.name), account.workers.into()));
            usage.push((label(&account.row.name), account.row.usage));
        }
        family("user_threads", "Threads that work for each user.", &workers);
        family("user_usage", "Thread-seconds of each user, decayed.", &usage);
        let failing = usize::from(state.failing);
        family("store_failing", "Whether the database could not be written.", &plain(failing));
        Ok(text)
    }
}

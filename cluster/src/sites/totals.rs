//! [`SiteTotals`]: what a site did, reported to the root at the end.

use pleach_core::search::work::Pack;
use pleach_runtime::outcome::{Balance, WorkerReport};

/// What a site did.
#[derive(Clone, Debug, Default, Pack)]
pub struct SiteTotals {
    /// The machine that it ran on.
    pub host: String,
    pub workers: Vec<WorkerReport>,
    pub balance: Balance,
    /// The number of progress reports that it sent.
    pub commits: u64,
    /// The time from the order to its first node.
    pub lag_ns: u64,
    /// Nodes of work that it dropped and others did again.
    pub wasted: u64,
}

impl SiteTotals {
    /// Adds what another site did. Workers of one kind become one: `cpu0` and `cpu1` are `cpu`, and devices of one mode
    /// are `gpu-explore`.
    pub fn add(&mut self, other: SiteTotals) {
        for worker in other.workers {
            let kind = worker.name.trim_end_matches(|c: char| c.is_ascii_digit());
            let mode = worker.mode.clone();
            let name = if mode.is_empty() { kind.to_string() } else { format!("{kind}-{mode}") };
            let same = |known: &WorkerReport| known.name == name;
            let at = self.workers.iter().position(same).unwrap_or_else(|| {
                self.workers.push(WorkerReport { name, mode, ..WorkerReport::default() });
                self.workers.len() - 1
            });
            self.workers[at].add(&worker);
        }
        self.balance.add(other.balance);
        self.balance.steal_ns.truncate(Balance::KEPT);
        self.commits = self.commits.saturating_add(other.commits);
        self.wasted = self.wasted.saturating_add(other.wasted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_core::search::work::Reader;
    use pleach_runtime::activity::{Activity, Phases, StretchRecord};

    #[test]
    fn totals_survive_a_round_trip() {
        let mut activity = Activity::default();
        let phases = Phases { exchange_ns: 5, copy_ns: 6, wait_ns: 7 };
        let (from_ns, busy_ns) = (3_000_000, 9_000_000);
        activity.add(&StretchRecord { from_ns, busy_ns, nodes: 77, active: 0.5, phases });
        let worker = WorkerReport {
            name: "gpu0".into(),
            mode: "explore".into(),
            kernel: "lowered".into(),
            kernel_log: "compiled: newer than the driver".into(),
            busy_s: 1.5,
            steals: 3,
            phases,
            trial: Some((1, 2)),
            opened_s: Some(0.25),
            activity: Some(activity),
            ..WorkerReport::default()
        };
        let balance = Balance { requests: 4, steal_ns: vec![5, 6], ..Balance::default() };
        let totals = SiteTotals {
            host: "a".into(),
            workers: vec![worker],
            balance,
            commits: 2,
            lag_ns: 8,
            wasted: 9,
        };
        let mut bytes = Vec::new();
        totals.pack(&mut bytes);
        let read = SiteTotals::unpack(&mut Reader::new(&bytes)).unwrap();
        assert_eq!(format!("{totals:?}"), format!("{read:?}"));
        for end in 0..bytes.len() {
            assert!(SiteTotals::unpack(&mut Reader::new(&bytes[..end])).is_err(), "{end}");
        }
    }

    /// Two modes of one device used to have the same name.
    #[test]
    fn workers_of_one_kind_and_mode_become_one() {
        let worker = |name: &str, mode: &str| {
            let (name, mode) = (name.into(), mode.into());
            WorkerReport { name, mode, steals: 1, ..WorkerReport::default() }
        };
        let mut sum = SiteTotals::default();
        for mode in ["explore", "evaluate"] {
            let workers = vec![worker("cpu0", ""), worker("cpu12", ""), worker("gpu1", mode)];
            sum.add(SiteTotals { workers, ..SiteTotals::default() });
        }
        let found: Vec<(&str, u64)> =
            sum.workers.iter().map(|worker| (&*worker.name, worker.steals)).collect();
        assert_eq!(found, [("cpu", 4), ("gpu-explore", 1), ("gpu-evaluate", 1)]);
    }

    /// The totals of a process with many threads used to be refused, and with MPI the root waited for them forever.
    #[test]
    fn the_totals_of_many_workers_are_read() {
        let steal_ns = vec![70_000; 64 * Balance::KEPT];
        let balance = Balance { steal_ns, ..Balance::default() };
        let mut bytes = Vec::new();
        SiteTotals { balance, ..SiteTotals::default() }.pack(&mut bytes);
        let read = SiteTotals::unpack(&mut Reader::new(&bytes)).unwrap();
        assert!(read.balance.steal_ns.len() >= Balance::KEPT);
    }
}

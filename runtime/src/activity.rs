//! [`Activity`]: a worker's activity over time, in bounded memory.

use pleach_core::search::work::Pack;

/// How a device's worker spent its time when not exploring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pack)]
pub struct Phases {
    /// Nanoseconds in which explorers on the device took nodes from each other.
    pub exchange_ns: u64,
    /// Nanoseconds in which nodes or bounds were copied to or from the device.
    pub copy_ns: u64,
    /// Nanoseconds in which the worker waited for bounds.
    pub wait_ns: u64,
}

impl Phases {
    /// Adds other phases.
    pub fn add(&mut self, other: Phases) {
        self.exchange_ns = self.exchange_ns.saturating_add(other.exchange_ns);
        self.copy_ns = self.copy_ns.saturating_add(other.copy_ns);
        self.wait_ns = self.wait_ns.saturating_add(other.wait_ns);
    }
}

/// A stretch of exploring, as recorded in the activity.
#[derive(Clone, Copy, Debug, Default)]
pub struct StretchRecord {
    /// When it began, and how long it took.
    pub from_ns: u64,
    /// See `from_ns`.
    pub busy_ns: u64,
    /// Nodes explored.
    pub nodes: u64,
    /// The fraction of the worker's explorers that had work.
    pub active: f64,
    /// What else a device did during the stretch.
    pub phases: Phases,
}

/// A recorded quantity, in the order of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Nanoseconds spent in stretches of exploring.
    Busy = 0,
    /// Nodes explored.
    Nodes = 1,
    /// The busy time, weighted by the fraction of a device's explorers that had work.
    Active = 2,
    /// Parts of the busy time: see [`Phases`].
    Exchange = 3,
    /// See `Exchange`.
    Copy = 4,
    /// See `Exchange`.
    Wait = 5,
    /// Nanoseconds spent on heuristics alongside the search, which are not part of the busy time.
    Improve = 6,
}

/// The number of columns.
pub const COLUMNS: usize = 7;

/// Busy time and nodes in equal steps of time, whose length doubles when there are too many.
#[derive(Clone, Debug)]
pub struct Activity {
    /// The length of a step.
    pub step_ns: u64,
    /// The recorded quantities of each step, by column.
    pub columns: [Vec<u64>; COLUMNS],
}

/// More than a step of any run. It caps what other processes report.
const MOST: u64 = u64::MAX >> 20;
/// The maximum number of steps; an even number.
const STEPS: usize = 1024;

impl Default for Activity {
    fn default() -> Self {
        Self { step_ns: 1_000_000, columns: Default::default() }
    }
}

impl Activity {
    /// A quantity in each step.
    #[must_use]
    pub fn column(&self, column: Column) -> &[u64] {
        &self.columns[column as usize]
    }

    /// Records a stretch, spread evenly over the steps it touches.
    pub fn add(&mut self, spell: &StretchRecord) {
        let StretchRecord { from_ns, busy_ns, nodes, active, phases } = *spell;
        let Phases { exchange_ns, copy_ns, wait_ns } = phases;
        // Phases since the last stretch are reported with this one, and may exceed it.
        let exchange_ns = exchange_ns.min(busy_ns);
        let copy_ns = copy_ns.min(busy_ns - exchange_ns);
        let wait_ns = wait_ns.min(busy_ns - exchange_ns - copy_ns);
        let active_ns = (active * busy_ns as f64) as u64;
        let all = [busy_ns, nodes, active_ns, exchange_ns, copy_ns, wait_ns, 0];
        self.spread((from_ns, busy_ns), all);
    }

    /// Records time spent on heuristics.
    pub fn add_improvement(&mut self, from_ns: u64, for_ns: u64) {
        let mut all = [0; COLUMNS];
        all[Column::Improve as usize] = for_ns;
        self.spread((from_ns, for_ns), all);
    }

    /// Spreads quantities evenly over the steps that a stretch of time touches.
    fn spread(&mut self, (from_ns, for_ns): (u64, u64), whole: [u64; COLUMNS]) {
        let until_ns = from_ns + for_ns;
        while until_ns / self.step_ns >= STEPS as u64 {
            self.double();
        }
        let mut left = whole;
        let last = (until_ns / self.step_ns) as usize;
        if self.columns[0].len() <= last {
            self.columns.iter_mut().for_each(|column| column.resize(last + 1, 0));
        }
        let mut at_ns = from_ns;
        for step in (from_ns / self.step_ns) as usize..last {
            let part_ns = (step as u64 + 1) * self.step_ns - at_ns;
            for (column, (whole, left)) in self.columns.iter_mut().zip(whole.iter().zip(&mut left))
            {
                let part = u128::from(*whole) * u128::from(part_ns) / u128::from(for_ns);
                column[step] = column[step].saturating_add(part as u64);
                *left -= part as u64;
            }
            at_ns += part_ns;
        }
        for (column, left) in self.columns.iter_mut().zip(left) {
            column[last] = column[last].saturating_add(left);
        }
    }

    /// The same activity on a clock that is ahead by this much.
    #[must_use]
    pub fn later(&self, by_ns: u64) -> Self {
        let mut moved = Self::default();
        moved.add_later(self, by_ns);
        moved
    }

    /// Adds another worker's activity, which is on a clock that is behind by this much.
    pub fn add_later(&mut self, other: &Activity, by_ns: u64) {
        for step in 0..other.columns[0].len() {
            let [busy_ns, nodes, active_ns, exchange_ns, copy_ns, wait_ns, improve_ns] =
                std::array::from_fn(|column| other.columns[column][step].min(MOST));
            let from_ns = (step as u64).saturating_mul(other.step_ns).saturating_add(by_ns);
            let from_ns = from_ns.min(u64::MAX / 4);
            if busy_ns > 0 {
                let active = (active_ns as f64 / busy_ns as f64).min(1.0);
                let phases = Phases { exchange_ns, copy_ns, wait_ns };
                self.add(&StretchRecord { from_ns, busy_ns, nodes, active, phases });
            }
            if improve_ns > 0 {
                self.add_improvement(from_ns, improve_ns);
            }
        }
    }

    fn double(&mut self) {
        self.step_ns *= 2;
        for column in &mut self.columns {
            let sum = |pair: &[u64]| pair.iter().copied().fold(0, u64::saturating_add);
            *column = column.chunks(2).map(sum).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_when_steps_double() {
        let mut activity = Activity::default();
        let (mut at, mut nodes) = (0, 0);
        for i in 0..5000u64 {
            let phases = Phases { exchange_ns: 100_000, copy_ns: 1 << 40, wait_ns: 7 };
            let (from_ns, busy_ns) = (at, 700_000 + i);
            activity.add(&StretchRecord { from_ns, busy_ns, nodes: 3 * i, active: 0.5, phases });
            activity.add_improvement(at + busy_ns, 200_000);
            at += 1_000_000;
            nodes += 3 * i;
        }
        let sum = |column| activity.column(column).iter().sum::<u64>();
        assert_eq!((sum(Column::Nodes), sum(Column::Exchange)), (nodes, 5000 * 100_000));
        assert_eq!(sum(Column::Improve), 5000 * 200_000);
        assert_eq!(
            activity.later(1 << 30).column(Column::Improve).iter().sum::<u64>(),
            5000 * 200_000
        );
        let busy = sum(Column::Busy);
        assert_eq!(busy, 5000 * 700_000 + 4999 * 2500);
        // A copy cannot take longer than the stretch, and leaves no time to wait.
        assert_eq!((sum(Column::Copy), sum(Column::Wait)), (busy - 5000 * 100_000, 0));
        assert!(sum(Column::Active).abs_diff(busy / 2) < 10_000);
        assert!(activity.column(Column::Busy).len() <= STEPS);
        assert!(activity.column(Column::Busy).iter().all(|&busy| busy <= activity.step_ns));
    }
}

//! [`Activity`]: a unit's activity over time, in bounded memory.

/// Busy time and nodes in equal steps of time, whose length doubles when there are too many.
#[derive(Clone, Debug)]
pub struct Activity {
    /// The length of a step.
    pub step_ns: u64,
    /// Nanoseconds spent exploring in each step.
    pub busy_ns: Vec<u64>,
    /// Nodes explored in each step.
    pub nodes: Vec<u64>,
    /// The busy time in each step, weighted by the fraction of a device's explorers that had work.
    pub active_ns: Vec<u64>,
}

/// The most steps; an even number.
const STEPS: usize = 1024;

impl Default for Activity {
    fn default() -> Self {
        Self { step_ns: 1_000_000, busy_ns: Vec::new(), nodes: Vec::new(), active_ns: Vec::new() }
    }
}

impl Activity {
    /// Records a stretch of exploring, spread evenly over the steps it touches. `active` is the
    /// fraction of the unit's explorers that had work.
    pub fn add(&mut self, from_ns: u64, busy_ns: u64, nodes: u64, active: f64) {
        let until_ns = from_ns + busy_ns;
        while until_ns / self.step_ns >= STEPS as u64 {
            self.double();
        }
        let last = (until_ns / self.step_ns) as usize;
        if self.busy_ns.len() <= last {
            self.busy_ns.resize(last + 1, 0);
            self.nodes.resize(last + 1, 0);
            self.active_ns.resize(last + 1, 0);
        }
        let (mut at_ns, mut nodes_left) = (from_ns, nodes);
        for step in (from_ns / self.step_ns) as usize..last {
            let part_ns = (step as u64 + 1) * self.step_ns - at_ns;
            let part = (u128::from(nodes) * u128::from(part_ns) / u128::from(busy_ns)) as u64;
            self.busy_ns[step] += part_ns;
            self.active_ns[step] += (active * part_ns as f64) as u64;
            self.nodes[step] += part;
            at_ns += part_ns;
            nodes_left -= part;
        }
        self.busy_ns[last] += until_ns - at_ns;
        self.active_ns[last] += (active * (until_ns - at_ns) as f64) as u64;
        self.nodes[last] += nodes_left;
    }

    /// The same activity on a clock that is so much ahead.
    #[must_use]
    pub fn later(&self, by_ns: u64) -> Self {
        let mut moved = Self::default();
        for (step, (&busy_ns, &nodes)) in (0..).zip(self.busy_ns.iter().zip(&self.nodes)) {
            if busy_ns > 0 {
                let active = self.active_ns[step] as f64 / busy_ns as f64;
                let from_ns = (step as u64).saturating_mul(self.step_ns).saturating_add(by_ns);
                moved.add(from_ns.min(u64::MAX / 4), busy_ns.min(u64::MAX / 4), nodes, active);
            }
        }
        moved
    }

    fn double(&mut self) {
        self.step_ns *= 2;
        for column in [&mut self.busy_ns, &mut self.nodes, &mut self.active_ns] {
            *column = column.chunks(2).map(|pair| pair.iter().sum()).collect();
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
            activity.add(at, 700_000 + i, 3 * i, 0.5);
            at += 1_000_000;
            nodes += 3 * i;
        }
        assert_eq!(activity.nodes.iter().sum::<u64>(), nodes);
        assert_eq!(activity.busy_ns.iter().sum::<u64>(), 5000 * 700_000 + 4999 * 2500);
        let (busy, active): (u64, u64) =
            (activity.busy_ns.iter().sum(), activity.active_ns.iter().sum());
        assert!(active.abs_diff(busy / 2) < 10_000);
        assert!(activity.busy_ns.len() <= STEPS);
        assert!(activity.busy_ns.iter().all(|&busy| busy <= activity.step_ns));
    }
}

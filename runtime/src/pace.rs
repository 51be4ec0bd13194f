//! [`Pace`]: limits the speed of a worker, as if it ran on its own machine.

/// The approximate time of a stretch of a paced worker.
const STRETCH_NS: f64 = 4e6;

/// A worker that falls behind by more than this does not catch up.
const BEHIND_NS: f64 = 20e6;

/// A worker's pace, and when it may explore again.
pub(crate) struct Pace {
    node_ns: f64,
    free_at_ns: f64,
}

impl Pace {
    /// A pace of at most this many nodes per second.
    pub fn new(nodes_per_s: u64) -> Self {
        Self { node_ns: 1e9 / nodes_per_s.max(1) as f64, free_at_ns: 0.0 }
    }

    /// The number of nodes of a stretch: at least one.
    pub fn fuel(&self) -> u64 {
        (STRETCH_NS / self.node_ns) as u64 + 1
    }

    /// How long to sleep before the next stretch; `None` if it may begin.
    pub fn rest_ns(&self, now_ns: u64) -> Option<u64> {
        let left_ns = self.free_at_ns - now_ns as f64;
        (left_ns >= 1.0).then_some(left_ns as u64)
    }

    /// Charges the nodes of a stretch that began at this time. Returns the time that they take at this pace.
    pub fn charge_nodes(&mut self, began_ns: u64, nodes: u64) -> u64 {
        let takes_ns = nodes as f64 * self.node_ns;
        self.free_at_ns = self.free_at_ns.max(began_ns as f64 - BEHIND_NS) + takes_ns;
        takes_ns as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_take_their_time_even_after_a_late_start() {
        let mut pace = Pace::new(1000);
        assert_eq!((pace.fuel(), pace.rest_ns(0)), (5, None));
        assert_eq!(pace.charge_nodes(0, 3), 3_000_000);
        assert_eq!(pace.rest_ns(1_000_000), Some(2_000_000));
        assert_eq!(pace.rest_ns(3_000_000), None);
        // After a sleep that was a little too long it catches up, but not after a long time without work.
        pace.charge_nodes(4_000_000, 1);
        assert_eq!(pace.rest_ns(4_000_000), None);
        pace.charge_nodes(1_000_000_000, 30);
        assert_eq!(pace.rest_ns(1_000_000_000), Some(10_000_000));
    }
}

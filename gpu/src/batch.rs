//! [`BatchSize`]: learns while running how many parents to send to a device at a time.

use std::time::Duration;

/// Batches sent of each size before it is judged.
const TRIED: u32 = 16;
/// A larger size must be faster by this factor.
const BETTER: f64 = 1.05;
/// Batches that take longer than this are large enough.
const LONG: Duration = Duration::from_millis(1);

/// The number of parents in a batch: doubled while batches are short and that makes them faster.
pub(super) struct BatchSize {
    now: usize,
    /// The previous size, and its rate in children a second.
    before: (usize, f64),
    most: usize,
    settled: bool,
    /// What came back at the current size.
    batches: u32,
    children: u64,
    time: Duration,
}

impl BatchSize {
    /// Starts with `first`, at most `most`; a given size is never changed.
    pub fn new(first: usize, most: usize, given: bool) -> Self {
        let now = if given { most } else { first.clamp(1, most) };
        let (batches, children, time) = (0, 0, Duration::ZERO);
        Self { now, before: (now, 0.0), most, settled: given, batches, children, time }
    }

    /// The size of the next batch.
    pub fn now(&self) -> usize {
        self.now
    }

    /// Records a batch of this many parents that has come back. Batches of another size are ignored.
    pub fn note(&mut self, parents: usize, children: u32, took: Duration) {
        if self.settled || parents != self.now {
            return;
        }
        self.batches += 1;
        self.children += u64::from(children);
        self.time += took;
        if self.batches < TRIED {
            return;
        }
        let rate = self.children as f64 / self.time.as_secs_f64().max(1e-9);
        let short = self.time / self.batches < LONG;
        let (smaller, slower) = self.before;
        if rate < BETTER * slower {
            // The previous size was as good.
            (self.now, self.settled) = (smaller, true);
        } else if short && self.now < self.most {
            self.before = (self.now, rate);
            self.now = (2 * self.now).min(self.most);
        } else {
            self.settled = true;
        }
        (self.batches, self.children, self.time) = (0, 0, Duration::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size found for a device with this time per batch and per child.
    fn found(most: usize, batch_us: f64, child_us: f64) -> usize {
        let mut size = BatchSize::new(4, most, false);
        for _ in 0..100 * TRIED {
            let children = 10 * size.now() as u32;
            let us = batch_us + child_us * f64::from(children);
            let parents = size.now();
            // Smaller batches are ignored.
            size.note(parents - 1, 1, Duration::from_secs(9));
            size.note(parents, children, Duration::from_secs_f64(us * 1e-6));
        }
        size.now()
    }

    #[test]
    fn batches_grow_while_that_pays() {
        assert_eq!(found(1000, 0.0, 1.0), 4);
        assert_eq!(found(1000, 1e9, 1.0), 4);
        assert_eq!(found(1000, 50.0, 0.001), 1000);
        // A batch of 1,024 takes 1.1 ms, and is 9 % faster than two of 512.
        assert_eq!(found(1 << 20, 100.0, 0.1), 1024);
        assert_eq!(BatchSize::new(64, 100, true).now(), 100);
        assert_eq!(BatchSize::new(640, 100, false).now(), 100);
    }
}

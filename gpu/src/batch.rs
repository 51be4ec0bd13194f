//! [`BatchSize`]: how many parents go to a device at a time, found while running.

use std::time::Duration;

/// Batches that a size is tried with.
const TRIED: u32 = 16;
/// A larger size must be better by this much.
const BETTER: f64 = 1.05;
/// A batch that takes longer than this is large enough.
const LONG: Duration = Duration::from_millis(1);

/// How many parents to send at a time: twice as many for as long as that is faster and takes little time.
pub(super) struct BatchSize {
    now: usize,
    /// The size before, and its rate in children a second.
    before: (usize, f64),
    most: usize,
    settled: bool,
    /// What came back at this size.
    batches: u32,
    children: u64,
    time: Duration,
}

impl BatchSize {
    /// Begins with one wave, never more than `most`; a size that is given stays as it is.
    pub fn new(wave: usize, most: usize, given: bool) -> Self {
        let now = if given { most } else { wave.clamp(1, most) };
        let (batches, children, time) = (0, 0, Duration::ZERO);
        Self { now, before: (now, 0.0), most, settled: given, batches, children, time }
    }

    /// The size of the next batch.
    pub fn now(&self) -> usize {
        self.now
    }

    /// Notes a batch of this many parents that has come back. Only those of the present size tell something.
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
            // The size before was as good.
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

    /// The size that is found for a device which takes so long for a batch, and so long for each child.
    fn found(most: usize, batch_us: f64, child_us: f64) -> usize {
        let mut size = BatchSize::new(4, most, false);
        for _ in 0..100 * TRIED {
            let children = 10 * size.now() as u32;
            let us = batch_us + child_us * f64::from(children);
            let parents = size.now();
            // Smaller ones say nothing.
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

//! [`Hands`]: a thread that runs ranges of a loop, and what it notes of itself.

use super::share::Share;
use pleach_core::looping::Loop;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Time owed up to this is not slept at once: a sleep is never exact.
const OWED: Duration = Duration::from_micros(200);

/// What a unit of the machine did in a loop.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Did {
    /// Units of the loop.
    pub units: u64,
    /// Their cost.
    pub cost: f64,
    /// Ranges.
    pub ranges: u64,
    /// Time it was not free.
    pub busy: Duration,
}

impl Did {
    /// Notes a range.
    pub fn add(&mut self, units: u64, cost: f64, busy: Duration) {
        self.units += units;
        self.cost += cost;
        self.ranges += 1;
        self.busy += busy;
    }
}

/// A thread that runs ranges of a loop.
pub(super) struct Hands<'a, L: Loop> {
    pub share: &'a Share<'a>,
    pub work: &'a L,
    /// Units of the loop for each unit in the row.
    pub grain: usize,
    pub me: usize,
    /// How many times slower than it could be.
    pub slow: f64,
}

impl<L: Loop> Hands<'_, L> {
    /// The units of the loop that units of the row stand for.
    pub fn units(&self, row: &Range<u32>) -> Range<usize> {
        let end = (row.end as usize).saturating_mul(self.grain).min(self.work.units());
        row.start as usize * self.grain..end
    }

    /// Runs ranges until none are left.
    pub fn run(&self, did: &mut Did) -> L::Hand {
        self.take(self.share.own(self.me), did)
    }

    /// The same for a device that has failed: what it had of its own has been given back.
    pub fn go_on(&self, did: &mut Did) -> L::Hand {
        self.take(None, did)
    }

    fn take(&self, mut own: Option<Range<u32>>, did: &mut Did) -> L::Hand {
        let mut hand = self.work.hand();
        let (mut last, mut owed) = (self.share.whole(), Duration::ZERO);
        while let Some(row) = own.take().or_else(|| self.share.next(self.me, last)) {
            let (units, began) = (self.units(&row), Instant::now());
            let count = units.len() as u64;
            self.work.run(units, &mut hand);
            let worked = began.elapsed();
            if self.slow > 1.0 {
                owed += worked.mul_f64(self.slow - 1.0);
                if owed > OWED {
                    let slept = Instant::now();
                    std::thread::sleep(owed);
                    owed = owed.saturating_sub(slept.elapsed());
                }
            }
            last = self.share.cost(&row);
            did.add(count, last, began.elapsed());
            self.share.note(self.me, &row, worked.as_nanos() as f64 * self.slow);
        }
        std::thread::sleep(owed);
        hand
    }
}

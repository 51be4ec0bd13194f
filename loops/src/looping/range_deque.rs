//! [`RangeDeque`]: a range of units that some take from the front and others from the back, without a lock.

use pleach_runtime::sync::{AtomicU64, Ordering};
use std::ops::Range;

/// The units that nobody has taken yet: their start and end in one word, so that the two ends cannot cross.
///
/// Taking does not order other memory: takers that share memory must synchronise by other means.
pub struct RangeDeque(AtomicU64);

fn word(units: &Range<u32>) -> u64 {
    u64::from(units.end) << 32 | u64::from(units.start)
}

fn range(word: u64) -> Range<u32> {
    word as u32..(word >> 32) as u32
}

impl RangeDeque {
    /// A deque of this many units.
    #[must_use]
    pub fn new(units: u32) -> Self {
        Self(AtomicU64::new(word(&(0..units))))
    }

    /// What is left.
    #[must_use]
    pub fn left(&self) -> Range<u32> {
        range(self.0.load(Ordering::Relaxed))
    }

    /// Takes units from the front: as many as `size` returns for those left, at most all. Returns `None` if none are
    /// left or wanted.
    #[inline]
    pub fn pop_front(&self, size: impl Fn(&Range<u32>) -> u32) -> Option<Range<u32>> {
        self.split(|left| {
            let cut = left.start + size(left).min(left.end - left.start);
            (left.start..cut, cut..left.end)
        })
    }

    /// Takes units from the back.
    #[inline]
    pub fn pop_back(&self, size: impl Fn(&Range<u32>) -> u32) -> Option<Range<u32>> {
        self.split(|left| {
            let cut = left.end - size(left).min(left.end - left.start);
            (cut..left.end, left.start..cut)
        })
    }

    #[inline]
    fn split(&self, cut: impl Fn(&Range<u32>) -> (Range<u32>, Range<u32>)) -> Option<Range<u32>> {
        let mut seen = self.0.load(Ordering::Relaxed);
        loop {
            let (taken, rest) = cut(&range(seen));
            if taken.is_empty() {
                return None;
            }
            let swap = (Ordering::Relaxed, Ordering::Relaxed);
            match self.0.compare_exchange_weak(seen, word(&rest), swap.0, swap.1) {
                Ok(_) => return Some(taken),
                Err(now) => seen = now,
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_ends_meet_and_never_pass() {
        let row = RangeDeque::new(10);
        assert_eq!(row.pop_front(|_| 3), Some(0..3));
        assert_eq!(row.pop_back(|_| 4), Some(6..10));
        assert_eq!(row.pop_front(|_| 0), None);
        assert_eq!(row.left(), 3..6);
        assert_eq!(row.pop_back(|left| left.end - left.start - 1), Some(4..6));
        assert_eq!(row.pop_front(|_| u32::MAX), Some(3..4));
        assert_eq!((row.pop_front(|_| 1), row.pop_back(|_| 1)), (None, None));
        let most = RangeDeque::new(u32::MAX);
        assert_eq!(most.pop_back(|_| u32::MAX - 1), Some(1..u32::MAX));
        assert_eq!(most.pop_front(|_| u32::MAX), Some(0..1));
    }

    #[test]
    fn many_takers_get_each_unit_once() {
        let row = &RangeDeque::new(100_000);
        let takers = |front: bool| {
            move || {
                let size = |_: &Range<u32>| 3;
                let next = || if front { row.pop_front(size) } else { row.pop_back(size) };
                std::iter::from_fn(next).flatten().collect::<Vec<u32>>()
            }
        };
        let mut all: Vec<u32> = std::thread::scope(|scope| {
            let jobs: Vec<_> = [true, false, true, false].map(|f| scope.spawn(takers(f))).into();
            jobs.into_iter().flat_map(|job| job.join().unwrap()).collect()
        });
        all.sort_unstable();
        assert!(all.into_iter().eq(0..100_000));
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;

    /// Two threads at the front and one at the back compete for the last unit.
    #[test]
    fn no_unit_is_lost_or_taken_twice() {
        loom::model(|| {
            let row = Arc::new(RangeDeque::new(3));
            let taker = |row: Arc<RangeDeque>, front: bool| {
                let size = |_: &Range<u32>| 2;
                loom::thread::spawn(
                    move || if front { row.pop_front(size) } else { row.pop_back(size) },
                )
            };
            let others = [taker(row.clone(), true), taker(row.clone(), false)];
            let mut all: Vec<u32> = row.pop_front(|_| 2).into_iter().flatten().collect();
            all.extend(others.into_iter().flat_map(|it| it.join().unwrap()).flatten());
            all.extend(row.left());
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2]);
        });
    }
}

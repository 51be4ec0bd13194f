//! [`Queue`]: future events by time; events due soon are kept in buckets, which makes them cheap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A scheduled event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at_ns: u64,
    /// Events at the same time happen in the order they were scheduled, so runs are reproducible.
    order: u64,
    what: u64,
}

/// Buckets in the ring; a power of two.
const BUCKETS: usize = 8192;

/// A queue of words, ordered by time.
pub(super) struct Queue {
    /// Entries of the bucket being emptied, and those due earlier.
    near: BinaryHeap<Reverse<Entry>>,
    /// A ring of the buckets that follow.
    ring: Vec<Vec<Entry>>,
    /// Which buckets of the ring are not empty.
    filled: [u64; BUCKETS / 64],
    /// Entries beyond the ring.
    far: BinaryHeap<Reverse<Entry>>,
    /// The number of the bucket being emptied.
    bucket: u64,
    /// The binary logarithm of a bucket's width in nanoseconds.
    width: u32,
    planned: u64,
}

impl Queue {
    /// A queue for `peers` peers: the more peers, the narrower the buckets.
    pub fn new(peers: u32) -> Self {
        Self {
            near: BinaryHeap::new(),
            ring: vec![Vec::new(); BUCKETS],
            filled: [0; BUCKETS / 64],
            far: BinaryHeap::new(),
            bucket: 0,
            width: 20_u32.saturating_sub(peers.ilog2() * 3 / 4).clamp(8, 18),
            planned: 0,
        }
    }

    /// Schedules an event.
    pub fn push(&mut self, at_ns: u64, what: u64) {
        let entry = Entry { at_ns, order: self.planned, what };
        self.planned += 1;
        self.file(entry);
    }

    fn file(&mut self, entry: Entry) {
        let bucket = entry.at_ns >> self.width;
        if bucket <= self.bucket {
            self.near.push(Reverse(entry));
        } else if bucket < self.bucket + BUCKETS as u64 {
            let slot = bucket as usize % BUCKETS;
            self.ring[slot].push(entry);
            self.filled[slot / 64] |= 1 << (slot % 64);
        } else {
            self.far.push(Reverse(entry));
        }
    }

    /// Removes the next event and returns its time and word.
    pub fn pop(&mut self) -> Option<(u64, u64)> {
        loop {
            if let Some(Reverse(entry)) = self.near.pop() {
                return Some((entry.at_ns, entry.what));
            }
            self.advance()?;
        }
    }

    /// Advances to the next bucket that is not empty.
    fn advance(&mut self) -> Option<()> {
        let far = self.far.peek().map(|Reverse(entry)| entry.at_ns >> self.width);
        let next = [self.next_filled(), far].into_iter().flatten().min()?;
        self.bucket = next;
        let slot = next as usize % BUCKETS;
        self.filled[slot / 64] &= !(1 << (slot % 64));
        // The vector is put back, so that its allocation is reused.
        let mut entries = std::mem::take(&mut self.ring[slot]);
        self.near.extend(entries.drain(..).map(Reverse));
        self.ring[slot] = entries;
        while let Some(&Reverse(entry)) = self.far.peek() {
            if entry.at_ns >> self.width > next {
                break;
            }
            self.far.pop();
            self.near.push(Reverse(entry));
        }
        Some(())
    }

    /// The number of the next bucket in the ring that is not empty.
    fn next_filled(&self) -> Option<u64> {
        let here = self.bucket as usize % BUCKETS;
        let words = BUCKETS / 64;
        // The current bucket's word is visited twice: its later part first, its earlier part last.
        (0..=words).find_map(|step| {
            let at = (here / 64 + step) % words;
            let after = u64::MAX.checked_shl(here as u32 % 64 + 1).unwrap_or(0);
            let mask = match step {
                0 => after,
                _ if step == words => !after,
                _ => u64::MAX,
            };
            let found = self.filled[at] & mask;
            (found != 0).then(|| {
                let slot = at * 64 + found.trailing_zeros() as usize;
                self.bucket + ((slot + BUCKETS - here) % BUCKETS) as u64
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::mix;

    /// Times near and far, many of them equal, scheduled while events happen.
    #[test]
    fn whatever_is_planned_happens_in_order() {
        for seed in 0..50 {
            let mut queue = Queue::new(1 + (mix(seed, 0, 0) % 100_000) as u32);
            let mut expected = BinaryHeap::new();
            let mut planned = 0;
            let mut now_ns = 0;
            for round in 0..3000 {
                for _ in 0..mix(seed, round, 1) % 3 {
                    let reach = 1u64 << (mix(seed, round, 2) % 45);
                    let at_ns = now_ns + mix(seed, planned, 3) % reach;
                    queue.push(at_ns, planned);
                    expected.push(Reverse((at_ns, planned)));
                    planned += 1;
                }
                let next = queue.pop();
                assert_eq!(next, expected.pop().map(|Reverse(entry)| entry));
                now_ns = next.map_or(now_ns, |(at_ns, _)| at_ns);
            }
            while let Some(next) = queue.pop() {
                assert_eq!(Some(Reverse(next)), expected.pop());
            }
            assert!(expected.is_empty());
        }
    }
}

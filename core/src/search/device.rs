//! [`OnDevice`]: the layout of a problem's nodes or intervals in the memory of a device that explores them.

use crate::search::tree::Solution;
use crate::search::work::interval::{Point, digit, trim};
use crate::search::work::{Interval, Intervals, Malformed, Nodes, Work};

/// The parameters to compile and run a problem's kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The kernel whose explorers bound all children of a node at once, if there is one for intervals. It may be the
    /// only kernel.
    pub parallel: Option<&'static str>,
    /// Constants compiled into the kernel, in the order in which it names them.
    pub sizes: Vec<u32>,
    /// Further constants of the instance, which are not compiled in.
    pub values: Vec<u32>,
    /// What each explorer holds: a stack of nodes, or an interval as [`IntervalWords`].
    pub nodes: Nodes,
    /// Words per node or interval.
    pub words: usize,
    /// Words per solution.
    pub plan: usize,
    /// The most children a node can have.
    pub width: usize,
    /// The maximum number of nodes on a path; the number of places where work is intervals.
    pub depth: usize,
    /// Data shared by all nodes of the instance.
    pub tables: Vec<u32>,
}

/// The maximum number of constants of an instance in a launch.
pub const SIZES: usize = 10;

impl Layout {
    /// All constants as a launch takes them, padded with zeros.
    #[must_use]
    pub fn constants(&self) -> [u32; SIZES] {
        let mut all = [0; SIZES];
        let given = self.sizes.iter().chain(&self.values);
        all.iter_mut().zip(given).for_each(|(size, &given)| *size = given);
        all
    }
}

/// A problem that a device can explore, with conversions between nodes and words; between intervals and words where
/// work is intervals.
pub trait OnDevice: Sync {
    /// The parameters of the kernel.
    fn layout(&self) -> Layout;

    /// Appends the nodes in `work` as words, the shallowest first.
    ///
    /// # Errors
    /// If the work does not belong to this problem or contains nodes that the kernel cannot handle.
    fn to_words(&self, work: &[u8], words: &mut Vec<u32>) -> Result<(), Malformed>;

    /// Converts nodes, in any order, from words to canonical work.
    fn to_work(&self, words: &[u32]) -> Work;

    /// The bound of a node; `i64::MIN` where the problem has none.
    fn bound(&self, node: &[u32]) -> i64;

    /// Converts a solution that a kernel wrote.
    fn solution(&self, score: i64, plan: &[u32]) -> Solution {
        Solution { score, solution: plan.iter().map(|&word| word.into()).collect() }
    }
}

/// Intervals of the permutations of this many things in device memory. A place must fit in a byte.
///
/// Each is its bound as two words, the low one first, then the digits of both ends, a byte each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntervalWords(pub usize);

impl IntervalWords {
    /// The number of words of an interval.
    #[must_use]
    pub fn words(self) -> usize {
        2 + 2 * self.0.div_ceil(4)
    }

    /// Appends the intervals in `work`, all within `whole` and with bounds that are `valid`.
    ///
    /// # Errors
    /// If the work is anything else.
    pub fn write(
        self,
        work: &[u8],
        whole: &Interval,
        valid: impl Fn(i64) -> bool,
        words: &mut Vec<u32>,
    ) -> Result<(), Malformed> {
        let read = Intervals::from_bytes(self.0, work)?;
        let fits = |part: &Interval| part.end <= whole.end && valid(part.bound);
        if !read.parts().iter().all(fits) {
            return Err(Malformed::Range);
        }
        self.append(&read, words);
        Ok(())
    }

    fn append(self, intervals: &Intervals, words: &mut Vec<u32>) {
        for Interval { begin, end, bound } in intervals.parts() {
            let bound = bound.cast_unsigned();
            words.extend([bound as u32, (bound >> 32) as u32]);
            for point in [begin, end] {
                let four = |at: usize| {
                    (0..4).rev().fold(0, |w, i| w << 8 | u32::from(digit(point, at + i)))
                };
                words.extend((0..self.0).step_by(4).map(four));
            }
        }
    }

    /// The bound of an interval.
    #[must_use]
    pub fn bound(self, interval: &[u32]) -> i64 {
        (u64::from(interval[0]) | u64::from(interval[1]) << 32).cast_signed()
    }

    /// Reads intervals, in any order.
    ///
    /// # Panics
    /// If some overlap.
    #[must_use]
    pub fn read(self, words: &[u32]) -> Intervals {
        let parts = words.chunks_exact(self.words()).map(|words| {
            let point = |words: &[u32]| {
                let bytes = words.iter().flat_map(|word| word.to_le_bytes());
                // The padding of the last word is arbitrary.
                let mut point: Point = bytes.take(self.0).map(u16::from).collect();
                trim(&mut point);
                point
            };
            let (begin, end) = words[2..].split_at(self.0.div_ceil(4));
            Interval { begin: point(begin), end: point(end), bound: self.bound(words) }
        });
        Intervals::of(self.0, parts.collect()).expect("explorers share no leaves")
    }

    /// The number of leaves in all.
    #[must_use]
    pub fn leaves(self, words: &[u32]) -> f64 {
        self.read(words).size()
    }

    /// Removes and returns about this many leaves from the end: at least one and, of two or more, never all.
    pub fn split(self, words: &mut Vec<u32>, leaves: f64) -> Vec<u32> {
        let mut kept = self.read(words);
        let given = kept.split(leaves / kept.size());
        words.clear();
        self.append(&kept, words);
        let mut split = Vec::new();
        given.iter().for_each(|given| self.append(given, &mut split));
        split
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::work::interval::point;

    fn some(n: usize) -> Intervals {
        let part = |(i, bound): (u128, i64)| {
            let (begin, end) = (point(n, 5 * i), point(n, 5 * i + 3));
            Interval { begin, end, bound }
        };
        let parts = [(7, i64::MIN), (0, -1), (3, i64::from(u32::MAX) + 4), (1, 9)].map(part);
        Intervals::of(n, parts.into()).unwrap()
    }

    #[test]
    fn intervals_survive_a_round_trip() {
        for n in [5, 8, 11, 64] {
            let (on, some, mut words) = (IntervalWords(n), some(n), Vec::new());
            on.write(&some.to_work().bytes, &Interval::whole(n), |_| true, &mut words).unwrap();
            assert_eq!(words.len(), 4 * on.words());
            assert_eq!((on.read(&words), on.leaves(&words)), (some, 12.0));
            // In another order.
            words.rotate_left(on.words());
            let given = on.split(&mut words, 4.0);
            assert_eq!((on.leaves(&words), on.leaves(&given)), (8.0, 4.0));
            let mut whole = Vec::new();
            let all = Intervals::one(n, Interval::whole(n)).to_work();
            on.write(&all.bytes, &Interval::whole(n), |_| true, &mut whole).unwrap();
            assert_eq!(on.read(&whole).to_work(), all);
        }
    }

    #[test]
    fn intervals_outside_are_refused() {
        let (on, work) = (IntervalWords(8), some(8).to_work().bytes);
        let write = |end: Point, most: i64| {
            let whole = Interval { end, ..Interval::whole(8) };
            on.write(&work, &whole, |bound| bound <= most, &mut Vec::new())
        };
        assert_eq!(write(point(8, 38), i64::MAX), Ok(()));
        assert_eq!(write(point(8, 37), i64::MAX), Err(Malformed::Range));
        assert_eq!(write(point(8, 38), 9), Err(Malformed::Range));
    }
}

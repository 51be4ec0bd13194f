//! Boards in device memory: four words each; or intervals.

use super::rows;
use super::tree::{Board, Queens};
use pleach_core::search::device::{IntervalWords, Layout, OnDevice};
use pleach_core::search::tree::read;
use pleach_core::search::work::{Entry, Malformed, Nodes, Pool, Work};

/// The largest board on a device: the top bit of a word marks fresh boards.
pub const MOST: u32 = 31;

/// Set in the word of free squares until the board itself has been counted.
const FRESH: u32 = 1 << 31;

impl Queens {
    fn intervals(&self) -> IntervalWords {
        IntervalWords(self.n as usize)
    }
}

impl OnDevice for Queens {
    fn layout(&self) -> Layout {
        let (kernel, words) = match self.nodes {
            Nodes::Pool => ("queens", 4),
            Nodes::Interval => ("queens_intervals", self.intervals().words()),
        };
        Layout {
            kernel,
            parallel: None,
            sizes: vec![self.n, self.usual_images() as u32],
            values: Vec::new(),
            nodes: self.nodes,
            words,
            plan: 0,
            // A lane makes one child at a time, and pushes at most one node.
            width: 32,
            depth: self.n as usize,
            tables: Vec::new(),
        }
    }

    fn to_words(&self, work: &[u8], words: &mut Vec<u32>) -> Result<(), Malformed> {
        if self.nodes == Nodes::Interval {
            let valid = |bound| bound == i64::MIN;
            return self.intervals().write(work, &rows::whole(self), valid, words);
        }
        for Entry { node, .. } in read(self, work)?.into_entries() {
            let free = node.free | if node.fresh { FRESH } else { 0 };
            words.extend([node.columns, node.left, node.right, free]);
        }
        Ok(())
    }

    fn to_work(&self, words: &[u32]) -> Work {
        if self.nodes == Nodes::Interval {
            return self.intervals().read(words).to_work();
        }
        let entry = |words: &[u32]| {
            let &[columns, left, right, free] = words else { unreachable!("nodes of four words") };
            let (row, fresh) = (columns.count_ones(), free & FRESH != 0);
            let node = Board { row, columns, left, right, free: free & !FRESH, fresh };
            Entry { bound: i64::MIN, depth: row, share: self.share(row), node }
        };
        Pool::new(words.chunks_exact(4).map(entry).collect()).to_work()
    }

    fn bound(&self, _node: &[u32]) -> i64 {
        i64::MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Level;
    use oorandom::Rand64;
    use pleach_core::search::laws::{mutate, open_work_after};
    use pleach_core::search::problem::Problem;

    /// The nodes of some work, without estimates.
    fn nodes(queens: &Queens, work: &[u8]) -> Vec<Board> {
        read(queens, work).unwrap().into_entries().into_iter().map(|entry| entry.node).collect()
    }

    #[test]
    fn boards_come_back_as_they_went() {
        for n in [1, 2, 5, 12, 31] {
            let queens = Queens::new(n, Level::best()).unwrap();
            for fuel in [0, 1, 7, 3000] {
                let work = open_work_after(&queens, fuel);
                let mut words = Vec::new();
                queens.to_words(&work.bytes, &mut words).unwrap();
                let back = queens.to_work(&words);
                assert_eq!(nodes(&queens, &back.bytes), nodes(&queens, &work.bytes), "{n}");
                assert_eq!((back.size, words.len()), (work.size, 4 * work.size as usize));
            }
        }
    }

    #[test]
    fn hostile_boards_are_refused() {
        let queens = Queens::new(12, Level::Off).unwrap();
        let good = open_work_after(&queens, 500).bytes;
        let mut rng = Rand64::new(1);
        for _ in 0..2000 {
            let bytes = mutate(&good, &mut rng);
            let mut words = Vec::new();
            let taken = queens.to_words(&bytes, &mut words);
            assert_eq!(taken.is_ok(), read(&queens, &bytes).is_ok());
            assert!(taken.is_err() || nodes(&queens, &bytes).len() * 4 == words.len());
        }
    }

    #[test]
    fn what_the_kernel_cannot_do_is_not_offered() {
        let offered = |n, nodes| {
            let queens = Queens { nodes, ..Queens::new(n, Level::Off).unwrap() };
            queens.on_device().is_ok()
        };
        for nodes in Nodes::ALL {
            assert!(offered(31, nodes) && !offered(32, nodes));
        }
    }
}

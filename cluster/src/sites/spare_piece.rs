//! [`SparePiece`]: the work that a gateway holds and does not explore.

use pleach_core::lease::ProgressReport;
use pleach_core::lease::gateway::{LONGEST_PIECE, Portion};
use pleach_core::search::explorer::Explorer;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::{Malformed, Work};
use std::sync::Mutex;

use pleach_runtime::sync::lock;

/// From this share on, a split takes everything.
const ALL: f64 = 0.999;

/// The work that a gateway holds and does not explore.
pub(super) struct SparePiece<'p> {
    held: Box<dyn Explorer + 'p>,
    /// Checks and divides pieces that nobody here works on; empty between calls.
    table: Mutex<Box<dyn Explorer + 'p>>,
    /// The maximum number of bytes that a split should give, and the bytes that a node takes, as far as splits have
    /// shown.
    longest: f64,
    bytes_each: f64,
}

impl<'p> SparePiece<'p> {
    pub fn new(problem: &'p dyn Problem) -> Self {
        let (held, table) = (problem.explorer(), Mutex::new(problem.explorer()));
        Self { held, table, longest: LONGEST_PIECE as f64, bytes_each: 0.0 }
    }

    pub fn size(&self) -> f64 {
        self.held.size()
    }

    pub fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        self.held.add_work(work)
    }

    pub fn copy(&mut self) -> Work {
        self.held.copy()
    }

    pub fn drain(&mut self) -> Work {
        self.held.drain()
    }

    /// Splits off a share: all of the piece, if the share is 1 or the piece cannot be divided; less if that would be too
    /// long for a message.
    pub fn split(&mut self, share: f64) -> Option<Work> {
        let size = self.size();
        let all = share >= ALL || size < 2.0;
        let share = share.min(self.longest / (self.bytes_each * size).max(1.0));
        let part = if size >= 2.0 && share < ALL { self.held.split(share) } else { None };
        let mut given = match part {
            Some(part) => part,
            None if all && size > 0.0 => self.held.drain(),
            None => return None,
        };
        self.bytes_each = given.bytes.len() as f64 / given.size.max(1.0);
        let part = self.longest / given.bytes.len().max(1) as f64;
        if part < 1.0
            && let Some((left, less)) = self.divide_piece(&given, part)
            && self.held.add_work(&left.bytes).is_ok()
        {
            given = less;
        }
        Some(given)
    }

    /// Whether a progress report divides what was given: work from other sites is checked before it is kept.
    pub fn divides(
        &self,
        progress_report: &ProgressReport<Portion<Counts>>,
        given: Option<&Portion<Counts>>,
    ) -> bool {
        progress_report.check_division(&mut **lock(&self.table), given).is_ok()
    }

    /// Divides a piece into the rest and a share.
    pub fn divide_piece(&self, piece: &Work, share: f64) -> Option<(Work, Work)> {
        let mut table = lock(&self.table);
        table.add_work(&piece.bytes).ok()?;
        let given = if table.size() < 2.0 { None } else { table.split(share) };
        let left = table.drain();
        given.map(|given| (left, given))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_core::search::problem::Plain;
    use pleach_core::search::tree::{Children, Goal, Tree};
    use pleach_core::search::work::{Entry, Pool};

    struct Leaves;

    impl Tree for Leaves {
        type Node = u64;
        const GOAL: Goal = Goal::Count;

        fn root(&self) -> u64 {
            0
        }

        fn expand(&self, _: &u64, _: Option<i64>, out: &mut Children<'_, Self>) {
            out.count(1);
        }
    }

    #[test]
    fn long_pieces_are_given_bit_by_bit() {
        let problem = Plain(Leaves);
        let mut spare = SparePiece::new(&problem);
        spare.longest = 5000.0;
        let entry = |node: u64| Entry { node, bound: 0, depth: 0, share: 1.0 };
        let all = Pool::new((0..10_000).map(entry).collect()).to_work();
        let each = all.bytes.len() as f64 / all.size;
        spare.add_work(&all.bytes).unwrap();
        let mut nodes = Vec::new();
        while let Some(given) = spare.split(1.0) {
            assert!(given.bytes.len() as f64 <= 5000.0 + 2.0 * each, "{}", given.bytes.len());
            let given = Pool::<u64>::from_bytes(&given.bytes).unwrap();
            nodes.extend(given.entries().iter().map(|entry| entry.node));
        }
        nodes.sort_unstable();
        assert!(nodes.into_iter().eq(0..10_000));
    }
}

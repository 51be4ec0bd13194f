//! [`Checked`]: the default explorer, but for boards that nobody can have made.

use super::{Board, Queens};
use pleach_core::explorer::{Explorer, Progress, TreeExplorer};
use pleach_core::work::{Malformed, Pool, Work};

/// Explores the plain tree, and refuses what the fast explorers refuse.
pub struct Checked<'q> {
    queens: &'q Queens,
    inner: TreeExplorer<'q, Queens>,
}

impl<'q> Checked<'q> {
    /// An explorer with nothing to do yet.
    pub fn new(queens: &'q Queens) -> Self {
        Self { queens, inner: TreeExplorer::new(queens) }
    }
}

/// Reads boards that anyone may have sent.
pub fn read(queens: &Queens, work: &[u8]) -> Result<Pool<Board>, Malformed> {
    let pool = Pool::<Board>::from_bytes(work)?;
    let right = pool.entries().iter().all(|entry| {
        entry.bound == i64::MIN && entry.depth == entry.node.row && queens.valid(&entry.node)
    });
    if right { Ok(pool) } else { Err(Malformed::Range) }
}

impl Explorer for Checked<'_> {
    fn put(&mut self, work: &[u8]) -> Result<(), Malformed> {
        self.inner.put_pool(read(self.queens, work)?);
        Ok(())
    }

    fn size(&self) -> f64 {
        self.inner.size()
    }

    fn least_bound(&self) -> Option<i64> {
        self.inner.least_bound()
    }

    fn open_share(&self) -> Option<f64> {
        self.inner.open_share()
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        self.inner.run(fuel, best)
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        self.inner.split(share)
    }

    fn drain(&mut self) -> Work {
        self.inner.drain()
    }
}

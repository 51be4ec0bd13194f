//! [`SparePiece`]: the work that a gateway holds and does not explore.

use pleach_core::search::explorer::Explorer;
use pleach_core::search::problem::Problem;
use pleach_core::search::work::{Malformed, Work};
use std::sync::Mutex;

use pleach_runtime::sync::lock;

/// From this share on, a split takes everything.
const ALL: f64 = 0.999;

/// The work that a gateway holds and does not explore.
pub(super) struct SparePiece<'p> {
    held: Box<dyn Explorer + 'p>,
    /// Divides pieces that nobody here works on; empty between calls.
    table: Mutex<Box<dyn Explorer + 'p>>,
}

impl<'p> SparePiece<'p> {
    pub fn new(problem: &'p dyn Problem) -> Self {
        Self { held: problem.explorer(), table: Mutex::new(problem.explorer()) }
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

    /// Splits off a share: all of the piece, if the share is 1 or the piece cannot be divided.
    pub fn split(&mut self, share: f64) -> Option<Work> {
        let size = self.size();
        if size >= 2.0 && share < ALL {
            return self.held.split(share);
        }
        (size > 0.0).then(|| self.held.drain())
    }

    /// Whether a piece can be read: work from other sites is checked before it is kept.
    pub fn can_read(&self, piece: &Work) -> bool {
        let mut table = lock(&self.table);
        let read = table.add_work(&piece.bytes).is_ok();
        // Empty it again, even if only a part was read.
        table.drain();
        read
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

//! The n-queens problem: in how many ways n queens fit on an n × n board, none attacking another.

mod device;
mod estimate;
#[cfg(target_arch = "x86_64")]
mod explorer;
pub mod first;
#[cfg(test)]
mod interval_tests;
#[cfg(target_arch = "x86_64")]
pub(crate) mod layer;
mod rows;
#[cfg(test)]
mod tests;
mod tree;

pub use tree::{Board, Queens, SIZES};

use crate::simd::Level;
#[cfg(target_arch = "x86_64")]
use crate::simd::{queens_avx2, queens_avx512};
use pleach_core::search::depth_first::TreeExplorer;
use pleach_core::search::device::OnDevice;
use pleach_core::search::explorer::Explorer;
use pleach_core::search::problem::Problem;
use pleach_core::search::ranked::RankedExplorer;
use pleach_core::search::seed::Top;
use pleach_core::search::tree::{Goal, Tree};
use pleach_core::search::work::{Intervals, Nodes, Pool, Work};
use pleach_core::wire::fingerprint;

impl Queens {
    /// The problem with an n × n board.
    ///
    /// # Errors
    /// If n is outside [`SIZES`].
    pub fn new(n: u32, level: Level) -> Result<Self, String> {
        if !SIZES.contains(&n) {
            let (least, most) = (SIZES.start(), SIZES.end());
            return Err(format!("queens {n}: expected a board of {least} to {most} queens"));
        }
        let (nodes, shares) = (Nodes::Pool, estimate::NONE);
        let mut queens = Self { n, level, nodes, whole: false, shares };
        queens.shares = estimate::shares(&queens);
        Ok(queens)
    }
}

impl Problem for Queens {
    fn goal(&self) -> Goal {
        Self::GOAL
    }

    fn root(&self) -> Work {
        match self.nodes {
            Nodes::Pool => Pool::whole(Tree::root(self)).to_work(),
            Nodes::Interval => Intervals::one(self.n as usize, rows::whole(self)).to_work(),
        }
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        if self.nodes == Nodes::Interval {
            return Box::new(RankedExplorer::new(rows::Rows::new(self)));
        }
        self.fast().unwrap_or_else(|| Box::new(TreeExplorer::new(self)))
    }

    fn on_device(&self) -> Result<&dyn OnDevice, &'static str> {
        if self.n > device::MOST {
            return Err("boards of more than 31 queens");
        }
        Ok(self)
    }

    fn top(&self) -> Option<&dyn Top> {
        (self.nodes == Nodes::Pool).then_some(self as &dyn Top)
    }

    fn check(&self, _solution: &[i64]) -> Option<Result<i64, String>> {
        None
    }

    fn fingerprint(&self) -> u64 {
        let name = if self.whole { "whole queens" } else { "queens" };
        fingerprint(name, &(self.n, self.nodes.to_string().into_bytes()))
    }
}

/// Smaller boards cannot fill the lanes.
const WIDE_FROM: u32 = 8;

impl Queens {
    /// The vectorised explorer for the level, if there is one.
    fn fast(&self) -> Option<Box<dyn Explorer + '_>> {
        match self.level {
            _ if self.n < WIDE_FROM => None,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => self.wide(queens_avx2::Words32::new()?),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 if self.n <= 16 => self.wide(queens_avx512::Words16::new()?),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => self.wide(queens_avx512::Words32::new()?),
            _ => None,
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn wide(&self, kernel: impl layer::Kernel + 'static) -> Option<Box<dyn Explorer + '_>> {
        Some(Box::new(explorer::Wide::new(self, kernel)))
    }
}

//! Unbalanced Tree Search (UTS, Olivier et al. 2006): counts trees whose shape is given by hashing.

pub(crate) mod columns;
mod device;
pub mod parameters;
mod read;
pub(crate) mod rules;
pub mod sha1;
mod tree;
pub(crate) mod wide;

pub use tree::{Node, Uts};

use crate::simd::Level;
#[cfg(target_arch = "x86_64")]
use crate::simd::{uts_avx512::WideKernel, uts_sha::ShaKernel};
use pleach_core::search::depth_first::TreeExplorer;
use pleach_core::search::device::OnDevice;
use pleach_core::search::explorer::Explorer;
use pleach_core::search::problem::Problem;
use pleach_core::search::seed::Top;
use pleach_core::search::tree::{Goal, Tree};
use pleach_core::search::work::{Pool, Work};
use pleach_core::wire::fingerprint;
use wide::Wide;

impl Problem for Uts {
    fn goal(&self) -> Goal {
        Self::GOAL
    }

    fn root(&self) -> Work {
        Pool::whole(Tree::root(self)).to_work()
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        #[cfg(target_arch = "x86_64")]
        match self.level {
            Level::Avx512 => {
                if let Some(kernel) = WideKernel::new(&self.rules, self.parameters.g) {
                    return Box::new(Wide::new(self, kernel));
                }
            }
            Level::Avx2 => {
                if let Some(kernel) = ShaKernel::new(&self.rules, self.parameters.g) {
                    return Box::new(Wide::new(self, kernel));
                }
            }
            Level::Off => {}
        }
        Box::new(TreeExplorer::new(self))
    }

    fn on_device(&self) -> Result<&dyn OnDevice, &'static str> {
        self.fits_device().map(|()| self as &dyn OnDevice)
    }

    fn top(&self) -> Option<&dyn Top> {
        Some(self)
    }

    fn check(&self, _solution: &[i64]) -> Option<Result<i64, String>> {
        None
    }

    fn fingerprint(&self) -> u64 {
        fingerprint("uts", &format!("{:?}", self.parameters).into_bytes())
    }
}

#[cfg(test)]
mod tests;

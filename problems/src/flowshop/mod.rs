//! The permutation flowshop with makespan objective.

pub mod bound;
pub mod branching;
pub mod child_order;
mod code_path;
mod device;
mod evaluate;
mod explorer;
mod frame;
pub mod heuristic;
pub mod instance;
mod interval;
#[cfg(test)]
mod interval_tests;
pub(crate) mod johnson;
pub(crate) mod kernel;
mod lb2;
mod lb2_payoff;
pub mod named;
pub mod no_wait;
mod node;
pub mod read;
pub mod shop;
pub(crate) mod tables;
#[cfg(test)]
mod tests;
mod tree;
pub mod variant;

pub use node::Node;
pub use tree::Flowshop;

use bound::Bound;
use child_order::ChildOrder;
use evaluate::BatchFlowshop;
use heuristic::Together;
use pleach_core::search::device::OnDevice;
use pleach_core::search::evaluate::{Evaluation, HostSearch};
use pleach_core::search::explorer::Explorer;
use pleach_core::search::problem::Problem;
use pleach_core::search::seed::Top;
use pleach_core::search::tree::{Goal, Improver, Tree};
use pleach_core::search::work::{Entry, Interval, Intervals, Nodes, Pool, Work};
use pleach_core::wire::fingerprint;
use std::sync::atomic::Ordering;

impl Problem for Flowshop {
    fn goal(&self) -> Goal {
        if self.all { Goal::Count } else { Self::GOAL }
    }

    fn root(&self) -> Work {
        if self.nodes == Nodes::Interval {
            let jobs = self.instance.jobs();
            return Intervals::one(jobs, Interval::whole(jobs)).to_work();
        }
        // Bounds other than `auto` always branch the root, so that the tree is always the same.
        let bound = if self.bound == Bound::Auto { self.root_bound() } else { i64::MIN };
        let node = Tree::root(self);
        Pool::new(vec![Entry { bound, depth: 0, share: 1.0, node }]).to_work()
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        explorer::explorer(self)
    }

    fn on_device(&self) -> Result<&dyn OnDevice, &'static str> {
        self.fits_device().map(|()| self as &dyn OnDevice)
    }

    fn evaluation(&self) -> Result<Box<dyn HostSearch + '_>, &'static str> {
        self.fits_evaluation()
            .map(|()| Box::new(Evaluation::new(BatchFlowshop::new(self))) as Box<dyn HostSearch>)
    }

    fn top(&self) -> Option<&dyn Top> {
        (self.nodes == Nodes::Pool).then_some(self as &dyn Top)
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        Tree::check(self, solution)
    }

    fn fingerprint(&self) -> u64 {
        let jobs = 0..self.instance.jobs();
        let times: Vec<u32> = jobs.flat_map(|job| self.instance.job(job)).copied().collect();
        let (bound, branching, nodes) = (self.bounding(), self.branching, self.nodes);
        let mut names = format!("{bound} {branching} {nodes}");
        if self.order == ChildOrder::Job {
            names += " by job";
        }
        let names = names.into_bytes();
        fingerprint("flowshop", &(self.instance.jobs(), times, names, self.reference, self.all))
    }

    fn set_stop_requested(&self, requested: bool) {
        self.stop_requested.store(requested, Ordering::Relaxed);
    }

    fn least_score(&self) -> i64 {
        self.root_bound()
    }

    fn improver(&self, seed: u64) -> Option<Box<dyn Improver + '_>> {
        let together = || Together::beside(self, self.start.as_deref(), seed);
        (self.instance.jobs() > 1).then(|| Box::new(together()) as Box<dyn Improver>)
    }

    fn favours_improver(&self) -> bool {
        self.is_large()
    }
}

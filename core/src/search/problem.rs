//! [`Problem`]: the interface of a problem to a run, on any executor.

use crate::search::best_first::BestFirst;
use crate::search::depth_first::TreeExplorer;
use crate::search::device::OnDevice;
use crate::search::evaluate::HostSearch;
use crate::search::explorer::Explorer;
use crate::search::layers::Layered;
use crate::search::sample;
use crate::search::seed::Top;
use crate::search::tree::{Goal, Improver, Tree};
use crate::search::work::{Pool, Work};
use crate::wire::fingerprint;

/// A problem with the explorers that suit it.
pub trait Problem: Sync {
    /// What the search is for.
    fn goal(&self) -> Goal;

    /// The whole tree as one piece of work.
    fn root(&self) -> Work;

    /// A new explorer without work.
    fn explorer(&self) -> Box<dyn Explorer + '_>;

    /// A new explorer without work that explores the nodes with the best bounds first, if the problem has one.
    fn best_first(&self) -> Option<Box<dyn Explorer + '_>> {
        None
    }

    /// The tree if its top can be explored by itself, as it can where work is open nodes.
    fn top(&self) -> Option<&dyn Top> {
        None
    }

    /// How a device explores the problem.
    ///
    /// # Errors
    /// Names the part of the problem that has no kernel.
    fn on_device(&self) -> Result<&dyn OnDevice, &'static str> {
        Err("this problem")
    }

    /// A search on the host, without work, whose nodes a device bounds.
    ///
    /// # Errors
    /// Names the part of the problem that has no kernel.
    fn evaluation(&self) -> Result<Box<dyn HostSearch + '_>, &'static str> {
        Err("the rules of this problem")
    }

    /// The tree, if it can be searched by layers.
    fn layers(&self) -> Option<&dyn Layered> {
        None
    }

    /// The number of decimals of real values; see [`Tree::decimals`].
    fn decimals(&self) -> u32 {
        0
    }

    /// Recomputes a solution's value from the problem alone; `None` if the problem has no check.
    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>>;

    /// The fingerprint of everything that the search tree depends on: checkpoints and messages with another fingerprint
    /// are refused. It must not be 0. [`crate::wire::fingerprint`] computes one.
    fn fingerprint(&self) -> u64;

    /// The fingerprint for a search that begins. If it is computed from a sample, `keep_going` may end the sample early.
    fn new_fingerprint(&self, _keep_going: &dyn Fn() -> bool) -> u64 {
        self.fingerprint()
    }

    /// Whether this is the fingerprint of this tree, computed from a sample of the same size if necessary.
    fn has_fingerprint(&self, print: u64) -> bool {
        self.fingerprint() == print
    }

    /// The least score that any solution can have, as far as known without searching.
    fn least_score(&self) -> i64 {
        i64::MIN
    }

    /// Notes whether the run is waiting to stop: long computations may then be abandoned.
    fn set_stop_requested(&self, _requested: bool) {}

    /// A heuristic that looks for good solutions alongside the search, if the problem has one.
    fn improver(&self, _seed: u64) -> Option<Box<dyn Improver + '_>> {
        None
    }

    /// Whether the heuristic should have most of the time of all workers: no search can finish.
    fn favours_improver(&self) -> bool {
        false
    }
}

/// Any [`Tree`] as a problem, explored by the default explorer.
pub struct Plain<T>(pub T);

impl<T: Tree> Plain<T> {
    /// The tree's own fingerprint, if it has one, together with what its values mean. Elsewhere, 0 marks a missing
    /// fingerprint.
    fn own_fingerprint(&self) -> Option<u64> {
        let own = self.0.fingerprint()?;
        Some(fingerprint("own", &(T::GOAL as u8, self.0.decimals(), own)).max(1))
    }
}

impl<T: Tree> Problem for Plain<T> {
    fn goal(&self) -> Goal {
        T::GOAL
    }

    fn root(&self) -> Work {
        Pool::whole(self.0.root()).to_work()
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        self.0.own_explorer().unwrap_or_else(|| Box::new(TreeExplorer::new(&self.0)))
    }

    fn best_first(&self) -> Option<Box<dyn Explorer + '_>> {
        let optimises = matches!(T::GOAL, Goal::Minimise | Goal::Maximise);
        optimises.then(|| Box::new(BestFirst::new(&self.0)) as _)
    }

    fn top(&self) -> Option<&dyn Top> {
        Some(&self.0)
    }

    fn layers(&self) -> Option<&dyn Layered> {
        matches!(T::GOAL, Goal::Minimise | Goal::Maximise).then_some(&self.0)
    }

    fn decimals(&self) -> u32 {
        self.0.decimals()
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        self.0.check(solution)
    }

    fn fingerprint(&self) -> u64 {
        self.new_fingerprint(&|| true)
    }

    fn new_fingerprint(&self, keep_going: &dyn Fn() -> bool) -> u64 {
        let sampled = || sample::print(&self.0, sample::MOST, keep_going);
        self.own_fingerprint().unwrap_or_else(sampled)
    }

    fn has_fingerprint(&self, print: u64) -> bool {
        let same = || sample::print(&self.0, sample::size(print), &|| true) == print;
        self.own_fingerprint().map_or_else(same, |own| own == print)
    }

    fn set_stop_requested(&self, requested: bool) {
        self.0.set_stop_requested(requested);
    }

    fn improver(&self, seed: u64) -> Option<Box<dyn Improver + '_>> {
        self.0.improver(seed)
    }
}

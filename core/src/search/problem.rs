//! [`Problem`]: what a run needs to know of a problem, on any executor.

use crate::search::device::OnDevice;
use crate::search::evaluate::HostSearch;
use crate::search::explorer::{Explorer, TreeExplorer};
use crate::search::sample;
use crate::search::seed::Top;
use crate::search::tree::{Goal, Solution, Tree};
use crate::search::work::{Pool, Work};

/// A problem with the explorers that suit it.
pub trait Problem: Sync {
    /// What the search is for.
    fn goal(&self) -> Goal;

    /// The whole tree as one piece of work.
    fn root(&self) -> Work;

    /// A new explorer, with nothing to do yet.
    fn explorer(&self) -> Box<dyn Explorer + '_>;

    /// The tree, where its top can be explored by itself: where work is open nodes.
    fn top(&self) -> Option<&dyn Top> {
        None
    }

    /// How a device explores it.
    ///
    /// # Errors
    /// For which part of the problem there is no kernel.
    fn on_device(&self) -> Result<&dyn OnDevice, &'static str> {
        Err("this problem")
    }

    /// A search on the host whose nodes a device bounds, with nothing to do yet.
    ///
    /// # Errors
    /// For which part of the problem there is no kernel.
    fn evaluation(&self) -> Result<Box<dyn HostSearch + '_>, &'static str> {
        Err("the rules of this problem")
    }

    /// Computes a solution's value again, from the problem alone, where the problem can.
    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>>;

    /// The print of all that the search tree depends on: checkpoints and messages of a search with
    /// another one are refused. [`crate::wire::fingerprint`] makes one.
    fn fingerprint(&self) -> u64;

    /// The same, for a search that begins. What is printed by a sample ends it as soon as it should.
    fn new_fingerprint(&self, _go_on: &dyn Fn() -> bool) -> u64 {
        self.fingerprint()
    }

    /// Whether this is the print of this tree, if need be by a sample of the same size.
    fn has_fingerprint(&self, print: u64) -> bool {
        self.fingerprint() == print
    }

    /// The least score that any solution can have, as far as is known without searching.
    fn least_score(&self) -> i64 {
        i64::MIN
    }

    /// Says whether a run waits to stop: what takes long may be left as it is.
    fn set_stop_requested(&self, _requested: bool) {}

    /// Something that looks for good solutions beside the search, if the problem has such.
    fn improver(&self, _seed: u64) -> Option<Box<dyn Improver + '_>> {
        None
    }
}

/// A heuristic that a unit runs beside its search.
pub trait Improver {
    /// Tries for a short while; the best solution so far, if that is a new one.
    fn improve(&mut self) -> Option<Solution>;
}

/// Any [`Tree`] as a problem, explored by the default explorer.
pub struct Plain<T>(pub T);

impl<T: Tree> Problem for Plain<T> {
    fn goal(&self) -> Goal {
        T::GOAL
    }

    fn root(&self) -> Work {
        Pool::whole(self.0.root()).to_work()
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(TreeExplorer::new(&self.0))
    }

    fn top(&self) -> Option<&dyn Top> {
        Some(&self.0)
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        self.0.check(solution)
    }

    fn fingerprint(&self) -> u64 {
        self.new_fingerprint(&|| true)
    }

    fn new_fingerprint(&self, go_on: &dyn Fn() -> bool) -> u64 {
        self.0.fingerprint().unwrap_or_else(|| sample::print(&self.0, sample::MOST, go_on))
    }

    fn has_fingerprint(&self, print: u64) -> bool {
        let same = || sample::print(&self.0, sample::size(print), &|| true) == print;
        self.0.fingerprint().map_or_else(same, |own| own == print)
    }

    fn set_stop_requested(&self, requested: bool) {
        self.0.set_stop_requested(requested);
    }
}

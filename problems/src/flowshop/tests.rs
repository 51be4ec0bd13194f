//! Flowshop against published trees and brute force, on every code path.

use super::bound::Bound;
use super::branching::Branching;
use super::instance::Instance;
use super::named::{best_known, named};
use super::Flowshop;
use crate::simd::Level;

use pleach_core::explorer::{Progress, TreeExplorer};
use pleach_core::laws::{explorer_law, hostile_law, run_to_end};
use pleach_core::problem::Problem;
use pleach_core::tree::Tree;
use pleach_core::work::Pool;

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.works())
}

fn from_optimum(name: &str, branching: Branching, level: Level) -> Flowshop {
    let mut flowshop = Flowshop::new(named(name).unwrap(), level);
    flowshop.branching = branching;
    flowshop.reference = best_known(name).unwrap().0;
    flowshop
}

fn search(flowshop: &Flowshop, best: i64) -> Progress {
    let mut explorer = flowshop.explorer();
    explorer.put(&Problem::root(flowshop).bytes).unwrap();
    run_to_end(&mut *explorer, best)
}

#[test]
fn min_branch_trees_are_those_published() {
    let flowshop = from_optimum("ta030", Branching::MinBranch, Level::best());
    let whole = search(&flowshop, 2178);
    assert_eq!(whole.found, None);
    assert_eq!((whole.counts.branched, whole.counts.bounded), (2_415_779, 45_246_962));
}

#[test]
fn forward_trees_are_those_published() {
    for (name, kept) in [("ta002", 30), ("ta007", 271_602), ("ta004", 1_163_892)] {
        for level in levels().filter(|_| kept < 1_000_000) {
            let flowshop = from_optimum(name, Branching::Forward, level);
            let whole = search(&flowshop, flowshop.reference);
            assert_eq!(whole.counts.branched, kept + 1, "{name} {level}");
        }
    }
}

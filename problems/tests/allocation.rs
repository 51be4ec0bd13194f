//! Searching an interval allocates nothing, whatever the number of nodes.

use pleach_core::search::explorer::Explorer;
use pleach_core::search::laws::full_explorer;
use pleach_core::search::work::Nodes;
use pleach_problems::flowshop::Flowshop;
use pleach_problems::flowshop::bound::Bound;
use pleach_problems::flowshop::named::{best_known, named};
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;

/// Allocations during a run with this much fuel.
fn allocations(explorer: &mut dyn Explorer, fuel: u64, best: i64) -> u64 {
    let mut used = 0;
    let info = allocation_counter::measure(|| used = explorer.run(fuel, best).used);
    assert!(used >= fuel, "the tree ended after {used} nodes");
    info.count_total
}

#[test]
fn a_warm_search_of_an_interval_allocates_nothing() {
    // The tight bound is left out: it collects the jobs left of each node, also with pools.
    for bound in [Bound::One, Bound::Two] {
        let mut flowshop = Flowshop::new(named("ta021").unwrap(), Level::best());
        let (best, _) = best_known("ta021").unwrap();
        (flowshop.bound, flowshop.reference, flowshop.nodes) = (bound, best, Nodes::Interval);
        let mut explorer = full_explorer(&flowshop);
        explorer.run(1_000_000, best);
        let fuel = if bound == Bound::One { 5_000_000 } else { 500_000 };
        assert_eq!(allocations(&mut *explorer, fuel, best), 0, "{bound}");
    }
    let mut queens = Queens::new(16, Level::best()).unwrap();
    queens.nodes = Nodes::Interval;
    let mut explorer = full_explorer(&queens);
    assert!(explorer.run(1000, i64::MAX).used >= 1000);
    assert_eq!(allocations(&mut *explorer, 5_000_000, i64::MAX), 0);
}

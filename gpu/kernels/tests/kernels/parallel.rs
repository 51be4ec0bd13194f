//! Intervals with parallel bounding: a warp for each explorer, with both bounds, and the same intervals as on the CPU.

use crate::intervals::{Use, explore_by, uses};
use crate::{flowshop, on_cpu, on_cpu_from};
use oorandom::Rand64;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::interval::point;
use pleach_core::search::work::{Interval, Intervals, Nodes};
use pleach_kernels::launch::{KernelEntry, explorers_per_block};
use pleach_problems::flowshop::Flowshop;
use pleach_problems::flowshop::bound::Bound;
use pleach_problems::flowshop::branching::Branching;
use pleach_problems::flowshop::child_order::ChildOrder;
use pleach_problems::flowshop::instance::Instance;
use pleach_problems::simd::Level;

const PARALLEL: &str = "flowshop_parallel";
const ALONE: &str = "flowshop_intervals";
const BOUNDS: [Bound; 2] = [Bound::One, Bound::Two];

fn any_use(rng: &mut Rand64) -> Use {
    let ways: Vec<Use> = uses().filter(|how| how.explorers < 300).collect();
    ways[rng.rand_range(0..ways.len() as u64) as usize]
}

/// From its optimum, or `None` if the tree is too large.
fn small(rng: &mut Rand64, case: usize) -> (Flowshop, i64) {
    let (jobs, machines) = (1 + rng.rand_range(0..11), 1 + rng.rand_range(0..20));
    let spread = [2, 10, 100, 2500][case % 4];
    let mut problem = Flowshop::new(flowshop::random(rng, jobs, machines, spread), Level::Off);
    let optimum = on_cpu(&problem, i64::MAX).found.unwrap().score;
    (problem.reference, problem.nodes) = (optimum, Nodes::Interval);
    problem.order = ChildOrder::ALL[case / 4 % 2];
    (problem, optimum)
}

/// By every branching rule and both bounds and orders, from the optimum, and from scratch.
#[test]
fn schedules_are_searched_as_on_the_cpu() {
    let mut rng = Rand64::new(31);
    let (mut nodes, mut compared) = (0, 0);
    for case in 0..24 {
        let (mut problem, optimum) = small(&mut rng, case);
        for (bound, branching) in
            BOUNDS.into_iter().flat_map(|bound| Branching::ALL.map(|branching| (bound, branching)))
        {
            (problem.bound, problem.branching) = (bound, branching);
            let Some(wanted) = flowshop::on_cpu_within(&problem, optimum, 3000) else { continue };
            let how = any_use(&mut rng);
            let explored = explore_by(PARALLEL, (&problem, &problem.root()), how, optimum);
            assert_eq!(explored.counts, wanted, "case {case}, {bound:?}, {branching}, {how:?}");
            assert_eq!(explored.found, None);
            (nodes, compared) = (nodes + wanted.branched, compared + 1);
        }
        if problem.root_bound() < optimum {
            problem.branching = Branching::MinBranch;
            let how = any_use(&mut rng);
            let root = problem.root();
            let found = explore_by(PARALLEL, (&problem, &root), how, i64::MAX).found.unwrap();
            assert_eq!(found.score, optimum, "case {case}, {how:?}");
            assert_eq!(Problem::check(&problem, &found.solution), Some(Ok(optimum)), "{how:?}");
        }
    }
    assert!(nodes > 4000 && compared > 200, "{nodes} nodes in {compared} trees");
}

/// Wherever a tree is cut, the part explored on the CPU and the part explored on the device make up the whole: both
/// rank children alike, by bound even where bounds were not fully computed, and by job.
#[test]
fn host_and_device_agree_on_intervals() {
    let mut rng = Rand64::new(32);
    let mut compared = 0;
    for case in 0..40 {
        let (mut problem, optimum) = small(&mut rng, case);
        let n = problem.instance().jobs();
        problem.bound = BOUNDS[case / 2 % 2];
        problem.branching = Branching::ALL[case % Branching::ALL.len()];
        let Some(wanted) = flowshop::on_cpu_within(&problem, optimum, 3000) else { continue };
        let leaves: u128 = (1..=n as u128).product();
        if leaves < 2 || wanted.branched < 2 {
            continue;
        }
        let kernels =
            if problem.bound == Bound::One { &[PARALLEL, ALONE][..] } else { &[PARALLEL] };
        // By bound, most of the tree is at the beginning, because children are sorted.
        for cut in [leaves / 2, leaves / 5, leaves / 50, leaves / 700, leaves / 9000] {
            let cut = cut.max(1);
            let part = |from, upto| {
                let (begin, end) = (point(n, from), point(n, upto));
                Intervals::one(n, Interval { begin, end, bound: i64::MIN }).to_work()
            };
            for &kernel in kernels {
                let how = any_use(&mut rng);
                let on_device = explore_by(kernel, (&problem, &part(cut, leaves)), how, optimum);
                let mut counts: Counts = on_cpu_from(&problem, &part(0, cut), optimum).counts;
                counts.add(&on_device.counts);
                assert_eq!(counts, wanted, "{kernel}, case {case} cut at {cut}, {how:?}");
                compared += u32::from(on_device.counts.branched > 0);
            }
        }
    }
    assert!(compared > 30, "{compared} parts were not empty");
}

/// With the sizes of an instance compiled in, one and two jobs a lane.
#[test]
fn sized_kernels_agree() {
    let mut rng = Rand64::new(33);
    for (kernel, jobs, machines, bound, order) in [
        ("flowshop_parallel 9 6 4 15 0", 9, 6, Bound::Two, ChildOrder::Bound),
        ("flowshop_parallel 9 6 4 15 1", 9, 6, Bound::Two, ChildOrder::Job),
        ("flowshop_parallel 34 10 4 0 0", 34, 10, Bound::One, ChildOrder::Bound),
        ("flowshop_parallel 34 10 4 0 1", 34, 10, Bound::One, ChildOrder::Job),
        ("flowshop_intervals 9 6 4 0 1", 9, 6, Bound::One, ChildOrder::Job),
    ] {
        let mut nodes = 0;
        for _ in 0..4 {
            let times = (0..jobs * machines).map(|_| rng.rand_range(1..60) as u32).collect();
            let mut problem = Flowshop::new(Instance::new(machines, times).unwrap(), Level::Off);
            (problem.bound, problem.order, problem.nodes) = (bound, order, Nodes::Interval);
            let best = match jobs {
                9 => on_cpu(&problem, i64::MAX).found.unwrap().score,
                _ => problem.root_bound() + 3,
            };
            problem.reference = best;
            let Some(wanted) = flowshop::on_cpu_within(&problem, best, 20_000) else { continue };
            for kernel in [kernel, kernel.split(' ').next().unwrap()] {
                let how = any_use(&mut rng);
                let explored = explore_by(kernel, (&problem, &problem.root()), how, best);
                assert_eq!(explored.counts, wanted, "{kernel}, {how:?}");
            }
            nodes += wanted.bounded;
        }
        assert!(nodes > 500, "{kernel}: {nodes} nodes");
    }
}

/// A warp for each explorer, but only while it explores.
#[test]
fn an_explorer_is_a_warp() {
    let of = |entry| explorers_per_block(PARALLEL, entry);
    let all: Vec<u32> = KernelEntry::of(PARALLEL).iter().map(|&entry| of(entry)).collect();
    assert_eq!(all, [4, 128, 128, 128]);
    assert_eq!(explorers_per_block("flowshop_intervals", KernelEntry::Explore), 128);
    assert_eq!(explorers_per_block("flowshop_parallel 9 6 4 15 0", KernelEntry::Explore), 4);
}

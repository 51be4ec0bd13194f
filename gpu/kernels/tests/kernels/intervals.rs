//! Tests intervals on the emulated device: counts, whatever the launches, and who takes from whom.

use crate::device::run;
use crate::{atsp, flowshop, on_cpu};
use oorandom::Rand64;
use pleach_core::search::device::{IntervalWords, Layout, OnDevice};
use pleach_core::search::explorer::Progress;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::interval::point;
use pleach_core::search::work::{Interval, Intervals, Nodes, Work};
use pleach_kernels::launch::{
    FOUND, KernelEntry, Launch, LaunchReport, Move, ONE_LEAF, StealRule, height, least_leaves,
};
use pleach_problems::flowshop::Flowshop;
use pleach_problems::flowshop::bound::Bound;
use pleach_problems::flowshop::branching::Branching;
use pleach_problems::flowshop::child_order::ChildOrder;
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;

/// How the device is used.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub explorers: usize,
    active: usize,
    budget: u32,
    trigger: u32,
    rule: StealRule,
    width: u32,
    /// Whether only intervals longer than the mean are divided.
    longer: bool,
    seed: u64,
}

/// The memory of an emulated device.
struct Device {
    layout: Layout,
    how: Use,
    pages: Vec<u32>,
    heights: Vec<u32>,
    /// Reports need this alignment.
    said: Vec<u64>,
    found: Vec<u32>,
    best: i64,
    report: LaunchReport,
    launches: u64,
}

impl Device {
    fn new(problem: &dyn OnDevice, how: Use, best: i64) -> Self {
        let mut layout = problem.layout();
        layout.tables.push(0);
        let n = how.explorers;
        Self {
            // Garbage in places without an interval.
            pages: vec![0xdead_beef; n * layout.words],
            heights: vec![0; n],
            said: vec![0; LaunchReport::WORDS / 2],
            found: vec![0; n * (FOUND + layout.plan)],
            report: LaunchReport::default(),
            launches: 0,
            best,
            layout,
            how,
        }
    }

    fn leaves(&self) -> f64 {
        self.heights.iter().map(|&height| least_leaves(height)).sum()
    }

    fn launch(
        &mut self,
        entry: KernelEntry,
        round: u32,
        moves: &mut [Move],
        moved: &mut [u32],
        leave: bool,
    ) {
        self.launches += 1;
        self.said.fill(0);
        self.said[0] = self.best as u64;
        let mean = if self.how.longer { self.leaves() / self.how.active as f64 } else { 0.0 };
        let unused = [0_u32; 4];
        let nothing = unused.as_ptr() as u64;
        let record = Launch {
            pages: self.pages.as_mut_ptr() as u64,
            rings: nothing,
            stacks: nothing,
            heights: self.heights.as_mut_ptr() as u64,
            report: self.said.as_mut_ptr() as u64,
            found: self.found.as_mut_ptr() as u64,
            tables: self.layout.tables.as_ptr() as u64,
            free: nothing,
            moves: moves.as_mut_ptr() as u64,
            moved: moved.as_mut_ptr() as u64,
            explorers: self.how.explorers as u32,
            active: self.how.active as u32,
            span: 4,
            budget: self.how.budget,
            trigger: self.how.trigger,
            steal_rule: self.how.rule as u32,
            round,
            width: self.how.width.min(self.how.explorers as u32),
            least: height(mean).max(ONE_LEAF),
            leave: leave.into(),
            sizes: self.layout.constants(),
            ..Launch::default()
        };
        run(self.layout.kernel, entry, &record, self.how.seed + 1000 * self.launches).unwrap();
        let two = |two: &u64| [*two as u32, (*two >> 32) as u32];
        let words: Vec<u32> = self.said.iter().flat_map(two).collect();
        self.report = LaunchReport::read(words.first_chunk().unwrap());
        self.best = self.report.best;
    }

    fn kernel(&mut self, entry: KernelEntry, round: u32) {
        self.launch(entry, round, &mut [Move::default()], &mut [0], false);
    }

    /// Gives an interval to each of these explorers.
    fn put(&mut self, words: &[u32], to: &[usize]) {
        let mut moves = vec![Move::default(); self.how.explorers];
        to.iter()
            .enumerate()
            .for_each(|(at, &i)| moves[i] = Move { nodes: 1, at: at as u32, ..moves[i] });
        self.launch(KernelEntry::Put, 0, &mut moves, &mut words.to_vec(), false);
        assert!(to.iter().all(|&i| moves[i].done == 1 && self.heights[i] != 0));
    }

    /// All intervals.
    fn take(&mut self, leave: bool) -> Intervals {
        let mut at = 0;
        let planned = |&height: &u32| {
            let nodes = u32::from(height != 0);
            at += nodes;
            Move { nodes, at: at - nodes, ..Move::default() }
        };
        let mut moves: Vec<Move> = self.heights.iter().map(planned).collect();
        let size = at as usize * self.layout.words;
        let mut moved = vec![0; size + 1];
        self.launch(KernelEntry::Take, 0, &mut moves, &mut moved, leave);
        let all = IntervalWords(self.layout.depth).read(&moved[..size]);
        assert!(leave || self.heights.iter().all(|&height| height == 0));
        all
    }

    fn balance(&mut self) {
        for round in 0..self.how.rule.rounds(self.how.explorers as u32) {
            self.kernel(KernelEntry::Balance, round);
        }
    }
}

/// Explores a problem's whole tree, all of it given to the last explorer that takes part.
fn explore(problem: &dyn Problem, how: Use, best: i64) -> Progress {
    let layout = problem.on_device().expect("the problem has a kernel").layout();
    explore_by(layout.kernel, (problem, &problem.root()), how, best)
}

/// Explores an interval by this kernel.
pub fn explore_by(
    kernel: &'static str,
    (problem, work): (&dyn Problem, &Work),
    how: Use,
    best: i64,
) -> Progress {
    let on_device = problem.on_device().expect("the problem has a kernel");
    let mut device = Device::new(on_device, how, best);
    device.layout.kernel = kernel;
    let mut words = Vec::new();
    on_device.to_words(&work.bytes, &mut words).unwrap();
    device.put(&words, &[how.active - 1]);
    let mut sum = Progress::default();
    while device.heights.iter().any(|&height| height != 0) {
        device.kernel(KernelEntry::Explore, 0);
        let LaunchReport { branched, bounded, total, depth, nodes, idle, .. } = device.report;
        sum.counts.add(&Counts {
            branched,
            bounded,
            total: total.into(),
            depth: depth as u32,
            ..Counts::default()
        });
        let (told, there) = (f64::from_bits(nodes), device.leaves());
        assert!((there..=there * (1.0 + 1e-5)).contains(&told), "{told} {there}");
        let empty = device.heights[..how.active].iter().filter(|&&height| height == 0).count();
        assert_eq!(idle as usize, empty, "{how:?}");
        let plan = FOUND + device.layout.plan;
        for record in device.found.chunks_exact_mut(plan).filter(|record| record[0] == 1) {
            let score = (u64::from(record[2]) | u64::from(record[3]) << 32).cast_signed();
            record[0] = 0;
            if score == device.best {
                sum.found = Some(on_device.solution(score, &record[FOUND..]));
            }
        }
        let before = device.take(true);
        device.balance();
        assert_eq!(device.take(true).size(), before.size(), "leaves were lost or doubled");
    }
    sum
}

/// Few and many explorers, in one block and in several; each way to balance; short and long launches.
pub fn uses() -> impl Iterator<Item = Use> {
    let rules = [
        (StealRule::Hypercube, true),
        (StealRule::Windows, true),
        (StealRule::Before, false),
        (StealRule::Before, true),
    ];
    let all = [1_usize, 3, 33, 300].into_iter().flat_map(move |n| rules.map(|rule| (n, rule)));
    all.enumerate().flat_map(|(i, (explorers, (rule, longer)))| {
        [(1, 0), (40, 1), (3000, explorers as u32 / 2)].into_iter().enumerate().map(
            move |(j, (budget, trigger))| Use {
                explorers,
                active: explorers,
                budget,
                trigger,
                rule,
                width: [u32::MAX, 1, 32][j],
                longer,
                seed: (10 * i + j) as u64,
            },
        )
    })
}

fn queens(n: u32) -> Queens {
    let mut queens = Queens::new(n, Level::Off).unwrap();
    queens.nodes = Nodes::Interval;
    queens
}

#[test]
fn whole_boards_are_counted_as_halves_are() {
    for n in 1..=9 {
        let mut board = queens(n);
        let wanted = on_cpu(&board, i64::MAX).counts;
        board.whole = true;
        for how in uses().filter(|how| n < 8 || how.budget > 1).step_by(if n == 9 { 10 } else { 2 })
        {
            assert_eq!(explore(&board, how, i64::MAX).counts, wanted, "{n} queens, {how:?}");
        }
    }
}

#[test]
fn boards_are_counted_as_on_the_cpu() {
    for n in 1..=9 {
        let queens = queens(n);
        let wanted = on_cpu(&queens, i64::MAX).counts;
        let large = n == 9;
        for how in uses().filter(|how| n < 8 || how.budget > 1).step_by(if large { 5 } else { 1 }) {
            assert_eq!(explore(&queens, how, i64::MAX).counts, wanted, "{n} queens, {how:?}");
        }
    }
}

const USUAL: Use = Use {
    explorers: 40,
    active: 40,
    budget: 100,
    trigger: 0,
    rule: StealRule::Windows,
    width: u32::MAX,
    longer: true,
    seed: 3,
};

/// Each part of a tree, cut anywhere, has the nodes that the CPU's explorer finds in it.
#[test]
fn a_node_belongs_to_the_interval_of_its_first_leaf() {
    for n in [5, 6] {
        let (queens, wanted) = (queens(n), on_cpu(&queens(n), i64::MAX).counts);
        let leaves = (1..=u128::from(n)).product::<u128>() / 2;
        for cut in 1..leaves {
            let how = Use { explorers: 2, active: 2, budget: 1 + cut as u32 % 3, ..USUAL };
            let mut device = Device::new(queens.on_device().unwrap(), how, i64::MAX);
            let part = |(from, upto)| Interval {
                begin: point(n as usize, from),
                end: point(n as usize, upto),
                bound: i64::MIN,
            };
            let mut words = Vec::new();
            for ends in [(0, cut), (cut, leaves)] {
                let work = Intervals::one(n as usize, part(ends)).to_work();
                queens.to_words(&work.bytes, &mut words).unwrap();
            }
            device.put(&words, &[0, 1]);
            let mut counts = Counts::default();
            while device.heights != [0, 0] {
                device.kernel(KernelEntry::Explore, 0);
                let LaunchReport { branched, bounded, total, depth, .. } = device.report;
                counts.add(&Counts {
                    branched,
                    bounded,
                    total: total.into(),
                    depth: depth as u32,
                    ..Counts::default()
                });
            }
            assert_eq!(counts, wanted, "{n} queens cut at {cut}");
        }
    }
}

/// From one explorer to all, on boards with more leaves than integers can count, until no explorer can take more.
#[test]
fn intervals_are_halved_and_no_leaf_is_lost() {
    for (n, whole) in [(4, 12), (5, 60), (31, u128::MAX)] {
        let queens = queens(n);
        for (explorers, rule) in
            [(3, StealRule::Hypercube), (40, StealRule::Windows), (200, StealRule::Hypercube)]
        {
            let how = Use { explorers, active: explorers, rule, longer: false, ..USUAL };
            let mut device = Device::new(queens.on_device().unwrap(), how, i64::MAX);
            let mut words = Vec::new();
            queens.to_words(&queens.root().bytes, &mut words).unwrap();
            device.put(&words, &[explorers / 2]);
            let before = device.take(true);
            (0..20).for_each(|_| device.balance());
            let busy = device.heights.iter().filter(|&&height| height != 0).count();
            let wanted = explorers.min(whole.try_into().unwrap_or(usize::MAX));
            assert_eq!(busy, wanted, "{n} queens, {how:?}");
            assert_eq!(device.take(false), before, "{n} queens, {how:?}");
        }
    }
}

/// A victim has more than the mean, unless it takes no part: then it gives even its last leaf.
#[test]
fn only_explorers_with_long_intervals_give() {
    let queens = queens(8);
    for rule in [StealRule::Hypercube, StealRule::Windows, StealRule::Before] {
        for (active, left) in [(4, [300, 300, 300, 0]), (3, [300, 300, 300, 1])] {
            let how = Use { explorers: 4, active, rule, ..USUAL };
            let mut device = Device::new(queens.on_device().unwrap(), how, i64::MAX);
            let ends = [(0, 300), (300, 600), (600, 900), (900, 901)];
            let parts = ends.map(|(from, upto)| Interval {
                begin: point(8, from),
                end: point(8, upto),
                bound: i64::MIN,
            });
            let some: Vec<usize> = (0..4).filter(|&i| left[i] > 0).collect();
            let mut words = Vec::new();
            for part in &parts[..some.len()] {
                let work = Intervals::one(8, part.clone()).to_work();
                queens.to_words(&work.bytes, &mut words).unwrap();
            }
            device.put(&words, &some);
            if active == 3 {
                device.heights[1] = 0;
            }
            device.balance();
            let lengths: Vec<f64> =
                device.heights.iter().map(|&height| least_leaves(height)).collect();
            match (active, rule) {
                (4, _) => assert!(lengths[3] == 150.0, "{rule:?}: {lengths:?}"),
                _ => assert!(lengths[1] == 1.0 || lengths[1] == 150.0, "{rule:?}: {lengths:?}"),
            }
        }
    }
}

/// From the optimum, and from scratch: then the optimum is found with its tour.
#[test]
fn tours_are_searched_as_on_the_cpu() {
    let mut rng = Rand64::new(5);
    let mut nodes = 0;
    for (case, how) in uses().chain(uses()).enumerate() {
        let atsp = atsp::random(&mut rng, 2 + case as u64 % 8, case, Nodes::Interval);
        let optimum = on_cpu(&atsp, i64::MAX).found.unwrap().score;
        let wanted = on_cpu(&atsp, optimum).counts;
        let explored = explore(&atsp, how, optimum);
        assert_eq!(
            (explored.counts, explored.found),
            (wanted.clone(), None),
            "case {case}, {how:?}"
        );
        let found = explore(&atsp, how, i64::MAX).found.unwrap();
        assert_eq!(found.score, optimum, "case {case}, {how:?}");
        assert_eq!(atsp.check(&found.solution), Some(Ok(optimum)), "case {case}, {how:?}");
        nodes += wanted.branched;
    }
    assert!(nodes > 10_000, "{nodes}");
}

/// By every branching rule and both orders, from the optimum, and from scratch.
#[test]
fn schedules_are_searched_as_on_the_cpu() {
    let mut rng = Rand64::new(6);
    let ways: Vec<Use> = uses().collect();
    let (mut nodes, mut compared) = (0, 0);
    for case in 0..40 {
        let (jobs, machines) = (1 + rng.rand_range(0..12), 1 + rng.rand_range(0..20));
        let spread = [2, 10, 100, 2500][case % 4];
        let instance = flowshop::random(&mut rng, jobs, machines, spread);
        let mut problem = Flowshop::new(instance, Level::Off);
        let optimum = on_cpu(&problem, i64::MAX).found.unwrap().score;
        (problem.reference, problem.nodes) = (optimum, Nodes::Interval);
        (problem.bound, problem.order) = (Bound::One, ChildOrder::ALL[case / 4 % 2]);
        for branching in Branching::ALL {
            problem.branching = branching;
            let Some(wanted) = flowshop::on_cpu_within(&problem, optimum, 10_000) else { continue };
            let how = ways[rng.rand_range(0..ways.len() as u64) as usize];
            let explored = explore(&problem, how, optimum);
            assert_eq!(explored.counts, wanted, "case {case}, {branching}, {how:?}");
            assert_eq!(explored.found, None);
            (nodes, compared) = (nodes + wanted.branched, compared + 1);
        }
        if jobs < 10 {
            problem.branching = Branching::MinBranch;
            let how = ways[rng.rand_range(0..ways.len() as u64) as usize];
            let found = explore(&problem, how, i64::MAX).found.unwrap();
            assert_eq!(found.score, optimum, "case {case}, {how:?}");
            assert_eq!(Problem::check(&problem, &found.solution), Some(Ok(optimum)), "{how:?}");
        }
    }
    assert!(nodes > 5000 && compared > 150, "{nodes} nodes in {compared} trees");
}

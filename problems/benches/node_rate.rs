//! Nodes per second of the bare explorers on one thread, without the engine.

use pleach_core::search::laws::run_to_end;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::Nodes;
use pleach_problems::flowshop::Flowshop;
use pleach_problems::flowshop::named::{best_known, named};
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;
use pleach_problems::uts::{Uts, parameters::Parameters};
use std::time::Instant;

/// The median rate of several runs, in millions per second of what `what` counts.
fn rate_of(problem: &dyn Problem, best: i64, runs: usize, what: fn(&Counts) -> u64) -> f64 {
    let mut rates: Vec<f64> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            let mut explorer = problem.explorer();
            explorer.add_work(&problem.root().bytes).expect("a root is canonical");
            let counts = run_to_end(&mut *explorer, best).counts;
            what(&counts) as f64 / start.elapsed().as_secs_f64() / 1e6
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    rates[runs / 2]
}

/// The median rate of several runs, in millions of children per second.
fn rate(problem: &dyn Problem, runs: usize) -> f64 {
    rate_of(problem, i64::MAX, runs, |counts| counts.bounded)
}

fn main() {
    // Words on the command line select the rows that contain one of them.
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let chosen =
        |row: &str| words.is_empty() || words.iter().any(|word| row.contains(word.as_str()));
    for level in Level::ALL.into_iter().filter(|level| level.works()) {
        for (tree, runs) in [("T1", 15), ("T3", 15), ("T2", 9), ("T4", 9), ("T1L", 3), ("T3L", 3)] {
            let row = format!("uts {tree} {level}");
            if chosen(&row) && (level != Level::Off || runs > 3) {
                let parameters = Parameters::parse(tree).expect("a named tree");
                println!("{row:20} {:8.1} M nodes/s", rate(&Uts::new(parameters, level), runs));
            }
        }
        for (name, runs) in [("ta030", 5), ("ta029", 3)] {
            for nodes in Nodes::ALL {
                let row = format!("flowshop {name} {level} {nodes}");
                if !chosen(&row) {
                    continue;
                }
                let instance = named(name).expect("a named instance");
                let mut flowshop = Flowshop::new(instance, level);
                let (best, _) = best_known(name).expect("a named instance");
                (flowshop.reference, flowshop.nodes) = (best, nodes);
                let rate = rate_of(&flowshop, best, runs, |counts| counts.branched);
                println!("{row:30} {rate:8.2} M branched/s");
            }
        }
        for (n, runs) in [(13, 9), (15, 5), (16, 3), (17, 1)] {
            let row = format!("queens {n} {level}");
            if chosen(&row) && (level != Level::Off || n == 13) {
                let queens = Queens::new(n, level).expect("a size that can be counted");
                println!("{row:20} {:8.1} M placements/s", rate(&queens, runs));
            }
            let row = format!("queens {n} interval");
            if chosen(&row) && level == Level::Off && n < 16 {
                let mut queens = Queens::new(n, level).expect("a size that can be counted");
                queens.nodes = Nodes::Interval;
                println!("{row:20} {:8.1} M placements/s", rate(&queens, runs));
            }
        }
    }
}

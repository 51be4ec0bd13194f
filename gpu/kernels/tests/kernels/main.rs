//! Kernels on the emulated device, compared with the CPU's explorers.

mod atsp;
mod balance;
mod bounds;
mod device;
mod faults;
mod flowshop;
mod giving;
mod intervals;
mod loops;
mod parallel;
mod queens;
mod sized;
mod stopping;
mod uts;

use device::Use;
use pleach_core::search::explorer::Progress;
use pleach_core::search::laws::run_to_end;
use pleach_core::search::problem::Problem;
use pleach_core::search::work::Work;
use pleach_kernels::launch::StealRule;

const USUAL: Use = Use {
    explorers: 5,
    active: 5,
    spare: 500,
    span: 64,
    budget: 200,
    trigger: 0,
    rule: StealRule::Windows,
    width: u32::MAX,
    giving: false,
    seed: 1,
};

/// The same search on the CPU.
fn on_cpu(problem: &dyn Problem, best: i64) -> Progress {
    on_cpu_from(problem, &problem.root(), best)
}

/// The same search on the CPU, of this work.
fn on_cpu_from(problem: &dyn Problem, work: &Work, best: i64) -> Progress {
    let mut explorer = problem.explorer();
    explorer.add_work(&work.bytes).unwrap();
    run_to_end(&mut *explorer, best)
}

/// Few and many explorers, some not taking part; all ways to balance; short and long launches; few
/// and many pages.
fn uses() -> impl Iterator<Item = Use> {
    let explorers = [1_usize, 3, 8, 33].into_iter();
    let all = explorers.flat_map(|explorers| {
        let rules = [StealRule::Hypercube, StealRule::Windows, StealRule::Before];
        // The last rule is slow with many explorers.
        let some = if explorers == 8 { 3 } else { 2 };
        rules.into_iter().take(some).map(move |rule| (explorers, rule))
    });
    all.enumerate().flat_map(move |(i, (explorers, rule))| {
        [(7, 0, 0, 4), (100, 1, 5, 4), (2000, explorers as u32 / 2, 500, 64)]
            .into_iter()
            .enumerate()
            .map(move |(j, (budget, trigger, spare, span))| {
                let seed = (10 * i + j) as u64;
                let active = if j == 1 { explorers.div_ceil(2) } else { explorers };
                let width = [u32::MAX, 3, 7][j];
                let giving = (i + j) % 2 == 0;
                Use { explorers, active, spare, span, budget, trigger, rule, width, giving, seed }
            })
    })
}

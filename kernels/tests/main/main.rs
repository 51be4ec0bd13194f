//! The kernels on the emulated device, against the explorers of the CPU.

mod balance;
mod device;
mod faults;
mod flowshop;
mod queens;
mod stopping;
mod uts;

use device::Use;
use pleach_core::explorer::Progress;
use pleach_core::laws::run_to_end;
use pleach_core::problem::Problem;
use pleach_kernels::Kind;

/// The same search on the CPU.
fn on_cpu(problem: &dyn Problem, best: i64) -> Progress {
    let mut explorer = problem.explorer();
    explorer.put(&problem.root().bytes).unwrap();
    run_to_end(&mut *explorer, best)
}

/// Few and many explorers, both ways to balance, short and long launches, little and much room.
fn uses(room: usize) -> impl Iterator<Item = Use> {
    let explorers = [1, 3, 8, 33].into_iter();
    let all = explorers.flat_map(|explorers| {
        [Kind::Hypercube, Kind::Adapt].into_iter().map(move |kind| (explorers, kind))
    });
    all.enumerate().flat_map(move |(i, (explorers, kind))| {
        [(7, 0, room), (100, 1, 200), (2000, explorers as u32 / 2, 500)]
            .into_iter()
            .enumerate()
            .map(move |(j, (budget, trigger, capacity))| {
                let seed = (10 * i + j) as u64;
                Use { explorers, capacity: capacity.max(room), budget, trigger, kind, seed }
            })
    })
}

//! A search on a chosen device: `device`, or `device gpu0`. Without a GPU, `emulated` runs the same kernels on the CPU.

use pleach::queens::Queens;
use pleach::{Level, Solver};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = std::env::args().nth(1).unwrap_or_else(|| "emulated".into());
    let queens = Queens::new(9, Level::best())?;
    let alone = Solver::of(queens).settings(|all| all.threads = 0); // no thread
    let report = alone.devices(&[&device])?.run()?;
    for worker in &report.outcome.workers {
        println!("{}: {} nodes", worker.name, worker.counts.bounded);
    }
    println!("{} solutions", report.count);
    Ok(())
}

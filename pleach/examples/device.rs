//! A search on a chosen device: `device`, or `device gpu0`. Without a GPU, `emulated` runs the same kernels on the CPU.

use pleach::queens::Queens;
use pleach::{Level, Settings, Solver};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = std::env::args().nth(1).unwrap_or_else(|| "emulated".into());
    let queens = Queens::new(9, Level::best())?;
    let settings = Settings { threads: 0, ..Settings::default() }; // the device alone
    let report = Solver::of(queens).settings(settings).devices(&[&device])?.run()?;
    for worker in &report.outcome.workers {
        println!("{}: {} nodes", worker.name, worker.counts.bounded);
    }
    println!("{} solutions", report.count);
    Ok(())
}

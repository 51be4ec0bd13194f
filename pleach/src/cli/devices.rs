//! `pleach devices`: what this machine offers, with measured rates.

use super::options::Options;
use super::{Failure, machine, measured_rate, print};
use crate::report::short;
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;
use pleach_problems::uts::{Uts, parameters::Parameters};
use pleach_run::cores;
use std::process::ExitCode;

/// Measures and prints.
pub fn show(options: &Options) -> Result<ExitCode, Failure> {
    let levels: Vec<String> =
        Level::ALL.iter().filter(|level| level.works()).map(ToString::to_string).collect();
    let tree = Parameters::parse("T1XXL").map_err(Failure::Inside)?;
    let queens = |n| Queens::new(n, options.simd).map_err(Failure::Inside);
    let rates = [
        ("uts".to_string(), measured_rate(Uts::new(tree, options.simd))?),
        ("queens 16".to_string(), measured_rate(queens(16)?)?),
        ("queens 20".to_string(), measured_rate(queens(20)?)?),
    ];
    if options.json {
        print(&machine(cores(), &levels, &rates).to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!("cpu: {} cores, code paths {}", cores(), levels.join(", "));
    for (name, rate) in &rates {
        text += &format!("\n  {name:10} {:>12} nodes a second on one thread", short(*rate));
    }
    text += "\ngpu: this build drives CPUs only";
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

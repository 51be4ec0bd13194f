//! Runs what every network must obey between real processes.
//!
//! `PLEACH_MPI` lists launchers, each as `FAMILY=PATH`, with a family of `open-mpi`, `mpi-abi` or `mpich`;
//! without it nothing is launched. This program is also what is launched: a site, with a case to play.

mod conformance;
mod failing;
mod launch;
mod site;
mod still;

use launch::{End, Launcher};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// A case, how many sites play it, and how the job must end. What ends in `-tcp` uses TCP instead of shared
/// memory, where a message needs its sender until it has arrived.
const CASES: [(&str, u32, End); 21] = [
    ("order", 2, End::Well),
    ("order", 3, End::Well),
    ("order", 8, End::Well),
    ("order-tcp", 3, End::Well),
    ("sizes", 2, End::Well),
    ("long-and-short", 3, End::Well),
    ("last-letters", 4, End::Well),
    ("stopped", 4, End::Well),
    ("stopped-tcp", 4, End::Well),
    ("idle", 4, End::Well),
    ("other-thread", 3, End::Well),
    ("by-hand", 2, End::Well),
    ("alone", 1, End::Well),
    ("no-such-site", 2, End::One),
    ("after-the-end", 2, End::One),
    ("too-long", 2, End::One),
    ("dropped", 3, End::One),
    ("abort", 3, End::Code(7)),
    ("panic", 3, End::Badly),
    ("quit", 3, End::Badly),
    ("killed", 3, End::Badly),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, case, library] = &arguments[..]
        && first == "site"
    {
        site::play(case, library);
        return ExitCode::SUCCESS;
    }
    assert!(site::opens_nothing(), "a network without a launcher");
    let Ok(launchers) = std::env::var("PLEACH_MPI") else {
        println!("skipped: PLEACH_MPI names no launchers of MPI (ci/mpi.sh does)");
        return ExitCode::SUCCESS;
    };
    let launchers: Vec<Launcher> = launchers.split_whitespace().map(Launcher::read).collect();
    assert!(!launchers.is_empty(), "PLEACH_MPI is empty");
    let wanted = |case: &str| {
        let mut words = arguments.iter().filter(|word| !word.starts_with('-')).peekable();
        words.peek().is_none() || words.any(|word| case.contains(word.as_str()))
    };
    let mut failures = 0;
    for launcher in &launchers {
        for (case, sites, end) in CASES.iter().filter(|(case, ..)| wanted(case)) {
            // Debian's MPICH 4.0.2 now and then stands still in MPI_Finalize over TCP, whatever was sent:
            // a program that sends ten bytes does too.
            if launcher.family == "mpich" && case.ends_with("-tcp") {
                println!("mpich     {case}: left out, for an error of the library");
                continue;
            }
            let start = Instant::now();
            let told = launcher.run(case, *sites, *end, Duration::from_secs(30));
            let seconds = start.elapsed().as_secs_f64();
            let word = if told.is_ok() { "ok" } else { "FAILED" };
            println!("{:9} {case} of {sites}: {word} in {seconds:.1} s", launcher.family);
            if let Err(told) = told {
                println!("{told}");
                failures += 1;
            }
        }
    }
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

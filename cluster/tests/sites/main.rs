//! Checks the rules that every network must obey, between real processes.
//!
//! Stars over TLS always run. For MPI, `PLEACH_MPI` lists launchers, each as `FAMILY=PATH`, with the family `open-mpi`,
//! `ulfm` (Open MPI 5, with jobs that survive deaths), `mpi-abi` or `mpich`. The launchers start this same program as a
//! site, with a case to play.

mod churn;
mod conformance;
mod failing;
mod launch;
mod signal;
mod site;
mod star;
mod still;

use launch::{End, Launcher};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The longest time for a case.
const LIMIT: Duration = Duration::from_secs(30);

/// Each case, the number of sites that play it, and how the job must end. Cases that end in `-tcp` use TCP instead of
/// shared memory, where a message needs its sender until it has arrived.
const CASES: [(&str, u32, End); 22] = [
    ("order", 2, End::Well),
    ("order", 3, End::Well),
    ("order", 8, End::Well),
    ("order-tcp", 3, End::Well),
    ("sizes", 2, End::Well),
    ("long-and-short", 3, End::Well),
    ("last-messages", 4, End::Well),
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
    ("abort", 3, End::ExitCode(7)),
    ("panic", 3, End::Badly),
    ("quit", 3, End::Badly),
    ("killed", 3, End::Badly),
    ("survived", 4, End::AllButOne),
];

/// The same for stars.
const STARS: [(&str, u32, End); 13] = [
    ("order", 2, End::Well),
    ("order", 3, End::Well),
    ("order", 8, End::Well),
    ("sizes", 2, End::Well),
    ("long-and-short", 3, End::Well),
    ("last-messages", 4, End::Well),
    ("stopped", 4, End::Well),
    ("idle", 4, End::Well),
    ("other-thread", 3, End::Well),
    ("no-such-site", 2, End::One),
    ("after-the-end", 2, End::One),
    ("too-long", 2, End::One),
    ("dropped", 3, End::One),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["site", case, library] => {
            site::play(case, library);
            return ExitCode::SUCCESS;
        }
        ["star", case, folder, number, sites] => {
            star::play(case, folder, number, sites);
            return ExitCode::SUCCESS;
        }
        ["churn", role, address, key] => {
            churn::play(role, address, key);
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    assert!(site::opens_nothing(), "a network without a launcher");
    let wanted = |case: &str| {
        let mut words = arguments.iter().filter(|word| !word.starts_with('-')).peekable();
        words.peek().is_none() || words.any(|word| case.contains(word.as_str()))
    };
    let mut failures = 0;
    let mut tell = |family: &str, case: &str, sites: u32, start: Instant, told| {
        let seconds = start.elapsed().as_secs_f64();
        let word = if Result::is_ok(&told) { "ok" } else { "FAILED" };
        println!("{family:9} {case} of {sites}: {word} in {seconds:.1} s");
        if let Err(told) = told {
            println!("{told}");
            failures += 1;
        }
    };
    for (case, sites, end) in STARS.iter().filter(|(case, ..)| wanted(case)) {
        let start = Instant::now();
        let told: Result<(), String> = star::run(case, *sites, *end, LIMIT);
        tell("tls", case, *sites, start, told);
    }
    for (name, case) in churn::CASES.into_iter().filter(|(name, _)| wanted(name)) {
        let start = Instant::now();
        tell("tls", name, 3, start, churn::run(case));
    }
    let launchers = std::env::var("PLEACH_MPI").unwrap_or_default();
    if launchers.is_empty() {
        println!("PLEACH_MPI names no launchers of MPI (ci/mpi.sh does)");
    }
    let launchers: Vec<Launcher> = launchers.split_whitespace().map(Launcher::read).collect();
    for launcher in &launchers {
        for (case, sites, end) in CASES.iter().filter(|(case, ..)| wanted(case)) {
            if !launcher.plays(case) {
                continue;
            }
            // Debian's MPICH 4.0.2 sometimes hangs in MPI_Finalize over TCP, whatever was sent: even a
            // program that sends ten bytes does.
            if launcher.family == "mpich" && case.ends_with("-tcp") {
                println!("mpich     {case}: skipped because of a bug in the library");
                continue;
            }
            let start = Instant::now();
            let told = launcher.run(case, *sites, *end, LIMIT);
            tell(&launcher.family, case, *sites, start, told);
        }
    }
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

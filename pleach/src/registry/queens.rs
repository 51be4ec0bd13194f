//! The entry of n queens: count all solutions, or find one.

use super::entry::{Act, Check, Ended, Entry, Probe, Rate, Request, Simulation, Start, Task};
use super::instances::{KnownResult, NamedInstance};
use super::simulated_load::{Load, SimulatedLoad, record};
use crate::campaign::queens::{self as campaign, FirstQueens, Queens};
use crate::cli::flags::{FlagValues, Use, Verb};
use crate::failure::{Failure, usage};
use pleach_core::search::problem::{Plain, Problem};
use pleach_core::search::work::Nodes;
use pleach_problems::simd::Level;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    name: "queens",
    about: "n queens on a board so that no two attack each other: count all solutions, or find one",
    instance: "the board size",
    instances,
    tasks: &[
        Task {
            verb: Verb::Solve,
            flags: &[Use::plain("solution"), Use::plain("certificate")],
            examples: &["solve queens 30"],
            act: Act::Search(solve),
        },
        Task {
            verb: Verb::Count,
            flags: &[Use::plain("nodes"), Use::plain("whole"), Use::plain("certificate")],
            examples: &["count queens 16"],
            act: Act::Search(count),
        },
    ],
    simulation: Some(Simulation { flags: &[Use::plain("whole")], intervals: true, make_load }),
    rates: &[
        Rate { name: "queens 16", problem: |level| measured(16, level), on_devices: true },
        Rate { name: "queens 20", problem: |level| measured(20, level), on_devices: false },
    ],
    probes: &[
        Probe::new("8", |level| probe(8, level)),
        Probe::new("9", |level| probe(9, level)),
        Probe::new("8 as intervals", intervals),
        Probe::new("9 --whole", whole),
        Probe::new("14", |level| probe(14, level)).large(),
        Probe::new("15", |level| probe(15, level)).large(),
    ],
    ..Entry::PLAIN
};

/// The numbers of solutions (OEIS A000170), from one queen on.
const SOLUTIONS: [u128; 27] = [
    1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2_680, 14_200, 73_712, 365_596, 2_279_184, 14_772_512,
    95_815_104, 666_090_624, 4_968_057_848, 39_029_188_884, 314_666_222_712, 2_691_008_701_644,
    24_233_937_684_440, 227_514_171_973_736, 2_207_893_435_808_352, 22_317_699_616_364_044,
    234_907_967_154_122_528,
];

fn instances() -> Vec<NamedInstance> {
    let board = |(n, solutions): (u32, u128)| NamedInstance {
        name: n.to_string(),
        size: format!("{n} queens"),
        known: KnownResult::Count(solutions),
    };
    (1..).zip(SOLUTIONS).map(board).collect()
}

fn probe(n: u32, level: Level) -> Result<Check, String> {
    Ok(Check { problem: measured(n, level)?, best: None })
}

fn intervals(level: Level) -> Result<Check, String> {
    let mut queens = Queens::new(8, level)?;
    queens.nodes = Nodes::Interval;
    Ok(Check { problem: Box::new(queens), best: None })
}

fn whole(level: Level) -> Result<Check, String> {
    let mut queens = Queens::new(9, level)?;
    queens.whole = true;
    Ok(Check { problem: Box::new(queens), best: None })
}

fn measured(n: u32, level: Level) -> Result<Box<dyn Problem>, String> {
    Ok(Box::new(Queens::new(n, level)?))
}

fn count(request: &Request<'_>) -> Result<Start<'static>, Failure> {
    let (n, whole) = (size(request.instance)?, request.given.on("whole"));
    // The size is checked before any file is touched.
    Queens::new(n, request.given.simd()?).map_err(Failure::Usage)?;
    Ok(Start::new(move |search, mode| {
        Ended::plain(&campaign::problem(n, whole, &search)?, None, search, mode)
    }))
}

fn solve(request: &Request<'_>) -> Result<Start<'static>, Failure> {
    let n = size(request.instance)?;
    let problem = Plain(FirstQueens::new(n).map_err(Failure::Usage)?);
    Ok(Start::new(move |search, mode| Ended::plain(&problem, None, search, mode)))
}

fn size(word: &str) -> Result<u32, Failure> {
    word.parse().or_else(|_| usage(format!("queens {word}: expected a board size")))
}

fn make_load(load: &Load, given: &FlagValues) -> Result<SimulatedLoad, Failure> {
    let simd = given.simd()?;
    let mut queens = Queens::new(size(&load.instance)?, simd).map_err(Failure::Usage)?;
    (queens.nodes, queens.whole) = (load.nodes, load.whole);
    SimulatedLoad::plain(load, queens, record).map_err(Failure::Usage)
}

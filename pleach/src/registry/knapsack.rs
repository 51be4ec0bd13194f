//! The entry of the 0/1 knapsack.

use super::entry::{Act, Ended, Entry, Request, Simulation, Start, Task};
use super::simulated_load::{Load, SimulatedLoad, record};
use crate::campaign::knapsack::Knapsack;
use crate::cli::flags::{self, FlagValues, Use, Verb};
use crate::failure::{Failure, usage};
use crate::rows::parse;
use pleach_core::search::problem::Plain;
use pleach_problems::knapsack::{MOST, MOST_ITEMS};

const BEST: Use =
    Use::with("best", "value that a packing must exceed: none or a whole number", "none");

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    name: "knapsack",
    about: "0/1 knapsack: the most valuable items that fit",
    instance: "a file (number of items, capacity, then value and weight of each item), or - for standard input",
    is_file: |word| word != "-",
    maximises: true,
    tasks: &[Task {
        verb: Verb::Solve,
        flags: &[BEST, Use::plain("best-first"), Use::plain("solution"), Use::plain("certificate")],
        examples: &["solve knapsack data/knapsack/correlated-60.txt"],
        act: Act::Search(solve),
    }],
    simulation: Some(Simulation { flags: &[BEST], intervals: false, make_load }),
    ..Entry::PLAIN
};

fn knapsack(request: &Request<'_>) -> Result<Knapsack, Failure> {
    let (text, name) = (request.text("a file")?, request.name());
    let rows = parse::<2>(&text, MOST, MOST_ITEMS).or_else(|why| usage(format!("{name}{why}")))?;
    Knapsack::new(rows[0][1], &rows[1..]).or_else(|why| usage(format!("{name}: {why}")))
}

fn solve(request: &Request<'_>) -> Result<Start<'static>, Failure> {
    let problem = Plain(knapsack(request)?);
    let best = flags::value_to_beat(request.given, 0)?;
    Ok(Start::new(move |search, mode| Ended::plain(&problem, best, search, mode)))
}

fn make_load(load: &Load, given: &FlagValues) -> Result<SimulatedLoad, Failure> {
    let knapsack = knapsack(&Request::new(&load.instance, given))?;
    let simulated =
        SimulatedLoad::plain(load, Plain(knapsack), |plain, best| record(&plain.0, best));
    simulated.map_err(Failure::Usage)
}

//! From a load to what is simulated: units of an interval, or a problem.

use super::spec::{Spec, Work, simulation};
use crate::cli::flags::FlagValues;
use crate::failure::{Failure, usage};
use crate::registry::Entry;
use crate::registry::simulated_load::SimulatedLoad;
use pleach_core::search::work::Nodes;
use pleach_lab::any_load::AnyLoad;
use pleach_lab::cluster::Cluster;
use pleach_lab::figures::Figures;
use pleach_lab::load::Search;
use pleach_lab::sites::Fleet;
use pleach_lab::spans::Spans;

/// Makes the units or the problem of a load.
pub fn make_load(
    registry: &[Entry],
    work: &Work,
    given: &FlagValues,
) -> Result<SimulatedLoad, Failure> {
    let load = match work {
        Work::Search(load) => load,
        Work::Interval { units, total_ns, halvings, uneven, seed } => {
            return Ok(SimulatedLoad::Spans(Spans::new(
                *units, *total_ns, *halvings, *uneven, *seed,
            )));
        }
    };
    let name = &load.problem;
    let Some(simulation) = simulation(registry, name) else {
        return usage(format!("{name} cannot be simulated"));
    };
    if load.nodes == Nodes::Interval && !simulation.intervals {
        return usage(format!("load.nodes = 'interval': expected pool for {name}"));
    }
    if load.whole && !simulation.flags.iter().any(|own| own.flag == "whole") {
        return usage(format!("load.whole = true: expected false for {name}"));
    }
    (simulation.make_load)(load, given)
}

/// Measures a load: one explorer first searches it alone, for comparison, unless that takes too long.
pub fn measured(simulated: &SimulatedLoad) -> AnyLoad<'_> {
    match simulated {
        SimulatedLoad::Spans(spans) => AnyLoad::Spans(spans.clone()),
        SimulatedLoad::Problem { problem, start, node_ns, alone, varies } => {
            let mut load = Search::new(&**problem, *node_ns, *start);
            if *varies {
                load = load.varying();
            }
            load.measure(*alone);
            AnyLoad::Search(load)
        }
    }
}

/// Simulates a run.
pub fn simulate(load: &AnyLoad<'_>, spec: &Spec, seed: u64) -> Result<Figures, String> {
    match &spec.fleet {
        Some(fleet) => load.run_on_sites(&Fleet { seed, ..fleet.clone() }),
        None => load.run_on_cluster(&Cluster { seed, ..spec.cluster.clone() }),
    }
}

//! [`Experiment`]: a scenario that is ready to simulate, and its runs, several at once.

use super::loads::{make_load, measured, simulate};
use super::scenario::Scenario;
use super::spec::{Spec, Work};
use super::table;
use crate::cli::flags::FlagValues;
use crate::failure::{Failure, usage};
use crate::parallel::in_parallel;
use crate::registry::Entry;
use crate::registry::simulated_load::SimulatedLoad;
use pleach_lab::any_load::AnyLoad;
use pleach_lab::figures::Figures;
use pleach_runtime::sync::lock;
use pleach_runtime::usable_memory;
use std::sync::Mutex;

/// A scenario with its loads.
pub struct Experiment {
    pub scenario: Scenario,
    /// The different loads, and their problems.
    works: Vec<Work>,
    loads: Vec<SimulatedLoad>,
    threads: usize,
}

/// A callback after each run, with the cell, the seed and the figures.
pub type Done<'a> = dyn Fn(&Spec, usize, u64, &Figures) -> Result<(), Failure> + Sync + 'a;

impl Experiment {
    /// Prepares a scenario; errors refer to it by `name`.
    ///
    /// # Errors
    /// If its problems cannot be set up, it needs too much memory, or its settings do not fit together.
    pub fn new(
        registry: &[Entry],
        name: &str,
        scenario: Scenario,
        given: &FlagValues,
    ) -> Result<Self, Failure> {
        let threads = given.settings()?.threads;
        enough_memory(name, &scenario, threads)?;
        let mut works: Vec<Work> = Vec::new();
        for spec in &scenario.cells {
            if !works.contains(&spec.work) {
                works.push(spec.work.clone());
            }
        }
        let named = |why| match why {
            Failure::Usage(why) => Failure::Usage(format!("{name}: load: {why}")),
            other => other,
        };
        let loads = works.iter().map(|work| make_load(registry, work, given).map_err(named));
        let loads = loads.collect::<Result<_, _>>()?;
        let all = Self { scenario, works, loads, threads: threads as usize };
        all.fit(name)?;
        Ok(all)
    }

    /// Refuses presets that a load does not allow.
    fn fit(&self, name: &str) -> Result<(), Failure> {
        for spec in self.scenario.cells.iter().filter(|spec| spec.cluster.policy.is_late()) {
            let snapshots = spec
                .cluster
                .snapshot_ns
                .map(|_| "no snapshot_ms, since snapshots do not hold copies");
            let may = self.loads[self.at(spec)].may_be_late();
            if let Some(expected) = snapshots.or(may.err()) {
                return usage(format!(
                    "{name}: balance = 'master-worker:late': expected {expected}"
                ));
            }
        }
        for spec in self.scenario.cells.iter().filter(|spec| spec.cluster.policy.has_depths()) {
            if !self.loads[self.at(spec)].may_be_seeded() {
                return usage(format!(
                    "{name}: balance: cutoff and depth need a load of open nodes"
                ));
            }
        }
        Ok(())
    }

    /// The index of a run's load.
    fn at(&self, spec: &Spec) -> usize {
        self.works.iter().position(|work| *work == spec.work).unwrap_or(0)
    }

    /// Whether runs have different loads.
    pub fn has_several_works(&self) -> bool {
        self.works.len() > 1
    }

    /// The most expensive indivisible piece of the first run's load.
    pub fn costliest_ns(&self) -> u64 {
        self.loads[self.at(&self.scenario.cells[0])].costliest_ns()
    }

    /// Runs the `wanted` cells and seeds, as many at once as there are threads.
    ///
    /// # Errors
    /// If a run breaks a rule, or `done` fails.
    pub fn run(&self, wanted: &[(usize, u64)], done: &Done<'_>) -> Result<(), Failure> {
        let cells = &self.scenario.cells;
        let needed = |work: usize| wanted.iter().any(|&(cell, _)| self.at(&cells[cell]) == work);
        let loads: Vec<Option<AnyLoad<'_>>> = self
            .loads
            .iter()
            .enumerate()
            .map(|(work, load)| needed(work).then(|| measured(load)))
            .collect();
        in_parallel(wanted, self.threads, |&(cell, seed), _| {
            let spec = &cells[cell];
            let Some(load) = &loads[self.at(spec)] else { return Ok(()) };
            let figures = simulate(load, spec, seed).map_err(|why| {
                let label = table::labels(&self.scenario)[cell].join(" ");
                Failure::Inside(format!("{label} seed {seed}: {why}"))
            })?;
            done(spec, cell, seed, &figures)
        })
    }

    /// Runs all cells with all seeds.
    ///
    /// # Errors
    /// If a run breaks a rule.
    pub fn run_all(&self) -> Result<Vec<Vec<Figures>>, Failure> {
        let seeds = &self.scenario.seeds;
        let wanted = self.cells_and_seeds();
        let results: Mutex<Vec<Option<Figures>>> = Mutex::new(vec![None; wanted.len()]);
        self.run(&wanted, &|_, cell, seed, figures| {
            let at = seeds.iter().position(|&own| own == seed).unwrap_or(0);
            let mut results = lock(&results);
            results[cell * seeds.len() + at] = Some(figures.clone());
            Ok(())
        })?;
        let results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let all = results.into_iter().collect::<Option<Vec<Figures>>>();
        let all = all.ok_or(Failure::Inside("a run was lost".into()))?;
        Ok(all.chunks(seeds.len()).map(<[Figures]>::to_vec).collect())
    }

    /// All cells, each with all seeds.
    pub fn cells_and_seeds(&self) -> Vec<(usize, u64)> {
        let cells = 0..self.scenario.cells.len();
        cells.flat_map(|cell| self.scenario.seeds.iter().map(move |&seed| (cell, seed))).collect()
    }
}

/// The maximum number of bytes measured for a simulated peer: with numbered units, and with an
/// explorer.
const PEER_BYTES: (u64, u64) = (4_500, 150_000);

/// The maximum memory for any simulation; a scenario that needs more is a mistake.
const MOST_BYTES: u64 = 64 << 30;

/// Refuses more peers, and more explorers of their devices, than fit into the memory that may be used.
fn enough_memory(name: &str, scenario: &Scenario, threads: u32) -> Result<(), Failure> {
    let most = usable_memory(1).map_or(MOST_BYTES, |bytes| bytes.min(MOST_BYTES));
    for spec in &scenario.cells {
        let peers = u64::from(spec.cluster.machine.peers());
        let explorers = spec.cluster.machine.classes.iter().map(|class| {
            let each = class.device.map_or(1, |device| device.explorers);
            u64::from(class.count) * u64::from(each)
        });
        let explorers: u64 = explorers.sum();
        let bytes = match spec.work {
            Work::Interval { .. } => peers * PEER_BYTES.0,
            Work::Search(_) => explorers * PEER_BYTES.1,
        };
        let at_once = u64::from(threads).min((scenario.seeds.len() * scenario.cells.len()) as u64);
        let needed = bytes * at_once;
        if needed > most {
            let with = if explorers == peers {
                String::new()
            } else {
                format!(" with {explorers} explorers")
            };
            return usage(format!(
                "{name}: peers = {peers}{with}: expected fewer; these need about {} GB of memory, but only {} GB may be used",
                needed >> 30,
                most >> 30
            ));
        }
    }
    Ok(())
}

//! A part that runs on the simulator.

use super::data::Grid;
use super::measures;
use super::part::Part;
use super::rows::{Row, Rows};
use crate::cli::flags::FlagValues;
use crate::cli::progress::interrupts;
use crate::cli::sim::{Experiment, Scenario, labels};
use crate::failure::Failure;
use crate::registry::Entry;
use pleach_core::wire::fingerprint;
use pleach_runtime::sync::lock;
use std::sync::Mutex;
use toml::Table;

/// A part's scenario, and which of its lists is on which axis.
pub struct Simulated {
    scenario: Scenario,
    /// A fingerprint of the scenario.
    of: String,
    /// The place of the list on the horizontal axis.
    x: usize,
}

impl Simulated {
    /// Reads a part's scenario.
    ///
    /// # Errors
    /// One line: file, key, value, and what was expected.
    pub fn new(registry: &[Entry], id: &str, part: &Part, table: &Table) -> Result<Self, String> {
        let name = format!("figures/{id}.toml, part {}", part.name);
        let scenario = Scenario::read(registry, &name, table)?;
        let print = fingerprint("scenario", &table.to_string().into_bytes());
        let x = match &part.x {
            None => 0,
            Some(key) => {
                let last = key.rsplit('.').next().unwrap_or(key);
                let found = scenario.axes.iter().position(|axis| axis.name == last);
                found.ok_or_else(|| format!("{name}: x = '{key}': expected the key of a list"))?
            }
        };
        Ok(Self { scenario, of: format!("sim {:016x}", print), x })
    }

    /// Its lists.
    pub fn grid(&self) -> Grid {
        let one = || vec![String::new()];
        let axes = &self.scenario.axes;
        let (x, other) = (axes.get(self.x), axes.get(1 - self.x));
        Grid {
            x_name: x.map_or(String::new(), |axis| axis.name.clone()),
            series_name: other.map_or(String::new(), |axis| axis.name.clone()),
            xs: x.map_or_else(one, |axis| axis.values.clone()),
            series: other.map_or_else(one, |axis| axis.values.clone()),
            of: vec![self.of.clone()],
            runs: self.scenario.seeds.len(),
        }
    }

    /// The runs that have no row yet: cell and seed.
    fn missing(&self, part: &Part, rows: &Rows) -> Vec<(usize, u64)> {
        let labels = labels(&self.scenario);
        let cells = labels.iter().enumerate();
        let all = cells.flat_map(|(cell, label)| {
            self.scenario.seeds.iter().map(move |&seed| (cell, label, seed))
        });
        let missing = all
            .filter(|(_, label, seed)| !rows.has(&row((part, &self.of), (label, self.x), *seed)));
        missing.map(|(cell, _, seed)| (cell, seed)).collect()
    }

    /// Simulates the runs that have no row yet.
    ///
    /// # Errors
    /// If the scenario cannot be simulated, a run breaks a rule, or a row cannot be written.
    pub fn run(
        self,
        (registry, given): (&[Entry], &FlagValues),
        part: &Part,
        rows: &mut Rows,
        step: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<(), Failure> {
        let missing = self.missing(part, rows);
        if missing.is_empty() {
            return Ok(());
        }
        let all = labels(&self.scenario);
        let Self { scenario, of, x } = self;
        let experiment = Experiment::new(registry, &part.name, scenario, given)?;
        let shared = Mutex::new((rows, 0));
        step(0, missing.len());
        experiment.run(&missing, &|spec, cell, seed, figures| {
            if interrupts().is_cancelled() {
                return Err(Failure::Inside("stopped".into()));
            }
            let mut row = row((part, &of), (&all[cell], x), seed);
            measures::note_simulated(&mut row, figures, spec);
            let mut shared = lock(&shared);
            shared.1 += 1;
            step(shared.1, missing.len());
            shared.0.add(row)
        })
    }
}

/// The row of a run, without its figures.
fn row((part, of): (&Part, &str), (label, x): (&[String], usize), seed: u64) -> Row {
    let at = |axis: usize| label.get(axis).cloned().unwrap_or_default();
    Row {
        part: part.name.clone(),
        x: at(x),
        series: at(1 - x),
        seed,
        of: of.to_string(),
        ..Row::default()
    }
}

//! `pleach sim`: runs on simulated clusters.

mod chart;
mod device;
mod experiment;
mod loads;
mod metrics;
mod moments;
mod scenario;
mod sites;
mod spec;
mod table;
mod words;

use super::conduct::last_words;
use super::console::{Console, DONE};
use super::files::{Output, keep_apart};
use super::line::Line;
use crate::failure::Failure;
use crate::provenance::stamped;
use crate::registry::{Entry, entry};
use crate::report::columns::digits;
use crate::report::short;
use crate::results::{JsonNumber, SimulationData, VERSION};
pub use experiment::Experiment;
pub use metrics::{METRICS, metric};
use pleach_lab::figures::Figures;
pub use scenario::Scenario;
use serde_json::json;
pub use spec::Spec;
use spec::Work;
use std::time::Instant;
pub use table::labels;

/// Simulates what the words name.
pub fn run(registry: &[Entry], console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    let given = &line.given;
    let phase = last_words(console, &line.words.join(" "), given);
    let (name, scenario, file) = words::read(registry, line)?;
    let mut inputs = instance_files(registry, &scenario);
    inputs.extend(file);
    keep_apart(given, &inputs)?;
    let picture = Output::of("svg", given)?;
    let started = Instant::now();
    let experiment = Experiment::new(registry, &name, scenario, given)?;
    let setup_s = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let runs = experiment.run_all()?;
    let all = Simulated { experiment, runs, setup_s, seconds: started.elapsed().as_secs_f64() };
    let text = if given.on("json") { stamped(json!(all.data(&name))) } else { all.text() };
    drop(phase);
    console.print(&text)?;
    if let Some(file) = picture {
        file.write(&all.picture())?;
    }
    Ok(DONE)
}

/// The instances of a scenario that are files.
fn instance_files(registry: &[Entry], scenario: &Scenario) -> Vec<String> {
    let instance = |spec: &Spec| match &spec.work {
        Work::Search(load) => {
            let is_file = entry(registry, &load.problem)?.is_file;
            is_file(&load.instance).then(|| load.instance.clone())
        }
        Work::Interval { .. } => None,
    };
    scenario.cells.iter().filter_map(instance).collect()
}

/// An experiment with its runs, cell by cell, and the real time that they took.
struct Simulated {
    experiment: Experiment,
    runs: Vec<Vec<Figures>>,
    setup_s: f64,
    seconds: f64,
}

impl Simulated {
    /// Events a second, all threads together.
    fn rate(&self) -> f64 {
        let events: u64 = self.runs.iter().flatten().map(|figures| figures.events).sum();
        events as f64 / self.seconds.max(1e-9)
    }

    fn text(&self) -> String {
        let Self { experiment, runs, seconds, .. } = self;
        let scenario = &experiment.scenario;
        let mut work = runs[0][0].alone_ns.map_or("work".into(), |total_ns| {
            format!("work of {} s at speed 1", digits(total_ns as f64 * 1e-9))
        });
        work += if experiment.has_several_works() { " in the first row" } else { "" };
        let mut text = vec![
            scenario.title.clone(),
            format!(
                "{work}, most expensive indivisible piece {} ms, {} seeds",
                digits(experiment.costliest_ns() as f64 * 1e-6),
                scenario.seeds.len(),
            ),
            table::text(scenario, runs),
        ];
        if let [only] = &runs[..]
            && only[0].sites.is_none()
        {
            text.push(table::depths(&only[0]));
        }
        if !scenario.paper.is_empty() {
            text.push(table::paper(scenario, runs));
        }
        text.push(format!("simulated in {seconds:.2} s, {} events a second", short(self.rate())));
        text.join("\n")
    }

    fn data(&self, name: &str) -> SimulationData {
        let scenario = &self.experiment.scenario;
        SimulationData {
            pleach: VERSION.into(),
            scenario: name.into(),
            title: scenario.title.clone(),
            seeds: scenario.seeds.clone(),
            rows: table::data(scenario, &self.runs),
            paper: scenario.paper.clone(),
            seconds: JsonNumber(self.seconds),
            setup_seconds: JsonNumber(self.setup_s),
            events_per_second: JsonNumber(self.rate()),
        }
    }

    /// The chart. A single run on sites is shown over time, which shows the effect of churn.
    fn picture(&self) -> String {
        let scenario = &self.experiment.scenario;
        let moments = match &self.runs[..] {
            [only] => only.first().and_then(|run| Some((run, run.sites.as_ref()?))),
            _ => None,
        };
        match moments {
            Some((run, sites)) => moments::draw(&scenario.title, run, sites),
            None => chart::draw(scenario, &self.runs),
        }
    }
}

//! `pleach sim`: runs on clusters that are not there.

mod chart;
mod keys;
mod loads;
mod moments;
mod scenario;
mod sites;
mod spec;
mod table;
mod words;

use super::console::{Console, DONE};
use super::files::{Output, keep_apart};
use super::flags::Given;
use super::line::Line;
use crate::failure::{Failure, usage};
use crate::registry::Entry;
use crate::registry::posed::Posed;
use crate::report::short;
use loads::{Model, pose};
use pleach_core::sim::figures::Figures;
use scenario::Scenario;
use serde_json::{Value, json};
use spec::{Spec, Work};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Simulates what the words ask for.
pub fn run(registry: &[Entry], console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    let given = &line.given;
    let (name, scenario, file) = words::read(registry, line)?;
    let threads = given.settings().map_err(Failure::Usage)?.threads;
    keep_apart(given, file.as_slice())?;
    let picture = Output::of("svg", given)?;
    enough_memory(&name, &scenario, threads)?;
    let started = Instant::now();
    let (works, posed) = problems(registry, &name, &scenario, given)?;
    let models: Vec<Model<'_>> = posed.iter().map(Model::new).collect();
    let at = |spec: &Spec| works.iter().position(|work| *work == spec.work).unwrap_or(0);
    for spec in scenario.cells.iter().filter(|spec| spec.cluster.policy.is_late()) {
        let snapshots = spec.cluster.snapshot_ns.map(|_| "no snapshot_ms: copies are in none");
        let may = posed[at(spec)].may_be_late();
        if let Some(expected) = snapshots.or(may.err()) {
            return usage(format!("{name}: balance = 'master-worker:late': expected {expected}"));
        }
    }
    for spec in scenario.cells.iter().filter(|spec| spec.cluster.policy.cutoff.is_some()) {
        if !posed[at(spec)].may_be_seeded() {
            return usage(format!("{name}: balance: cutoff needs a load of open nodes"));
        }
    }
    let setup_s = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let runs = simulate(&scenario, |spec, seed| models[at(spec)].run(spec, seed), threads)?;
    let all = Simulated { scenario, runs, setup_s, seconds: started.elapsed().as_secs_f64() };
    let text = if given.on("json") {
        all.json(&name).to_string()
    } else {
        let first = at(&all.scenario.cells[0]);
        let mut work = models[first].total_ns().map_or("work".into(), |total_ns| {
            format!("work of {} s at speed 1", table::digits(total_ns as f64 * 1e-9))
        });
        work += if works.len() > 1 { " in the first row" } else { "" };
        all.words(&work, posed[first].dearest_ns())
    };
    console.print(&text)?;
    if let Some(file) = picture {
        // A single run on sites is shown over time: nothing else tells what the churn did.
        let moments = match &all.runs[..] {
            [only] => only.first().and_then(|figures| figures.sites.as_ref()),
            _ => None,
        };
        let picture = match moments {
            Some(sites) => moments::draw(&all.scenario.title, sites),
            None => chart::draw(&all.scenario, &all.runs),
        };
        file.write(&picture)?;
    }
    Ok(DONE)
}

/// A scenario with its runs, cell by cell, and the time that they took here.
struct Simulated {
    scenario: Scenario,
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

    fn words(&self, work: &str, dearest_ns: u64) -> String {
        let Self { scenario, runs, seconds, .. } = self;
        let mut text = vec![
            scenario.title.clone(),
            format!(
                "{work}, most expensive indivisible piece {} ms, {} seeds",
                table::digits(dearest_ns as f64 * 1e-6),
                scenario.seeds.len(),
            ),
            table::words(scenario, runs),
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

    fn json(&self, name: &str) -> Value {
        let paper = self.scenario.paper.iter().map(|paper| {
            json!({
                "x": paper.x, "series": paper.series, "value": paper.value,
                "spread": paper.spread, "what": paper.what,
            })
        });
        json!({
            "pleach": env!("CARGO_PKG_VERSION"),
            "scenario": name,
            "title": self.scenario.title,
            "seeds": self.scenario.seeds,
            "rows": table::json(&self.scenario, &self.runs),
            "paper": paper.collect::<Vec<_>>(),
            "seconds": self.seconds,
            "setup_seconds": self.setup_s,
            "events_per_second": self.rate(),
        })
    }
}

/// The different works of a scenario, and their problems.
fn problems(
    registry: &[Entry],
    name: &str,
    scenario: &Scenario,
    given: &Given,
) -> Result<(Vec<Work>, Vec<Posed>), Failure> {
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
    let posed = works.iter().map(|work| pose(registry, work, given).map_err(named));
    let posed = posed.collect::<Result<_, _>>()?;
    Ok((works, posed))
}

/// Bytes that a simulated peer takes, as measured at most: with units, and with an explorer.
const PEER_BYTES: (u64, u64) = (4_500, 150_000);

/// What no simulation may take, however much memory there is: more is asked for by mistake.
const MOST_BYTES: u64 = 64 << 30;

/// Refuses more peers than fit into the memory that is free.
fn enough_memory(name: &str, scenario: &Scenario, threads: u32) -> Result<(), Failure> {
    let free = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    let most = free.map_or(MOST_BYTES, |kib| (kib << 10).min(MOST_BYTES));
    for spec in &scenario.cells {
        let each = match spec.work {
            Work::Interval { .. } => PEER_BYTES.0,
            Work::Search(_) => PEER_BYTES.1,
        };
        let peers = u64::from(spec.cluster.machine.peers());
        let at_once = u64::from(threads).min(scenario.seeds.len() as u64);
        let needed = peers * each * at_once;
        if needed > most {
            return usage(format!(
                "{name}: peers = {peers}: expected fewer; these need about {} GB of memory, and {} are free",
                needed >> 30,
                most >> 30
            ));
        }
    }
    Ok(())
}

/// Runs every cell with every seed, as many at once as there are threads.
fn simulate(
    scenario: &Scenario,
    run: impl Fn(&Spec, u64) -> Result<Figures, String> + Sync,
    threads: u32,
) -> Result<Vec<Vec<Figures>>, Failure> {
    let seeds = scenario.seeds.len();
    let jobs = scenario.cells.len() * seeds;
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<Figures, String>>>> =
        Mutex::new((0..jobs).map(|_| None).collect());
    let work = || {
        loop {
            let job = next.fetch_add(1, Ordering::Relaxed);
            let Some(spec) = scenario.cells.get(job / seeds) else { break };
            let result = run(spec, scenario.seeds[job % seeds]);
            results.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[job] = Some(result);
        }
    };
    std::thread::scope(|scope| {
        (0..(threads as usize).min(jobs)).for_each(|_| {
            scope.spawn(work);
        });
    });
    let results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let labels = table::labels(scenario);
    let mut cells = vec![Vec::with_capacity(seeds); scenario.cells.len()];
    for (job, result) in results.into_iter().enumerate() {
        match result {
            Some(Ok(figures)) => cells[job / seeds].push(figures),
            failed => {
                let why = failed.and_then(Result::err).unwrap_or("a run was lost".into());
                let (label, seed) = (labels[job / seeds].join(" "), scenario.seeds[job % seeds]);
                return Err(Failure::Inside(format!("{label} seed {seed}: {why}")));
            }
        }
    }
    Ok(cells)
}

//! `pleach devices`: the CPU and the devices of this machine, with measured rates.

use super::console::{Console, DONE};
use super::flags::FlagValues;
use crate::failure::Failure;
use crate::provenance::stamped;
use crate::registry::{Entry, Rate};
use crate::report::short;
use crate::solver;
use pleach_core::search::problem::Problem;
use pleach_gpu::DeviceSet;
use pleach_gpu::emulates;
use pleach_gpu::gpus::{DetectedGpu, gpus};
use pleach_gpu::spec::{DeviceKind, Spec};
use pleach_problems::simd::Level;
use pleach_runtime::{Outcome, Settings, cores};
use serde_json::{Map, Value, json};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// How long each rate is measured.
const MEASURED: Duration = Duration::from_millis(200);
/// How often to check whether that time is up.
const PROGRESS_EVERY: Duration = Duration::from_millis(20);

/// A GPU, and its rates or why they could not be measured.
struct Device {
    seen: DetectedGpu,
    rates: Vec<(&'static str, Result<f64, String>)>,
}

/// Measures and prints.
pub fn show(registry: &[Entry], console: &Console<'_>, given: &FlagValues) -> Result<u8, Failure> {
    let level = given.simd()?;
    let all: Vec<&Rate> = registry.iter().flat_map(|entry| entry.rates).collect();
    let on_thread = || Settings { threads: 1, ..Settings::default() };
    let rates = all.iter().map(|rate| Ok((rate.name, measured(rate, level, on_thread())?)));
    let rates = rates.collect::<Result<Vec<(&str, f64)>, Failure>>()?;
    let on = |kind: DeviceKind| -> Vec<(&'static str, Result<f64, String>)> {
        let settings = || Settings {
            threads: 0,
            devices: DeviceSet::shared(vec![Spec::of(kind)]),
            ..Settings::default()
        };
        let rate = |rate: &&&Rate| {
            (rate.name, measured(rate, level, settings()).map_err(|why| why.to_string()))
        };
        all.iter().filter(|rate| rate.on_devices).collect::<Vec<_>>().iter().map(rate).collect()
    };
    let gpus = gpus().map_err(|why| why.to_string()).map(|gpus| {
        let numbered =
            (0..).zip(gpus).map(|(i, seen)| Device { seen, rates: on(DeviceKind::Gpu(i)) });
        numbered.collect::<Vec<Device>>()
    });
    let emulated = emulates().map(|()| on(DeviceKind::Emulated));
    let text = if given.on("json") {
        let on_devices = all.iter().filter(|rate| rate.on_devices);
        let none = || on_devices.map(|rate| (rate.name, Err(String::new()))).collect();
        stamped(data(&rates, &gpus, emulated.unwrap_or_else(|_| none())))
    } else {
        rates_text(&rates, &gpus, emulated)
    };
    console.print(&text).map(|()| DONE)
}

/// The rate of some workers, in nodes a second.
fn measured(rate: &Rate, level: Level, settings: Settings) -> Result<f64, Failure> {
    let problem: Box<dyn Problem> = (rate.problem)(level).map_err(Failure::Inside)?;
    // The clock starts with the workers: after a GPU's context is created and its kernel compiled.
    let (mut started, mut failed) = (None, None);
    let settings = Settings { progress_every: PROGRESS_EVERY, ..settings };
    let report = solver::search(&*problem, &settings, &mut |snapshot| {
        if let Some(line) = snapshot.warning.as_ref().filter(|line| line.contains(" failed: ")) {
            failed = Some(line.clone());
        }
        match *started.get_or_insert_with(Instant::now) {
            start if start.elapsed() >= MEASURED => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    })?;
    // The work of a device that fails continues on the CPU, which may have another rate.
    if let Some(why) = failed {
        return Err(Failure::Machine(why));
    }
    let Outcome { seconds, setup_seconds, counts, .. } = report.outcome;
    Ok(counts.bounded as f64 / (seconds - setup_seconds))
}

/// The instruction sets that work here.
fn levels() -> Vec<String> {
    Level::ALL.iter().filter(|level| level.works()).map(ToString::to_string).collect()
}

type Rates = Vec<(&'static str, Result<f64, String>)>;

fn data(rates: &[(&str, f64)], gpus: &Result<Vec<Device>, String>, emulated: Rates) -> Value {
    let each: Map<String, Value> =
        rates.iter().map(|(name, rate)| (name.to_string(), json!(rate.round()))).collect();
    let rounded = |rate: &Result<f64, String>| json!(rate.as_ref().ok().map(|rate| rate.round()));
    let gpu = |gpu: &Device| {
        let DetectedGpu { maker, name, memory } = &gpu.seen;
        let mut all = json!({ "name": name, "maker": maker, "memory": memory });
        gpu.rates.iter().for_each(|(name, rate)| all[*name] = rounded(rate));
        let fails = gpu.rates.iter().find_map(|(_, rate)| rate.as_ref().err());
        all["fails"] = json!(fails);
        all
    };
    let slow: Map<String, Value> =
        emulated.iter().map(|(name, rate)| (name.to_string(), rounded(rate))).collect();
    json!({
        "cpu": { "cores": cores(), "simd": levels(), "nodes_per_second_and_thread": each },
        "gpus": gpus.as_ref().map_or(json!([]), |gpus| gpus.iter().map(gpu).collect()),
        "no_gpu": gpus.as_ref().err(),
        "emulated": slow,
    })
}

fn rates_text(
    rates: &[(&str, f64)],
    gpus: &Result<Vec<Device>, String>,
    emulated: Result<Rates, String>,
) -> String {
    let mut text =
        format!("cpu: {} cores, vector instructions (--simd): {}", cores(), levels().join(", "));
    for (name, rate) in rates {
        text += &format!("\n  {name:10} {:>12} nodes a second on one thread", short(*rate));
    }
    let of_device = |rates: &Rates| -> String {
        let line = |(name, rate): &(&str, Result<f64, String>)| match rate {
            Ok(rate) => format!("\n  {name:10} {:>12} nodes a second", short(*rate)),
            Err(why) => format!("\n  {name:10} {why}"),
        };
        rates.iter().map(line).collect()
    };
    match gpus {
        Ok(gpus) => {
            for (i, gpu) in gpus.iter().enumerate() {
                let DetectedGpu { maker, name, memory } = &gpu.seen;
                let (mib, rates) = (memory >> 20, of_device(&gpu.rates));
                text += &format!("\ngpu{i}: {name} ({maker}), {mib} MiB{rates}");
            }
        }
        Err(why) => text += &format!("\ngpu: none, {why}"),
    }
    text + &match emulated {
        Ok(rates) => format!("\nemulated: GPU code on the CPU, for tests{}", of_device(&rates)),
        Err(why) => format!("\nemulated: none, {why}"),
    }
}

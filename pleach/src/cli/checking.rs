//! `pleach devices --check`: tests every kernel on a device against the CPU's counts.

use super::console::{Console, DONE, FAILED};
use super::flags::{CHECK, FlagValues, TIME_LIMIT};
use super::own_process::this_program;
use crate::failure::{Failure, usage};
use crate::provenance::stamped;
use crate::registry::{Check, Entry, Probe, names};
use crate::results::JsonInteger;
use crate::solver;
use pleach_core::search::explorer::Progress;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::Nodes;
use pleach_gpu::begin::begin;
use pleach_gpu::form::BuiltKernel;
use pleach_gpu::pending::PendingDevice;
use pleach_gpu::pool::DevicePool;
use pleach_gpu::request::DeviceRequest;
use pleach_gpu::spec::{DeviceKind, Mode, Spec};
use pleach_gpu::{BoundingMode, DeviceError, Inside};
use pleach_problems::simd::Level;
use pleach_runtime::Settings;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The numbers of explorers to check, unless one is given; `None` means all that fit.
const EXPLORERS: [Option<u32>; 3] = [Some(1), Some(33), None];
/// The numbers of batches in flight to check, where the host branches.
const RMAX: [u32; 2] = [1, 3];
/// The maximum time that a check may take, with room for other load.
const LONGEST: Duration = Duration::from_secs(300);

/// The result of a search.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SearchResult {
    branched: u64,
    bounded: u64,
    total: u128,
    best: Option<i64>,
}

impl SearchResult {
    fn new(counts: &Counts, best: Option<i64>) -> Self {
        Self { branched: counts.branched, bounded: counts.bounded, total: counts.total, best }
    }

    fn data(&self) -> Value {
        let Self { branched, bounded, total, best } = *self;
        json!({
            "branched": JsonInteger(branched),
            "bounded": JsonInteger(bounded),
            "count": JsonInteger(total),
            "best": best.map(JsonInteger),
        })
    }
}

/// Why a search on the device did not finish.
enum Broken {
    /// Its result is wrong.
    Wrong(String),
    /// The device failed, and this process may no longer be able to use it.
    Lost(String),
    /// The time for all checks is up.
    Late,
    /// The device cannot do it, by its nature.
    Impossible,
}

/// Checks the kernels of a device: all, or those of the named problems. Prints a line per check.
pub fn check(
    registry: &[Entry],
    console: &Console<'_>,
    given: &FlagValues,
    problems: &[String],
) -> Result<u8, Failure> {
    let level = given.simd()?;
    let spec = given.get(&CHECK)?;
    let Some(spec) = spec else { return usage("--check: expected a device") };
    let able = names(registry, |entry| !entry.probes.is_empty());
    let mut entries: Vec<&Entry> =
        registry.iter().filter(|entry| !entry.probes.is_empty()).collect();
    if let Some(other) = problems.iter().find(|word| entries.iter().all(|e| e.name != **word)) {
        return usage(format!("devices {other} --check: expected {able}"));
    }
    entries.retain(|entry| problems.is_empty() || problems.iter().any(|word| word == entry.name));
    pleach_gpu::check(&spec).or_else(|why| usage(format!("--check {}: {why}", spec.kind)))?;
    // The emulated device is too slow for large instances.
    let small = spec.kind == DeviceKind::Emulated || given.on("quick");
    let limit = given.get(&TIME_LIMIT)?.flatten();
    let (begun, json) = (Instant::now(), given.on("json"));
    let mut checks = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let mut tell = |row: Value| {
            let line = check_line(&row);
            checks.push(row);
            match json {
                false => console.print(&line),
                true if given.on("quiet") => Ok(()),
                true => {
                    console.note(&line);
                    Ok(())
                }
            }
        };
        // Each kernel gets an equal part of the time, plus what earlier kernels left over.
        let part = (at + 1) as f64 / entries.len() as f64;
        let until = limit.map(|limit| begun + limit.mul_f64(part));
        let lost = of_entry(entry, (&spec, small), (level, until), &mut tell)?;
        let others: Vec<&str> = entries[at + 1..].iter().map(|entry| entry.name).collect();
        if lost && !others.is_empty() {
            // After a kernel has failed, the driver may refuse this process everything.
            let left = limit.map(|limit| limit.saturating_sub(begun.elapsed()));
            let rows = in_new_process(&others, given, left).unwrap_or_else(|why| {
                let why = why.to_string();
                others.iter().map(|name| unchecked(name, &why)).collect()
            });
            rows.into_iter().try_for_each(tell)?;
            break;
        }
    }
    let n = |result: &str| checks.iter().filter(|row| row["result"] == result).count();
    let (ok, wrong, failed, late) = (n("ok"), n("wrong"), n("failed"), n("skipped"));
    if json {
        let device = given.word(CHECK.about.name);
        let all = json!({
            "check": device,
            "ok": ok,
            "wrong": wrong,
            "failed": failed,
            "skipped": late,
            "checks": checks,
        });
        console.print(&stamped(all))?;
    } else {
        let late = if late > 0 { format!(", no time for {late}") } else { String::new() };
        console
            .print(&format!("{}: {ok} right, {wrong} wrong, {failed} failed{late}", spec.kind))?;
    }
    // If nothing was checked, the check has failed.
    Ok(if wrong + failed == 0 && ok > 0 { DONE } else { FAILED })
}

/// Checks the kernel of a problem. Returns whether the device failed; the rest is then left out.
fn of_entry(
    entry: &Entry,
    (spec, small): (&Spec, bool),
    (level, until): (Level, Option<Instant>),
    tell: &mut impl FnMut(Value) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    let pool = Arc::default();
    for probe in entry.probes.iter().filter(|probe| !(small && probe.large)) {
        let target = (probe.make_check)(level).map_err(Failure::Inside)?;
        let wanted = on_the_cpu(&target, until)?;
        for (way, words) in ways(spec, probe, &target) {
            let start = Instant::now();
            let (built, found) = match wanted {
                Some(_) => on_device(&target, &way, &pool, (start, until)),
                None => (None, Err(Broken::Late)),
            };
            if matches!(found, Err(Broken::Impossible)) && spec.giving.is_none() {
                continue;
            }
            let row = Row { entry, probe, way, words, built, start };
            let lost = matches!(found, Err(Broken::Lost(_)));
            tell(row.data(found, wanted))?;
            if lost {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// All ways to check a device, with their options in words.
fn ways(spec: &Spec, probe: &Probe, target: &Check) -> Vec<(Spec, String)> {
    let mut all = Vec::new();
    let asked = |mode| spec.mode.is_none_or(|asked| asked == mode);
    if let (true, Ok(on)) = (asked(Mode::Explore), target.problem.on_device()) {
        let layout = on.layout();
        let mode = Some(Mode::Explore);
        for explorers in spec.explorers.map_or(EXPLORERS.to_vec(), |number| vec![Some(number)]) {
            // One explorer alone would take too long.
            if probe.large && explorers == Some(1) && spec.explorers.is_none() {
                continue;
            }
            let many = explorers.map_or("all".into(), |number| number.to_string());
            for (inside, name) in Inside::ALL {
                let words = format!("explorers={many} inside={name}");
                all.push((Spec { mode, explorers, inside: Some(inside), ..*spec }, words));
            }
            let usual = Spec { mode, explorers, ..*spec };
            if layout.nodes == Nodes::Pool {
                let words = format!("explorers={many} giving=always");
                all.push((Spec { giving: Some(true), ..usual }, words));
            }
            if layout.parallel.is_some_and(|parallel| parallel != layout.kernel) {
                let words = format!("explorers={many} bounding=parallel");
                all.push((Spec { bounding: Some(BoundingMode::Parallel), ..usual }, words));
            }
        }
    }
    if asked(Mode::Evaluate) && target.problem.evaluation().is_ok() {
        let mode = Some(Mode::Evaluate);
        for rmax in spec.rmax.map_or(RMAX.to_vec(), |number| vec![number]) {
            let words = format!("mode=evaluate rmax={rmax}");
            all.push((Spec { mode, rmax: Some(rmax), ..*spec }, words));
        }
    }
    all
}

/// What a check was about.
struct Row<'r> {
    entry: &'r Entry,
    probe: &'r Probe,
    way: Spec,
    words: String,
    built: Option<BuiltKernel>,
    start: Instant,
}

impl Row<'_> {
    fn data(self, found: Result<SearchResult, Broken>, wanted: Option<SearchResult>) -> Value {
        let right = |found: &SearchResult, wanted: SearchResult| {
            if self.probe.exact { *found == wanted } else { found.best == wanted.best }
        };
        let (result, why) = match &found {
            Ok(found) if wanted.is_some_and(|wanted| right(found, wanted)) => ("ok", None),
            Ok(_) => ("wrong", None),
            Err(Broken::Wrong(why) | Broken::Lost(why)) => ("failed", Some(why)),
            Err(Broken::Late | Broken::Impossible) => ("skipped", None),
        };
        json!({
            "problem": self.entry.name,
            "instance": self.probe.instance,
            "mode": self.way.mode.map(|mode| mode.to_string()),
            "choices": self.words,
            "kernel": self.built.as_ref().map(|built| built.form.to_string()),
            "kernel_log": self.built.map(|built| built.log).filter(|log| !log.is_empty()),
            "result": result,
            "why": why,
            "found": found.as_ref().ok().map(SearchResult::data),
            "expected": wanted.as_ref().map(SearchResult::data),
            "seconds": (self.start.elapsed().as_secs_f64() * 1e4).round() / 1e4,
        })
    }
}

/// A problem whose kernels could not be checked at all.
fn unchecked(problem: &str, why: &str) -> Value {
    json!({ "problem": problem, "instance": "all", "choices": "", "result": "failed", "why": why })
}

/// The line for a check.
fn check_line(row: &Value) -> String {
    let text = |key: &str| row[key].as_str().unwrap_or_default();
    let kernel = row["kernel"].as_str().map_or(String::new(), |form| format!(" kernel={form}"));
    let head = format!(
        "{:6} {} {} {}{kernel}",
        text("result"),
        text("problem"),
        text("instance"),
        text("choices"),
    );
    match text("result") {
        "failed" => format!("{head}: {}", text("why")),
        "wrong" => format!("{head}: {}, expected {}", row["found"], row["expected"]),
        _ => format!("{head} {} s", row["seconds"]),
    }
}

/// The expected counts; `None` if there was no time for them.
fn on_the_cpu(target: &Check, until: Option<Instant>) -> Result<Option<SearchResult>, Failure> {
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    if left == Some(Duration::ZERO) {
        return Ok(None);
    }
    let settings = Settings { best: target.best, time_limit: left, ..Settings::default() };
    let report = solver::search(&*target.problem, &settings, &mut |_| ControlFlow::Continue(()))?;
    let best = report.outcome.solution.map(|best| best.score);
    let whole = report.outcome.stop.is_none();
    Ok(whole.then(|| SearchResult::new(&report.outcome.counts, best)))
}

/// Searches the whole tree on the device alone.
fn on_device(
    target: &Check,
    spec: &Spec,
    pool: &Arc<DevicePool>,
    (start, until): (Instant, Option<Instant>),
) -> (Option<BuiltKernel>, Result<SearchResult, Broken>) {
    let problem = &*target.problem;
    let late = || until.is_some_and(|until| Instant::now() >= until);
    if late() {
        return (None, Err(Broken::Late));
    }
    let opening = DeviceRequest::new(problem, spec, pool).and_then(PendingDevice::start);
    let opened = opening.map(|mut opening| opening.wait(&late)).transpose();
    let Some(opened) = opened else { return (None, Err(Broken::Late)) };
    let mut explorer = match opened.flatten().and_then(|opened| begin(opened, problem)) {
        Ok(explorer) => explorer,
        Err(DeviceError::Dependent(_)) => return (None, Err(Broken::Impossible)),
        Err(why) => return (None, Err(Broken::Lost(why.to_string()))),
    };
    let built = explorer.built().cloned();
    let mut searched = || -> Result<SearchResult, Broken> {
        let unreadable = |_| Broken::Wrong("it cannot read the root".into());
        explorer.add_work(&problem.root().bytes).map_err(unreadable)?;
        let mut best = target.best.map_or(i64::MAX, |value| problem.goal().score(value));
        let (mut progress, mut solution) = (Progress::default(), None);
        while explorer.size() > 0.0 {
            let fuel = explorer.max_fuel();
            let mut step = explorer.step(fuel, best);
            if let Some(why) = explorer.take_failure() {
                return Err(Broken::Lost(why.to_string()));
            }
            if let Some(found) = step.found.take().filter(|found| found.score < best) {
                best = found.score;
                match problem.check(&found.solution) {
                    Some(Ok(value)) if value == problem.goal().value(best) => {}
                    other => {
                        let claimed = problem.goal().value(best);
                        let said = match other {
                            Some(Ok(value)) => format!("the check computes {value}"),
                            Some(Err(why)) => format!("the check refuses it: {why}"),
                            None => "the problem has no check".into(),
                        };
                        let why = format!("it claims a solution of value {claimed}, but {said}");
                        return Err(Broken::Wrong(why));
                    }
                }
                solution = Some(best);
            }
            progress.add(step);
            if start.elapsed() > LONGEST {
                return Err(Broken::Wrong(format!("not done after {} s", LONGEST.as_secs())));
            }
            if late() {
                return Err(Broken::Late);
            }
        }
        progress.add(explorer.flush());
        match explorer.take_failure() {
            Some(why) => Err(Broken::Lost(why.to_string())),
            None => Ok(SearchResult::new(&progress.counts, solution)),
        }
    };
    (built, searched())
}

/// Checks the other problems in a new process, which prints only these checks.
fn in_new_process(
    problems: &[&str],
    given: &FlagValues,
    left: Option<Duration>,
) -> Result<Vec<Value>, Failure> {
    let machine =
        |what: String| Failure::Machine(format!("cannot check the other kernels: {what}"));
    let mut command = this_program();
    command.arg("devices").args(problems).args(["--json", "--quiet"]);
    for flag in ["check", "simd"] {
        given.word(flag).into_iter().for_each(|value| {
            command.args([format!("--{flag}={value}")]);
        });
    }
    if given.on("quick") {
        command.arg("--quick");
    }
    if let Some(left) = left {
        command.arg(format!("--time-limit={}ms", left.as_millis().max(1)));
    }
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|why| machine(why.to_string()))?;
    let said: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| machine(format!("the process ended with {}", output.status)))?;
    Ok(said["checks"].as_array().cloned().unwrap_or_default())
}

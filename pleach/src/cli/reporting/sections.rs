//! The sections of a page about one run: activity over time, shares, processes, a loop's parts, repeats, settings.

use super::traced::Traced;
use crate::draw::chart::{Chart, Series};
use crate::draw::lanes::{self, Lane};
use crate::draw::over_time::{draw_steps, draw_values, summed};
use crate::draw::page::{chart, table};
use crate::draw::shares::{self, WorkerShare};
use crate::draw::svg::escaped;
use crate::report::columns::digits;
use crate::report::{grouped, short as rate_words};
use crate::results::{
    JsonInteger, LoopData, RunData, SiteData, SplitData, SpreadData, TracedWorker, WorkerData,
    in_short,
};
use std::fmt::Write;

/// The maximum number of workers that have a lane or a bar each; more are shown together.
const LANES: usize = 48;
/// The maximum number of rows of a table.
const ROWS: usize = 200;
/// The maximum number of points of a line.
const POINTS: usize = 200;

/// A paragraph in a muted colour.
pub fn quiet(text: &str) -> String {
    format!("<p class=\"quiet said\">{}</p>\n", escaped(text))
}

/// Each worker over time, and the best value and the bound, or the rate.
pub fn activity(run: &RunData, traced: &Traced) -> String {
    let mut html = "<h3>Activity over time</h3>\n".to_string();
    let (setup_s, seconds) = (run.setup_s(), run.seconds.0);
    if traced.workers.is_empty() {
        html += &quiet("No worker explored anything, so the trace has no activity.");
    } else if traced.workers.len() <= LANES {
        let lane = |worker| lane(run, worker);
        let all: Vec<Lane<'_>> = traced.workers.iter().map(lane).collect();
        let improved = traced.workers.iter().any(|worker| !worker.improve.is_empty());
        let orange = if improved { "; orange: heuristics" } else { "" };
        let title = format!("Each worker over time: the darker, the busier{orange}");
        html += &chart(&lanes::draw(&title, &all, run.seconds.0));
    } else {
        let busy = traced.workers.iter().map(|worker| {
            // A worker may sum up several.
            let busy = worker.busy.iter().map(|part| part.0 * worker.step_s.0);
            (worker.step_s.0, busy.collect())
        });
        let steps = summed(&busy.collect::<Vec<_>>(), (setup_s, seconds));
        let title = format!("Busy workers, of {}", traced.workers.len());
        html += &chart(&draw_steps(&title, ("workers busy", &steps), (setup_s, seconds)));
    }
    let known = traced.moments.iter().any(|moment| moment.best.or(moment.bound).is_some());
    if known {
        html += "<h3>Best value and bound over time</h3>\n";
        html += &chart(&draw_values("", (&traced.moments, run.decimals()), seconds));
    }
    let nodes = traced.workers.iter().map(|worker| {
        (worker.step_s.0, worker.nodes.iter().map(|nodes| nodes.0 as f64).collect::<Vec<f64>>())
    });
    let steps = summed(&nodes.collect::<Vec<_>>(), (setup_s, seconds));
    if steps.iter().any(|step| step.1 > 0.0) {
        html += "<h3>Nodes a second over time</h3>\n";
        html += &chart(&draw_steps("", ("nodes a second", &steps), (setup_s, seconds)));
    }
    html + &quiet(&format!("From {}.", traced.path.display()))
}

fn lane<'t>(run: &RunData, worker: &'t TracedWorker) -> Lane<'t> {
    let [parts, others] = [&worker.busy, &worker.improve]
        .map(|fractions| fractions.iter().map(|part| part.0.min(1.0)).collect());
    Lane { name: &worker.name, from_s: run.setup_s(), step_s: worker.step_s.0, parts, others }
}

/// How much each worker did.
pub fn workers(run: &RunData) -> String {
    if run.workers.is_empty() || run.of_loop.is_some() {
        return String::new();
    }
    let all: f64 =
        run.workers.iter().filter_map(|worker| worker.branched).map(|n| n.0 as f64).sum();
    let share = |worker: &WorkerData| {
        worker.branched.filter(|_| all > 0.0).map(|nodes| nodes.0 as f64 / all)
    };
    let workers: Vec<WorkerShare<'_>> = run
        .workers
        .iter()
        .map(|worker| WorkerShare {
            name: &worker.name,
            busy_s: worker.busy_s.0,
            idle_s: worker.idle_s.0,
            share: share(worker),
        })
        .collect();
    let mut html = "<h3>Shares of workers</h3>\n".to_string();
    html += &pictured(&workers, "share of the nodes branched");
    let mut rows = vec![
        [
            "worker", "nodes branched", "share", "busy s", "idle s", "pieces received",
            "nodes a second",
        ]
        .map(String::from)
        .to_vec(),
    ];
    rows.extend(run.workers.iter().take(ROWS).map(|worker| {
        vec![
            worker.name.clone(),
            number(worker.branched),
            share(worker).map_or("–".into(), |share| format!("{:.1} %", 100.0 * share)),
            digits(worker.busy_s.0),
            digits(worker.idle_s.0),
            number(worker.steals),
            worker.power.map_or("–".into(), |power| rate_words(power.0 as f64)),
        ]
    }));
    html += &folded("All figures of the workers", &table(&rows), run.workers.len());
    html
}

/// Bars for few workers; for many, lines from the busiest worker to the least busy one.
fn pictured(workers: &[WorkerShare<'_>], what: &str) -> String {
    if workers.len() <= LANES {
        return chart(&shares::draw(workers, what));
    }
    let n = workers.len();
    let step = n.div_ceil(POINTS);
    let series = |name: &str, mut all: Vec<f64>| {
        all.sort_by(|one, other| other.total_cmp(one));
        let points = all.iter().step_by(step).enumerate().map(|(at, &value)| (at, value, 0.0));
        Series { name: name.into(), points: points.collect(), ..Series::default() }
    };
    let part =
        |worker: &WorkerShare<'_>| worker.busy_s / (worker.busy_s + worker.idle_s).max(1e-12);
    let mut all = vec![series("time busy", workers.iter().map(part).collect())];
    let most = workers.iter().filter_map(|worker| worker.share).fold(0.0, f64::max);
    if most > 0.0 {
        let shares = workers.iter().map(|worker| worker.share.unwrap_or(0.0) / most).collect();
        all.push(series("share of the work", shares));
    }
    let lines = Chart {
        title: format!("{n} workers, each line from the highest to the lowest"),
        below: "as fractions of the time, and of the largest share".into(),
        x_name: "workers".into(),
        y_name: "fraction".into(),
        series_name: String::new(),
        places: (0..n).step_by(step).map(|at| (at + 1).to_string()).collect(),
        series: all,
        parts: true,
        ..Chart::default()
    };
    chart(&lines.draw())
}

/// A table that opens on a click, with a note on the rows it leaves out.
fn folded(title: &str, table: &str, all: usize) -> String {
    let left = all.saturating_sub(ROWS);
    let more = if left > 0 { quiet(&format!("{left} more are not shown.")) } else { String::new() };
    format!("<details><summary>{title}</summary>\n{table}{more}</details>\n")
}

/// The processes: when each took part, and how it ended.
pub fn sites(run: &RunData) -> String {
    let mut sites: Vec<&SiteData> = run.sites().iter().collect();
    if sites.is_empty() {
        return String::new();
    }
    // Those that stayed to the end come first, since there may be too many to show.
    sites.sort_by_key(|site| site.end.is_some());
    let mut html = "<h3>Processes</h3>\n".to_string();
    let lane = |site: &SiteData| {
        let (joined_s, until) = (site.joined_s.0, site.left_s.unwrap_or(run.seconds).0);
        let there = (until - joined_s).max(0.0);
        // A site without a name is drawn by its place.
        (site.name.clone(), joined_s, there)
    };
    let lanes: Vec<(String, f64, f64)> = sites.iter().copied().take(LANES).map(lane).collect();
    let drawn = lanes.iter().map(|(name, from_s, there)| Lane {
        name,
        from_s: *from_s,
        step_s: *there,
        parts: vec![0.75],
        others: vec![],
    });
    let title = "When each process was present";
    html += &chart(&lanes::draw(title, &drawn.collect::<Vec<_>>(), run.seconds.0));
    let mut rows = vec![
        [
            "process", "host", "workers", "joined at s", "left at s", "end", "progress reports",
            "done twice",
        ]
        .map(String::from)
        .to_vec(),
    ];
    rows.extend(sites.iter().take(ROWS).map(|site| {
        let merged = site.merged.map(|merged| format!(": {} processes", grouped(merged.0.into())));
        vec![
            format!("{}{}", site.name, merged.unwrap_or_default()),
            site.host.clone(),
            site.workers.len().to_string(),
            digits(site.joined_s.0),
            site.left_s.map_or("–".into(), |left_s| digits(left_s.0)),
            site.end.clone().unwrap_or("–".into()),
            number(site.commits),
            number(site.redone),
        ]
    }));
    html += &table(&rows);
    if sites.len() > ROWS {
        html += &quiet(&format!("{} more are not shown.", sites.len() - ROWS));
    }
    html
}

/// The parts of a loop, and its best static split.
pub fn parts(run: &RunData, of_loop: &LoopData) -> String {
    let workers = of_loop.parts.iter().map(|part| WorkerShare {
        name: &part.name,
        busy_s: part.busy_s.0,
        idle_s: part.idle_s.0,
        share: Some(part.share.0),
    });
    let mut html = "<h3>Parts of the loop</h3>\n".to_string();
    html += &pictured(&workers.collect::<Vec<_>>(), "share of the loop");
    let mut rows = vec![
        ["worker", "share", "units of the loop", "ranges", "busy s", "idle s"]
            .map(String::from)
            .to_vec(),
    ];
    rows.extend(of_loop.parts.iter().take(ROWS).map(|part| {
        vec![
            part.name.clone(),
            format!("{:.1} %", 100.0 * part.share.0),
            number(part.units),
            number(part.ranges),
            digits(part.busy_s.0),
            digits(part.idle_s.0),
        ]
    }));
    html += &folded("All figures of the parts", &table(&rows), of_loop.parts.len());
    if let Some(SplitData { share, seconds }) = of_loop.split {
        let more = 100.0 * (run.seconds.0 / seconds.0.max(1e-12) - 1.0);
        let threads = of_loop.parts.iter().all(|part| part.name.starts_with("cpu"));
        let first = if threads { "the first thread" } else { "all threads together" };
        let _ = writeln!(
            html,
            "<p>The best static split found gives {:.1} % to {first} and takes {} s. Shared dynamically, the loop \
             took {} s: {more:+.1} %.</p>",
            100.0 * share.0,
            digits(seconds.0),
            digits(run.seconds.0)
        );
    }
    if let Some(checksum) = of_loop.checksum {
        html += &quiet(&format!("Checksum {checksum}."));
    }
    html
}

/// How several runs of one command differ.
pub fn repeats(run: &RunData) -> String {
    let Some(repeats) = &run.repeats else { return String::new() };
    let row = |name: String, spread: &SpreadData, words: fn(f64) -> String| {
        let SpreadData { mean, deviation, least, most } = spread;
        let numbers = [mean, deviation, least, most].map(|number| words(number.0));
        [vec![name], numbers.to_vec()].concat()
    };
    let mut rows = vec![
        ["", "mean", "standard deviation", "least", "most"].map(String::from).to_vec(),
        row("seconds".into(), &repeats.seconds, digits),
    ];
    let name = run.rate().map_or("rate".to_string(), |(_, of)| format!("{of} a second"));
    rows.extend(repeats.rate.as_ref().map(|rate| row(name, rate, rate_words)));
    let last = if run.of_loop.is_some() { "the fastest" } else { "the last" };
    format!(
        "<h3>{} runs</h3>\n{}{}",
        repeats.runs,
        table(&rows),
        quiet(&format!("Everything else is about {last} of them."))
    )
}

/// The cost of keeping the workers busy.
pub fn balance(run: &RunData) -> String {
    let Some(balance) = &run.balance else { return String::new() };
    let asked = [balance.requests, balance.served, balance.refused].map(number);
    let [requests, served, refused] = asked;
    let plural = if requests == "1" { "" } else { "s" };
    quiet(&format!(
        "Balance {}: {requests} request{plural} for work, {served} served, {refused} refused, {} bytes of work moved.",
        balance.preset,
        number(balance.moved_bytes)
    ))
}

/// The settings in force.
pub fn settings(run: &RunData) -> String {
    let set = run.settings.iter().filter(|(_, value)| !value.is_null());
    let words = |value: &serde_json::Value| match value {
        serde_json::Value::String(word) => word.clone(),
        serde_json::Value::Array(list) if list.len() <= 16 => {
            list.iter().map(in_short).collect::<Vec<_>>().join(", ")
        }
        other => in_short(other),
    };
    let mut rows = vec![vec!["setting".to_string(), "value".into()]];
    rows.extend(set.map(|(key, value)| vec![key.clone(), words(value)]));
    if rows.len() == 1 {
        return String::new();
    }
    format!("<details><summary>Settings in force</summary>\n{}</details>\n", table(&rows))
}

/// A whole number in groups of three digits.
pub fn number<T: Into<u128>>(value: Option<JsonInteger<T>>) -> String {
    value.map_or("–".into(), |number| grouped(number.0.into()))
}

//! The page: a table of all runs, speed-ups, and a section for each run.

use super::sections;
use super::simulated::html_of;
use super::speedups::{Group, Point, groups, how};
use super::traced::Traced;
use crate::draw::page::{chart, table_of, whole};
use crate::draw::svg::escaped;
use crate::report::columns::digits;
use crate::report::{counted, gap, short};
use crate::results::{JsonInteger, RunData, SimulationData};
use std::fmt::Write;

/// The maximum number of numbers or names of a solution that are shown.
const SOLUTION: usize = 400;

/// The result in a file.
pub enum AnyResult {
    Run(Box<RunData>),
    Simulated(SimulationData),
}

/// The result in a file, its place, and what was found with it.
pub struct Shown {
    pub place: String,
    pub result: AnyResult,
    /// The run over time, or why it is unknown.
    pub traced: Result<Traced, String>,
    /// The solution as a picture, or why there is none.
    pub picture: Option<Result<String, String>>,
}

/// The page for these.
pub fn page(all: &[Shown]) -> String {
    let title = match all {
        [Shown { result: AnyResult::Run(run), .. }] => format!("{} {}", run.problem, run.instance),
        _ => counted(all.len(), "run"),
    };
    let mut html = format!("<h1 class=\"said\">{}</h1>\n", escaped(&title));
    let runs = all.iter().enumerate().filter_map(|(at, shown)| match &shown.result {
        AnyResult::Run(run) => Some(Point { number: at + 1, run }),
        AnyResult::Simulated(_) => None,
    });
    let runs: Vec<Point<'_>> = runs.collect();
    if !runs.is_empty() {
        html += &summary(&runs);
    }
    let simulated = all.iter().enumerate().filter_map(|(at, shown)| match &shown.result {
        AnyResult::Simulated(one) => Some((at + 1, one)),
        AnyResult::Run(_) => None,
    });
    for (number, one) in simulated {
        let name = if one.title.is_empty() { &one.scenario } else { &one.title };
        let _ = writeln!(
            html,
            "<p><a href=\"#run-{number}\">{number}: {}</a>, simulated in {} s</p>",
            escaped(name),
            digits(one.seconds.0)
        );
    }
    let groups = groups(&runs);
    if !groups.is_empty() {
        html += "<h2>Speed-ups</h2>\n";
    }
    groups.iter().for_each(|group| html += &speed_up(group));
    for (at, shown) in all.iter().enumerate() {
        match &shown.result {
            AnyResult::Run(run) => html += &of_run(at + 1, run, shown),
            AnyResult::Simulated(simulated) => html += &html_of(simulated, at + 1, &shown.place),
        }
    }
    let version = env!("CARGO_PKG_VERSION");
    html += &sections::quiet(&format!("Written by pleach {version}."));
    whole(&title, &html)
}

fn link(number: usize) -> String {
    format!("<a href=\"#run-{number}\">{number}</a>")
}

/// A row for each run.
fn summary(runs: &[Point<'_>]) -> String {
    let head = [
        "run", "status", "value", "bound", "nodes", "seconds", "a second", "workers", "efficiency",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    for Point { number, run } in runs {
        let integer =
            |value: Option<JsonInteger<i64>>| value.map_or("–".into(), |value| run.value(value));
        let value = match (run.objective, run.count) {
            (Some(value), _) => run.value(value),
            (None, count) => sections::number(count),
        };
        let efficiency =
            run.efficiency.map_or("–".into(), |part| format!("{:.1} %", 100.0 * part.0));
        let rate = run.rate().map_or("–".into(), |(rate, of)| format!("{} {of}", short(rate)));
        let name = escaped(&format!("{} {}", run.problem, run.instance));
        rows.push(vec![
            format!("<a href=\"#run-{number}\">{number}: {name}</a>"),
            escaped(&run.status),
            value,
            integer(run.lower_bound),
            sections::number(run.explored()),
            digits(run.seconds.0),
            escaped(&rate),
            run.workers.len().to_string(),
            efficiency,
        ]);
    }
    table_of(&rows)
}

/// Speed-ups of runs on more workers.
fn speed_up(group: &Group<'_>) -> String {
    let mut html = format!("<h3 class=\"said\">{}</h3>\n", escaped(&group.title));
    let base = group.base.run;
    let _ = writeln!(
        html,
        "<p>Compared with run {}, the one with the fewest workers: {} in {} s{}.</p>",
        link(group.base.number),
        counted(base.workers.len(), "worker"),
        digits(base.time_s()),
        if base.repeats.is_some() { ", the mean of its repeats" } else { "" }
    );
    if let Some(drawn) = group.chart() {
        html += &chart(&drawn);
    }
    let head = ["run", "workers", "how", "seconds", "speed-up", "ideal", "of the ideal"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for point in &group.points {
        let (times, ideal) = (group.speed_up(point), group.ideal(point));
        rows.push(vec![
            link(point.number),
            point.run.workers.len().to_string(),
            escaped(&how(point.run)),
            digits(point.run.time_s()),
            format!("{times:.2}"),
            format!("{ideal:.2}"),
            if ideal > 0.0 { format!("{:.1} %", 100.0 * times / ideal) } else { "–".into() },
        ]);
    }
    html += &table_of(&rows);
    html += &sections::quiet(
        "The ideal speed-up is the ratio of the numbers of workers, as if all were alike. Of several runs on the same \
         number of workers, the chart shows the fastest.",
    );
    for number in &group.stopped {
        let _ = writeln!(
            html,
            "<p>Run {} was stopped before it was done, so it has no time to compare.</p>",
            link(*number)
        );
    }
    html
}

/// All about one run.
fn of_run(number: usize, run: &RunData, shown: &Shown) -> String {
    let mut html = format!(
        "<h2 id=\"run-{number}\" class=\"said\">{number}: {} {}</h2>\n",
        escaped(&run.problem),
        escaped(&run.instance)
    );
    html += &sections::quiet(&format!("{}{}.", shown.place, origin(run)));
    let _ = writeln!(html, "<p>{}</p>", escaped(&answer(run)));
    if let Some(plan) = run.solution.as_ref().filter(|plan| !plan.is_empty()) {
        let (words, between): (Vec<String>, _) = match &run.names {
            Some(names) => (names.iter().take(SOLUTION).cloned().collect(), "\n"),
            None => (plan.iter().take(SOLUTION).map(ToString::to_string).collect(), " "),
        };
        let more = if plan.len() > SOLUTION { " …" } else { "" };
        let _ = writeln!(
            html,
            "<details><summary>Solution</summary><pre>{}{more}</pre></details>",
            escaped(&words.join(between))
        );
    }
    html += &sections::balance(run);
    match &shown.traced {
        Ok(traced) => html += &sections::activity(run, traced),
        Err(why) => {
            html += "<h3>Activity over time</h3>\n";
            let _ = writeln!(html, "<p class=\"said\">{}</p>", escaped(why));
        }
    }
    html += &sections::workers(run);
    if let Some(of_loop) = &run.of_loop {
        html += &sections::parts(run, of_loop);
    }
    html += &sections::sites(run);
    html += &sections::repeats(run);
    match &shown.picture {
        Some(Ok(picture)) => {
            let _ = writeln!(html, "<h3>Schedule</h3>\n<div class=\"wide\">{picture}</div>");
        }
        Some(Err(why)) => {
            let _ = writeln!(html, "<h3>Schedule</h3>\n<p class=\"said\">{}</p>", escaped(why));
        }
        None => {}
    }
    html + &sections::settings(run)
}

/// Where and when the run took place, as far as its file says; follows the name of the file.
fn origin(run: &RunData) -> String {
    let part = |before: &str, word: &Option<String>| {
        word.as_ref().map_or(String::new(), |word| format!("{before}{word}"))
    };
    let RunData { host, processor, commit, date, .. } = run;
    part(": on ", host) + &part(", ", processor) + &part(", at ", date) + &part(", commit ", commit)
}

/// The result, in a sentence.
fn answer(run: &RunData) -> String {
    let mut text = match (run.objective, run.count) {
        (Some(value), _) => format!("Value {} ({})", run.value(value), run.status),
        (None, Some(_)) => format!("{} ({})", sections::number(run.count), run.status),
        (None, None) => run.status.clone(),
    };
    if let Some(bound) = run.lower_bound {
        text += &format!(", bound {}", run.value(bound));
        if let Some(value) = run.objective.filter(|_| run.is_stopped()) {
            text += &format!(", gap {:.2} %", 100.0 * gap(value.0, bound.0));
        }
    }
    if let (Some(_), Some(count)) = (run.objective, run.count) {
        text += &format!(", {} optimal solutions", sections::number(Some(count)));
    }
    text += &format!(". {} s on {}", digits(run.seconds.0), counted(run.workers.len(), "worker"));
    if run.setup_s() > 0.0 {
        text += &format!(", {} s of them before the first node", digits(run.setup_s()));
    }
    if let Some(depth) =
        run.nodes.as_ref().and_then(|nodes| nodes.depth).filter(|depth| depth.0 > 0)
    {
        text += &format!("; {} nodes, down to depth {depth}", sections::number(run.explored()));
    }
    text + "."
}

//! [`LoopResult`]: a loop's result in words or as JSON.

use super::split::Split;
use crate::cli::flags::Verb;
use crate::loops::{LoopCommand, LoopEntry, LoopOutput};
use crate::report::json;
use crate::report::repeats::Repeats;
use crate::results::{
    JsonInteger, JsonNumber, LoopData, PartData, RunData, SiteData, SplitData, VERSION, WorkerData,
};
use pleach_loops::looping::{LoopReport, Part};
use pleach_runtime::outcome::SiteReport;
use std::fmt::Write;

/// What to report about a loop.
pub struct LoopResult<'a> {
    pub entry: &'a LoopEntry,
    pub command: &'a LoopCommand<'a>,
    /// The result; `None` if the loop was stopped.
    pub job: Option<&'a LoopOutput>,
    pub report: &'a LoopReport,
    /// The best static split, if requested.
    pub split: Option<Split>,
    /// The times of all runs, if there were several.
    pub repeats: Repeats,
}

impl LoopResult<'_> {
    /// The result as JSON or in words, as `--json` says.
    pub fn output(&self) -> String {
        if self.command.given.on("json") { self.data().json().to_string() } else { self.text() }
    }

    /// Operations a second.
    fn rate(&self) -> Option<(f64, &'static str)> {
        let (work, name) = self.job?.work;
        (self.report.seconds > 0.0).then_some((work / self.report.seconds, name))
    }

    /// What to print if the loop is stopped at once, after this many seconds.
    pub fn stopped(self) -> impl FnOnce(f64) -> String + Send + use<> {
        let data = self.command.given.on("json").then(|| self.data());
        let what = self.what();
        move |seconds| match data {
            Some(data) => {
                let of_loop = data
                    .of_loop
                    .map(|of_loop| LoopData { seconds: JsonNumber(seconds), ..of_loop });
                RunData { seconds: JsonNumber(seconds), of_loop, ..data }.json().to_string()
            }
            None => format!("{what}: stopped after {seconds:.3} s"),
        }
    }

    /// The loop and its words.
    fn what(&self) -> String {
        let words = self.command.words.iter().map(String::as_str);
        std::iter::once(self.entry.name).chain(words).collect::<Vec<_>>().join(" ")
    }

    fn text(&self) -> String {
        let what = self.what();
        let seconds = self.report.seconds;
        let mut text = match self.job {
            Some(found) => format!("{what}: {}, {seconds:.3} s", found.phrase),
            None => format!("{what}: stopped after {seconds:.3} s"),
        };
        if let Some((rate, unit)) = self.rate() {
            let _ = write!(text, ", {} {unit} a second", scaled(rate));
        }
        for part in &self.report.parts {
            let idle = 100.0 * part.idle_s / seconds.max(1e-9);
            let _ =
                write!(text, "\n  {:12} {:5.1} %  idle {idle:.1} %", part.name, 100.0 * part.share);
        }
        if let Some(split) = &self.split {
            let on_cpu = self.report.parts.iter().all(|part| part.name.starts_with("cpu"));
            let first = if on_cpu { "cpu0" } else { "threads" };
            let (best, more) = (100.0 * split.share, 100.0 * (seconds / split.seconds - 1.0));
            let _ = write!(
                text,
                "\n  best static split found: {best:.1} % to {}, {:.3} s; shared dynamically: {more:+.1} % time",
                first, split.seconds
            );
        }
        if self.repeats.runs() > 1 {
            let _ = write!(text, "\n  the fastest of {}", self.repeats);
        }
        if let Some(found) = self.job {
            let _ = write!(text, "\n  checksum {}", found.checksum);
        }
        text
    }

    /// The processes, if there are several.
    fn sites(&self) -> Option<Vec<SiteData>> {
        self.command.given.cluster.as_ref()?;
        let root = SiteReport {
            name: "site0".into(),
            host: pleach_runtime::host(),
            ..SiteReport::default()
        };
        let sites = std::iter::once(&root).chain(&self.report.sites);
        let sites = sites.map(|site| {
            let named = |part: &Part| {
                part.name == site.name || part.name.starts_with(&format!("{}/", site.name))
            };
            let workers = self.report.parts.iter().enumerate().filter(|(_, part)| named(part));
            let workers = workers.map(|(at, _)| at).collect();
            json::site(&SiteReport { workers, ..site.clone() })
        });
        Some(sites.collect())
    }

    fn data(&self) -> RunData {
        let (given, report) = (self.command.given, self.report);
        let settings = given.record_for(Verb::Loop, self.entry.flags);
        let part = |part: &Part| PartData {
            name: part.name.clone(),
            share: JsonNumber(part.share),
            units: Some(JsonInteger(part.units)),
            ranges: Some(JsonInteger(part.ranges)),
            busy_s: JsonNumber(part.busy_s),
            idle_s: JsonNumber(part.idle_s),
        };
        let worker = |part: &Part| WorkerData {
            name: part.name.clone(),
            busy_s: JsonNumber(part.busy_s),
            idle_s: JsonNumber(part.idle_s),
            ..WorkerData::default()
        };
        let more = self.job.into_iter().flat_map(|found| &found.more);
        let of_loop = LoopData {
            name: self.entry.name.into(),
            units: self.job.map(|found| JsonInteger(found.units)),
            parts: report.parts.iter().map(part).collect(),
            seconds: JsonNumber(report.seconds),
            split: self.split.map(|split| SplitData {
                share: JsonNumber(split.share),
                seconds: JsonNumber(split.seconds),
            }),
            checksum: self.job.map(|found| found.checksum),
            rate: self.rate().map(|(rate, _)| JsonNumber(rate)),
            rate_of: self.rate().map(|(_, name)| name.into()),
            more: more.map(|(key, value)| (key.to_string(), value.clone())).collect(),
        };
        RunData {
            pleach: VERSION.into(),
            problem: self.entry.name.into(),
            instance: self.command.words.join(" "),
            status: if self.job.is_some() { "done" } else { "stopped" }.into(),
            stopped_by: if self.job.is_some() { None } else { Some("cancelled".into()) },
            seconds: JsonNumber(report.seconds),
            workers: report.parts.iter().map(worker).collect(),
            sites: self.sites(),
            of_loop: Some(of_loop),
            repeats: self.repeats.data(),
            seed: settings.get("seed").cloned(),
            settings: settings.as_object().cloned().unwrap_or_default(),
            ..RunData::default()
        }
        .stamped()
    }
}

/// A rate with the prefix of its power of a thousand.
fn scaled(rate: f64) -> String {
    let powers = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let power = powers.into_iter().find(|(power, _)| rate >= *power);
    power.map_or_else(
        || format!("{rate:.1} "),
        |(power, letter)| format!("{:.1} {letter}", rate / power),
    )
}

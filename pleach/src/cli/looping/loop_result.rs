//! [`LoopResult`]: a loop's result in words or as JSON.

use super::split::Split;
use crate::cli::flags::Verb;
use crate::loops::{Entry, Found, Order};
use crate::report::json::{round, whole};
use crate::report::repeats::Repeats;
use pleach_loops::looping::{LoopReport, LoopSite, Part};
use pleach_runtime::SiteEnd;
use serde_json::{Value, json};
use std::fmt::Write;

/// What to report about a loop.
pub struct LoopResult<'a> {
    pub entry: &'a Entry,
    pub order: &'a Order<'a>,
    /// The result; `None` if the loop was stopped.
    pub job: Option<&'a Found>,
    pub report: &'a LoopReport,
    /// The best static split, if requested.
    pub split: Option<Split>,
    /// The times of all runs, if there were several.
    pub repeats: Repeats,
}

impl LoopResult<'_> {
    /// The result as JSON or in words, as `--json` says.
    pub fn text(&self) -> String {
        if self.order.given.on("json") { self.json().to_string() } else { self.words() }
    }

    /// Operations a second.
    fn rate(&self) -> Option<(f64, &'static str)> {
        let (work, name) = self.job?.work;
        (self.report.seconds > 0.0).then_some((work / self.report.seconds, name))
    }

    /// What to print if the loop is stopped at once, after this many seconds.
    pub fn stopped(self) -> impl FnOnce(f64) -> String + Send + use<> {
        let data = self.order.given.on("json").then(|| self.json());
        let what = self.what();
        move |seconds| match data {
            Some(mut data) => {
                data["seconds"] = round(seconds);
                data["loop"]["seconds"] = round(seconds);
                data.to_string()
            }
            None => format!("{what}: stopped after {seconds:.3} s"),
        }
    }

    /// The loop and its words.
    fn what(&self) -> String {
        let words = self.order.words.iter().map(String::as_str);
        std::iter::once(self.entry.name).chain(words).collect::<Vec<_>>().join(" ")
    }

    fn words(&self) -> String {
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
            let _ = write!(text, "\n  the fastest of {}", self.repeats.words());
        }
        if let Some(found) = self.job {
            let _ = write!(text, "\n  checksum {}", found.checksum);
        }
        text
    }

    /// The processes, if there are several.
    fn sites(&self) -> Value {
        if self.order.given.cluster.is_none() {
            return Value::Null;
        }
        let root =
            LoopSite { name: "site0".into(), host: pleach_runtime::host(), ..LoopSite::default() };
        let sites = std::iter::once(&root).chain(&self.report.sites);
        let sites = sites.map(|site| {
            let named = |part: &Part| {
                part.name == site.name || part.name.starts_with(&format!("{}/", site.name))
            };
            let units = self.report.parts.iter().enumerate().filter(|(_, part)| named(part));
            let end = site.end.map(|end| match end {
                SiteEnd::Left => "left",
                SiteEnd::Lost => "lost",
            });
            json!({
                "name": site.name,
                "host": site.host,
                "units": units.map(|(at, _)| at).collect::<Vec<usize>>(),
                "joined_s": round(site.joined_s),
                "left_s": site.left_s.map(round),
                "end": end,
                "commits": whole(site.ranges.into()),
                "redone": whole(site.redone.into()),
            })
        });
        sites.collect::<Vec<Value>>().into()
    }

    fn json(&self) -> Value {
        let (given, report) = (self.order.given, self.report);
        let settings = given.record_for(Verb::Loop, self.entry.flags);
        let parts = report.parts.iter().map(|part| {
            json!({
                "name": part.name,
                "share": (part.share * 1e6).round() / 1e6,
                "units": whole(part.units.into()),
                "ranges": whole(part.ranges.into()),
                "busy_s": round(part.busy_s),
                "idle_s": round(part.idle_s),
            })
        });
        let mut of_loop = json!({
            "name": self.entry.name,
            "units": self.job.map(|found| whole(found.units.into())),
            "parts": parts.collect::<Vec<Value>>(),
            "seconds": round(report.seconds),
            "static": self.split.map(|split| json!({
                "share": (split.share * 1e4).round() / 1e4,
                "seconds": round(split.seconds),
            })),
            "checksum": self.job.map(|found| found.checksum),
            "rate": self.rate().map(|(rate, _)| rate),
            "rate_of": self.rate().map(|(_, name)| name),
        });
        for (key, value) in self.job.iter().flat_map(|found| &found.more) {
            of_loop[*key] = value.clone();
        }
        let units = report.parts.iter().map(|part| {
            json!({
                "name": part.name,
                "branched": null,
                "busy_s": round(part.busy_s),
                "idle_s": round(part.idle_s),
                "steals": null,
            })
        });
        json!({
            "pleach": env!("CARGO_PKG_VERSION"),
            "problem": self.entry.name,
            "instance": self.order.words.join(" "),
            "status": if self.job.is_some() { "done" } else { "stopped" },
            "objective": null,
            "lower_bound": null,
            "solution": null,
            "count": null,
            "nodes": null,
            "seconds": round(report.seconds),
            "setup_seconds": null,
            "units": units.collect::<Vec<Value>>(),
            "sites": self.sites(),
            "balance": null,
            "loop": of_loop,
            "repeats": self.repeats.json(),
            "seed": settings.get("seed").cloned().unwrap_or(Value::Null),
            "settings": settings,
        })
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

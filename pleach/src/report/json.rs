//! The report of a search as JSON.

use super::Report;
use crate::results::{
    BalanceData, JsonInteger, JsonNumber, NodesData, PhasesData, RunData, SiteData, TrialData,
    VERSION, WorkerData, how_ended,
};
use pleach_core::search::tree::Goal;
use pleach_runtime::activity::Phases;
use pleach_runtime::{Balance, Outcome, SiteReport, WorkerReport};
use serde_json::Value;

impl Report {
    /// The report as one JSON object, always with the same keys.
    #[must_use]
    pub fn json(&self, problem: &str, instance: &str, preset: &str, settings: &Value) -> Value {
        self.data((problem, instance), preset, settings).json()
    }

    /// The report as data.
    pub(crate) fn data(
        &self,
        (problem, instance): (&str, &str),
        preset: &str,
        settings: &Value,
    ) -> RunData {
        let Outcome { goal, counts, workers, balance, sites, .. } = &self.outcome;
        let count = if *goal == Goal::Count { Some(self.count) } else { self.optima };
        let solution = self.solution.as_ref();
        RunData {
            pleach: VERSION.into(),
            problem: problem.into(),
            instance: instance.into(),
            status: self.status.word().into(),
            stopped_by: self.stopped_by().map(String::from),
            objective: self.objective.map(JsonInteger),
            lower_bound: self.lower_bound.map(JsonInteger),
            solution: solution.map(|plan| plan.iter().copied().map(JsonInteger).collect()),
            count: count.map(JsonInteger),
            tally: counts.tally.iter().copied().map(JsonInteger).collect(),
            gap: self.gap().map(JsonNumber),
            nodes: Some(NodesData {
                branched: Some(JsonInteger(counts.branched)),
                bounded: Some(JsonInteger(counts.bounded)),
                depth: Some(JsonInteger(counts.depth.into())),
            }),
            seconds: JsonNumber(self.outcome.seconds),
            setup_seconds: Some(JsonNumber(self.outcome.setup_seconds)),
            efficiency: self.outcome.efficiency().map(JsonNumber),
            workers: workers.iter().map(worker).collect(),
            sites: (!sites.is_empty()).then(|| sites.iter().map(site).collect()),
            balance: Some(cost(balance, preset)),
            settings: settings.as_object().cloned().unwrap_or_default(),
            seed: settings.get("seed").cloned(),
            ..RunData::default()
        }
        .stamped()
    }
}

/// What a worker did.
fn worker(worker: &WorkerReport) -> WorkerData {
    WorkerData {
        name: worker.name.clone(),
        branched: Some(JsonInteger(worker.counts.branched)),
        busy_s: JsonNumber(worker.busy_s),
        improve_s: Some(JsonNumber(worker.improve_s)),
        idle_s: JsonNumber(worker.idle_s),
        steals: Some(JsonInteger(worker.steals)),
        power: Some(JsonInteger(worker.power)),
        mode: worker.mode.clone(),
        kernel: worker.kernel.clone(),
        kernel_log: worker.kernel_log.clone(),
        opened_s: worker.opened_s.map(JsonNumber),
        trial: worker.trial.map(|(explore, evaluate)| TrialData {
            explore: Some(JsonInteger(explore)),
            evaluate: Some(JsonInteger(evaluate)),
        }),
        phases: (!worker.mode.is_empty()).then(|| phases(worker)),
    }
}

/// How a device spent its time.
fn phases(worker: &WorkerReport) -> PhasesData {
    let Phases { exchange_ns, copy_ns, wait_ns } = worker.phases;
    let [exchange, copy, wait] = [exchange_ns, copy_ns, wait_ns].map(|ns| ns as f64 * 1e-9);
    PhasesData {
        explore_s: JsonNumber((worker.busy_s - exchange - copy - wait).max(0.0)),
        exchange_s: JsonNumber(exchange),
        copy_s: JsonNumber(copy),
        wait_s: JsonNumber(wait + worker.idle_s),
    }
}

/// What a process did.
pub(crate) fn site(site: &SiteReport) -> SiteData {
    SiteData {
        name: site.name.clone(),
        merged: site.merged.map(JsonInteger),
        host: site.host.clone(),
        workers: site.workers.clone(),
        joined_s: JsonNumber(site.joined_s),
        left_s: site.left_s.map(JsonNumber),
        end: site.end.map(how_ended),
        commits: Some(JsonInteger(site.commits)),
        redone: Some(JsonInteger(site.redone)),
    }
}

/// The cost of keeping the workers busy.
fn cost(balance: &Balance, preset: &str) -> BalanceData {
    let us = |ns: u64| JsonNumber(ns as f64 / 1e3);
    BalanceData {
        preset: preset.into(),
        requests: Some(JsonInteger(balance.requests)),
        served: Some(JsonInteger(balance.served)),
        refused: Some(JsonInteger(balance.refused)),
        moved_bytes: Some(JsonInteger(balance.moved_bytes)),
        ending_us: Some(us(balance.ending_ns)),
        messages: Some(JsonInteger(balance.messages)),
        weights: (!balance.weights.is_empty()).then(|| balance.weights.clone()),
        steal_us: balance.median_steal_ns().map(us),
    }
}

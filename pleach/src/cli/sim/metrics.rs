//! [`Metric`]: the figures of simulated runs, by name.

use super::spec::Spec;
use pleach_lab::figures::Figures;
use pleach_lab::sites::SiteFigures;

/// A figure: its name, the head of its column, and how to compute it.
pub struct Metric {
    pub name: &'static str,
    pub header: &'static str,
    /// The same if peers are sites.
    pub of_sites: &'static str,
    pub of: fn(&Figures, &Spec) -> f64,
}

const fn metric_of(
    name: &'static str,
    header: &'static str,
    of_sites: &'static str,
    of: fn(&Figures, &Spec) -> f64,
) -> Metric {
    Metric { name, header, of_sites, of }
}

/// All figures; the table shows those with a header.
pub const METRICS: [Metric; 29] = [
    metric_of("time_s", "time s", "time s", |figures, _| figures.time_ns as f64 * 1e-9),
    metric_of("speed_up", "speed-up", "speed-up", |figures, spec| {
        figures.speed_up() / spec.unit_speed
    }),
    metric_of("efficiency", "efficiency", "efficiency", |figures, _| figures.efficiency()),
    metric_of("linear", "", "", |figures, spec| {
        let others = figures.power - spec.coordinator_speed();
        if others > 0.0 { figures.efficiency() * figures.power / others } else { 0.0 }
    }),
    metric_of("idle", "idle", "", |figures, _| figures.idle()),
    metric_of("fill", "", "", |figures, _| figures.fill()),
    metric_of("requests", "requests/peer", "requests/site", |figures, _| {
        figures.each(figures.requests)
    }),
    metric_of("messages", "messages/peer", "messages/site", |figures, _| {
        figures.each(figures.messages)
    }),
    metric_of("bytes", "bytes/peer", "bytes/site", |figures, _| figures.each(figures.bytes)),
    metric_of("ending_ms", "end ms", "end ms", |figures, _| figures.ending_ns() as f64 * 1e-6),
    metric_of("spread_ms", "", "", |figures, _| {
        figures.spread_ns.map_or(0.0, |ns| ns as f64 * 1e-6)
    }),
    metric_of("pieces", "", "pieces/site", |figures, _| figures.each(figures.pieces)),
    metric_of("refused", "", "", |figures, _| figures.each(figures.refused)),
    metric_of("work_bytes", "", "", |figures, _| figures.each(figures.work_bytes)),
    metric_of("messages_idle_s", "", "", |figures, _| {
        figures.messages as f64 / (figures.idle_ns as f64 * 1e-9).max(1e-9)
    }),
    metric_of("work_s", "", "", |figures, _| figures.work_ns as f64 * 1e-9),
    metric_of("longest_queue", "", "", |figures, _| figures.longest_queue as f64),
    metric_of("snapshots", "", "", |figures, _| f64::from(figures.snapshots)),
    metric_of("redundant", "", "", |figures, _| {
        figures.redundant.bounded as f64 / (figures.counts.bounded as f64).max(1.0)
    }),
    // Peers of one cluster repeat nothing; a tree that varies is larger than one explorer's.
    metric_of("redone", "", "redone", |figures, _| {
        figures.sites.as_ref().map_or(0.0, |_| figures.redone())
    }),
    metric_of("commits", "", "commits/site", |figures, _| {
        figures.each(figures.sites.as_ref().map_or(0, |sites| sites.commits))
    }),
    metric_of("died", "", "died", |figures, _| of_sites(figures, |sites| sites.died.into())),
    metric_of("joined", "", "joined", |figures, _| of_sites(figures, |sites| sites.joined.into())),
    metric_of("left", "", "left", |figures, _| of_sites(figures, |sites| sites.left.into())),
    metric_of("largest_kb", "", "largest kB", |figures, _| {
        of_sites(figures, |sites| sites.largest as f64 * 1e-3)
    }),
    metric_of("forwarded", "", "", |figures, _| {
        figures.each(figures.sites.as_ref().map_or(0, |sites| sites.forwarded))
    }),
    metric_of("hub", "", "", |figures, _| {
        let hub_ns = figures.sites.as_ref().map_or(0, |sites| sites.hub_ns);
        hub_ns as f64 / (figures.declared_ns as f64).max(1.0)
    }),
    metric_of("nodes", "", "", |figures, _| figures.counts.bounded as f64),
    metric_of("events", "events", "events", |figures, _| figures.events as f64),
];

/// What simulations of sites do not measure.
const ONLY_OF_PEERS: [&str; 8] = [
    "idle", "spread_ms", "refused", "work_bytes", "messages_idle_s", "longest_queue", "snapshots",
    "redundant",
];

impl Metric {
    /// Whether runs like this have it.
    pub fn is_measured(&self, spec: &Spec) -> bool {
        spec.fleet.is_none() || !ONLY_OF_PEERS.contains(&self.name)
    }
}

fn of_sites(figures: &Figures, of: fn(&SiteFigures) -> f64) -> f64 {
    figures.sites.as_ref().map_or(0.0, of)
}

/// The figure of a name.
pub fn metric(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

/// The names of all figures.
pub fn names() -> String {
    METRICS.iter().map(|metric| metric.name).collect::<Vec<_>>().join(", ")
}

/// A figure of all runs of a cell.
pub fn values(metric: &Metric, spec: &Spec, runs: &[Figures]) -> Vec<f64> {
    runs.iter().map(|figures| (metric.of)(figures, spec)).collect()
}

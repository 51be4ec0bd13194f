//! [`Churn`]: what happens to sites: they join, leave, die alone or with their rack, are cut off, or pause.

use crate::chance::{exponential, mix};

/// How often each incident happens, in events a minute over the whole fleet; 0 for never.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Churn {
    /// Deaths of sites other than the root.
    pub deaths: f64,
    /// Sites that join, while there are free places.
    pub joins: f64,
    /// Sites that leave in an orderly way.
    pub leaves: f64,
    /// Racks that die, each with this many sites.
    pub racks: f64,
    /// Sites per rack.
    pub rack: u32,
    /// Sites that are cut off from all others.
    pub cuts: f64,
    /// How long they are cut off.
    pub cut_ns: u64,
    /// Sites that pause.
    pub stops: f64,
    /// How long they pause.
    pub stop_ns: u64,
    /// Deaths of the root, which resumes from its file.
    pub root_deaths: f64,
    /// How long the root takes to resume.
    pub resume_ns: u64,
    /// How long others take to notice that a link is down.
    pub notice_ns: u64,
    /// Sites absent at the start: the last ones.
    pub absent: u32,
}

/// An incident.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Incident {
    Death,
    Join,
    Leave,
    Rack,
    Cut,
    Stop,
    RootDeath,
    /// Others notice that a site's process is gone.
    Noticed(u32),
    /// A site that was cut off is reachable again.
    Back(u32),
    Resume,
    /// A moment to record for the chart.
    CheckSites,
    /// The whole search is stopped in an orderly way.
    End,
}

/// The random incidents, in the order of their numbers.
pub(super) const CHANCES: [Incident; 7] = [
    Incident::Death,
    Incident::Join,
    Incident::Leave,
    Incident::Rack,
    Incident::Cut,
    Incident::Stop,
    Incident::RootDeath,
];

impl Churn {
    fn a_minute(&self, incident: Incident) -> f64 {
        match incident {
            Incident::Death => self.deaths,
            Incident::Join => self.joins,
            Incident::Leave => self.leaves,
            Incident::Rack => self.racks,
            Incident::Cut => self.cuts,
            Incident::Stop => self.stops,
            Incident::RootDeath => self.root_deaths,
            _ => 0.0,
        }
    }

    /// How long it takes until the incident happens again; `None` if it never does.
    pub(super) fn wait_ns(&self, incident: Incident, seed: u64, drawn: u64) -> Option<u64> {
        let rate = self.a_minute(incident);
        (rate > 0.0).then(|| (exponential(mix(seed, drawn, 31)) * 60e9 / rate) as u64)
    }
}

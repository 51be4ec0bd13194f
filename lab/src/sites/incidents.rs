//! [`Churn`]: what happens to sites: they join, leave, die alone or with their rack, are cut off, stand still.

use crate::chance::{exponential, mix};

/// How often what happens, all in events a minute over the whole fleet; 0 for never.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Churn {
    /// Sites that die, other than the root.
    pub deaths: f64,
    /// Sites that join, where a place is free.
    pub joins: f64,
    /// Sites that leave in order.
    pub leaves: f64,
    /// Racks that die, with this many sites each.
    pub racks: f64,
    /// Sites of a rack.
    pub rack: u32,
    /// Sites that are cut off from all others, and for how long.
    pub cuts: f64,
    /// For how long.
    pub cut_ns: u64,
    /// Sites that stand still, and for how long.
    pub stops: f64,
    /// For how long.
    pub stop_ns: u64,
    /// Deaths of the root, which resumes from its file.
    pub root_deaths: f64,
    /// After how long it resumes.
    pub resume_ns: u64,
    /// After how long others notice that a link is down.
    pub notice_ns: u64,
    /// Sites that are not there at the beginning: the last ones.
    pub absent: u32,
}

/// Something that happens to sites.
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
    /// A site that was cut off is reached again.
    Back(u32),
    Resume,
    /// A moment to look at for the chart.
    CheckSites,
    /// The whole search is stopped in order.
    End,
}

/// What happens by chance, in the order of its number.
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

    /// How long it takes until something happens again; `None` if it never does.
    pub(super) fn wait_ns(&self, incident: Incident, seed: u64, drawn: u64) -> Option<u64> {
        let rate = self.a_minute(incident);
        (rate > 0.0).then(|| (exponential(mix(seed, drawn, 31)) * 60e9 / rate) as u64)
    }
}

//! [`AnyLoad`]: a load of either kind, whose simulations are compiled in this crate.

use super::cluster::Cluster;
use super::figures::Figures;
use super::load::Search;
use super::sites::Fleet;
use super::spans::Spans;

/// A load of either kind.
///
/// The simulations themselves are generic: a crate that calls them compiles them again, and optimises them as itself.
pub enum AnyLoad<'p> {
    /// Numbered units.
    Spans(Spans),
    /// A search.
    Search(Search<'p>),
}

impl AnyLoad<'_> {
    /// Simulates a run on a cluster.
    ///
    /// # Errors
    /// As [`Cluster::run`].
    pub fn run_on_cluster(&self, cluster: &Cluster) -> Result<Figures, String> {
        match self {
            Self::Spans(spans) => cluster.run(spans),
            Self::Search(search) => cluster.run(search),
        }
    }

    /// Simulates a run on sites.
    ///
    /// # Errors
    /// As [`Fleet::run`].
    pub fn run_on_sites(&self, fleet: &Fleet) -> Result<Figures, String> {
        match self {
            Self::Spans(spans) => fleet.run(spans),
            Self::Search(search) => fleet.run(search),
        }
    }
}

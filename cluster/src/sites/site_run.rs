//! [`SiteRun`]: the context of this process in a search by several.

use super::cluster::Cluster;
use super::message::Order;
use super::other_sites::OtherSites;
use pleach_core::search::problem::Problem;
use pleach_runtime::run_state::RunState;
use pleach_runtime::settings::Settings;
use pleach_runtime::site_state::SiteState;

/// The context of this process in a search by several.
pub(super) struct SiteRun<'a> {
    pub problem: &'a dyn Problem,
    pub settings: &'a Settings,
    pub run_state: &'a RunState<'a>,
    pub cluster: &'a Cluster,
    /// The root's knowledge of the other sites.
    pub others: &'a OtherSites,
    /// The root's order that began the search.
    pub order: &'a Order,
}

impl<'a> SiteRun<'a> {
    pub fn site_state(&self) -> &'a SiteState {
        self.run_state.site_state().expect("a site has a state")
    }
}

//! [`Part`]: what this process has at hand in a search by several.

use super::cluster::Cluster;
use super::parcel::Order;
use super::yard::Yard;
use crate::commons::Commons;
use crate::settings::Settings;
use pleach_core::problem::Problem;

/// What this process has at hand in a search by several.
pub(super) struct Part<'a> {
    pub problem: &'a dyn Problem,
    pub settings: &'a Settings,
    pub commons: &'a Commons<'a>,
    pub cluster: &'a Cluster,
    /// What the root said of the search when it began.
    pub order: &'a Order,
}

impl<'a> Part<'a> {
    pub fn yard(&self) -> &'a Yard {
        self.commons.yard().expect("a site has a yard")
    }
}

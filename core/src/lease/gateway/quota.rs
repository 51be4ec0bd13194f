//! [`Quota`]: how many nodes a site may still explore, where the whole search has a limit.
//!
//! The root holds all nodes of the limit and hands them out in shrinking parts, so that no site exceeds it, and
//! little of it is unused when the last part is gone. A site without work hands back its rest; the rest of a site
//! that dies or leaves stays unused.

use crate::lease::SiteId;
use std::collections::BTreeMap;

/// The smallest grant, if the pool has as many nodes.
const LEAST: u64 = 4096;

/// A site's side of the limit.
#[derive(Debug, Default)]
pub(super) struct Quota {
    /// Nodes not granted yet. Only the root has any.
    pub pool: u64,
    /// Nodes granted to each other site and not handed back. Only the root has any.
    pub outside: BTreeMap<SiteId, u64>,
    /// The last grant.
    pub last: u64,
    /// When this site asked the root, while the answer is outstanding.
    pub asked_ns: Option<u64>,
}

impl Quota {
    /// Takes the next grant out of the pool.
    pub fn grant(&mut self, sites: u32) -> u64 {
        let part = (self.pool / (4 * u64::from(sites.max(1)))).max(LEAST).min(self.pool);
        self.pool -= part;
        part
    }

    /// Takes the next grant for another site out of the pool.
    pub fn grant_to(&mut self, site: SiteId, sites: u32) -> u64 {
        let nodes = self.grant(sites);
        *self.outside.entry(site).or_default() += nodes;
        nodes
    }

    /// Takes back nodes from another site, at most as many as it was granted.
    pub fn take_back(&mut self, site: SiteId, nodes: u64) {
        let outside = self.outside.entry(site).or_default();
        let nodes = nodes.min(*outside);
        *outside -= nodes;
        self.pool += nodes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_site_hands_back_more_than_was_granted() {
        let mut quota = Quota { pool: 100_000, ..Quota::default() };
        let granted = [1, 2].map(|site| quota.grant_to(site, 3));
        quota.take_back(1, granted[0] - 1);
        quota.take_back(1, u64::MAX);
        assert_eq!((quota.pool, quota.outside[&1]), (100_000 - granted[1], 0));
        quota.take_back(2, granted[1]);
        assert_eq!(quota.pool, 100_000);
    }
}

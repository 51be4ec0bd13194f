//! [`Quota`]: how many nodes a site may still explore, where the whole search has a limit.
//!
//! The root holds all nodes of the limit and hands them out in shrinking parts, so that no site exceeds it, and
//! little of it is unused when the last part is gone. A site without work hands back its rest; the rest of a site
//! that dies or leaves stays unused.

/// The smallest grant, if the pool has as many nodes.
const LEAST: u64 = 4096;

/// A site's side of the limit.
#[derive(Debug, Default)]
pub(super) struct Quota {
    /// Nodes not granted yet. Only the root has any.
    pub pool: u64,
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
}

//! The names of leases: sites, and pieces of work that one site holds for another.

use crate::search::work::Pack;

/// The number of a site. Site 0 is the root.
pub type SiteId = u32;

/// The name of a piece of work that one site gave to another.
///
/// Names are never reused: each process draws its own incarnation, so a process that takes the place of a dead
/// one, or resumes from its file, cannot use its names again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Pack)]
pub struct Lease {
    /// The site that gave the piece.
    pub site: SiteId,
    /// The incarnation of that site's process.
    pub incarnation: u64,
    /// That process's count of gifts.
    pub number: u64,
}

/// The name of a holding: `None` is the whole search, which the root holds; otherwise a lease.
pub type HoldingId = Option<Lease>;

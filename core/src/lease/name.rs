//! The names of leases: sites, and pieces of work that one site holds for another.

/// A site's place among the sites. Site 0 is the root.
pub type SiteId = u32;

/// The name of a piece of work that one site gave to another.
///
/// A name never names anything else: the incarnation is drawn again by each process, so a process that
/// takes the place of a dead one, or resumes from its file, cannot reuse its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lease {
    /// The site that gave the piece.
    pub site: SiteId,
    /// Which process of that site's it was.
    pub incarnation: u64,
    /// That process's count of gifts.
    pub number: u64,
}

/// What a site holds: the whole search, which is the root's, or work under a lease.
pub type HoldingId = Option<Lease>;

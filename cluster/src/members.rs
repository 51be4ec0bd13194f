//! [`Members`] and [`Arrival`]: the sites of a network, and what comes from them.

/// The number of a site, from 0.
pub type Rank = u32;

/// Which processes a network has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Members {
    /// The same ones from the start to the end: when one dies, all end.
    Fixed,
    /// All are there from the start, and when one dies the others go on.
    Mortal,
    /// They join, leave and die.
    Changing,
}

/// What a network brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Bytes, whole and unchanged.
    Message {
        /// Who sent them.
        from: Rank,
        /// What was sent.
        bytes: Vec<u8>,
    },
    /// A site that was not there from the start, and can be written to from now on. Never over MPI.
    Joined {
        /// Its place.
        site: Rank,
        /// What it said of itself.
        bytes: Vec<u8>,
    },
    /// A site that will never be heard of again; over TLS, its place may be given to another process. A site that
    /// has lost site 0 over TLS has lost all others too.
    Lost(Rank),
    /// All sites have finished, and every message has arrived. Nothing comes after this.
    End,
}

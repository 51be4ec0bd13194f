//! [`Members`] and [`Arrival`]: how the sites of a network come and go, and what arrives from them.

/// The number of a site, from 0.
pub type Rank = u32;

/// How the processes of a network come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Members {
    /// All are present from start to end: if one dies, all end.
    Fixed,
    /// All are present from the start; if one dies, the others continue.
    Mortal,
    /// They join, leave and die.
    Changing,
}

/// An arrival from the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A message.
    Message {
        /// The sender.
        from: Rank,
        /// The bytes, complete and unchanged.
        bytes: Vec<u8>,
    },
    /// A site has joined after the start, and can be written to. Never over MPI.
    Joined {
        /// Its number.
        site: Rank,
        /// What it said about itself; empty except at the root.
        bytes: Vec<u8>,
    },
    /// A site is lost for good; over TLS, its place may be given to another process. A site that has lost site 0 over
    /// TLS has lost all others too.
    Lost(Rank),
    /// All sites have finished, and every message has arrived. Nothing arrives after this.
    End,
}

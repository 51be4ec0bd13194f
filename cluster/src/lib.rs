//! Links between the processes of a run, its *sites*: they carry bytes and know nothing of work.

#![cfg(not(loom))]

// The derived code of `Pack` says `pleach`.
extern crate pleach_core as pleach;

mod error;
mod members;
#[cfg(all(unix, feature = "mpi"))]
pub mod mpi;
#[cfg(all(unix, feature = "mpi"))]
mod rest;
pub mod sites;
#[cfg(all(unix, feature = "tls"))]
pub mod tls;

pub use error::NetError;
pub use members::{Arrival, Members, Rank};
pub use sites::{
    Admission, Cluster, First, JoinTicket, KeepCopy, Order, Rejoin, Return, RootCopy, Votes, Waker,
    search_of,
};

use std::sync::Arc;
use std::time::Duration;

/// One site's links to all others.
///
/// Messages between two sites arrive in the order sent; no other order is guaranteed. A site may write to itself.
/// Sending never blocks: what cannot be sent yet waits in memory, over MPI without a limit; over TLS, a site for which
/// too much waits is lost, or the site that writes to it; what [`Network::send_shared`] sends does not count. A message
/// to a site that has not joined yet, or that was lost, is dropped.
///
/// The next [`Network::poll`] reports errors of sending. After an error, every further poll returns the same error.
///
/// An orderly end takes three steps: [`Network::finish`], then polls until [`Arrival::End`], then drop. A site should
/// write its results before: its launcher may block or end the process once all have finished. For a joiner,
/// [`Arrival::Lost`] of site 0 is an end too: nothing arrives after it. If dropped earlier, the network stops at once
/// and waits for nobody; the process should then exit with an error, so that a launcher takes the others down.
pub trait Network: Send {
    /// This site.
    fn me(&self) -> Rank;

    /// The number of places; every site has a smaller number. Over MPI all places are taken from the start; over TLS
    /// only those of site 0 and of this site, and others as sites join.
    fn sites(&self) -> u32;

    /// How its processes come and go.
    fn members(&self) -> Members;

    /// What carries the messages, in a few words for reports.
    fn name(&self) -> &str;

    /// Sends a message.
    fn send(&mut self, to: Rank, bytes: Vec<u8>);

    /// Sends a message that several sites get. Over TLS, the root keeps a single copy of it for all of them.
    fn send_shared(&mut self, to: Rank, bytes: &Arc<[u8]>) {
        self.send(to, bytes.to_vec());
    }

    /// Takes the next arrival if there is one, and makes progress with sending.
    ///
    /// # Errors
    ///
    /// If a link fails for good, a message is too long or has no such receiver, or an invalid message arrives.
    fn poll(&mut self) -> Result<Option<Arrival>, NetError>;

    /// A site of which a part of a long message has arrived since the last call: it is alive, although what it says is
    /// not complete yet.
    fn arriving(&mut self) -> Option<Rank> {
        None
    }

    /// Why this site has lost the root, if it has and the reason is known.
    fn loss_reason(&mut self) -> Option<&str> {
        None
    }

    /// How long the caller may rest before it polls again; after a send it must poll at once. `None`: until the network
    /// wakes it.
    fn rest(&self) -> Option<Duration>;

    /// Announces that this site sends no more. Messages from others still arrive.
    fn finish(&mut self);

    /// Ends at once after a failure. Over MPI that ends the job, including this process, with this exit code, or with 1
    /// if it is 0. Over TLS it only ends this site's connections.
    fn abort(&mut self, code: i32);
}

/// An event at an entrance.
#[derive(Debug)]
pub enum Caller {
    /// A process with the key asks to join.
    JoinRequest {
        /// The number of the request, for the answer.
        number: u32,
        /// The machine that it is on.
        host: String,
        /// What it says about itself.
        bytes: Vec<u8>,
    },
    /// A process that asked has gone before it was answered.
    Withdrawn {
        /// The number of its request.
        number: u32,
    },
    /// A line for the user: why a process was turned away, or why a site was lost.
    Note(String),
}

/// Admits processes that join later.
pub trait Entrance: Send {
    /// The next event if there is one.
    fn next(&mut self) -> Option<Caller>;

    /// Gives a joining process a place, with these bytes as its welcome. If a process still has that place, it is cut
    /// off and reported as lost: it is the same process, which has come back. The network reports that the process has
    /// joined and, if it is already gone, that it is lost.
    fn admit(&mut self, number: u32, site: Rank, welcome: Arc<[u8]>);

    /// Turns a joining process away for good, with a reason in one line.
    fn refuse(&mut self, number: u32, reason: &str);

    /// Turns a joining process away for now: it may ask again.
    fn postpone(&mut self, number: u32, reason: &str);

    /// Cuts off a site, with a reason in one line. The network reports it as lost.
    fn expel(&mut self, site: Rank, reason: &str);
}

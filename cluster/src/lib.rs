//! Links between the processes of a run, its *sites*: they carry bytes and know nothing of work.

#![cfg(not(loom))]

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
pub use sites::{Admission, Cluster, First, JoinTicket, Order, Rejoin, Waker};

use std::sync::Arc;
use std::time::Duration;

/// One site's links to all others.
///
/// Messages between two sites arrive in the order sent; no other order is guaranteed. A site may write
/// to itself. Sending never blocks: what cannot leave yet waits in memory: over MPI without a limit,
/// and over TLS a site for which too much waits is lost. A message to a site that has not joined yet, or
/// that was lost, goes nowhere.
///
/// Whatever goes wrong while sending is told by the next [`Network::poll`]. After an error, every
/// further poll returns the same one.
///
/// An orderly end takes three steps: [`Network::finish`], then polls until [`Arrival::End`], then drop.
/// A site should have written its results before: a process may be held up, or ended by its launcher,
/// once all have finished.
/// To a joiner, [`Arrival::Lost`] of site 0 is an end too: nothing comes after it.
/// Dropped earlier, the network stops at once and waits for nobody; the process should then end with an
/// error, so that a launcher takes the others down.
pub trait Network: Send {
    /// This site.
    fn me(&self) -> Rank;

    /// How many places there are: the number of every site is below. Over MPI all are taken from the start;
    /// over TLS only those of site 0 and of this one, and others as they join.
    fn sites(&self) -> u32;

    /// Which processes it has.
    fn members(&self) -> Members;

    /// What carries the messages, in a few words for reports.
    fn name(&self) -> &str;

    /// Sends a message.
    fn send(&mut self, to: Rank, bytes: Vec<u8>);

    /// Takes the next arrival if there is one, and keeps what is being sent going.
    ///
    /// # Errors
    ///
    /// If a link fails for good, a message is longer than allowed or has no such receiver, or something
    /// arrives that no site sends.
    fn poll(&mut self) -> Result<Option<Arrival>, NetError>;

    /// How long the caller may rest before it polls again; it polls after a send at once. `None`: until
    /// the network wakes it.
    fn rest(&self) -> Option<Duration>;

    /// Says that this site sends no more. Messages of others still arrive.
    fn finish(&mut self);

    /// Ends at once after a failure. Over MPI that ends the job, this process too, with this exit code,
    /// or with 1 if it is 0. Over TLS it ends this site's connections only.
    fn abort(&mut self, code: i32);
}

/// What happens at an entrance.
#[derive(Debug)]
pub enum Caller {
    /// Somebody who may join waits for an answer.
    JoinRequest {
        /// By which the answer finds it.
        number: u32,
        /// The machine that it is on.
        host: String,
        /// What it says of itself.
        bytes: Vec<u8>,
    },
    /// A line for the user: somebody was turned away, or a site was lost and why.
    Note(String),
}

/// Where processes come in that join later.
pub trait Entrance: Send {
    /// The next event if there is one.
    fn next(&mut self) -> Option<Caller>;

    /// Gives a caller a place, and these bytes as a welcome. A process that is there is cut off, and the network
    /// reports it as lost: the caller is that process, come back. The network reports that the caller has joined;
    /// if it has left since, also that it is lost.
    fn admit(&mut self, number: u32, site: Rank, welcome: Arc<[u8]>);

    /// Sends a caller away for good, with a reason in one line.
    fn refuse(&mut self, number: u32, reason: &str);

    /// Sends a caller away for now: it may ask again.
    fn postpone(&mut self, number: u32, reason: &str);

    /// Cuts a site off, with a reason in one line. The network reports it as lost.
    fn expel(&mut self, site: Rank, reason: &str);
}

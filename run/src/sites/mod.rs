//! A search by several processes: each of them is a *site*, with a gateway between its units and the others.
//!
//! `core/src/gateway` decides; here are the threads, the clock and the network that it needs.

mod account;
mod adrift;
mod bell;
mod cluster;
pub(crate) mod course;
mod ending;
mod gateway_thread;
mod house;
pub(crate) mod link;
pub(crate) mod others;
pub(crate) mod parcel;
mod part;
mod run;
mod seat;
mod spare;
pub(crate) mod yard;

pub use adrift::{Entered, Return};
pub use bell::Bell;
pub use cluster::Cluster;
pub use course::First;
pub use link::JoinTicket;
pub use parcel::Order;

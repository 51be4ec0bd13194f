//! A search by several processes: each is a *site*, with a gateway between its workers and the other sites.
//!
//! `core/src/lease/gateway` makes the decisions; this folder has the threads, the clock and the network for it.

mod cluster;
mod effects;
mod ending;
mod gateway_thread;
mod honesty;
mod join_ticket;
pub mod loop_sequence;
pub mod message;
pub mod other_sites;
mod place;
mod reconnect;
mod run;
pub mod session;
mod site_run;
mod spare_piece;
mod standby_copies;
mod totals;
mod votes;
mod waker;
mod workers;

pub use cluster::Cluster;
pub use join_ticket::JoinTicket;
pub use loop_sequence::First;
pub use message::{Order, RootCopy, search_of};
pub use reconnect::{Admission, KeepCopy, Rejoin, Return};
pub use votes::Votes;
pub use waker::Waker;

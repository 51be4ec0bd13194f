//! A search by several processes: each is a *site*, with a gateway between its units and the other sites.
//!
//! `core/src/lease/gateway` makes the decisions; this folder has the threads, the clock and the network for it.

mod cluster;
mod effects;
mod ending;
mod gateway_thread;
pub mod loop_sequence;
pub mod message;
pub mod other_sites;
mod reconnect;
mod run;
pub mod session;
mod site_run;
mod spare_piece;
mod totals;
mod waker;
mod workers;

pub use cluster::Cluster;
pub use loop_sequence::First;
pub use message::Order;
pub use reconnect::{Admission, Rejoin};
pub use session::JoinTicket;
pub use waker::Waker;

//! The gateway of a site joins its workers to other sites.
//!
//! Inside its site the gateway is one more peer, number 0, with work that it does not explore: the spare piece. To
//! other sites it is the peer that stands for all workers. Leases answer for the work that crosses it.

mod effects;
mod events;
mod message;
mod node_limit;
mod portion;
mod quota;
mod rounds;
mod state;
mod wire;
mod workers;

pub use effects::LONGEST_PIECE;
pub use events::{Gateway, GatewayStep};
pub use message::GatewayMessage;
pub use portion::{Portion, Tally};
pub use wire::GatewayPacket;
#[cfg(any(test, feature = "faults"))]
pub use wire::samples;
pub use workers::Workers;

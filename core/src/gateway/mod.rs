//! The gateway of a site: what joins its units to other sites.
//!
//! Inside its site the gateway is one more peer, number 0, with work of its own that it does not explore: the
//! spare piece. To other sites it is the peer that stands for all units. Leases answer for what crosses it.

mod desk;
mod door;
mod hatch;
mod inside;
mod portion;
mod post;
mod quota;
mod rations;
mod rounds;
mod wire;

pub use door::Gateway;
pub use inside::Inside;
pub use portion::{Portion, Tally};
pub use post::Post;
pub use wire::Letter;
#[cfg(test)]
pub(crate) use wire::samples;

//! `master-worker:late`, the master and workers of paper C (Vu et al., CLUSTER 2012), for comparison: this folder has
//! everything that only this policy needs.
//!
//! Peer 0 keeps a copy of every piece that it gave out, and gives from the largest copy at once. The owner of that
//! copy is notified later, so some nodes are explored twice.

pub(super) mod carry;
pub(super) mod copies;
pub mod effects;
mod master;
pub mod messages;

pub use effects::{LateEffects, Split};
pub use messages::{Change, Recall};

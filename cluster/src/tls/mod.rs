//! A network over TLS: a star of processes that join, leave and die.
//!
//! The root listens, all others connect to it, and it relays messages between them; so only the root must be reachable.
//! Joiners that write to each other often, and can reach each other, open a direct link.
//! A joiner gets a *place*: a site number, which a later process may get when its holder is lost. All sites share a
//! [`Key`].
//!
//! ```no_run
//! use pleach_cluster::tls::{self, Key, Limits, ListenOptions};
//! use pleach_cluster::{Caller, Entrance};
//! use std::sync::Arc;
//!
//! let key = Key::make("run.key".as_ref())?;
//! let address = "0.0.0.0:7400".to_string();
//! let version = "1.0".to_string();
//! let limits = Limits::default();
//! let me = std::thread::current();
//! let wake = Arc::new(move || me.unpark());
//! let listening = ListenOptions { address, key, version, places: 64, limits };
//! let (network, mut entrance) = tls::listen(listening, wake)?;
//! while let Some(caller) = entrance.next() {
//!     match caller {
//!         Caller::JoinRequest { number, .. } => entrance.admit(number, 1, Arc::from(&b"the instance"[..])),
//!         Caller::Withdrawn { .. } => {}
//!         Caller::Note(note) => eprintln!("{note}"),
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod acceptor;
mod entrance;
mod frame;
mod hello;
mod hub;
mod join;
mod join_error;
mod key;
mod leaf;
mod links;
mod logic;
mod messages;
mod outbox;
mod queues;
mod secure;
mod star;
mod stream;
#[cfg(test)]
mod tests;
mod turns;
mod wire;

pub use entrance::{ListenOptions, TlsEntrance, listen};
pub use join::{JoinOptions, Reach, join};
pub use join_error::{JoinError, ONLY_STANDBY, Stage};
pub use key::{Key, KeyError};
pub use logic::Limits;
pub use queues::Wake;
pub use star::Star;

/// The maximum number of places of a star.
pub const PLACES_LIMIT: u32 = 1 << 16;

//! A service that shares machines between the searches of several users.
//!
//! [`server`] keeps a queue of commands. Each runs as a process of its own, a *root*, with a checkpoint; processes that
//! joined the service, *joiners*, are sent to the roots by fair shares, and moved between them as jobs come and go.
//! [`client`] talks to a service, and [`joiner`] serves one.

pub mod api;
pub mod client;
pub mod credentials;
pub mod joiner;
#[cfg(feature = "server")]
pub mod server;
pub mod slurm;

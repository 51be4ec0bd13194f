//! A service that shares machines between the searches of several users.
//!
//! The module `server` (a feature) keeps a queue of commands. Each runs as a process of its own, a *root*, with a
//! checkpoint; processes that joined the service, *joiners*, are sent to the roots by fair shares, and moved between them
//! as jobs come and go.
//! [`client`] talks to a service, and [`joiner`] serves one.
//!
//! ```no_run
//! use pleach_serve::api::Submission;
//! use pleach_serve::client::Client;
//! use pleach_serve::credentials::Credentials;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut service = Client::new(Credentials::read("ann.service".as_ref())?);
//! let args = ["solve", "flowshop", "ta021"].map(String::from).to_vec();
//! let id = service.submit(&Submission { args, ..Submission::default() })?;
//! service.watch(id, |job| {
//!     if let Some(search) = job.and_then(|job| job.search.as_ref()) {
//!         println!("best {:?}, bound {:?}", search.best, search.bound);
//!     }
//!     true
//! })?;
//! println!("{}", String::from_utf8(service.result(id)?)?);
//! # Ok(())
//! # }
//! ```

pub mod api;
pub mod client;
pub mod credentials;
pub mod joiner;
mod private;
#[cfg(feature = "server")]
pub mod server;
pub mod slurm;

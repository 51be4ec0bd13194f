//! The service: a queue of commands of several users, and the machines that they share.

mod access;
mod caller;
mod download;
mod ending;
mod folder;
mod grow;
mod job;
mod joiners;
mod listener;
mod metrics;
mod page;
mod planner;
mod queue;
mod refusal;
mod room;
mod root;
mod routes;
mod settings;
pub mod share;
mod state;
mod store;

pub use listener::ListenError;
pub use settings::Settings;
pub use state::Service;
pub use store::StoreError;

use crate::api::{Role, UserChange};
use crate::credentials::{Credentials, CredentialsError};
use std::fs::TryLockError;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Why a service cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Its folder cannot be used.
    #[error("--data {}: {why}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system error.
        why: std::io::Error,
    },
    /// Another service uses its folder.
    #[error("--data {}: another service uses it", .0.display())]
    InUse(PathBuf),
    /// Its database cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It cannot listen.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// Credentials cannot be written.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The system gives it no threads.
    #[error("cannot start threads: {0}")]
    Runtime(std::io::Error),
    /// The system has no random bytes.
    #[error("{0}")]
    Random(String),
}

/// The credentials that a new service writes: of an operator, and of joiners.
const FIRST: [(&str, Role); 2] = [("operator", Role::Operator), ("joiners", Role::Joiner)];

/// How often a service checks whether it should stop.
const LOOK: Duration = Duration::from_millis(50);

/// Runs a service until `stop` returns true, then stops all roots; they save their searches.
///
/// # Errors
/// If its folder or its address cannot be used.
pub fn run(
    settings: Settings,
    stop: impl Fn() -> bool,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    let folder = settings.data.clone();
    let fails = |why| ServeError::Folder { path: folder.clone(), why };
    let jobs = folder.join("jobs");
    std::fs::create_dir_all(&jobs).map_err(fails)?;
    close_to_others(&jobs).map_err(|why| ServeError::Folder { path: jobs.clone(), why })?;
    let lock = std::fs::File::create(folder.join("lock")).map_err(fails)?;
    lock.try_lock().map_err(|why| match why {
        TryLockError::WouldBlock => ServeError::InUse(folder.clone()),
        TryLockError::Error(why) => fails(why),
    })?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(ServeError::Runtime)?.block_on(async {
        let listener = listener::Listener::open(&settings).await?;
        let service = Arc::new(Service::open(settings, listener.address)?);
        let clearing = Arc::clone(&service);
        tokio::task::spawn_blocking(move || clearing.clear_all());
        let address = service.address();
        // The files of an earlier database are of no use to a new one.
        let is_new = service.lock().accounts.is_empty();
        for (name, role) in FIRST {
            let path = folder.join(name);
            let known = Credentials::read(&path).ok().filter(|known| known.name == name);
            let token = match &known {
                Some(known) if !is_new => known.token.clone(),
                _ if (known.is_some() || !path.exists()) && service.needs(name, role) => {
                    // A file that was removed gets a new token; the old one is no longer valid.
                    let change = UserChange { role: Some(role), ..UserChange::default() };
                    let token = service.set_account("service", name, &change, true);
                    token.map_err(|refused| ServeError::Random(refused.1))?.unwrap_or_default()
                }
                _ => continue,
            };
            let (address, name) = (address.clone(), name.to_string());
            let current = Credentials { address, certificate: listener.certificate, name, token };
            // The service may have started at another address, or with another certificate.
            if known.as_ref() != Some(&current) {
                current.replace(&path)?;
            }
        }
        ready(listener.address);
        let planner = tokio::spawn(planner::run(Arc::clone(&service)));
        let slurm = service.settings.grow.clone();
        let growing = slurm.map(|slurm| tokio::spawn(grow::run(Arc::clone(&service), slurm)));
        let serving = tokio::spawn(listener.serve(routes::routes(Arc::clone(&service))));
        while !stop() {
            tokio::time::sleep(LOOK).await;
        }
        service.close().await;
        planner.abort();
        growing.iter().for_each(tokio::task::JoinHandle::abort);
        serving.abort();
        Ok(())
    })
}

/// Closes a folder to other users of the machine, who may not read results and files of the service's users.
fn close_to_others(folder: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if std::fs::metadata(folder)?.permissions().mode() & 0o077 != 0 {
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?;
        }
    }
    Ok(())
}

//! [`Settings`]: how a service works.

use crate::api::CommandKind;
use crate::slurm::Slurm;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Checks a command of a user, and says whether joiners can take part. The second function returns the contents of a file
/// in the job's folder.
pub type CheckCommand =
    fn(&[String], &dyn Fn(&str) -> Option<Vec<u8>>) -> Result<CommandKind, String>;

/// How a service works.
#[derive(Clone)]
pub struct Settings {
    /// The address at which it listens.
    pub listen: SocketAddr,
    /// The address that credentials name; port 0 stands for the one at which it listens.
    pub address: String,
    /// Its folder.
    pub data: PathBuf,
    /// The program that roots run: `pleach`.
    pub program: PathBuf,
    /// Its build; joiners must have the same.
    pub build: String,
    /// The maximum number of roots at once.
    pub roots: usize,
    /// The threads of each root.
    pub root_threads: u32,
    /// The time in which half of all past usage is forgotten.
    pub half_life: Duration,
    /// How long the files of jobs that are over are kept; `None`: forever.
    pub keep: Option<Duration>,
    /// A certificate and its private key, as PEM files, instead of those that the service makes.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// How to get more joiners.
    pub grow: Option<Slurm>,
    /// Checks commands.
    pub check: CheckCommand,
    /// The files that a command writes into its folder, besides what the service itself asks for, with or without a
    /// solution.
    pub outputs: fn(&[String], bool) -> Vec<PathBuf>,
    /// The command that continues a search after this time and this many nodes: its limits are what is left of them.
    pub continued: fn(&[String], Duration, u64) -> Vec<String>,
    /// Where events are shown.
    pub note: fn(&str),
}

impl Settings {
    /// The folder of a job.
    pub(super) fn job_folder(&self, id: u64) -> PathBuf {
        self.data.join("jobs").join(id.to_string())
    }
}

/// An address with this port in place of port 0.
pub(super) fn with_port(address: &str, port: u16) -> String {
    match address.strip_suffix(":0") {
        Some(host) => format!("{host}:{port}"),
        None => address.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::with_port;

    #[test]
    fn a_port_that_the_system_chose_is_named() {
        assert_eq!(with_port("node7:0", 40_123), "node7:40123");
        assert_eq!(with_port("[::1]:0", 40_123), "[::1]:40123");
        assert_eq!(with_port("node7:7400", 40_123), "node7:7400");
        assert_eq!(with_port("node7:7000", 40_123), "node7:7000");
    }
}

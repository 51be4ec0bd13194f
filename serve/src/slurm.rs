//! [`Slurm`]: how a service gets joiners from a cluster's scheduler.

use std::time::Duration;

/// How to get joiners from Slurm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slurm {
    /// The partition; the cluster's default if empty.
    pub partition: String,
    /// The maximum number of joiners at once.
    pub most: u32,
    /// How long each may run.
    pub time: Duration,
    /// The threads of each.
    pub threads: u32,
    /// How long one may be idle before it is dismissed.
    pub idle: Duration,
}

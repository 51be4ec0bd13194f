//! [`Fault`]: why a launch on the emulated device failed.

/// Why a launch failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No such kernel.
    #[error("no kernel named '{0}'")]
    Unknown(String),
    /// The kernel could not be compiled.
    #[error("cannot compile kernel '{kernel}' for the emulated device: {why}")]
    Build {
        /// The kernel.
        kernel: String,
        /// What the compiler said, or why it could not run.
        why: String,
    },
    /// The launch record is invalid.
    #[error("{0}")]
    Record(&'static str),
    /// Threads cannot continue.
    #[error("{kernel}, {entry}: {text}")]
    Stuck {
        /// The kernel.
        kernel: String,
        /// Its entry point.
        entry: &'static str,
        /// Which threads, where.
        text: String,
    },
}

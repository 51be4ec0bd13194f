//! [`DeviceError`]: why a device cannot continue.

/// Why a device cannot continue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The device has too little memory.
    #[error("needs {1} bytes of memory, only {0} are free")]
    Memory(u64, u64),
    /// A kernel could not be built.
    #[error("cannot build kernel '{0}': {1}")]
    Kernel(String, String),
    /// An option by which warps wait for one another, on a GPU whose warps share waves.
    #[error(
        "{0} is not possible: two warps share each wave of 64 lanes, so neither may wait for the other"
    )]
    Dependent(&'static str),
    /// A kernel failed, or the device is gone.
    #[error("{0}")]
    Failed(String),
}

//! Devices: memory of their own, and kernels that explore many stacks of nodes in it at once.

mod compile;
mod cuda;
pub mod device;
#[cfg(feature = "emulated")]
mod emulated;
pub mod executor;
pub mod explorer;
mod kept;
mod memory;
mod moves;
pub mod shelf;
pub mod spec;
mod tune;

use device::Device;
use pleach_core::tree::Counts;
use spec::{Kind, Spec};

/// How explorers without nodes find others to take from, inside the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inside {
    /// From their neighbours in a hypercube, one launch for each neighbour. Used only while all explorers
    /// take part; otherwise `Adapt` stands in.
    #[default]
    Hypercube,
    /// In a single launch: each searches a window of its own, and the windows together cover all
    /// explorers. The fewer are empty, the wider the windows.
    Adapt,
}

/// What one round of kernels is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// The score that a solution must beat.
    pub best: i64,
    /// Explorers that take part.
    pub explorers: u32,
    /// Steps of each explorer at most.
    pub budget: u32,
    /// Explorers without work at which all stop; 0 for never.
    pub trigger: u32,
    /// How nodes are exchanged afterwards.
    pub inside: Inside,
}

/// What came of a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Returned {
    /// What was counted.
    pub counts: Counts,
    /// What the kernels took, and steps of the explorer that made the most.
    pub round_ns: u64,
    /// See `round_ns`.
    pub steps: u32,
    /// Explorers that stopped for want of nodes or of room.
    pub idle: u32,
    /// Explorers that stopped for want of room.
    pub full: u32,
    /// The best solution found: its score and its words.
    pub found: Option<(i64, Vec<u32>)>,
}

/// Why a device cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// It has too little memory.
    #[error("{0} bytes of its memory are too few, expected {1}")]
    Memory(u64, u64),
    /// A kernel could not be made.
    #[error("its kernel '{0}' could not be made: {1}")]
    Kernel(String, String),
    /// A kernel failed, or the device is gone.
    #[error("{0}")]
    Failed(String),
}

/// Opens a device.
///
/// # Errors
/// Why there is none.
pub fn open(spec: &Spec) -> Result<Device, DeviceError> {
    match spec.kind {
        #[cfg(feature = "emulated")]
        Kind::Emulated if pleach_kernels::emulated::BUILT => {
            Ok(Device::new(emulated::Emulated::new(spec.fail)))
        }
        Kind::Emulated => Err(DeviceError::Failed(
            "this build has none: it was made without a C++ compiler".into(),
        )),
        Kind::Gpu(number) => Ok(Device::new(cuda::Gpu::open(number)?)),
    }
}

/// How many GPUs this machine has.
///
/// # Errors
/// Why none can be used.
pub fn count() -> Result<u32, DeviceError> {
    cuda::count()
}

/// The GPUs of this machine: the name of each, and its memory in bytes.
///
/// # Errors
/// Why there are none.
pub fn gpus() -> Result<Vec<(String, u64)>, DeviceError> {
    (0..count()?).map(|number| cuda::Gpu::open(number)?.describe()).collect()
}

/// Whether this build has the emulated device.
#[must_use]
pub fn emulates() -> bool {
    open(&Spec::of(Kind::Emulated)).is_ok()
}

//! [`Device`]: something with memory of its own whose kernels explore many stacks of nodes at once.

mod arrays;
mod cuda;
#[cfg(feature = "emulated")]
mod emulated;
pub mod executor;
pub mod explorer;
pub mod spec;
mod stacks;
mod tune;

use arrays::Arrays;
use pleach_core::device::Layout;
use spec::{Kind, Spec};
pub use stacks::Stacks;

/// How stacks that are empty get nodes inside the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inside {
    /// From neighbours in a hypercube, one dimension's neighbour after the other.
    #[default]
    Hypercube,
    /// From a window that moves over all, and is as large as there are empty ones.
    Adapt,
}

/// What one round of kernels is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// The score that a solution must beat.
    pub best: i64,
    /// Steps of each stack's explorer at most.
    pub budget: u32,
    /// Explorers without work at which all stop; 0 for never.
    pub trigger: u32,
    /// How nodes are exchanged afterwards.
    pub inside: Inside,
}

/// What came of a round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Returned {
    /// Nodes branched and bounded, what was counted, and the greatest depth.
    pub counts: [u64; 4],
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

/// Something with memory of its own that runs kernels.
///
/// After any error the device is given up; what it held is taken from the copy that the host keeps.
pub trait Device: Send {
    /// A good number of stacks.
    fn explorers(&self) -> u32;

    /// Bytes of memory.
    fn memory(&self) -> u64;

    /// Makes the kernels of a problem, and room for so many stacks of so many nodes, all empty.
    ///
    /// # Errors
    /// If there is too little memory, or a kernel cannot be made.
    fn prepare(
        &mut self,
        layout: &Layout,
        explorers: u32,
        capacity: u32,
    ) -> Result<(), DeviceError>;

    /// Copies to the device the stacks that have changed on the host.
    ///
    /// # Errors
    /// If the device fails.
    fn write(&mut self, stacks: &mut Stacks) -> Result<(), DeviceError>;

    /// Runs a round of kernels and copies all stacks back.
    ///
    /// # Errors
    /// If the device fails: the stacks are then what they were before.
    fn run(&mut self, round: &Round, stacks: &mut Stacks) -> Result<Returned, DeviceError>;
}

/// Opens a device.
///
/// # Errors
/// Why there is none.
pub fn open(spec: &Spec) -> Result<Box<dyn Device>, DeviceError> {
    match spec.kind {
        #[cfg(feature = "emulated")]
        Kind::Emulated if pleach_kernels::emulated::BUILT => {
            Ok(Box::new(Arrays::new(emulated::Emulated::new(spec.fail))))
        }
        Kind::Emulated => Err(DeviceError::Failed(
            "this build has none: it was made without a C++ compiler".into(),
        )),
        Kind::Gpu(number) => Ok(Box::new(Arrays::new(cuda::Gpu::open(number)?))),
    }
}

/// The GPUs of this machine: the name of each, and its memory in bytes.
///
/// # Errors
/// Why there are none.
pub fn gpus() -> Result<Vec<(String, u64)>, DeviceError> {
    (0..cuda::count()?).map(|number| cuda::Gpu::open(number)?.describe()).collect()
}

/// Whether this build has the emulated device.
#[must_use]
pub fn emulates() -> bool {
    open(&Spec::of(Kind::Emulated)).is_ok()
}

//! Devices: memory with many stacks of nodes or intervals, and kernels that explore all of them at once.

#![cfg(not(loom))]
#![cfg_attr(not(feature = "makers"), allow(dead_code))]

mod batch;
pub mod begin;
pub mod device;
mod device_set;
pub mod either;
#[cfg(feature = "emulated")]
mod emulated;
#[cfg(feature = "emulated")]
mod emulated_queue;
pub mod ending;
pub mod evaluate;
pub mod executor;
pub mod explorer;
pub mod form;
mod giving;
mod held;
mod images;
mod kept;
#[cfg(feature = "makers")]
mod makers;
mod memory;
mod moves;
pub mod pending;
pub mod pending_executor;
pub mod pool;
mod post;
pub mod request;
pub mod slots;
pub mod spec;
mod tune;

#[cfg(feature = "makers")]
pub use makers::gpus;

use device::Device;
pub use device_set::DeviceSet;
use pleach_core::search::tree::Counts;
use spec::{DeviceKind, Spec};

/// How explorers without nodes get some from others inside the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inside {
    /// In a single launch: each searches a window of its own, and the windows together cover all
    /// explorers. The fewer are empty, the wider the windows.
    #[default]
    Windows,
    /// From the one before.
    Ring,
    /// From the nearest of some before that has two nodes.
    Search,
    /// From the nearest of some before that has more than the mean.
    Large,
    /// The same, where the window moves on from launch to launch, doubles while many are empty, and halves while few
    /// are.
    Adapt,
    /// From their neighbours in a hypercube, one launch per neighbour.
    Hypercube,
    /// Not at all: each explores what it was given, as in codes that divide work over a device once.
    None,
}

impl Inside {
    /// All of them, with their names.
    pub const ALL: [(Self, &str); 7] = [
        (Self::Windows, "windows"),
        (Self::Ring, "ring"),
        (Self::Search, "search"),
        (Self::Large, "large"),
        (Self::Adapt, "adapt"),
        (Self::Hypercube, "hypercube"),
        (Self::None, "none"),
    ];

    /// Whether it also works while some explorers take no part.
    pub(crate) fn takes_from_all(self) -> bool {
        self == Self::Windows
    }
}

/// How explorers that hold intervals bound the children of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundingMode {
    /// An explorer is a thread, which bounds them one after the other.
    Alone,
    /// An explorer is a warp, which bounds all of them at once.
    Parallel,
}

/// How work comes to a device and leaves it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Whether the first explorer gets all that arrives; else it is spread.
    pub one_gets: bool,
    /// Who gives.
    pub gives: Gives,
}

/// Which explorers give work to somebody outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gives {
    /// Each gives a part of its nodes. Where work is intervals, those with the longest ones give them.
    #[default]
    Even,
    /// One, drawn at random, gives all that it has.
    One,
    /// Each gives the right part of its interval.
    Each,
}

/// What one round of kernels should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// The score that a solution must beat.
    pub best: i64,
    /// Explorers that take part.
    pub explorers: u32,
    /// The most steps per explorer.
    pub budget: u32,
    /// The number of explorers without work at which the round ends; 0 for never.
    pub trigger: u32,
    /// Whether explorers give nodes to one another meanwhile.
    pub giving: bool,
    /// How nodes are exchanged afterwards.
    pub inside: Inside,
}

/// The result of a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoundReport {
    /// What was counted.
    pub counts: Counts,
    /// How long the kernels took.
    pub round_ns: u64,
    /// The most steps that any explorer made.
    pub steps: u32,
    /// Explorers that stopped for lack of nodes or room.
    pub idle: u32,
    /// Explorers that stopped for lack of room.
    pub full: u32,
    /// Nodes that explorers gave to one another.
    pub given: u32,
    /// The best solution found: its score and its words.
    pub found: Option<(i64, Vec<u32>)>,
}

/// Why a device cannot continue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// It has too little memory.
    #[error("needs {1} bytes of memory, only {0} are free")]
    Memory(u64, u64),
    /// A kernel could not be built.
    #[error("cannot build kernel '{0}': {1}")]
    Kernel(String, String),
    /// A kernel failed, or the device is gone.
    #[error("{0}")]
    Failed(String),
}

/// Sees whether there is such a device, without opening it.
///
/// # Errors
/// If there is none: why.
pub fn check(spec: &Spec) -> Result<(), DeviceError> {
    match spec.kind {
        DeviceKind::Emulated => emulates().map_err(DeviceError::Failed),
        #[cfg(feature = "makers")]
        DeviceKind::Gpu(number) => gpus::check(number),
        #[cfg(not(feature = "makers"))]
        DeviceKind::Gpu(_) => {
            Err(DeviceError::Failed("this program was built without GPUs".into()))
        }
    }
}

/// Opens a device, which may take a while.
///
/// # Errors
/// If it cannot be used: why.
pub fn open(spec: &Spec) -> Result<Device, DeviceError> {
    check(spec)?;
    match spec.kind {
        #[cfg(feature = "emulated")]
        DeviceKind::Emulated => Ok(Device::new(emulated::Emulated::open(spec.late, spec.fail)?)),
        #[cfg(not(feature = "emulated"))]
        DeviceKind::Emulated => unreachable!("the check refuses it"),
        #[cfg(feature = "makers")]
        DeviceKind::Gpu(number) => gpus::open(number),
        #[cfg(not(feature = "makers"))]
        DeviceKind::Gpu(_) => unreachable!("the check refuses it"),
    }
}

/// Whether the emulated device can be used.
///
/// # Errors
/// If it cannot: why.
pub fn emulates() -> Result<(), String> {
    #[cfg(feature = "emulated")]
    return pleach_kernels::emulated::find_compiler().map_err(Clone::clone);
    #[cfg(not(feature = "emulated"))]
    return Err("this program was built without it".into());
}

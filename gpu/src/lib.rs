//! Devices: memory with many stacks of nodes or intervals, and kernels that explore all of them at once.

#![cfg(not(loom))]
#![cfg_attr(not(feature = "makers"), allow(dead_code))]

mod batch;
pub mod begin;
pub mod device;
mod device_set;
mod device_work;
pub mod either;
#[cfg(feature = "emulated")]
mod emulated;
#[cfg(feature = "emulated")]
mod emulated_queue;
pub mod ending;
mod error;
pub mod evaluate;
pub mod executor;
pub mod explorer;
pub mod form;
mod guarded;
mod kernel_mailbox;
#[cfg(feature = "makers")]
mod makers;
mod memory;
mod moves;
pub mod pending;
pub mod pending_executor;
pub mod pool;
pub mod request;
mod round;
pub mod slots;
pub mod spec;
mod tune;

#[cfg(feature = "makers")]
pub use makers::gpus;

pub use device_set::DeviceSet;
pub use error::DeviceError;
pub use pleach_core::search::inside::Inside;
pub use round::{BoundingMode, Exchange, Givers, Round, RoundReport};

use device::Device;
use spec::{DeviceKind, Spec};

/// Checks whether there is such a device, without opening it.
///
/// # Errors
/// Why there is none.
pub fn check(spec: &Spec) -> Result<(), DeviceError> {
    match spec.kind {
        DeviceKind::Emulated => emulates().map_err(DeviceError::Failed),
        #[cfg(feature = "makers")]
        DeviceKind::Gpu(number) => gpus::check(number),
        #[cfg(not(feature = "makers"))]
        DeviceKind::Gpu(_) => {
            Err(DeviceError::Failed("this program was built without GPU support".into()))
        }
    }
}

/// Opens a device, which may take a while.
///
/// # Errors
/// Why the device cannot be used.
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

/// Checks whether the emulated device can be used.
///
/// # Errors
/// Why it cannot.
pub fn emulates() -> Result<(), String> {
    #[cfg(feature = "emulated")]
    return pleach_kernels::emulated::find_compiler().map_err(Clone::clone);
    #[cfg(not(feature = "emulated"))]
    return Err("this program was built without the emulated device".into());
}

//! Simulated devices: peers with many explorers that work side by side.

mod hand;
mod parameters;
mod victims;

pub use parameters::{Device, Put};

use crate::load::{Hand, Load};
use hand::DeviceHand;

/// The hand of a peer of this speed, which may be a device.
pub(super) fn hand<'a, L: Load>(
    load: &'a L,
    device: Option<Device>,
    speed: f64,
    seed: u64,
) -> Box<dyn Hand + 'a> {
    match device {
        None => Box::new(load.hand()),
        Some(device) => Box::new(DeviceHand::new(load, device, speed, seed)),
    }
}

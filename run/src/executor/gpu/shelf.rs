//! [`Shelf`]: open devices not in use, so that the next run need not open them again, and what they do best.

use super::device::Device;
use super::spec::{Kind, Mode, Spec};
use super::{DeviceError, open};
use crate::sync::{Mutex, lock};
use pleach_core::device::Layout;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A kernel with the sizes of an instance.
type Code = (&'static str, Vec<u32>);

/// Open devices not in use.
#[derive(Default)]
pub struct Shelf {
    devices: Mutex<Vec<(Kind, Device)>>,
    /// What a trial has shown to be best.
    chosen: Mutex<Vec<(Kind, Code, Mode)>>,
    opened: AtomicU64,
}

impl Shelf {
    /// Takes a device off the shelf, or opens it.
    ///
    /// # Errors
    /// If it cannot be opened: why.
    pub fn take(self: &Arc<Self>, spec: &Spec) -> Result<Borrowed, DeviceError> {
        // A device that is meant to fail is not kept.
        let shelf = spec.fail.is_none().then(|| Arc::clone(self));
        let mut devices = lock(&self.devices);
        let at = devices.iter().position(|(kind, _)| *kind == spec.kind);
        let device = match at.filter(|_| shelf.is_some()) {
            Some(at) => devices.swap_remove(at).1,
            None => {
                let device = open(spec)?;
                self.opened.fetch_add(1, Ordering::Relaxed);
                device
            }
        };
        Ok(Borrowed { device: Some(device), home: shelf.map(|shelf| (shelf, spec.kind)) })
    }

    /// What a kind of device does best for searches of this layout, if that was tried.
    pub fn chosen(&self, kind: Kind, layout: &Layout) -> Option<Mode> {
        let fits = |&&(other, (kernel, ref sizes), _): &&(Kind, Code, Mode)| {
            other == kind && kernel == layout.kernel && *sizes == layout.sizes
        };
        lock(&self.chosen).iter().find(fits).map(|(_, _, mode)| *mode)
    }

    /// Remembers what it does best.
    pub fn choose(&self, kind: Kind, layout: &Layout, mode: Mode) {
        let code = (layout.kernel, layout.sizes.clone());
        lock(&self.chosen).push((kind, code, mode));
    }

    /// The number of devices opened so far.
    pub fn opened(&self) -> u64 {
        self.opened.load(Ordering::Relaxed)
    }
}

/// A device that returns to its shelf when dropped, unless it failed.
pub struct Borrowed {
    device: Option<Device>,
    /// Its shelf, and its name there.
    home: Option<(Arc<Shelf>, Kind)>,
}

impl Borrowed {
    /// Marks the device as failed: it is not used again.
    pub fn lose(&mut self) {
        self.home = None;
    }
}

impl From<Device> for Borrowed {
    fn from(device: Device) -> Self {
        Self { device: Some(device), home: None }
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        if let (Some(mut device), Some((shelf, kind))) = (self.device.take(), &self.home)
            && device.clear().is_ok()
        {
            lock(&shelf.devices).push((*kind, device));
        }
    }
}

impl Deref for Borrowed {
    type Target = Device;

    fn deref(&self) -> &Device {
        self.device.as_ref().expect("present until dropped")
    }
}

impl DerefMut for Borrowed {
    fn deref_mut(&mut self) -> &mut Device {
        self.device.as_mut().expect("present until dropped")
    }
}

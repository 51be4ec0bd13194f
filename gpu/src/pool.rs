//! [`DevicePool`]: open devices not in use, so that the next run need not open them again, and what they do best.

use super::device::Device;
use super::spec::{DeviceKind, Mode, Spec};
use super::{DeviceError, open};
use pleach_core::search::device::Layout;
use pleach_runtime::sync::{AtomicBool, AtomicU64, Condvar, Mutex, Ordering, lock};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock, PoisonError, Weak};

/// A kernel with the sizes of an instance.
type KernelKey = (&'static str, Vec<u32>);

/// Open devices not in use.
#[derive(Default)]
pub struct DevicePool {
    contents: Mutex<Contents>,
    /// A device came back, or will not come any more.
    changed: Condvar,
    /// What a trial has shown to be best.
    chosen: Mutex<Vec<(DeviceKind, KernelKey, Mode)>>,
    opened: AtomicU64,
}

#[derive(Default)]
struct Contents {
    devices: Vec<(DeviceKind, Device)>,
    /// Devices that are still being opened for runs that are over. Each lives for as long as that takes.
    to_come: Vec<(DeviceKind, Weak<AtomicBool>)>,
}

impl Contents {
    /// Whether a device of this kind will be put here.
    fn awaits(&mut self, kind: DeviceKind) -> bool {
        self.to_come.retain(|(_, opening)| opening.strong_count() > 0);
        self.to_come.iter().any(|(other, _)| *other == kind)
    }
}

impl DevicePool {
    /// The pool of the process.
    pub fn shared() -> &'static Arc<Self> {
        static SHARED: OnceLock<Arc<DevicePool>> = OnceLock::new();
        SHARED.get_or_init(Arc::default)
    }

    /// Takes a device from the pool, or opens it.
    ///
    /// # Errors
    /// If it cannot be opened: why.
    pub fn take(self: &Arc<Self>, spec: &Spec) -> Result<BorrowedDevice, DeviceError> {
        self.take_if(spec, &AtomicBool::new(true))
    }

    /// Takes a device from the pool, or opens it, if it is still wanted by then.
    ///
    /// # Errors
    /// If it is not wanted, or cannot be opened: why.
    pub(super) fn take_if(
        self: &Arc<Self>,
        spec: &Spec,
        wanted: &AtomicBool,
    ) -> Result<BorrowedDevice, DeviceError> {
        // A device that is meant to fail is not kept.
        let pool = spec.fail.is_none().then(|| Arc::clone(self));
        let kept = pool.as_ref().and_then(|pool| pool.find(spec.kind, wanted));
        let device = match kept {
            Some(device) => device,
            None if !wanted.load(Ordering::Relaxed) => {
                return Err(DeviceError::Failed("nobody waits for it any more".into()));
            }
            None => {
                let device = open(spec)?;
                self.opened.fetch_add(1, Ordering::Relaxed);
                device
            }
        };
        Ok(BorrowedDevice { device: Some(device), returns_to: pool.map(|pool| (pool, spec.kind)) })
    }

    /// A device of this kind, as soon as it is here, if one is here or will come before it is not wanted any more.
    fn find(&self, kind: DeviceKind, wanted: &AtomicBool) -> Option<Device> {
        let mut contents = lock(&self.contents);
        loop {
            if let Some(at) = contents.devices.iter().position(|(other, _)| *other == kind) {
                return Some(contents.devices.swap_remove(at).1);
            }
            if !wanted.load(Ordering::Relaxed) || !contents.awaits(kind) {
                return None;
            }
            contents = self.changed.wait(contents).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether a device is here that would be taken, and is like this.
    pub(super) fn has(&self, spec: &Spec, is: impl Fn(&Device) -> bool) -> bool {
        let contents = lock(&self.contents);
        // The first one of its kind would be.
        let taken = contents.devices.iter().find(|(kind, _)| *kind == spec.kind);
        spec.fail.is_none() && taken.is_some_and(|(_, device)| is(device))
    }

    /// A device that is still being opened will come here: its run is over. If that only waits for another one, it
    /// ends.
    pub(super) fn expect(&self, kind: DeviceKind, opening: Weak<AtomicBool>) {
        if let Some(wanted) = opening.upgrade() {
            let mut contents = lock(&self.contents);
            wanted.store(false, Ordering::Relaxed);
            contents.to_come.push((kind, opening));
        }
        self.notice();
    }

    /// A device has come, or will not come any more.
    pub(super) fn notice(&self) {
        // Nobody is between a look at the pool and the wait for a change.
        drop(lock(&self.contents));
        self.changed.notify_all();
    }

    /// What a kind of device does best for searches of this layout, if that was tried.
    pub fn chosen(&self, kind: DeviceKind, layout: &Layout) -> Option<Mode> {
        let fits = |&&(other, (kernel, ref sizes), _): &&(DeviceKind, KernelKey, Mode)| {
            other == kind && kernel == layout.kernel && *sizes == layout.sizes
        };
        lock(&self.chosen).iter().find(fits).map(|(_, _, mode)| *mode)
    }

    /// Remembers what it does best.
    pub fn choose(&self, kind: DeviceKind, layout: &Layout, mode: Mode) {
        let code = (layout.kernel, layout.sizes.clone());
        lock(&self.chosen).push((kind, code, mode));
    }

    /// The number of devices opened so far.
    pub fn opened(&self) -> u64 {
        self.opened.load(Ordering::Relaxed)
    }
}

/// A device that returns to its pool when dropped, unless it failed.
pub struct BorrowedDevice {
    device: Option<Device>,
    /// Its pool, and its name there.
    returns_to: Option<(Arc<DevicePool>, DeviceKind)>,
}

impl BorrowedDevice {
    /// Marks the device as failed: it is not used again.
    pub fn lose(&mut self) {
        self.returns_to = None;
    }
}

impl From<Device> for BorrowedDevice {
    fn from(device: Device) -> Self {
        Self { device: Some(device), returns_to: None }
    }
}

impl Drop for BorrowedDevice {
    fn drop(&mut self) {
        if let (Some(mut device), Some((pool, kind))) = (self.device.take(), &self.returns_to)
            && device.clear().is_ok()
        {
            lock(&pool.contents).devices.push((*kind, device));
            pool.notice();
        }
    }
}

impl Deref for BorrowedDevice {
    type Target = Device;

    fn deref(&self) -> &Device {
        self.device.as_ref().expect("present until dropped")
    }
}

impl DerefMut for BorrowedDevice {
    fn deref_mut(&mut self) -> &mut Device {
        self.device.as_mut().expect("present until dropped")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a device that is awaited never comes, and where nobody wants it any more.
    #[test]
    fn nobody_waits_in_vain() {
        for leaves in [false, true] {
            let pool = Arc::new(DevicePool::default());
            let (first, second) =
                (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(true)));
            pool.expect(DeviceKind::Gpu(0), Arc::downgrade(&first));
            assert!(!first.load(Ordering::Relaxed), "its run is over");
            let waits = {
                let (pool, second) = (Arc::clone(&pool), Arc::clone(&second));
                std::thread::spawn(move || pool.find(DeviceKind::Gpu(0), &second).is_none())
            };
            if leaves {
                pool.expect(DeviceKind::Gpu(0), Arc::downgrade(&second));
            } else {
                drop(first);
                pool.notice();
            }
            assert!(waits.join().unwrap());
            assert!(pool.find(DeviceKind::Gpu(1), &AtomicBool::new(true)).is_none());
        }
    }
}

//! [`DevicePool`]: keeps open devices for the next run, and remembers what they do best.

use super::device::Device;
use super::spec::{DeviceKind, Mode, Spec};
use super::{DeviceError, check, open};
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
    /// Signals that a device came back, or that one will not come.
    changed: Condvar,
    /// Which mode trials found best.
    chosen: Mutex<Vec<(DeviceKind, KernelKey, Mode)>>,
    opened: AtomicU64,
}

#[derive(Default)]
struct Contents {
    devices: Vec<(DeviceKind, Device)>,
    /// Devices that finished runs are still opening. Each entry lives as long as that takes.
    to_come: Vec<(DeviceKind, Weak<AtomicBool>)>,
}

impl Contents {
    /// Whether a device of this kind will arrive here.
    fn awaits(&mut self, kind: DeviceKind) -> bool {
        self.to_come.retain(|(_, opening)| opening.strong_count() > 0);
        self.to_come.iter().any(|(other, _)| *other == kind)
    }
}

impl DevicePool {
    /// The pool of this process.
    pub fn shared() -> &'static Arc<Self> {
        static SHARED: OnceLock<Arc<DevicePool>> = OnceLock::new();
        SHARED.get_or_init(Arc::default)
    }

    /// Takes a device from the pool, or opens it.
    ///
    /// # Errors
    /// Why the device cannot be opened.
    pub fn take(self: &Arc<Self>, spec: &Spec) -> Result<BorrowedDevice, DeviceError> {
        self.take_if(spec, &AtomicBool::new(true))
    }

    /// Takes a device from the pool, or opens it, as long as it is wanted.
    ///
    /// # Errors
    /// If the device is no longer wanted, or why it cannot be opened.
    pub(super) fn take_if(
        self: &Arc<Self>,
        spec: &Spec,
        wanted: &AtomicBool,
    ) -> Result<BorrowedDevice, DeviceError> {
        // A GPU may have hung since it was put here.
        check(spec)?;
        // A device that is meant to fail must not be reused.
        let pool = spec.fail.is_none().then(|| Arc::clone(self));
        let kept = pool.as_ref().and_then(|pool| pool.find(spec.kind, wanted));
        let device = match kept {
            Some(device) => device,
            None if !wanted.load(Ordering::Relaxed) => {
                return Err(DeviceError::Failed("it is no longer needed".into()));
            }
            None => {
                let device = open(spec)?;
                self.opened.fetch_add(1, Ordering::Relaxed);
                device
            }
        };
        Ok(BorrowedDevice { device: Some(device), returns_to: pool.map(|pool| (pool, spec.kind)) })
    }

    /// Waits for a device of this kind that is here or on its way, as long as it is wanted.
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

    /// Whether the pool has a device for this spec that satisfies `is`.
    pub(super) fn has(&self, spec: &Spec, is: impl Fn(&Device) -> bool) -> bool {
        let contents = lock(&self.contents);
        // The device that would be taken is the first of its kind.
        let taken = contents.devices.iter().find(|(kind, _)| *kind == spec.kind);
        spec.fail.is_none() && taken.is_some_and(|(_, device)| is(device))
    }

    /// Expects a device that a finished run is still opening. If its opener is only waiting for another device, it
    /// gives up.
    pub(super) fn expect(&self, kind: DeviceKind, opening: Weak<AtomicBool>) {
        if let Some(wanted) = opening.upgrade() {
            let mut contents = lock(&self.contents);
            wanted.store(false, Ordering::Relaxed);
            contents.to_come.push((kind, opening));
        }
        self.notify_waiters();
    }

    /// Wakes waiters: a device has come, or will not come.
    pub(super) fn notify_waiters(&self) {
        // Taking the lock ensures that no waiter is between its check of the pool and its wait.
        drop(lock(&self.contents));
        self.changed.notify_all();
    }

    /// The mode that is best for this kind of device and layout, if trials found one.
    pub fn chosen(&self, kind: DeviceKind, layout: &Layout) -> Option<Mode> {
        let fits = |&&(other, (kernel, ref sizes), _): &&(DeviceKind, KernelKey, Mode)| {
            other == kind && kernel == layout.kernel && *sizes == layout.sizes
        };
        lock(&self.chosen).iter().find(fits).map(|(_, _, mode)| *mode)
    }

    /// Remembers the best mode.
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
    /// Its pool, and its kind, which is its key there.
    returns_to: Option<(Arc<DevicePool>, DeviceKind)>,
}

impl BorrowedDevice {
    /// Marks the device as failed; it will not be used again.
    pub fn mark_failed(&mut self) {
        self.returns_to = None;
    }
}

impl Drop for BorrowedDevice {
    fn drop(&mut self) {
        if let (Some(mut device), Some((pool, kind))) = (self.device.take(), &self.returns_to)
            && device.clear().is_ok()
        {
            lock(&pool.contents).devices.push((*kind, device));
            pool.notify_waiters();
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

    /// Whether waits end when the device never comes, and when nobody wants it any more.
    #[test]
    fn no_wait_lasts_forever() {
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
                pool.notify_waiters();
            }
            assert!(waits.join().unwrap());
            assert!(pool.find(DeviceKind::Gpu(1), &AtomicBool::new(true)).is_none());
        }
    }
}

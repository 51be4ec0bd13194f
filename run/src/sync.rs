//! The one place from which shared-memory primitives come, so that loom can take their place.

#[cfg(loom)]
pub use loom::{
    hint::spin_loop,
    sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering},
    sync::{Condvar, Mutex, MutexGuard},
};
#[cfg(not(loom))]
pub use std::{
    hint::spin_loop,
    sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering},
    sync::{Condvar, Mutex, MutexGuard},
};

/// Locks; a mutex whose holder panicked is taken as it is, since the run is being stopped then.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

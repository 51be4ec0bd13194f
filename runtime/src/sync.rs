//! All shared-memory primitives, in one place so that loom can replace them.

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

/// Locks a mutex. If its holder panicked the run is being stopped, so the data is used as it is.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

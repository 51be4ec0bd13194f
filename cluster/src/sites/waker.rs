//! [`Waker`]: wakes the thread of this process that waits for the network.

use pleach_runtime::sync::{Condvar, Mutex, lock};
use pleach_runtime::transport::Mailboxes;
use std::time::Duration;

/// Wakes the thread of this process that waits for the network: the gateway during a search, otherwise the thread that
/// waits for one to begin.
#[derive(Default)]
pub struct Waker {
    woken: Mutex<bool>,
    changed: Condvar,
    /// The gateway's mailbox is the first of these.
    gateway: Mutex<Option<Mailboxes>>,
}

impl Waker {
    /// Wakes the thread that waits, or the next one that will wait.
    pub fn wake(&self) {
        if let Some(mailboxes) = &*lock(&self.gateway) {
            mailboxes.wake_peer(0);
        }
        *lock(&self.woken) = true;
        self.changed.notify_all();
    }

    /// Connects the waker to a gateway, or to none.
    pub(super) fn connect(&self, gateway: Option<Mailboxes>) {
        *lock(&self.gateway) = gateway;
        // Earlier wake-ups may have gone unnoticed.
        self.wake();
    }

    /// Waits until [`Waker::wake`] is called or the time is up.
    pub(super) fn wait(&self, at_most: Duration) {
        let woken = lock(&self.woken);
        let waited = self.changed.wait_timeout_while(woken, at_most, |woken| !*woken);
        *waited.unwrap_or_else(std::sync::PoisonError::into_inner).0 = false;
    }
}

//! [`Waker`]: wakes the thread of this process that waits for the network.

use pleach_runtime::sync::{Condvar, Mutex, lock};
use pleach_runtime::transport::local::Mailboxes;
use std::time::Duration;

/// Wakes the thread of this process that waits for the network: the gateway during a search, or else the thread that waits
/// for one to begin.
#[derive(Default)]
pub struct Waker {
    rung: Mutex<bool>,
    changed: Condvar,
    /// The gateway's mailbox is the first of these.
    gateway: Mutex<Option<Mailboxes>>,
}

impl Waker {
    /// Wakes the thread that waits, or will wait next.
    pub fn ring(&self) {
        if let Some(mailboxes) = &*lock(&self.gateway) {
            mailboxes.ring(0);
        }
        *lock(&self.rung) = true;
        self.changed.notify_all();
    }

    /// A gateway is to hear it from now on, or none.
    pub(super) fn connect(&self, gateway: Option<Mailboxes>) {
        *lock(&self.gateway) = gateway;
        // What came before nobody has heard.
        self.ring();
    }

    /// Waits until it is rung, or the time is up.
    pub(super) fn wait(&self, at_most: Duration) {
        let rung = lock(&self.rung);
        let waited = self.changed.wait_timeout_while(rung, at_most, |rung| !*rung);
        *waited.unwrap_or_else(std::sync::PoisonError::into_inner).0 = false;
    }
}

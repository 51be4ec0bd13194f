//! [`Signal`]: lets one thread sleep until another wakes it.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// A flag to wait for.
#[derive(Clone, Default)]
pub struct Signal(Arc<(Mutex<bool>, Condvar)>);

impl Signal {
    /// A function that sets the flag.
    pub fn wake(&self) -> Arc<dyn Fn() + Send + Sync> {
        let signal = self.clone();
        Arc::new(move || {
            *signal.0.0.lock().unwrap() = true;
            signal.0.1.notify_one();
        })
    }

    /// Waits for the flag, but no longer than this, and clears it.
    pub fn wait(&self, limit: Duration) {
        let (flag, told) = &*self.0;
        let up = flag.lock().unwrap();
        let (mut up, _) = told.wait_timeout_while(up, limit, |up| !*up).unwrap();
        *up = false;
    }
}

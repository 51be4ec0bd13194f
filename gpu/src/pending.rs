//! [`PendingDevice`]: a device that its own thread opens while the search already runs.

use super::DeviceError;
use super::ending::AtWork;
use super::pool::DevicePool;
use super::request::{DeviceRequest, OpenDevice};
use super::spec::{DeviceKind, Mode};
use pleach_runtime::sync::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// How often to check whether a device is open.
const POLL_EVERY: Duration = Duration::from_millis(1);

/// A device that is being opened.
///
/// The thread that opens it borrows nothing. Dropping this value does not stop the thread, because a driver or a
/// compiler cannot be interrupted; the thread then puts the device into its pool.
pub struct PendingDevice {
    comes: Receiver<Result<OpenDevice, DeviceError>>,
    /// Whether the device is still wanted; lives as long as the thread.
    wanted: Weak<AtomicBool>,
    pool: Arc<DevicePool>,
    kind: DeviceKind,
    mode: Mode,
}

impl PendingDevice {
    /// Starts to open a device.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub fn start(request: DeviceRequest) -> Result<Self, DeviceError> {
        let (pool, kind, mode) = (Arc::clone(&request.pool), request.spec.kind, request.mode());
        let (send, comes) = channel();
        let thread = Opener::new(&pool);
        let wanted = Arc::downgrade(&thread.wanted);
        let open = move || {
            if let Some(came) = thread.open(request) {
                // If nobody receives the device, dropping it here returns it to its pool.
                let _ = send.send(came);
            }
            drop(thread);
        };
        let started = thread::Builder::new().name(format!("pleach-opens-{kind}")).spawn(open);
        let failed = |why| DeviceError::Failed(format!("no thread to open it: {why}"));
        started.map_err(failed)?;
        Ok(Self { comes, wanted, pool, kind, mode })
    }

    /// What the device does at first.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Waits for the device; returns `None` if the run is stopped first. Must not be called again once it has come.
    pub fn wait(&mut self, stopped: &dyn Fn() -> bool) -> Option<Result<OpenDevice, DeviceError>> {
        loop {
            let came = self.poll();
            if came.is_some() || stopped() {
                return came;
            }
            thread::sleep(POLL_EVERY);
        }
    }

    /// The device, once it is open, or why it cannot be opened. Must not be called again after that.
    pub fn poll(&mut self) -> Option<Result<OpenDevice, DeviceError>> {
        match self.comes.try_recv() {
            Ok(came) => Some(came),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                Some(Err(DeviceError::Failed("the thread that opens it ended early".into())))
            }
        }
    }
}

impl Drop for PendingDevice {
    fn drop(&mut self) {
        self.pool.expect(self.kind, Weak::clone(&self.wanted));
    }
}

/// A thread that opens a device.
struct Opener {
    wanted: Arc<AtomicBool>,
    pool: Arc<DevicePool>,
    _at_work: AtWork,
}

impl Opener {
    fn new(pool: &Arc<DevicePool>) -> Self {
        let wanted = Arc::new(AtomicBool::new(true));
        Self { wanted, pool: Arc::clone(pool), _at_work: AtWork::new() }
    }

    /// Opens a device; returns `None` if it is no longer wanted.
    fn open(&self, request: DeviceRequest) -> Option<Result<OpenDevice, DeviceError>> {
        let start = Instant::now();
        let device = match self.pool.take_if(&request.spec, &self.wanted) {
            Ok(device) => device,
            Err(why) => return Some(Err(why)),
        };
        let wanted = self.wanted.load(Ordering::Relaxed);
        wanted.then(|| request.prepare(device, start))
    }
}

impl Drop for Opener {
    fn drop(&mut self) {
        // A run that waits for this device in the pool can stop waiting.
        self.wanted = Arc::default();
        self.pool.notify_waiters();
    }
}

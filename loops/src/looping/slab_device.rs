//! [`SlabDevice`]: a device that holds a slab of work in steps and sweeps it in consecutive launches.

use crate::looping::contract::{SlabOrder, SteppingOnDevice};
use pleach_core::search::evaluate::Parents;
use pleach_gpu::DeviceError;
use pleach_gpu::pool::{BorrowedDevice, DevicePool};
use pleach_gpu::spec::Spec;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long to poll for results without a pause, and how long to pause after that.
const EAGER: Duration = Duration::from_millis(1);
const PAUSE: Duration = Duration::from_micros(20);

/// A device that holds a slab.
pub(super) struct SlabDevice<'a, S> {
    device: BorrowedDevice,
    work: &'a dyn SteppingOnDevice<S>,
}

impl<'a, S> SlabDevice<'a, S> {
    /// Sends a slab to a device.
    ///
    /// # Errors
    /// If the device cannot run the kernel, or has no room for the slab.
    pub fn new(
        work: &'a dyn SteppingOnDevice<S>,
        spec: &Spec,
        pool: &Arc<DevicePool>,
        slab: &S,
    ) -> Result<Self, DeviceError> {
        let mut device = pool.take(spec)?;
        device.configure(spec.handling, Default::default());
        device.make_slots(&work.layout(slab), 1, 1, false).inspect_err(|_| device.mark_failed())?;
        Ok(Self { device, work })
    }

    /// Does steps. The slab on the host must have the neighbours' edges, and gets its own edges back.
    ///
    /// # Errors
    /// If the device fails. Its slab is then lost.
    pub fn sweep(&mut self, slab: &mut S, steps: usize) -> Result<(), DeviceError> {
        let orders = self.work.orders(slab, steps);
        let count = orders.len();
        for (i, order) in orders.into_iter().enumerate() {
            let work = self.work;
            let results = self.launch(order)?;
            if i + 1 == count {
                work.swept(slab, steps, results);
            }
        }
        Ok(())
    }

    /// Fetches the whole slab.
    ///
    /// # Errors
    /// If the device fails.
    pub fn fetch(&mut self, slab: &mut S) -> Result<(), DeviceError> {
        for (part, order) in self.work.fetch(slab).into_iter().enumerate() {
            let work = self.work;
            work.fetched(slab, part, self.launch(order)?);
        }
        Ok(())
    }

    /// Executes an order and returns its results.
    fn launch(&mut self, order: SlabOrder) -> Result<&[u32], DeviceError> {
        if let Err(why) = self.carry_out(order) {
            self.device.mark_failed();
            return Err(why);
        }
        self.device.slots().bounds(0)
    }

    fn carry_out(&mut self, order: SlabOrder) -> Result<(), DeviceError> {
        let parents = Parents { starts: vec![0, order.results as u32], words: order.words };
        self.device.slots().start(0, &parents)?;
        let start = Instant::now();
        while !self.device.slots().is_done(0)? {
            if start.elapsed() > EAGER {
                std::thread::sleep(PAUSE);
            }
        }
        Ok(())
    }
}

//! [`LoopDevice`]: a device that runs ranges of a loop, several of them in flight.

use super::loop_queue::LoopQueue;
use super::loop_thread::{TakerTally, sleep};
use crate::looping::contract::LoopOnDevice;
use pleach_core::search::evaluate::Parents;
use pleach_gpu::DeviceError;
use pleach_gpu::pool::{BorrowedDevice, DevicePool};
use pleach_gpu::slots::AHEAD;
use pleach_gpu::spec::Spec;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Ranges under way by default.
const SLOTS: u32 = 2;
/// How long to poll for results without a pause, and how long to pause after that.
const EAGER: Duration = Duration::from_micros(100);
const PAUSE: Duration = Duration::from_micros(20);

/// A device that runs ranges of a loop.
pub(super) struct LoopDevice<'a> {
    device: BorrowedDevice,
    work: &'a dyn LoopOnDevice,
    /// The maximum number of words for the results of a range.
    room: usize,
    free: Vec<usize>,
    /// Whether its kernel is launched once.
    once: bool,
    /// In the order in which they were sent.
    under_way: Vec<RangeOut>,
    /// How many ranges were sent.
    sent: usize,
    /// When the previous range was done; the next one did not start earlier.
    last: Instant,
}

/// A range under way.
struct RangeOut {
    /// How many ranges were sent before it.
    number: usize,
    slot: usize,
    row: Range<u32>,
    units: Range<usize>,
    since: Instant,
}

/// Whether the oldest range under way leaves room for another one.
fn has_room(under_way: &[RangeOut], sent: usize) -> bool {
    under_way.first().is_none_or(|oldest| sent - oldest.number < AHEAD)
}

impl<'a> LoopDevice<'a> {
    /// Prepares a device for a loop. Returns `None` if others finish the loop meanwhile.
    ///
    /// # Errors
    /// If the device cannot run the kernel.
    pub fn new(
        work: &'a dyn LoopOnDevice,
        spec: &Spec,
        pool: &Arc<DevicePool>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, DeviceError> {
        // Opening a device takes long, too.
        if is_over() {
            return Ok(None);
        }
        let mut device = pool.take(spec)?;
        if is_over() {
            return Ok(None);
        }
        let Some(layout) = work.layout(&|| !is_over()) else { return Ok(None) };
        device.configure(spec.handling, Default::default());
        let slots = spec.rmax.unwrap_or(SLOTS).max(1);
        let made = device.make_slots(&layout, slots as usize, 1, spec.once);
        made.inspect_err(|_| device.mark_failed())?;
        let free = (0..slots as usize).rev().collect();
        let once = spec.once;
        let (under_way, sent, last) = (Vec::new(), 0, Instant::now());
        Ok(Some(Self { device, work, room: layout.width, free, once, under_way, sent, last }))
    }

    /// Runs ranges until none are left; `units` maps a range to units of the loop.
    ///
    /// # Errors
    /// If the device fails. Unfinished ranges have then been given back.
    pub fn run(
        &mut self,
        share: &LoopQueue<'_>,
        me: usize,
        slow: f64,
        units: &dyn Fn(&Range<u32>) -> Range<usize>,
        did: &mut TakerTally,
    ) -> Result<(), DeviceError> {
        let mut last = share.whole();
        let mut rest: Option<Range<u32>> = share.static_range(me);
        loop {
            if share.is_stopped() {
                rest = None;
            }
            while !self.free.is_empty() && (!self.once || has_room(&self.under_way, self.sent)) {
                let waits = self.under_way.is_empty();
                let next = rest.take().or_else(|| {
                    if waits { share.next(me, last) } else { share.try_next(me, last) }
                });
                let Some(row) = next else { break };
                let fits = self.fitting(&row, units);
                rest = (fits < row.end).then_some(fits..row.end);
                let row = row.start..fits;
                share.record_start(me, &row);
                if let Err(why) = self.send(row.clone(), units(&row)) {
                    let lost = self.under_way.drain(..).map(|sent| sent.row);
                    share.give_back(me, lost.chain([row]).chain(rest));
                    self.device.mark_failed();
                    return Err(why);
                }
            }
            if self.under_way.is_empty() {
                return Ok(());
            }
            match self.receive() {
                Ok(sent) => {
                    let took = self.last.max(sent.since).elapsed();
                    sleep(took.mul_f64(slow - 1.0), || share.is_stopped());
                    last = share.cost(&sent.row);
                    did.add(sent.units.len() as u64, last, self.last.max(sent.since).elapsed());
                    self.last = Instant::now();
                    share.record_done(me, &sent.row, took.as_nanos() as f64 * slow);
                }
                Err(why) => {
                    let lost = self.under_way.drain(..).map(|sent| sent.row);
                    share.give_back(me, lost.chain(rest));
                    self.device.mark_failed();
                    return Err(why);
                }
            }
        }
    }

    /// Where a range must end so that its results fit. It has at least one unit.
    fn fitting(&self, row: &Range<u32>, units: &dyn Fn(&Range<u32>) -> Range<usize>) -> u32 {
        let fits = |end: u32| self.work.words(&units(&(row.start..end))) <= self.room;
        let (mut low, mut high) = (row.start + 1, row.end);
        if fits(high) {
            return high;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fits(middle) { low = middle } else { high = middle }
        }
        low
    }

    fn send(&mut self, row: Range<u32>, units: Range<usize>) -> Result<(), DeviceError> {
        let mut parents =
            Parents { starts: vec![0, self.work.words(&units) as u32], words: Vec::new() };
        self.work.order(&units, &mut parents.words);
        let slot = self.free.pop().ok_or_else(|| DeviceError::Failed("no slot is free".into()))?;
        let since = Instant::now();
        self.device.slots().start(slot, &parents)?;
        self.under_way.push(RangeOut { number: self.sent, slot, row, units, since });
        self.sent += 1;
        Ok(())
    }

    /// Waits for any range and stores its results.
    fn receive(&mut self) -> Result<RangeOut, DeviceError> {
        let start = Instant::now();
        loop {
            for at in 0..self.under_way.len() {
                let slot = self.under_way[at].slot;
                if self.device.slots().is_done(slot)? {
                    let units = self.under_way[at].units.clone();
                    let words = self.work.words(&units);
                    let results = self.device.slots().bounds(slot)?;
                    self.work.store(units, &results[..words]);
                    self.free.push(slot);
                    return Ok(self.under_way.remove(at));
                }
            }
            if start.elapsed() > EAGER {
                std::thread::sleep(PAUSE);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A range under way that this many others were sent before.
    fn range(number: usize) -> RangeOut {
        RangeOut { number, slot: 0, row: 0..1, units: 0..1, since: Instant::now() }
    }

    #[test]
    fn a_slow_range_stops_others_from_being_sent() {
        let slow = 7;
        let mut under_way = vec![range(slow)];
        for sent in slow + 1..slow + AHEAD {
            // Those that were sent later may be done already, or not.
            assert!(has_room(&under_way, sent));
            under_way.truncate(1 + sent % 2);
            under_way.push(range(sent));
        }
        assert!(!has_room(&under_way, slow + AHEAD));
        assert!(has_room(&under_way[1..], slow + AHEAD) && has_room(&[], slow + AHEAD));
    }
}

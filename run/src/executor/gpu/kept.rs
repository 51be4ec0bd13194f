//! [`GuardedDevice`]: a device whose work survives a failure.

use super::held::Held;
use super::shelf::Borrowed;
use super::{DeviceError, Gives, Returned, Round};
use crate::activity::Phases;
use pleach_core::device::Layout;
use pleach_core::tree::Counts;
use std::cell::Cell;
use std::mem;
use std::time::{Duration, Instant};

/// The image is renewed once this many times its cost has passed since the last renewal.
const RENEW_PART: u32 = 50;
/// One part in this many of all nodes is fetched for the next thieves: where others come back soon, at first, and
/// where they do not.
const LARGEST_PART: f64 = 4.0;
const FIRST_PART: f64 = 64.0;
const SMALLEST_PART: f64 = 256.0;
/// A device without room gives back one part in this many of its nodes.
const RELIEF_PART: f64 = 8.0;

/// A device, a reserve of nodes or intervals on the host, and an image: a copy of what the device held
/// some time ago.
///
/// Counts of what was explored since then are held back until the image is renewed. Image, reserve
/// and reported counts thus always match: if the device fails, the search continues from them, and
/// no node is lost or counted twice. A caller that sees a failure takes [`GuardedDevice::all`].
pub(super) struct GuardedDevice {
    device: Borrowed,
    held: Held,
    reserve: Vec<u32>,
    image: Vec<u32>,
    /// The least bound over the image, computed on demand because that visits all nodes.
    image_bound: Cell<Option<i64>>,
    /// Counts of what was explored since the image was made.
    unreported: Counts,
    /// Counts covered by the image and not yet reported.
    reportable: Counts,
    /// Whether the device holds exactly the nodes of the image.
    image_is_current: bool,
    made: Instant,
    cost: Duration,
    /// One part in this many of all nodes is fetched for the next thieves.
    ahead_part: f64,
}

impl GuardedDevice {
    /// A device without work, whose explorers hold what this layout says.
    pub fn new(device: Borrowed, layout: &Layout) -> Self {
        Self {
            device,
            held: Held::new(layout),
            reserve: Vec::new(),
            image: Vec::new(),
            image_bound: Cell::new(None),
            unreported: Counts::default(),
            reportable: Counts::default(),
            image_is_current: true,
            made: Instant::now(),
            cost: Duration::ZERO,
            ahead_part: FIRST_PART,
        }
    }

    /// The reserve, to which arriving work is added.
    pub fn reserve(&mut self) -> &mut Vec<u32> {
        &mut self.reserve
    }

    /// The number of nodes or intervals in the reserve.
    pub fn reserved(&self) -> usize {
        self.held.each(&self.reserve).count()
    }

    /// The number of nodes, or of leaves, on the device and in the reserve.
    pub fn size(&self) -> f64 {
        self.device.size() + self.held.size(&self.reserve)
    }

    /// The least bound over the image and the reserve, which bounds all work left.
    pub fn least_bound(&self, bound: impl Fn(&[u32]) -> i64) -> Option<i64> {
        let least = |nodes: &[u32]| self.held.each(nodes).map(&bound).min();
        let image = self.image_bound.get().or_else(|| least(&self.image));
        self.image_bound.set(image);
        image.into_iter().chain(least(&self.reserve)).min()
    }

    /// Marks the device as failed: it is not used again.
    pub fn lose(&mut self) {
        self.device.lose();
    }

    /// What the device did beside exploring since this was asked last.
    pub fn take_phases(&mut self) -> Phases {
        self.device.take_phases()
    }

    /// Takes the counts that can be reported now.
    pub fn take_counts(&mut self) -> Counts {
        mem::take(&mut self.reportable)
    }

    /// Feeds the device from the reserve if so many explorers could use more.
    pub fn feed(&mut self, explorers: u32) -> Result<(), DeviceError> {
        if self.reserve.is_empty() || !self.device.wants_more(explorers) {
            return Ok(());
        }
        let left = self.device.put(&self.reserve)?;
        if left.is_empty() {
            self.image.append(&mut self.reserve);
            self.image_bound.set(None);
            return Ok(());
        }
        if left.len() < self.reserve.len() {
            self.image_is_current = false;
            self.renew()?;
            self.reserve = left;
        }
        Ok(())
    }

    /// Runs a round of kernels, and renews the image if enough time has passed.
    pub fn run(&mut self, round: &Round) -> Result<Returned, DeviceError> {
        let returned = self.device.run(round)?;
        self.unreported.add(&returned.counts);
        self.image_is_current = false;
        if self.device.size() == 0.0 {
            self.set_image(Vec::new());
        } else if returned.full > 0 {
            self.fetch((self.device.size() / RELIEF_PART).ceil())?;
        } else if self.made.elapsed() >= RENEW_PART * self.cost {
            self.renew()?;
        }
        Ok(returned)
    }

    /// Renews the image; a failure leaves everything here unchanged.
    pub fn renew(&mut self) -> Result<(), DeviceError> {
        if self.image_is_current {
            return Ok(());
        }
        let start = Instant::now();
        let mut image = Vec::new();
        self.device.copy(&mut image)?;
        self.set_image(image);
        (self.made, self.cost) = (Instant::now(), start.elapsed());
        Ok(())
    }

    /// Gives away a share of all nodes or leaves, from the reserve as far as it goes.
    pub fn split(&mut self, share: f64) -> Result<Option<Vec<u32>>, DeviceError> {
        let size = self.size();
        if self.device.gives() == Gives::Each && size >= 2.0 {
            // What they keep goes back to the device with the next round.
            self.fetch(f64::INFINITY)?;
            let given = self.held.split_each(&mut self.reserve, share);
            if !given.is_empty() {
                return Ok(Some(given));
            }
        }
        let mut wanted = self.held.portion(share, size);
        let missing = wanted - self.held.size(&self.reserve);
        if missing > 0.0 {
            // The image is renewed each time, which costs the same for few nodes as for many: the sooner others come
            // back, the more is fetched for them.
            let soon = self.made.elapsed() < RENEW_PART * self.cost;
            let part = if soon { self.ahead_part / 2.0 } else { 2.0 * self.ahead_part };
            self.ahead_part = part.clamp(LARGEST_PART, SMALLEST_PART);
            self.fetch(missing + (size / self.ahead_part).floor())?;
        }
        let elsewhere = self.device.size() > 0.0;
        if self.device.gives() == Gives::One && elsewhere {
            wanted = self.held.size(&self.reserve);
        }
        Ok((wanted > 0.0).then(|| self.held.split(&mut self.reserve, wanted, elsewhere)))
    }

    /// Moves this much from the device to the reserve.
    fn fetch(&mut self, size: f64) -> Result<(), DeviceError> {
        let mut fetched = Vec::new();
        self.device.take(size, &mut fetched)?;
        self.image_is_current = false;
        self.renew()?;
        self.reserve.append(&mut fetched);
        Ok(())
    }

    /// Takes all work.
    pub fn drain(&mut self) -> Result<Vec<u32>, DeviceError> {
        let mut all = Vec::new();
        self.device.take(f64::INFINITY, &mut all)?;
        all.append(&mut self.reserve);
        self.set_image(Vec::new());
        Ok(all)
    }

    /// All work left, as of the image: where the search continues without the device.
    pub fn all(&self) -> Vec<u32> {
        [&self.image[..], &self.reserve].concat()
    }

    fn set_image(&mut self, image: Vec<u32>) {
        (self.image, self.image_is_current) = (image, true);
        self.image_bound.set(None);
        self.reportable.add(&mem::take(&mut self.unreported));
    }
}

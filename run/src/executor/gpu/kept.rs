//! [`Kept`]: a device whose work survives it.

use super::shelf::Borrowed;
use super::{DeviceError, Returned, Round};
use pleach_core::tree::Counts;
use pleach_core::work::portion;
use std::cell::Cell;
use std::mem;
use std::time::{Duration, Instant};

/// The image is renewed when that takes less than this part of the time since the last.
const RENEW_PART: u32 = 50;
/// At most this part of all nodes is fetched beyond what is to be given away, for whoever asks next.
const AHEAD_PART: u64 = 16;
/// And this part at least.
const LEAST_PART: u64 = 256;
/// The part of its nodes that a device without room for more gives back.
const RELIEF_PART: u64 = 8;

/// A device, a reserve of nodes here, from which others are given, and an image of what the device had
/// some time ago.
///
/// What was explored since the image is held back, to be told with the next one. So image, reserve and
/// what was told belong together at all times, and the search can go on from these when the device
/// fails, with nothing lost and nothing twice. Whoever calls anything that fails takes [`Kept::all`].
pub(super) struct Kept {
    device: Borrowed,
    words: usize,
    reserve: Vec<u32>,
    image: Vec<u32>,
    /// The least bound over the image, once it was asked for: to look at all nodes takes long.
    image_bound: Cell<Option<i64>>,
    held: Counts,
    /// Explored before the image was made, and not told yet.
    due: Counts,
    /// Whether the device has the nodes of the image and no others.
    same: bool,
    made: Instant,
    cost: Duration,
}

impl Kept {
    /// A device without work, for nodes of so many words.
    pub fn new(device: Borrowed, words: usize) -> Self {
        Self {
            device,
            words,
            reserve: Vec::new(),
            image: Vec::new(),
            image_bound: Cell::new(None),
            held: Counts::default(),
            due: Counts::default(),
            same: true,
            made: Instant::now(),
            cost: Duration::ZERO,
        }
    }

    /// Where work that comes is put.
    pub fn reserve(&mut self) -> &mut Vec<u32> {
        &mut self.reserve
    }

    /// Nodes in the reserve.
    pub fn reserved(&self) -> u64 {
        (self.reserve.len() / self.words) as u64
    }

    /// Nodes on the device and in the reserve.
    pub fn nodes(&self) -> u64 {
        self.device.nodes() + self.reserved()
    }

    /// The least bound over all nodes from which what is left to do comes.
    pub fn least_bound(&self, bound: impl Fn(&[u32]) -> i64) -> Option<i64> {
        let least = |nodes: &[u32]| nodes.chunks_exact(self.words).map(&bound).min();
        let image = self.image_bound.get().or_else(|| least(&self.image));
        self.image_bound.set(image);
        image.into_iter().chain(least(&self.reserve)).min()
    }

    /// The device has failed: it is not used again.
    pub fn lose(&mut self) {
        self.device.lose();
    }

    /// What was explored and can be told now.
    pub fn tell(&mut self) -> Counts {
        mem::take(&mut self.due)
    }

    /// Feeds the device from the reserve if it has less than two nodes for each of so many explorers.
    pub fn feed(&mut self, explorers: u32) -> Result<(), DeviceError> {
        if self.reserve.is_empty() || self.device.nodes() >= 2 * u64::from(explorers) {
            return Ok(());
        }
        let left = self.device.put(&self.reserve)?;
        if left.is_empty() {
            self.image.append(&mut self.reserve);
            self.image_bound.set(None);
            return Ok(());
        }
        self.same = false;
        self.renew()?;
        self.reserve = left;
        Ok(())
    }

    /// Runs a round of kernels, and renews the image if that is cheap by now.
    pub fn run(&mut self, round: &Round) -> Result<Returned, DeviceError> {
        let returned = self.device.run(round)?;
        self.held.add(&returned.counts);
        self.same = false;
        if self.device.nodes() == 0 {
            self.settled(Vec::new());
        } else if returned.full > 0 {
            self.fetch(self.device.nodes().div_ceil(RELIEF_PART))?;
        } else if self.made.elapsed() >= RENEW_PART * self.cost {
            self.renew()?;
        }
        Ok(returned)
    }

    /// Makes the image that of now; nothing is changed here if that fails.
    pub fn renew(&mut self) -> Result<(), DeviceError> {
        if self.same {
            return Ok(());
        }
        let start = Instant::now();
        let mut image = Vec::new();
        self.device.copy(&mut image)?;
        self.settled(image);
        (self.made, self.cost) = (Instant::now(), start.elapsed());
        Ok(())
    }

    /// Gives a share of all nodes away, out of the reserve as far as there is one.
    pub fn split(&mut self, share: f64) -> Result<Option<Vec<u32>>, DeviceError> {
        let wanted = portion(share, self.nodes() as usize) as u64;
        let missing = wanted.saturating_sub(self.reserved());
        if missing > 0 {
            // A new image costs the same for few.
            let ahead = missing.max(self.nodes() / LEAST_PART).min(self.nodes() / AHEAD_PART);
            self.fetch(missing + ahead)?;
        }
        let left = self.reserve.len() - wanted as usize * self.words;
        Ok((wanted > 0).then(|| self.reserve.split_off(left)))
    }

    /// Takes so many nodes from the device into the reserve.
    fn fetch(&mut self, nodes: u64) -> Result<(), DeviceError> {
        let mut fetched = Vec::new();
        self.device.take(nodes, &mut fetched)?;
        self.same = false;
        self.renew()?;
        self.reserve.append(&mut fetched);
        Ok(())
    }

    /// Takes all that there is.
    pub fn drain(&mut self) -> Result<Vec<u32>, DeviceError> {
        let mut all = Vec::new();
        self.device.take(u64::MAX, &mut all)?;
        all.append(&mut self.reserve);
        self.settled(Vec::new());
        Ok(all)
    }

    /// All that is left to do, in terms of the image: where to go on without the device.
    pub fn all(&self) -> Vec<u32> {
        [&self.image[..], &self.reserve].concat()
    }

    fn settled(&mut self, image: Vec<u32>) {
        (self.image, self.same) = (image, true);
        self.image_bound.set(None);
        self.due.add(&mem::take(&mut self.held));
    }
}

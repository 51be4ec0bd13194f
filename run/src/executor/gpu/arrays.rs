//! [`Arrays`]: the arrays that kernels work on, in whatever memory; the same steps for every device.

use super::{Device, DeviceError, Inside, Returned, Round, Stacks};
use pleach_core::device::Layout;
use pleach_kernels::{COUNTS, Entry, FOUND, Kind, Launch};

/// Memory that kernels can reach, and a way to start them.
pub(super) trait Memory: Send {
    /// A good number of explorers.
    fn explorers(&self) -> u32;

    /// Bytes in all.
    fn bytes(&self) -> u64;

    /// Makes the kernels of a problem.
    fn make(&mut self, layout: &Layout) -> Result<(), DeviceError>;

    /// Takes so many words of zeros; returns their address.
    fn take(&mut self, words: usize) -> Result<u64, DeviceError>;

    /// Copies rows of words to every `pitch` words from an address on.
    fn write(
        &mut self,
        to: u64,
        pitch: usize,
        width: usize,
        rows: &[u32],
    ) -> Result<(), DeviceError>;

    /// Copies rows of words from every `pitch` words from an address on.
    fn read(
        &mut self,
        from: u64,
        pitch: usize,
        width: usize,
        rows: &mut [u32],
    ) -> Result<(), DeviceError>;

    /// Starts a kernel, and waits until it has ended.
    fn launch(&mut self, entry: Entry, launch: &Launch) -> Result<(), DeviceError>;
}

/// A device: its memory, and where its arrays lie.
pub(super) struct Arrays<M> {
    memory: M,
    launch: Launch,
    /// Words of a node and of what is found, and nodes of a stack.
    words: usize,
    found: usize,
    capacity: usize,
}

impl<M: Memory> Arrays<M> {
    /// A device that has nothing yet.
    pub fn new(memory: M) -> Self {
        Self { memory, launch: Launch::default(), words: 0, found: 0, capacity: 0 }
    }

    fn explorers(&self) -> usize {
        self.launch.explorers as usize
    }

    fn read_all(&mut self, from: u64, words: usize) -> Result<Vec<u32>, DeviceError> {
        let mut all = vec![0; words];
        self.memory.read(from, words, words, &mut all)?;
        Ok(all)
    }

    fn write_all(&mut self, to: u64, words: &[u32]) -> Result<(), DeviceError> {
        self.memory.write(to, words.len(), words.len(), words)
    }

    /// What every explorer has counted, in all.
    fn counts(&mut self) -> Result<[u64; 4], DeviceError> {
        let words = self.read_all(self.launch.counts, 2 * COUNTS * self.explorers())?;
        let mut sum = [0; COUNTS];
        for counts in words.chunks_exact(2 * COUNTS) {
            let [branched, bounded, total, depth] =
                std::array::from_fn(|i| wide(counts[2 * i], counts[2 * i + 1]));
            sum[0] += branched;
            sum[1] += bounded;
            sum[2] += total;
            sum[3] = depth.max(sum[3]);
        }
        Ok(sum)
    }

    /// The best that any explorer has written down.
    fn best_found(&mut self) -> Result<Option<(i64, Vec<u32>)>, DeviceError> {
        let words = self.read_all(self.launch.found, self.found * self.explorers())?;
        let written = words.chunks_exact(self.found).filter(|found| found[0] == 1);
        let scored = written.map(|found| (wide(found[2], found[3]).cast_signed(), &found[FOUND..]));
        Ok(scored.min_by_key(|(score, _)| *score).map(|(score, plan)| (score, plan.to_vec())))
    }

    /// Has empty stacks take nodes from full ones, on the device.
    fn exchange(&mut self, inside: Inside) -> Result<(), DeviceError> {
        let heights = self.read_all(self.launch.heights, self.explorers())?;
        let nodes: u64 = heights.iter().map(|&height| u64::from(height)).sum();
        let idle = heights.contains(&0);
        if !idle || heights.iter().all(|&height| height < 2) {
            return Ok(());
        }
        let kind = match inside {
            Inside::Hypercube => Kind::Hypercube,
            Inside::Adapt => Kind::Adapt,
        };
        self.launch.kind = kind as u32;
        self.launch.least = (nodes / u64::from(self.launch.explorers)) as u32;
        for round in 0..kind.rounds(self.launch.explorers) {
            self.launch.round = round;
            self.memory.launch(Entry::Balance, &self.launch)?;
        }
        Ok(())
    }
}

/// Two words as one.
fn wide(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

impl<M: Memory> Device for Arrays<M> {
    fn explorers(&self) -> u32 {
        self.memory.explorers()
    }

    fn memory(&self) -> u64 {
        self.memory.bytes()
    }

    fn prepare(
        &mut self,
        layout: &Layout,
        explorers: u32,
        capacity: u32,
    ) -> Result<(), DeviceError> {
        self.memory.make(layout)?;
        let n = explorers as usize;
        (self.words, self.found, self.capacity) =
            (layout.words, FOUND + layout.plan, capacity as usize);
        let mut sizes = [0; 9];
        sizes.iter_mut().zip(&layout.sizes).for_each(|(size, &given)| *size = given);
        self.launch = Launch {
            stacks: self.memory.take(n * self.capacity * self.words)?,
            heights: self.memory.take(n)?,
            counts: self.memory.take(2 * COUNTS * n)?,
            best: self.memory.take(2)?,
            found: self.memory.take(n * self.found)?,
            tables: self.memory.take(layout.tables.len().max(1))?,
            idle: self.memory.take(2)?,
            explorers,
            capacity,
            sizes,
            ..Launch::default()
        };
        self.write_all(self.launch.tables, &layout.tables)
    }

    fn write(&mut self, stacks: &mut Stacks) -> Result<(), DeviceError> {
        let changed = stacks.take_changed();
        self.launch.explorers = stacks.len() as u32;
        if changed.is_empty() {
            return Ok(());
        }
        let heights: Vec<u32> = (0..stacks.len()).map(|at| stacks.height(at) as u32).collect();
        self.write_all(self.launch.heights, &heights)?;
        let pitch = self.capacity * self.words;
        for at in changed {
            let to = self.launch.stacks + 4 * (at * pitch) as u64;
            self.write_all(to, stacks.stack(at))?;
        }
        Ok(())
    }

    fn run(&mut self, round: &Round, stacks: &mut Stacks) -> Result<Returned, DeviceError> {
        let n = self.explorers();
        (self.launch.budget, self.launch.trigger) = (round.budget, round.trigger);
        let best = round.best.cast_unsigned();
        self.write_all(self.launch.best, &[best as u32, (best >> 32) as u32])?;
        self.write_all(self.launch.counts, &vec![0; 2 * COUNTS * n])?;
        self.write_all(self.launch.found, &vec![0; self.found * n])?;
        self.write_all(self.launch.idle, &[0, 0])?;
        self.memory.launch(Entry::Explore, &self.launch)?;
        let returned = Returned { counts: self.counts()?, found: self.best_found()? };
        self.exchange(round.inside)?;
        let heights = self.read_all(self.launch.heights, n)?;
        // All rows at once, as wide as the highest.
        let width = heights.iter().copied().max().unwrap_or(0) as usize * self.words;
        let mut rows = vec![0; n * width];
        self.memory.read(self.launch.stacks, self.capacity * self.words, width, &mut rows)?;
        for (at, &height) in heights.iter().enumerate() {
            stacks.replace(at, &rows[at * width..][..height as usize * self.words]);
        }
        Ok(returned)
    }
}

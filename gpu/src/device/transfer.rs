//! How nodes or intervals get to a device and leave it: the host puts, takes or copies them.

use super::super::moves::{longest, share, spread};
use super::super::{DeviceError, Givers};
use super::{Device, nanos_since};
use pleach_kernels::launch::{KernelEntry, Move, least_leaves};
use std::time::{Duration, Instant};

/// Arriving work fills stacks up to this many nodes, so that other stacks get some as well.
const FILLED: u32 = 32;

impl Device {
    /// Puts nodes onto the lowest stacks, or gives intervals to explorers that have none; returns what does not fit.
    ///
    /// # Errors
    /// If the device fails.
    pub fn put(&mut self, nodes: &[u32]) -> Result<Vec<u32>, DeviceError> {
        let start = Instant::now();
        let mut left = Vec::new();
        for some in nodes.chunks(self.room * self.words) {
            let heights = self.read(self.launch.heights, self.launch.active as usize)?;
            let heights = self.held.counts(&heights);
            let most = if self.held.is_intervals() { 1 } else { FILLED };
            let nodes = (some.len() / self.words) as u64;
            let given = match self.exchange.one_gets {
                true if self.held.is_intervals() => spread(&heights[..1], nodes, most),
                true => vec![nodes as u32],
                false => spread(&heights, nodes, most),
            };
            let mut at = 0;
            let planned = |&nodes: &u32| {
                at += nodes;
                Move { nodes, at: at - nodes, ..Move::default() }
            };
            let mut moves: Vec<Move> = given.iter().map(planned).collect();
            left.extend_from_slice(&some[at as usize * self.words..]);
            if at == 0 {
                continue;
            }
            moves.resize(self.launch.explorers as usize, Move::default());
            self.memory.write(self.launch.moved, some)?;
            self.start_moves(KernelEntry::Put, &moves)?;
            let said = self.read(self.launch.moves, Move::WORDS * moves.len())?;
            for (said, planned) in said.chunks_exact(Move::WORDS).zip(&moves) {
                let (done, nodes) = (said[3].min(planned.nodes), planned.nodes);
                let node = |n: u32| (planned.at + n) as usize * self.words;
                left.extend_from_slice(&some[node(done)..node(nodes)]);
                self.size += self.held.size(&some[node(0)..node(done)]);
                self.holding += done;
            }
        }
        self.phases.copy_ns += nanos_since(start);
        Ok(left)
    }

    fn start_moves(&mut self, entry: KernelEntry, moves: &[Move]) -> Result<(), DeviceError> {
        let words: Vec<u32> = moves.iter().flat_map(|one| one.words()).collect();
        self.memory.write(self.launch.moves, &words)?;
        self.launch_and_read(entry, i64::MAX).map(drop)
    }

    /// Removes this many nodes from the bottoms of the stacks and appends them to `into`. If work is held as intervals,
    /// removes the longest ones until they have this many leaves. If one explorer gives, removes all that it has.
    ///
    /// # Errors
    /// If the device fails.
    pub fn take_work(
        &mut self,
        size: f64,
        gives: Givers,
        into: &mut Vec<u32>,
    ) -> Result<(), DeviceError> {
        let start = Instant::now();
        let heights = self.heights()?;
        let shares = match gives {
            Givers::One => self.one(&heights),
            _ => self.choose(&heights, size),
        };
        if shares.iter().any(|&nodes| nodes > 0) {
            self.fetch(shares, false, into)?;
        }
        self.phases.copy_ns += nanos_since(start);
        Ok(())
    }

    fn heights(&mut self) -> Result<Vec<u32>, DeviceError> {
        self.read(self.launch.heights, self.launch.explorers as usize)
    }

    /// How many nodes to take from each stack, or intervals from each explorer, to get this much work.
    fn choose(&mut self, heights: &[u32], size: f64) -> Vec<u32> {
        let intervals = self.held.is_intervals();
        let taken = if intervals { longest(heights, size) } else { share(heights, size as u64) };
        self.note_taken(heights, &taken);
        taken
    }

    /// Updates the size by what is taken.
    fn note_taken(&mut self, heights: &[u32], taken: &[u32]) {
        if self.held.is_intervals() {
            let left =
                || heights.iter().zip(taken).filter(|&(&height, &taken)| taken == 0 && height > 0);
            self.size = left().map(|(&height, _)| least_leaves(height)).sum();
            self.holding = left().count() as u32;
        } else {
            self.size -= taken.iter().map(|&nodes| f64::from(nodes)).sum::<f64>();
        }
    }

    /// All the work of one explorer, drawn among those that take part; nothing if it has none, or no other has any.
    fn one(&mut self, heights: &[u32]) -> Vec<u32> {
        self.drawn = self.drawn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // The lower bits of such numbers are less random.
        let drawn = ((u64::from(self.drawn) * u64::from(self.launch.active)) >> 32) as usize;
        let others = heights.iter().enumerate().any(|(at, &height)| at != drawn && height > 0);
        let mut taken = vec![0; heights.len()];
        if others && heights[drawn] > 0 {
            taken[drawn] = if self.held.is_intervals() { 1 } else { heights[drawn] };
            self.note_taken(heights, &taken);
        }
        taken
    }

    /// Appends a copy of all nodes to `into`.
    ///
    /// # Errors
    /// If the device fails.
    pub fn copy(&mut self, into: &mut Vec<u32>) -> Result<(), DeviceError> {
        let start = Instant::now();
        let heights = self.heights()?;
        self.fetch(self.held.counts(&heights), true, into)?;
        self.phases.copy_ns += nanos_since(start);
        Ok(())
    }

    /// Removes this much work, as [`Device::take_work`] does, and starts copying it to a buffer on the host, followed
    /// by a copy of all that stays. Returns how many words were removed, and how long the device was idle. Does nothing
    /// if there is too little work for that, or too much.
    ///
    /// # Errors
    /// If the device fails.
    pub fn send_off(
        &mut self,
        size: f64,
        buffer: usize,
    ) -> Result<Option<(usize, Duration)>, DeviceError> {
        let mut heights = self.heights()?;
        let all: u64 = self.held.counts(&heights).iter().map(|&nodes| u64::from(nodes)).sum();
        let all = all as usize;
        if all > self.staged.1 || !self.memory.make_room(buffer, all * self.words, size > 0.0) {
            return Ok(None);
        }
        let start = Instant::now();
        let mut removed = 0;
        if size > 0.0 {
            let shares = self.choose(&heights, size);
            removed = self.stage(&shares, 0, false)?;
            heights = self.heights()?;
        }
        let upto = self.stage(&self.held.counts(&heights), removed, true)?;
        self.memory.send_off(buffer, self.staged.0, upto as usize * self.words)?;
        self.phases.copy_ns += nanos_since(start);
        Ok(Some((removed as usize * self.words, start.elapsed())))
    }

    /// Gathers the `wanted` bottom nodes of each stack, starting at node `at`. Returns where they end.
    fn stage(&mut self, wanted: &[u32], mut at: u32, leave: bool) -> Result<u32, DeviceError> {
        let planned = |&nodes: &u32| {
            at += nodes;
            Move { nodes, at: at - nodes, ..Move::default() }
        };
        let moves: Vec<Move> = wanted.iter().map(planned).collect();
        let moved = std::mem::replace(&mut self.launch.moved, self.staged.0);
        self.launch.leave = leave.into();
        let done = self.start_moves(KernelEntry::Take, &moves);
        self.launch.moved = moved;
        done.map(|()| at)
    }

    /// Whether everything sent off has arrived.
    ///
    /// # Errors
    /// If the device fails.
    pub fn have_arrived(&mut self) -> Result<bool, DeviceError> {
        self.memory.have_arrived()
    }

    /// What was sent off to a buffer. It remains readable even if the device has failed.
    #[must_use]
    pub fn staged(&self, buffer: usize) -> &[u32] {
        self.memory.staged(buffer)
    }

    /// Fetches the `wanted` bottom nodes of each stack, in as many transfers as necessary.
    fn fetch(
        &mut self,
        mut wanted: Vec<u32>,
        leave: bool,
        into: &mut Vec<u32>,
    ) -> Result<(), DeviceError> {
        self.launch.leave = leave.into();
        let mut skip = vec![0; wanted.len()];
        loop {
            let mut at = 0;
            let some = |(wanted, skip): (&mut u32, &mut u32)| {
                let nodes = (*wanted).min(self.room as u32 - at);
                let one = Move { skip: *skip, nodes, at, done: 0 };
                (*wanted, at) = (*wanted - nodes, at + nodes);
                *skip += if leave { nodes } else { 0 };
                one
            };
            let moves: Vec<Move> = wanted.iter_mut().zip(&mut skip).map(some).collect();
            if at == 0 {
                return Ok(());
            }
            self.start_moves(KernelEntry::Take, &moves)?;
            let start = into.len();
            into.resize(start + at as usize * self.words, 0);
            self.memory.read(self.launch.moved, &mut into[start..])?;
        }
    }
}

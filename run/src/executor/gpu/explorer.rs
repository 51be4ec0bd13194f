//! [`DeviceExplorer`]: a device with all its stacks as one explorer.

use super::spec::Spec;
use super::tune::Tune;
use super::{Device, DeviceError, Inside, Returned, Round, Stacks};
use pleach_core::device::{Layout, OnDevice};
use pleach_core::explorer::{Explorer, Progress};
use pleach_core::problem::Problem;
use pleach_core::tree::Counts;
use pleach_core::work::{Malformed, Work};
use std::time::Instant;

/// Nodes of a stack at most, and the part of the device's memory that stacks may take.
const MOST_NODES: usize = 1 << 16;
const PART: u64 = 2;
/// Fuel of a step without the device.
const WITHOUT: u64 = 1 << 16;
/// Nodes that an explorer takes up in one step, at most.
const LANES: usize = 32;

/// An explorer whose work lies on a device, and a copy of it here.
///
/// The copy is that of the end of the last round. If the device fails, what it did since is not
/// counted, and the copy goes on in an explorer of the CPU.
pub struct DeviceExplorer<'p> {
    problem: &'p dyn Problem,
    on: &'p dyn OnDevice,
    layout: Layout,
    state: State<'p>,
    stacks: Stacks,
    /// Nodes that are on no stack yet.
    pending: Vec<u32>,
    inside: Inside,
    tune: Tune,
    /// Why the device was given up, until that is said.
    lost: Option<DeviceError>,
}

enum State<'p> {
    Device(Box<dyn Device>),
    Plain(Box<dyn Explorer + 'p>),
}

impl<'p> DeviceExplorer<'p> {
    /// Makes a device ready for a problem that has kernels.
    ///
    /// # Errors
    /// If the device is not up to it.
    pub fn new(
        mut device: Box<dyn Device>,
        problem: &'p dyn Problem,
        on: &'p dyn OnDevice,
        spec: &Spec,
    ) -> Result<Self, DeviceError> {
        let layout = on.layout();
        let explorers = spec.explorers.unwrap_or(device.explorers());
        // Depth first, a step adds what its nodes have as children; twice that, so that a stack that
        // is half full can still be explored.
        let deepest = 2 * LANES * layout.width * (layout.depth + 1);
        let bytes = 4 * layout.words as u64 * u64::from(explorers);
        let room = (device.memory() / PART / bytes) as usize;
        let least = 2 * LANES * (layout.width + 1);
        if room < least {
            return Err(DeviceError::Memory(device.memory(), PART * bytes * least as u64));
        }
        let capacity = deepest.min(MOST_NODES).min(room).max(least);
        device.prepare(&layout, explorers, capacity as u32)?;
        Ok(Self {
            problem,
            on,
            stacks: Stacks::new(layout.words, explorers as usize, capacity),
            layout,
            state: State::Device(device),
            pending: Vec::new(),
            inside: spec.inside,
            tune: Tune::new(explorers, spec.explorers, spec.budget, spec.trigger),
            lost: None,
        })
    }

    /// Why the device was given up, if it was and that has not been said yet.
    pub fn lost(&mut self) -> Option<DeviceError> {
        self.lost.take()
    }

    /// Stacks that have nodes, of all.
    #[must_use]
    pub fn active(&self) -> (usize, usize) {
        let active = (0..self.stacks.len()).filter(|&at| self.stacks.height(at) > 0);
        (active.count(), self.stacks.len())
    }

    /// Runs a round.
    fn round(&mut self, fuel: u64, best: i64) -> Result<Returned, DeviceError> {
        let State::Device(device) = &mut self.state else { return Ok(Returned::default()) };
        let step = LANES * self.layout.width;
        let left = self.stacks.use_first(self.tune.explorers() as usize);
        self.pending.extend(left);
        let full = self.stacks.relieve(step);
        self.pending.extend(full);
        self.stacks.spread(&mut self.pending);
        // So many steps of all would use the fuel up.
        let steps = fuel / (LANES * self.stacks.len()) as u64;
        let budget = self.tune.budget().min(u32::try_from(steps).unwrap_or(u32::MAX)).max(1);
        let round = Round { best, budget, trigger: self.tune.trigger(), inside: self.inside };
        device.write(&mut self.stacks)?;
        device.run(&round, &mut self.stacks)
    }

    /// Explores for a round, or about as long without the device.
    pub fn step(&mut self, fuel: u64, best: i64) -> Progress {
        if let State::Plain(plain) = &mut self.state {
            return plain.run(fuel.min(WITHOUT), best);
        }
        let start = Instant::now();
        let returned = match self.round(fuel, best) {
            Ok(returned) => returned,
            Err(why) => {
                self.give_up(why);
                return Progress::default();
            }
        };
        let [branched, bounded, total, depth] = returned.counts;
        self.tune.note(bounded, start.elapsed().as_nanos() as u64);
        let better = |&(score, _): &(i64, Vec<u32>)| score < best;
        let found = returned.found.filter(better);
        Progress {
            counts: Counts { branched, bounded, total: total.into(), depth: depth as u32 },
            // A node that made no child took its step all the same.
            used: bounded.max(branched).max(1),
            found: found.map(|(score, plan)| self.on.solution(score, &plan)),
        }
    }

    /// Goes on without the device, from what was there at the end of the last round.
    fn give_up(&mut self, why: DeviceError) {
        let work = self.everything();
        let mut plain = self.problem.explorer();
        plain.put(&work.bytes).expect("work that this problem's own nodes were made into");
        (self.state, self.lost) = (State::Plain(plain), Some(why));
    }

    /// Takes all nodes.
    fn everything(&mut self) -> Work {
        let mut nodes = std::mem::take(&mut self.pending);
        nodes.extend(self.stacks.take(usize::MAX));
        self.on.to_work(&nodes)
    }
}

impl Explorer for DeviceExplorer<'_> {
    fn put(&mut self, work: &[u8]) -> Result<(), Malformed> {
        match &mut self.state {
            State::Plain(plain) => plain.put(work),
            State::Device(_) => self.on.to_words(work, &mut self.pending),
        }
    }

    fn size(&self) -> f64 {
        match &self.state {
            State::Plain(plain) => plain.size(),
            State::Device(_) => {
                (self.stacks.nodes() + self.pending.len() / self.layout.words) as f64
            }
        }
    }

    fn least_bound(&self) -> Option<i64> {
        match &self.state {
            State::Plain(plain) => plain.least_bound(),
            State::Device(_) => {
                let pending = self.pending.chunks_exact(self.layout.words);
                self.stacks.each().chain(pending).map(|node| self.on.bound(node)).min()
            }
        }
    }

    fn open_share(&self) -> Option<f64> {
        match &self.state {
            State::Plain(plain) => plain.open_share(),
            State::Device(_) => None,
        }
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        let mut progress = Progress::default();
        while progress.used < fuel && progress.found.is_none() && self.size() > 0.0 {
            progress.add(self.step(fuel - progress.used, best));
        }
        progress
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        if let State::Plain(plain) = &mut self.state {
            return plain.split(share);
        }
        let words = self.layout.words;
        let all = self.stacks.nodes() + self.pending.len() / words;
        let wanted = pleach_core::work::portion(share, all);
        if wanted == 0 {
            return None;
        }
        // What has just come first, then the shallowest nodes of the highest stacks.
        let first = wanted.min(self.pending.len() / words);
        let mut given: Vec<u32> = self.pending.drain(..first * words).collect();
        given.extend(self.stacks.take(wanted - first));
        Some(self.on.to_work(&given))
    }

    fn drain(&mut self) -> Work {
        match &mut self.state {
            State::Plain(plain) => plain.drain(),
            State::Device(_) => self.everything(),
        }
    }
}

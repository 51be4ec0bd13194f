//! [`DeviceExplorer`]: a device with all its stacks as one explorer.

use super::kept::Kept;
use super::shelf::Borrowed;
use super::spec::Spec;
use super::tune::Tune;
use super::{DeviceError, Inside, Round};
use pleach_core::device::OnDevice;
use pleach_core::explorer::{Explorer, Progress};
use pleach_core::problem::Problem;
use pleach_core::tree::Counts;
use pleach_core::work::{Malformed, Work};

/// Fuel of a step without the device.
const WITHOUT: u64 = 1 << 16;
/// Nodes that an explorer makes in a step, roughly.
const STEP: u64 = 32;

/// An explorer whose work lies on a device; if that fails, the work goes on in an explorer of the CPU.
pub struct DeviceExplorer<'p> {
    problem: &'p dyn Problem,
    on: &'p dyn OnDevice,
    state: State<'p>,
    inside: Inside,
    tune: Tune,
    /// Explorers with work at the end of the last round, and how many took part.
    active: (u32, u32),
    /// Why the device was given up, until that is said.
    lost: Option<DeviceError>,
    /// Whether there are less than two nodes since it was, where there were more.
    reduced: bool,
}

enum State<'p> {
    Device(Box<Kept>),
    /// With what was explored before and is still to be told.
    Plain(Box<dyn Explorer + 'p>, Counts),
}

impl<'p> DeviceExplorer<'p> {
    /// Makes a device ready for a problem that has kernels.
    ///
    /// # Errors
    /// If the device is not up to it.
    pub fn new(
        device: impl Into<Borrowed>,
        problem: &'p dyn Problem,
        on: &'p dyn OnDevice,
        spec: &Spec,
    ) -> Result<Self, DeviceError> {
        let mut device = device.into();
        let layout = on.layout();
        device.prepare(&layout, spec.explorers)?;
        let explorers = device.explorers();
        Ok(Self {
            problem,
            on,
            state: State::Device(Box::new(Kept::new(device, layout.words))),
            inside: spec.inside,
            tune: Tune::new(explorers, spec.explorers, spec.budget, spec.trigger),
            active: (0, explorers),
            lost: None,
            reduced: false,
        })
    }

    /// Why the device was given up, if it was and that has not been said yet.
    pub fn lost(&mut self) -> Option<DeviceError> {
        self.lost.take()
    }

    /// Explorers that had work at the end of the last round, and how many took part.
    #[must_use]
    pub fn active(&self) -> (u32, u32) {
        self.active
    }

    /// The fuel of a whole round.
    #[must_use]
    pub fn appetite(&self) -> u64 {
        STEP * u64::from(self.tune.explorers()) * u64::from(self.tune.budget())
    }

    /// Explores for a round, or about as long without the device. What is counted may be told later.
    pub fn step(&mut self, fuel: u64, best: i64) -> Progress {
        self.reduced = false;
        let mut progress = match &mut self.state {
            State::Plain(plain, _) => plain.run(fuel.min(WITHOUT), best),
            State::Device(_) => self.round(fuel, best),
        };
        progress.counts.add(&self.tell());
        progress
    }

    /// Has the device's work seen to, so that all that was explored can be told; what that is.
    pub fn flush(&mut self) -> Progress {
        self.attempt(|kept| kept.renew());
        Progress { counts: self.tell(), ..Progress::default() }
    }

    /// Runs a round; what it counted is told when it is time.
    fn round(&mut self, fuel: u64, best: i64) -> Progress {
        let explorers = self.tune.explorers();
        // So many steps of all would use the fuel up.
        let steps = fuel / (STEP * u64::from(explorers));
        let budget = self.tune.budget().min(u32::try_from(steps).unwrap_or(u32::MAX)).max(1);
        let (trigger, inside) = (self.tune.trigger(), self.inside);
        let round = Round { best, explorers, budget, trigger, inside };
        let done = self.attempt(|kept| kept.feed(explorers).and_then(|()| kept.run(&round)));
        let Some(returned) = done else { return Progress::default() };
        self.tune.note(returned.counts.bounded, returned.steps, returned.round_ns);
        self.active = (explorers.saturating_sub(returned.idle), explorers);
        let better = |&(score, _): &(i64, Vec<u32>)| score < best;
        let found = returned.found.filter(better);
        Progress {
            counts: Counts::default(),
            // A node that made no child took its step all the same.
            used: returned.counts.bounded.max(returned.counts.branched).max(1),
            found: found.map(|(score, plan)| self.on.solution(score, &plan)),
            fault: None,
        }
    }

    /// Does something with the device, if there is one still; goes on without it if that fails.
    fn attempt<R>(&mut self, act: impl FnOnce(&mut Kept) -> Result<R, DeviceError>) -> Option<R> {
        let State::Device(kept) = &mut self.state else { return None };
        act(kept).map_err(|why| self.give_up(why)).ok()
    }

    fn give_up(&mut self, why: DeviceError) {
        if let State::Device(kept) = &mut self.state {
            kept.lose();
            let mut plain = self.problem.explorer();
            let work = self.on.to_work(&kept.all());
            plain.put(&work.bytes).expect("work that this problem's own nodes were made into");
            self.reduced = kept.nodes() >= 2 && plain.size() < 2.0;
            (self.state, self.lost) = (State::Plain(plain, kept.tell()), Some(why));
        }
    }

    /// The explorer of the CPU, where there is no device any more.
    fn plain(&mut self) -> &mut dyn Explorer {
        match &mut self.state {
            State::Plain(plain, _) => &mut **plain,
            State::Device(_) => unreachable!("a device that works does not ask for this"),
        }
    }

    fn tell(&mut self) -> Counts {
        match &mut self.state {
            State::Device(kept) => kept.tell(),
            State::Plain(_, due) => std::mem::take(due),
        }
    }
}

impl Explorer for DeviceExplorer<'_> {
    fn put(&mut self, work: &[u8]) -> Result<(), Malformed> {
        match &mut self.state {
            State::Plain(plain, _) => plain.put(work),
            State::Device(kept) => {
                let (on, reserve) = (self.on, kept.reserve());
                let before = reserve.len();
                on.to_words(work, reserve).inspect_err(|_| reserve.truncate(before))
            }
        }
    }

    fn size(&self) -> f64 {
        match &self.state {
            State::Plain(plain, _) => plain.size(),
            State::Device(kept) => kept.nodes() as f64,
        }
    }

    fn open_nodes(&self) -> f64 {
        match &self.state {
            State::Plain(plain, _) => plain.open_nodes(),
            // The device has room of its own.
            State::Device(kept) => kept.reserved() as f64,
        }
    }

    fn least_bound(&self) -> Option<i64> {
        match &self.state {
            State::Plain(plain, _) => plain.least_bound(),
            State::Device(kept) => kept.least_bound(|node| self.on.bound(node)),
        }
    }

    fn open_share(&self) -> Option<f64> {
        match &self.state {
            State::Plain(plain, _) => plain.open_share(),
            State::Device(_) => None,
        }
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        let mut progress = Progress::default();
        while progress.used < fuel && progress.found.is_none() && self.size() > 0.0 {
            progress.add(self.step(fuel - progress.used, best));
        }
        progress.counts.add(&self.flush().counts);
        self.reduced = false;
        progress
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        if let Some(nodes) = self.attempt(|kept| kept.split(share)) {
            return nodes.map(|nodes| self.on.to_work(&nodes));
        }
        let split = self.plain().split(share);
        // Whoever asks has been told of nodes that all came from the one that is left.
        let nothing = self.reduced.then(|| self.on.to_work(&[]));
        split.or(nothing)
    }

    fn drain(&mut self) -> Work {
        let drained = self.attempt(|kept| kept.drain()).map(|nodes| self.on.to_work(&nodes));
        let all = drained.unwrap_or_else(|| self.plain().drain());
        self.reduced = false;
        all
    }

    fn copy(&mut self) -> Work {
        match self.attempt(|kept| kept.renew().map(|()| kept.all())) {
            Some(nodes) => self.on.to_work(&nodes),
            None => self.plain().copy(),
        }
    }
}

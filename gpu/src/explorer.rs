//! [`DeviceExplorer`]: a device with all its stacks, as a single explorer.

use super::executor::{Rounds, run_rounds};
use super::form::BuiltKernel;
use super::guarded::GuardedDevice;
use super::pool::BorrowedDevice;
use super::spec::{Mode, Spec};
use super::tune::{Fixed, Tune};
use super::{BoundingMode, DeviceError, Givers, Inside, Round};
use pleach_core::search::device::{Layout, OnDevice};
use pleach_core::search::explorer::{Explorer, Progress};
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::{Malformed, Nodes, Work};
use pleach_kernels::launch::LOOK_EVERY;
use pleach_runtime::activity::Phases;

/// Fuel of a step after the device is lost.
const WITHOUT: u64 = 1 << 16;
/// Roughly how many nodes an explorer creates per step.
const STEP: u64 = 32;

/// An explorer whose work is on a device. If the device fails, a CPU explorer continues the work.
pub struct DeviceExplorer<'p> {
    problem: &'p dyn Problem,
    on: &'p dyn OnDevice,
    state: ExploringState<'p>,
    inside: Inside,
    /// The depth to which the host explores arriving work, if it does.
    cutoff: Option<u32>,
    /// The offset in the reserve, in words, from which work is newly arrived.
    arrived: Option<usize>,
    tune: Tune,
    /// How many explorers had work at the end of the last round, and how many took part.
    active: (u32, u32),
    /// Why the device was given up, until reported.
    lost: Option<DeviceError>,
    /// Whether giving up the device reduced two or more nodes to fewer than two.
    reduced: bool,
    built: Option<BuiltKernel>,
}

enum ExploringState<'p> {
    Device(Box<GuardedDevice>),
    /// With counts from before that are not yet reported.
    Plain(Box<dyn Explorer + 'p>, Counts),
}

/// The device's view of a problem, with the kernel that was asked for.
///
/// # Errors
/// If there is no such kernel, or the problem does not allow what was asked for.
pub(super) fn wanted(
    problem: &dyn Problem,
    on: &dyn OnDevice,
    spec: &Spec,
) -> Result<Layout, DeviceError> {
    let mut layout = on.layout();
    let each = spec.exchange.is_some_and(|it| it.gives == Givers::Each);
    if each && layout.nodes != Nodes::Interval {
        return Err(DeviceError::Failed("take=each needs work held as intervals".into()));
    }
    if spec.second_cutoff.is_some() && problem.top().is_none() {
        let why = "second_cutoff needs work held as open nodes";
        return Err(DeviceError::Failed(why.into()));
    }
    if spec.giving.is_some() && layout.nodes != Nodes::Pool {
        let why = "giving needs work held as open nodes";
        return Err(DeviceError::Failed(why.into()));
    }
    let missing = match (spec.bounding, layout.parallel) {
        (None, _) => None,
        (Some(_), _) if layout.nodes != Nodes::Interval => {
            Some("bounding needs work held as intervals")
        }
        (Some(BoundingMode::Alone), parallel) if parallel == Some(layout.kernel) => {
            Some("it has no kernel for this bound with bounding=alone")
        }
        (Some(BoundingMode::Alone), _) => None,
        (Some(BoundingMode::Parallel), Some(parallel)) => {
            layout.kernel = parallel;
            None
        }
        (Some(BoundingMode::Parallel), None) => {
            Some("it has no kernel for this problem with bounding=parallel")
        }
    };
    missing.map_or(Ok(layout), |why| Err(DeviceError::Failed(why.into())))
}

/// Prepares a device to explore, which may compile a kernel.
///
/// # Errors
/// If the device cannot run it.
pub(super) fn prepare_to_explore(
    device: &mut BorrowedDevice,
    layout: &Layout,
    spec: &Spec,
) -> Result<(), DeviceError> {
    device.configure(spec.handling, spec.exchange.unwrap_or_default());
    device.prepare(layout, spec.explorers).inspect_err(|_| device.mark_failed())?;
    if spec.giving == Some(true) && device.giving_at_once() == 0 {
        return Err(DeviceError::Dependent("giving=always"));
    }
    Ok(())
}

impl<'p> DeviceExplorer<'p> {
    /// Explores on a device that is ready.
    pub(super) fn new(
        device: BorrowedDevice,
        layout: &Layout,
        (problem, on): (&'p dyn Problem, &'p dyn OnDevice),
        spec: &Spec,
    ) -> Self {
        let (explorers, built) = (device.explorers(), device.built());
        let giving_at_once = device.giving_at_once();
        // With windows, each idle explorer looks at all others, which takes long if explorers are threads.
        let usual = match layout.nodes {
            Nodes::Pool => Inside::default(),
            Nodes::Interval => Inside::Hypercube,
        };
        let inside = spec.inside.unwrap_or(usual);
        // If non-participating explorers would be out of reach, all take part.
        let takes_part = (!inside.takes_from_all()).then_some(explorers);
        // While they give, only those take part that can run at once, if others can reach the work of the rest.
        let giving = if inside.takes_from_all() { giving_at_once } else { u32::MAX };
        let exchange = inside == Inside::Windows && layout.nodes == Nodes::Pool;
        let long = spec.trigger != Some(0) && spec.budget.is_none_or(|budget| budget > LOOK_EVERY);
        let may_give = exchange && long && giving_at_once > 0;
        let fixed = Fixed {
            explorers: spec.explorers.or(takes_part),
            budget: spec.budget,
            trigger: spec.trigger,
            gives: spec.giving.or((!may_give).then_some(false)),
        };
        Self {
            problem,
            on,
            state: ExploringState::Device(Box::new(GuardedDevice::new(device, layout))),
            inside,
            cutoff: spec.second_cutoff,
            arrived: None,
            tune: Tune::new(explorers, giving, fixed),
            active: (0, explorers),
            lost: None,
            reduced: false,
            built,
        }
    }

    /// Explores newly arrived work on the host down to the cutoff, as far as the fuel allows.
    fn seed(&mut self, fuel: u64, best: i64) -> Progress {
        let (Some(depth), Some(top), Some(from), ExploringState::Device(device)) =
            (self.cutoff, self.problem.top(), self.arrived.take(), &mut self.state)
        else {
            return Progress::default();
        };
        let reserve = device.reserve();
        let work = self.on.to_work(&reserve.split_off(from.min(reserve.len())));
        let seeded = top.seed(&work.bytes, depth, best, fuel, &|| true);
        let seeded = seeded.expect("a problem can read its own nodes");
        let read = self.on.to_words(&seeded.work.bytes, reserve);
        read.expect("a problem can read its own nodes");
        self.arrived = (!seeded.done).then_some(from);
        seeded.progress
    }

    /// Runs one round. Its counts are reported later.
    fn round(&mut self, fuel: u64, best: i64) -> Progress {
        let explorers = self.tune.explorers();
        // This many steps of all explorers use up the fuel.
        let steps = fuel / (STEP * u64::from(explorers));
        let budget = self.tune.budget().min(u32::try_from(steps).unwrap_or(u32::MAX)).max(1);
        let inside = self.inside;
        // If nobody helps idle explorers, they are no reason to stop.
        let trigger = if inside == Inside::None { u32::MAX } else { self.tune.trigger() };
        // In shorter rounds, no explorer checks whether others wait.
        let giving = self.tune.gives() && budget > LOOK_EVERY;
        let round = Round { best, explorers, budget, trigger, giving, inside };
        let done =
            self.try_device(|device| device.feed(explorers).and_then(|()| device.run(&round)));
        let Some(returned) = done else { return Progress::default() };
        self.tune.note(&returned, budget);
        self.active = (explorers.saturating_sub(returned.idle), explorers);
        let better = |&(score, _): &(i64, Vec<u32>)| score < best;
        let found = returned.found.filter(better);
        Progress {
            counts: Counts::default(),
            // A node without children took a step too.
            used: returned.counts.bounded.max(returned.counts.branched).max(1),
            found: found.map(|(score, plan)| self.on.solution(score, &plan)),
            fault: None,
        }
    }

    /// Uses the device unless it was given up, and gives it up if that fails.
    fn try_device<R>(
        &mut self,
        act: impl FnOnce(&mut GuardedDevice) -> Result<R, DeviceError>,
    ) -> Option<R> {
        let ExploringState::Device(device) = &mut self.state else { return None };
        act(device).map_err(|why| self.give_up(why)).ok()
    }

    fn give_up(&mut self, why: DeviceError) {
        if let ExploringState::Device(device) = &mut self.state {
            device.mark_failed();
            let mut plain = self.problem.explorer();
            let work = self.on.to_work(&device.all_work());
            plain.add_work(&work.bytes).expect("a problem can read its own nodes");
            self.reduced = device.size() >= 2.0 && plain.size() < 2.0;
            (self.state, self.lost) =
                (ExploringState::Plain(plain, device.take_counts()), Some(why));
        }
    }

    /// The CPU explorer that replaced the device.
    fn replacement(&mut self) -> &mut dyn Explorer {
        match &mut self.state {
            ExploringState::Plain(plain, _) => &mut **plain,
            ExploringState::Device(_) => unreachable!("called only after the device was given up"),
        }
    }

    fn take_counts(&mut self) -> Counts {
        match &mut self.state {
            ExploringState::Device(device) => device.take_counts(),
            ExploringState::Plain(_, reportable) => std::mem::take(reportable),
        }
    }
}

impl Rounds for DeviceExplorer<'_> {
    fn take_failure(&mut self) -> Option<DeviceError> {
        self.lost.take()
    }

    fn take_phases(&mut self) -> Phases {
        match &mut self.state {
            ExploringState::Device(device) => device.take_phases(),
            ExploringState::Plain(..) => Phases::default(),
        }
    }

    fn mode(&self) -> Mode {
        Mode::Explore
    }

    fn is_well(&self) -> bool {
        matches!(self.state, ExploringState::Device(_))
    }

    fn built(&self) -> Option<&BuiltKernel> {
        self.built.as_ref()
    }

    fn active(&self) -> (u32, u32) {
        self.active
    }

    fn max_fuel(&self) -> u64 {
        STEP * u64::from(self.tune.explorers()) * u64::from(self.tune.budget())
    }

    fn step(&mut self, fuel: u64, best: i64) -> Progress {
        self.reduced = false;
        let top = self.seed(fuel, best);
        if top.used > 0 {
            return top;
        }
        let mut progress = match &mut self.state {
            ExploringState::Plain(plain, _) => plain.run(fuel.min(WITHOUT), best),
            ExploringState::Device(_) => self.round(fuel, best),
        };
        progress.counts.add(&self.take_counts());
        progress
    }

    fn flush(&mut self) -> Progress {
        self.try_device(|device| device.renew_backup());
        Progress { counts: self.take_counts(), ..Progress::default() }
    }
}

impl Explorer for DeviceExplorer<'_> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        match &mut self.state {
            ExploringState::Plain(plain, _) => plain.add_work(work),
            ExploringState::Device(device) => {
                let (on, reserve) = (self.on, device.reserve());
                let before = reserve.len();
                on.to_words(work, reserve).inspect_err(|_| reserve.truncate(before))?;
                self.arrived = self.arrived.or(Some(before));
                Ok(())
            }
        }
    }

    fn size(&self) -> f64 {
        match &self.state {
            ExploringState::Plain(plain, _) => plain.size(),
            ExploringState::Device(device) => device.size(),
        }
    }

    fn open_nodes(&self) -> f64 {
        match &self.state {
            ExploringState::Plain(plain, _) => plain.open_nodes(),
            // Nodes on the device take no host memory.
            ExploringState::Device(device) => device.reserved() as f64,
        }
    }

    fn least_bound(&self) -> Option<i64> {
        match &self.state {
            ExploringState::Plain(plain, _) => plain.least_bound(),
            ExploringState::Device(device) => device.least_bound(|node| self.on.bound(node)),
        }
    }

    fn open_share(&self) -> Option<f64> {
        match &self.state {
            ExploringState::Plain(plain, _) => plain.open_share(),
            ExploringState::Device(_) => None,
        }
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        let progress = run_rounds(self, fuel, best);
        self.reduced = false;
        progress
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        self.tune.asked();
        if let Some(nodes) = self.try_device(|device| device.split(share)) {
            return nodes.map(|nodes| self.on.to_work(&nodes));
        }
        let split = self.replacement().split(share);
        // The caller has seen a size of two or more, but one node is left here, from which all of those descend:
        // give an empty piece.
        let nothing = self.reduced.then(|| self.on.to_work(&[]));
        split.or(nothing)
    }

    fn drain(&mut self) -> Work {
        let drained = self.try_device(|device| device.drain()).map(|nodes| self.on.to_work(&nodes));
        let all = drained.unwrap_or_else(|| self.replacement().drain());
        self.reduced = false;
        all
    }

    fn copy(&mut self) -> Work {
        match self.try_device(|device| device.renew_backup().map(|()| device.all_work())) {
            Some(nodes) => self.on.to_work(&nodes),
            None => self.replacement().copy(),
        }
    }
}

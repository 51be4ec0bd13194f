//! [`Either`]: a device that explores until a short trial shows that bounding for the host is faster.

use super::DeviceError;
use super::executor::{Rounds, run_rounds};
use super::explorer::DeviceExplorer;
use super::form::BuiltKernel;
use super::pending::PendingDevice;
use super::pool::DevicePool;
use super::request::{DeviceRequest, OpenDevice};
use super::spec::{Mode, Spec};
use pleach_core::search::explorer::{Explorer, Progress};
use pleach_core::search::problem::Problem;
use pleach_core::search::work::{Malformed, Work};
use pleach_runtime::activity::Phases;
use std::sync::Arc;
use std::time::Instant;

/// When the trial takes place and how long it lasts, in time spent searching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// How long the device explores before the trial: most searches end sooner.
    pub after_ns: u64,
    /// How long each mode is measured after a warm-up of half that time.
    pub length_ns: u64,
}

impl Default for Trial {
    fn default() -> Self {
        Self { after_ns: 2_000_000_000, length_ns: 100_000_000 }
    }
}

/// Nodes and the time that they took.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    nodes: u64,
    ns: u64,
}

impl Rate {
    fn add(&mut self, nodes: u64, ns: u64) {
        self.nodes += nodes;
        self.ns += ns;
    }

    fn per_second(self) -> u64 {
        (self.nodes as f64 * 1e9 / self.ns.max(1) as f64) as u64
    }
}

#[derive(Clone, Copy, Debug)]
enum TrialStage {
    /// The device has explored for this long; the rate covers the recent past.
    Before { ns: u64, explored: Rate },
    /// The device explores until the other mode is ready.
    PendingDevice { explored: Rate },
    /// The device bounds, to warm up.
    Warm { explored: Rate, bounds: Rate },
    /// The device bounds and is measured.
    Measured { explored: Rate, bounds: Rate },
    /// The mode is chosen.
    Settled,
}

/// The device in its other mode.
enum Other {
    Here(Box<OpenDevice>),
    Later(PendingDevice),
}

/// A device that chooses its mode.
pub struct Either<'p> {
    problem: &'p dyn Problem,
    spec: Spec,
    pool: Arc<DevicePool>,
    trial: Trial,
    stage: TrialStage,
    /// The other mode, until it starts.
    other: Option<Other>,
    now: Box<dyn Rounds + 'p>,
    /// The explorer that rests while the other mode is tried.
    resting: Option<Box<dyn Rounds + 'p>>,
    /// What the dropped mode has not yet reported.
    phases: Phases,
    /// Nodes a second in both modes, once measured.
    found: Option<(u64, u64)>,
}

impl<'p> Either<'p> {
    /// A device that explores at first.
    pub fn new(
        problem: &'p dyn Problem,
        explores: DeviceExplorer<'p>,
        spec: &Spec,
        pool: &Arc<DevicePool>,
        trial: Trial,
    ) -> Self {
        Self {
            problem,
            spec: *spec,
            pool: Arc::clone(pool),
            trial,
            stage: TrialStage::Before { ns: 0, explored: Rate::default() },
            other: None,
            now: Box::new(explores),
            resting: None,
            phases: Phases::default(),
            found: None,
        }
    }

    /// Records a step, and changes the mode when it is time to. Returns counts held back until then.
    fn record_step(&mut self, nodes: u64, ns: u64) -> Progress {
        let Trial { after_ns, length_ns } = self.trial;
        let mut reported = Progress::default();
        if !self.now.is_well() {
            // The CPU has taken over, so the trial is pointless.
            (self.resting, self.other, self.stage) = (None, None, TrialStage::Settled);
            return reported;
        }
        self.stage = match self.stage {
            TrialStage::Settled => return reported,
            TrialStage::Before { ns: before, mut explored } => {
                let (active, all) = self.now.active();
                if 2 * active < all {
                    // Work is about to spread over the device, or to run out.
                    return reported;
                }
                if before + length_ns >= after_ns {
                    explored.add(nodes, ns);
                }
                if before + ns < after_ns {
                    TrialStage::Before { ns: before + ns, explored }
                } else {
                    self.other = self.evaluation();
                    self.try_other_mode(explored, &mut reported)
                }
            }
            TrialStage::PendingDevice { mut explored } => {
                let (active, all) = self.now.active();
                if 2 * active < all {
                    return reported;
                }
                explored.add(nodes, ns);
                self.try_other_mode(explored, &mut reported)
            }
            TrialStage::Warm { explored, mut bounds } => {
                bounds.add(nodes, ns);
                if 2 * bounds.ns < length_ns {
                    TrialStage::Warm { explored, bounds }
                } else {
                    TrialStage::Measured { explored, bounds: Rate::default() }
                }
            }
            TrialStage::Measured { explored, mut bounds } => {
                bounds.add(nodes, ns);
                if bounds.ns < length_ns {
                    TrialStage::Measured { explored, bounds }
                } else {
                    reported = self.choose_mode(explored.per_second(), bounds.per_second());
                    TrialStage::Settled
                }
            }
        };
        reported
    }

    /// Starts to prepare the other mode, if there is one, which may compile a kernel. It uses the same GPU, alongside the
    /// explorer that runs there.
    fn evaluation(&self) -> Option<Other> {
        let spec = Spec { mode: Some(Mode::Evaluate), ..self.spec };
        let request = DeviceRequest::new(self.problem, &spec, &self.pool).ok()?;
        if request.is_quick() || request.is_awaited() {
            return request.open().ok().map(|opened| Other::Here(Box::new(opened)));
        }
        PendingDevice::start(request).ok().map(Other::Later)
    }

    /// Changes to the other mode once that is ready. Returns the next stage.
    fn try_other_mode(&mut self, explored: Rate, reported: &mut Progress) -> TrialStage {
        let came = match self.other.take() {
            None => return TrialStage::Settled,
            Some(Other::Here(opened)) => Ok(*opened),
            Some(Other::Later(mut opening)) => match opening.poll() {
                Some(came) => came,
                None => {
                    self.other = Some(Other::Later(opening));
                    return TrialStage::PendingDevice { explored };
                }
            },
        };
        let Ok(bounds) = came.and_then(|opened| opened.bounds(self.problem)) else {
            return TrialStage::Settled;
        };
        *reported = self.switch_mode(Box::new(bounds));
        TrialStage::Warm { explored, bounds: Rate::default() }
    }

    fn choose_mode(&mut self, explored: u64, bounded: u64) -> Progress {
        self.found = Some((explored, bounded));
        let chosen = if bounded > explored { Mode::Evaluate } else { Mode::Explore };
        if let Ok(on) = self.problem.on_device() {
            self.pool.choose(self.spec.kind, &on.layout(), chosen);
        }
        let (Some(resting), Mode::Explore) = (self.resting.take(), chosen) else {
            return Progress::default();
        };
        let reported = self.switch_mode(resting);
        self.phases
            .add(self.resting.take().map_or_else(Phases::default, |mut other| other.take_phases()));
        reported
    }

    /// Moves the work to the next mode. Returns the counts that the last one held back.
    fn switch_mode(&mut self, next: Box<dyn Rounds + 'p>) -> Progress {
        let mut last = std::mem::replace(&mut self.now, next);
        let work = last.drain();
        let reported = last.flush();
        self.now.add_work(&work.bytes).expect("a problem can read its own work");
        self.phases.add(last.take_phases());
        self.resting = Some(last);
        reported
    }
}

impl Rounds for Either<'_> {
    fn step(&mut self, fuel: u64, best: i64) -> Progress {
        let start = Instant::now();
        let mut progress = self.now.step(fuel, best);
        let ns = start.elapsed().as_nanos() as u64;
        let noted = Instant::now();
        let reported = self.record_step(progress.used, ns);
        // Changing the mode takes time.
        self.phases.wait_ns += noted.elapsed().as_nanos() as u64;
        progress.add(reported);
        progress
    }

    fn flush(&mut self) -> Progress {
        self.now.flush()
    }

    fn max_fuel(&self) -> u64 {
        self.now.max_fuel()
    }

    fn active(&self) -> (u32, u32) {
        self.now.active()
    }

    fn take_phases(&mut self) -> Phases {
        let mut phases = std::mem::take(&mut self.phases);
        phases.add(self.now.take_phases());
        phases
    }

    fn take_failure(&mut self) -> Option<DeviceError> {
        self.now.take_failure().or_else(|| self.resting.as_mut()?.take_failure())
    }

    fn mode(&self) -> Mode {
        self.now.mode()
    }

    fn is_well(&self) -> bool {
        self.now.is_well()
    }

    fn trial(&self) -> Option<(u64, u64)> {
        self.found
    }

    fn built(&self) -> Option<&BuiltKernel> {
        self.now.built()
    }
}

impl Explorer for Either<'_> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        self.now.add_work(work)
    }

    fn size(&self) -> f64 {
        self.now.size()
    }

    fn open_nodes(&self) -> f64 {
        self.now.open_nodes()
    }

    fn least_bound(&self) -> Option<i64> {
        self.now.least_bound()
    }

    /// The nodes on the device do not show which part of the tree they cover.
    fn open_share(&self) -> Option<f64> {
        None
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        run_rounds(self, fuel, best)
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        self.now.split(share)
    }

    fn drain(&mut self) -> Work {
        self.now.drain()
    }

    fn copy(&mut self) -> Work {
        self.now.copy()
    }
}

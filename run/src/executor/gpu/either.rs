//! [`Either`]: a device that explores until a short trial shows that it does better to bound for the host.

use super::DeviceError;
use super::evaluate::Evaluator;
use super::executor::Rounds;
use super::explorer::DeviceExplorer;
use super::form::Built;
use super::shelf::Shelf;
use super::spec::{Mode, Spec};
use crate::activity::Phases;
use pleach_core::explorer::{Explorer, Progress};
use pleach_core::problem::Problem;
use pleach_core::work::{Malformed, Work};
use std::sync::Arc;
use std::time::Instant;

/// When the trial takes place, and how long it is, in time spent searching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// How long the device explores before: most searches are over by then.
    pub after_ns: u64,
    /// How long each mode is measured, once it has been warmed up for half as long.
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
enum Stage {
    /// It explores; the rate is that of the last while.
    Before(Rate),
    /// It bounds, at first to warm up.
    Warm { explored: Rate, bounds: Rate },
    /// It bounds, and is measured.
    Measured { explored: Rate, bounds: Rate },
    /// The mode is chosen.
    Settled,
}

/// A device that chooses its mode.
pub struct Either<'p> {
    problem: &'p dyn Problem,
    spec: Spec,
    shelf: Arc<Shelf>,
    trial: Trial,
    stage: Stage,
    explores: DeviceExplorer<'p>,
    bounds: Option<Evaluator<'p>>,
    mode: Mode,
    /// Nodes a second in both modes, once they were tried.
    found: Option<(u64, u64)>,
}

impl<'p> Either<'p> {
    /// A device that explores at first.
    pub fn new(
        problem: &'p dyn Problem,
        explores: DeviceExplorer<'p>,
        spec: &Spec,
        shelf: &Arc<Shelf>,
        trial: Trial,
    ) -> Self {
        let (spec, shelf) = (*spec, Arc::clone(shelf));
        let (stage, mode) = (Stage::Before(Rate::default()), Mode::Explore);
        Self { problem, spec, shelf, trial, stage, explores, bounds: None, mode, found: None }
    }

    fn now(&self) -> &dyn Rounds {
        match (&self.bounds, self.mode) {
            (Some(bounds), Mode::Evaluate) => bounds,
            _ => &self.explores,
        }
    }

    fn now_mut(&mut self) -> &mut (dyn Rounds + 'p) {
        match (&mut self.bounds, self.mode) {
            (Some(bounds), Mode::Evaluate) => bounds,
            _ => &mut self.explores,
        }
    }

    /// Records a step; changes the mode where it is time to. Returns what had not been reported before that.
    fn note(&mut self, nodes: u64, ns: u64) -> Progress {
        let Trial { after_ns, length_ns } = self.trial;
        let mut reported = Progress::default();
        self.stage = match self.stage {
            Stage::Settled => return reported,
            Stage::Before(mut rate) => {
                let (active, all) = self.explores.active();
                if 2 * active < all {
                    // It is about to spread over the device, or to run dry.
                    return reported;
                }
                if rate.ns + length_ns > after_ns {
                    rate.nodes += nodes;
                }
                rate.ns += ns;
                if rate.ns < after_ns {
                    Stage::Before(rate)
                } else {
                    reported = self.try_bounds();
                    let explored = Rate { nodes: rate.nodes, ns: length_ns + rate.ns - after_ns };
                    match self.bounds {
                        Some(_) => Stage::Warm { explored, bounds: Rate::default() },
                        None => Stage::Settled,
                    }
                }
            }
            Stage::Warm { explored, mut bounds } => {
                bounds.add(nodes, ns);
                if 2 * bounds.ns < length_ns {
                    Stage::Warm { explored, bounds }
                } else {
                    Stage::Measured { explored, bounds: Rate::default() }
                }
            }
            Stage::Measured { explored, mut bounds } => {
                bounds.add(nodes, ns);
                if bounds.ns < length_ns {
                    Stage::Measured { explored, bounds }
                } else {
                    reported = self.settle(explored.per_second(), bounds.per_second());
                    Stage::Settled
                }
            }
        };
        reported
    }

    /// Has the device bound, if it can: it then stands beside the one that explores, on the same GPU.
    fn try_bounds(&mut self) -> Progress {
        let Ok(host) = self.problem.evaluation() else { return Progress::default() };
        let bounds = self.shelf.take(&self.spec);
        let bounds =
            bounds.and_then(|device| Evaluator::new(device, self.problem, host, &self.spec));
        self.bounds = bounds.ok();
        if self.bounds.is_some() { self.turn(Mode::Evaluate) } else { Progress::default() }
    }

    fn settle(&mut self, explored: u64, bounded: u64) -> Progress {
        self.found = Some((explored, bounded));
        let chosen = if bounded > explored { Mode::Evaluate } else { Mode::Explore };
        if let Ok(on) = self.problem.on_device() {
            self.shelf.choose(self.spec.kind, &on.layout(), chosen);
        }
        let reported = self.turn(chosen);
        if chosen == Mode::Explore {
            self.bounds = None;
        }
        reported
    }

    /// Changes the mode: the work moves. Returns the counts that were held back.
    fn turn(&mut self, mode: Mode) -> Progress {
        if mode == self.mode {
            return Progress::default();
        }
        let work = self.now_mut().drain();
        let reported = self.now_mut().flush();
        self.mode = mode;
        self.now_mut().put(&work.bytes).expect("a problem reads work of its own");
        reported
    }
}

impl Rounds for Either<'_> {
    fn step(&mut self, fuel: u64, best: i64) -> Progress {
        let start = Instant::now();
        let mut progress = self.now_mut().step(fuel, best);
        let ns = start.elapsed().as_nanos() as u64;
        let reported = self.note(progress.used, ns);
        progress.add(reported);
        progress
    }

    fn flush(&mut self) -> Progress {
        self.now_mut().flush()
    }

    fn appetite(&self) -> u64 {
        self.now().appetite()
    }

    fn active(&self) -> (u32, u32) {
        self.now().active()
    }

    fn take_phases(&mut self) -> Phases {
        let mut phases = self.explores.take_phases();
        if let Some(bounds) = &mut self.bounds {
            phases.add(bounds.take_phases());
        }
        phases
    }

    fn lost(&mut self) -> Option<DeviceError> {
        self.explores.lost().or_else(|| self.bounds.as_mut()?.lost())
    }

    fn mode(&self) -> Mode {
        self.mode
    }

    fn trial(&self) -> Option<(u64, u64)> {
        self.found
    }

    fn built(&self) -> Option<&Built> {
        self.now().built()
    }
}

impl Explorer for Either<'_> {
    fn put(&mut self, work: &[u8]) -> Result<(), Malformed> {
        self.now_mut().put(work)
    }

    fn size(&self) -> f64 {
        self.now().size()
    }

    fn open_nodes(&self) -> f64 {
        self.now().open_nodes()
    }

    fn least_bound(&self) -> Option<i64> {
        self.now().least_bound()
    }

    fn open_share(&self) -> Option<f64> {
        self.now().open_share()
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        let mut progress = Progress::default();
        while progress.used < fuel && progress.found.is_none() && self.size() > 0.0 {
            progress.add(self.step(fuel - progress.used, best));
        }
        progress.add(self.flush());
        progress
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        self.now_mut().split(share)
    }

    fn drain(&mut self) -> Work {
        self.now_mut().drain()
    }

    fn copy(&mut self) -> Work {
        self.now_mut().copy()
    }
}

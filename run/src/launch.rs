//! [`run`]: units on threads, watched until all is done.

use crate::control::{Control, Stop};
use crate::driver::{Gauge, Left, Shared, Unit};
use crate::executor::gpu::spec::Spec;
use crate::late::Aside;
use crate::outcome::{Balance, Outcome, Sight};
use crate::save::{Save, Saver};
use crate::side::Side;
use crate::sync::{AtomicU64, Condvar, Mutex, lock};
use crate::transport::Envelope;
use crate::transport::local::Office;
use crate::units::{Warnings, plan};
use crate::watch::{Running, watch_over};
use pleach_core::balance::{End, Lineage, Message, Peer, Policy};
use pleach_core::checkpoint::Checkpoint;
use pleach_core::problem::Problem;
use pleach_core::tree::{Counts, Goal, Solution};
use pleach_core::wire::Unreadable;
use pleach_core::work::{Malformed, Work};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// How a run goes about it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// CPU units; one at least where there are no devices.
    pub threads: u32,
    /// Devices, a unit each.
    pub devices: Vec<Spec>,
    /// Whether each GPU that takes part has a thread less beside it: what drives it needs a core.
    pub make_room: bool,
    /// How many times slower than it could be each unit is made to be; missing ones run freely.
    pub slow: Vec<f64>,
    /// Who gives how much to whom.
    pub policy: Policy,
    /// The value that a solution must beat.
    pub best: Option<i64>,
    /// A solution to start from: others must beat it.
    pub start: Option<Solution>,
    /// Whether a unit looks for good solutions beside the search, where the problem has a way.
    pub improve: bool,
    /// Stop after this time.
    pub time_limit: Option<Duration>,
    /// Stop after about this many nodes.
    pub node_limit: Option<u64>,
    /// All randomness.
    pub seed: u64,
    /// Whether to keep the activity of every unit.
    pub trace: bool,
    /// How long an idle unit looks for mail before it sleeps.
    pub spin: Duration,
    /// Time between two looks at the run by whoever watches.
    pub look_every: Duration,
    /// Where and how often to save the run.
    pub save: Option<Save>,
    /// What to go on from.
    pub resume: Option<Arc<Checkpoint>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: cores(),
            devices: Vec::new(),
            make_room: false,
            slow: Vec::new(),
            policy: Policy::default(),
            best: None,
            start: None,
            improve: false,
            time_limit: None,
            node_limit: None,
            seed: 0,
            trace: false,
            spin: crate::transport::local::SPIN,
            look_every: Duration::from_millis(100),
            save: None,
            resume: None,
        }
    }
}

/// Cores this process may use.
#[must_use]
pub fn cores() -> u32 {
    thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// Why a run could not be carried through.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A way of balancing that explores some nodes twice, where that is wrong or cannot be done.
    #[error("master-worker:late: {0}")]
    Late(&'static str),
    /// The system gives no more threads.
    #[error("thread {0} could not be started: {1}")]
    Thread(u32, std::io::Error),
    /// Work that a unit received could not be read.
    #[error("work between units could not be read: {0}")]
    Work(#[from] Malformed),
    /// A solution does not stand up to being computed again.
    #[error("a solution does not hold: {0}")]
    Solution(String),
    /// A run cannot be saved where it should be.
    #[error("{}: {why}", path.display())]
    Save {
        /// Where.
        path: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// A checkpoint cannot be read.
    #[error("{}: {why}", path.display())]
    Load {
        /// Which.
        path: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// No device can be used, and there is nothing else.
    #[error("{0}")]
    NoUnit(String),
    /// A checkpoint does not fit.
    #[error(transparent)]
    Resume(#[from] Unreadable),
}

/// Searches a problem's whole tree, or as much as the limits allow.
///
/// `watch` is shown the run every now and then, and stops it by breaking.
///
/// # Errors
/// If the machine or the problem fails; a panic in the problem's own code goes on in the caller.
pub fn run(
    problem: &dyn Problem,
    settings: &Settings,
    watch: &mut dyn FnMut(&Sight) -> ControlFlow<()>,
) -> Result<Outcome, RunError> {
    let start = Instant::now();
    // None at all would leave the tree alone, and prove nothing.
    let mut settings = settings.clone();
    settings.threads = settings.threads.max(u32::from(settings.devices.is_empty()));
    settings.policy.end.get_or_insert(End::Counter);
    let settings = &settings;
    let goal = problem.goal();
    if settings.policy.is_late() {
        may_be_late(problem, settings)?;
    }
    problem.hurry(false);
    let warnings = Warnings::default();
    let units = plan(problem, settings, &warnings)?;
    let n_units = units.len() as u32;
    let n_threads = units.iter().filter(|unit| unit.is_thread()).count() as u32;
    let office = Office::new(n_units);
    let before = match &settings.resume {
        Some(before) if before.fingerprint != problem.fingerprint() => {
            return Err(Unreadable::Foreign.into());
        }
        Some(before) => {
            readable(problem, before)?;
            (**before).clone()
        }
        None => whole(problem),
    };
    let best = settings.best.map_or(i64::MAX, |value| goal.score(value)).min(before.best);
    let start_from = better(settings.start.clone(), before.solution.clone());
    let control = Control::new(best, start_from, settings.node_limit, n_units);
    let saver = settings.save.as_ref().map(|save| Saver::new(save, &before, n_units, start));
    if let (Some(saver), Some(save)) = (&saver, &settings.save) {
        let pieces = before.pieces.clone();
        let saved =
            save.may_replace().and_then(|()| saver.write(&Counts::default(), pieces, &control));
        saved.map_err(|why| RunError::Save { path: save.path.clone(), why })?;
    }
    let gauges: Vec<Gauge> = (0..n_units).map(|_| Gauge::default()).collect();
    let running = Running { left: Mutex::new(n_units), ended: Condvar::new() };
    let looks = AtomicU64::new(0);
    let shared = Shared {
        control: &control,
        goal,
        least_score: problem.least_score(),
        gauges: &gauges,
        looks: &looks,
        start,
        trace: settings.trace,
        before: &before,
        saver: saver.as_ref(),
        warnings: &warnings,
    };
    let pins = pins(n_units);
    let lineage = &Lineage::new(n_units, &settings.policy, settings.seed);
    let before = &before;

    let left = thread::scope(|scope| {
        let mut threads = Vec::new();
        let mut failed = None;
        for (me, planned) in (0..).zip(units) {
            let name = planned.name.clone();
            let (office, running, pin) = (&office, &running, pins.get(me as usize).copied());
            let unit = move || -> Result<Left, Malformed> {
                let _ended = Ended(running);
                let mut guard = Guard { control: shared.control, office, well: false };
                if let Some(core) = pin {
                    // Where the system does not allow it the thread runs wherever it may.
                    core_affinity::set_for_current(core);
                }
                let pieces = before.pieces.iter().skip(me as usize);
                let name = planned.name.clone();
                let pieces = pieces.step_by(n_units as usize);
                let executor = planned.executor(problem, pieces, shared.warnings)?;
                let mut desk = office.desk(me);
                desk.spin = settings.spin;
                let peer = Peer::new(me, lineage, settings.policy.clone());
                let mut unit = Unit::new(me, executor, desk, peer, settings.seed, shared);
                // The last thread: at the beginning the first one has all the work.
                let hope = shared.control.best() > shared.least_score;
                if settings.improve && hope && me + 1 == n_threads.max(1) {
                    unit.side = problem.improver(settings.seed).map(Side::new);
                }
                if settings.policy.is_late() {
                    unit.aside = Some(Aside(problem.explorer()));
                }
                let mut left = unit.drive()?;
                left.report.name = name;
                guard.well = true;
                Ok(left)
            };
            match thread::Builder::new().name(name).spawn_scoped(scope, unit) {
                Ok(thread) => threads.push(thread),
                Err(why) => {
                    control.stop(Stop::Failed);
                    office.ring_all();
                    *lock(&running.left) -= n_units - me;
                    failed = Some(RunError::Thread(me, why));
                    break;
                }
            }
        }
        let mut guard = Guard { control: &control, office: &office, well: false };
        watch_over(problem, settings, &shared, &running, &office, watch);
        guard.well = true;
        let mut left = Vec::new();
        for thread in threads {
            match thread.join() {
                Ok(unit) => left.push(unit?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        failed.map_or(Ok(left), Err)
    })?;
    let (outcome, open) = gather(problem, &shared, &office, left);
    check(problem, &outcome)?;
    if let Some(saver) = &saver {
        // What was looked for is found or proven: nothing is left to do.
        let open =
            if outcome.stop.is_some_and(|why| why != Stop::Found) { open } else { Vec::new() };
        let saved = saver.write(&outcome.counts, open, &control);
        if let Some(warning) = saved.err().and_then(|why| saver.warn(&why, true)) {
            let warning = Some(warning);
            // There is nothing left to stop.
            let _ = watch(&Sight { warning, seconds: shared.seconds(), ..Sight::default() });
        }
    }
    for warning in std::mem::take(&mut *lock(&warnings)) {
        // What came too late to be said while the run went on.
        let _ =
            watch(&Sight { warning: Some(warning), seconds: shared.seconds(), ..Sight::default() });
    }
    let mut outcome = outcome;
    outcome.counts.add(&before.counts);
    outcome.seconds = shared.seconds();
    Ok(outcome)
}

/// Whether some nodes may be explored twice.
fn may_be_late(problem: &dyn Problem, settings: &Settings) -> Result<(), RunError> {
    let why = if problem.goal() == Goal::Count {
        "some nodes are explored twice, expected another way for what counts"
    } else if !problem.explorer().trims() {
        "copies of open nodes cannot be trimmed, expected work held as intervals"
    } else if settings.save.is_some() || settings.resume.is_some() {
        "copies are in no checkpoint, expected a search that is neither saved nor gone on with"
    } else {
        return Ok(());
    };
    Err(RunError::Late(why))
}

/// Whether all that a checkpoint holds can be taken up.
fn readable(problem: &dyn Problem, before: &Checkpoint) -> Result<(), RunError> {
    let content = |why: Malformed| RunError::Resume(why.into());
    let mut explorer = problem.explorer();
    before.pieces.iter().try_for_each(|piece| explorer.put(&piece.bytes)).map_err(content)?;
    let plan = before.solution.as_ref().map(|best| &best.plan);
    match plan.and_then(|plan| problem.check(plan)) {
        Some(Err(_)) => Err(content(Malformed::Range)),
        _ => Ok(()),
    }
}

/// A search that has not begun.
fn whole(problem: &dyn Problem) -> Checkpoint {
    Checkpoint {
        fingerprint: problem.fingerprint(),
        best: i64::MAX,
        pieces: vec![problem.root()],
        ..Checkpoint::default()
    }
}

/// The better of two solutions.
fn better(one: Option<Solution>, other: Option<Solution>) -> Option<Solution> {
    [one, other].into_iter().flatten().min_by_key(|solution| solution.score)
}

/// Cores to bind units to: only where there is exactly one for each, so that nothing is crowded.
fn pins(threads: u32) -> Vec<core_affinity::CoreId> {
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    if cores.len() == threads as usize && threads > 1 { cores } else { Vec::new() }
}

/// Says that a unit has ended, by whatever way.
struct Ended<'a>(&'a Running);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        *lock(&self.0.left) -= 1;
        self.0.ended.notify_one();
    }
}

/// Stops all units when a unit or the watcher fails: an error or a panic leaves `well` unset.
struct Guard<'a> {
    control: &'a Control,
    office: &'a Office,
    well: bool,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if !self.well {
            self.control.stop(Stop::Failed);
        }
        if self.control.stopped().is_some() {
            self.office.ring_all();
        }
    }
}

/// What the units have left, and the open work where it is to be saved.
fn gather(
    problem: &dyn Problem,
    shared: &Shared<'_>,
    office: &Office,
    left: Vec<Left>,
) -> (Outcome, Vec<Work>) {
    let (goal, control) = (shared.goal, shared.control);
    let mut pieces = Vec::new();
    let mut counts = Counts::default();
    let mut balance = Balance::default();
    let mut open = 0.0;
    let (mut explored_ns, mut ended_ns) = (0, 0);
    // What no open node can beat is proven; with none open, that is the best there is.
    let mut lower_bound = control.best();
    let setup_ns = left.first().map_or(0, |unit| unit.started_ns);
    let mut units = Vec::new();
    for unit in left {
        debug_assert!(unit.kept == 0 || control.stopped().is_some(), "a piece was left over");
        (explored_ns, ended_ns) = (unit.explored_ns.max(explored_ns), unit.ended_ns.max(ended_ns));
        counts.add(&unit.report.counts);
        balance.add(unit.balance);
        open += unit.open;
        lower_bound = lower_bound.min(unit.least_bound.unwrap_or(i64::MAX));
        pieces.extend(unit.work.filter(|work| !work.bytes.is_empty()));
        units.push(unit.report);
    }
    // Whatever else goes with a message is somewhere else, too.
    let given = |letter: Envelope| match letter.message {
        Message::Work { .. } => letter.work,
        _ => None,
    };
    for work in office.leftovers().into_iter().filter_map(given) {
        open += work.size;
        lower_bound = lower_bound.min(work.least_bound);
        pieces.push(Arc::unwrap_or_clone(work));
    }
    balance.ending_ns = ended_ns - explored_ns;
    // What is known without searching counts too, but no bound goes beyond the best value.
    lower_bound = lower_bound.max(problem.least_score().min(control.best()));
    // A stop that came when nothing was left that could matter is none.
    let done = open == 0.0 || lower_bound == control.best() && lower_bound < i64::MAX;
    let stop = control.stopped().filter(|&why| !done || why == Stop::Found);
    let outcome = Outcome {
        goal,
        counts,
        solution: control.solution(),
        stop,
        lower_bound,
        open,
        seconds: 0.0,
        earlier_seconds: shared.before.elapsed_ns as f64 * 1e-9,
        setup_seconds: setup_ns as f64 * 1e-9,
        units,
        balance,
    };
    (outcome, pieces)
}

/// Computes the solution's value again.
fn check(problem: &dyn Problem, outcome: &Outcome) -> Result<(), RunError> {
    let Some(best) = &outcome.solution else { return Ok(()) };
    let claimed = outcome.goal.value(best.score);
    match problem.check(&best.plan) {
        None => Ok(()),
        Some(Ok(value)) if value == claimed || outcome.goal == Goal::Find => Ok(()),
        Some(Ok(value)) => {
            Err(RunError::Solution(format!("its value is {value}, not {claimed} as found")))
        }
        Some(Err(why)) => Err(RunError::Solution(why)),
    }
}

//! [`Solver`]: a search with settings; [`solve`]: a search with the defaults.

use crate::certificate::certify;
use crate::report::Report;
use crate::report::moment::{Moment, note};
use pleach_core::search::problem::{Plain, Problem};
use pleach_core::search::tree::{Goal, Solution, Tree};
use pleach_runtime::{
    Cancel, Lock, Pause, ProgressSnapshot, RunError, Save, Settings, by_layers, load,
};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Explores the whole tree on all cores and proves the result.
///
/// # Errors
/// If the machine fails, a bound of the tree turns out to be wrong, or a solution fails [`Tree::check`]. A panic in the
/// tree's own code continues in the caller.
pub fn solve<T: Tree>(tree: T) -> Result<Report, RunError> {
    Solver::new(tree).run()
}

/// Watches a run, and may stop it.
type Watch<'a> = Box<dyn FnMut(&ProgressSnapshot) -> ControlFlow<()> + 'a>;

/// Receives improvements: the value, and the solution.
type OnSolution<'a> = Box<dyn FnMut(i64, &[i64]) + 'a>;

/// A search with settings.
///
/// ```
/// # use pleach::{Children, Goal, Tree};
/// # struct Bits(u32);
/// # impl Tree for Bits {
/// #     type Node = u32;
/// #     const GOAL: Goal = Goal::Count;
/// #     fn root(&self) -> u32 { 0 }
/// #     fn expand(&self, &n: &u32, _: Option<i64>, out: &mut Children<Self>) {
/// #         if n == self.0 { return out.count(1); }
/// #         out.child(n + 1);
/// #         out.child(n + 1);
/// #     }
/// # }
/// use std::ops::ControlFlow;
/// use std::time::Duration;
///
/// let report = pleach::Solver::new(Bits(12))
///     .threads(2)
///     .time_limit(Duration::from_secs(60))
///     .settings(|all| all.seed = 7) // those without a method here, too
///     .on_progress(|snapshot| {
///         eprintln!("{} nodes", snapshot.counts.bounded);
///         ControlFlow::Continue(()) // `Break` stops the search, with what is known so far
///     })
///     .run()?;
/// assert_eq!(report.count, 4096);
/// # Ok::<(), pleach::RunError>(())
/// ```
pub struct Solver<'a, P> {
    problem: P,
    pub(crate) settings: Settings,
    watch: Watch<'a>,
    on_solution: Option<OnSolution<'a>>,
    certifies: bool,
}

impl<T: Tree> Solver<'_, Plain<T>> {
    /// A search of a tree.
    #[must_use]
    pub fn new(tree: T) -> Self {
        Self::of(Plain(tree))
    }
}

impl<'a, P: Problem> Solver<'a, P> {
    /// A search of a problem with its own explorers.
    #[must_use]
    pub fn of(problem: P) -> Self {
        Self {
            problem,
            settings: Settings { improve: true, ..Settings::default() },
            watch: Box::new(|_| ControlFlow::Continue(())),
            on_solution: None,
            certifies: false,
        }
    }

    /// Changes settings, including those without a method of their own. Everything else stays as it is, so calls may
    /// come in any order.
    #[must_use]
    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// The number of threads, at most 1024; by default all cores.
    #[must_use]
    pub fn threads(mut self, threads: u32) -> Self {
        self.settings.threads = threads.max(1);
        self
    }

    /// Searches only for solutions better than this value. If there is none, the search ends with
    /// [`Status::NoBetter`](crate::Status::NoBetter), no solution, and this value as its bound. It then knows nothing
    /// about solutions of this value; to get one, [start](Self::start) the search with it.
    #[must_use]
    pub fn best(mut self, value: i64) -> Self {
        self.settings.best = Some(value);
        self
    }

    /// Starts from a solution of this value, which others must beat. [`Tree::check`], where it can, must find the same
    /// value, or the search fails.
    ///
    /// # Panics
    /// If the value is the worst of 64 bits.
    #[must_use]
    pub fn start(mut self, value: i64, solution: Vec<i64>) -> Self {
        self.settings.start = Some(self.problem.goal().solution(value, solution));
        self
    }

    /// Whether to search by layers first; by default, trees with keys are searched by layers, unless
    /// [best first](Self::best_first) is asked for. See [`Tree::key`].
    #[must_use]
    pub fn layers(mut self, layers: bool) -> Self {
        self.settings.layers = Some(layers);
        self
    }

    /// Once there is a value to beat, explores the nodes with the best bounds first, instead of depth first. Each
    /// thread then explores few nodes in vain, however late good solutions are found, but keeps many more open. Once
    /// most of the [memory](Self::memory) is taken, each thread keeps no further nodes: it searches the whole subtree
    /// of its best node depth first before it takes the next. Turns [layers](Self::layers) off, unless they are asked
    /// for.
    #[must_use]
    pub fn best_first(mut self) -> Self {
        self.settings.best_first = true;
        self
    }

    /// Stops after this time, with the result so far.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.settings.time_limit = Some(limit);
        self
    }

    /// Stops with the result so far once another thread asks for it.
    #[must_use]
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.settings.cancel = cancel.clone();
        self
    }

    /// Pauses and continues the search when another thread asks for it.
    #[must_use]
    pub fn pause(mut self, pause: &Pause) -> Self {
        self.settings.pause = pause.clone();
        self
    }

    /// Stops after about this many nodes, with the result so far.
    #[must_use]
    pub fn node_limit(mut self, nodes: u64) -> Self {
        self.settings.node_limit = Some(nodes);
        self
    }

    /// Stops once the whole process takes this many bytes more than when the search began, with the result so far; by
    /// default four fifths of free memory, which processes that a launcher starts on one machine share equally. What
    /// else your program allocates meanwhile counts, too. A search with a [checkpoint](Self::checkpoint) stops at a
    /// third of the limit, since the final save needs copies.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.settings.memory = Some(bytes);
        self
    }

    /// Saves the search to a file at regular intervals, when it is stopped, and at its end.
    ///
    /// The file is always complete, whenever the process ends, and [`Solver::resume`] continues from
    /// it. A file that holds another search, or an unfinished one that is not being resumed, is never
    /// overwritten: [`Solver::run`] then returns an error, as it does if another run uses the file. A relative path is
    /// relative to the current directory, even if the process changes to another one.
    #[must_use]
    pub fn checkpoint(mut self, path: impl Into<PathBuf>, every: Duration) -> Self {
        self.settings.save = Some(Save::new(path, every));
        self
    }

    /// Resumes a saved search, on any number of threads; the value to beat and the best solution are
    /// taken from the file.
    ///
    /// ```
    /// # use pleach::{Children, Goal, Tree};
    /// # struct Bits(u32);
    /// # impl Tree for Bits {
    /// #     type Node = u32;
    /// #     const GOAL: Goal = Goal::Count;
    /// #     fn root(&self) -> u32 { 0 }
    /// #     fn expand(&self, &n: &u32, _: Option<i64>, out: &mut Children<Self>) {
    /// #         if n == self.0 { return out.count(1); }
    /// #         out.child(n + 1);
    /// #         out.child(n + 1);
    /// #     }
    /// # }
    /// # let folder = std::env::temp_dir().join(format!("pleach-resume-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let file = folder.join("run.pleach");
    /// use pleach::Solver;
    /// use std::time::Duration;
    ///
    /// let every = Duration::from_secs(30);
    /// Solver::new(Bits(12)).checkpoint(&file, every).node_limit(100).run()?;
    /// // Perhaps much later, in another process.
    /// let report = Solver::new(Bits(12)).resume(&file)?.checkpoint(&file, every).run()?;
    /// assert_eq!(report.count, 4096);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), pleach::RunError>(())
    /// ```
    ///
    /// # Errors
    /// If the file cannot be read. Whether it belongs to this problem is checked when the search begins.
    pub fn resume(mut self, path: impl AsRef<Path>) -> Result<Self, RunError> {
        self.settings.resume = Some(load(path.as_ref())?);
        Ok(self)
    }

    /// Called about ten times a second, and for each [warning](ProgressSnapshot::warning), which nothing else shows;
    /// breaking stops the search. When the search is [certified](Self::certify), the second one counts its nodes from 0
    /// again.
    #[must_use]
    pub fn on_progress(
        mut self,
        watch: impl FnMut(&ProgressSnapshot) -> ControlFlow<()> + 'a,
    ) -> Self {
        self.watch = Box::new(watch);
        self
    }

    /// Called with the value and the solution whenever there is a better one, beginning with the starting solution, by
    /// the thread that called [`Solver::run`]. If several are found within a tenth of a second, only the best is
    /// reported. Among processes that search together, only the first one receives them.
    #[must_use]
    pub fn on_solution(mut self, found: impl FnMut(i64, &[i64]) + 'a) -> Self {
        self.on_solution = Some(Box::new(found));
        self
    }

    /// Makes a certificate of the result by a second search, on threads only, that starts from the proven value. Only
    /// the memory limit applies to it. It does not use [layers](Self::layers); it may take as long as the first search,
    /// or longer if that one used layers. [`Report::certificate`] has the certificate, and [`audit`](crate::audit)
    /// checks it.
    #[must_use]
    pub fn certify(mut self) -> Self {
        self.certifies = true;
        self
    }

    /// Devices that search alongside the threads, as in the command's `--devices`: `gpu` for all GPUs, `gpu0`, `emulated`,
    /// each with options after colons; `cpu` changes nothing. To search on devices alone, set `threads` to 0 by
    /// [`Solver::settings`].
    ///
    /// # Errors
    /// If there is no such kind of device or option, or if a GPU is named twice.
    #[cfg(feature = "gpu")]
    pub fn devices(mut self, words: &[&str]) -> Result<Self, RunError> {
        use pleach_gpu::gpus::count;
        use pleach_gpu::spec::{Spec, repeated};
        let mut specs = Vec::new();
        for words in words.iter().filter(|&&words| words != "cpu") {
            let spec = Spec::parse(words).map_err(RunError::NoWorker)?;
            match words.split(':').next() {
                // If there is no GPU, the run reports why.
                Some("gpu") => specs.extend(spec.on_gpus(count().unwrap_or(1))),
                _ => specs.push(spec),
            }
        }
        if let Some(gpu) = repeated(&specs) {
            return Err(RunError::NoWorker(format!("{gpu} is named twice")));
        }
        self.settings.devices = pleach_gpu::DeviceSet::shared(specs);
        Ok(self)
    }

    /// Searches.
    ///
    /// # Errors
    /// If the machine fails, a bound of the tree turns out to be wrong, a solution fails [`Tree::check`], the checkpoint
    /// file holds something that must not be lost, or there is a [value to beat](Self::best) or a [start](Self::start)
    /// although no best solution is wanted. A panic in the problem's own code or in a callback continues in the caller.
    pub fn run(mut self) -> Result<Report, RunError> {
        check_values(self.problem.goal(), &self.settings)?;
        let _lock = self.keep_what_is_saved()?;
        let Self { problem, settings, watch, on_solution, certifies } = &mut self;
        let goal = problem.goal();
        let mut known = i64::MAX;
        let mut show = |solution: &Solution| {
            if let Some(found) = on_solution.as_mut().filter(|_| solution.score < known) {
                known = solution.score;
                found(goal.value(solution.score), &solution.solution);
            }
        };
        let mut report = search(problem, settings, &mut |snapshot| {
            snapshot.solution.iter().for_each(&mut show);
            watch(snapshot)
        })?;
        report.outcome.solution.iter().for_each(&mut show);
        if *certifies {
            report.certificate = certify(problem, settings, &report, watch)?;
        }
        Ok(report)
    }

    /// Takes part in the search of another process, which handles the checkpoint file.
    #[cfg(feature = "cluster")]
    pub(crate) fn run_part(&mut self) -> Result<pleach_runtime::Outcome, RunError> {
        pleach_runtime::run(&self.problem, &self.settings, &mut *self.watch)
    }

    /// Locks the checkpoint file, and refuses to overwrite a search that it holds.
    fn keep_what_is_saved(&self) -> Result<Option<Lock>, RunError> {
        let Some(save) = &self.settings.save else { return Ok(None) };
        let wrong = |why| RunError::Save { path: save.path.clone(), why };
        let lock = Lock::acquire(&save.path).map_err(wrong)?;
        save.may_replace().map_err(wrong)?;
        if std::fs::metadata(&save.path).map_or(0, |about| about.len()) == 0 {
            return Ok(Some(lock));
        }
        let held = load(&save.path)?;
        let same = self.problem.has_fingerprint(held.fingerprint);
        let resumed = self.settings.resume.as_ref().is_some_and(|resumed| *resumed == held);
        // Other processes may hold all that is open.
        if resumed || same && held.pieces.is_empty() && held.subs.is_empty() {
            return Ok(Some(lock));
        }
        let why = if same {
            "holds an unfinished search of this problem; resume it, or remove the file"
        } else {
            "holds another search; choose another file, or remove this one"
        };
        Err(wrong(io::Error::new(io::ErrorKind::AlreadyExists, why)))
    }
}

/// Refuses values where solutions have none: they would prune what is counted or looked for.
pub(crate) fn check_values(goal: Goal, settings: &Settings) -> Result<(), RunError> {
    let optimises = matches!(goal, Goal::Minimise | Goal::Maximise);
    let has_values = settings.best.is_some() || settings.start.is_some();
    if has_values && !optimises { Err(RunError::NoValues) } else { Ok(()) }
}

/// Runs a search and interprets its outcome.
pub(crate) fn search(
    problem: &dyn Problem,
    settings: &Settings,
    watch: &mut dyn FnMut(&ProgressSnapshot) -> ControlFlow<()>,
) -> Result<Report, RunError> {
    let goal = problem.goal();
    let mut moments: Vec<Moment> =
        settings.trace.then(|| first(problem, settings)).into_iter().collect();
    let trace = settings.trace;
    let watch = &mut |snapshot: &ProgressSnapshot| {
        if trace {
            note(&mut moments, Moment::of(snapshot));
        }
        watch(snapshot)
    };
    let after_layers = by_layers(problem, settings, watch)?;
    let settings = after_layers.as_ref().unwrap_or(settings);
    let outcome = pleach_runtime::run(problem, settings, watch)?;
    // A saved search had a value to beat, or a solution, whose value is one.
    let saved = settings.resume.as_ref().map(|saved| saved.best);
    let saved = saved.filter(|&best| best < i64::MAX).map(|best| goal.value(best));
    let decimals = problem.decimals();
    Ok(Report { moments, decimals, ..Report::new(outcome, settings.best.or(saved)) })
}

/// The values that a search begins with.
fn first(problem: &dyn Problem, settings: &Settings) -> Moment {
    let goal = problem.goal();
    let optimises = matches!(goal, Goal::Minimise | Goal::Maximise);
    let least = Some(problem.least_score()).filter(|&least| optimises && least > i64::MIN);
    let saved = settings.resume.as_ref();
    let starts = [settings.start.as_ref(), saved.and_then(|saved| saved.solution.as_ref())];
    let best = starts.into_iter().flatten().map(|solution| solution.score).min();
    let best = best.filter(|_| optimises).map(|score| goal.value(score));
    let seconds = saved.map_or(0.0, |saved| saved.elapsed_ns as f64 * 1e-9);
    Moment { seconds, best, bound: least.map(|score| goal.value(score)) }
}

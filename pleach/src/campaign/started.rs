//! [`StartedSearch`]: a running campaign: its clock, its checkpoint file and its searches.

use super::saved::Saved;
use super::{Certify, Contents, Error, Inspection, Search};
use crate::certificate::{audit, certify};
use crate::report::moment::{Moment, note};
use crate::report::{Report, Status};
use crate::solver;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Counts;
use pleach_core::wire::checkpoint::Checkpoint as Content;
use pleach_runtime::{ProgressSnapshot, RunError, Settings, Stop};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time limit of a search for which no time is left.
pub(super) const SHORTEST: Duration = Duration::from_millis(1);

/// How long heuristics look for a solution of the published value.
const REACH: Duration = Duration::from_secs(1);

/// Whether another process leads the search.
pub(super) fn follows(settings: &Settings) -> bool {
    settings.processes.as_ref().is_some_and(|processes| !processes.leads())
}

/// A running campaign.
pub(super) struct StartedSearch<'s, 'a> {
    pub started: Instant,
    search: &'s mut Search<'a>,
    pub saved: Saved,
    /// Whether the checkpoint is only inspected.
    pub looking: bool,
    /// Whether the search is worth saving even if no time is left for its tree.
    has_result: bool,
    /// The counts and the seconds of layers or of another search before this one, which progress includes.
    pub before: (Counts, f64),
    /// When the best value and the bound changed during the preparation, for a trace.
    moments: Vec<Moment>,
}

/// A search that is ready to run.
pub(super) struct Ready {
    pub settings: Settings,
    /// What is saved with the search.
    pub state: Value,
}

impl<'s, 'a> StartedSearch<'s, 'a> {
    /// Starts the clock and opens the checkpoint file; `asked` distinguishes this search from others.
    pub fn new(search: &'s mut Search<'a>, asked: Value, looking: bool) -> Result<Self, Error> {
        let started = Instant::now();
        let follows = follows(&search.settings);
        let looking = looking || follows;
        let saved = if let (true, Certify::Audit(certificate, _)) = (looking, &search.certify) {
            Saved::certified(&certificate.search)
        } else if follows {
            Saved::announced(&search.settings.about)
        } else {
            Saved::open(search.checkpoint.clone(), asked, looking)?
        };
        Ok(Self {
            started,
            search,
            saved,
            looking,
            has_result: false,
            before: Default::default(),
            moments: Vec::new(),
        })
    }

    /// Counts the time from an earlier moment.
    pub fn count_from(&mut self, began: Instant) {
        self.started = began;
    }

    /// The original settings.
    pub fn settings(&self) -> &Settings {
        &self.search.settings
    }

    /// Searches on threads only.
    pub fn use_no_devices(&mut self) {
        let settings = &mut self.search.settings;
        settings.devices = None;
        settings.threads = settings.threads.max(1);
    }

    /// The search to resume, if any.
    pub fn resumed(&self) -> Option<&Arc<Content>> {
        self.saved.content.as_ref()
    }

    /// Announces that the search is resumed, if nobody has yet.
    pub fn announce_resumed(&mut self) {
        if let Some(mut announce) = self.search.resumed.take() {
            announce();
        }
    }

    /// The seed of the search, even if it began in an earlier run.
    pub fn seed(&self) -> u64 {
        self.saved.state["seed"].as_u64().unwrap_or(self.search.settings.seed)
    }

    /// Whether there is time left to prepare the search better.
    pub fn has_time(&self) -> bool {
        let Settings { cancel, pause, .. } = &self.search.settings;
        let is_wanted = || !cancel.is_cancelled() && !self.time_is_over();
        pause.hold(is_wanted);
        !self.looking && is_wanted()
    }

    /// Whether the search has reached its time limit.
    pub fn time_is_over(&self) -> bool {
        self.search.settings.time_limit.is_some_and(|limit| self.started.elapsed() >= limit)
    }

    /// Whether the search will be run; it must then be prepared, however little time is left.
    pub fn is_wanted(&self) -> bool {
        self.looking || self.has_result || self.has_begun() || self.has_time()
    }

    /// Saves the search even if its preparation, which has found something, takes all the time.
    pub fn keep_preparation(&mut self) {
        self.has_result = self.search.checkpoint.is_some();
    }

    /// Whether the search began earlier, or other processes wait for it.
    fn has_begun(&self) -> bool {
        self.resumed().is_some() || self.settings().processes.is_some()
    }

    /// A function that returns whether heuristics may continue to look for the published value.
    pub fn reaching(&self) -> impl Fn() -> bool {
        let until = Instant::now() + REACH;
        move || Instant::now() < until && self.has_time()
    }

    /// From now on there is something to lose: however soon the search is stopped, it will have a solution.
    pub fn begins(&mut self) {
        if let Some(begins) = self.search.begins.take() {
            begins();
        }
    }

    /// Reports progress of the preparation. Breaks if the search should stop.
    pub fn watch(&mut self, snapshot: &ProgressSnapshot) -> ControlFlow<()> {
        self.begins();
        let (before, before_s) = &self.before;
        let mut counts = before.clone();
        counts.add_saturating(&snapshot.counts);
        let seconds = before_s + self.started.elapsed().as_secs_f64();
        let snapshot = ProgressSnapshot { counts, seconds, ..snapshot.clone() };
        if self.search.settings.trace {
            note(&mut self.moments, Moment::of(&snapshot));
        }
        let continues =
            self.search.progress.as_mut().is_none_or(|watch| watch(&snapshot).is_continue());
        if continues && self.has_time() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }

    /// Whether another process leads the search.
    pub fn follows(&self) -> bool {
        follows(self.settings())
    }

    /// Runs the first search, or takes part in it if another process leads; the time before it counts as set-up.
    pub fn run(&mut self, problem: &dyn Problem, ready: &mut Ready) -> Result<Report, Error> {
        if self.follows() {
            let settings = self.settings().clone();
            return self.search(problem, &settings);
        }
        let (prepared, wanted) = (self.started.elapsed(), self.is_wanted());
        let earlier_s = self.saved.state["setup_s"].as_f64().unwrap_or(0.0);
        let setup_s = earlier_s + prepared.as_secs_f64();
        ready.state["setup_s"] = json!(setup_s);
        if self.before.0 != Counts::default() {
            self.before.1 = setup_s;
        }
        ready.state["seed"] = json!(self.seed());
        let limit = ready.settings.time_limit.map(|limit| limit.saturating_sub(prepared));
        ready.settings.time_limit = limit.map(|left| left.max(SHORTEST));
        if !wanted {
            return Ok(self.unsearched(problem, &ready.settings, setup_s));
        }
        // A finished first search must not overwrite the saved second one.
        if ready.state["first"].is_null() {
            // The work of layers, or of a preparation that took all the time, must not be lost because a file is in the
            // way.
            let spent = self.before.0 != Counts::default() || !self.has_time();
            ready.settings.save = self.saved.save(spent);
        }
        ready.settings.about = self.about(&ready.state);
        let mut report = self.search(problem, &ready.settings)?;
        report.outcome.seconds += setup_s;
        report.outcome.setup_seconds += setup_s;
        report.moments = self.moments_before(setup_s).chain(report.moments).collect();
        Ok(report)
    }

    /// When values changed during the preparation: moments count from the end of the set-up.
    fn moments_before(&mut self, setup_s: f64) -> impl Iterator<Item = Moment> + use<> {
        let moments = std::mem::take(&mut self.moments).into_iter();
        moments.map(move |it| Moment { seconds: it.seconds - setup_s, ..it })
    }

    /// The report of a search that had only time for preparation, which took this long.
    fn unsearched(&mut self, problem: &dyn Problem, settings: &Settings, setup_s: f64) -> Report {
        let why = if self.search.settings.cancel.is_cancelled() { Stop::Asked } else { Stop::Time };
        let mut outcome = Report::unbegun(why, setup_s).outcome;
        // Only what is already known.
        problem.set_stop_requested(true);
        outcome.goal = problem.goal();
        outcome.solution = settings.start.clone();
        let to_beat = settings.best.map(|value| outcome.goal.score(value));
        let scores = [to_beat, outcome.solution.as_ref().map(|start| start.score)];
        let best = scores.into_iter().flatten().min().unwrap_or(i64::MAX);
        outcome.lower_bound = problem.least_score().min(best);
        outcome.stop = outcome.stop.filter(|_| outcome.lower_bound < best || best == i64::MAX);
        let moments = self.moments_before(setup_s).collect();
        let report = Report { moments, ..Report::new(outcome, settings.best) };
        // A proof must not be lost to a stop.
        if let Some(begins) = self.search.begins.take_if(|_| report.status != Status::Stopped) {
            begins();
        }
        report
    }

    /// A description of the search in this state, for processes that resume or join it.
    pub fn about(&self, state: &Value) -> String {
        self.saved.about(&self.search.settings.about, state)
    }

    /// Runs a search.
    pub fn search(&mut self, problem: &dyn Problem, settings: &Settings) -> Result<Report, Error> {
        let content = settings.resume.as_ref();
        if let Some(content) = content.filter(|it| !problem.has_fingerprint(it.fingerprint)) {
            return Err(self.saved.foreign(content));
        }
        if content.is_some() {
            self.announce_resumed();
        }
        let Search { progress, begins, certify: how, .. } = &mut *self.search;
        let mut begins = begins.take();
        let knows_something =
            settings.start.is_some() || settings.resume.is_some() || settings.save.is_some();
        if let Some(begins) = begins.take_if(|_| knows_something) {
            begins();
        }
        let (before, before_s) = &self.before;
        let mut watch = |snapshot: &ProgressSnapshot| {
            // Explorers of a large instance take a while to build.
            if let Some(begins) =
                begins.take_if(|_| snapshot.counts.bounded > 0 || snapshot.best.is_some())
            {
                begins();
            }
            let Some(watch) = progress else { return ControlFlow::Continue(()) };
            let mut counts = before.clone();
            counts.add_saturating(&snapshot.counts);
            let seconds = before_s + snapshot.seconds;
            watch(&ProgressSnapshot { counts, seconds, ..snapshot.clone() })
        };
        let searched = solver::search(problem, settings, &mut watch).and_then(|report| {
            let certificate = if *how == Certify::Make && !follows(settings) {
                certify(problem, settings, &report, &mut watch)?
            } else {
                None
            };
            // What one process did of a search proves nothing.
            let status = if follows(settings) { Status::Stopped } else { report.status };
            Ok(Report { certificate, status, ..report })
        });
        searched.map_err(|why| match why {
            RunError::Resume(why) => Error::resume(self.saved.path(), why),
            why => why.into(),
        })
    }

    /// Reads the checkpoint of this problem, or takes part in the search that another process leads.
    pub fn inspect(&mut self, problem: &dyn Problem) -> Result<Inspection, Error> {
        if let Certify::Audit(certificate, sample) = self.search.certify.clone() {
            let (threads, cancel) = (self.settings().threads, self.settings().cancel.clone());
            let keep_going = move || !cancel.is_cancelled();
            return Ok(Inspection::Audit(audit(
                problem, &certificate, sample, threads, &keep_going,
            )));
        }
        if self.follows() {
            let settings = self.settings().clone();
            return Ok(Inspection::Part(Box::new(self.search(problem, &settings)?)));
        }
        let Some(content) = self.resumed() else {
            return Err(Error::Input("there is no saved search to inspect".into()));
        };
        if !problem.has_fingerprint(content.fingerprint) {
            return Err(self.saved.foreign(content));
        }
        Contents::new(problem, content, &self.saved.state, self.search.nodes)
            .map(Inspection::Contents)
            .map_err(|why| Error::resume(self.saved.path(), why))
    }
}

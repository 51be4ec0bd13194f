//! [`watch_over`]: waits for the units to end, shows the run, saves it, and stops it at its limits.

use crate::control::Stop;
use crate::driver::Shared;
use crate::launch::Settings;
use crate::outcome::Sight;
use crate::save::Saver;
use crate::sync::{Condvar, Mutex, Ordering, lock};
use crate::transport::local::Office;
use pleach_core::problem::Problem;
use pleach_core::tree::Goal;
use std::ops::ControlFlow;
use std::time::Duration;

/// Units that have not ended yet.
pub(crate) struct Running {
    pub left: Mutex<u32>,
    pub ended: Condvar,
}

/// Whoever looks at the run, and stops it by breaking.
pub(crate) type Watcher<'a> = dyn FnMut(&Sight) -> ControlFlow<()> + 'a;

/// How often a snapshot under way is asked whether it is whole.
const ASK_EVERY: Duration = Duration::from_millis(1);

/// Waits for the units to end, shows the run to the watcher, saves it, and stops it at its limits.
pub(crate) fn watch_over(
    problem: &dyn Problem,
    settings: &Settings,
    shared: &Shared<'_>,
    running: &Running,
    office: &Office,
    watcher: &mut Watcher<'_>,
) {
    let stop = |why| {
        shared.control.stop(why);
        problem.hurry(true);
        office.ring_all();
    };
    let limit = settings.time_limit;
    let mut proven = shared.least_score;
    let mut saving = Saving::new(shared, office);
    let mut left = lock(&running.left);
    let mut look_at = settings.look_every;
    while *left > 0 {
        let now = shared.start.elapsed();
        let limit_at = limit.filter(|_| shared.control.stopped().is_none());
        let mut until = limit_at.map_or(look_at, |limit| look_at.min(limit));
        until = saving.next(now).map_or(until, |at| until.min(at));
        let waited = running.ended.wait_timeout(left, until.saturating_sub(now));
        left = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        let now = shared.start.elapsed();
        if shared.control.stopped().is_some() {
            problem.hurry(true);
            look_at = now.saturating_add(settings.look_every);
        } else if limit.is_some_and(|limit| now >= limit) {
            stop(Stop::Time);
            look_at = now.saturating_add(settings.look_every);
        } else {
            drop(left);
            let warning = saving.go_on(now).or_else(|| lock(shared.warnings).pop_front());
            if now >= look_at || warning.is_some() {
                look_at = now.saturating_add(settings.look_every);
                if watcher(&Sight { warning, ..sight(shared, &mut proven) }).is_break() {
                    stop(Stop::Asked);
                }
            }
            left = lock(&running.left);
        }
    }
}

/// When to take snapshots, and the one under way.
struct Saving<'a> {
    shared: &'a Shared<'a>,
    office: &'a Office,
    saver: Option<&'a Saver<'a>>,
    under_way: bool,
    at: Duration,
}

impl<'a> Saving<'a> {
    fn new(shared: &'a Shared<'a>, office: &'a Office) -> Self {
        let saver = shared.saver;
        let at = saver
            .map_or(Duration::MAX, |saver| shared.start.elapsed().saturating_add(saver.every()));
        Self { shared, office, saver, under_way: false, at }
    }

    /// When there is something to do.
    fn next(&self, now: Duration) -> Option<Duration> {
        self.saver.map(|_| if self.under_way || self.at <= now { now + ASK_EVERY } else { self.at })
    }

    /// Asks for a snapshot if it is time, and writes the one under way if it is whole; a warning if
    /// that fails for the first time.
    fn go_on(&mut self, now: Duration) -> Option<String> {
        let saver = self.saver?;
        if self.under_way {
            let written = saver.write_if_whole(self.shared.control);
            self.under_way = matches!(written, Ok(false));
            return written.err().and_then(|why| saver.warn(&why, false));
        }
        if now >= self.at && saver.ask() {
            self.under_way = true;
            self.at = now.saturating_add(saver.every());
            self.office.ring(0);
        }
        None
    }
}

/// A look at the run; `proven` is what no solution can beat, as far as was ever seen.
fn sight(shared: &Shared<'_>, proven: &mut i64) -> Sight {
    let mut counts = shared.before.counts;
    let mut open = 0.0;
    let mut bound = shared.control.best();
    // The units answer a look after their next stretch: this one reads what the last one asked.
    let look = shared.looks.load(Ordering::Relaxed);
    let all = look > 0 && shared.gauges.iter().all(|gauge| gauge.answered() == look);
    for gauge in shared.gauges {
        let (unit, share, least_bound) = gauge.read();
        counts.add(&unit);
        open += share;
        bound = bound.min(least_bound);
    }
    shared.looks.fetch_add(1, Ordering::Relaxed);
    if all {
        *proven = bound.max(*proven);
    }
    let bound = shared.control.best().min(*proven);
    let optimises = matches!(shared.goal, Goal::Minimise | Goal::Maximise);
    Sight {
        seconds: shared.seconds(),
        counts,
        done: (look > 0 && !open.is_nan()).then(|| (1.0 - open).clamp(0.0, 1.0)),
        best: shared.control.solution().map(|best| shared.goal.value(best.score)),
        bound: (optimises && ![i64::MIN, i64::MAX].contains(&bound))
            .then(|| shared.goal.value(bound)),
        warning: None,
    }
}

//! [`Runner`]: runs the loops of a job in turn, shows progress, and adds up what each worker did.

use crate::cli::flags::{CHUNKS, FlagValues, SPLIT};
use crate::cli::progress::Shown;
use crate::failure::{Failure, usage};
use pleach_loops::looping::{Loop, Stepping};
use pleach_loops::looping::{LoopReport, LoopSettings, LoopSnapshot, Part, Sizes, Stops};
use pleach_loops::looping::{run_loop, run_steps};
use pleach_runtime::Cancel;
use pleach_runtime::WorkerPool;
use std::ops::ControlFlow;
use std::time::Instant;

/// Runs the loops of a job one after the other.
pub struct Runner<'a> {
    settings: &'a LoopSettings,
    shown: Shown<'a>,
    cancel: &'a Cancel,
    /// Of all loops so far.
    report: LoopReport,
    began: Instant,
}

/// The settings that the flags specify.
pub fn settings(given: &FlagValues) -> Result<LoopSettings, Failure> {
    let all = given.settings()?;
    let chunks = given.get(&CHUNKS)?;
    let split = given.get(&SPLIT)?;
    if chunks.is_some() && split.is_some() {
        return usage("--split has no effect with --chunks, which keeps equal slabs");
    }
    let sizes = chunks.or(split).unwrap_or_default();
    Ok(LoopSettings {
        threads: all.threads,
        devices: given.workers()?.devices.specs,
        slow: all.slow,
        sizes,
        progress_every: all.progress_every,
        cluster: given.cluster.clone(),
    })
}

impl<'a> Runner<'a> {
    /// A runner before its first loop.
    pub fn new(settings: &'a LoopSettings, shown: Shown<'a>, cancel: &'a Cancel) -> Self {
        Self {
            settings,
            shown,
            cancel,
            report: LoopReport { complete: true, ..LoopReport::default() },
            began: Instant::now(),
        }
    }

    /// Runs a loop. Returns the local data of all workers, in order; `None` if this loop or an earlier one was stopped.
    pub fn run<L: Loop>(&mut self, work: &L) -> Result<Option<Vec<L::Local>>, Failure> {
        if !self.report.complete {
            return Ok(None);
        }
        let (pool, settings) = (WorkerPool::shared(), self.settings);
        let shown = &mut self.shown;
        let outcome = run_loop(pool, work, settings, &mut watch(shown, self.cancel))?;
        self.add(outcome.report);
        Ok(self.report.complete.then_some(outcome.locals))
    }

    /// Runs a loop that prepares another one, on this process's threads alone. It adds to the time during which they are
    /// busy, but not to their units and shares. Returns `None` if this loop or an earlier one was stopped.
    pub fn prepare<L: Loop>(&mut self, work: &L) -> Result<Option<()>, Failure> {
        if !self.report.complete {
            return Ok(None);
        }
        let (pool, cluster, cancel) = (WorkerPool::shared(), &self.settings.cluster, self.cancel);
        let settings = LoopSettings {
            devices: Vec::new(),
            sizes: Sizes::Measured,
            cluster: None,
            ..self.settings.clone()
        };
        let LoopReport { parts, complete, .. } =
            run_loop(pool, work, &settings, &mut |_| proceed(cancel))?.report;
        let leads = cluster.as_ref().is_some_and(|all| all.is_root() && all.others() > 0);
        let site = if leads { "site0/" } else { "" };
        // Where only devices run the loop, the thread that prepares it is not one of its parts.
        let parts = parts.into_iter().take(self.settings.threads as usize).map(|part| Part {
            name: format!("{site}{}", part.name),
            busy_s: part.busy_s,
            ..Part::default()
        });
        let parts = parts.collect();
        self.add(LoopReport { parts, complete, ..LoopReport::default() });
        Ok(complete.then_some(()))
    }

    /// Makes steps from the beginning. Returns the slabs; `None` if the steps were stopped.
    pub fn steps<'s, W: Stepping>(
        &mut self,
        work: &W,
        steps: impl Into<Stops<'s, W::Slab>>,
    ) -> Result<Option<Vec<W::Slab>>, Failure>
    where
        W::Slab: 's,
    {
        let (pool, settings) = (WorkerPool::shared(), self.settings);
        let shown = &mut self.shown;
        let done = run_steps(pool, work, steps, settings, &mut watch(shown, self.cancel))?;
        self.add(done.report);
        Ok(self.report.complete.then_some(done.slabs))
    }

    /// Adds a loop to the report. Where loops differ, their shares are weighted by time.
    fn add(&mut self, more: LoopReport) {
        let since = (self.began.elapsed().as_secs_f64() - more.seconds).max(0.0);
        let all = &mut self.report;
        let seconds = all.seconds + more.seconds;
        let weight = if all.seconds > 0.0 { more.seconds / seconds } else { 1.0 };
        all.parts.iter_mut().for_each(|part| part.share *= 1.0 - weight);
        for part in more.parts {
            // A device may lack a kernel for some of the loops.
            let at = all.parts.iter().position(|known| known.name == part.name);
            let at = at.unwrap_or_else(|| {
                all.parts.push(Part { name: part.name.clone(), ..Part::default() });
                all.parts.len() - 1
            });
            let known = &mut all.parts[at];
            // Another process may report any number.
            known.units = known.units.saturating_add(part.units);
            known.ranges = known.ranges.saturating_add(part.ranges);
            known.share += weight * part.share;
            known.busy_s += part.busy_s;
        }
        all.seconds = seconds;
        all.complete &= more.complete;
        for mut site in more.sites {
            site.joined_s += since;
            site.left_s = site.left_s.map(|at| at + since);
            match all.sites.iter_mut().find(|known| known.name == site.name) {
                Some(known) => {
                    (known.left_s, known.end) = (site.left_s, site.end);
                    known.commits += site.commits;
                    known.redone += site.redone;
                }
                None => all.sites.push(site),
            }
        }
        let new = more.warnings.into_iter().filter(|line| !all.warnings.contains(line));
        let new: Vec<String> = new.collect();
        all.warnings.extend(new);
    }

    /// The report of all loops. Time between loops counts as idle.
    pub fn finish(mut self) -> LoopReport {
        self.report.seconds = self.began.elapsed().as_secs_f64();
        self.report.parts.sort_by_key(|part| site_of(&part.name));
        self.report.sites.sort_by_key(|site| site_of(&site.name));
        for part in &mut self.report.parts {
            part.idle_s = (self.report.seconds - part.busy_s).max(0.0);
        }
        self.report
    }
}

/// The number of the site that a worker's name begins with.
fn site_of(name: &str) -> u32 {
    let number = name.strip_prefix("site").unwrap_or_default();
    let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
    number[..end].parse().unwrap_or(0)
}

/// Shows the progress of a loop, and breaks once the loop is cancelled.
fn watch<'a>(
    shown: &'a mut Shown<'_>,
    cancel: &'a Cancel,
) -> impl FnMut(&LoopSnapshot) -> ControlFlow<()> + 'a {
    if let Shown::Board(board) = shown {
        board.begin_loop();
    }
    move |snapshot| {
        match shown {
            Shown::Board(board) => board.show_loop(snapshot),
            Shown::Line(line) if !line.is_hidden() => {
                let LoopSnapshot { done, units, seconds, .. } = *snapshot;
                let part = 100.0 * done as f64 / units.max(1) as f64;
                line.set_message(format!("{seconds:.1} s  {part:.1} % done"));
                line.tick();
            }
            Shown::Line(_) => {}
        }
        proceed(cancel)
    }
}

/// Breaks once a loop is cancelled.
fn proceed(cancel: &Cancel) -> ControlFlow<()> {
    if cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

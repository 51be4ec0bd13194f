//! [`find_best`]: the fastest static split of a loop, found by trial.

use crate::cli::progress::Shown;
use crate::failure::Failure;
use crate::loops::Job;
use crate::loops::runner::Runner;
use pleach_loops::looping::{LoopReport, LoopSettings, Part, Sizes};
use pleach_runtime::Cancel;

/// A static split between two parties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// The share of the first party: all threads if there are devices, otherwise the first thread.
    pub share: f64,
    /// The least time it took.
    pub seconds: f64,
}

/// How often a split is run at a time: at least and at most, and within these limits until the runs took this long.
pub const FEWEST: usize = 2;
const MOST: usize = 12;
const ENOUGH: f64 = 0.5;
/// The steps of the first search; each shrinks the interval to 0.62 of its length.
const STEPS: usize = 10;
/// The golden section.
const PHI: f64 = 0.618_033_988_749_895;
/// The second search compares the fastest splits so far, this many, and those at these distances from the fastest.
const FASTEST: usize = 3;
const NEAR: [f64; 6] = [-0.03, -0.015, -0.0075, 0.0075, 0.015, 0.03];
/// Splits that differ by less count as one.
const SAME: f64 = 0.002;

/// The best split between the parts of a loop, and the fastest run with dynamic sharing among the trials; `None` if the
/// search was interrupted or there is only one part.
pub fn find_best(
    job: &mut dyn Job,
    settings: &LoopSettings,
    parts: &[Part],
    cancel: &Cancel,
) -> Result<Option<(Split, LoopReport)>, Failure> {
    let threads = parts.iter().filter(|part| part.name.starts_with("cpu")).count();
    // A loop may lack a kernel for some devices.
    let devices = parts.len() - threads;
    let first = if devices > 0 { threads } else { 1 };
    if first == 0 || threads + devices == first {
        return Ok(None);
    }
    let mut dynamic: Option<LoopReport> = None;
    let mut time = |share: Option<f64>| {
        let sizes = share.map_or_else(
            || settings.sizes.clone(),
            |share| {
                let one = share / first as f64;
                let rest = (1.0 - share) / (threads + devices - first) as f64;
                let all = 0..threads + devices;
                Sizes::Static(all.map(|me| if me < first { one } else { rest }).collect())
            },
        );
        let settings = LoopSettings { sizes, ..settings.clone() };
        let mut runner = Runner::new(&settings, Shown::new(true, None), cancel);
        job.run(&mut runner)?;
        let report = runner.finish();
        let (complete, seconds) = (report.complete, report.seconds);
        if share.is_none() && complete && dynamic.as_ref().is_none_or(|best| seconds < best.seconds)
        {
            dynamic = Some(report);
        }
        Ok(complete.then_some(seconds))
    };
    let found = parts.iter().take(first).map(|part| part.share).sum();
    let best = Search { time: &mut time, tried: Vec::new() }.best(found)?;
    Ok(best.zip(dynamic))
}

/// Runs a split, or shares dynamically without one. Returns how long it took; `None` if it was interrupted.
type Time<'a> = dyn FnMut(Option<f64>) -> Result<Option<f64>, Failure> + 'a;

/// A search for the fastest split.
struct Search<'a, 'b> {
    time: &'a mut Time<'b>,
    tried: Vec<Split>,
}

impl Search<'_, '_> {
    /// The fastest split. The first search goes through the whole interval. Times are noisy and may mislead it, so the
    /// second one compares the splits that may be the fastest, among them the one that dynamic sharing found: all of
    /// them take turns, and the slower half drops out, until one is left. Dynamic sharing runs alongside them.
    fn best(&mut self, found: f64) -> Result<Option<Split>, Failure> {
        if self.try_split(found)?.is_none() || !self.golden_section()? {
            return Ok(None);
        }
        let mut left = self.finalists(found);
        while left.len() > 1 {
            let mut took = 0.0;
            for round in 0..MOST {
                if round >= FEWEST && took >= ENOUGH * left.len() as f64 {
                    break;
                }
                for split in &mut left {
                    let Some(seconds) = (self.time)(Some(split.share))? else { return Ok(None) };
                    split.seconds = split.seconds.min(seconds);
                    took += seconds;
                }
                if (self.time)(None)?.is_none() {
                    return Ok(None);
                }
            }
            left.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
            left.truncate(left.len().div_ceil(2));
        }
        Ok(left.first().copied())
    }

    /// Runs a split several times. Returns the least time, `None` if it was interrupted.
    fn try_split(&mut self, share: f64) -> Result<Option<f64>, Failure> {
        let (mut least, mut took) = (f64::MAX, 0.0);
        for run in 0..MOST {
            if run >= FEWEST && took >= ENOUGH {
                break;
            }
            let Some(seconds) = (self.time)(Some(share))? else { return Ok(None) };
            (least, took) = (least.min(seconds), took + seconds);
        }
        self.tried.push(Split { share, seconds: least });
        Ok(Some(least))
    }

    /// The time falls and then rises, so the best split lies between the neighbours of the best so far. Returns whether
    /// the search finished.
    fn golden_section(&mut self) -> Result<bool, Failure> {
        let (mut low, mut high) = (0.0, 1.0);
        let [mut left, mut right] = [high - PHI * (high - low), low + PHI * (high - low)];
        let Some(mut of_left) = self.try_split(left)? else { return Ok(false) };
        let Some(mut of_right) = self.try_split(right)? else { return Ok(false) };
        for _ in 0..STEPS {
            if of_left < of_right {
                (high, right, of_right) = (right, left, of_left);
                left = high - PHI * (high - low);
                let Some(seconds) = self.try_split(left)? else { return Ok(false) };
                of_left = seconds;
            } else {
                (low, left, of_left) = (left, right, of_right);
                right = low + PHI * (high - low);
                let Some(seconds) = self.try_split(right)? else { return Ok(false) };
                of_right = seconds;
            }
        }
        Ok(true)
    }

    /// The splits that may be the fastest.
    fn finalists(&mut self, found: f64) -> Vec<Split> {
        self.tried.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let best = self.tried.first().map_or(found, |split| split.share);
        let near =
            NEAR.map(|far| best + far).into_iter().filter(|share| (0.0..=1.0).contains(share));
        let fastest = self.tried.iter().map(|split| split.share);
        let mut all: Vec<f64> = [best, found].into_iter().chain(near).collect();
        all.extend(fastest.take(FASTEST));
        let mut left: Vec<Split> = Vec::new();
        for share in all {
            if left.iter().all(|known| (known.share - share).abs() >= SAME) {
                let known = self.tried.iter().find(|split| split.share == share);
                left.push(known.copied().unwrap_or(Split { share, seconds: f64::MAX }));
            }
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time of a split whose optimum is at this share, each third run disturbed.
    fn noisy(
        optimum: f64,
        runs: &mut usize,
    ) -> impl FnMut(Option<f64>) -> Result<Option<f64>, Failure> {
        move |share| {
            *runs += 1;
            let share = share.unwrap_or(0.5);
            let clean = 0.1 * (share / optimum).max((1.0 - share) / (1.0 - optimum));
            Ok(Some(if runs.is_multiple_of(3) { 1.5 * clean } else { clean }))
        }
    }

    #[test]
    fn the_fastest_split_is_found_in_spite_of_noise() {
        for optimum in [0.05, 0.5, 0.8, 0.93] {
            let mut runs = 0;
            let time = &mut noisy(optimum, &mut runs);
            let best = Search { time, tried: Vec::new() }.best(0.7).unwrap().unwrap();
            assert!((best.share - optimum).abs() < 0.008, "{best:?} for {optimum}");
            assert!(
                best.seconds < 0.1 * 1.02 + 0.1 * 0.008 / optimum.min(1.0 - optimum),
                "{best:?}"
            );
        }
    }

    #[test]
    fn a_split_that_was_found_beside_a_misleading_search_is_kept() {
        // The first search sees a wrong optimum; only the split of dynamic sharing is fast.
        let mut time = |share: Option<f64>| {
            let share = share.unwrap_or(0.0);
            Ok(Some(if (share - 0.75).abs() < 1e-6 { 0.05 } else { 0.1 + share }))
        };
        let best = Search { time: &mut time, tried: Vec::new() }.best(0.75).unwrap();
        assert_eq!(best, Some(Split { share: 0.75, seconds: 0.05 }));
    }

    #[test]
    fn an_interrupted_run_ends_the_search() {
        for last in [1, 5, 40, 90] {
            let mut runs = 0;
            let mut time = |_: Option<f64>| {
                runs += 1;
                assert!(runs <= last, "another run after the interrupted one");
                Ok((runs < last).then_some(0.2))
            };
            assert_eq!(Search { time: &mut time, tried: Vec::new() }.best(0.5).unwrap(), None);
        }
    }
}

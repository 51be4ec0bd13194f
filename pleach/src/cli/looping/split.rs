//! [`find_best`]: the fastest static split of a loop, found by trial.

use crate::cli::progress::Shown;
use crate::failure::Failure;
use crate::loops::Job;
use crate::loops::runner::Runner;
use pleach_loops::looping::{LoopSettings, Part, Sizes};
use pleach_runtime::Cancel;

/// A static split between two parties.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    /// The share of the first party: all threads if there are devices, otherwise the first thread.
    pub share: f64,
    /// The time it took.
    pub seconds: f64,
}

/// How often each split is tried; the least time counts.
pub const TRIES: usize = 3;
/// The steps of the search; each shrinks the interval to 0.62 of its length.
const STEPS: usize = 10;
/// The golden section.
const PHI: f64 = 0.618_033_988_749_895;

/// The best split between the parts of a loop; `None` if the search was interrupted or there is only one part.
///
/// On a busy machine, times are noisy and may mislead the search. So the split found by dynamic sharing is tried as
/// well, and the best of all trials counts.
pub fn find_best(
    job: &mut dyn Job,
    settings: &LoopSettings,
    parts: &[Part],
    cancel: &Cancel,
) -> Result<Option<Split>, Failure> {
    let threads = parts.iter().filter(|part| part.name.starts_with("cpu")).count();
    // A loop may lack a kernel for some devices.
    let devices = parts.len() - threads;
    let first = if devices > 0 { threads } else { 1 };
    if first == 0 || threads + devices == first {
        return Ok(None);
    }
    let mut best: Option<Split> = None;
    let mut time = |share: f64| -> Result<Option<Split>, Failure> {
        let (one, rest) =
            (share / first as f64, (1.0 - share) / (threads + devices - first) as f64);
        let shares = (0..threads + devices).map(|me| if me < first { one } else { rest }).collect();
        let settings = LoopSettings { sizes: Sizes::Static(shares), ..settings.clone() };
        let mut seconds = f64::MAX;
        for _ in 0..TRIES {
            let mut runner = Runner::new(&settings, Shown::new(true, None), cancel);
            job.run(&mut runner)?;
            let report = runner.finish();
            if !report.complete {
                return Ok(None);
            }
            seconds = seconds.min(report.seconds);
        }
        let tried = Split { share, seconds };
        if best.is_none_or(|best| seconds < best.seconds) {
            best = Some(tried);
        }
        Ok(Some(tried))
    };
    let found = parts.iter().take(first).map(|part| part.share).sum();
    if time(found)?.is_none() {
        return Ok(None);
    }
    // The time falls and then rises, so the best split lies between the neighbours of the best so far.
    let (mut low, mut high) = (0.0, 1.0);
    let Some(mut left) = time(high - PHI * (high - low))? else { return Ok(None) };
    let Some(mut right) = time(low + PHI * (high - low))? else { return Ok(None) };
    for _ in 0..STEPS {
        if left.seconds < right.seconds {
            (high, right) = (right.share, left);
            let Some(tried) = time(high - PHI * (high - low))? else { return Ok(None) };
            left = tried;
        } else {
            (low, left) = (left.share, right);
            let Some(tried) = time(low + PHI * (high - low))? else { return Ok(None) };
            right = tried;
        }
    }
    Ok(best)
}

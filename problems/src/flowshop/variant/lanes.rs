//! Schedules side by side, one in each lane: appends a job to each and adds its cost.

use super::objective::Objective;
use crate::simd::lanes::Wide;

/// How jobs pass from one machine to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Passing {
    /// Jobs may wait between machines.
    #[default]
    Wait,
    /// A job starts on each machine when it ends on the one before.
    NoWait,
    /// A job stays on its machine until the next one is free.
    Blocking,
}

/// What is known of the job in each lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dates<W> {
    pub weight: W,
    pub due: W,
    pub release: W,
}

/// Appends a job to a schedule in each lane. The fronts say when each machine becomes free, before and after.
#[inline(always)]
pub(crate) fn append<W: Wide>(
    passing: Passing,
    fronts: &mut [W],
    times: impl Fn(usize) -> W,
    setups: Option<impl Fn(usize) -> W>,
    release: W,
) {
    match passing {
        Passing::Wait => {
            let mut end = release;
            for (k, front) in fronts.iter_mut().enumerate() {
                end = end.max(free(*front, &setups, k)).add(times(k));
                *front = end;
            }
        }
        Passing::NoWait => {
            let (mut start, mut before) = (release, W::splat(W::Of::default()));
            for (k, &front) in fronts.iter().enumerate() {
                start = start.max(free(front, &setups, k).sub(before));
                before = before.add(times(k));
            }
            let mut end = start;
            for (k, front) in fronts.iter_mut().enumerate() {
                end = end.add(times(k));
                *front = end;
            }
        }
        Passing::Blocking => {
            let mut leaves = release.max(fronts[0]);
            for k in 0..fronts.len() {
                leaves = leaves.add(times(k));
                if let Some(&next) = fronts.get(k + 1) {
                    leaves = leaves.max(next);
                }
                fronts[k] = leaves;
            }
        }
    }
}

/// Appends several jobs that may wait, one after the other, to a schedule in each lane: the first numbers of rows of
/// times and setup times, a row for each machine. `ends` has their releases before, and their ends after. `visit` gets
/// each machine and the ends on it.
///
/// Each front is read and written once, and what does not depend on each other is computed at the same time.
#[inline(always)]
pub(crate) fn append_several<'n, W: Wide<Of: 'n>, const JOBS: usize>(
    fronts: &mut [W],
    times: impl Iterator<Item = &'n [W::Of]>,
    mut setups: Option<impl Iterator<Item = &'n [W::Of]>>,
    ends: &mut [W; JOBS],
    mut visit: impl FnMut(usize, &[W; JOBS]),
) {
    for (k, (front, times)) in fronts.iter_mut().zip(times).enumerate() {
        let mut free = *front;
        let setups = setups.as_mut().and_then(Iterator::next);
        for (i, end) in ends.iter_mut().enumerate() {
            if let Some(setups) = setups {
                free = free.add(W::load(&setups[i..]));
            }
            *end = end.max(free).add(W::load(&times[i..]));
            free = *end;
        }
        *front = free;
        visit(k, ends);
    }
}

/// When a machine can start a job: after its setup time.
#[inline(always)]
fn free<W: Wide>(front: W, setups: &Option<impl Fn(usize) -> W>, machine: usize) -> W {
    match setups {
        Some(setups) => front.add(setups(machine)),
        None => front,
    }
}

/// Adds the costs of jobs that end at these times.
#[inline(always)]
pub(crate) fn add_cost<W: Wide>(objective: Objective, cost: W, end: W, dates: &Dates<W>) -> W {
    let zero = W::splat(W::Of::default());
    let Dates { weight, due, release } = *dates;
    match objective {
        Objective::Makespan => cost.max(end),
        Objective::Lateness => cost.max(end.sub(due)),
        Objective::FlowTime => cost.add(weight.mul(end.sub(release))),
        Objective::Tardiness => cost.add(weight.mul(end.sub(due).max(zero))),
        Objective::TardyJobs => cost.add(end.where_greater(due, weight)),
    }
}

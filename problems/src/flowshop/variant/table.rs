//! [`Table`]: the numbers of a variant in the width in which lanes compute.

use super::lanes::{Dates, Passing, add_cost, append};
use super::model::Variant;
use super::objective::Objective;
use crate::simd::lanes::{Number, Wide};

/// The numbers of a variant.
pub(super) struct Table<N> {
    pub objective: Objective,
    pub passing: Passing,
    pub machines: usize,
    jobs: usize,
    /// By job.
    times: Vec<N>,
    dates: Vec<Dates<N>>,
    /// By job before, job after, and machine; empty if there are none.
    setups: Vec<N>,
}

/// Schedules side by side.
#[derive(Clone)]
pub(super) struct Lanes<W> {
    pub fronts: Vec<W>,
    pub cost: W,
}

impl<W: Wide> Lanes<W> {
    /// Schedules without jobs.
    #[inline(always)]
    pub fn empty(machines: usize, no_cost: W::Of) -> Self {
        Self { fronts: vec![W::splat(W::Of::default()); machines], cost: W::splat(no_cost) }
    }
}

impl<N: Number> Table<N> {
    pub fn new(variant: &Variant) -> Self {
        let (jobs, machines) = (variant.jobs(), variant.machines());
        let times = (0..jobs).flat_map(|job| (0..machines).map(move |k| variant.time(job, k)));
        let setups = |before: usize| {
            (0..jobs).flat_map(move |job| (0..machines).map(move |k| variant.setup(k, before, job)))
        };
        let all = 0..if variant.shop().setups.is_some() { jobs } else { 0 };
        Self {
            objective: variant.objective(),
            passing: variant.passing(),
            machines,
            jobs,
            times: times.map(N::of).collect(),
            dates: (0..jobs).map(|job| variant.dates(job)).collect(),
            setups: all.flat_map(setups).map(N::of).collect(),
        }
    }

    /// The times of a job.
    #[inline(always)]
    pub fn times(&self, job: usize) -> &[N] {
        &self.times[job * self.machines..][..self.machines]
    }

    /// The setup times between two jobs; none if the table has none.
    #[inline(always)]
    pub fn setups(&self, before: usize, after: usize) -> Option<&[N]> {
        let at = (before * self.jobs + after) * self.machines;
        (!self.setups.is_empty()).then(|| &self.setups[at..][..self.machines])
    }

    /// Whether there are setup times.
    #[inline(always)]
    pub fn has_setups(&self) -> bool {
        !self.setups.is_empty()
    }

    #[inline(always)]
    pub fn dates(&self, job: usize) -> &Dates<N> {
        &self.dates[job]
    }

    /// Appends the same job in each lane, after the same one.
    #[inline(always)]
    pub fn append<W: Wide<Of = N>>(&self, lanes: &mut Lanes<W>, last: Option<usize>, job: usize) {
        let times = self.times(job);
        let setups = last.and_then(|last| self.setups(last, job));
        let setups = setups.map(|setups| {
            #[inline(always)]
            move |k: usize| W::splat(setups[k])
        });
        let Dates { weight, due, release } = self.dates[job];
        let dates =
            Dates { weight: W::splat(weight), due: W::splat(due), release: W::splat(release) };
        let times = {
            #[inline(always)]
            |k: usize| W::splat(times[k])
        };
        self.append_each(lanes, times, setups, &dates);
    }

    /// Appends a job of its own in each lane.
    #[inline(always)]
    pub fn append_each<W: Wide<Of = N>>(
        &self,
        lanes: &mut Lanes<W>,
        times: impl Fn(usize) -> W,
        setups: Option<impl Fn(usize) -> W>,
        dates: &Dates<W>,
    ) {
        append(self.passing, &mut lanes.fronts, times, setups, dates.release);
        let end = lanes.fronts[self.machines - 1];
        lanes.cost = add_cost(self.objective, lanes.cost, end, dates);
    }
}

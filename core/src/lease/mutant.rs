//! [`LeaseMutant`]: known faults of sites, to show that the checks catch each of them.

/// A deliberate fault. The interpreter of the model commits those that a [`super::Site`] alone cannot.
#[cfg_attr(not(any(test, feature = "faults")), allow(dead_code))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LeaseMutant {
    /// No fault.
    #[default]
    None,
    /// A commit reports only what was done since the last one.
    Deltas,
    /// Taking a lease over leaves it in the list.
    TakeOverKeepsTheLease,
    /// A return leaves out the leases passed on.
    ReturnWithoutSubs,
    /// Nobody sends `Missing`.
    NoMissing,
    /// Nobody asks a silent holder.
    NeverAsksAgain,
    /// Taking over a lease does not adopt the leases within it.
    TakeOverWithoutAdopt,
    /// A resumed root neither adopts the holders nor asks them later.
    ResumeWithoutAdopt,
    /// A value is sent without its solution.
    ValueWithoutSolution,
    /// The solution that comes with a progress report is ignored.
    IgnoresTheSolution,
    /// Work that is given away stays open here too.
    GivesAndKeeps,
    /// A progress report has the current leases, and all else from its cut.
    SubsOfNow,
    /// A progress report has the current open work, and all else from its cut.
    RestOfNow,
    /// The leases within a lease are listed by name only.
    NestedWithoutBytes,
    /// A progress report is sent without the leases within leases, as if nothing had been passed on.
    TrimsTheSubs,
    /// The return of an unlisted lease is taken over.
    TakesOverTheUnlisted,
    /// The commit of an unlisted lease puts it back on the list.
    ListsTheUnlisted,
    /// The counts of dropped work are kept.
    KeepsCountsAfterDrop,
    /// Work of one lease is added to that of another.
    MixesLeases,
    /// All processes of a site have the same incarnation.
    NoIncarnations,
    /// A return does not wait until everything passed on has arrived.
    ReturnsBeforeAcks,
    /// A return counts work that has not arrived yet as open.
    ReturnsUnackedAsOpen,
    /// A holding that is being returned still changes.
    NotFrozen,
    /// A site drops its work as soon as it receives `Unknown`.
    DropsOnUnknown,
    /// A return is forgotten as soon as it is sent.
    ForgetsAtReturn,
    /// A site continues under a root that has begun another run, with the previous run's value to beat.
    ContinuesOtherRuns,
}

#[cfg(any(test, feature = "faults"))]
impl LeaseMutant {
    /// All faults.
    pub const ALL: [Self; 25] = [
        Self::Deltas,
        Self::TakeOverKeepsTheLease,
        Self::ReturnWithoutSubs,
        Self::NoMissing,
        Self::NeverAsksAgain,
        Self::TakeOverWithoutAdopt,
        Self::ResumeWithoutAdopt,
        Self::ValueWithoutSolution,
        Self::IgnoresTheSolution,
        Self::GivesAndKeeps,
        Self::SubsOfNow,
        Self::RestOfNow,
        Self::NestedWithoutBytes,
        Self::TrimsTheSubs,
        Self::TakesOverTheUnlisted,
        Self::ListsTheUnlisted,
        Self::KeepsCountsAfterDrop,
        Self::MixesLeases,
        Self::NoIncarnations,
        Self::ReturnsBeforeAcks,
        Self::ReturnsUnackedAsOpen,
        Self::NotFrozen,
        Self::DropsOnUnknown,
        Self::ForgetsAtReturn,
        Self::ContinuesOtherRuns,
    ];
}

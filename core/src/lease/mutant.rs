//! [`LeaseMutant`]: sites that are wrong in a known way, to show that the checks notice.

/// A deliberate fault. Those that no [`super::Site`] can commit alone belong to its interpreter: the model.
#[cfg_attr(not(any(test, feature = "faults")), allow(dead_code))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LeaseMutant {
    /// None.
    #[default]
    None,
    /// A commit tells what was done since the last one.
    Deltas,
    /// Taking a lease over leaves it in the list.
    TakeOverKeepsTheLease,
    /// A return leaves out what was given on.
    ReturnWithoutSubs,
    /// Nobody says `Missing`.
    NoMissing,
    /// Nobody asks a silent holder.
    NeverAsksAgain,
    /// Taking a lease over does not tell the holders of what was given on.
    TakeOverWithoutAdopt,
    /// A resumed root does not tell the holders, and never asks them.
    ResumeWithoutAdopt,
    /// A value is told without its solution.
    ValueWithoutSolution,
    /// The solution that comes with a progress report is ignored.
    IgnoresTheSolution,
    /// What is given stays open here too.
    GivesAndKeeps,
    /// A progress report has the leases of now and the rest of its cut.
    SubsOfNow,
    /// A progress report has the open work of now and the rest of its cut.
    RestOfNow,
    /// The leases within a lease are listed by name only.
    NestedWithoutBytes,
    /// A progress report that is told leaves out the leases within leases, as if nothing had been given on.
    TrimsTheSubs,
    /// A return of a lease that is not listed is taken over.
    TakesOverTheUnlisted,
    /// A commit of a lease that is not listed puts it back on the list.
    ListsTheUnlisted,
    /// What was done of dropped work stays counted.
    KeepsCountsAfterDrop,
    /// Work of one lease is added to that of another.
    MixesLeases,
    /// All processes of a site have the same incarnation.
    NoIncarnations,
    /// A return does not wait until all that was given on has arrived.
    ReturnsBeforeAcks,
    /// A return takes what has not arrived yet for open.
    ReturnsUnackedAsOpen,
    /// What is being returned still changes.
    NotFrozen,
    /// `Unknown` makes a site drop its work at once.
    DropsOnUnknown,
    /// A return is forgotten as soon as it is sent.
    ForgetsAtReturn,
    /// A site continues under a root that has begun another run, with the value to beat of the run before.
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

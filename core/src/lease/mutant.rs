//! [`LeaseMutant`]: sites that are wrong in a known way, to show that the checks notice.

/// A deliberate fault. Those that no [`super::Site`] can commit alone belong to its host: the room.
#[cfg_attr(not(any(test, feature = "faults")), allow(dead_code))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LeaseMutant {
    /// None.
    #[default]
    None,
    /// A commit tells what was done since the last one.
    Deltas,
    /// A fold leaves the lease in the list.
    FoldKeepsTheLease,
    /// A return leaves out what was given on.
    ReturnWithoutSubs,
    /// Nobody says `Missing`.
    NoMissing,
    /// Nobody asks a silent holder.
    NeverAsksAgain,
    /// A fold does not tell the holders of what was given on.
    FoldWithoutAdopt,
    /// A resumed root does not tell the holders, and never asks them.
    ResumeWithoutAdopt,
    /// A value is told without its solution.
    ValueWithoutPlan,
    /// The solution that comes with a certificate is ignored.
    IgnoresThePlan,
    /// What is given stays open here too.
    GivesAndKeeps,
    /// A certificate has the leases of now and the rest of its cut.
    SubsOfNow,
    /// A certificate has the open work of now and the rest of its cut.
    RestOfNow,
    /// The leases within a lease are listed by name only.
    NestedWithoutBytes,
    /// A certificate that is told leaves out the leases within leases, as if nothing had been given on.
    TrimsTheSubs,
    /// A return of a lease that is not listed is taken over.
    FoldsTheUnlisted,
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
        Self::FoldKeepsTheLease,
        Self::ReturnWithoutSubs,
        Self::NoMissing,
        Self::NeverAsksAgain,
        Self::FoldWithoutAdopt,
        Self::ResumeWithoutAdopt,
        Self::ValueWithoutPlan,
        Self::IgnoresThePlan,
        Self::GivesAndKeeps,
        Self::SubsOfNow,
        Self::RestOfNow,
        Self::NestedWithoutBytes,
        Self::TrimsTheSubs,
        Self::FoldsTheUnlisted,
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

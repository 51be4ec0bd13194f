//! [`Mutant`]: known faults of peers. Tests prove that the checkers catch each of them.

/// A deliberate fault of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(not(any(test, feature = "faults")), allow(dead_code))]
pub enum Mutant {
    /// No fault.
    None,
    /// The root ends after one wave instead of two.
    OneWave,
    /// Waves report that all are idle, but carry no counts.
    NoCounts,
    /// A parked request is never answered.
    ForgetsParked,
    /// A peer reports itself idle while its request is on its way.
    IdleWhileAsking,
    /// Work received is never acknowledged.
    NeverAcknowledges,
    /// Work of a new epoch is taken before the cut.
    TakesBeforeCut,
    /// A piece is forgotten before the cut that its receipt announces.
    ReleasesBeforeCut,
    /// The master does not wait until the former owner of a piece has acknowledged the loss.
    TrimsInSilence,
    /// A copy is kept although its piece is done.
    KeepsCopies,
    /// A peer that gets work joins the shared counter only after its next step.
    CountsLate,
    /// A peer leaves the shared counter although pieces that it gave are not acknowledged.
    LeavesEarly,
    /// A peer acknowledges work before it joins the shared counter.
    AcknowledgesBeforeJoining,
    /// A peer sends `Best` before it counts the message.
    SendsBeforeCounting,
    /// A better score is not passed on.
    KeepsTheBest,
    /// A score is passed on even if a better one is known.
    SpreadsAnyScore,
}

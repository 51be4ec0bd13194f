//! [`Verdict`]: whether a figure is reproduced, by the [`Outcome`]s of its claims.

use std::fmt;

/// The outcome of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The number of points at which it holds.
    pub holds: usize,
    /// The number of points at which the spread of the runs leaves open whether it holds.
    pub undecided: usize,
    /// The number of all points.
    pub points: usize,
    /// The number of its points of which a run is missing.
    pub missing: usize,
    /// The numbers at one point: the only one, or the one that is closest to failing.
    pub shown: String,
}

impl Outcome {
    /// Whether the claim holds at every point.
    fn holds_everywhere(&self) -> bool {
        self.holds == self.points
    }

    /// Whether the claim holds nowhere, beyond doubt.
    fn fails_everywhere(&self) -> bool {
        self.holds + self.undecided == 0
    }
}

/// How many claims hold, hold in part, do not hold, and were not judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClaimTally {
    pub hold: usize,
    pub partly: usize,
    pub fail: usize,
    pub unknown: usize,
}

impl ClaimTally {
    /// The tally of some claims, given their outcomes where they are known.
    pub fn of(outcomes: &[Option<Outcome>]) -> Self {
        let mut tally = Self::default();
        for outcome in outcomes {
            let kind = match outcome {
                None => &mut tally.unknown,
                Some(outcome) if outcome.holds_everywhere() => &mut tally.hold,
                Some(outcome) if outcome.fails_everywhere() => &mut tally.fail,
                Some(_) => &mut tally.partly,
            };
            *kind += 1;
        }
        tally
    }

    /// The number of claims.
    pub fn all(&self) -> usize {
        self.hold + self.partly + self.fail + self.unknown
    }
}

/// Whether a figure is reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Reproduced,
    /// All claims of the paper that could be judged hold, but some could not be judged.
    SoFar,
    Partly,
    DoesNot,
    /// Only claims that the paper does not make could be judged.
    OwnOnly,
    NotRun,
}

impl Verdict {
    /// The verdict on a figure, given the outcomes of the paper's claims and of our own.
    pub fn of(paper: &[Option<Outcome>], own: &[Option<Outcome>]) -> Self {
        match (ClaimTally::of(paper), ClaimTally::of(own)) {
            (ClaimTally { hold: 0, partly: 0, fail: 0, .. }, own) => {
                if own.unknown < own.all() {
                    Verdict::OwnOnly
                } else {
                    Verdict::NotRun
                }
            }
            (ClaimTally { partly: 0, fail: 0, .. }, _) => {
                let whole = |outcome: &Option<Outcome>| {
                    outcome.as_ref().is_some_and(|outcome| outcome.missing == 0)
                };
                if paper.iter().all(whole) { Verdict::Reproduced } else { Verdict::SoFar }
            }
            (ClaimTally { hold: 0, partly: 0, .. }, _) => Verdict::DoesNot,
            _ => Verdict::Partly,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Reproduced => "reproduced",
            Verdict::SoFar => "reproduced so far",
            Verdict::Partly => "partly reproduced",
            Verdict::DoesNot => "not reproduced",
            Verdict::OwnOnly => "only our own claims judged",
            Verdict::NotRun => "not run",
        })
    }
}

impl fmt::Display for ClaimTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} hold", self.hold, self.all())?;
        let others =
            [(self.partly, "hold in part"), (self.fail, "fail"), (self.unknown, "not run")];
        others.iter().filter(|(n, _)| *n > 0).try_for_each(|(n, kind)| write!(f, ", {n} {kind}"))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { holds, undecided, points, missing, shown } = self;
        match (*holds, *undecided, *points) {
            (1, _, 1) => write!(f, "holds: {shown}")?,
            (_, 1, 1) => write!(f, "undecided within the spread: {shown}")?,
            (_, _, 1) => write!(f, "does not hold: {shown}")?,
            (holds, _, points) if holds == points => {
                write!(f, "holds at all {points} points; closest: {shown}")?;
            }
            (holds, undecided, points) => {
                match holds {
                    0 => write!(f, "holds at none of {points} points")?,
                    _ => write!(f, "holds at {holds} of {points} points")?,
                }
                if undecided > 0 {
                    write!(f, ", undecided within the spread at {undecided}")?;
                }
                write!(f, "; farthest: {shown}")?;
            }
        }
        if *missing > 0 { write!(f, " ({missing} not measured completely)") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(holds: usize, undecided: usize, points: usize) -> Option<Outcome> {
        Some(Outcome { holds, undecided, points, missing: 0, shown: "1 2".into() })
    }

    #[test]
    fn a_verdict_needs_every_claim_of_the_paper() {
        let verdict = |paper: &[Option<Outcome>]| Verdict::of(paper, &[outcome(0, 0, 1)]);
        let held = |holds, points| outcome(holds, 0, points);
        assert_eq!(verdict(&[held(2, 2), held(1, 1)]), Verdict::Reproduced);
        assert_eq!(verdict(&[held(2, 2), None, held(1, 1)]), Verdict::SoFar);
        assert_eq!(verdict(&[held(2, 2), held(0, 1)]), Verdict::Partly);
        assert_eq!(verdict(&[held(1, 2)]), Verdict::Partly);
        assert_eq!(verdict(&[held(0, 2)]), Verdict::DoesNot);
        let unfinished = held(2, 2).map(|outcome| Outcome { missing: 1, ..outcome });
        assert_eq!(verdict(&[unfinished]), Verdict::SoFar);
    }

    #[test]
    fn an_undecided_claim_holds_in_part() {
        let verdict = |paper: &[Option<Outcome>]| Verdict::of(paper, &[]);
        assert_eq!(verdict(&[outcome(0, 1, 1)]), Verdict::Partly);
        assert_eq!(verdict(&[outcome(1, 0, 1), outcome(0, 1, 2)]), Verdict::Partly);
        assert_eq!(verdict(&[outcome(0, 0, 1), outcome(0, 1, 1)]), Verdict::Partly);
    }

    #[test]
    fn our_own_claims_reproduce_nothing() {
        let own = [outcome(1, 0, 1)];
        assert_eq!(Verdict::of(&[], &own), Verdict::OwnOnly);
        assert_eq!(Verdict::of(&[None], &own), Verdict::OwnOnly);
        assert_eq!(Verdict::of(&[None], &[None]), Verdict::NotRun);
        assert_eq!(Verdict::of(&[], &[]), Verdict::NotRun);
        assert_eq!(Verdict::of(&[outcome(0, 0, 1)], &own), Verdict::DoesNot);
    }

    #[test]
    fn claims_are_counted_by_kind() {
        let all = [outcome(1, 0, 1), outcome(1, 0, 3), outcome(0, 1, 1), outcome(0, 0, 2), None];
        let tally = ClaimTally::of(&all);
        assert_eq!(tally, ClaimTally { hold: 1, partly: 2, fail: 1, unknown: 1 });
        assert_eq!(tally.to_string(), "1 of 5 hold, 2 hold in part, 1 fail, 1 not run");
        assert_eq!(ClaimTally::of(&all[..1]).to_string(), "1 of 1 hold");
    }

    #[test]
    fn an_outcome_names_what_the_spread_leaves_open() {
        let words =
            |holds, undecided, points| outcome(holds, undecided, points).unwrap().to_string();
        assert_eq!(words(1, 0, 1), "holds: 1 2");
        assert_eq!(words(0, 1, 1), "undecided within the spread: 1 2");
        assert_eq!(words(0, 0, 1), "does not hold: 1 2");
        assert_eq!(words(3, 0, 3), "holds at all 3 points; closest: 1 2");
        assert_eq!(words(0, 0, 3), "holds at none of 3 points; farthest: 1 2");
        let open = "holds at 1 of 3 points, undecided within the spread at 2; farthest: 1 2";
        assert_eq!(words(1, 2, 3), open);
    }
}

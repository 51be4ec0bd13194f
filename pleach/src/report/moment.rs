//! [`Moment`]: the best value and the bound of a search at some time.

use pleach_runtime::ProgressSnapshot;

/// The best value and the bound at some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Since the search began, excluding preparation.
    pub seconds: f64,
    /// The value of the best solution.
    pub best: Option<i64>,
    /// The bound that no solution can beat.
    pub bound: Option<i64>,
}

/// The maximum number of moments that are kept.
const MOMENTS: usize = 4096;

impl Moment {
    /// The moment of a progress snapshot.
    pub fn of(snapshot: &ProgressSnapshot) -> Self {
        Self { seconds: snapshot.seconds, best: snapshot.best, bound: snapshot.bound }
    }
}

/// Keeps a moment at which something changed; if there are too many, drops every other one.
pub fn note(moments: &mut Vec<Moment>, moment: Moment) {
    let values = |moment: &Moment| (moment.best, moment.bound);
    if moments.last().is_some_and(|last| values(last) == values(&moment)) {
        return;
    }
    if moments.len() == MOMENTS {
        // The first one stays.
        let mut odd = false;
        moments.retain(|_| {
            odd = !odd;
            odd
        });
    }
    moments.push(moment);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_are_kept_and_not_too_many() {
        let mut moments = Vec::new();
        for i in 0..20_000i64 {
            let moment = Moment { seconds: i as f64, best: Some(9), bound: Some(i / 2) };
            note(&mut moments, moment);
        }
        assert!((MOMENTS / 2..=MOMENTS).contains(&moments.len()));
        assert!(moments.is_sorted_by(|a, b| a.seconds < b.seconds && a.bound < b.bound));
        // A trace used to lose its start.
        assert_eq!((moments[0].seconds, moments[moments.len() - 1].bound), (0.0, Some(9_999)));
    }
}

//! Lets models trim work, which `master-worker:late` needs.

use super::model;
use super::work_set::{Set, WorkSet};
use pleach_core::steal::late::LateEffects;

/// A model whose pieces are runs of units.
pub(super) type RunModel = model::Model<UnitRun>;

/// A run of units, done in order: the work of a model with late giving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct UnitRun {
    from: u8,
    to: u8,
}

impl WorkSet for UnitRun {
    const EXACT: bool = false;

    /// All empty runs are equal.
    fn range(from: u8, to: u8) -> Self {
        if from < to { Self { from, to } } else { Self::default() }
    }

    fn set(&self) -> Set {
        Set::range(self.from, self.to)
    }

    fn pop(&mut self) -> u8 {
        let unit = self.from;
        *self = Self::range(unit + 1, self.to);
        unit
    }

    fn split(&mut self, units: u8) -> Self {
        let middle = self.to - units;
        let given = Self::range(middle, self.to);
        *self = Self::range(self.from, middle);
        given
    }

    fn put(&mut self, more: Self) {
        assert!(self.from == self.to, "already holds a run");
        *self = more;
    }

    /// The difference is a run because the other one reaches beyond one end.
    fn without(&self, other: &Self) -> Self {
        if other.from <= self.from {
            Self::range(self.from.max(other.to), self.to)
        } else {
            Self::range(self.from, self.to.min(other.from))
        }
    }
}

impl<P: WorkSet> LateEffects<P, String> for model::ModelEffects<'_, P> {
    fn copy(&mut self) -> Result<P, String> {
        Ok(self.state.units[self.me].clone())
    }

    fn split_copy(&mut self, copy: &P, share: f64) -> Result<(P, Option<P>), String> {
        let mut left = copy.clone();
        let units = pleach_core::search::work::portion(share, left.len().into()) as u8;
        let refuses = self.state.stubborn && left.len() == 2;
        let given = (units > 0 && !refuses).then(|| left.split(units));
        Ok((left, given))
    }

    fn intersect(&mut self, copy: &P, left: &P) -> Result<P, String> {
        // Some of what is left may have been given away since.
        let both = copy.without(&copy.without(left));
        Ok(if self.state.believes { left.clone() } else { both })
    }

    fn trim(&mut self, away: &P) -> Result<(), String> {
        let before = self.state.units[self.me].clone();
        self.state.units[self.me] = before.without(away);
        let twice = away.without(&before).set();
        let lost = twice.minus(&self.state.done.units);
        if let Some(unit) = lost.first() {
            return Err(format!("unit {unit} was trimmed but is not done"));
        }
        self.state.done.said += twice.len();
        self.state.changed();
        Ok(())
    }
}

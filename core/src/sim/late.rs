//! What `master-worker:late` needs of rooms and of simulated clusters: work that can be trimmed.

use super::load::{Hand, Load};
use super::pile::{Pile, Set};
use super::{room, seat};
use crate::balance::late::LateEffects;
use crate::work::Work;
use std::sync::Arc;

/// A room whose pieces are runs of units.
pub(super) type Strips = room::Room<Strip>;

/// A run of units, done in order: the work of a room in which pieces are given late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Strip {
    from: u8,
    to: u8,
}

impl Pile for Strip {
    const EXACT: bool = false;

    /// All empty ones are the same.
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
        assert!(self.from == self.to, "a second strip");
        *self = more;
    }

    /// What remains is a run, since the other one reaches beyond one end.
    fn without(&self, other: &Self) -> Self {
        if other.from <= self.from {
            Self::range(self.from.max(other.to), self.to)
        } else {
            Self::range(self.from, self.to.min(other.from))
        }
    }
}

impl<P: Pile> LateEffects for room::Seat<'_, P> {
    fn copy(&mut self) -> Result<P, String> {
        Ok(self.floor.units[self.me].clone())
    }

    fn split_copy(&mut self, copy: &P, share: f64) -> Result<(P, Option<P>), String> {
        let mut left = copy.clone();
        let units = crate::work::portion(share, left.len().into()) as u8;
        let refuses = self.floor.stubborn && left.len() == 2;
        let given = (units > 0 && !refuses).then(|| left.split(units));
        Ok((left, given))
    }

    fn intersect(&mut self, copy: &P, left: &P) -> Result<P, String> {
        // Of what is left, some may have been given away since.
        let both = copy.without(&copy.without(left));
        Ok(if self.floor.believes { left.clone() } else { both })
    }

    fn trim(&mut self, away: &P) -> Result<(), String> {
        let before = self.floor.units[self.me].clone();
        self.floor.units[self.me] = before.without(away);
        let twice = away.without(&before).set();
        let lost = twice.minus(&self.floor.done.units);
        if let Some(unit) = lost.first() {
            return Err(format!("unit {unit} was nowhere, and is not done"));
        }
        self.floor.done.said += twice.len();
        self.floor.changed();
        Ok(())
    }
}

impl<L: Load> seat::Seat<'_, '_, L> {
    /// Empty hands that take this work.
    fn holding(&self, work: &Work) -> Result<L::Hand, String> {
        let mut hand = self.floor.load.hand();
        if !work.bytes.is_empty() {
            hand.put(&work.bytes).map_err(|why| format!("a copy cannot be read: {why}"))?;
        }
        Ok(hand)
    }

    /// What is in one and not in the other.
    fn without(&self, work: &Work, other: &Work) -> Result<L::Hand, String> {
        let mut hand = self.holding(work)?;
        if !other.bytes.is_empty() {
            hand.trim(&other.bytes).map_err(|why| format!("a copy cannot be trimmed: {why}"))?;
        }
        Ok(hand)
    }
}

impl<L: Load> LateEffects for seat::Seat<'_, '_, L> {
    fn copy(&mut self) -> Result<Arc<Work>, String> {
        Ok(Arc::new(self.hand().copy()))
    }

    fn split_copy(
        &mut self,
        copy: &Arc<Work>,
        share: f64,
    ) -> Result<(Arc<Work>, Option<Arc<Work>>), String> {
        let mut hand = self.holding(copy)?;
        let given = hand.split(share).map(Arc::new);
        Ok((Arc::new(hand.copy()), given))
    }

    fn intersect(&mut self, copy: &Arc<Work>, left: &Arc<Work>) -> Result<Arc<Work>, String> {
        let done = self.without(copy, left)?.copy();
        Ok(Arc::new(self.without(copy, &done)?.copy()))
    }

    /// What is not there any more has been done, and will be done again. To find out what that is, it is
    /// done once more, aside.
    fn trim(&mut self, away: &Arc<Work>) -> Result<(), String> {
        let hand = self.hand();
        let (before, best) = (hand.copy(), hand.best());
        hand.trim(&away.bytes).map_err(|why| format!("work cannot be trimmed: {why}"))?;
        let works = hand.size() > 0.0;
        self.floor.checker.works(self.me, works);
        let mut twice = self.without(away, &before)?;
        twice.beat(best);
        while twice.size() > 0.0 {
            twice.run(1 << 30);
        }
        self.floor.checker.on_twice(&twice.done());
        Ok(())
    }
}

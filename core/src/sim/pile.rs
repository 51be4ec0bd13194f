//! [`Pile`]: the countable work of a room: units that are all alike, or a run of numbered ones.

use std::fmt::Debug;
use std::hash::Hash;

/// What has been done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Tally {
    /// Different units done.
    pub once: u8,
    /// Units done that had been done before.
    pub again: u8,
    /// Units of which it was said that they were done and given away all the same.
    pub said: u8,
    /// Which units were done, a bit each, where they have numbers.
    which: u32,
}

/// The units in one pair of hands.
pub(super) trait Pile: Clone + Debug + Default + Eq + Hash {
    /// All units.
    fn whole(units: u8) -> Self;

    /// How many there are.
    fn len(&self) -> u8;

    /// Does one, of one or more.
    fn step(&mut self, tally: &mut Tally);

    /// Gives so many away.
    fn split(&mut self, units: u8) -> Self;

    /// Takes up others.
    fn put(&mut self, more: Self);

    /// What is here and not there.
    fn without(&self, other: &Self) -> Self;

    /// Whether all of them have been done, as far as can be told.
    fn done(&self, tally: &Tally) -> bool;
}

/// Units that are all alike.
impl Pile for u8 {
    fn whole(units: u8) -> Self {
        units
    }

    fn len(&self) -> u8 {
        *self
    }

    fn step(&mut self, tally: &mut Tally) {
        *self -= 1;
        tally.once += 1;
    }

    fn split(&mut self, units: u8) -> Self {
        *self -= units;
        units
    }

    fn put(&mut self, more: Self) {
        *self += more;
    }

    fn without(&self, other: &Self) -> Self {
        self.saturating_sub(*other)
    }

    fn done(&self, _: &Tally) -> bool {
        true
    }
}

/// Units from one number to before another, done in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Strip {
    from: u8,
    to: u8,
}

impl Strip {
    /// All empty ones are the same.
    fn new(from: u8, to: u8) -> Self {
        if from < to { Self { from, to } } else { Self::default() }
    }
}

impl Pile for Strip {
    fn whole(units: u8) -> Self {
        assert!(units <= 32, "a bit for each of {units} units");
        Self::new(0, units)
    }

    fn len(&self) -> u8 {
        self.to - self.from
    }

    fn step(&mut self, tally: &mut Tally) {
        let bit = 1 << self.from;
        if tally.which & bit == 0 {
            tally.once += 1
        } else {
            tally.again += 1
        }
        tally.which |= bit;
        *self = Self::new(self.from + 1, self.to);
    }

    fn split(&mut self, units: u8) -> Self {
        let middle = self.to - units;
        let given = Self::new(middle, self.to);
        *self = Self::new(self.from, middle);
        given
    }

    fn put(&mut self, more: Self) {
        assert!(self.len() == 0, "a second strip");
        *self = more;
    }

    /// What remains is a run: the other one reaches beyond one end.
    fn without(&self, other: &Self) -> Self {
        if other.from <= self.from {
            Self::new(self.from.max(other.to), self.to)
        } else {
            Self::new(self.from, self.to.min(other.from))
        }
    }

    fn done(&self, tally: &Tally) -> bool {
        (self.from..self.to).all(|unit| tally.which & 1 << unit != 0)
    }
}

//! [`WorkSet`]: the countable work of a model. Units have numbers, so that a unit lost and another done twice cannot
//! cancel out.

use std::fmt::Debug;
use std::hash::{Hash, Hasher};

/// The maximum number of units of a model.
const MOST: usize = 256;

/// A set of numbered units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Set([u64; MOST / 64]);

/// Most models have few units, so only nonempty words are hashed.
impl Hash for Set {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for (at, &word) in self.0.iter().enumerate().filter(|(_, word)| **word != 0) {
            state.write_u64(word.rotate_left(at as u32 * 7));
        }
        state.write_u8(0xff);
    }
}

impl Set {
    /// The units with numbers in `from..to`.
    pub fn range(from: u8, to: u8) -> Self {
        let mut set = Self::default();
        (from..to).for_each(|unit| set.insert(unit));
        set
    }

    pub fn insert(&mut self, unit: u8) {
        self.0[usize::from(unit) / 64] |= 1 << (unit % 64);
    }

    pub fn has(&self, unit: u8) -> bool {
        self.0[usize::from(unit) / 64] >> (unit % 64) & 1 == 1
    }

    pub fn len(&self) -> u8 {
        self.0.iter().map(|word| word.count_ones()).sum::<u32>() as u8
    }

    pub fn first(&self) -> Option<u8> {
        let (at, word) = self.0.iter().enumerate().find(|(_, word)| **word != 0)?;
        Some((at as u32 * 64 + word.trailing_zeros()) as u8)
    }

    fn last(&self) -> Option<u8> {
        let (at, word) = self.0.iter().enumerate().rfind(|(_, word)| **word != 0)?;
        Some((at as u32 * 64 + 63 - word.leading_zeros()) as u8)
    }

    fn zip(&self, other: &Self, word: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|at| word(self.0[at], other.0[at])))
    }

    pub fn and(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    pub fn minus(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    fn or(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
}

/// Adds up sets that must be disjoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Account {
    all: Set,
    twice: Set,
}

impl Account {
    pub fn add(&mut self, units: &Set) {
        let both = self.all.and(units);
        *self = Self { all: self.all.or(units), twice: self.twice.or(&both) };
    }

    /// Whether every unit of the whole was added exactly once.
    ///
    /// # Errors
    /// Which units are missing, and which were added twice.
    pub fn close(&self, whole: u8) -> Result<(), String> {
        let lost = Set::range(0, whole).minus(&self.all);
        match (lost.first(), self.twice.first()) {
            (None, None) => Ok(()),
            (lost, twice) => Err(format!("unit lost: {lost:?}, unit twice: {twice:?}")),
        }
    }
}

/// The work done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct UnitsDone {
    /// The units done.
    pub units: Set,
    /// Units done again.
    pub again: u8,
    /// Units that owners reported as done although they had been given away.
    pub said: u8,
}

impl UnitsDone {
    pub fn note(&mut self, unit: u8) {
        self.again += u8::from(self.units.has(unit));
        self.units.insert(unit);
    }
}

/// The units that a peer holds.
pub(super) trait WorkSet: Clone + Debug + Default + Eq + Hash {
    /// Whether units must never be in two places at once.
    const EXACT: bool;

    /// The units with numbers in `from..to`.
    fn range(from: u8, to: u8) -> Self;

    /// The units of the set.
    fn set(&self) -> Set;

    /// Removes the next unit, of one or more.
    fn pop(&mut self) -> u8;

    /// Splits a number of units off.
    fn split(&mut self, units: u8) -> Self;

    /// Adds units.
    fn put(&mut self, more: Self);

    /// The units that are not in `other`.
    fn without(&self, other: &Self) -> Self;

    /// The number of units.
    fn len(&self) -> u8 {
        self.set().len()
    }
}

/// Any units; the last ones are given away.
impl WorkSet for Set {
    const EXACT: bool = true;

    fn range(from: u8, to: u8) -> Self {
        Set::range(from, to)
    }

    fn set(&self) -> Set {
        *self
    }

    fn pop(&mut self) -> u8 {
        let unit = self.first().expect("a unit");
        *self = self.minus(&Set::range(unit, unit + 1));
        unit
    }

    fn split(&mut self, units: u8) -> Self {
        let mut given = Set::default();
        for _ in 0..units {
            let unit = self.last().expect("enough units");
            given.insert(unit);
            *self = self.minus(&given);
        }
        given
    }

    fn put(&mut self, more: Self) {
        *self = self.or(&more);
    }

    fn without(&self, other: &Self) -> Self {
        self.minus(other)
    }
}

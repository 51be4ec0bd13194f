//! [`Bits`]: work of a few numbered units, so that leases can be compared as sets.

use pleach_core::lease::Content;

/// The units that are done and those that are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Bits {
    pub done: u8,
    pub open: u8,
    /// Units that were added although they were already there, which breaks a law.
    pub twice: u8,
}

impl Bits {
    pub fn open(open: u8) -> Self {
        Self { open, ..Self::default() }
    }

    /// All its units.
    pub fn all(&self) -> u8 {
        self.done | self.open
    }

    /// Removes the last `count` open units.
    pub fn take(&mut self, count: u32) -> Self {
        let mut taken = 0;
        for _ in 0..count.min(self.open.count_ones()) {
            let last = 1 << self.open.ilog2();
            self.open ^= last;
            taken |= last;
        }
        Self::open(taken)
    }
}

impl Content for Bits {
    fn add(&mut self, other: &Self) {
        self.twice |= other.twice | self.all() & other.all();
        self.done |= other.done;
        self.open |= other.open;
    }

    fn has_open(&self) -> bool {
        self.open != 0
    }

    fn bytes(&self) -> u64 {
        1
    }
}

//! [`Chooser`]: where the protocol's free choices come from.

/// Makes a free choice: by chance in a run, one after the other in an enumeration.
pub trait Chooser {
    /// A number below `n`, which is at least 1.
    fn choose(&mut self, n: u32) -> u32;
}

/// Choices by a seeded generator.
#[derive(Clone, Debug)]
pub struct Seeded(oorandom::Rand32);

impl Seeded {
    /// Choices of one peer of a run; peers of one run differ.
    #[must_use]
    pub fn new(seed: u64, peer: super::PeerId) -> Self {
        Self(oorandom::Rand32::new_inc(seed, u64::from(peer)))
    }
}

impl Chooser for Seeded {
    fn choose(&mut self, n: u32) -> u32 {
        self.0.rand_range(0..n)
    }
}

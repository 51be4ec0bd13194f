//! [`Chooser`]: the source of the protocol's free choices.

/// Makes a free choice: at random in a run, each in turn in an enumeration.
pub trait Chooser {
    /// A number below `n`, which is at least 1.
    fn choose(&mut self, n: u32) -> u32;
}

/// Choices made by a seeded generator.
#[derive(Clone, Debug)]
pub struct SeededChooser(oorandom::Rand32);

impl SeededChooser {
    /// The choices of one peer; the peers of a run choose differently.
    #[must_use]
    pub fn new(seed: u64, peer: super::PeerId) -> Self {
        Self(oorandom::Rand32::new_inc(seed, u64::from(peer)))
    }
}

impl Chooser for SeededChooser {
    fn choose(&mut self, n: u32) -> u32 {
        self.0.rand_range(0..n)
    }
}

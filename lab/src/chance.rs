//! Stateless random numbers: the same words always give the same number, in any order of calls; and drawing by weight.

use pleach_core::steal::Chooser;

/// Hashes three words into one that looks random.
#[must_use]
pub fn mix(seed: u64, a: u64, b: u64) -> u64 {
    let mut word = seed;
    for part in [a, b] {
        word = (word ^ part).wrapping_add(0x9e37_79b9_7f4a_7c15);
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
    }
    word
}

/// Draws one by its weight; `None` if all weights are 0.
pub fn draw<T>(chooser: &mut dyn Chooser, all: Vec<T>, weight: impl Fn(&T) -> u32) -> Option<T> {
    let total: u32 = all.iter().map(&weight).sum();
    if total == 0 {
        return None;
    }
    let mut drawn = chooser.choose(total);
    all.into_iter().find(|one| {
        let weight = weight(one);
        let here = drawn < weight;
        drawn = drawn.wrapping_sub(weight);
        here
    })
}

/// A number in [0, 1).
#[must_use]
pub fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1u64 << 53) as f64
}

/// An exponentially distributed number with mean 1.
#[must_use]
pub fn exponential(word: u64) -> f64 {
    -(1.0 - unit(word)).ln()
}

//! [`Squeeze`]: the bits of sets at the places of one set, moved to the front.

/// What moves the bits, word by word.
pub(super) struct Squeeze(Vec<Word>);

/// What moves the bits of a word (Warren, Hacker's Delight, 2012, section 7-4).
struct Word {
    /// The bits that are kept, and for each power of two those that move down by it.
    set: u64,
    steps: [u64; 6],
    /// Where the first of them goes, among the bits of all words.
    place: usize,
}

impl Squeeze {
    /// Moves the bits at the places of `set`.
    pub fn new(set: &[u64]) -> Self {
        let mut next = 0;
        let word = |&set: &u64| {
            let place = next;
            next += set.count_ones() as usize;
            Word { set, steps: steps(set), place }
        };
        Self(set.iter().map(word).collect())
    }

    /// The kept bits of a set, in order; those beyond `U` words are dropped.
    #[inline]
    pub fn apply<const U: usize>(&self, bits: &[u64]) -> [u64; U] {
        let mut out = [0; U];
        for (word, bits) in self.0.iter().zip(bits) {
            let packed = word.apply(*bits);
            let (at, shift) = (word.place / 64, word.place % 64);
            if let Some(out) = out.get_mut(at) {
                *out |= packed << shift;
            }
            if let Some(out) = out.get_mut(at + 1) {
                *out |= packed >> 1 >> (63 - shift);
            }
        }
        out
    }
}

impl Word {
    #[inline]
    fn apply(&self, bits: u64) -> u64 {
        self.steps.iter().enumerate().fold(bits & self.set, |bits, (at, step)| {
            let moved = bits & step;
            bits ^ moved | moved >> (1 << at)
        })
    }
}

/// For each power of two, the bits that it moves.
fn steps(mut set: u64) -> [u64; 6] {
    // The places with a gap right before them.
    let mut gaps = !set << 1;
    std::array::from_fn(|at| {
        // Those with an odd number of these gaps up to them.
        let odd = (0..6).fold(gaps, |odd, power| odd ^ odd << (1 << power));
        let step = odd & set;
        set = set ^ step | step >> (1 << at);
        gaps &= !odd;
        step
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use oorandom::Rand64;

    #[test]
    fn bits_move_to_the_front_in_order() {
        let mut rng = Rand64::new(1);
        let mut word = || match rng.rand_range(0..5) {
            0 => 0,
            1 => u64::MAX,
            2 => rng.rand_u64() & rng.rand_u64() & rng.rand_u64(),
            _ => rng.rand_u64(),
        };
        for _ in 0..2000 {
            let (set, bits): ([u64; 3], [u64; 3]) =
                ([word(), word(), word()], [word(), word(), word()]);
            let mut expected = [0; 3];
            let places = (0..192).filter(|at| set[at / 64] >> (at % 64) & 1 == 1);
            for (to, from) in places.enumerate() {
                expected[to / 64] |= (bits[from / 64] >> (from % 64) & 1) << (to % 64);
            }
            assert_eq!(Squeeze::new(&set).apply(&bits), expected, "{set:x?} {bits:x?}");
        }
    }
}

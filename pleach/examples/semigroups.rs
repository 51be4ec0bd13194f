//! Counts the numerical semigroups of a genus: `cargo run --release --example semigroups -- 30`.
//!
//! A numerical semigroup is a set of numbers from 0 up that is closed under addition and lacks only finitely many
//! numbers, its gaps. The genus is the number of gaps. Let c be the least number from which on all are elements.
//! Removing a generator from c up leaves a semigroup with one more gap, and each arises exactly once in this way.
//!
//! Seeds show the generators (Bras-Amorós and Fernández-González, 2018). Let e be an element below c, and f the next
//! one. Then c + s is a seed of e if e + c + s is no sum of two elements between e and c + s, which requires s < f - e.
//! The seeds of 0 are the generators. When c + s goes, the seeds above it stay, and f + c + s - e becomes a seed of e
//! if c + s was one of f. Shifting the bits e + s of all seeds does both at once, once bits that cross an element on the
//! way are cleared, except for those that just reach their new row. The last three bits are seeds of new elements.
use pleach::{Children, Goal, Tree};

struct Semigroups {
    genus: u32,
}

impl Tree for Semigroups {
    type Node = (u128, u128); // the elements above 0, and the seeds
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> Self::Node {
        (!0b11, 0b11) // without 1
    }

    fn expand(&self, &(elements, seeds): &Self::Node, _: Option<i64>, out: &mut Children<Self>) {
        let gaps = elements.count_zeros() - 1;
        if gaps >= self.genus {
            return out.count(1);
        }
        let (least, c) = (elements.trailing_zeros(), 128 - elements.leading_ones());
        if gaps + 3 == self.genus && second(elements) < c {
            return count_three_generations(elements, seeds, out);
        }
        // Bit q: whether the numbers from q + 2 up, as many as the width, are no elements.
        let (mut no_element, mut width) = (!elements >> 2, 1);
        for s in bits(row(seeds, 0, least)) {
            while width < s {
                let more = width.min(s - width);
                no_element &= no_element >> more;
                width += more;
            }
            let kept = if s == 0 { seeds >> 1 } else { seeds >> (s + 1) & no_element };
            out.child((elements & !(1 << (c + s)), kept | 0b111 << (c + s - 2)));
        }
    }
}

/// Counts children, their children, and the children of those by the seeds of the first three elements.
#[inline]
fn count_three_generations(elements: u128, seeds: u128, out: &mut Children<Semigroups>) {
    let (least, second) = (elements.trailing_zeros(), second(elements));
    let third = second + 1 + (elements >> second >> 1).trailing_zeros();
    let of_0 = row(seeds, 0, least);
    let of_least = row(seeds, least, second);
    let of_second = row(seeds, second, third);
    let (mut nodes, mut last) = (0, 0);
    for s in bits(of_0) {
        let child_of_0 = of_0 >> s >> 1 | (of_least >> s & 1) << (least - 1);
        let child_of_least = of_least >> s >> 1 | (of_second >> s & 1) << (second - least - 1);
        let children = u64::from(child_of_0.count_ones());
        // Its first child keeps all other generators, and its last child none of them.
        let new = u64::from((child_of_0 & child_of_least).count_ones());
        let theirs = children * children.saturating_sub(1) / 2 + new;
        nodes += 1 + children;
        last += theirs;
    }
    out.leaves(nodes + last);
    out.count(last);
}

/// The second element above 0.
fn second(elements: u128) -> u32 {
    (elements & (elements - 1)).trailing_zeros()
}

/// The seeds of the element e, the next of which is f.
fn row(seeds: u128, e: u32, f: u32) -> u64 {
    (seeds >> e & ((1 << (f - e)) - 1)) as u64
}

/// The places of the ones, from the lowest up.
fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let place = (word != 0).then(|| word.trailing_zeros());
        word &= word.wrapping_sub(1);
        place
    })
}

fn main() -> std::process::ExitCode {
    let words = pleach::words();
    let genus = if let [word] = &words[..] { word.parse().ok() } else { None };
    let genus = genus.filter(|genus| (0..=64).contains(genus));
    pleach::main(genus.map(|genus| Semigroups { genus }).ok_or("expected a genus from 0 to 64"))
}

//! Counts the numerical semigroups of a genus: `cargo run --release --example semigroups -- 30`.
//!
//! A numerical semigroup is a set of numbers from 0 up that is closed under addition and lacks only finitely many
//! numbers, its gaps. The genus is the number of gaps. Removing a generator beyond the largest gap leaves a semigroup
//! with one more gap, and each semigroup arises exactly once in this way (Fromentin and Hivert, 2016). When x goes, the
//! other generators stay, and x + m may become one, where m is the least element above 0: if it is no other sum.
use pleach::{Children, Goal, Tree};

struct Semigroups {
    genus: u32,
}

impl Tree for Semigroups {
    type Node = (u128, u128); // the elements above 0, and the generators beyond the largest gap
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> Self::Node {
        (!1, 0b10)
    }

    fn expand(&self, node: &Self::Node, _: Option<i64>, out: &mut Children<Self>) {
        if self.genus < 2 {
            return out.count(1);
        }
        let &(elements, generators) = node;
        let (least, gaps) = (elements.trailing_zeros(), elements.count_zeros() - 1);
        let (shifted, mirrored) = (elements >> least, elements.reverse_bits());
        let mut rest = generators;
        while rest != 0 {
            let x = rest.trailing_zeros();
            rest &= rest - 1;
            // The a for which least + a and x - a are elements, among them 0 and x - least.
            let sums = shifted & mirrored >> (127 - x);
            let new = if x == least {
                0b11 << (2 * x) // all numbers above x are left, and those up to 2x + 1 generate them
            } else if sums == 1 | 1 << (x - least) {
                1 << (x + least)
            } else {
                0
            };
            if gaps + 2 < self.genus {
                out.child((elements & !(1 << x), rest | new));
            } else {
                // Its children have the genus, and are only counted.
                let children = (rest | new).count_ones().into();
                out.leaves(1 + children);
                out.count(children);
            }
        }
    }
}

fn main() -> std::process::ExitCode {
    let words = pleach::words();
    let genus = if let [word] = &words[..] { word.parse().ok() } else { None };
    let genus = genus.filter(|genus| (0..=64).contains(genus));
    pleach::main(genus.map(|genus| Semigroups { genus }).ok_or("expected a genus from 0 to 64"))
}

//! Counts the numerical semigroups of a genus: `cargo run --release --example semigroups -- 30`.
//!
//! A numerical semigroup is a set of numbers from 0 up that is closed under addition and lacks only finitely many
//! numbers, its gaps. The genus is the number of gaps. Removing a generator beyond the largest gap leaves a semigroup
//! with one more gap, and each semigroup arises so exactly once (Fromentin and Hivert, 2016). When x goes, the other
//! generators stay, and x + m may become one, where m is the least element above 0: if x + m is no other sum.
use pleach::{Children, Goal, Tree};

struct Semigroups {
    genus: u8,
}

impl Tree for Semigroups {
    /// The elements above 0, those that are generators beyond the largest gap, the least of all, and the genus.
    type Node = (u128, u128, u8, u8);
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> Self::Node {
        (!1, 0b10, 1, 0)
    }

    fn expand(&self, node: &Self::Node, _: Option<i64>, out: &mut Children<Self>) {
        let &(elements, generators, least, genus) = node;
        if genus + 1 >= self.genus {
            out.leaves(generators.count_ones().into());
            return out.count(if genus < self.genus { generators.count_ones().into() } else { 1 });
        }
        let (shifted, mirrored) = (elements >> least, elements.reverse_bits());
        let mut rest = generators;
        while rest != 0 {
            let x = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            let without = elements & !(1 << x);
            if x == least {
                // All numbers above x are left: those up to 2x + 1 generate them.
                out.child((without, rest | 0b11 << (2 * x), least + 1, genus + 1));
            } else {
                // The a > 0 such that least + a and x - a are elements, among them 0 and x - least.
                let sums = shifted & mirrored >> (127 - x);
                let new = if sums.count_ones() == 2 { 1 << (x + least) } else { 0 };
                out.child((without, rest | new, least, genus + 1));
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

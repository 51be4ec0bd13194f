//! Nodes of unbalanced trees in device memory: eight words each.

use super::tree::{Node, Uts};
use pleach_core::search::device::{Layout, OnDevice};
use pleach_core::search::tree::read;
use pleach_core::search::work::{Entry, Malformed, Nodes, Pool, Work};

const WORDS: usize = 8;

/// Depths for which a device reserves room if a tree has no depth limit.
const DEPTHS: u32 = 1024;

impl Uts {
    /// What the kernel does not support in this tree, if anything: it uses integers only.
    pub(super) fn fits_device(&self) -> Result<(), &'static str> {
        match self.parameters.g {
            1 if self.rules.complete() => Ok(()),
            1 => Err("trees of unlimited depth"),
            _ => Err("hashes that are computed more than once"),
        }
    }
}

impl OnDevice for Uts {
    fn layout(&self) -> Layout {
        let rules = &self.rules;
        let balanced = rules.balanced().map_or(0, |children| children + 1);
        let depths = rules.row_of.len() as u32;
        let rows = rules.rows.iter().flatten();
        Layout {
            kernel: "uts",
            parallel: None,
            sizes: vec![rules.binomial_from, rules.below, rules.m, rules.limit, balanced, depths],
            values: Vec::new(),
            nodes: Nodes::Pool,
            words: WORDS,
            plan: 0,
            // A lane makes one child at a time, and pushes at most one node.
            width: 32,
            depth: rules.limit.min(DEPTHS) as usize,
            tables: rules.row_of.iter().chain(rows).copied().collect(),
        }
    }

    fn to_words(&self, work: &[u8], words: &mut Vec<u32>) -> Result<(), Malformed> {
        for Entry { node, .. } in read(self, work)?.into_entries() {
            words.extend(node.state);
            words.extend([node.depth, node.left, node.fresh.into()]);
        }
        Ok(())
    }

    fn to_work(&self, words: &[u32]) -> Work {
        let entry = |words: &[u32]| {
            let (state, rest) = words.split_first_chunk().expect("nodes of eight words");
            let (depth, left, fresh) = (rest[0], rest[1], rest[2] != 0);
            let node = Node { state: *state, depth, left, fresh };
            Entry { bound: i64::MIN, depth, share: 0.0, node }
        };
        Pool::new(words.chunks_exact(WORDS).map(entry).collect()).to_work()
    }

    fn bound(&self, _node: &[u32]) -> i64 {
        i64::MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Level;
    use crate::uts::parameters::Parameters;
    use oorandom::Rand64;
    use pleach_core::search::laws::{mutate, open_work_after};
    use pleach_core::search::problem::Problem;

    fn tree(words: &str) -> Uts {
        Uts::new(Parameters::parse(words).unwrap(), Level::best())
    }

    fn nodes(uts: &Uts, work: &[u8]) -> Vec<Node> {
        read(uts, work).unwrap().into_entries().into_iter().map(|entry| entry.node).collect()
    }

    #[test]
    fn nodes_come_back_as_they_went() {
        for words in ["T1", "T3", "T4"] {
            let uts = tree(words);
            for fuel in [0, 1, 10_000] {
                let work = open_work_after(&uts, fuel);
                let mut words = Vec::new();
                uts.to_words(&work.bytes, &mut words).unwrap();
                let back = uts.to_work(&words);
                assert_eq!(nodes(&uts, &back.bytes), nodes(&uts, &work.bytes));
                assert_eq!(words.len(), WORDS * work.size as usize);
            }
        }
    }

    #[test]
    fn hostile_nodes_are_refused() {
        let uts = tree("T3");
        let good = open_work_after(&uts, 3000).bytes;
        let mut rng = Rand64::new(3);
        for _ in 0..500 {
            let bytes = mutate(&good, &mut rng);
            let mut words = Vec::new();
            assert_eq!(uts.to_words(&bytes, &mut words).is_ok(), read(&uts, &bytes).is_ok());
        }
    }

    #[test]
    fn what_the_kernel_cannot_do_is_not_offered() {
        let offered = |words| tree(words).on_device().is_ok();
        assert!(offered("T1") && offered("T2WL") && offered("T4"));
        assert!(!offered("shape=expdec,b0=3,gen_mx=5") && !offered("gen_mx=5,g=2"));
    }
}

//! Tests exact counts of the sample trees, on every code path and under every cut.

use super::parameters::{NAMED, Parameters};
use super::*;
use oorandom::Rand64;
use pleach_core::search::laws::{
    explore_whole, explorer_law, full_explorer, hostile_law, pack_law, run_to_end,
};

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.works())
}

fn tree(words: &str, level: Level) -> Uts {
    Uts::new(Parameters::parse(words).unwrap(), level)
}

fn count(tree: &Uts) -> pleach_core::search::tree::Counts {
    explore_whole(tree, i64::MAX).counts
}

/// Nodes, leaves and depth as published.
#[test]
fn sample_trees_have_the_published_counts() {
    for (name, nodes, leaves, depth) in [
        ("T1", 4_130_071, 3_305_118, 10),
        ("T5", 4_147_582, 2_181_318, 20),
        ("T2", 4_117_769, 2_342_762, 81),
        ("T3", 4_112_897, 3_599_034, 1572),
        ("T4", 4_132_453, 3_108_986, 134),
        ("P3D-T1", 4_996_491, 2_499_245, 3472),
    ] {
        for level in levels() {
            let counts = count(&tree(name, level));
            assert_eq!(counts.total, nodes, "{name} {level}");
            assert_eq!(counts.bounded, nodes as u64 - 1, "{name} {level}");
            assert_eq!(counts.branched, nodes as u64 - leaves, "{name} {level}");
            assert_eq!(counts.depth, depth, "{name} {level}");
        }
    }
}

#[test]
fn named_trees_carry_their_published_counts() {
    let nodes = |name| NAMED.iter().find(|(other, ..)| *other == name).map(|(.., nodes)| *nodes);
    assert_eq!(nodes("T3XXL"), Some(2_793_220_501));
    assert_eq!(nodes("T1"), Some(4_130_071));
}

/// All levels agree on trees of every kind, including edge cases.
#[test]
fn all_levels_count_the_same() {
    for words in [
        "shape=fixed,b0=4,gen_mx=7,seed=3",
        "shape=linear,b0=7,gen_mx=9,seed=5",
        "shape=cyclic,b0=3,gen_mx=8,seed=1",
        "shape=expdec,b0=3,gen_mx=5,seed=2",
        "shape=fixed,b0=300,gen_mx=2,seed=8",
        "shape=linear,b0=1.5,gen_mx=900,seed=4",
        "type=binomial,b0=17.9,q=0.3,m=3,seed=6",
        "type=binomial,b0=0,q=0.3,m=3",
        "type=hybrid,shape=linear,b0=6,gen_mx=10,q=0.2,m=4,seed=9",
        "type=hybrid,shape=fixed,b0=6,gen_mx=10,f=0,q=0.2,m=4,seed=9",
        "type=balanced,b0=5.5,gen_mx=6",
        "type=binomial,b0=50,q=0.3,m=3,seed=6,g=3",
    ] {
        let plain = count(&tree(words, Level::Off));
        for level in levels() {
            assert_eq!(count(&tree(words, level)), plain, "{words} {level}");
        }
    }
}

#[test]
fn nothing_is_lost_on_any_explorer() {
    for words in ["type=binomial,b0=40,q=0.199,m=5,seed=3", "shape=linear,b0=5,gen_mx=10,seed=2"] {
        let trees: Vec<Uts> = levels().map(|level| tree(words, level)).collect();
        let root = Problem::root(&trees[0]);
        let mut explorer = trees[0].explorer();
        explorer.add_work(&root.bytes).unwrap();
        let whole = run_to_end(&mut *explorer, i64::MAX);
        for seed in 0..40 {
            let make = |i: usize| trees[i % trees.len()].explorer();
            explorer_law(&make, &root, i64::MAX, &whole, seed);
        }
    }
}

#[test]
fn hostile_bytes_are_refused() {
    for level in levels() {
        let tree: &'static Uts = Box::leak(Box::new(tree("T4", level)));
        let mut explorer = full_explorer(tree);
        explorer.run(500, i64::MAX);
        let good = explorer.split(0.5).unwrap();
        hostile_law(&|| tree.explorer(), &good.bytes, 3000, 1);
    }
}

#[test]
fn nodes_pack_and_unpack() {
    let mut rng = Rand64::new(4);
    for _ in 0..200 {
        let state = std::array::from_fn(|_| rng.rand_u64() as u32);
        let (depth, left) = (rng.rand_range(0..100_000) as u32, rng.rand_range(1..101) as u32);
        pack_law(&Node { state, depth, left, fresh: rng.rand_u64().is_multiple_of(2) }, &mut rng);
    }
}

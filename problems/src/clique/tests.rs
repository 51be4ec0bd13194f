//! Tests of the search for cliques.

use super::graph::Graph;
use super::named::{named, optimum};
use super::search;
use super::tree::Cliques;
use oorandom::Rand64;
use pleach_core::search::depth_first::TreeExplorer;
use pleach_core::search::explorer::{Explorer, Progress};
use pleach_core::search::laws::{
    explore_whole, explorer_law, full_explorer, hostile_law, run_to_end,
};
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::{Goal, Tree};
use pleach_core::search::work::{Entry, Pool};
use std::cmp::Reverse;

/// Branch and bound as published (algorithm MCSa1 of Prosser 2012), on lists.
struct Reference {
    graph: Graph,
    /// Whether a node's bound is never better than its parent's, as in the engine.
    inherits: bool,
    nodes: u64,
    best: Vec<usize>,
}

impl Reference {
    fn search(graph: &Graph, inherits: bool) -> Self {
        let mut order: Vec<usize> = (0..graph.vertices()).collect();
        order.sort_by_key(|&vertex| (Reverse(graph.degree(vertex)), vertex));
        let mut reference = Self { graph: graph.clone(), inherits, nodes: 0, best: Vec::new() };
        reference.expand(&mut Vec::new(), order, usize::MAX);
        reference
    }

    fn expand(&mut self, clique: &mut Vec<usize>, mut open: Vec<usize>, most: usize) {
        self.nodes += 1;
        let mut coloured = self.colour(&open);
        while let Some((colour, vertex)) = coloured.pop() {
            let bound = clique.len() + colour;
            let bound = if self.inherits { bound.min(most) } else { bound };
            if bound <= self.best.len() {
                return;
            }
            clique.push(vertex);
            let near = |&other: &usize| self.graph.adjacent(vertex, other);
            let next: Vec<usize> = open.iter().copied().filter(near).collect();
            if !next.is_empty() {
                self.expand(clique, next, bound);
            } else if clique.len() > self.best.len() {
                self.best.clone_from(clique);
            }
            clique.pop();
            open.retain(|&other| other != vertex);
        }
    }

    /// The vertices by colour, from 1.
    fn colour(&self, open: &[usize]) -> Vec<(usize, usize)> {
        let mut classes: Vec<Vec<usize>> = Vec::new();
        for &v in open {
            let free = |class: &Vec<usize>| !class.iter().any(|&w| self.graph.adjacent(v, w));
            match classes.iter_mut().find(|class| free(class)) {
                Some(class) => class.push(v),
                None => classes.push(vec![v]),
            }
        }
        let classes = (1..).zip(classes);
        classes.flat_map(|(colour, class)| class.into_iter().map(move |v| (colour, v))).collect()
    }
}

/// Searches the whole tree for cliques larger than `best`.
fn whole(problem: &dyn Problem, best: Option<i64>) -> Progress {
    explore_whole(problem, best.map_or(i64::MAX, |best| Goal::Maximise.score(best)))
}

fn size(progress: &Progress) -> i64 {
    Goal::Maximise.value(progress.found.as_ref().unwrap().score)
}

fn random(rng: &mut Rand64, vertices: usize, edges: u64) -> Graph {
    let mut graph = Graph::new(vertices).unwrap();
    for i in 1..=vertices {
        for j in 1..i {
            if rng.rand_range(0..100) < edges {
                graph.connect(i, j).unwrap();
            }
        }
    }
    graph
}

/// The engine spares one node of the published count: a node's bound is never better than its parent's.
#[test]
fn one_thread_explores_the_published_nodes() {
    for (name, published, nodes) in
        [("brock200_1", 524_723, 524_722), ("brock200_4", 58_730, 58_730)]
    {
        let graph = named(name).unwrap().unwrap();
        assert_eq!(Reference::search(&graph, false).nodes, published, "{name}");
        let found = whole(&*search(graph), None);
        assert_eq!(size(&found), optimum(name).unwrap(), "{name}");
        assert_eq!(found.counts.branched, nodes, "{name}");
    }
}

/// However often nodes move from parts of the graph to the whole one.
#[test]
fn interruptions_keep_the_order() {
    let graph = named("brock200_4").unwrap().unwrap();
    let problem = search(graph.clone());
    let mut explorer = full_explorer(&*problem);
    let (mut best, mut nodes) = (i64::MAX, 0);
    for turn in 0.. {
        let progress = explorer.run(500, best);
        nodes += progress.counts.branched;
        if let Some(found) = progress.found {
            assert_eq!(graph.clique(&found.solution), Ok(Goal::Maximise.value(found.score)));
            best = found.score;
        }
        if explorer.size() == 0.0 {
            break;
        }
        let copy = explorer.copy();
        if turn % 2 == 0 {
            assert_eq!(explorer.drain(), copy);
            explorer.add_work(&copy.bytes).unwrap();
        }
    }
    assert_eq!((Goal::Maximise.value(best), nodes), (17, 58_730));
}

/// A piece of work may come with a bound that is wrong.
#[test]
fn a_wrong_bound_is_noticed() {
    let graph = named("brock200_4").unwrap().unwrap();
    let tree = Cliques::<4>::new(graph);
    let bound = Goal::Maximise.score(1);
    let root = Entry { bound, depth: 0, share: 1.0, node: tree.root() };
    let mut explorer = tree.own_explorer().unwrap();
    explorer.add_work(&Pool::new(vec![root]).to_work().bytes).unwrap();
    let fault = explorer.run(1 << 20, i64::MAX).fault.unwrap();
    assert_eq!((fault.tree, fault.bound), ("Cliques", 1));
}

#[test]
fn nodes_agree_with_the_reference_on_graphs_of_any_size() {
    let mut rng = Rand64::new(1);
    let small = (1..13).cycle().take(600);
    for vertices in small.chain([60, 64, 65, 90, 128, 129, 200, 300, 600, 1100]) {
        let dense = if vertices > 100 { 30 } else { 100 };
        let edges = rng.rand_range(0..dense + 1);
        let graph = random(&mut rng, vertices, edges);
        let reference = Reference::search(&graph, true);
        let problem = search(graph.clone());
        let found = whole(&*problem, None);
        assert_eq!(found.counts.branched, reference.nodes, "{graph:?}");
        assert_eq!(size(&found), reference.best.len() as i64, "{graph:?}");
        assert_eq!(
            problem.check(&found.found.unwrap().solution),
            Some(Ok(reference.best.len() as i64))
        );
        assert!(whole(&*problem, Some(reference.best.len() as i64)).found.is_none());
    }
}

#[test]
fn optima_agree_with_brute_force() {
    let mut rng = Rand64::new(3);
    for vertices in (1..12).cycle().take(500) {
        let edges = rng.rand_range(0..101);
        let graph = random(&mut rng, vertices, edges);
        let numbers = |set: u32| -> Vec<i64> {
            (0..vertices).filter(|i| set >> i & 1 == 1).map(|i| i as i64 + 1).collect()
        };
        let sizes = (0..1 << vertices).filter_map(|set| graph.clique(&numbers(set)).ok());
        assert_eq!(size(&whole(&*search(graph.clone()), None)), sizes.max().unwrap(), "{graph:?}");
    }
}

#[test]
fn the_laws_hold() {
    fn hold<const W: usize>(graph: Graph) {
        let tree: &'static Cliques<W> = Box::leak(Box::new(Cliques::new(graph)));
        let root = Pool::whole(tree.root()).to_work();
        let mixed = |i: usize| -> Box<dyn Explorer> {
            if i.is_multiple_of(2) {
                tree.own_explorer().unwrap()
            } else {
                Box::new(TreeExplorer::new(tree))
            }
        };
        let whole = |i, best| {
            let mut explorer = mixed(i);
            explorer.add_work(&root.bytes).unwrap();
            run_to_end(&mut *explorer, best)
        };
        let best = whole(0, i64::MAX).found.unwrap().score;
        let proof = whole(0, best);
        assert_eq!(proof, whole(1, best));
        for seed in 0..20 {
            explorer_law(&mixed, &root, best, &proof, seed);
        }
        let mut explorer = mixed(0);
        explorer.add_work(&root.bytes).unwrap();
        explorer.run(200, best);
        let good = explorer.drain();
        hostile_law(&|| mixed(0), &good.bytes, 2000, 3);
    }
    let mut rng = Rand64::new(5);
    hold::<2>(random(&mut rng, 70, 70));
    hold::<4>(random(&mut rng, 200, 45));
    hold::<5>(random(&mut rng, 300, 35));
    hold::<16>(random(&mut rng, 600, 20));
}

#[test]
fn wrong_solutions_are_told() {
    let mut graph = Graph::new(4).unwrap();
    for (one, other) in [(1, 2), (2, 3), (1, 3), (3, 4)] {
        graph.connect(one, other).unwrap();
    }
    assert_eq!(graph.clique(&[3, 1, 2]), Ok(3));
    assert_eq!(graph.clique(&[]), Ok(0));
    for (wrong, said) in [
        (&[1, 4][..], "vertices 1 and 4 are not adjacent"),
        (&[2, 2], "vertex 2 appears twice"),
        (&[5], "vertex 5, expected 1 to 4"),
        (&[-1], "vertex -1"),
        (&[0], "vertex 0"),
    ] {
        assert!(graph.clique(wrong).unwrap_err().contains(said), "{wrong:?}");
    }
}

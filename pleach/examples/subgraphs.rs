//! Counts the copies of a pattern in a graph: `cargo run --release --example subgraphs -- cycle:4 cube:5`.
//!
//! A copy maps the vertices of the pattern to different vertices of the graph, and neighbours to neighbours. A pattern
//! with k automorphisms meets each of its places k times: of a graph in itself, the copies are its automorphisms.
//! Vertices of the pattern are mapped in an order in which each has as many earlier neighbours as possible; what is left
//! for a vertex is the common neighbours of their images.
use pleach::{Children, Goal, Tree};

struct Subgraphs {
    graph: Vec<u128>,         // the neighbours of each vertex
    earlier: Vec<Vec<usize>>, // the neighbours of each vertex of the pattern that are mapped before it
}

impl Tree for Subgraphs {
    type Node = Vec<u8>; // the images so far
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> Self::Node {
        vec![]
    }

    fn expand(&self, images: &Self::Node, _: Option<i64>, out: &mut Children<Self>) {
        let used = images.iter().fold(0_u128, |set, image| set | 1 << image);
        let free = !used & u128::MAX >> (128 - self.graph.len());
        let common = |set, &vertex: &usize| set & self.graph[usize::from(images[vertex])];
        let mut fits = self.earlier[images.len()].iter().fold(free, common);
        if images.len() + 1 == self.earlier.len() {
            out.leaves(fits.count_ones().into());
            return out.count(fits.count_ones().into());
        }
        while fits != 0 {
            out.child([&images[..], &[fits.trailing_zeros() as u8]].concat());
            fits &= fits - 1;
        }
    }

    fn fingerprint(&self) -> Option<u64> {
        Some(pleach::fingerprint("subgraphs", &(self.graph.clone(), self.earlier.clone())))
    }
}

impl Subgraphs {
    fn new(pattern: &[u128], graph: Vec<u128>) -> Self {
        let (mut order, mut earlier) = (Vec::new(), Vec::new());
        for _ in pattern {
            let before =
                |v: usize| (0..order.len()).filter(|&i| pattern[v] >> order[i] & 1 == 1).collect();
            let rest = (0..pattern.len()).filter(|v| !order.contains(v));
            let next = rest.max_by_key(|&v| {
                let before: Vec<usize> = before(v);
                (before.len(), pattern[v].count_ones())
            });
            let Some(next) = next else { break };
            earlier.push(before(next));
            order.push(next);
        }
        Self { graph, earlier }
    }
}

/// A graph by name: `cycle:N`, `path:N`, `complete:N`, `cube:D`, `knight:N` (moves on N × N squares), `petersen`.
fn named(name: &str) -> Result<Vec<u128>, String> {
    let (family, size) = name.split_once(':').unwrap_or((name, "5"));
    let size: usize = size.parse().unwrap_or(0);
    let vertices = match family {
        "cycle" | "path" | "complete" => size,
        "cube" => 1 << size.min(8),
        "knight" => size.min(12).pow(2),
        "petersen" if size == 5 => 10,
        _ => 0,
    };
    let joined = |u: usize, v: usize| match family {
        "cycle" => v == u + 1 || (u == 0 && v + 1 == size),
        "path" => v == u + 1,
        "complete" => true,
        "cube" => (u ^ v).is_power_of_two(),
        "knight" => (u / size).abs_diff(v / size) * (u % size).abs_diff(v % size) == 2,
        // An outer ring, an inner star, and spokes.
        _ if v < 5 => v == u + 1 || u + 4 == v,
        _ if u < 5 => v == u + 5,
        _ => v == u + 2 || v == u + 3,
    };
    if !(1..=128).contains(&vertices) {
        let families = "cycle:N, path:N, complete:N, cube:N, knight:N or petersen";
        return Err(format!("'{name}': expected {families}, of up to 128 vertices"));
    }
    let near = |u: usize| (0..vertices).filter(move |&v| u != v && joined(u.min(v), u.max(v)));
    Ok((0..vertices).map(|u| near(u).fold(0, |set, v| set | 1 << v)).collect())
}

fn main() -> std::process::ExitCode {
    let words = pleach::words();
    let [pattern, graph] = &words[..] else {
        return pleach::main(Err::<Subgraphs, _>("expected the names of a pattern and of a graph"));
    };
    pleach::main(named(pattern).and_then(|pattern| Ok(Subgraphs::new(&pattern, named(graph)?))))
}

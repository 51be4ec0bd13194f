//! Colours a graph with as few colours as possible: `cargo run --release --example colouring -- queen6`.
//!
//! The graph is `mycielN` or `queenN` (N × N squares), or a DIMACS file. Neighbours get different colours. The next
//! vertex is the one with neighbours of the most colours (DSATUR, Brélaz 1979), and takes each colour that is free for
//! it, or a new one. All vertices of a clique get colours of their own first: no colouring has fewer.
use pleach::{Children, Goal, Tree};

struct Colouring {
    neighbours: Vec<u128>,
}

impl Tree for Colouring {
    type Node = Vec<u128>; // the vertices of each colour
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> Self::Node {
        let most =
            |from: u128| bits(from).max_by_key(|&v| (self.neighbours[v] & from).count_ones());
        let mut common = u128::MAX >> (128 - self.neighbours.len());
        let clique = std::iter::from_fn(|| {
            let v = most(common)?;
            common &= self.neighbours[v];
            Some(1 << v)
        });
        clique.collect()
    }

    fn expand(&self, colours: &Self::Node, _: Option<i64>, out: &mut Children<Self>) {
        let done = colours.iter().fold(0, |all, colour| all | colour);
        let open = bits(!done & u128::MAX >> (128 - self.neighbours.len()));
        let near =
            |v: usize| colours.iter().filter(|&colour| colour & self.neighbours[v] != 0).count();
        let next = open.max_by_key(|&v| (near(v), (self.neighbours[v] & !done).count_ones()));
        let Some(v) = next else {
            let colour =
                |v| colours.iter().position(|colour| colour >> v & 1 == 1).unwrap_or(0) as i64;
            return out.solution(colours.len() as i64, || {
                (0..self.neighbours.len()).map(colour).collect()
            });
        };
        for (i, colour) in colours.iter().chain([&0]).enumerate() {
            if colour & self.neighbours[v] == 0 {
                let mut child = colours.clone();
                child.resize(colours.len().max(i + 1), 0);
                child[i] |= 1 << v;
                out.child_within(child.len() as i64, child);
            }
        }
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        let clash = |v: usize| bits(self.neighbours[v]).any(|u| solution[u] == solution[v]);
        if solution.len() != self.neighbours.len() || (0..solution.len()).any(clash) {
            return Some(Err("two neighbours have one colour".into()));
        }
        Some(Ok(solution.iter().max().map_or(0, |last| last + 1)))
    }

    fn fingerprint(&self) -> Option<u64> {
        Some(pleach::fingerprint("colouring", &self.neighbours))
    }
}

/// The members of a set.
fn bits(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let v = set.trailing_zeros();
        set &= set.saturating_sub(1);
        (v < 128).then_some(v as usize)
    })
}

/// The graph of `n` vertices with these edges.
fn graph(n: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Colouring {
    let mut neighbours = vec![0; n];
    for (u, v) in edges {
        neighbours[u] |= 1 << v;
        neighbours[v] |= 1 << u;
    }
    Colouring { neighbours }
}

/// Squares of a board that a queen moves between.
fn queen(n: usize) -> Colouring {
    let meet = |u: usize, v: usize| {
        let (rows, columns) = ((u / n).abs_diff(v / n), (u % n).abs_diff(v % n));
        rows == 0 || columns == 0 || rows == columns
    };
    let pairs = (0..n * n).flat_map(|v| (0..v).map(move |u| (u, v)));
    graph(n * n, pairs.filter(|&(u, v)| meet(u, v)))
}

/// A graph without triangles that needs `order + 1` colours: from one edge, a copy of each vertex with its neighbours,
/// and one more vertex adjacent to all copies, again and again.
fn myciel(order: usize) -> Colouring {
    let (mut n, mut edges) = (2, vec![(0, 1)]);
    for _ in 1..order {
        let copies = edges.iter().flat_map(|&(u, v)| [(u, v), (u + n, v), (u, v + n)]);
        edges = copies.chain((n..2 * n).map(|copy| (copy, 2 * n))).collect();
        n = 2 * n + 1;
    }
    graph(n, edges)
}

/// A file of DIMACS: `p edge VERTICES EDGES`, then a line `e U V` for each edge.
fn dimacs(text: &str) -> Option<Colouring> {
    let (mut n, mut announced, mut edges) = (0, 0, Vec::new());
    for line in text.lines() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["p", _, vertices, lines] if n == 0 => {
                n = vertices.parse().ok().filter(|n| (1..=128).contains(n))?;
                announced = lines.parse().ok()?;
            }
            ["e", u, v] => {
                let end = |word: &str| {
                    word.parse().ok().filter(|v| (1..=n).contains(v)).map(|v: usize| v - 1)
                };
                edges.push((end(u)?, end(v)?));
            }
            ["e" | "E" | "p", ..] => return None,
            _ => {}
        }
    }
    // Some files list each edge in both directions, or announce it twice but list it once.
    let mut pairs: Vec<_> = edges.iter().map(|&(u, v)| (u.min(v), u.max(v))).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let whole = n > 0 && [edges.len(), pairs.len(), 2 * pairs.len()].contains(&announced);
    (whole && pairs.iter().all(|(u, v)| u != v)).then(|| graph(n, edges))
}

fn main() -> std::process::ExitCode {
    let words = pleach::words();
    let [word] = &words[..] else {
        return pleach::main(Err::<Colouring, _>("expected mycielN, queenN or a DIMACS file"));
    };
    let number = |name: &str| word.strip_prefix(name)?.parse().ok();
    pleach::main(match (number("myciel"), number("queen")) {
        (Some(order @ 1..=6), _) => Ok(myciel(order)),
        (_, Some(size @ 1..=11)) => Ok(queen(size)),
        _ => pleach::text(word).and_then(|text| {
            dimacs(&text).ok_or_else(|| {
                format!("{word}: expected a graph of up to 128 vertices in DIMACS's form")
            })
        }),
    })
}

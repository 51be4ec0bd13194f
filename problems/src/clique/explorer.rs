//! [`CliqueExplorer`]: depth first, with the graph reduced to the vertices that are left wherever that saves words.

use super::bits::{Bits, insert, is_empty, vertices};
use super::colours::branch;
use super::node::{Node, solution};
use super::squeeze::Squeeze;
use pleach_core::search::explorer::{Explorer, Progress};
use pleach_core::search::tree::{Counts, Goal, Solution, Tree, WrongBound, read};
use pleach_core::search::work::{Entry, Malformed, Pool, Work};

/// Reducing pays for nodes with at least this many children to explore.
const ENOUGH: usize = 8;

/// Depth-first search on the graph, and on parts of it.
pub(super) struct CliqueExplorer<'t, T, const W: usize> {
    tree: &'t T,
    /// The vertex at each place.
    order: &'t [usize],
    whole: Part<W>,
    /// From large to small. What is open in one lies below a node of a larger one, so the smallest with open nodes is
    /// explored next.
    parts: Vec<Box<dyn Reduced>>,
}

/// The findings of a stretch, and what they depend on.
struct Stretch {
    counts: Counts,
    used: u64,
    fuel: u64,
    /// The score to beat.
    cutoff: i64,
    /// The best clique, by places in the order of the whole graph.
    found: Option<Vec<usize>>,
    fault: Option<WrongBound>,
}

/// The graph of some vertices, with open nodes whose cliques are among them.
struct Part<const V: usize> {
    rows: Vec<Bits<V>>,
    /// For each vertex, its place in the order of the whole graph.
    places: Vec<usize>,
    /// The places of the vertices that all cliques here include; each is adjacent to all vertices of the part.
    clique: Vec<usize>,
    stack: Vec<Entry<Node<V>>>,
}

/// A part of any number of words.
trait Reduced: Send {
    /// Explores until the fuel is used, nothing is open, or the next nodes have moved to a smaller part.
    fn explore(&mut self, stretch: &mut Stretch, smaller: &mut [Box<dyn Reduced>]);

    /// The greatest number of vertices.
    fn most(&self) -> usize;

    /// Takes over the children of a node of a larger part, and its vertices and their edges.
    fn enter(&mut self, node: &Larger<'_>, children: &mut dyn Iterator<Item = Entry<[&[u64]; 2]>>);

    /// The number of open nodes.
    fn size(&self) -> usize;

    /// Their least bound.
    fn least_bound(&self) -> Option<i64>;

    /// Their share of the whole tree.
    fn share(&self) -> f64;

    /// Hands over all open nodes: their cliques, and the vertices that may be added, by places in the whole graph.
    fn drain(&mut self, to: &mut dyn FnMut(Entry<[Vec<usize>; 2]>));
}

/// A node of a part of any number of words.
struct Larger<'a> {
    rows: &'a [u64],
    places: &'a [usize],
    /// The clique, by places.
    clique: Vec<usize>,
    /// The vertices that may be added.
    open: &'a [u64],
}

impl<const V: usize> Reduced for Part<V> {
    fn explore(&mut self, stretch: &mut Stretch, smaller: &mut [Box<dyn Reduced>]) {
        while stretch.used < stretch.fuel {
            let Some(Entry { bound, depth, share, node }) = self.stack.pop() else { return };
            if bound >= stretch.cutoff {
                continue;
            }
            let from = self.stack.len();
            let best = Goal::Maximise.to_beat(stretch.cutoff).unwrap_or(0);
            let spare = best.saturating_sub(node.size.into()).max(0) as usize;
            let mut leaf = None;
            let made = branch(&self.rows, &node.open, spare, |colour, vertex, open| {
                let mut clique = node.clique;
                insert(&mut clique, vertex);
                leaf = is_empty(&open).then_some(clique);
                if leaf.is_none() {
                    let most = i64::from(node.size) + colour as i64 + 1;
                    let bound = Goal::Maximise.score(most).max(bound);
                    let node = Node { clique, open, size: node.size + 1 };
                    self.stack.push(Entry { bound, depth: depth + 1, share: 0.0, node });
                }
            });
            stretch.counts.branched += 1;
            stretch.counts.bounded += made;
            stretch.counts.depth = stretch.counts.depth.max(depth + u32::from(made > 0));
            stretch.used += made.max(1);
            if let Some(clique) = leaf {
                self.improve(stretch, bound, node.size + 1, &clique);
            }
            let children = &mut self.stack[from..];
            let share = share / children.len() as f32;
            children.iter_mut().for_each(|child| child.share = share);
            if V > 1 && children.len() >= ENOUGH {
                let left = node.open.iter().map(|word| word.count_ones() as usize).sum();
                if let Some(part) = smaller.iter_mut().rfind(|part| part.most() >= left) {
                    return self.reduce(from, &node, &mut **part);
                }
            }
        }
    }

    fn most(&self) -> usize {
        64 * V
    }

    fn enter(&mut self, node: &Larger<'_>, children: &mut dyn Iterator<Item = Entry<[&[u64]; 2]>>) {
        let (squeeze, words) = (Squeeze::new(node.open), node.open.len());
        self.rows.clear();
        self.places.clear();
        for vertex in vertices(node.open) {
            self.rows.push(squeeze.apply(&node.rows[words * vertex..][..words]));
            self.places.push(node.places[vertex]);
        }
        self.clique.clone_from(&node.clique);
        for Entry { bound, depth, share, node: sets } in children {
            let [clique, open] = sets.map(|set| squeeze.apply(set));
            let node = Node { clique, open, size: depth };
            self.stack.push(Entry { bound, depth, share, node });
        }
    }

    fn size(&self) -> usize {
        self.stack.len()
    }

    fn least_bound(&self) -> Option<i64> {
        self.stack.iter().map(|entry| entry.bound).min()
    }

    fn share(&self) -> f64 {
        self.stack.iter().map(|entry| f64::from(entry.share)).sum()
    }

    fn drain(&mut self, to: &mut dyn FnMut(Entry<[Vec<usize>; 2]>)) {
        for Entry { bound, depth, share, node } in std::mem::take(&mut self.stack) {
            let open = vertices(&node.open).map(|vertex| self.places[vertex]).collect();
            to(Entry { bound, depth, share, node: [self.with(&node.clique), open] });
        }
    }
}

impl<const V: usize> Part<V> {
    fn new(rows: Vec<Bits<V>>) -> Self {
        let places = (0..rows.len()).collect();
        Self { rows, places, clique: Vec::new(), stack: Vec::new() }
    }

    /// The clique with these vertices, by places.
    fn with(&self, added: &Bits<V>) -> Vec<usize> {
        let added = vertices(added).map(|vertex| self.places[vertex]);
        self.clique.iter().copied().chain(added).collect()
    }

    /// Notes a clique of this size if it is larger than the best one, or that the bound of its node excluded it.
    #[cold]
    fn improve(&self, stretch: &mut Stretch, bound: i64, size: u32, clique: &Bits<V>) {
        let score = Goal::Maximise.score(size.into());
        if score >= stretch.cutoff {
            return;
        }
        (stretch.cutoff, stretch.fuel) = (score, 0);
        if score < bound {
            let (bound, value) = (Goal::Maximise.value(bound), size.into());
            stretch.fault = Some(WrongBound { tree: "Cliques", bound, value, decimals: 0 });
        } else {
            stretch.found = Some(self.with(clique));
        }
    }

    /// Moves the children of a node, from here on in the stack, to a smaller part.
    fn reduce(&mut self, from: usize, node: &Node<V>, part: &mut dyn Reduced) {
        let larger = Larger {
            rows: self.rows.as_flattened(),
            places: &self.places,
            clique: self.with(&node.clique),
            open: &node.open,
        };
        let children = self.stack[from..].iter();
        let mut children = children.map(|Entry { bound, depth, share, node }| Entry {
            bound: *bound,
            depth: *depth,
            share: *share,
            node: [&node.clique[..], &node.open[..]],
        });
        part.enter(&larger, &mut children);
        self.stack.truncate(from);
    }
}

impl<'t, T: Tree<Node = Node<W>>, const W: usize> CliqueExplorer<'t, T, W> {
    pub fn new(tree: &'t T, order: &'t [usize], rows: &[Bits<W>]) -> Self {
        fn part<const V: usize>() -> Box<dyn Reduced> {
            Box::new(Part::<V>::new(Vec::new()))
        }
        let mut parts =
            vec![part::<32>(), part::<16>(), part::<8>(), part::<4>(), part::<2>(), part::<1>()];
        parts.retain(|part| part.most() < 64 * W);
        Self { tree, order, whole: Part::new(rows.to_vec()), parts }
    }

    /// Hands over all open nodes. Those that come back are in the whole graph again, until they are reduced.
    fn take(&mut self) -> Pool<Node<W>> {
        let mut open = std::mem::take(&mut self.whole.stack);
        for part in &mut self.parts {
            part.drain(&mut |entry| open.push(on_whole(entry)));
        }
        Pool::new(open)
    }

    fn all(&self) -> impl Iterator<Item = &dyn Reduced> {
        self.parts.iter().map(|part| &**part).chain([&self.whole as &dyn Reduced])
    }
}

/// An open node in the whole graph.
fn on_whole<const W: usize>(entry: Entry<[Vec<usize>; 2]>) -> Entry<Node<W>> {
    let Entry { bound, depth, share, node } = entry;
    let [clique, open] = node.map(|places| {
        let mut set = [0; W];
        places.into_iter().for_each(|place| insert(&mut set, place));
        set
    });
    Entry { bound, depth, share, node: Node { clique, open, size: depth } }
}

impl<T: Tree<Node = Node<W>>, const W: usize> Explorer for CliqueExplorer<'_, T, W> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        let more = read(self.tree, work)?;
        let mut pool = self.take();
        pool.append(more);
        self.whole.stack = pool.into_entries();
        Ok(())
    }

    fn size(&self) -> f64 {
        self.all().map(|part| part.size() as f64).sum()
    }

    fn least_bound(&self) -> Option<i64> {
        self.all().filter_map(|part| part.least_bound()).min()
    }

    fn open_share(&self) -> Option<f64> {
        Some(self.all().map(|part| part.share()).sum())
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        let (counts, used, found, fault) = Default::default();
        let mut stretch = Stretch { counts, used, fuel, cutoff: best, found, fault };
        while stretch.used < stretch.fuel {
            match self.parts.iter().rposition(|part| part.size() > 0) {
                Some(at) => {
                    let (larger, smaller) = self.parts.split_at_mut(at + 1);
                    larger[at].explore(&mut stretch, smaller);
                }
                None if self.whole.stack.is_empty() => break,
                None => self.whole.explore(&mut stretch, &mut self.parts),
            }
        }
        let Stretch { counts, used, cutoff, found, fault, .. } = stretch;
        let found = found.map(|clique| {
            let solution = solution(self.order, clique);
            Solution { score: cutoff, solution }
        });
        Progress { counts, used, found, fault }
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        let mut pool = self.take();
        let given = pool.split(share);
        self.whole.stack = pool.into_entries();
        given.map(|given| given.to_work())
    }

    fn drain(&mut self) -> Work {
        self.take().to_work()
    }

    fn copy(&mut self) -> Work {
        let pool = self.take();
        let copy = pool.to_work();
        self.whole.stack = pool.into_entries();
        copy
    }
}

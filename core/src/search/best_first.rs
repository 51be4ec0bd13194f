//! [`BestFirst`]: explores the node with the best bound first, and searches depth first where memory is short.

use crate::search::depth_first::TreeExplorer;
use crate::search::explorer::{Explorer, Progress};
use crate::search::tree::{Tree, read};
use crate::search::work::{Entry, Malformed, Pool, Work, pack_entries, portion};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The maximum number of nodes that a split gives. Each costs a removal from a heap that may be
/// large.
const MOST_GIVEN: usize = 4096;

/// An explorer of any [`Tree`] that continues from the node with the best bound; of equal ones, from the deepest.
///
/// Until there is a value to beat, it goes deep, since nothing could be dropped. From then on, it explores only nodes
/// whose bounds are at least as good as the optimum, provided that it learns of good solutions in time. The price is
/// memory: once that is short, the explorer keeps no more nodes than it has then, and searches the whole subtree below
/// the best one depth first before it takes the next.
pub struct BestFirst<'t, T: Tree> {
    tree: &'t T,
    open: OpenNodes<T::Node>,
    /// The maximum number of open nodes to keep, once memory was short.
    most: usize,
    /// Searches depth first, with work of its own.
    deep: Box<dyn Explorer + 't>,
    /// The score to beat in the previous stretch.
    best: i64,
}

impl<'t, T: Tree> BestFirst<'t, T> {
    /// An explorer without work.
    #[must_use]
    pub fn new(tree: &'t T) -> Self {
        let deep = tree.own_explorer().unwrap_or_else(|| Box::new(TreeExplorer::new(tree)));
        Self { tree, open: OpenNodes::default(), most: usize::MAX, deep, best: i64::MAX }
    }

    fn is_full(&self) -> bool {
        self.open.heap.len() >= self.most
    }

    /// Hands the best node to the search that goes deep.
    fn go_below_best(&mut self) {
        if let Some(entry) = self.open.pop() {
            let work = Pool::new(vec![entry]).to_work();
            self.deep.add_work(&work.bytes).expect("an explorer takes a node of its tree");
        }
    }

    /// All work, in an order that depends on nothing else.
    fn all_work(&self, deep: &Work) -> Work {
        let deep = read(self.tree, &deep.bytes).expect("an explorer hands over nodes of its tree");
        let deep = deep.entries().iter().map(|entry| (entry, u64::MAX));
        let open = self.open.heap.iter().map(|node| (&node.entry, node.number));
        let mut all: Vec<_> = open.chain(deep).collect();
        all.sort_by_key(|(entry, number)| (entry.depth, Reverse(entry.bound), *number));
        let all: Vec<_> = all.into_iter().map(|(entry, _)| entry).collect();
        pack_entries(&all)
    }
}

/// An open node, compared by what to explore first: the best bound, the greatest depth, the newest.
#[derive(Debug)]
struct Node<N> {
    entry: Entry<N>,
    /// A sequence number: newer nodes have greater ones.
    number: u64,
}

impl<N> Node<N> {
    fn rank(&self) -> (Reverse<i64>, u32, u64) {
        (Reverse(self.entry.bound), self.entry.depth, self.number)
    }
}

impl<N> PartialEq for Node<N> {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl<N> Eq for Node<N> {}

impl<N> PartialOrd for Node<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<N> Ord for Node<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

/// Open nodes, and the part of the tree below them.
#[derive(Debug)]
struct OpenNodes<N> {
    heap: BinaryHeap<Node<N>>,
    added: u64,
    share: f64,
    /// Working memory, kept from stretch to stretch.
    children: Vec<Entry<N>>,
}

impl<N> Default for OpenNodes<N> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), added: 0, share: 0.0, children: Vec::new() }
    }
}

impl<N> OpenNodes<N> {
    fn push(&mut self, entry: Entry<N>) {
        self.added += 1;
        self.share += f64::from(entry.share);
        self.heap.push(Node { entry, number: self.added });
    }

    fn pop(&mut self) -> Option<Entry<N>> {
        let Node { entry, .. } = self.heap.pop()?;
        self.share -= f64::from(entry.share);
        Some(entry)
    }

    fn least_bound(&self) -> Option<i64> {
        self.heap.peek().map(|node| node.entry.bound)
    }

    fn extend(&mut self, pool: Pool<N>) {
        pool.into_entries().into_iter().for_each(|entry| self.push(entry));
    }

    /// Drops what cannot beat a score.
    fn prune(&mut self, best: i64) {
        self.heap.retain(|node| node.entry.bound < best);
        self.share = self.heap.iter().map(|node| f64::from(node.entry.share)).sum();
    }
}

impl<T: Tree> Explorer for BestFirst<'_, T> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        self.open.extend(read(self.tree, work)?);
        Ok(())
    }

    fn size(&self) -> f64 {
        self.open.heap.len() as f64 + self.deep.size()
    }

    fn least_bound(&self) -> Option<i64> {
        self.open.least_bound().into_iter().chain(self.deep.least_bound()).min()
    }

    fn open_share(&self) -> Option<f64> {
        Some(self.open.share.max(0.0) + self.deep.open_share().unwrap_or(0.0))
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        if best < self.best {
            self.open.prune(best);
            if self.best == i64::MAX {
                let work = self.deep.drain();
                self.add_work(&work.bytes).expect("an explorer hands over nodes of its tree");
            }
        }
        self.best = best;
        let mut progress = Progress::default();
        loop {
            let left = fuel - progress.used.min(fuel);
            if self.deep.size() == 0.0 && (best == i64::MAX || self.is_full()) {
                self.go_below_best();
            }
            let goes_deep = self.deep.size() > 0.0;
            let more = if goes_deep {
                self.deep.run(left, best)
            } else {
                search_best_first(self.tree, &mut self.open, self.most, left, best)
            };
            progress.add(more);
            // Otherwise the fuel is used up, there is a solution, or a node was postponed.
            let done = if goes_deep { self.deep.size() == 0.0 } else { self.is_full() };
            if !done || progress.used >= fuel || progress.found.is_some() || self.size() == 0.0 {
                return progress;
            }
        }
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        if self.open.heap.is_empty() {
            return self.deep.split(share);
        }
        // Of the best nodes, every other one: both sides then have equally good ones.
        let given = match self.open.heap.len() {
            1 if self.deep.size() > 0.0 => vec![self.open.pop()?],
            1 => return None,
            n => {
                let best: Vec<_> = (0..2 * portion(share, n).min(MOST_GIVEN))
                    .map_while(|_| self.open.pop())
                    .collect();
                let (mut given, mut gives) = (Vec::new(), false);
                for entry in best {
                    if gives {
                        given.push(entry);
                    } else {
                        self.open.push(entry);
                    }
                    gives = !gives;
                }
                given
            }
        };
        Some(Pool::new(given).to_work())
    }

    fn drain(&mut self) -> Work {
        let deep = self.deep.drain();
        let all = self.all_work(&deep);
        self.open = OpenNodes::default();
        all
    }

    fn copy(&mut self) -> Work {
        let deep = self.deep.copy();
        self.all_work(&deep)
    }

    fn go_deep(&mut self) {
        if self.most == usize::MAX {
            self.most = self.open.heap.len().max(1);
        }
    }
}

/// Explores until the fuel is used up, a solution is found, or more nodes are open than should be kept.
///
/// An explorer expands each node: a second call of [`Tree::expand`] would keep the compiler from inlining it into that
/// explorer's loop.
fn search_best_first<T: Tree>(
    tree: &T,
    open: &mut OpenNodes<T::Node>,
    most: usize,
    fuel: u64,
    best: i64,
) -> Progress {
    let mut progress = Progress::default();
    let mut explorer =
        TreeExplorer { tree, pool: Pool { stack: std::mem::take(&mut open.children) } };
    let mut next = None;
    while progress.used < fuel && (next.is_some() || open.heap.len() < most) {
        let Some(entry) = next.take().or_else(|| open.pop()) else { break };
        if entry.bound >= best {
            continue;
        }
        let depth = entry.depth;
        explorer.pool.stack.push(entry);
        progress.add(explorer.run(1, best));
        // The first child lies on top. A postponed node lies there alone.
        let children = &mut explorer.pool.stack;
        let first = children.pop();
        let put_off = first.as_ref().is_some_and(|first| first.depth == depth);
        children.drain(..).for_each(|child| open.push(child));
        if let Some(first) = first {
            if open.least_bound().is_none_or(|least| first.bound <= least) {
                next = Some(first);
            } else {
                open.push(first);
            }
        }
        if put_off || progress.found.is_some() || progress.fault.is_some() {
            break;
        }
    }
    next.into_iter().for_each(|entry| open.push(entry));
    open.children = explorer.pool.stack;
    progress
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::laws::{explorer_law, hostile_law, run_to_end};
    use crate::search::tree::{Children, Counts, Goal};

    /// Items to pack, with value and weight, by falling value per weight.
    struct Sack {
        items: Vec<(i64, i64)>,
        room: i64,
    }

    impl Sack {
        fn new(n: i64, seed: i64) -> Self {
            let item = |i: i64| (10 + (i * 37 + seed * 11) % 41, 5 + (i * 23 + seed * 7) % 31);
            let mut items: Vec<_> = (0..n).map(item).collect();
            items.sort_by_key(|&(value, weight)| Reverse(value * 1000 / weight));
            Self { items, room: n * 7 }
        }

        /// The greatest value that fits, by brute force.
        fn most(&self) -> i64 {
            let sum = |set: u32, part: fn(&(i64, i64)) -> i64| -> i64 {
                let has = |&i: &usize| set >> i & 1 == 1;
                (0..self.items.len()).filter(has).map(|i| part(&self.items[i])).sum()
            };
            let fits = |&set: &u32| sum(set, |item| item.1) <= self.room;
            (0..1 << self.items.len())
                .filter(fits)
                .map(|set| sum(set, |item| item.0))
                .max()
                .unwrap()
        }
    }

    impl Tree for Sack {
        /// Items decided, value, weight.
        type Node = (u32, i64, i64);
        const GOAL: Goal = Goal::Maximise;

        fn root(&self) -> Self::Node {
            (0, 0, 0)
        }

        fn expand(
            &self,
            &(at, value, weight): &Self::Node,
            _: Option<i64>,
            out: &mut Children<'_, Self>,
        ) {
            out.solution(value, || vec![value]);
            let Some(item) = self.items.get(at as usize) else { return };
            let bound = |value: i64, weight: i64| {
                let next = self.items.get(at as usize + 1);
                value + next.map_or(0, |next| (self.room - weight) * next.0 / next.1 + 1)
            };
            let with = (value + item.0, weight + item.1);
            out.child_within(bound(value, weight), (at + 1, value, weight));
            if with.1 <= self.room {
                out.child_within(bound(with.0, with.1), (at + 1, with.0, with.1));
            }
        }
    }

    fn root(tree: &Sack) -> Work {
        Pool::whole(tree.root()).to_work()
    }

    fn search(explorer: &mut dyn Explorer, tree: &Sack, best: i64) -> Progress {
        explorer.add_work(&root(tree).bytes).unwrap();
        run_to_end(explorer, best)
    }

    #[test]
    fn it_finds_the_optimum_and_explores_no_node_that_any_search_can_drop() {
        for seed in 0..20 {
            let tree = Sack::new(14, seed);
            let best = search(&mut BestFirst::new(&tree), &tree, i64::MAX);
            let optimum = best.found.clone().unwrap().score;
            assert_eq!(Goal::Maximise.value(optimum), tree.most());
            let deep = search(&mut TreeExplorer::new(&tree), &tree, i64::MAX);
            assert!(best.counts.branched <= deep.counts.branched, "seed {seed}");
            // The engine interrupts an explorer after every few nodes.
            let mut small = BestFirst::new(&tree);
            small.add_work(&root(&tree).bytes).unwrap();
            let (mut to_beat, mut all) = (i64::MAX, Counts::default());
            while small.size() > 0.0 {
                let progress = small.run(2, to_beat);
                to_beat = progress.found.map_or(to_beat, |found| found.score);
                all.add(&progress.counts);
            }
            assert_eq!((to_beat, all.branched), (optimum, best.counts.branched), "seed {seed}");
            // From a value that no node beats, both explore the same tree.
            let one = search(&mut BestFirst::new(&tree), &tree, optimum);
            let other = search(&mut TreeExplorer::new(&tree), &tree, optimum);
            assert_eq!(one.counts, other.counts);
            // Only nodes whose bounds equal the optimum can be explored in vain.
            let mut all = TreeExplorer::new(&tree);
            all.add_work(&root(&tree).bytes).unwrap();
            let mut most = Progress::default();
            while all.size() > 0.0 {
                most.add(all.run(u64::MAX, optimum + 1));
            }
            let explored = one.counts.branched..=most.counts.branched;
            assert!(explored.contains(&best.counts.branched), "seed {seed}");
        }
    }

    #[test]
    fn bounds_never_fall_while_it_explores() {
        let tree = Sack::new(16, 3);
        let mut explorer = BestFirst::new(&tree);
        explorer.add_work(&root(&tree).bytes).unwrap();
        let (mut best, mut before) = (i64::MAX, i64::MIN);
        while let Some(bound) = explorer.least_bound() {
            assert!(bound >= before);
            before = bound;
            let progress = explorer.run(5, best);
            best = progress.found.map_or(best, |found| found.score);
        }
    }

    #[test]
    fn it_keeps_the_laws_whether_memory_is_short_or_not() {
        let tree = Sack::new(14, 5);
        let best = search(&mut BestFirst::new(&tree), &tree, i64::MAX).found.unwrap().score;
        let whole = search(&mut BestFirst::new(&tree), &tree, best);
        for seed in 0..60 {
            let make = |at: usize| {
                let mut explorer = BestFirst::new(&tree);
                // Some keep one node, some a few, some all.
                explorer.most = [1, 5, 20, usize::MAX][(at + seed as usize) % 4];
                Box::new(explorer) as Box<dyn Explorer>
            };
            explorer_law(&make, &root(&tree), best, &whole, seed);
        }
        let tree: &'static Sack = Box::leak(Box::new(tree));
        let mut explorer = BestFirst::new(tree);
        explorer.add_work(&root(tree).bytes).unwrap();
        explorer.run(20, i64::MAX);
        let good = explorer.drain();
        hostile_law(&|| Box::new(BestFirst::new(tree)), &good.bytes, 2000, 1);
    }

    #[test]
    fn once_memory_is_short_it_keeps_no_more_nodes() {
        let tree = Sack::new(40, 2);
        let mut explorer = BestFirst::new(&tree);
        explorer.add_work(&root(&tree).bytes).unwrap();
        // Any solution will do, but there is a value to beat.
        let mut best = i64::MAX - 1;
        while explorer.size() < 100.0 {
            explorer.run(50, best);
        }
        explorer.go_deep();
        let most = explorer.size();
        for _ in 0..100 {
            let progress = explorer.run(50, best);
            best = progress.found.map_or(best, |found| found.score);
            // A path down has at most one open child a level.
            assert!(explorer.size() <= most + 40.0, "{} after {most}", explorer.size());
        }
        assert!(best < i64::MAX - 1);
    }
}

//! [`Layered`]: search by layers: all nodes of a depth at once, without those that others dominate; at first only the most
//! promising ones of each layer, in later passes more, until none is left out.

use crate::search::depth_first::TreeExplorer;
use crate::search::explorer::Explorer;
use crate::search::tree::{Counts, Solution, Tree, WrongBound, read};
use crate::search::work::{Entry, Malformed, Pool, Work};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The nodes of a layer that the first pass keeps, and how much wider each next pass is.
const FIRST_WIDTH: usize = 256;
const WIDER: usize = 8;
/// The nodes that a task expands.
const PIECE: usize = 256;
/// The maximum number of tasks into which the nodes of a layer are divided by their keys.
const SHARDS: usize = 64;

/// A task that is called with its number.
pub type LayerTask<'t> = dyn Fn(usize) + Sync + 't;

/// Packs what must still be explored.
pub type PackOpen<'p> = dyn Fn() -> Vec<Work> + 'p;

/// The limits of a search by layers, and how it uses threads.
pub struct LayersLimits<'a> {
    /// Runs a task for each number below the given one, on any number of threads.
    pub run_tasks: &'a dyn Fn(usize, &LayerTask<'_>),
    /// The approximate maximum number of children made.
    pub made: u64,
    /// Whether to stop; called often, by all tasks, and true from then on.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Receives the progress after each layer, and what must still be explored.
    pub report: &'a dyn Fn(&LayersProgress, &PackOpen<'_>),
}

/// What a search by layers knows.
#[derive(Clone, Debug)]
pub struct LayersProgress {
    /// Its counts. Nodes that several passes explore are counted each time.
    pub counts: Counts,
    /// The best solution.
    pub best: Option<Solution>,
    /// No solution has a lower score.
    pub least: i64,
    /// The number of nodes in the present layer.
    pub layer: usize,
}

impl LayersProgress {
    /// What is known before the search.
    #[must_use]
    pub fn new(best: Option<Solution>) -> Self {
        Self { counts: Counts::default(), best, least: i64::MIN, layer: 0 }
    }
}

/// The result of a search by layers.
#[derive(Clone, Debug)]
pub struct LayersEnd {
    /// What is known.
    pub progress: LayersProgress,
    /// What must still be explored.
    pub open: Vec<Work>,
    /// A bound that turned out to be wrong.
    pub fault: Option<WrongBound>,
}

/// A tree that can be searched by layers, for the solution of least score.
pub trait Layered: Sync {
    /// Whether nodes are compared by dominance.
    fn has_keys(&self) -> bool;

    /// Whether a search by layers can continue with open work: its nodes have one depth, or two neighbouring ones.
    ///
    /// # Errors
    /// If the work cannot be read.
    fn is_layer(&self, open: &[Work]) -> Result<bool, Malformed>;

    /// Searches open work for solutions with scores below `best`, and below that of `start`. The result is the same on
    /// any number of threads, unless a limit stops it.
    ///
    /// # Errors
    /// If the work cannot be read.
    fn search_by_layers(
        &self,
        open: Vec<Work>,
        best: i64,
        start: Option<Solution>,
        limits: &LayersLimits<'_>,
    ) -> Result<LayersEnd, Malformed>;
}

impl<T: Tree> Layered for T {
    fn has_keys(&self) -> bool {
        self.key(&self.root()).is_some()
    }

    fn is_layer(&self, open: &[Work]) -> Result<bool, Malformed> {
        let (mut least, mut most) = (u32::MAX, 0);
        for piece in open {
            for Entry { depth, .. } in read(self, &piece.bytes)?.entries() {
                (least, most) = (least.min(*depth), most.max(*depth));
            }
        }
        // A layer that was stopped leaves some of its nodes, and children of others.
        Ok(most.saturating_sub(least) <= 1)
    }

    fn search_by_layers(
        &self,
        open: Vec<Work>,
        best: i64,
        start: Option<Solution>,
        limits: &LayersLimits<'_>,
    ) -> Result<LayersEnd, Malformed> {
        let mut pool = Pool::default();
        for piece in open {
            pool.append(read(self, &piece.bytes)?);
        }
        let open = pool.into_entries();
        let mut width = FIRST_WIDTH;
        while width < open.len() {
            width = width.saturating_mul(WIDER);
        }
        let progress = LayersProgress::new(start);
        let mut search =
            LayerSearch { tree: self, open, to_beat: best, limits, progress, fault: None };
        let open = loop {
            match search.pass(width) {
                Pass::Complete => break Vec::new(),
                Pass::Open(layer) => break search.to_work(&layer),
                Pass::Cut => width = width.saturating_mul(WIDER),
                Pass::Stopped => break search.to_work(&search.open),
            }
        };
        Ok(LayersEnd { open, progress: search.progress, fault: search.fault })
    }
}

/// How a pass ended.
enum Pass<N> {
    /// No node is open.
    Complete,
    /// Nodes were left out below which there may be a solution.
    Cut,
    /// It was stopped, and these nodes are open.
    Open(Vec<Entry<N>>),
    /// It was stopped after nodes were left out.
    Stopped,
}

struct LayerSearch<'s, T: Tree> {
    tree: &'s T,
    /// The open nodes, sorted by depth, before any were left out: here passes begin.
    open: Vec<Entry<T::Node>>,
    to_beat: i64,
    limits: &'s LayersLimits<'s>,
    progress: LayersProgress,
    fault: Option<WrongBound>,
}

/// A node of the next layer.
struct Child<N> {
    key: Option<u128>,
    guide: i64,
    entry: Entry<N>,
}

impl<N> Child<N> {
    fn new<T: Tree<Node = N>>(tree: &T, entry: Entry<N>) -> Self {
        let (node, bound) = (&entry.node, T::GOAL.value(entry.bound));
        let (key, guide) = (tree.key(node), tree.guide(node, bound));
        Self { key, guide, entry }
    }
}

/// A layer that was expanded: the next one and, if it was stopped, the nodes that are left.
struct Grown<N> {
    next: Vec<Child<N>>,
    left: Option<Vec<Entry<N>>>,
}

/// What a task has found, and the nodes that it was stopped before.
struct Piece<N> {
    children: Vec<Child<N>>,
    left: Vec<Entry<N>>,
    counts: Counts,
    found: Option<Solution>,
    fault: Option<WrongBound>,
}

impl<T: Tree> LayerSearch<'_, T> {
    /// The score that solutions must beat.
    fn limit(&self) -> i64 {
        self.progress.best.as_ref().map_or(self.to_beat, |best| best.score.min(self.to_beat))
    }

    /// Notes that no solution is better than what these nodes, and those that were left out, may lead to.
    fn raise_least(&mut self, open: &[Entry<T::Node>], left_out: Option<i64>) {
        let bounds = open.iter().map(|entry| entry.bound).chain(left_out);
        self.progress.least = self.progress.least.max(bounds.fold(self.limit(), i64::min));
    }

    /// Open nodes as work. What is proven of all nodes is true of each.
    fn to_work(&self, open: &[Entry<T::Node>]) -> Vec<Work> {
        let raised = |entry: &Entry<T::Node>| {
            let bound = entry.bound.max(self.progress.least);
            let raised = Entry { bound, ..entry.clone() };
            if self.tree.valid(&raised) { raised } else { entry.clone() }
        };
        let piece = |piece: &[_]| Pool::new(piece.iter().map(raised).collect()).to_work();
        open.chunks(PIECE).map(piece).collect()
    }

    /// Goes through all layers, of which each keeps at most `width` nodes.
    fn pass(&mut self, width: usize) -> Pass<T::Node> {
        let mut layer = self.open.clone();
        let shallow = layer.first().map_or(0, |entry| entry.depth);
        // Where a layer was stopped, some of the next one is known. Then the first pass is wide enough for all.
        let mut joining = layer.split_off(layer.partition_point(|entry| entry.depth == shallow));
        // The least bound of all nodes that were left out.
        let mut left_out: Option<i64> = None;
        let nodes = layer.into_iter().map(|entry| Child::new(self.tree, entry)).collect();
        let nodes = self.undominated(nodes);
        layer = self.narrow(nodes, width, &mut left_out);
        while !layer.is_empty() || !joining.is_empty() {
            let Grown { next, left } = self.grow(layer, std::mem::take(&mut joining));
            if self.fault.is_some() {
                return Pass::Stopped;
            }
            if let Some(mut open) = left {
                let limit = self.limit();
                open.extend(next.into_iter().map(|child| child.entry));
                open.retain(|entry| entry.bound < limit);
                self.raise_least(&open, left_out);
                let whole = left_out.is_none_or(|bound| bound >= limit);
                return if whole { Pass::Open(open) } else { Pass::Stopped };
            }
            layer = self.narrow(next, width, &mut left_out);
            self.raise_least(&layer, left_out);
            self.progress.layer = layer.len();
            let open = if left_out.is_some() { &self.open } else { &layer };
            (self.limits.report)(&self.progress, &|| self.to_work(open));
        }
        // Solutions found later may show that nothing better was left out.
        match left_out {
            Some(bound) if bound < self.limit() => Pass::Cut,
            _ => Pass::Complete,
        }
    }

    /// Drops nodes that cannot be better than what is known, and keeps the `width` most promising others.
    fn narrow(
        &mut self,
        mut nodes: Vec<Child<T::Node>>,
        width: usize,
        left_out: &mut Option<i64>,
    ) -> Vec<Entry<T::Node>> {
        let limit = self.limit();
        nodes.retain(|node| node.entry.bound < limit);
        if nodes.len() > width {
            if left_out.is_none() {
                self.open = nodes.iter().map(|node| node.entry.clone()).collect();
            }
            let worst = cut(&mut nodes, width);
            *left_out = Some(left_out.map_or(worst, |bound| bound.min(worst)));
        }
        nodes.into_iter().map(|node| node.entry).collect()
    }

    /// Expands the nodes of a layer. The next layer includes the joining nodes. Unless the search was stopped, dominated
    /// nodes are dropped.
    fn grow(&mut self, layer: Vec<Entry<T::Node>>, joining: Vec<Entry<T::Node>>) -> Grown<T::Node> {
        let (tree, limit, stop, most) =
            (self.tree, self.limit(), self.limits.stop, self.limits.made);
        let made = AtomicU64::new(self.progress.counts.bounded);
        let stops =
            |counted: u64| made.fetch_add(counted, Ordering::Relaxed) + counted >= most || stop();
        let chunks = in_pieces(layer).collect();
        let pieces = self.each(chunks, &|chunk| expand_all(tree, chunk, limit, &stops));
        let (mut children, mut left) = (Vec::new(), Vec::new());
        for piece in pieces {
            self.progress.counts.add(&piece.counts);
            if let Some(found) = piece.found.filter(|found| found.score < self.limit()) {
                self.progress.best = Some(found);
            }
            self.fault = self.fault.or(piece.fault);
            children.extend(piece.children);
            left.extend(piece.left);
        }
        children.extend(joining.into_iter().map(|entry| Child::new(tree, entry)));
        if made.into_inner() >= most || stop() {
            Grown { next: children, left: Some(left) }
        } else {
            Grown { next: self.undominated(children), left: None }
        }
    }

    /// The children that no other one with the same key dominates, in order; more of them if it was stopped.
    fn undominated(&self, children: Vec<Child<T::Node>>) -> Vec<Child<T::Node>> {
        if children.iter().all(|child| child.key.is_none()) {
            return children;
        }
        let (tree, stop) = (self.tree, self.limits.stop);
        let (mut shards, mut kept): (Vec<Vec<_>>, Vec<_>) = Default::default();
        shards.resize_with((children.len() / PIECE + 1).min(SHARDS), Vec::new);
        let among = shards.len();
        for (i, child) in children.into_iter().enumerate() {
            match child.key {
                Some(key) => shards[shard(key, among)].push((i, child)),
                None => kept.push((i, child)),
            }
        }
        for shard in self.each(shards, &|shard| undominated_of(tree, shard, stop)) {
            kept.extend(shard);
        }
        kept.sort_unstable_by_key(|(i, _)| *i);
        kept.into_iter().map(|(_, child)| child).collect()
    }

    /// Runs a task on each item.
    fn each<A: Send, R: Send>(&self, items: Vec<A>, task: &(dyn Fn(A) -> R + Sync)) -> Vec<R> {
        let items: Vec<_> = items.into_iter().map(|item| Mutex::new((Some(item), None))).collect();
        let lock = |nth: usize| items[nth].lock().unwrap_or_else(PoisonError::into_inner);
        (self.limits.run_tasks)(items.len(), &|nth| {
            let item = lock(nth).0.take();
            let result = item.map(task);
            lock(nth).1 = result;
        });
        let results = items.into_iter().map(|item| item.into_inner());
        let results = results.map(|slot| slot.unwrap_or_else(PoisonError::into_inner).1);
        results.map(|result| result.expect("every task was run")).collect()
    }
}

/// The children of a shard that no other one with the same key dominates, with their numbers; more of them if it was
/// stopped.
fn undominated_of<T: Tree>(
    tree: &T,
    shard: Vec<(usize, Child<T::Node>)>,
    stop: &dyn Fn() -> bool,
) -> Vec<(usize, Child<T::Node>)> {
    type Group<N> = Vec<(usize, Child<N>)>;
    let mut by_key: HashMap<Option<u128>, Group<T::Node>> = HashMap::new();
    for (i, child) in shard {
        let kept = by_key.entry(child.key).or_default();
        let node = &child.entry.node;
        if stop() {
            kept.push((i, child));
        } else if !kept.iter().any(|(_, other)| tree.dominates(&other.entry.node, node)) {
            kept.retain(|(_, other)| !tree.dominates(node, &other.entry.node));
            kept.push((i, child));
        }
    }
    by_key.into_values().flatten().collect()
}

/// The nodes of a layer in pieces, without copies.
fn in_pieces<N>(layer: Vec<Entry<N>>) -> impl Iterator<Item = Vec<Entry<N>>> {
    let mut entries = layer.into_iter();
    std::iter::from_fn(move || {
        let piece: Vec<_> = entries.by_ref().take(PIECE).collect();
        (!piece.is_empty()).then_some(piece)
    })
}

/// The number of a key's shard, below `shards`.
fn shard(key: u128, shards: usize) -> usize {
    let mixed = (key as u64 ^ (key >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as usize % shards
}

/// Keeps the `width` nodes of least guide, in their order. Returns the least bound of the others.
fn cut<N>(layer: &mut Vec<Child<N>>, width: usize) -> i64 {
    let mut order: Vec<(i64, usize)> =
        layer.iter().enumerate().map(|(i, child)| (child.guide, i)).collect();
    order.select_nth_unstable(width);
    let last = order[width];
    let (mut nth, mut worst) = (0, i64::MAX);
    layer.retain(|child| {
        let keep = (child.guide, nth) < last;
        nth += 1;
        if !keep {
            worst = worst.min(child.entry.bound);
        }
        keep
    });
    worst
}

/// Expands nodes one after the other, with the explorer that all searches use. `stops` gets the number of children made.
fn expand_all<T: Tree>(
    tree: &T,
    nodes: Vec<Entry<T::Node>>,
    limit: i64,
    stops: &dyn Fn(u64) -> bool,
) -> Piece<T::Node> {
    let (mut explorer, mut limit) = (TreeExplorer::new(tree), limit);
    let (children, left, counts) = (Vec::new(), Vec::new(), Counts::default());
    let mut piece = Piece { children, left, counts, found: None, fault: None };
    let (mut nodes, mut made) = (nodes.into_iter(), 0);
    while !stops(made) && piece.fault.is_none() {
        let Some(entry) = nodes.next() else { break };
        explorer.put_pool(Pool::new(vec![entry]));
        let progress = explorer.run(1, limit);
        piece.counts.add(&progress.counts);
        if let Some(found) = progress.found {
            limit = found.score;
            piece.found = Some(found);
        }
        piece.fault = progress.fault;
        // The next one to explore is last.
        let children = explorer.take_pool().into_entries().into_iter().rev();
        piece.children.extend(children.map(|entry| Child::new(tree, entry)));
        made = progress.counts.bounded;
    }
    piece.left.extend(nodes);
    piece
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;

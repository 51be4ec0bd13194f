//! [`Layered`]: search by layers: all nodes of a depth at once, without those that others dominate; at first only the most
//! promising ones of each layer, in later passes more, until none is left out.

use crate::search::depth_first::TreeExplorer;
use crate::search::explorer::Explorer;
use crate::search::tree::{Counts, Solution, Tree, WrongBound};
use crate::search::work::{Entry, Pool, Work};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The nodes of a layer that the first pass keeps, and how much wider each next pass is.
const FIRST_WIDTH: usize = 256;
const WIDER: usize = 8;
/// The nodes that a task expands.
const PIECE: usize = 256;
/// The most tasks into which the nodes of a layer are divided by their keys.
const SHARDS: usize = 64;

/// A task for each of some numbers.
pub type LayerTask<'t> = dyn Fn(usize) + Sync + 't;

/// The limits of a search by layers, and how it uses threads.
pub struct LayersLimits<'a> {
    /// Runs a task for each number below the given one, on any number of threads.
    pub run_tasks: &'a dyn Fn(usize, &LayerTask<'_>),
    /// The most children made.
    pub made: u64,
    /// Whether to stop; called often, by all tasks.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Receives the progress after each layer.
    pub report: &'a dyn Fn(&LayersProgress),
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

    /// Searches for solutions with scores below `best`, and below that of `start`. The result is the same on any number
    /// of threads, unless a limit stops it.
    fn search_by_layers(
        &self,
        best: i64,
        start: Option<Solution>,
        limits: &LayersLimits<'_>,
    ) -> LayersEnd;
}

impl<T: Tree> Layered for T {
    fn has_keys(&self) -> bool {
        self.key(&self.root()).is_some()
    }

    fn search_by_layers(
        &self,
        best: i64,
        start: Option<Solution>,
        limits: &LayersLimits<'_>,
    ) -> LayersEnd {
        let progress = LayersProgress::new(start);
        let mut search = LayerSearch { tree: self, to_beat: best, limits, progress, fault: None };
        let mut width = FIRST_WIDTH;
        let mut open = loop {
            match search.pass(width) {
                Pass::Complete => break Vec::new(),
                Pass::Open(layer) => break layer,
                Pass::Cut => width = width.saturating_mul(WIDER),
                Pass::Stopped => break vec![search.root()],
            }
        };
        // What is proven of all nodes is true of each.
        let least = search.progress.least;
        for entry in &mut open {
            let own = entry.bound;
            entry.bound = own.max(least);
            if !self.valid(entry) {
                entry.bound = own;
            }
        }
        let open = in_pieces(open).map(|piece| Pool::new(piece).to_work()).collect();
        LayersEnd { open, progress: search.progress, fault: search.fault }
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

struct LayerSearch<'s, T> {
    tree: &'s T,
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

/// What a task has found.
struct Piece<N> {
    children: Vec<Child<N>>,
    counts: Counts,
    found: Option<Solution>,
    fault: Option<WrongBound>,
}

/// What expanding a layer counted and found, and the next layer.
type Expanded<N> = (Vec<Piece<N>>, Vec<Child<N>>);

impl<T: Tree> LayerSearch<'_, T> {
    fn root(&self) -> Entry<T::Node> {
        Entry { bound: i64::MIN, depth: 0, share: 1.0, node: self.tree.root() }
    }

    /// The score that solutions must beat.
    fn limit(&self) -> i64 {
        self.progress.best.as_ref().map_or(self.to_beat, |best| best.score.min(self.to_beat))
    }

    /// Goes through all layers, of which each keeps at most `width` nodes.
    fn pass(&mut self, width: usize) -> Pass<T::Node> {
        let mut layer = vec![self.root()];
        // The least bound of all nodes that were left out.
        let mut left_out: Option<i64> = None;
        while !layer.is_empty() {
            let Some((pieces, mut next)) = self.grow(&mut layer) else {
                return if left_out.is_some() { Pass::Stopped } else { Pass::Open(layer) };
            };
            for piece in pieces {
                self.progress.counts.add(&piece.counts);
                if let Some(found) = piece.found.filter(|found| found.score < self.limit()) {
                    self.progress.best = Some(found);
                }
                self.fault = self.fault.or(piece.fault);
            }
            if self.fault.is_some() {
                return Pass::Stopped;
            }
            let limit = self.limit();
            next.retain(|child| child.entry.bound < limit);
            if next.len() > width {
                let worst = cut(&mut next, width);
                left_out = Some(left_out.map_or(worst, |bound| bound.min(worst)));
            }
            layer = next.into_iter().map(|child| child.entry).collect();
            let open = layer.iter().map(|entry| entry.bound).chain(left_out);
            self.progress.least = self.progress.least.max(open.fold(limit, i64::min));
            self.progress.layer = layer.len();
            (self.limits.report)(&self.progress);
        }
        // Solutions found later may show that nothing better was left out.
        match left_out {
            Some(bound) if bound < self.limit() => Pass::Cut,
            _ => Pass::Complete,
        }
    }

    /// Expands all nodes of a layer. Returns what that counted and found, and the next layer without the nodes that are
    /// dominated; `None` if it was stopped.
    fn grow(&self, layer: &mut Vec<Entry<T::Node>>) -> Option<Expanded<T::Node>> {
        let (tree, limit, stop, most) =
            (self.tree, self.limit(), self.limits.stop, self.limits.made);
        let (made, stopped) =
            (AtomicU64::new(self.progress.counts.bounded), AtomicBool::new(false));
        let may_continue = |counted: u64| {
            let all = made.fetch_add(counted, Ordering::Relaxed) + counted;
            if all >= most || stop() {
                stopped.store(true, Ordering::Relaxed);
            }
            !stopped.load(Ordering::Relaxed)
        };
        let chunks = in_pieces(std::mem::take(layer)).collect();
        let (chunks, pieces): (Vec<_>, Vec<_>) = self
            .each(chunks, &|chunk| {
                let piece = expand_all(tree, &chunk, limit, &may_continue);
                (chunk, piece)
            })
            .into_iter()
            .unzip();
        layer.extend(chunks.into_iter().flatten());
        if stopped.into_inner() {
            return None;
        }
        let mut pieces: Vec<Piece<T::Node>> = pieces;
        let children = pieces.iter_mut().flat_map(|piece| std::mem::take(&mut piece.children));
        let children = self.undominated(children.collect())?;
        Some((pieces, children))
    }

    /// The children that no other one with the same key dominates, in order; `None` if it was stopped.
    fn undominated(&self, children: Vec<Child<T::Node>>) -> Option<Vec<Child<T::Node>>> {
        if children.iter().all(|child| child.key.is_none()) {
            return Some(children);
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
            kept.append(&mut shard?);
        }
        kept.sort_unstable_by_key(|(i, _)| *i);
        Some(kept.into_iter().map(|(_, child)| child).collect())
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

/// The children of a shard that no other one with the same key dominates, with their numbers; `None` if it was stopped.
fn undominated_of<T: Tree>(
    tree: &T,
    shard: Vec<(usize, Child<T::Node>)>,
    stop: &dyn Fn() -> bool,
) -> Option<Vec<(usize, Child<T::Node>)>> {
    type Group<N> = Vec<(usize, Child<N>)>;
    let mut by_key: HashMap<u128, Group<T::Node>> = HashMap::new();
    for (i, child) in shard {
        if stop() {
            return None;
        }
        let kept = by_key.entry(child.key?).or_default();
        let node = &child.entry.node;
        if !kept.iter().any(|(_, other)| tree.dominates(&other.entry.node, node)) {
            kept.retain(|(_, other)| !tree.dominates(node, &other.entry.node));
            kept.push((i, child));
        }
    }
    Some(by_key.into_values().flatten().collect())
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

/// Expands nodes one after the other, with the explorer that all searches use. `may_continue` gets the number of children
/// made.
fn expand_all<T: Tree>(
    tree: &T,
    nodes: &[Entry<T::Node>],
    limit: i64,
    may_continue: &dyn Fn(u64) -> bool,
) -> Piece<T::Node> {
    let (mut explorer, mut limit) = (TreeExplorer::new(tree), limit);
    let (children, counts) = (Vec::new(), Counts::default());
    let mut piece = Piece { children, counts, found: None, fault: None };
    for entry in nodes {
        explorer.put_pool(Pool::new(vec![entry.clone()]));
        let progress = explorer.run(1, limit);
        piece.counts.add(&progress.counts);
        if let Some(found) = progress.found {
            limit = found.score;
            piece.found = Some(found);
        }
        piece.fault = piece.fault.or(progress.fault);
        // The next one to explore is last.
        for entry in explorer.take_pool().into_entries().into_iter().rev() {
            let (node, bound) = (&entry.node, T::GOAL.value(entry.bound));
            let (key, guide) = (tree.key(node), tree.guide(node, bound));
            piece.children.push(Child { key, guide, entry });
        }
        if piece.fault.is_some() || !may_continue(progress.counts.bounded) {
            break;
        }
    }
    piece
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;

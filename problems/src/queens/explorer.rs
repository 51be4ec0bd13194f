//! [`Wide`]: many boards of one row at a time, on any kernel.

use super::layer::{Kernel, Layer, Limits};
use super::tree::{Board, Queens};
use pleach_core::search::depth_first::TreeExplorer;
use pleach_core::search::explorer::{Explorer, Progress};
use pleach_core::search::tree::{Tree, read};
use pleach_core::search::work::{Entry, Malformed, Pool, Work, portion};

/// Boards on a stack that make a visit worthwhile. With fewer, visits are too short for their
/// overhead; with more, work becomes large to pack and send.
const MIN_VISIT: usize = 1024;
/// Boards on a stack that end the visit to the layer above.
const ENOUGH: usize = 2 * MIN_VISIT;
/// Placements that end a visit: about a microsecond.
const VISIT: u64 = 4096;

/// The first row whose boards all stand for the same number of boards.
const FIRST: u32 = 2;

/// Depth-first search by layers: the lowest layer with enough boards comes first.
pub struct Wide<'q, K: Kernel> {
    queens: &'q Queens,
    kernel: K,
    /// Boards not in a layer yet, shallowest first.
    waiting: Vec<Entry<Board>>,
    /// Boards of the rows from [`FIRST`] to the last but one. Boards of the last row are never
    /// stored: they have one free square or none.
    layers: Vec<Layer<K::Word>>,
    /// No layer after this one is worth a visit.
    deepest: usize,
}

impl<'q, K: Kernel> Wide<'q, K> {
    /// An explorer with no work yet.
    pub fn new(queens: &'q Queens, kernel: K) -> Self {
        let layer = |_| Layer::new(K::LANES, ENOUGH + K::SLACK);
        let layers = (FIRST..queens.n - 1).map(layer).collect();
        Self { queens, kernel, waiting: Vec::new(), layers, deepest: 0 }
    }

    /// Moves waiting boards into layers until one is worth a visit.
    fn take_up(&mut self, progress: &mut Progress) {
        let full = self.queens.full();
        while let Some(entry) = self.waiting.pop() {
            let board = &entry.node;
            let layer = board.row.wrapping_sub(FIRST) as usize;
            let Some(here) = self.layers.get_mut(layer) else {
                self.expand(entry, progress);
                continue;
            };
            if !here.put(board, full) {
                self.expand(entry, progress);
                continue;
            }
            progress.counts.branched += self.queens.weight(board);
            self.deepest = self.deepest.max(layer);
            if here.len >= MIN_VISIT {
                return;
            }
        }
    }

    /// Branches one board in plain code; its children wait.
    fn expand(&mut self, entry: Entry<Board>, progress: &mut Progress) {
        let mut plain = TreeExplorer::new(self.queens);
        plain.put_pool(Pool::new(vec![entry]));
        progress.add(plain.run(1, i64::MAX));
        self.waiting.extend(plain.take_pool().into_entries());
    }

    /// The layer to visit next, and whether to finish it.
    fn choose(&mut self, progress: &mut Progress) -> Option<(usize, bool)> {
        loop {
            let worth = |layer: &Layer<_>| layer.len >= MIN_VISIT;
            if let Some(deepest) = self.layers[..=self.deepest].iter().rposition(worth) {
                self.deepest = deepest;
                return Some((deepest, false));
            }
            if self.waiting.is_empty() {
                break;
            }
            self.take_up(progress);
        }
        // No layer can keep the lanes busy: from the top down, collect the boards of one row.
        self.deepest = 0;
        self.layers.iter().position(|layer| layer.size() > 0).map(|shallowest| (shallowest, true))
    }

    fn visit(&mut self, layer: usize, finish: bool, progress: &mut Progress) {
        let (here, below) = self.layers[layer..].split_first_mut().expect("a layer that exists");
        let below = below.first_mut();
        let last = below.is_none();
        let limits = Limits { made: VISIT, below: ENOUGH, finish };
        let counted = self.kernel.visit(here, below, limits);
        let row = layer as u32 + FIRST;
        let images = self.queens.usual_images();
        let counts = &mut progress.counts;
        counts.bounded += images * counted.made;
        counts.branched += images * counted.kept;
        if counted.made > 0 {
            counts.depth = counts.depth.max(row + 1);
        }
        if last {
            // A board with a free square in the last row has exactly one: a solution.
            counts.bounded += images * counted.kept;
            counts.total += u128::from(images * counted.kept);
            if counted.kept > 0 {
                counts.depth = counts.depth.max(row + 2);
            }
        } else {
            self.deepest = layer + 1;
        }
        progress.used = progress.counts.bounded;
    }

    /// Turns all layers back into waiting boards.
    fn gather(&mut self) {
        let mut boards = Vec::new();
        for (layer, row) in self.layers.iter_mut().zip(FIRST..) {
            layer.take(row, self.queens.full(), &mut boards);
        }
        self.wait(self.entries(boards));
    }

    fn entries(&self, boards: Vec<Board>) -> Vec<Entry<Board>> {
        let entry = |board: Board| Entry {
            bound: i64::MIN,
            depth: board.row,
            share: self.queens.share(board.row),
            node: board,
        };
        boards.into_iter().map(entry).collect()
    }

    /// Gives boards from the stacks alone, the same fraction of each and the remainder from the
    /// topmost ones, without touching the rest. `None` if the stacks hold too few.
    fn split_stacks(&mut self, share: f64) -> Option<Pool<Board>> {
        let stacked = self.layers.iter().map(|layer| layer.len).sum();
        let part = |len: usize| ((share * len as f64) as usize).min(len);
        let even = self.layers.iter().map(|layer| part(layer.len)).sum();
        let mut left = portion(share, stacked).checked_sub(even).filter(|_| stacked >= 2)?;
        let mut boards = Vec::new();
        for (layer, row) in self.layers.iter_mut().zip(FIRST..) {
            let even = part(layer.len);
            let more = left.min(layer.len - even);
            left -= more;
            layer.give(even + more, row, self.queens.full(), &mut boards);
        }
        Some(Pool::new(self.entries(boards)))
    }

    fn wait(&mut self, mut entries: Vec<Entry<Board>>) {
        entries.append(&mut self.waiting);
        self.waiting = Pool::new(entries).into_entries();
    }
}

impl<K: Kernel> Explorer for Wide<'_, K> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        self.wait(read(self.queens, work)?.into_entries());
        Ok(())
    }

    fn size(&self) -> f64 {
        (self.waiting.len() + self.layers.iter().map(Layer::size).sum::<usize>()) as f64
    }

    fn least_bound(&self) -> Option<i64> {
        (self.size() > 0.0).then_some(i64::MIN)
    }

    fn open_share(&self) -> Option<f64> {
        let share = |row: u32| f64::from(self.queens.share(row));
        let waiting: f64 = self.waiting.iter().map(|entry| share(entry.depth)).sum();
        let layers = self.layers.iter().zip(FIRST..);
        Some(waiting + layers.map(|(layer, row)| layer.size() as f64 * share(row)).sum::<f64>())
    }

    fn run(&mut self, fuel: u64, _best: i64) -> Progress {
        let mut progress = Progress::default();
        while progress.used < fuel {
            let Some((layer, finish)) = self.choose(&mut progress) else { break };
            self.visit(layer, finish, &mut progress);
        }
        progress
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        if self.waiting.is_empty()
            && let Some(given) = self.split_stacks(share)
        {
            return Some(given.to_work());
        }
        self.gather();
        let mut pool = Pool::new(std::mem::take(&mut self.waiting));
        let given = pool.split(share);
        self.waiting = pool.into_entries();
        given.map(|given| given.to_work())
    }

    fn drain(&mut self) -> Work {
        self.gather();
        Pool::new(std::mem::take(&mut self.waiting)).to_work()
    }
}

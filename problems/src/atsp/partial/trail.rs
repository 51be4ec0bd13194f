//! [`Trail`]: depth-first search along one path, with the possible successors at each step.

use super::rows::{Kernel, MOST_CITIES, Plain, Rows};
use super::{Node, Paths};
use crate::simd::Level;
use crate::simd::instructions::Task;
#[cfg(target_arch = "x86_64")]
use crate::simd::{atsp_avx2, atsp_avx512};
use pleach_core::search::explorer::{Explorer, Progress};
use pleach_core::search::ranked::RankedExplorer;
use pleach_core::search::tree::{Solution, read};
use pleach_core::search::work::{Entry, Malformed, Nodes, Pool, Work};

/// A node on the path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    /// Lanes of the city's row still to be explored, and the lane entered last.
    pub open: u64,
    pub lane: u8,
    /// How many lanes were open at first.
    width: u8,
    pub city: u8,
    /// Cities not on the path.
    pub left: u64,
    /// The cost of the path.
    pub cost: i64,
}

/// The lane of a frame none of whose lanes has been entered.
const NO_LANE: u8 = u8::MAX;

/// The path, and the nodes that wait.
pub(crate) struct Trail<'p, K> {
    pub(super) paths: &'p Paths,
    pub(super) kernel: K,
    waiting: Pool<Node>,
    /// The node of the first frame.
    first: Node,
    first_part: f32,
    pub(super) frames: Vec<Frame>,
    /// Open lanes of all frames.
    pub(super) open: usize,
}

/// The limit and the progress of one call.
pub(super) struct Stretch {
    /// The incumbent's value, in the raised costs of [`Rows`].
    best: i64,
    pub progress: Progress,
}

impl<'p, K: Kernel> Trail<'p, K> {
    /// A search with no work yet.
    pub fn new(paths: &'p Paths, kernel: K) -> Self {
        let frames = Vec::with_capacity(MOST_CITIES);
        let (waiting, first) = (Pool::default(), Node::default());
        Self { paths, kernel, waiting, first, first_part: 1.0, frames, open: 0 }
    }

    pub(super) fn rows(&self) -> &'p Rows {
        &self.paths.rows
    }

    /// Starts a call with the user's best value.
    pub(super) fn stretch(&self, best: i64, progress: Progress) -> Stretch {
        Stretch { best: self.rows().inside(best), progress }
    }

    /// Makes a waiting node the first frame.
    pub(super) fn start(&mut self, entry: Entry<Node>, stretch: &mut Stretch) {
        let Entry { bound, share, node, .. } = entry;
        if self.rows().inside(bound) >= stretch.best {
            return;
        }
        let (left, cost) = (self.paths.left(&node.path), self.paths.cost(&node.path));
        let city = node.path.last().copied().unwrap_or(0);
        (self.first, self.first_part) = (node, share);
        self.branch(city, left, cost, stretch);
    }

    /// Counts a node and pushes it onto the path, unless it is one city short of a tour.
    #[inline(always)]
    fn branch(&mut self, city: u8, left: u64, cost: i64, stretch: &mut Stretch) {
        let counts = &mut stretch.progress.counts;
        counts.branched += 1;
        let number = left.count_ones();
        counts.bounded += u64::from(number);
        // The depth of the node's children.
        let depth = self.rows().rows.len() as u32 - number.max(1);
        counts.depth = counts.depth.max(depth);
        if number <= 1 {
            return self.complete(city, left, cost, stretch);
        }
        let limit = (stretch.best - cost).clamp(0, i64::from(i32::MAX)) as i32;
        let rows = &self.rows().rows;
        let open = self.kernel.open(&rows[usize::from(city)], rows.len(), left, limit);
        let width = open.count_ones() as u8;
        self.open += usize::from(width);
        self.frames.push(Frame { open, lane: NO_LANE, width, city, left, cost });
    }

    /// Completes the path with its last city.
    #[inline(always)]
    fn complete(&mut self, city: u8, left: u64, cost: i64, stretch: &mut Stretch) {
        let last = (left != 0).then(|| left.trailing_zeros() as u8);
        let end = last.map_or(usize::from(city), usize::from);
        let length = cost + self.rows().cost(city.into(), end) + self.rows().cost(end, 0);
        if length < stretch.best {
            stretch.best = length;
            let path = self.path(self.frames.len()).path;
            let plan = Paths::solution_of(path.into_iter().chain(last));
            stretch.progress.found =
                Some(Solution { score: self.rows().outside(length), solution: plan });
        }
    }

    /// Enters a child of the last frame.
    #[inline(always)]
    fn descend(&mut self, lane: usize, stretch: &mut Stretch) {
        let Some(last) = self.frames.last_mut() else { return };
        let row = &self.paths.rows.rows[usize::from(last.city)];
        last.lane = lane as u8;
        let (city, cost) = (row.cities[lane], last.cost + i64::from(row.costs[lane]));
        let left = last.left & !(1 << city);
        self.branch(city, left, cost, stretch);
    }

    /// The next lane of the last frame to enter. Pops the frame if it has none.
    #[inline(always)]
    fn next(&mut self, stretch: &Stretch) -> Option<usize> {
        let last = self.frames.last_mut()?;
        if last.open == 0 {
            self.frames.pop();
            return None;
        }
        let lane = last.open.trailing_zeros() as usize;
        let row = &self.paths.rows.rows[usize::from(last.city)];
        if last.cost + i64::from(row.costs[lane]) >= stretch.best {
            // The incumbent has improved since, and the other lanes are no nearer.
            self.open -= last.open.count_ones() as usize;
            last.open = 0;
            return None;
        }
        last.open &= last.open - 1;
        self.open -= 1;
        Some(lane)
    }

    /// Whether the deepest node with open children was just branched, with no child entered yet.
    #[inline]
    pub(super) fn fresh(&self) -> bool {
        let last = self.frames.last();
        last.is_some_and(|last| last.open != 0 && last.lane == NO_LANE)
    }

    /// The node at the end of the first `frames` frames.
    fn path(&self, frames: usize) -> Node {
        let mut node = self.first.clone();
        let entered = self.frames[..frames].iter();
        node.path.extend(entered.map(|frame| self.city_at(frame, frame.lane.into())));
        node
    }

    fn city_at(&self, frame: &Frame, lane: usize) -> u8 {
        self.rows().rows[usize::from(frame.city)].cities[lane]
    }

    /// The bound of a child, in the user's costs.
    pub(super) fn bound(&self, frame: &Frame, lane: usize) -> i64 {
        let row = &self.rows().rows[usize::from(frame.city)];
        self.rows().outside(frame.cost + i64::from(row.costs[lane]))
    }

    /// The estimated fraction of the whole tree below an open child of a frame.
    pub(super) fn tree_part(&self, at: usize) -> f32 {
        let widths = self.frames[..=at].iter().map(|frame| f32::from(frame.width.max(1)));
        widths.fold(self.first_part, |part, width| part / width)
    }

    /// Takes open children of a frame, those that would be explored last first.
    fn give(&mut self, at: usize, n: usize, given: &mut Vec<Entry<Node>>) {
        let (path, share) = (self.path(at), self.tree_part(at));
        let depth = path.path.len() as u32 + 1;
        for _ in 0..n {
            let frame = &mut self.frames[at];
            let lane = 63 - frame.open.leading_zeros() as usize;
            frame.open &= !(1 << lane);
            self.open -= 1;
            let frame = self.frames[at];
            let mut node = path.clone();
            node.path.push(self.city_at(&frame, lane));
            given.push(Entry { bound: self.bound(&frame, lane), depth, share, node });
        }
    }

    /// Clears the path.
    pub(super) fn clear(&mut self) {
        self.frames.clear();
        (self.open, self.first, self.first_part) = (0, Node::default(), 1.0);
    }
}

/// Explores the path until it is exhausted, a solution is found, or the fuel runs out.
pub(super) struct Dive<'a, 'p, K> {
    pub trail: &'a mut Trail<'p, K>,
    /// A lane of the last frame to enter first, whatever the fuel.
    pub first: Option<usize>,
    pub fuel: u64,
    /// Whether to continue without fuel while [`Trail::fresh`] is true.
    pub to_a_point: bool,
    pub stretch: &'a mut Stretch,
}

impl<K: Kernel> Task for Dive<'_, '_, K> {
    #[inline(always)]
    fn run(self) {
        let Self { trail, mut first, fuel, to_a_point, stretch } = self;
        loop {
            let lane = match first.take() {
                Some(lane) => Some(lane),
                None if trail.open > 0
                    && (stretch.progress.counts.bounded < fuel || to_a_point && trail.fresh())
                    && stretch.progress.found.is_none() =>
                {
                    trail.next(stretch)
                }
                None => break,
            };
            if let Some(lane) = lane {
                trail.descend(lane, stretch);
            }
        }
    }
}

impl<K: Kernel> Explorer for Trail<'_, K> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        self.waiting.append(read(self.paths, work)?);
        Ok(())
    }

    fn size(&self) -> f64 {
        (self.waiting.len() + self.open) as f64
    }

    fn least_bound(&self) -> Option<i64> {
        let open = self.frames.iter().filter(|frame| frame.open != 0);
        let frames = open.map(|frame| self.bound(frame, frame.open.trailing_zeros() as usize));
        frames.chain(self.waiting.least_bound()).min()
    }

    fn open_share(&self) -> Option<f64> {
        let open = |at: usize| f64::from(self.frames[at].open.count_ones());
        let frames = (0..self.frames.len()).map(|at| f64::from(self.tree_part(at)) * open(at));
        Some(self.waiting.share() + frames.sum::<f64>())
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        let mut stretch = self.stretch(best, Progress::default());
        while stretch.progress.counts.bounded < fuel && stretch.progress.found.is_none() {
            if self.open > 0 {
                let kernel = self.kernel;
                let stretch = &mut stretch;
                kernel.inside(Dive { trail: self, first: None, fuel, to_a_point: false, stretch });
            } else {
                self.frames.clear();
                let Some(entry) = self.waiting.pop() else { break };
                self.start(entry, &mut stretch);
            }
        }
        stretch.progress.used = stretch.progress.counts.bounded;
        stretch.progress
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        let open = self.frames.iter().map(|frame| frame.open.count_ones() as usize);
        let (mut given, of_frames) = self.waiting.divide(open, share)?;
        for (at, &n) in of_frames.iter().enumerate() {
            self.give(at, n, &mut given);
        }
        Some(Pool::new(given).to_work())
    }

    fn drain(&mut self) -> Work {
        let mut all = std::mem::take(&mut self.waiting).into_entries();
        for at in 0..self.frames.len() {
            self.give(at, self.frames[at].open.count_ones() as usize, &mut all);
        }
        self.clear();
        Pool::new(all).to_work()
    }
}

/// The explorer for the kind of work and the code path of these paths.
pub(crate) fn explorer(paths: &Paths) -> Box<dyn Explorer + '_> {
    fn with<'p, K: Kernel + 'static>(paths: &'p Paths, kernel: K) -> Box<dyn Explorer + 'p> {
        let trail = Trail::new(paths, kernel);
        match paths.nodes {
            Nodes::Pool => Box::new(trail),
            Nodes::Interval => Box::new(RankedExplorer::new(trail)),
        }
    }
    #[cfg(target_arch = "x86_64")]
    match paths.level {
        Level::Avx512 => {
            if let Some(kernel) = atsp_avx512::Lanes::new() {
                return with(paths, kernel);
            }
        }
        Level::Avx2 => {
            if let Some(kernel) = atsp_avx2::Lanes::new() {
                return with(paths, kernel);
            }
        }
        Level::Off => {}
    }
    with(paths, Plain)
}

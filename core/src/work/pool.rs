//! Pools: open nodes by depth, the kind of work that every tree has.

use super::{Malformed, Pack, Reader, Work, portions};

/// An open node with what the engine knows of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<N> {
    /// What the subtree can still reach, lower is better; `i64::MIN` where the problem has no bound.
    pub bound: i64,
    /// Edges between the root and the node.
    pub depth: u32,
    /// The part of the whole tree that the subtree is thought to be.
    pub share: f32,
    /// The node.
    pub node: N,
}

/// A stack of open nodes in which depth never falls from bottom to top: the top is taken first.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool<N> {
    pub(crate) stack: Vec<Entry<N>>,
}

impl<N> Default for Pool<N> {
    fn default() -> Self {
        Self { stack: Vec::new() }
    }
}

impl<N> Pool<N> {
    /// A pool of these nodes, brought into order of depth.
    #[must_use]
    pub fn new(nodes: Vec<Entry<N>>) -> Self {
        let mut pool = Self { stack: nodes };
        pool.sort();
        pool
    }

    /// The pool that holds a whole tree.
    #[must_use]
    pub fn whole(root: N) -> Self {
        Self { stack: vec![Entry { bound: i64::MIN, depth: 0, share: 1.0, node: root }] }
    }

    /// Open nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stack.len()
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stack.is_empty()
    }

    /// The nodes, the one to take next last.
    #[must_use]
    pub fn into_entries(self) -> Vec<Entry<N>> {
        self.stack
    }

    /// The nodes, the one to take next last.
    #[must_use]
    pub fn entries(&self) -> &[Entry<N>] {
        &self.stack
    }

    /// Takes up another pool's nodes.
    pub fn append(&mut self, mut other: Self) {
        if self.stack.is_empty() {
            *self = other;
        } else {
            self.stack.append(&mut other.stack);
            self.sort();
        }
    }

    fn sort(&mut self) {
        if !self.stack.is_sorted_by_key(|entry| entry.depth) {
            self.stack.sort_by_key(|entry| entry.depth);
        }
    }

    /// Gives away a share of every depth: rounded down at each, the remainder from the shallowest.
    ///
    /// Of nodes at one depth, those that would have been explored last go first. A pool of two
    /// nodes or more gives at least one and keeps at least one; a smaller one gives nothing.
    pub fn split(&mut self, share: f64) -> Option<Self> {
        let runs = self.stack.chunk_by(|a, b| a.depth == b.depth);
        let given_at = portions(&runs.map(<[_]>::len).collect::<Vec<_>>(), share)?;
        let wanted = given_at.iter().sum();
        let mut given = Vec::with_capacity(wanted);
        let mut kept = Vec::with_capacity(self.stack.len() - wanted);
        let mut depths = given_at.into_iter();
        let (mut depth, mut left) = (u32::MAX, 0);
        for entry in self.stack.drain(..) {
            if entry.depth != depth {
                depth = entry.depth;
                left = depths.next().unwrap_or(0);
            }
            if left > 0 {
                left -= 1;
                given.push(entry);
            } else {
                kept.push(entry);
            }
        }
        self.stack = kept;
        Some(Self { stack: given })
    }
}

/// What a share gives of nodes that wait, in order of depth, and how many of the open children in
/// each of several frames below them; `None` if nothing is given.
pub fn divide<N>(
    waiting: &mut Vec<Entry<N>>,
    frames: impl Iterator<Item = usize>,
    share: f64,
) -> Option<(Vec<Entry<N>>, Vec<usize>)> {
    let mut sizes: Vec<usize> =
        waiting.chunk_by(|a, b| a.depth == b.depth).map(<[_]>::len).collect();
    let runs = sizes.len();
    sizes.extend(frames);
    let mut of_waiting = portions(&sizes, share)?;
    let of_frames = of_waiting.split_off(runs);
    let mut given = Vec::new();
    // From the deepest run down to the first, so that places before it stay.
    let mut end = waiting.len();
    for (&n, &size) in of_waiting.iter().zip(&sizes).rev() {
        let start = end - size;
        given.extend(waiting.drain(start..start + n));
        end = start;
    }
    Some((given, of_frames))
}

/// The greatest depth that is taken from the wire: one can be added to it, many times.
const DEEPEST: u32 = u32::MAX / 2;

/// Where a bound comes in the order none, 0, −1, 1, −2, …: bounds that are common stay short.
pub(crate) fn distance(bound: i64) -> u64 {
    ((bound << 1) ^ (bound >> 63)).cast_unsigned().wrapping_add(1)
}

/// The bound that comes at this place in the order.
pub(crate) fn bound_at(distance: u64) -> i64 {
    let zigzag = distance.wrapping_sub(1);
    (zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed()
}

impl<N: Pack> Pool<N> {
    /// The pool as it goes over the wire.
    ///
    /// Nodes come in runs of one depth: depth, number, then bound, share and node of each.
    #[must_use]
    pub fn to_work(&self) -> Work {
        let mut bytes = Vec::new();
        for run in self.stack.chunk_by(|a, b| a.depth == b.depth) {
            run[0].depth.pack(&mut bytes);
            run.len().pack(&mut bytes);
            for entry in run {
                distance(entry.bound).pack(&mut bytes);
                bytes.extend(entry.share.to_le_bytes());
                entry.node.pack(&mut bytes);
            }
        }
        let least_bound = self.least_bound().unwrap_or(i64::MAX);
        Work { size: self.stack.len() as f64, least_bound, bytes }
    }

    /// Reads a pool back from bytes that anyone may have sent.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader::new(bytes);
        let mut stack: Vec<Entry<N>> = Vec::new();
        while from.left() > 0 {
            let depth = u32::unpack(&mut from)?;
            let n = usize::unpack(&mut from)?;
            let in_order = stack.last().is_none_or(|last| last.depth < depth);
            if n == 0 || !in_order || depth > DEEPEST {
                return Err(Malformed::Range);
            }
            if n > from.left() / (5 + N::LEAST) {
                return Err(Malformed::Short);
            }
            for _ in 0..n {
                let bound = bound_at(u64::unpack(&mut from)?);
                let mut raw = [0; 4];
                raw.copy_from_slice(from.take(4)?);
                let share = f32::from_le_bytes(raw);
                if !(0.0..=1.0).contains(&share) {
                    return Err(Malformed::Range);
                }
                stack.push(Entry { bound, depth, share, node: N::unpack(&mut from)? });
            }
        }
        Ok(Self { stack })
    }
}

impl<N> Pool<N> {
    /// The least bound over all nodes.
    #[must_use]
    pub fn least_bound(&self) -> Option<i64> {
        self.stack.iter().map(|entry| entry.bound).min()
    }

    /// The part of the whole tree that is still open here.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.stack.iter().map(|entry| f64::from(entry.share)).sum()
    }
}

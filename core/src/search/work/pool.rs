//! Pools: open nodes ordered by depth, the kind of work that every tree has.

use super::{Malformed, Pack, Reader, Work, portions};
use std::borrow::Borrow;

/// An open node with what the engine knows about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<N> {
    /// The best score the subtree can still reach, lower is better; `i64::MIN` if there is no
    /// bound.
    pub bound: i64,
    /// Edges between the root and the node.
    pub depth: u32,
    /// Estimated fraction of the whole tree below the node.
    pub share: f32,
    /// The node.
    pub node: N,
}

/// A stack of open nodes whose depth never decreases from bottom to top; the top is explored first.
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
    /// A pool of these nodes, sorted by depth.
    #[must_use]
    pub fn new(nodes: Vec<Entry<N>>) -> Self {
        let mut pool = Self { stack: nodes };
        pool.sort();
        pool
    }

    /// A pool that holds the whole tree.
    #[must_use]
    pub fn whole(root: N) -> Self {
        Self { stack: vec![Entry { bound: i64::MIN, depth: 0, share: 1.0, node: root }] }
    }

    /// The number of open nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stack.len()
    }

    /// Whether no node is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stack.is_empty()
    }

    /// The nodes, the next to explore last.
    #[must_use]
    pub fn into_entries(self) -> Vec<Entry<N>> {
        self.stack
    }

    /// The nodes, the next to explore last.
    #[must_use]
    pub fn entries(&self) -> &[Entry<N>] {
        &self.stack
    }

    /// Takes the next node to explore.
    pub fn pop(&mut self) -> Option<Entry<N>> {
        self.stack.pop()
    }

    /// Adds another pool's nodes.
    pub fn append(&mut self, mut other: Self) {
        if self.stack.is_empty() {
            *self = other;
        } else {
            // Only nodes at least as deep as the newcomers can be out of order.
            let least = other.stack.first().map_or(u32::MAX, |first| first.depth);
            let from = self.stack.partition_point(|entry| entry.depth <= least);
            self.stack.append(&mut other.stack);
            let tail = &mut self.stack[from..];
            if !tail.is_sorted_by_key(|entry| entry.depth) {
                tail.sort_by_key(|entry| entry.depth);
            }
        }
    }

    fn sort(&mut self) {
        if !self.stack.is_sorted_by_key(|entry| entry.depth) {
            self.stack.sort_by_key(|entry| entry.depth);
        }
    }

    /// Gives away a share at every depth: each depth's share is rounded down, and the remainder
    /// comes from the shallowest depths.
    ///
    /// Within a depth, it gives the nodes that would be explored last. A pool of two or more nodes
    /// gives at least one and keeps at least one; a smaller pool gives nothing.
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

    /// Gives a share of the pool and of the deeper `frames`, each with this many open children. Returns
    /// the nodes given and how many children to take from each frame; `None` if nothing is given.
    pub fn divide(
        &mut self,
        frames: impl Iterator<Item = usize>,
        share: f64,
    ) -> Option<(Vec<Entry<N>>, Vec<usize>)> {
        let runs = self.stack.chunk_by(|a, b| a.depth == b.depth);
        let mut sizes: Vec<usize> = runs.map(<[_]>::len).collect();
        let runs = sizes.len();
        sizes.extend(frames);
        let mut of_pool = portions(&sizes, share)?;
        let of_frames = of_pool.split_off(runs);
        let mut given = Vec::new();
        // From the deepest run to the shallowest, so that earlier indices stay valid.
        let mut end = self.stack.len();
        for (&n, &size) in of_pool.iter().zip(&sizes).rev() {
            let start = end - size;
            given.extend(self.stack.drain(start..start + n));
            end = start;
        }
        Some((given, of_frames))
    }
}

/// The greatest depth accepted from the wire; it leaves room to add to a depth without overflow.
pub(crate) const DEEPEST: u32 = u32::MAX / 2;

/// The place of a bound in the order none, 0, −1, 1, −2, …, so that common bounds pack small.
pub(crate) fn distance(bound: i64) -> u64 {
    ((bound << 1) ^ (bound >> 63)).cast_unsigned().wrapping_add(1)
}

/// The bound at this place in the order.
pub(crate) fn bound_at(distance: u64) -> i64 {
    let zigzag = distance.wrapping_sub(1);
    (zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed()
}

/// Encodes nodes in the order of a pool.
///
/// They come in runs of equal depth: the depth, the number of nodes, then each node's bound, share and node.
pub fn pack_entries<N: Pack, E: Borrow<Entry<N>>>(entries: &[E]) -> Work {
    let (mut bytes, mut least_bound) = (Vec::new(), i64::MAX);
    for run in entries.chunk_by(|a, b| a.borrow().depth == b.borrow().depth) {
        run[0].borrow().depth.pack(&mut bytes);
        run.len().pack(&mut bytes);
        for entry in run {
            let entry = entry.borrow();
            least_bound = least_bound.min(entry.bound);
            distance(entry.bound).pack(&mut bytes);
            bytes.extend(entry.share.to_le_bytes());
            entry.node.pack(&mut bytes);
        }
    }
    Work { size: entries.len() as f64, least_bound, bytes }
}

impl<N: Pack> Pool<N> {
    /// Encodes the pool.
    #[must_use]
    pub fn to_work(&self) -> Work {
        pack_entries(&self.stack)
    }

    /// Decodes a pool from untrusted bytes.
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
    /// The least bound of any node.
    #[must_use]
    pub fn least_bound(&self) -> Option<i64> {
        self.stack.iter().map(|entry| entry.bound).min()
    }

    /// Estimated fraction of the whole tree that is open here.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.stack.iter().map(|entry| f64::from(entry.share)).sum()
    }
}

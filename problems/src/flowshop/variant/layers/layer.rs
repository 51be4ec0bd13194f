//! [`Layer`]: all prefixes with the same number of jobs that are kept, and [`History`], from which their orders are read.

use super::super::model::Variant;
use super::super::remaining::Orders;
use crate::simd::lanes::{MOST_LANES, Number, Wide};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Where a key holds the last job.
const LAST: u32 = 56;
/// Into how many ranges keys are divided.
pub(super) const RANGES: usize = 256;

/// A set of jobs, a bit each, and if there are setup times the last one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key(u64);

impl Key {
    pub fn has(self, job: u16) -> bool {
        self.0 >> job & 1 == 1
    }

    pub fn last(self) -> usize {
        (self.0 >> LAST) as usize
    }

    /// The key with one more job, which is the last one if that matters.
    pub fn with(self, job: usize, setups: bool) -> Self {
        let last = if setups { (job as u64) << LAST } else { 0 };
        Self(self.0 & ((1 << LAST) - 1) | 1 << job | last)
    }

    /// The key before a job was added, after this one.
    pub fn without(self, job: usize, last: usize) -> Self {
        Self(self.0 & ((1 << LAST) - 1) & !(1 << job) | (last as u64) << LAST)
    }

    /// The number of the key's range. A later one has greater keys.
    pub fn range(self, jobs: usize, setups: bool) -> usize {
        let shift = if setups { LAST } else { (jobs as u32).saturating_sub(RANGES.ilog2()) };
        (self.0 >> shift) as usize
    }
}

/// A fast hash function for keys.
#[derive(Clone, Copy, Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}

/// Prefixes with the same key: some of a part's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub part: u32,
    pub start: u32,
    pub count: u32,
}

/// Prefixes that were made together, with their keys in order.
#[derive(Default)]
pub(super) struct Part<N> {
    /// Each key, and how many prefixes it has.
    pub keys: Vec<(Key, u32)>,
    /// Key by key, and for each by machine; some unused entries follow, so that lanes can be read at the end.
    pub fronts: Vec<N>,
    pub cost: Vec<N>,
    pub bound: Vec<N>,
    /// The number of the prefix in the layer before, and the job that was added.
    pub parents: Vec<u32>,
    pub jobs: Vec<u8>,
}

/// All prefixes of some length that are kept.
pub(super) struct Layer<N> {
    pub parts: Vec<Part<N>>,
    /// The number of the first prefix of each part.
    pub starts: Vec<u32>,
    pub groups: HashMap<Key, Group, BuildHasherDefault<KeyHasher>>,
}

impl<N: Number> Part<N> {
    pub fn count(&self) -> usize {
        self.cost.len()
    }

    pub fn bytes(&self, machines: usize) -> usize {
        bytes::<N>(machines, self.count(), self.keys.len())
    }

    /// Makes the fronts readable up to the end, and gives back memory that is not used.
    pub fn finish(&mut self) {
        self.fronts.extend([N::default(); MOST_LANES]);
        self.keys.shrink_to_fit();
        self.fronts.shrink_to_fit();
        for list in [&mut self.cost, &mut self.bound] {
            list.shrink_to_fit();
        }
        self.parents.shrink_to_fit();
        self.jobs.shrink_to_fit();
    }

    /// The fronts of a machine for some prefixes of a group, from its `first` on.
    #[inline(always)]
    pub fn lanes<W: Wide<Of = N>>(
        &self,
        group: &Group,
        machines: usize,
        machine: usize,
        first: usize,
    ) -> W {
        let (start, count) = (group.start as usize, group.count as usize);
        W::load(&self.fronts[start * machines + machine * count + first..])
    }

    /// The part with only some of its prefixes.
    fn only(&self, machines: usize, keeps: impl Fn(usize) -> bool) -> Self {
        let (mut part, mut start) = (Self::default(), 0);
        for &(key, count) in &self.keys {
            let count = count as usize;
            let kept: Vec<usize> = (start..start + count).filter(|&at| keeps(at)).collect();
            for k in 0..machines {
                let fronts = &self.fronts[start * machines + k * count..];
                part.fronts.extend(kept.iter().map(|at| fronts[at - start]));
            }
            part.cost.extend(kept.iter().map(|&at| self.cost[at]));
            part.bound.extend(kept.iter().map(|&at| self.bound[at]));
            part.parents.extend(kept.iter().map(|&at| self.parents[at]));
            part.jobs.extend(kept.iter().map(|&at| self.jobs[at]));
            if !kept.is_empty() {
                part.keys.push((key, kept.len() as u32));
            }
            start += count;
        }
        part.finish();
        part
    }
}

/// The bytes of some prefixes with their keys, and of what it takes to find the best ones.
fn bytes<N>(machines: usize, prefixes: usize, keys: usize) -> usize {
    let prefix = (machines + 2) * size_of::<N>() + size_of::<u32>() + 1 + size_of::<(N, u32)>();
    let key = size_of::<(Key, u32)>() + 2 * size_of::<(Key, Group)>();
    prefixes * prefix + keys * key
}

impl<N: Number> Layer<N> {
    /// The maximum number of bytes that a prefix takes with a key of its own.
    pub fn bytes_each(machines: usize) -> usize {
        bytes::<N>(machines, 1, 1)
    }

    /// The layer of the empty schedule.
    pub fn root(variant: &Variant, orders: &Orders<N>) -> Self {
        let mut part = Part { fronts: vec![N::default(); variant.machines()], ..Part::default() };
        part.keys.push((Key::default(), 1));
        part.cost.push(variant.no_cost());
        part.bound.push(N::of(super::super::remaining::whole_bound(variant, orders)));
        part.finish();
        Self::new(vec![part])
    }

    pub fn new(parts: Vec<Part<N>>) -> Self {
        let (mut starts, mut count) = (Vec::new(), 0);
        let mut groups = HashMap::default();
        groups.reserve(parts.iter().map(|part| part.keys.len()).sum());
        for (nth, part) in parts.iter().enumerate() {
            starts.push(count);
            count += part.count() as u32;
            let mut start = 0;
            for &(key, count) in &part.keys {
                groups.insert(key, Group { part: nth as u32, start, count });
                start += count;
            }
        }
        Self { parts, starts, groups }
    }

    pub fn count(&self) -> usize {
        self.parts.iter().map(Part::count).sum()
    }

    pub fn bytes(&self, machines: usize) -> usize {
        self.parts.iter().map(|part| part.bytes(machines)).sum()
    }

    /// The bound of a prefix.
    pub fn bound(&self, i: usize) -> i64 {
        let part = self.starts.partition_point(|&start| start as usize <= i) - 1;
        self.parts[part].bound[i - self.starts[part] as usize].into()
    }

    /// The least bound.
    pub fn least(&self) -> i64 {
        let bounds = self.parts.iter().flat_map(|part| &part.bound);
        bounds.min().map_or(i64::MAX, |&bound| bound.into())
    }

    /// The prefix of least cost.
    pub fn best(&self) -> Option<(usize, i64)> {
        let costs = self.parts.iter().flat_map(|part| &part.cost).zip(0..);
        costs.min().map(|(&cost, i)| (i, cost.into()))
    }

    /// Keeps only the prefixes with the least bounds. Returns whether any was dropped.
    pub fn cut(&mut self, machines: usize, width: usize) -> bool {
        if self.count() <= width {
            return false;
        }
        let bounds = self.parts.iter().flat_map(|part| &part.bound).copied();
        let mut ranks: Vec<(N, u32)> = bounds.zip(0..).collect();
        let (_, &mut limit, _) = ranks.select_nth_unstable(width);
        let Self { parts, starts, .. } = std::mem::replace(self, Self::new(Vec::new()));
        let cut = |(part, start): (Part<N>, u32)| {
            part.only(machines, |at| (part.bound[at], start + at as u32) < limit)
        };
        *self = Self::new(parts.into_iter().zip(starts).map(cut).collect());
        true
    }
}

/// How the prefixes of all layers were made.
#[derive(Default)]
pub(super) struct History {
    layers: Vec<(Vec<u32>, Vec<u8>)>,
}

impl History {
    /// Takes over from a layer how its prefixes were made.
    pub fn push<N>(&mut self, layer: &mut Layer<N>) {
        let (mut parents, mut jobs) = (Vec::new(), Vec::new());
        for part in &mut layer.parts {
            parents.append(&mut std::mem::take(&mut part.parents));
            jobs.append(&mut std::mem::take(&mut part.jobs));
        }
        self.layers.push((parents, jobs));
    }

    /// The order of a prefix in the last layer.
    pub fn order(&self, mut i: usize) -> Vec<u16> {
        let mut order = Vec::with_capacity(self.layers.len());
        for (parents, jobs) in self.layers.iter().rev() {
            order.push(jobs[i].into());
            i = parents[i] as usize;
        }
        order.reverse();
        order
    }

    pub fn bytes(&self) -> usize {
        self.layers.iter().map(|(parents, _)| 5 * parents.len()).sum()
    }
}

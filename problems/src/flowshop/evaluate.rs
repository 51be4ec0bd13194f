//! Schedules whose children a device bounds, while the host branches.
//!
//! A word of an array over machines holds two times, as in `device.rs`: the lower half of word `i` is for machine
//! `i` seen from the front, the upper half for machine `m − 1 − i` seen from the back.

use super::bound::{Bound, least_tails};
use super::device::{fits, halves, pairs_in_words};
use super::node::Node;
use super::tree::Flowshop;
use pleach_core::search::device::Layout;
use pleach_core::search::evaluate::BatchBounded;
use pleach_core::search::work::Nodes;

impl Flowshop {
    /// What the kernel does not support in this instance or search, if anything.
    pub(super) fn fits_evaluation(&self) -> Result<(), &'static str> {
        fits(&self.instance)?;
        match (self.nodes, self.bounding()) {
            (Nodes::Interval, _) => Err("intervals"),
            (_, Bound::Auto) => Err("bound auto"),
            _ if self.all => Err("all optimal schedules"),
            _ => Ok(()),
        }
    }
}

/// A flowshop whose children are bounded many at a time.
pub(super) struct BatchFlowshop<'f> {
    flowshop: &'f Flowshop,
    /// Times by job and machine.
    times: Vec<u32>,
    machines: usize,
    /// Words of the order.
    orders: usize,
}

/// A partial schedule in words: the numbers of jobs at the front (low half) and at the back; the order, a byte per job;
/// a bit for each job left, in two words; the end of each machine; the work left on each.
#[derive(Clone)]
pub(super) struct Held(Box<[u32]>);

/// Where the order begins.
const ORDER: usize = 1;
/// Words of the jobs left.
const LEFT: usize = 2;

impl<'f> BatchFlowshop<'f> {
    pub fn new(flowshop: &'f Flowshop) -> Self {
        let (jobs, machines) = (flowshop.instance.jobs(), flowshop.instance.machines());
        let times = (0..jobs as u16).flat_map(|job| halves(flowshop.tables.job(job))).collect();
        Self { flowshop, times, machines, orders: jobs.div_ceil(4) }
    }

    /// Where the jobs left begin.
    fn left_at(&self) -> usize {
        ORDER + self.orders
    }

    fn jobs(&self) -> usize {
        self.flowshop.instance.jobs()
    }

    /// A child: the job at one end.
    fn child(&self, held: &Held, job: usize, back: bool) -> Held {
        let mut child = held.clone();
        let words = &mut child.0;
        let placed = words[0] >> (16 * u32::from(back)) & 0xffff;
        let at = if back { self.jobs() - 1 - placed as usize } else { placed as usize };
        words[0] += 1 << (16 * u32::from(back));
        words[ORDER + at / 4] |= (job as u32) << (at % 4 * 8);
        words[self.left_at() + job / 32] &= !(1 << (job % 32));
        let (ends, work) = words[self.left_at() + LEFT..].split_at_mut(self.machines);
        let times = &self.times[job * self.machines..][..self.machines];
        let (shift, others) = if back { (16, 0xffff) } else { (0, 0xffff_0000) };
        let mut end = 0;
        for ((word, work), &time) in ends.iter_mut().zip(work).zip(times) {
            // Neither half is less than what is subtracted from it.
            *work -= time;
            end = end.max(*word >> shift & 0xffff) + (time >> shift & 0xffff);
            *word = *word & others | end << shift;
        }
        child
    }
}

impl BatchBounded for BatchFlowshop<'_> {
    type Tree = Flowshop;
    type Held = Held;

    fn tree(&self) -> &Flowshop {
        self.flowshop
    }

    fn layout(&self) -> Layout {
        let (n_pairs, pairs) = pairs_in_words(self.flowshop);
        let tight = self.flowshop.bound == Bound::OneTight;
        let least = halves(self.flowshop.tables.least());
        let (jobs, machines) = (self.jobs() as u32, self.machines as u32);
        Layout {
            kernel: "flowshop_bounds",
            parallel: None,
            sizes: vec![jobs, machines, n_pairs, tight.into()],
            values: Vec::new(),
            nodes: Nodes::Pool,
            words: LEFT + 2 * self.machines,
            plan: 0,
            width: self.jobs(),
            depth: self.jobs(),
            tables: pairs.chain(least).chain(self.times.iter().copied()).collect(),
        }
    }

    fn hold(&self, node: &Node) -> Held {
        let jobs = self.jobs();
        let mut words = vec![node.front.len() as u32 | (node.back.len() as u32) << 16];
        words.resize(self.left_at(), 0);
        let back = node.back.iter().enumerate().map(|(i, &job)| (jobs - 1 - i, job));
        for (at, job) in node.front.iter().copied().enumerate().chain(back) {
            words[ORDER + at / 4] |= u32::from(job) << (at % 4 * 8);
        }
        let left = node.left(jobs).iter().fold(0_u64, |left, job| left | 1 << job);
        words.extend([left as u32, (left >> 32) as u32]);
        let partial = self.flowshop.partial(node);
        for array in [&partial.ends, &partial.left] {
            words.extend(halves(&array[..2 * self.machines]));
        }
        Held(words.into())
    }

    fn node(&self, Held(words): &Held) -> Node {
        let at = |place: usize| (words[ORDER + place / 4] >> (place % 4 * 8) & 0xff) as u16;
        let (front, back) = (words[0] as usize & 0xffff, words[0] as usize >> 16);
        let last = self.jobs() - 1;
        Node {
            front: (0..front).map(at).collect(),
            back: (0..back).map(|i| at(last - i)).collect(),
        }
    }

    fn write_parent(&self, held: &Held, words: &mut Vec<u32>) -> usize {
        let parent = &held.0[self.left_at()..];
        let left = (parent[0].count_ones() + parent[1].count_ones()) as usize;
        if left <= 1 {
            return 0;
        }
        if self.flowshop.bound == Bound::OneTight {
            let node = self.node(held);
            let (tables, mut partial) = (&self.flowshop.tables, self.flowshop.partial(&node));
            let mut least = tables.least().to_vec();
            least_tails(tables, &node.left(self.jobs()), &mut least);
            partial.look_ahead(&least);
            words.extend_from_slice(&parent[..LEFT + self.machines]);
            words.extend(halves(&partial.rest[..2 * self.machines]));
        } else {
            words.extend_from_slice(parent);
        }
        left
    }

    fn branch(
        &self,
        held: &Held,
        bounds: &[u32],
        cutoff: i64,
        children: &mut Vec<(i64, Held)>,
    ) -> u64 {
        let placed = self.jobs() - bounds.len();
        let both = bounds.iter().map(|both| [both & 0xffff, both >> 16]);
        let back = self.flowshop.at_back(placed, both);
        let left = &held.0[self.left_at()..];
        let mut left = u64::from(left[0]) | u64::from(left[1]) << 32;
        let first = children.len();
        for both in bounds {
            let (job, bound) = (left.trailing_zeros() as usize, both >> (16 * u32::from(back)));
            left &= left - 1;
            let bound = i64::from(bound & 0xffff);
            if bound < cutoff {
                children.push((bound, self.child(held, job, back)));
            }
        }
        // On equal bounds, the job with the lower number comes first.
        children[first..].sort_by_key(|(bound, _)| *bound);
        self.flowshop.branching.bounded(bounds.len())
    }
}

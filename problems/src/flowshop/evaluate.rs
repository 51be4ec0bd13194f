//! Schedules whose children a device bounds, while the host branches.
//!
//! A word of an array over machines holds two times, as in `device.rs`: the lower half of word `i` is for machine
//! `i` seen from the front, the upper half for machine `m − 1 − i` seen from the back.

use super::bound::{Bound, least_tails};
use super::device::{fits, halves};
use super::{Flowshop, Node};
use pleach_core::device::Layout;
use pleach_core::evaluate::BoundedElsewhere;
use pleach_core::tree::Children;
use pleach_core::work::Nodes;

/// Words of the jobs left.
const LEFT: usize = 2;

impl Flowshop {
    /// What of this instance or this search the kernel does not support, if anything.
    pub(super) fn fits_evaluation(&self) -> Result<(), &'static str> {
        fits(&self.instance)?;
        match (self.nodes, self.bounding()) {
            (Nodes::Interval, _) => Err("intervals"),
            (_, Bound::Auto) => Err("bound auto"),
            _ => Ok(()),
        }
    }
}

impl BoundedElsewhere for Flowshop {
    fn layout(&self) -> Layout {
        let (jobs, machines) = (self.instance.jobs(), self.instance.machines());
        let pairs = self.pairs().map_or(&[][..], |pairs| &pairs.0);
        let times = (0..jobs as u16).flat_map(|job| halves(self.tables.job(job)));
        let of_pair = pairs.iter().map(|pair| pair.first as u32 | (pair.second as u32) << 16);
        let steps = pairs.iter().flat_map(|pair| &pair.steps).flat_map(|step| {
            let [before, lag, after] = step.times;
            [u32::from(step.job) | lag << 16, before | after << 16]
        });
        Layout {
            kernel: "flowshop_bounds",
            sizes: vec![jobs as u32, machines as u32, pairs.len() as u32],
            words: LEFT + 2 * machines,
            plan: 0,
            width: jobs,
            depth: jobs,
            // Steps are read two words at a time.
            tables: steps.chain(of_pair).chain(halves(self.tables.least())).chain(times).collect(),
        }
    }

    fn write_parent(&self, node: &Node, words: &mut Vec<u32>) -> usize {
        let jobs = self.instance.jobs();
        if node.placed() + 1 == jobs {
            return 0;
        }
        let placed = node.front.iter().chain(&node.back).fold(0_u64, |set, job| set | 1 << job);
        let left = !placed & (u64::MAX >> (64 - jobs));
        words.extend([left as u32, (left >> 32) as u32]);
        let mut partial = self.partial(node);
        if self.bound == Bound::OneTight {
            let mut least = self.tables.least().to_vec();
            least_tails(&self.tables, &node.left(jobs), &mut least);
            partial.look_ahead(&least);
        }
        let width = 2 * self.instance.machines();
        for array in [&partial.ends, &partial.rest] {
            words.extend(halves(&array[..width]));
        }
        jobs - node.placed()
    }

    fn branch(
        &self,
        node: &Node,
        bounds: &[u32],
        _best: Option<i64>,
        out: &mut Children<'_, Self>,
    ) {
        let left = node.left(self.instance.jobs());
        let bounds: Vec<[u32; 2]> = bounds.iter().map(|both| [both & 0xffff, both >> 16]).collect();
        self.branch_with(node, &left, &bounds, out);
    }
}

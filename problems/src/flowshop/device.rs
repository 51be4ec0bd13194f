//! Partial schedules in device memory, with heads, tails and the work left on each machine; or
//! intervals.
//!
//! A word of an array over machines holds two times: the lower half of word `i` is for machine `i`
//! seen from the front, the upper half for machine `m − 1 − i` seen from the back.

use super::bound::Bound;
use super::branching::Branching;
use super::child_order::ChildOrder;
use super::instance::Instance;
use super::interval::valid_bound;
use super::node::Node;
use super::tree::Flowshop;
use pleach_core::search::device::{IntervalWords, Layout, OnDevice};
use pleach_core::search::tree::read;
use pleach_core::search::work::{Entry, Interval, Malformed, Nodes, Pool, Work};

/// The maximum number of jobs: two per lane.
const MOST_JOBS: usize = 64;
/// The maximum numbers of machines and of operations: what the kernel for any instance has room
/// for.
const MOST_MACHINES: usize = 64;
/// See [`MOST_MACHINES`].
const MOST_TIMES: usize = 2048;

/// The kernel whose explorers hold intervals and bound in parallel.
const PARALLEL: &str = "flowshop_parallel";

/// Where a node's order starts, in words: after the jobs placed, the bound and the jobs left.
const ORDER: usize = 4;

impl Flowshop {
    /// What the kernel does not support in this instance or search, if anything.
    pub(super) fn fits_device(&self) -> Result<(), &'static str> {
        fits(&self.instance)?;
        let faults = [
            (self.all, "all optimal schedules"),
            (
                self.bounding() != Bound::One && !self.bounding().is_two(),
                "bounds other than one and two",
            ),
        ];
        faults.into_iter().find(|(fault, _)| *fault).map_or(Ok(()), |(_, what)| Err(what))
    }

    fn is_intervals(&self) -> bool {
        self.nodes == Nodes::Interval
    }

    fn intervals(&self) -> IntervalWords {
        IntervalWords(self.instance.jobs())
    }

    fn order_words(&self) -> usize {
        self.instance.jobs().div_ceil(4)
    }

    fn node_words(&self) -> usize {
        if self.is_intervals() {
            return self.intervals().words();
        }
        ORDER + self.order_words() + 2 * self.instance.machines()
    }

    fn write(&self, node: &Node, bound: u32, words: &mut Vec<u32>) {
        let (jobs, machines) = (self.instance.jobs(), self.instance.machines());
        let left = node.left(jobs).iter().fold(0_u64, |left, job| left | 1 << job);
        words.push(node.front.len() as u32 | (node.back.len() as u32) << 8);
        words.extend([bound, left as u32, (left >> 32) as u32]);
        let start = words.len();
        words.resize(start + self.order_words(), 0);
        let back = node.back.iter().enumerate().map(|(i, &job)| (jobs - 1 - i, job));
        for (at, job) in node.front.iter().copied().enumerate().chain(back) {
            words[start + at / 4] |= u32::from(job) << (at % 4 * 8);
        }
        let partial = self.partial(node);
        for array in [&partial.ends, &partial.left] {
            words.extend(halves(&array[..2 * machines]));
        }
    }

    fn read_back(&self, words: &[u32]) -> Node {
        let at = |place: usize| (words[ORDER + place / 4] >> (place % 4 * 8) & 0xff) as u16;
        let (front, back) = (words[0] as usize & 0xff, words[0] as usize >> 8);
        let last = self.instance.jobs() - 1;
        Node {
            front: (0..front).map(at).collect(),
            back: (0..back).map(|i| at(last - i)).collect(),
        }
    }
}

/// Why an instance is too large for kernels, if it is.
pub(super) fn fits(instance: &Instance) -> Result<(), &'static str> {
    let (jobs, machines) = (instance.jobs(), instance.machines());
    if jobs > MOST_JOBS || machines > MOST_MACHINES || jobs * machines > MOST_TIMES {
        return Err("more than 64 jobs, 64 machines or 2048 operations");
    }
    if instance.longest_path() >= u64::from(u16::MAX) {
        return Err("sums of 65,535 or more");
    }
    Ok(())
}

/// Packs two words of an array over machines into one.
pub(super) fn halves(array: &[u32]) -> impl Iterator<Item = u32> {
    array.chunks_exact(2).map(|both| both[0] | both[1] << 16)
}

/// The best orders of an instance's jobs on pairs of machines, then the pairs: their number, and the words.
pub(super) fn pairs_in_words(flowshop: &Flowshop) -> (u32, impl Iterator<Item = u32>) {
    let wanted = flowshop.pairs().filter(|_| flowshop.bounding().is_two());
    let pairs = wanted.map_or(&[][..], |pairs| &pairs.0);
    let of_pair = pairs.iter().map(|pair| pair.first as u32 | (pair.second as u32) << 16);
    let steps = pairs.iter().flat_map(|pair| &pair.steps).flat_map(|step| {
        let [before, lag, after] = step.times;
        [u32::from(step.job) | lag << 16, before | after << 16]
    });
    // Steps come first, which aligns them.
    (pairs.len() as u32, steps.chain(of_pair))
}

/// The kernel's number for a branching rule.
fn number(branching: Branching) -> u32 {
    Branching::ALL.iter().position(|&other| other == branching).unwrap_or(0) as u32
}

impl OnDevice for Flowshop {
    fn layout(&self) -> Layout {
        let (jobs, machines) = (self.instance.jobs(), self.instance.machines());
        let reference = self.reference.clamp(0, i64::from(u16::MAX)) as u32;
        let all: Vec<Vec<u32>> =
            (0..jobs as u16).map(|job| halves(self.tables.job(job)).collect()).collect();
        let (n_pairs, pairs) = pairs_in_words(self);
        let rows = (0..machines).flat_map(|k| all.iter().map(move |times| times[k]));
        Layout {
            kernel: match (self.nodes, self.bounding()) {
                (Nodes::Pool, _) => "flowshop",
                (Nodes::Interval, bound) if bound.is_two() => PARALLEL,
                (Nodes::Interval, _) => "flowshop_intervals",
            },
            parallel: self.is_intervals().then_some(PARALLEL),
            sizes: vec![
                jobs as u32,
                machines as u32,
                number(self.branching),
                n_pairs,
                u32::from(self.order == ChildOrder::Job),
            ],
            values: vec![reference],
            nodes: self.nodes,
            words: self.node_words(),
            plan: jobs,
            width: jobs,
            depth: jobs,
            tables: pairs.chain(rows).chain(halves(self.tables.least())).collect(),
        }
    }

    fn to_words(&self, work: &[u8], words: &mut Vec<u32>) -> Result<(), Malformed> {
        if self.is_intervals() {
            let whole = Interval::whole(self.instance.jobs());
            return self.intervals().write(work, &whole, valid_bound, words);
        }
        for Entry { bound, node, .. } in read(self, work)?.into_entries() {
            let bound = match bound {
                i64::MIN => 0,
                0..=0xffff => bound as u32 + 1,
                // Bounds of this instance are smaller.
                _ => return Err(Malformed::Range),
            };
            self.write(&node, bound, words);
        }
        Ok(())
    }

    fn to_work(&self, words: &[u32]) -> Work {
        if self.is_intervals() {
            return self.intervals().read(words).to_work();
        }
        let entry = |words: &[u32]| {
            let node = self.read_back(words);
            let depth = node.placed() as u32;
            Entry { bound: self.bound(words), depth, share: 0.0, node }
        };
        Pool::new(words.chunks_exact(self.node_words()).map(entry).collect()).to_work()
    }

    fn bound(&self, node: &[u32]) -> i64 {
        if self.is_intervals() {
            return self.intervals().bound(node);
        }
        if node[1] == 0 { i64::MIN } else { i64::from(node[1]) - 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::named::named;
    use super::*;
    use crate::simd::Level;
    use oorandom::Rand64;
    use pleach_core::search::laws::{mutate, open_work_after};
    use pleach_core::search::problem::Problem;

    fn nodes(flowshop: &Flowshop, work: &[u8]) -> Vec<(i64, Node)> {
        let pool = read(flowshop, work).unwrap();
        pool.into_entries().into_iter().map(|entry| (entry.bound, entry.node)).collect()
    }

    #[test]
    fn schedules_come_back_as_they_went() {
        for name in ["VFR10_5_1", "ta001", "ta031", "ta056"] {
            let flowshop = Flowshop::new(named(name).unwrap(), Level::best());
            for fuel in [0, 1, 20_000] {
                let work = open_work_after(&flowshop, fuel);
                let mut words = Vec::new();
                flowshop.to_words(&work.bytes, &mut words).unwrap();
                let back = flowshop.to_work(&words);
                let nodes = |work: &Work| nodes(&flowshop, &work.bytes);
                let size = flowshop.layout().words;
                assert_eq!(nodes(&back), nodes(&work), "{name}");
                assert_eq!(words.len(), size * work.size as usize);
                for ((bound, _), words) in nodes(&work).iter().zip(words.chunks(size)) {
                    assert_eq!(flowshop.bound(words), *bound);
                }
            }
        }
    }

    /// One code serves all of them.
    #[test]
    fn instances_of_one_size_share_a_kernel() {
        let layouts: Vec<Layout> = (21..=30)
            .map(|number| {
                let mut flowshop =
                    Flowshop::new(named(&format!("ta{number:03}")).unwrap(), Level::Off);
                flowshop.reference = 2000 + number;
                flowshop.layout()
            })
            .collect();
        for two in layouts.windows(2) {
            assert_eq!((two[0].kernel, &two[0].sizes), (two[1].kernel, &two[1].sizes));
            assert_ne!((&two[0].values, &two[0].tables), (&two[1].values, &two[1].tables));
        }
    }

    #[test]
    fn hostile_schedules_are_refused() {
        let flowshop = Flowshop::new(named("ta001").unwrap(), Level::Off);
        let good = open_work_after(&flowshop, 3000).bytes;
        let mut rng = Rand64::new(2);
        let mut refused = 0;
        for _ in 0..2000 {
            let bytes = mutate(&good, &mut rng);
            let mut words = Vec::new();
            let taken = flowshop.to_words(&bytes, &mut words);
            assert!(taken.is_err() || read(&flowshop, &bytes).is_ok());
            refused += u32::from(taken.is_err());
        }
        assert!(refused > 1000, "{refused}");
    }

    #[test]
    fn what_the_kernel_cannot_do_is_not_offered() {
        let small = || Flowshop::new(named("ta001").unwrap(), Level::Off);
        assert!(small().on_device().is_ok());
        assert!(Flowshop { bound: Bound::Two, ..small() }.on_device().is_ok());
        assert!(Flowshop { bound: Bound::OneTight, ..small() }.on_device().is_err());
        assert!(Flowshop { bound: Bound::Auto, ..small() }.on_device().is_err());
        assert!(Flowshop { all: true, ..small() }.on_device().is_err());
        let intervals = |bound| Flowshop { nodes: Nodes::Interval, bound, ..small() };
        assert!(intervals(Bound::One).on_device().is_ok());
        assert!(intervals(Bound::Two).on_device().is_ok());
        assert!(intervals(Bound::OneTight).on_device().is_err());
        let by_job = Flowshop { order: ChildOrder::Job, ..intervals(Bound::One) };
        assert!(by_job.on_device().is_ok());
        let offered = |jobs: usize, machines, time| {
            let instance = Instance::new(machines, vec![time; jobs * machines]).unwrap();
            Flowshop::new(instance, Level::Off).on_device().is_ok()
        };
        assert!(offered(64, 32, 600) && !offered(65, 2, 1) && !offered(2, 65, 1));
        assert!(!offered(64, 33, 1) && !offered(64, 32, 700));
    }
}

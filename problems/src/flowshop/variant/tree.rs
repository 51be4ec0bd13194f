//! [`VariantTree`]: the tree of a variant's schedules, built from the front.

use super::super::instance::solution_of;
use super::greedy::{Beside, by_insertion};
use super::improve::improve;
use super::layers::Layers;
use super::model::{MOST_JOBS_BY_LAYERS, Partial, Variant};
use super::preemptive::preemptive_bound;
use super::remaining::{Orders, Remaining, whole_bound};
use crate::simd::Level;
use pleach_core::search::depth_first::TreeExplorer;
use pleach_core::search::explorer::Explorer;
use pleach_core::search::problem::Problem;
use pleach_core::search::seed::Top;
use pleach_core::search::tree::{Children, Goal, Improver, Tree};
use pleach_core::search::work::{Entry, Pool, Work};
use pleach_core::wire::fingerprint;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Work spent on the initial schedule, in places times machines: `START_EACH` per machine and pair of jobs, but at most
/// `START`, which takes about a tenth of a second.
const START: u64 = 60_000_000;
const START_EACH: u64 = 15_000;
/// Pairs of jobs left times machines from which an expansion takes more than some hundredths of a second.
const SLOW: usize = 10_000_000;

/// A variant and how to search it.
pub struct VariantTree {
    variant: Arc<Variant>,
    orders: Orders<i64>,
    level: Level,
    /// The first nodes, each with its bound: prefixes of schedules.
    roots: Vec<(i64, Vec<u16>)>,
    /// A bound on all schedules.
    least: i64,
    /// The initial schedule of the heuristic alongside the search.
    pub start: Option<Vec<u16>>,
    stop_requested: Arc<AtomicBool>,
}

impl VariantTree {
    /// The whole tree of a variant.
    #[must_use]
    pub fn new(variant: Variant, level: Level) -> Self {
        let orders = Orders::new(&variant);
        Self {
            least: whole_bound(&variant, &orders).max(preemptive_bound(&variant)),
            variant: Arc::new(variant),
            orders,
            level,
            roots: vec![(i64::MIN, Vec::new())],
            start: None,
            stop_requested: Arc::default(),
        }
    }

    /// The variant.
    #[must_use]
    pub fn variant(&self) -> &Variant {
        &self.variant
    }

    /// The layers of its partial schedules, if there are few enough jobs.
    #[must_use]
    pub fn layers(&self) -> Option<Layers<'_>> {
        Layers::new(&self.variant, self.level)
    }

    /// Takes over what layers have found out: a bound on all schedules, and which prefixes are left to search.
    pub fn take_over(&mut self, least: i64, roots: Option<Vec<(i64, Vec<u16>)>>) {
        self.least = self.least.max(least);
        match roots {
            // Nothing is left to search below this bound.
            Some(roots) if roots.is_empty() => self.roots = vec![(self.least, Vec::new())],
            Some(roots) => self.roots = roots,
            None => {}
        }
    }

    /// The bound of a partial schedule and the jobs left.
    fn bound(
        &self,
        partial: &Partial,
        is_left: impl Fn(u16) -> bool,
        remaining: &mut Remaining<i64>,
    ) -> i64 {
        remaining.fill(&self.orders, is_left);
        let mut fronts = partial.fronts.clone();
        remaining.tighten(&mut fronts);
        remaining.bound(&self.orders, &fronts, partial.cost).0[0]
    }

    /// A schedule built by insertion, or the given one if that is no worse.
    #[must_use]
    pub fn by_insertion(
        &self,
        from: Option<&[u16]>,
        keep_going: &dyn Fn() -> bool,
    ) -> (Vec<u16>, i64) {
        let built = by_insertion(&self.variant, self.level, keep_going);
        let from = from.map(|order| (order.to_vec(), self.variant.value(order)));
        from.filter(|(_, value)| *value <= built.1).unwrap_or(built)
    }

    /// A good schedule found quickly, no worse than the given one; it depends only on the seed. Once `keep_going`
    /// returns false, the best one so far.
    #[must_use]
    pub fn start(
        &self,
        from: Option<&[u16]>,
        seed: u64,
        keep_going: &dyn Fn() -> bool,
    ) -> (Vec<u16>, i64) {
        let mut best = self.by_insertion(from, keep_going);
        let (jobs, machines) = (self.variant.jobs() as u64, self.variant.machines() as u64);
        if jobs == 1 {
            return best;
        }
        let mut search = improve(&self.variant, self.level, best.clone(), seed);
        let most = START.min(START_EACH * jobs * jobs * machines);
        while search.work() < most && best.1 > self.least && keep_going() {
            let found = search.round(keep_going);
            if found.1 < best.1 {
                best = found;
            }
        }
        best
    }
}

impl Tree for VariantTree {
    type Node = Vec<u16>;
    const GOAL: Goal = Goal::Minimise;

    fn decimals(&self) -> u32 {
        self.variant.decimals()
    }

    fn root(&self) -> Vec<u16> {
        Vec::new()
    }

    fn expand(&self, node: &Vec<u16>, _: Option<i64>, out: &mut Children<'_, Self>) {
        let variant = &*self.variant;
        let (mut partial, mut is_left) = (variant.empty(), vec![true; variant.jobs()]);
        for &job in node {
            variant.append(&mut partial, job.into());
            is_left[usize::from(job)] = false;
        }
        let left: Vec<u16> =
            (0..variant.jobs() as u16).filter(|&job| is_left[usize::from(job)]).collect();
        if let [last] = left[..] {
            out.leaves(1);
            variant.append(&mut partial, last.into());
            return out.solution(partial.cost.0[0], || solution_of(&[&node[..], &[last]].concat()));
        }
        let slow = left.len() * left.len() * variant.machines() > SLOW;
        let mut remaining = Remaining::default();
        let mut children: Vec<(i64, u16)> = left
            .iter()
            .map(|&job| {
                // A stop must not wait for the bounds of thousands of jobs. Elsewhere counts stay exact across stops.
                if slow && self.stop_requested.load(Ordering::Relaxed) {
                    return (i64::MIN, job);
                }
                let mut child = partial.clone();
                variant.append(&mut child, job.into());
                let is_left = |other: u16| other != job && is_left[usize::from(other)];
                (self.bound(&child, is_left, &mut remaining), job)
            })
            .collect();
        children.sort_unstable();
        for (bound, job) in children {
            out.child_within(bound, [&node[..], &[job]].concat());
        }
    }

    fn valid(&self, entry: &Entry<Vec<u16>>) -> bool {
        let mut seen = vec![false; self.variant.jobs()];
        let mut fresh = |&job: &u16| {
            seen.get_mut(usize::from(job)).is_some_and(|seen| !std::mem::replace(seen, true))
        };
        entry.node.len() < self.variant.jobs()
            && entry.depth as usize == entry.node.len()
            && entry.node.iter().all(&mut fresh)
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        let order = self.variant.shop().instance.order(solution);
        Some(order.map(|order| self.variant.value(&order)))
    }

    fn fingerprint(&self) -> Option<u64> {
        let variant = &*self.variant;
        let shop = variant.shop();
        let jobs = 0..variant.jobs();
        let times: Vec<u32> = jobs.flat_map(|job| shop.instance.job(job)).copied().collect();
        let names = format!("{} {:?}", variant.objective(), variant.passing()).into_bytes();
        let lists = |list: &Option<Vec<u32>>| list.clone().unwrap_or_default();
        let lists =
            [lists(&shop.due), lists(&shop.weights), lists(&shop.releases), lists(&shop.setups)];
        Some(fingerprint("flowshop variant", &(variant.jobs(), times, names, lists.to_vec())))
    }
}

impl Problem for VariantTree {
    fn goal(&self) -> Goal {
        Self::GOAL
    }

    fn decimals(&self) -> u32 {
        self.variant.decimals()
    }

    fn root(&self) -> Work {
        let entry = |(bound, node): &(i64, Vec<u16>)| Entry {
            bound: self.least.max(*bound),
            depth: node.len() as u32,
            share: 1.0 / self.roots.len() as f32,
            node: node.clone(),
        };
        Pool::new(self.roots.iter().map(entry).collect()).to_work()
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        Box::new(TreeExplorer::new(self))
    }

    fn top(&self) -> Option<&dyn Top> {
        Some(self)
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        Tree::check(self, solution)
    }

    fn fingerprint(&self) -> u64 {
        Tree::fingerprint(self).unwrap_or_default()
    }

    fn least_score(&self) -> i64 {
        self.least
    }

    fn set_stop_requested(&self, requested: bool) {
        self.stop_requested.store(requested, Ordering::Relaxed);
    }

    fn improver(&self, seed: u64) -> Option<Box<dyn Improver + '_>> {
        if self.variant.jobs() < 2 {
            return None;
        }
        let keep_going = || !self.stop_requested.load(Ordering::Relaxed);
        let start = self.start.as_ref().map(|order| (order.clone(), self.variant.value(order)));
        let start = start.unwrap_or_else(|| self.by_insertion(None, &keep_going));
        let best = start.1;
        // Another seed, so that the search for the initial schedule is not repeated.
        let improve = improve(&self.variant, self.level, start, seed.wrapping_add(1));
        let instance = &self.variant.shop().instance;
        Some(Box::new(Beside { improve, best, instance, keep_going: Box::new(keep_going) }))
    }

    fn favours_improver(&self) -> bool {
        self.variant.jobs() > MOST_JOBS_BY_LAYERS
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::instance::Instance;
    use super::super::super::shop::Shop;
    use super::super::lanes::Passing;
    use super::super::objective::Objective;
    use super::*;
    use pleach_core::search::laws::explore_whole;

    /// The root used to have no bound of its own, so it was branched however good the bound of all schedules was.
    #[test]
    fn a_schedule_that_meets_the_bound_of_all_is_proven_without_branching() {
        let mut shop = Shop::new(Instance::new(1, vec![3; 60]).unwrap());
        shop.releases = Some((0..60).map(|job| 2 * job).collect());
        let variant = Variant::new(shop, Objective::FlowTime, Passing::Wait).unwrap();
        let tree = VariantTree::new(variant, Level::Off);
        let (_, value) = tree.start(None, 0, &|| true);
        assert_eq!(value, tree.least_score());
        assert_eq!(explore_whole(&tree, value).counts.branched, 0);
    }
}

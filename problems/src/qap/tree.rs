//! The search tree: a node is an assignment of some facilities.

use super::bound::{Bounds, FREE, Seen};
use super::instance::{Instance, solution_of};
use super::symmetry::Symmetries;
use pleach_core::search::tree::{Children, Goal, Tree};
use pleach_core::search::work::Entry;
use pleach_core::wire::fingerprint;

/// An instance as a tree.
#[derive(Clone, Debug)]
pub struct Qap {
    bounds: Bounds,
    facilities: Symmetries,
    locations: Symmetries,
}

impl Qap {
    /// The tree of an instance.
    #[must_use]
    pub fn new(instance: Instance) -> Self {
        let facilities = Symmetries::new(instance.facilities(), |i, j| instance.flow(i, j));
        let locations = Symmetries::new(instance.locations(), |p, q| instance.distance(p, q));
        Self { bounds: Bounds::new(instance), facilities, locations }
    }

    /// The instance.
    #[must_use]
    pub fn instance(&self) -> &Instance {
        &self.bounds.instance
    }
}

impl Tree for Qap {
    /// The location of each facility, counted from 1, or 0.
    type Node = Vec<u16>;
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> Vec<u16> {
        vec![0; self.instance().facilities()]
    }

    fn expand(&self, node: &Vec<u16>, best: Option<i64>, out: &mut Children<'_, Self>) {
        let best = best.unwrap_or(i64::MAX);
        let placed: Vec<u16> = node.iter().map(|place| place.wrapping_sub(1)).collect();
        if !placed.contains(&FREE) {
            return out.solution(self.instance().cost(&placed), || solution_of(&placed));
        }
        let Some(seen) = self.bounds.see(&placed, best) else { return };
        let m = seen.locations.len();
        let spare = self.spare(&placed, &seen);
        let children = branch(&seen, &spare, best);
        let mut children: Vec<(i64, usize, usize)> =
            children.map(|at| (seen.more[at], at / m, at % m)).collect();
        children.sort_unstable();
        for (more, facility, location) in children {
            let mut child = node.clone();
            child[seen.facilities[facility]] = seen.locations[location] as u16 + 1;
            out.child_within(seen.bound + more, child);
        }
    }

    fn valid(&self, entry: &Entry<Vec<u16>>) -> bool {
        let n = self.instance().locations();
        let mut used = vec![false; n + 1];
        entry.node.len() == self.instance().facilities()
            && entry.node.iter().all(|&place| {
                let place = usize::from(place);
                place == 0 || place <= n && !std::mem::replace(&mut used[place], true)
            })
    }

    fn fingerprint(&self) -> Option<u64> {
        let (flows, distances) = self.instance().matrices();
        let sizes = (self.instance().facilities(), self.instance().locations());
        Some(fingerprint("qap", &(sizes, flows.to_vec(), distances.to_vec())))
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        Some(self.instance().places(solution).map(|places| self.instance().cost(&places)))
    }
}

impl Qap {
    /// For the free facilities, without those that are missing, and for the free locations: whether they can be
    /// spared.
    fn spare(&self, placed: &[u16], seen: &Seen) -> [Vec<bool>; 2] {
        let facilities = placed.iter().map(|&place| place != FREE).collect();
        let mut locations = vec![false; self.instance().locations()];
        for &place in placed.iter().filter(|&&place| place != FREE) {
            locations[usize::from(place)] = true;
        }
        let (facilities, locations) =
            (self.facilities.spare(facilities), self.locations.spare(locations));
        let real = seen.facilities.iter().take_while(|&&i| i < facilities.len());
        [
            real.map(|&i| facilities[i]).collect(),
            seen.locations.iter().map(|&p| locations[p]).collect(),
        ]
    }
}

/// The pairs to branch on: all locations of a facility, or all facilities of a location, whichever bounds the children
/// best. Of points that known symmetries exchange, one is kept.
fn branch<'s>(
    seen: &Seen,
    [facilities, locations]: &'s [Vec<bool>; 2],
    best: i64,
) -> impl Iterator<Item = usize> + 's {
    let (m, real) = (locations.len(), facilities.len());
    let gap = best.saturating_sub(seen.bound);
    let line = |line: usize| {
        if line < real { (locations, line * m, 1) } else { (facilities, line - real, m) }
    };
    // Where facilities are missing, some locations stay empty.
    let lines = if real == m { 2 * m } else { real };
    let sum = |&at: &usize| -> i64 {
        let (spare, first, by) = line(at);
        let more =
            |other: usize| if spare[other] { gap } else { seen.more[first + other * by].min(gap) };
        (0..m).map(|other| more(other).min(1 << 50)).sum()
    };
    let best_line = (0..lines).rev().max_by_key(sum).unwrap_or(0);
    let (spare, first, by) = line(best_line);
    (0..m).filter(|&other| !spare[other]).map(move |other| first + other * by)
}

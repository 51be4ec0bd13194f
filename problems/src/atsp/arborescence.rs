//! [`Arborescence`]: the minimum arborescence, by the algorithm of Chu–Liu (1965) and Edmonds (1967).
//!
//! Every group of cities takes its cheapest incoming arc, and a cycle among these arcs becomes a group, until there are
//! no cycles. As in Tarjan (1977), only the groups on a cycle are examined again. An arc's reduced cost is what is left
//! of its cost after all subtractions on the way; the reduced costs are a by-product.

use super::arcs::Arcs;

/// An arc into a group, from a city.
#[derive(Clone, Copy)]
struct Live {
    tail: u16,
    arc: u32,
    cost: i64,
}

const NONE: u32 = u32::MAX;
const NEW: u16 = u16::MAX;

/// Working memory and the result.
///
/// Groups are numbered as they come: first the cities, then the cycles, at most one for each city.
pub(super) struct Arborescence {
    /// The arcs into each group from outside.
    live: Vec<Vec<Live>>,
    /// The cheapest of them.
    least: Vec<Live>,
    /// The group that a group has become part of, or itself.
    outer: Vec<u16>,
    /// A group around each group, as far out as is known.
    top: Vec<u16>,
    /// The city from which the walk to a group began.
    seen: Vec<u16>,
    cycle: Vec<u16>,
    /// The arc into each city, and into each group; for the root, the cheapest one from anywhere.
    pub into: Vec<u32>,
    /// Reduced cost of each arc.
    pub reduced: Vec<i64>,
    /// Arcs scanned so far.
    pub looked: u64,
}

impl Arborescence {
    pub fn new(cities: usize, arcs: usize) -> Self {
        Self {
            live: vec![Vec::new(); 2 * cities],
            least: Vec::with_capacity(2 * cities),
            outer: Vec::with_capacity(2 * cities),
            top: Vec::with_capacity(2 * cities),
            seen: Vec::with_capacity(2 * cities),
            cycle: Vec::new(),
            into: Vec::with_capacity(2 * cities),
            reduced: vec![0; arcs],
            looked: 0,
        }
    }

    /// Solves for arc costs less the multiplier of each arc's tail, rooted at city 0 and with the cheapest arc into the
    /// root added. Returns the total, or `None` if there is no arborescence.
    pub fn find(&mut self, arcs: &Arcs, multipliers: &[i64]) -> Option<i64> {
        let n = arcs.cities;
        self.looked += 3 * arcs.len() as u64;
        self.live.iter_mut().for_each(Vec::clear);
        for at in 0..arcs.len() {
            let tail = arcs.tail[at];
            let cost = arcs.cost[at] - multipliers[usize::from(tail)];
            self.live[usize::from(arcs.head[at])].push(Live { tail, arc: at as u32, cost });
        }
        self.outer.clear();
        self.outer.extend(0..n as u16);
        self.top.clone_from(&self.outer);
        self.seen.clear();
        self.seen.resize(n, NEW);
        self.least.clear();
        let mut total = 0;
        for city in 0..n {
            total += self.choose(city)?;
        }
        self.seen[0] = 0;
        for start in 1..n as u16 {
            let mut at = start;
            loop {
                while self.seen[usize::from(at)] == NEW {
                    self.seen[usize::from(at)] = start;
                    at = self.top(self.least[usize::from(at)].tail);
                }
                // A walk that reaches itself has found a cycle, and continues from its group.
                if self.seen[usize::from(at)] != start {
                    break;
                }
                at = self.merge(at);
                total += self.choose(at.into())?;
            }
        }
        for (group, live) in self.live.iter().enumerate().take(self.outer.len()) {
            if usize::from(self.outer[group]) == group {
                let least = self.least[group].cost;
                live.iter().for_each(|live| self.reduced[live.arc as usize] = live.cost - least);
            }
        }
        self.unfold(arcs);
        Some(total)
    }

    /// The outermost group around a group.
    fn top(&mut self, group: u16) -> u16 {
        let mut top = group;
        while self.top[usize::from(top)] != top {
            // Halves the way for the next time.
            let further = self.top[usize::from(self.top[usize::from(top)])];
            self.top[usize::from(top)] = further;
            top = further;
        }
        top
    }

    /// Chooses the cheapest arc into the newest group. Returns its cost.
    fn choose(&mut self, group: usize) -> Option<i64> {
        let least = *self.live[group].iter().min_by_key(|live| live.cost)?;
        self.least.push(least);
        Some(least.cost)
    }

    /// Makes a group of the cycle through this group: subtracts the least costs, and drops the arcs within.
    fn merge(&mut self, start: u16) -> u16 {
        let new = self.outer.len() as u16;
        let mut cycle = std::mem::take(&mut self.cycle);
        cycle.clear();
        let mut at = start;
        while cycle.is_empty() || at != start {
            cycle.push(at);
            at = self.top(self.least[usize::from(at)].tail);
        }
        self.outer.push(new);
        self.top.push(new);
        self.seen.push(NEW);
        for &group in &cycle {
            (self.outer[usize::from(group)], self.top[usize::from(group)]) = (new, new);
        }
        let mut all = std::mem::take(&mut self.live[usize::from(new)]);
        for &group in &cycle {
            let live = std::mem::take(&mut self.live[usize::from(group)]);
            self.looked += live.len() as u64;
            let least = self.least[usize::from(group)].cost;
            for &live in &live {
                let cost = live.cost - least;
                if self.top(live.tail) == new {
                    self.reduced[live.arc as usize] = cost;
                } else {
                    all.push(Live { cost, ..live });
                }
            }
            self.live[usize::from(group)] = live;
        }
        self.live[usize::from(new)] = all;
        self.cycle = cycle;
        new
    }

    /// Finds the arc into each city: the arc that enters a group replaces the group's own arc
    /// there.
    fn unfold(&mut self, arcs: &Arcs) {
        self.into.clear();
        self.into.resize(self.outer.len(), NONE);
        for group in (0..self.outer.len()).rev() {
            if self.into[group] != NONE {
                continue;
            }
            let arc = self.least[group].arc;
            let mut within = usize::from(arcs.head[arc as usize]);
            while within != group {
                self.into[within] = arc;
                within = self.outer[within].into();
            }
            self.into[group] = arc;
        }
        self.into.truncate(arcs.cities);
    }
}

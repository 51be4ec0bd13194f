//! [`Arborescence`]: the minimum arborescence, by the algorithm of Chu–Liu (1965) and Edmonds (1967).
//!
//! It works in phases: every group of cities takes its cheapest incoming arc, and the cycles among
//! these arcs become groups, until there are no cycles. An arc's reduced cost is what is left of
//! its cost after all subtractions on the way; the reduced costs are a by-product.

use super::arcs::Arcs;

/// An arc between two groups.
#[derive(Clone, Copy)]
struct Live {
    tail: u16,
    head: u16,
    arc: u32,
    cost: i64,
}

const NONE: u32 = u32::MAX;

/// Working memory and the result.
pub(super) struct Arborescence {
    live: Vec<Live>,
    /// For each phase and group the cheapest incoming arc; for each phase and city its group.
    chosen: Vec<u32>,
    group: Vec<u16>,
    least: Vec<(i64, u32, u16)>,
    state: Vec<u16>,
    becomes: Vec<u16>,
    /// The arc into each city; for the root, the cheapest one from anywhere.
    pub into: Vec<u32>,
    /// Reduced cost of each arc.
    pub reduced: Vec<i64>,
    /// Arcs scanned so far, over all phases.
    pub looked: u64,
}

impl Arborescence {
    pub fn new(cities: usize, arcs: usize) -> Self {
        Self {
            live: Vec::with_capacity(arcs),
            chosen: Vec::new(),
            group: Vec::new(),
            least: Vec::new(),
            state: vec![0; cities],
            becomes: vec![0; cities],
            into: vec![NONE; cities],
            reduced: vec![0; arcs],
            looked: 0,
        }
    }

    /// Solves for arc costs less the multiplier of each arc's tail, rooted at city 0 and with the cheapest arc into the
    /// root added. Returns the total, or `None` if there is no arborescence.
    pub fn find(&mut self, arcs: &Arcs, multipliers: &[i64]) -> Option<i64> {
        let n = arcs.cities;
        let cost = |at: usize| arcs.cost[at] - multipliers[usize::from(arcs.tail[at])];
        let mut total = 0;
        self.looked += 3 * arcs.len() as u64;
        self.live.clear();
        let mut back = (i64::MAX, NONE);
        for at in 0..arcs.len() {
            let (tail, head, cost) = (arcs.tail[at], arcs.head[at], cost(at));
            if head > 0 {
                self.live.push(Live { tail, head, arc: at as u32, cost });
            } else {
                self.reduced[at] = cost;
                back = back.min((cost, at as u32));
            }
        }
        if back.1 == NONE {
            return None;
        }
        total += back.0;
        let mut groups = n;
        self.chosen.clear();
        self.group.clear();
        self.group.extend(0..n as u16);
        let mut phases = 1;
        loop {
            self.looked += self.live.len() as u64;
            total += self.choose(groups)?;
            let fewer = self.merge(groups);
            self.chosen.extend(self.least.iter().map(|&(_, arc, _)| arc));
            // Every phase has room for as many groups as there are cities.
            self.chosen.resize(phases * n, NONE);
            if fewer == groups {
                break;
            }
            self.shrink();
            let from = (phases - 1) * n;
            self.group.extend_from_within(from..from + n);
            self.group[from + n..]
                .iter_mut()
                .for_each(|group| *group = self.becomes[usize::from(*group)]);
            (groups, phases) = (fewer, phases + 1);
        }
        for live in &self.live {
            self.reduced[live.arc as usize] = live.cost - self.least[usize::from(live.head)].0;
        }
        for at in 0..arcs.len() {
            if arcs.head[at] == 0 {
                self.reduced[at] -= back.0;
            }
        }
        self.unfold(arcs, phases);
        self.into[0] = back.1;
        Some(total)
    }

    /// The cheapest arc into each group except the root's, which is always number 0. Returns their
    /// sum.
    fn choose(&mut self, groups: usize) -> Option<i64> {
        self.least.clear();
        self.least.resize(groups, (i64::MAX, NONE, 0));
        for live in &self.live {
            let least = &mut self.least[usize::from(live.head)];
            if live.cost < least.0 {
                *least = (live.cost, live.arc, live.tail);
            }
        }
        self.least[0] = (0, NONE, 0);
        let mut total = 0;
        for &(cost, arc, _) in &self.least[1..] {
            if arc == NONE {
                return None;
            }
            total += cost;
        }
        Some(total)
    }

    /// Renumbers the groups: all groups on a cycle get the same number. Returns the number of groups.
    fn merge(&mut self, groups: usize) -> usize {
        const NEW: u16 = u16::MAX;
        self.becomes.clear();
        self.becomes.resize(groups, NEW);
        self.state.clear();
        self.state.resize(groups, NEW);
        self.becomes[0] = 0;
        self.state[0] = 0;
        let mut fewer = 1;
        for start in 1..groups as u16 {
            let mut at = start;
            while self.state[usize::from(at)] == NEW {
                self.state[usize::from(at)] = start;
                at = self.least[usize::from(at)].2;
            }
            // A walk that reaches itself has found a cycle.
            if self.state[usize::from(at)] == start && self.becomes[usize::from(at)] == NEW {
                while self.becomes[usize::from(at)] == NEW {
                    self.becomes[usize::from(at)] = fewer;
                    at = self.least[usize::from(at)].2;
                }
                fewer += 1;
            }
        }
        for becomes in &mut self.becomes {
            if *becomes == NEW {
                (*becomes, fewer) = (fewer, fewer + 1);
            }
        }
        fewer.into()
    }

    /// Subtracts the least costs, and drops arcs within a group.
    fn shrink(&mut self) {
        let (least, becomes, reduced) = (&self.least, &self.becomes, &mut self.reduced);
        self.live.retain_mut(|live| {
            live.cost -= least[usize::from(live.head)].0;
            live.tail = becomes[usize::from(live.tail)];
            live.head = becomes[usize::from(live.head)];
            let between = live.tail != live.head;
            if !between {
                reduced[live.arc as usize] = live.cost;
            }
            between
        });
    }

    /// Finds the arc into each city: the arc that enters a group replaces the group's own arc
    /// there.
    fn unfold(&mut self, arcs: &Arcs, phases: usize) {
        let n = arcs.cities;
        // In the last phase each group has its cheapest arc; the root has none.
        let mut into: Vec<u32> = self.chosen[(phases - 1) * n..][..n].to_vec();
        for phase in (0..phases - 1).rev() {
            let group = &self.group[phase * n..][..n];
            let above = &self.group[(phase + 1) * n..][..n];
            let chosen = &self.chosen[phase * n..][..n];
            let mut here = vec![NONE; n];
            for city in 0..n {
                let (own, outer) = (usize::from(group[city]), usize::from(above[city]));
                let arc = into[outer];
                if own == 0 || here[own] != NONE || arc == NONE {
                    continue;
                }
                let entered = group[usize::from(arcs.head[arc as usize])];
                here[own] = if usize::from(entered) == own { arc } else { chosen[own] };
            }
            into = here;
        }
        self.into.copy_from_slice(&into);
    }
}

//! The lower bound of Gilmore (1962) and Lawler (1963) on all assignments that complete one.

use super::assignment::Assignment;
use super::instance::Instance;

/// The location of a facility that has none yet.
pub(super) const FREE: u16 = u16::MAX;

/// An instance, prepared for bounds.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    pub instance: Instance,
    /// What divides the cost of every assignment.
    step: i64,
    /// For each facility, the others by decreasing flow; for each location, the others by distance.
    by_flow: Vec<Vec<u16>>,
    by_distance: Vec<Vec<u16>>,
}

/// What is known about a node: free facilities and locations, and a reduced cost for each pair of them.
pub(super) struct Seen {
    /// No assignment below the node costs less.
    pub bound: i64,
    pub facilities: Vec<usize>,
    pub locations: Vec<usize>,
    /// What an assignment with this pair costs more than the bound at least, facility by facility.
    pub more: Vec<i64>,
}

impl Bounds {
    pub fn new(instance: Instance) -> Self {
        let n = instance.locations() as u16;
        let sorted = |value: &dyn Fn(usize, usize) -> i64| -> Vec<Vec<u16>> {
            let row = |i: u16| {
                let mut others: Vec<u16> = (0..n).filter(|&j| j != i).collect();
                others.sort_by_key(|&j| value(i.into(), j.into()));
                others
            };
            (0..n).map(row).collect()
        };
        let by_flow = sorted(&|i, j| -instance.flow(i, j));
        let by_distance = sorted(&|p, q| instance.distance(p, q));
        Self { step: instance.step(), by_flow, by_distance, instance }
    }

    /// Bounds a node, given by the location of each facility, if it has one; `None` if nothing below costs less than
    /// `best`.
    pub fn see(&self, placed: &[u16], best: i64) -> Option<Seen> {
        let n = self.instance.locations();
        let (mut pairs, mut facilities) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let mut is_free = vec![[true; 2]; n];
        for i in 0..n {
            match placed.get(i).copied().unwrap_or(FREE) {
                FREE => facilities.push(i),
                location => {
                    is_free[i][0] = false;
                    is_free[usize::from(location)][1] = false;
                    pairs.push((i, usize::from(location)));
                }
            }
        }
        let locations: Vec<usize> = (0..n).filter(|&location| is_free[location][1]).collect();
        let fixed = self.fixed_cost(&pairs);
        let mut costs = self.linear_costs(&pairs, &facilities, &locations);
        self.add_products((&facilities, &locations), &is_free, &mut costs);
        // A cost must be less than `best`, and a multiple of the step.
        let most = best.saturating_sub(1).div_euclid(self.step).saturating_mul(self.step);
        let most = most.saturating_sub(fixed);
        let least = fixed + Assignment::default().reduce(&mut costs, facilities.len(), most)?;
        let bound = self.up(least);
        let more = costs.into_iter().map(|more| self.up(least + more) - bound).collect();
        Some(Seen { bound, facilities, locations, more })
    }

    /// The least multiple of the step that is not less.
    fn up(&self, value: i64) -> i64 {
        value + (-value).rem_euclid(self.step)
    }

    /// The cost between facilities that are placed.
    fn fixed_cost(&self, placed: &[(usize, usize)]) -> i64 {
        let x = &self.instance;
        let with = |&(i, p): &(usize, usize)| -> i64 {
            placed.iter().map(|&(j, q)| x.flow(i, j) * x.distance(p, q)).sum()
        };
        placed.iter().map(with).sum()
    }

    /// The cost of each free facility at each free location: its own, and that with facilities that are placed.
    fn linear_costs(
        &self,
        placed: &[(usize, usize)],
        facilities: &[usize],
        locations: &[usize],
    ) -> Vec<i64> {
        let x = &self.instance;
        let mut costs = Vec::with_capacity(facilities.len() * locations.len());
        for &i in facilities {
            let own = x.flow(i, i);
            let flows = placed.iter().map(|&(j, q)| (q, x.flow(i, j), x.flow(j, i)));
            let flows: Vec<_> = flows.filter(|&(_, there, back)| there != 0 || back != 0).collect();
            costs.extend(locations.iter().map(|&p| {
                let with = |&(q, there, back): &(usize, i64, i64)| {
                    there * x.distance(p, q) + back * x.distance(q, p)
                };
                own * x.distance(p, p) + flows.iter().map(with).sum::<i64>()
            }));
        }
        costs
    }

    /// Adds, for each pair, the least that the flows from its facility to other free ones can cost: the greatest flow
    /// goes the least distance.
    fn add_products(
        &self,
        (facilities, locations): (&[usize], &[usize]),
        is_free: &[[bool; 2]],
        costs: &mut [i64],
    ) {
        let m = facilities.len();
        let x = &self.instance;
        let mut distances = Vec::with_capacity(m * m);
        for &p in locations {
            let free = self.by_distance[p].iter().map(|&q| usize::from(q));
            distances.extend(free.filter(|&q| is_free[q][1]).map(|q| x.distance(p, q)));
        }
        let mut flows = Vec::with_capacity(m);
        for (&i, costs) in facilities.iter().zip(costs.chunks_mut(m)) {
            let free = self.by_flow[i].iter().map(|&j| usize::from(j));
            flows.clear();
            flows.extend(free.filter(|&j| is_free[j][0]).map(|j| x.flow(i, j)));
            for (p, cost) in costs.iter_mut().enumerate() {
                let distances = &distances[p * (m - 1)..][..m - 1];
                *cost += flows.iter().zip(distances).map(|(flow, far)| flow * far).sum::<i64>();
            }
        }
    }
}

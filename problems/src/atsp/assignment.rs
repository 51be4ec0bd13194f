//! The assignment problem: each city gets its own successor, at minimum total cost.
//!
//! Shortest augmenting paths as in Jonker and Volgenant (1987), O(n²) each. An assignment that is
//! optimal for all cities but one is repaired by a single path (Carpaneto and Toth 1980).

use super::arcs::Arcs;
use super::ascent::MOST_MULTIPLIER;

/// A minimum assignment, and the dual prices that prove it.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    /// The sum of all dual prices, which is the cost of the assignment.
    pub value: i64,
    /// The successor of each city.
    pub next: Vec<u16>,
    /// Reduced cost of each arc: zero for those in the assignment.
    pub reduced: Vec<i64>,
    /// Dual price of leaving each city, within [`MOST_MULTIPLIER`], to start from.
    pub out: Vec<i64>,
}

const NONE: u16 = u16::MAX;

/// The problem was not solved in time. The dual prices so far prove this bound.
pub(super) struct Interrupted(pub i64);

/// Solves the assignment problem for these arc costs. Any prices and successors will do to start
/// from; good ones save time. `None` if there is no assignment.
///
/// # Errors
/// If `keep_going` returns false on the way.
pub(super) fn solve(
    arcs: &Arcs,
    cost: &[i64],
    (out, hint): (&[i64], &[u16]),
    keep_going: &dyn Fn() -> bool,
) -> Result<Option<Assignment>, Interrupted> {
    let n = arcs.cities;
    let mut out = out.to_vec();
    let mut into = vec![i64::MAX; n];
    for ((&i, &j), &cost) in arcs.tail.iter().zip(&arcs.head).zip(cost) {
        let into = &mut into[usize::from(j)];
        *into = (cost - out[usize::from(i)]).min(*into);
    }
    if into.contains(&i64::MAX) {
        return Ok(None);
    }
    let mut next = vec![NONE; n];
    let mut before = vec![NONE; n];
    for i in 0..n {
        let price = |at: usize| cost[at] - into[usize::from(arcs.head[at])];
        let Some(least) = arcs.row(i).map(price).min() else { return Ok(None) };
        out[i] = least;
        let tight = arcs.row(i).filter(|&at| price(at) == out[i]).map(|at| arcs.head[at]);
        let free = |&j: &u16| before[usize::from(j)] == NONE;
        let hinted = hint.get(i).copied().filter(|&j| tight.clone().any(|tight| tight == j));
        if let Some(j) = hinted.filter(free).or_else(|| tight.clone().find(free)) {
            (next[i], before[usize::from(j)]) = (j, i as u16);
        }
    }
    let mut paths = Paths::new(n);
    for i in 0..n {
        if next[i] != NONE {
            continue;
        }
        if !keep_going() {
            return Err(Interrupted(total(&out, &into)));
        }
        let prices = (&mut out[..], &mut into[..]);
        if paths.augment(arcs, cost, i, prices, (&mut next, &mut before)).is_none() {
            return Ok(None);
        }
    }
    let value = total(&out, &into);
    let price = |at: usize| out[usize::from(arcs.tail[at])] + into[usize::from(arcs.head[at])];
    let reduced = (0..arcs.len()).map(|at| cost[at] - price(at)).collect();
    // Prices may drift from node to node.
    let most = MOST_MULTIPLIER as i64;
    out.iter_mut().for_each(|price| *price = (*price).clamp(-most, most));
    Ok(Some(Assignment { value, next, reduced, out }))
}

/// The bound that these prices prove.
fn total(out: &[i64], into: &[i64]) -> i64 {
    out.iter().chain(into).sum()
}

/// A quick bound, given all arcs between at least three cities: the cheapest arc into each city, and then the cheapest
/// arc from each city, by the costs that are left. The former do not start from city 0, where a shop without waiting
/// has arcs of length 0 to all other cities.
pub(super) fn cheapest(arcs: &Arcs) -> i64 {
    let mut into = vec![i64::MAX; arcs.cities];
    for at in arcs.rows[1]..arcs.len() {
        let into = &mut into[usize::from(arcs.head[at])];
        *into = arcs.cost[at].min(*into);
    }
    let price = |at: usize| arcs.cost[at] - into[usize::from(arcs.head[at])];
    let out = |i: usize| arcs.row(i).map(price).min().unwrap_or(0);
    total(&(0..arcs.cities).map(out).collect::<Vec<_>>(), &into)
}

/// The state of a shortest-path search.
struct Paths {
    /// The least cost of reaching a city, and its predecessor.
    reach: Vec<i64>,
    from: Vec<u16>,
    /// Cities whose distance is final, in order.
    done: Vec<usize>,
    is_done: Vec<bool>,
}

impl Paths {
    fn new(n: usize) -> Self {
        let (reach, from) = (vec![0; n], vec![NONE; n]);
        Self { reach, from, done: Vec::with_capacity(n), is_done: vec![false; n] }
    }

    /// Assigns a successor to `start` along a shortest augmenting path, and adjusts the prices so
    /// that assigned arcs stay tight.
    fn augment(
        &mut self,
        arcs: &Arcs,
        cost: &[i64],
        start: usize,
        (out, into): (&mut [i64], &mut [i64]),
        (next, before): (&mut [u16], &mut [u16]),
    ) -> Option<()> {
        let n = arcs.cities;
        self.reach.fill(i64::MAX);
        self.is_done.fill(false);
        self.done.clear();
        let (mut i, mut so_far) = (start, 0);
        let end = loop {
            for at in arcs.row(i) {
                let j = usize::from(arcs.head[at]);
                let reach = so_far + cost[at] - out[i] - into[j];
                if reach < self.reach[j] && !self.is_done[j] {
                    (self.reach[j], self.from[j]) = (reach, i as u16);
                }
            }
            let open = (0..n).filter(|&j| !self.is_done[j]);
            let j = open.min_by_key(|&j| self.reach[j]).filter(|&j| self.reach[j] < i64::MAX)?;
            so_far = self.reach[j];
            self.is_done[j] = true;
            if before[j] == NONE {
                break j;
            }
            self.done.push(j);
            i = before[j].into();
        };
        for &j in &self.done {
            let rise = so_far - self.reach[j];
            out[usize::from(before[j])] += rise;
            into[j] -= rise;
        }
        out[start] += so_far;
        let mut j = end;
        loop {
            let i = usize::from(self.from[j]);
            before[j] = i as u16;
            let old = std::mem::replace(&mut next[i], j as u16);
            if i == start {
                return Some(());
            }
            j = old.into();
        }
    }
}

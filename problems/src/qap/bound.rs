//! The lower bound of Gilmore (1962) and Lawler (1963) on all assignments that complete one.

use super::assignment::{Assignment, Number};
use super::instance::Instance;
use std::cell::RefCell;

/// The location of a facility that has none yet.
pub(super) const FREE: u16 = u16::MAX;

/// An instance, prepared for bounds.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    pub instance: Instance,
    /// What divides the cost of every assignment.
    step: i64,
    /// For each facility, the others and the flows to them, by decreasing flow.
    by_flow: Vec<Vec<(u16, i64)>>,
    /// For each location, the others and their distances, by distance.
    by_distance: Vec<Vec<(u16, i64)>>,
    /// Whether all numbers fit into 16 bits, and all sums into 32.
    small: bool,
}

/// What is known about a node: free facilities and locations, and a reduced cost for each pair of them.
pub(super) struct Seen {
    /// No assignment below the node costs less.
    pub bound: i64,
    pub facilities: Vec<usize>,
    pub locations: Vec<usize>,
    /// The least by which an assignment with this pair costs more than the bound, facility by facility.
    pub more: Vec<i64>,
}

impl Bounds {
    pub fn new(instance: Instance) -> Self {
        let n = instance.locations() as u16;
        let sorted = |value: &dyn Fn(usize, usize) -> i64, sign: i64| -> Vec<Vec<(u16, i64)>> {
            let row = |i: u16| {
                let others = (0..n).filter(|&j| j != i);
                let mut others: Vec<_> = others.map(|j| (j, value(i.into(), j.into()))).collect();
                others.sort_by_key(|&(_, value)| sign * value);
                others
            };
            (0..n).map(row).collect()
        };
        let by_flow = sorted(&|i, j| instance.flow(i, j), -1);
        let by_distance = sorted(&|p, q| instance.distance(p, q), 1);
        let small = instance.greatest() <= i16::MAX.into() && instance.total() <= 1 << 27;
        Self { step: instance.step(), by_flow, by_distance, small, instance }
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
        // A cost must be less than `best`, and a multiple of the step.
        let most = best.saturating_sub(1).div_euclid(self.step).saturating_mul(self.step);
        let free = (&facilities[..], &locations[..]);
        let (bound, more) = if self.small {
            self.reduced::<i16>(&pairs, free, &is_free, (fixed, most))
        } else {
            self.reduced::<i64>(&pairs, free, &is_free, (fixed, most))
        }?;
        Some(Seen { bound, facilities, locations, more })
    }

    /// The least multiple of the step that is not less.
    fn up(&self, value: i64) -> i64 {
        if self.step & (self.step - 1) == 0 {
            return (value + self.step - 1) & -self.step;
        }
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

    /// The bound, if it is at most `most`, and what each pair costs more.
    fn reduced<T: Term>(
        &self,
        placed: &[(usize, usize)],
        free: (&[usize], &[usize]),
        is_free: &[[bool; 2]],
        (fixed, most): (i64, i64),
    ) -> Option<(i64, Vec<i64>)> {
        let mut costs = self.costs::<T>(placed, free, is_free);
        let most = most.saturating_sub(fixed);
        let most = match T::Sum::try_from(most) {
            Ok(most) => most,
            Err(_) if most < 0 => return None,
            Err(_) => T::Sum::MAX,
        };
        let least = T::assignment(|it| it.reduce(&mut costs, free.0.len(), most))?;
        let least = fixed + least.into();
        let bound = self.up(least);
        let more = costs.into_iter().map(|more| self.up(least + more.into()) - bound);
        Some((bound, more.collect()))
    }

    /// The cost of each free facility at each free location: its own, that with facilities that are placed, and the
    /// least that the flows to other free ones can cost, where the greatest flow goes the least distance.
    fn costs<T: Term>(
        &self,
        placed: &[(usize, usize)],
        (facilities, locations): (&[usize], &[usize]),
        is_free: &[[bool; 2]],
    ) -> Vec<T::Sum> {
        let x = &self.instance;
        // Each cost is the product of two rows, filled up with zeros.
        let width = (facilities.len() + 2 * placed.len() + 1).next_multiple_of(LANES);
        let mut flows = vec![T::of(0); facilities.len() * width];
        for (row, &i) in flows.chunks_exact_mut(width).zip(facilities) {
            let with = placed.iter().map(|&(j, _)| [x.flow(i, j), x.flow(j, i)]);
            fill(row, with, x.flow(i, i), &self.by_flow[i], |j| is_free[j][0]);
        }
        let mut distances = vec![T::of(0); facilities.len() * width];
        for (row, &p) in distances.chunks_exact_mut(width).zip(locations) {
            let with = placed.iter().map(|&(_, q)| [x.distance(p, q), x.distance(q, p)]);
            fill(row, with, x.distance(p, p), &self.by_distance[p], |q| is_free[q][1]);
        }
        let mut costs = Vec::with_capacity(facilities.len() * locations.len());
        for flows in flows.chunks_exact(width) {
            costs.extend(distances.chunks_exact(width).map(|far| T::product(flows, far)));
        }
        costs
    }
}

/// Fills a row with the values between a point and those that are placed, its own, and those to others that are free.
#[inline]
fn fill<T: Term>(
    row: &mut [T],
    with: impl Iterator<Item = [i64; 2]>,
    own: i64,
    others: &[(u16, i64)],
    is_free: impl Fn(usize) -> bool,
) {
    row[0] = T::of(own);
    let mut at = 1;
    for [there, back] in with {
        (row[at], row[at + 1]) = (T::of(there), T::of(back));
        at += 2;
    }
    for &(other, value) in others {
        // The next value overwrites one that is not free.
        row[at] = T::of(value);
        at += usize::from(is_free(other.into()));
    }
    row[at] = T::of(0);
}

thread_local! {
    static NARROW: RefCell<Assignment<i32>> = RefCell::default();
    static WIDE: RefCell<Assignment<i64>> = RefCell::default();
}

/// How many terms vectors hold.
const LANES: usize = 8;

/// A number of a row.
trait Term: Copy {
    /// Sums of products.
    type Sum: Number;

    fn of(value: i64) -> Self;

    /// The sum of the products of two rows, whose lengths are multiples of [`LANES`].
    fn product(one: &[Self], other: &[Self]) -> Self::Sum;

    /// Uses the solver of this thread.
    fn assignment<R>(run: impl FnOnce(&mut Assignment<Self::Sum>) -> R) -> R;
}

impl Term for i16 {
    type Sum = i32;

    fn of(value: i64) -> Self {
        value as Self
    }

    #[inline]
    fn product(one: &[Self], other: &[Self]) -> i32 {
        // Compilers turn this into one instruction for eight products.
        let pairs = one.as_chunks::<LANES>().0.iter().zip(other.as_chunks::<LANES>().0);
        let sum = pairs.map(|(one, other)| -> i32 {
            one.iter().zip(other).map(|(&one, &other)| i32::from(one) * i32::from(other)).sum()
        });
        sum.sum()
    }

    fn assignment<R>(run: impl FnOnce(&mut Assignment<i32>) -> R) -> R {
        NARROW.with_borrow_mut(run)
    }
}

impl Term for i64 {
    type Sum = Self;

    fn of(value: i64) -> Self {
        value
    }

    #[inline]
    fn product(one: &[Self], other: &[Self]) -> Self {
        one.iter().zip(other).map(|(one, other)| one * other).sum()
    }

    fn assignment<R>(run: impl FnOnce(&mut Assignment<Self>) -> R) -> R {
        WIDE.with_borrow_mut(run)
    }
}

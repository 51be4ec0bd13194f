//! [`Twins`]: symmetry breaking for cities that can be exchanged without changing any cost.
//!
//! Of all tours that differ only by such exchanges, one is kept: the one that visits the twins in
//! the order of their numbers, starting from city 0.

use super::arcs::Allowed;
use super::instance::Instance;

const SINGLE: u16 = u16::MAX;

/// Groups of twins.
#[derive(Clone, Debug)]
pub(super) struct Twins {
    /// For each city the first of its twins, and how many of them precede it.
    first: Vec<u16>,
    rank: Vec<u16>,
    any: bool,
}

/// The twins on a path: for each group the rank of the first and of the last.
type Span = Vec<(u16, u16, u16)>;

impl Twins {
    pub fn new(instance: &Instance) -> Self {
        let n = instance.cities();
        let alike = |a: usize, b: usize| {
            let cost = |i, j| instance.cost(i, j);
            let others = (0..n).filter(|&x| x != a && x != b);
            cost(a, b) == cost(b, a)
                && others.clone().all(|x| cost(a, x) == cost(b, x) && cost(x, a) == cost(x, b))
        };
        let mut twins = Self { first: vec![SINGLE; n], rank: vec![0; n], any: false };
        for a in 1..n {
            if twins.first[a] != SINGLE {
                continue;
            }
            let mut rank = 0;
            for b in (a + 1..n).filter(|&b| alike(a, b)) {
                rank += 1;
                (twins.first[b], twins.rank[b]) = (a as u16, rank);
            }
            if rank > 0 {
                (twins.first[a], twins.any) = (a as u16, true);
            }
        }
        twins
    }

    /// Removes arcs that only tours with twins out of order use.
    pub fn order(&self, allowed: &mut Allowed) {
        let n = self.first.len();
        for a in (1..n).filter(|&a| self.first[a] != SINGLE) {
            for b in (1..n).filter(|&b| b != a && self.first[b] == self.first[a]) {
                if self.rank[b] != self.rank[a] + 1 {
                    allowed.remove(a, b);
                }
                // The tour starts before all twins and ends after them.
                allowed.remove(if self.rank[a] < self.rank[b] { a } else { b }, 0);
                allowed.remove(0, if self.rank[a] < self.rank[b] { b } else { a });
            }
        }
    }

    /// The twins on a path; `None` if they are out of order.
    fn span(&self, path: &[u16]) -> Option<Span> {
        let mut span = Span::new();
        for &city in path {
            let (first, rank) = (self.first[usize::from(city)], self.rank[usize::from(city)]);
            if first == SINGLE {
                continue;
            }
            match span.iter_mut().find(|(kind, ..)| *kind == first) {
                Some((_, _, last)) if *last + 1 == rank => *last = rank,
                Some(_) => return None,
                None => span.push((first, rank, rank)),
            }
        }
        Some(span)
    }

    /// Removes arcs between paths that would put twins out of order; false if some already are.
    pub fn keep_order(&self, paths: &[Vec<u16>], allowed: &mut Allowed) -> bool {
        if !self.any {
            return true;
        }
        let Some(spans) = paths.iter().map(|path| self.span(path)).collect::<Option<Vec<Span>>>()
        else {
            return false;
        };
        for (before, path) in spans.iter().zip(paths).filter(|(span, _)| !span.is_empty()) {
            for (after, other) in spans.iter().zip(paths) {
                let (end, begin) = (path[path.len() - 1].into(), other[0].into());
                // An arc to the path with city 0 only closes the tour.
                let clash = |&(kind, _, last): &(u16, u16, u16)| {
                    after.iter().any(|&(other, first, _)| other == kind && first != last + 1)
                };
                if end != begin && other[0] != 0 && before.iter().any(clash) {
                    allowed.remove(end, begin);
                }
            }
        }
        true
    }
}

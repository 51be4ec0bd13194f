//! [`Interval`]: a run of leaves of a permutation tree, between two points that are exact for any n.
//!
//! In the tree of all permutations of n things a node at depth d has n − d children. They have ranks
//! from 0 in an order that depends on nothing but the node, so the ranks along a path number its
//! leaf: they are the digits of a number whose digit d counts up to n − d (a factoradic one).

use std::cmp::Ordering;

/// A point between leaves: digits from the root down, without the zeros at the end.
///
/// So the order of points is that of slices. The point behind the last leaf is `[n]`.
pub type Point = Vec<u16>;

/// The leaves from one point up to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The first leaf.
    pub begin: Point,
    /// The leaf behind the last.
    pub end: Point,
    /// What is known of the least bound inside; `i64::MIN` if nothing is.
    pub bound: i64,
}

/// The greatest number of things that can be permuted.
pub const MOST_PLACES: usize = u16::MAX as usize / 2;

/// Leaves given, below which a split is exact and above which it may be off by half a percent.
const EXACT: f64 = 200.0;

/// Whole numbers below it are exact as floating point.
const WHOLE: f64 = (1u64 << 53) as f64;

/// A digit of a point.
#[must_use]
pub fn digit(point: &[u16], depth: usize) -> u16 {
    point.get(depth).copied().unwrap_or(0)
}

/// Drops the zeros at the end.
pub fn trim(point: &mut Point) {
    point.truncate(point.iter().rposition(|&digit| digit > 0).map_or(0, |last| last + 1));
}

/// The point so many leaves after another, of at most twice the whole.
#[must_use]
pub fn plus(n: usize, a: &[u16], b: &[u16]) -> Point {
    let mut sum = vec![0; a.len().max(b.len())];
    let mut carry = 0;
    for depth in (0..sum.len()).rev() {
        let all = u32::from(digit(a, depth)) + u32::from(digit(b, depth)) + carry;
        // The first digit alone may run over: `[n]` lies behind the last leaf.
        let base = if depth == 0 { u32::MAX } else { (n - depth) as u32 };
        carry = u32::from(all >= base);
        sum[depth] = all.wrapping_sub(carry * base) as u16;
    }
    trim(&mut sum);
    sum
}

/// The leaves from `b` to `a`, which is no less.
#[must_use]
pub fn minus(n: usize, a: &[u16], b: &[u16]) -> Point {
    let mut rest = vec![0; a.len().max(b.len())];
    let mut borrow = 0;
    for depth in (0..rest.len()).rev() {
        let (from, take) = (i32::from(digit(a, depth)), i32::from(digit(b, depth)) + borrow);
        borrow = i32::from(from < take);
        rest[depth] = (from - take + borrow * (n - depth) as i32) as u16;
    }
    trim(&mut rest);
    rest
}

/// Leaves before a point, or as many as a floating point number can hold.
#[must_use]
pub fn leaves(n: usize, point: &[u16]) -> f64 {
    let mut sum = 0.0;
    for depth in 0..n {
        sum = sum * (n - depth) as f64 + f64::from(digit(point, depth));
        if sum > f64::MAX || depth >= point.len() && sum == 0.0 {
            break;
        }
    }
    sum.min(f64::MAX)
}

/// Leaves before a point as part of all.
#[must_use]
pub fn part(n: usize, point: &[u16]) -> f64 {
    let mut weight = 1.0;
    let of_digit = |(depth, &digit): (usize, &u16)| {
        weight /= (n - depth) as f64;
        weight * f64::from(digit)
    };
    point.iter().enumerate().map(of_digit).sum()
}

/// The point with so many leaves before it.
#[must_use]
pub fn point(n: usize, leaves: u128) -> Point {
    let mut digits = vec![0; n];
    let mut rest = leaves;
    for depth in (0..n).rev() {
        let base = if depth == 0 { u128::MAX } else { (n - depth) as u128 };
        digits[depth] = (rest % base) as u16;
        rest /= base;
    }
    trim(&mut digits);
    digits
}

/// How much of so many leaves a share is: at least one of two or more, never all; `None` of fewer.
#[must_use]
pub fn portion(n: usize, length: &[u16], share: f64) -> Option<Point> {
    let whole = leaves(n, length);
    if whole < 2.0 {
        return None;
    }
    // What is not a number is brought to the nearest sensible share.
    let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
    if whole < WHOLE {
        return Some(point(n, (share * whole).round().clamp(1.0, whole - 1.0) as u128));
    }
    let one = point(n, 1);
    let most = minus(n, length, &one);
    Some(times(n, length, share).max(one).min(most))
}

/// A share of so many leaves, as exact as floating point is, and rounded to a leaf.
fn times(n: usize, length: &[u16], share: f64) -> Point {
    let mut product = vec![0u32; n];
    let (mut fraction, mut precision) = (0.0, 1.0);
    for (depth, product) in product.iter_mut().enumerate() {
        let base = (n - depth) as f64;
        let here = share * f64::from(digit(length, depth)) + fraction * base;
        // The last digit has but one value: what is left over there is rounded.
        let here = if depth + 1 == n { here.round() } else { here };
        *product = here as u32;
        fraction = here.fract();
        if *product > 0 || precision > 1.0 {
            precision *= base;
        }
        if precision > WHOLE {
            break;
        }
    }
    for depth in (1..n).rev() {
        let base = (n - depth) as u32;
        product[depth - 1] += product[depth] / base;
        product[depth] %= base;
    }
    let mut product: Point = product.into_iter().map(|digit| digit as u16).collect();
    trim(&mut product);
    product
}

impl Interval {
    /// All leaves.
    #[must_use]
    pub fn whole(n: usize) -> Self {
        Self { begin: Vec::new(), end: vec![n as u16], bound: i64::MIN }
    }

    /// How many leaves there are, as digits.
    #[must_use]
    pub fn length(&self, n: usize) -> Point {
        minus(n, &self.end, &self.begin)
    }

    /// Gives away the leaves from a point on; `None` if that would be all or nothing.
    pub fn cut(&mut self, at: Point) -> Option<Self> {
        if at <= self.begin || at >= self.end {
            return None;
        }
        let end = std::mem::replace(&mut self.end, at.clone());
        Some(Self { begin: at, end, bound: self.bound })
    }

    /// Gives away about so many leaves from the end.
    pub fn give(&mut self, n: usize, leaves: &[u16]) -> Option<Self> {
        let exact = minus(n, &self.end, leaves);
        let round = rounded(n, &exact, leaves);
        // Where little is kept, to round could be to give all.
        let kept = |at: &Point| part(n, &minus(n, at, &self.begin));
        let at =
            if round > self.begin && kept(&round) > 0.9 * kept(&exact) { round } else { exact };
        self.cut(at)
    }

    /// Gives away a share of the leaves, those at the end: exact below some hundred leaves, beyond
    /// to one percent. At least one of two leaves or more is given, and one is kept.
    pub fn split(&mut self, n: usize, share: f64) -> Option<Self> {
        let given = portion(n, &self.length(n), share)?;
        self.give(n, &given)
    }

    /// Takes up the interval that begins where this one ends; false if it begins elsewhere.
    pub fn merge(&mut self, next: &Self) -> bool {
        let adjacent = self.end == next.begin;
        if adjacent {
            self.end.clone_from(&next.end);
            self.bound = self.bound.min(next.bound);
        }
        adjacent
    }

    /// The leaves before another interval, and those behind it.
    pub fn without(&self, other: &Self) -> impl Iterator<Item = Self> + use<> {
        let before = (self.begin.clone(), self.end.clone().min(other.begin.clone()));
        let behind = (self.begin.clone().max(other.end.clone()), self.end.clone());
        let bound = self.bound;
        let parts = [before, behind].into_iter().filter(|(begin, end)| begin < end);
        parts.map(move |(begin, end)| Self { begin, end, bound })
    }

    /// The order of the first leaves.
    #[must_use]
    pub fn order(&self, other: &Self) -> Ordering {
        self.begin.cmp(&other.begin)
    }
}

/// A point brought down to a shallower node by less than half a percent of the leaves given: it
/// packs small, and whoever begins there has a short way down.
fn rounded(n: usize, exact: &[u16], given: &[u16]) -> Point {
    let Some(first) = given.iter().position(|&digit| digit > 0) else { return exact.to_vec() };
    let mut weight = f64::from(given[first]);
    let mut round = exact.to_vec();
    for depth in first + 1..n {
        weight *= (n - depth) as f64;
        if weight >= EXACT {
            round.truncate(depth + 1);
            break;
        }
    }
    trim(&mut round);
    round
}

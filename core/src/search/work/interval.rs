//! [`Interval`]: a range of leaves of a permutation tree, with exact end points for any n.
//!
//! In the tree of all permutations of n items a node at depth d has n − d children. Their ranks
//! start at 0, in an order that depends on the node alone. The ranks along a path are the digits of
//! its leaf's number, with base n − d at digit d: a factoradic number.

use std::cmp::Ordering;

/// A point between leaves: digits from the root down, without trailing zeros.
///
/// Points therefore compare like slices. The point after the last leaf is `[n]`.
pub type Point = Vec<u16>;

/// The leaves between two points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The first leaf.
    pub begin: Point,
    /// The point after the last leaf.
    pub end: Point,
    /// A lower bound on everything inside; `i64::MIN` if unknown.
    pub bound: i64,
}

/// The largest number of things to permute.
pub const MOST_PLACES: usize = u16::MAX as usize / 2;

/// Splits that give fewer leaves than this are exact; larger ones may be off by half a percent.
const EXACT: f64 = 200.0;

/// Whole numbers below this are exact in floating point.
const WHOLE: f64 = (1u64 << 53) as f64;

/// A digit of a point; digits beyond its end are 0.
#[must_use]
pub fn digit(point: &[u16], depth: usize) -> u16 {
    point.get(depth).copied().unwrap_or(0)
}

/// Drops trailing zeros.
pub fn trim(point: &mut Point) {
    point.truncate(point.iter().rposition(|&digit| digit > 0).map_or(0, |last| last + 1));
}

/// The point `b` leaves after `a`. It may lie up to twice the whole tree from the first leaf.
#[must_use]
pub fn plus(n: usize, a: &[u16], b: &[u16]) -> Point {
    let mut sum = vec![0; a.len().max(b.len())];
    let mut carry = 0;
    for depth in (0..sum.len()).rev() {
        let all = u32::from(digit(a, depth)) + u32::from(digit(b, depth)) + carry;
        // Only the first digit may exceed its base: `[n]` is the point after the last leaf.
        let base = if depth == 0 { u32::MAX } else { (n - depth) as u32 };
        carry = u32::from(all >= base);
        sum[depth] = all.wrapping_sub(carry * base) as u16;
    }
    trim(&mut sum);
    sum
}

/// The number of leaves from `b` to `a`, as digits; `a` must not lie before `b`.
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

/// The number of leaves before a point, at most `f64::MAX`.
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

/// The leaves before a point as a fraction of all leaves.
#[must_use]
pub fn part(n: usize, point: &[u16]) -> f64 {
    let mut weight = 1.0;
    let of_digit = |(depth, &digit): (usize, &u16)| {
        weight /= (n - depth) as f64;
        weight * f64::from(digit)
    };
    point.iter().enumerate().map(of_digit).sum()
}

/// The point with this many leaves before it.
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

/// How many of `length` leaves a share amounts to: at least one and never all; `None` if there are fewer than two.
#[must_use]
pub fn portion(n: usize, length: &[u16], share: f64) -> Option<Point> {
    let whole = leaves(n, length);
    if whole < 2.0 {
        return None;
    }
    // NaN counts as 0.
    let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
    if whole < WHOLE {
        return Some(point(n, (share * whole).round().clamp(1.0, whole - 1.0) as u128));
    }
    let one = point(n, 1);
    let most = minus(n, length, &one);
    Some(times(n, length, share).max(one).min(most))
}

/// `share` times `length`, as exact as floating point allows, rounded to a whole leaf.
fn times(n: usize, length: &[u16], share: f64) -> Point {
    let mut product = vec![0u32; n];
    let (mut fraction, mut precision) = (0.0, 1.0);
    for (depth, product) in product.iter_mut().enumerate() {
        let base = (n - depth) as f64;
        let here = share * f64::from(digit(length, depth)) + fraction * base;
        // The last digit has base 1, so the remainder is rounded there.
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

    /// The number of leaves, as digits.
    #[must_use]
    pub fn length(&self, n: usize) -> Point {
        minus(n, &self.end, &self.begin)
    }

    /// Gives away the leaves from a point on; `None` if that would be all or nothing.
    pub fn split_off(&mut self, at: Point) -> Option<Self> {
        if at <= self.begin || at >= self.end {
            return None;
        }
        let end = std::mem::replace(&mut self.end, at.clone());
        Some(Self { begin: at, end, bound: self.bound })
    }

    /// Gives away about this many leaves from the end.
    pub fn split_leaves(&mut self, n: usize, leaves: &[u16]) -> Option<Self> {
        let exact = minus(n, &self.end, leaves);
        let round = rounded(n, &exact, leaves);
        // If little is kept, rounding could give everything away.
        let kept = |at: &Point| part(n, &minus(n, at, &self.begin));
        let at =
            if round > self.begin && kept(&round) > 0.9 * kept(&exact) { round } else { exact };
        self.split_off(at)
    }

    /// Appends the interval that begins where this one ends; false if `next` begins elsewhere.
    pub fn merge(&mut self, next: &Self) -> bool {
        let adjacent = self.end == next.begin;
        if adjacent {
            self.end.clone_from(&next.end);
            self.bound = self.bound.min(next.bound);
        }
        adjacent
    }

    /// Compares by first leaf.
    #[must_use]
    pub fn order(&self, other: &Self) -> Ordering {
        self.begin.cmp(&other.begin)
    }
}

/// Moves a point up to a shallower node, by less than half a percent of the leaves given. It then
/// packs into fewer bytes, and the thief has a shorter path to rebuild.
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

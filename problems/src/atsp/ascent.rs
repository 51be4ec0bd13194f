//! [`ascend`]: subgradient ascent on the Lagrangian bound of the arborescence.
//!
//! An arborescence plus an arc back to its root is a tour if every city is left exactly once. Held
//! and Karp (1970) relax this constraint and price it: the price rises for a city that is left too often, and falls for
//! one that is not left. The steps are those of Held, Wolfe and Crowder (1974), with some memory of the previous
//! direction.

use super::arborescence::Arborescence;
use super::arcs::Arcs;

/// Limits of an ascent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// The maximum number of steps.
    pub steps: u32,
    /// Steps without a better bound after which the step length is halved.
    pub patience: u32,
    /// The first step length.
    pub first: f64,
    /// Arcs scanned after which no further step is made.
    pub arcs: u64,
}

/// The result of an ascent.
#[derive(Clone, Debug)]
pub(super) struct AscentResult {
    /// The bound, in parts of a unit.
    pub bound: i64,
    /// The multiplier for leaving each city.
    pub multipliers: Vec<i64>,
    /// Each arc's reduced cost with respect to the bound.
    pub reduced: Vec<i64>,
    /// How often each arc was used recently, from 0 to 1.
    pub used: Vec<f32>,
    /// The successor of each city, if some arborescence was a tour.
    pub tour: Option<Vec<u16>>,
}

/// Weight of the latest arborescence in how often an arc was used.
const LATEST: f32 = 0.06;

/// The largest multiplier in absolute value: keeps sums within 63 bits.
pub(super) const MOST_MULTIPLIER: f64 = (1i64 << 50) as f64;

/// Raises the bound from these multipliers, up to `target`, in parts of a unit; `None` if there is
/// no tour. Ends after the current step once `keep_going` returns false.
pub(super) fn ascend(
    arcs: &Arcs,
    multipliers: &[i64],
    target: i64,
    effort: Effort,
    keep_going: &dyn Fn() -> bool,
) -> Option<AscentResult> {
    let n = arcs.cities;
    let mut tree = Arborescence::new(n, arcs.len());
    let mut multipliers = multipliers.to_vec();
    let mut best = AscentResult {
        bound: i64::MIN,
        multipliers: Vec::new(),
        reduced: vec![0; arcs.len()],
        used: vec![0.0; arcs.len()],
        tour: None,
    };
    let mut before = vec![0.0; n];
    let mut left = vec![0i32; n];
    let (mut length, mut since, mut weight) = (effort.first, 0, 1.0);
    for _ in 0..effort.steps {
        let bound = tree.find(arcs, &multipliers)? + multipliers.iter().sum::<i64>();
        left.fill(1);
        best.used.iter_mut().for_each(|used| *used *= 1.0 - weight);
        for &arc in &tree.into {
            left[usize::from(arcs.tail[arc as usize])] -= 1;
            best.used[arc as usize] += weight;
        }
        weight = LATEST;
        if bound > best.bound {
            best.bound = bound;
            best.multipliers.clone_from(&multipliers);
            std::mem::swap(&mut best.reduced, &mut tree.reduced);
            since = 0;
        } else {
            since += 1;
            if since >= effort.patience {
                (since, length) = (0, 0.5 * length);
                multipliers.clone_from(&best.multipliers);
                before.fill(0.0);
                continue;
            }
        }
        if left.iter().all(|&left| left == 0) {
            let mut next = vec![0; n];
            tree.into.iter().for_each(|&arc| {
                next[usize::from(arcs.tail[arc as usize])] = arcs.head[arc as usize];
            });
            best.tour = Some(next);
            break;
        }
        if best.bound >= target || length < 1e-3 || tree.looked >= effort.arcs || !keep_going() {
            break;
        }
        let mut norm = 0.0;
        for (direction, &left) in before.iter_mut().zip(&left) {
            *direction = 0.6 * f64::from(left) + 0.4 * *direction;
            norm += *direction * *direction;
        }
        let step = length * (target - bound) as f64 / norm.max(1.0);
        for (multiplier, &direction) in multipliers.iter_mut().zip(&before) {
            let more = *multiplier as f64 + (step * direction).round();
            *multiplier = more.clamp(-MOST_MULTIPLIER, MOST_MULTIPLIER) as i64;
        }
    }
    Some(best)
}

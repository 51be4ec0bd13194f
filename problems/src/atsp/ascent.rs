//! [`Ascent`]: prices of leaving cities that raise the bound of an arborescence.
//!
//! An arborescence with an arc back to its root, in which every city is left once, is a tour. That
//! every city is left once is given up, and paid for: leaving a city that is left too often is made
//! dearer, leaving one that is not left cheaper, a step at a time.

use super::arborescence::Arborescence;
use super::arcs::Arcs;

/// How long to try.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Steps at most.
    pub steps: u32,
    /// Steps without a better bound after which they become half as long.
    pub patience: u32,
    /// How long the first step is.
    pub first: f64,
    /// Arcs looked at, after which no further step is made.
    pub arcs: u64,
}

/// What came of it.
#[derive(Clone, Debug)]
pub(super) struct Raised {
    /// The bound, in parts of a unit.
    pub bound: i64,
    /// What is paid at each city for leaving it.
    pub paid: Vec<i64>,
    /// What each arc costs beyond what the bound has of it.
    pub reduced: Vec<i64>,
    /// How often each arc was used of late, from 0 to 1.
    pub used: Vec<f32>,
    /// What follows each city, if a best tour came out.
    pub tour: Option<Vec<u16>>,
}

/// Weight of the latest arborescence in how often an arc was used.
const LATEST: f32 = 0.06;

/// What is paid for leaving a city, either way, at most: sums stay within 63 bits.
pub(super) const MOST_PAID: f64 = (1i64 << 50) as f64;

/// Raises the bound from these payments, at best to `target`, in parts of a unit; `None` if there is
/// no tour. Nothing more is tried than what is under way once `go_on` does not hold.
pub(super) fn raise(
    arcs: &Arcs,
    paid: &[i64],
    target: i64,
    effort: Effort,
    go_on: &dyn Fn() -> bool,
) -> Option<Raised> {
    let n = arcs.cities;
    let mut tree = Arborescence::new(n, arcs.len());
    let mut paid = paid.to_vec();
    let mut best = Raised {
        bound: i64::MIN,
        paid: Vec::new(),
        reduced: vec![0; arcs.len()],
        used: vec![0.0; arcs.len()],
        tour: None,
    };
    let mut before = vec![0.0; n];
    let mut left = vec![0i32; n];
    let (mut length, mut since, mut weight) = (effort.first, 0, 1.0);
    for _ in 0..effort.steps {
        let bound = tree.find(arcs, &paid)? + paid.iter().sum::<i64>();
        left.fill(1);
        best.used.iter_mut().for_each(|used| *used *= 1.0 - weight);
        for &arc in &tree.into {
            left[usize::from(arcs.tail[arc as usize])] -= 1;
            best.used[arc as usize] += weight;
        }
        weight = LATEST;
        if bound > best.bound {
            best.bound = bound;
            best.paid.clone_from(&paid);
            std::mem::swap(&mut best.reduced, &mut tree.reduced);
            since = 0;
        } else {
            since += 1;
            if since >= effort.patience {
                (since, length) = (0, 0.5 * length);
                paid.clone_from(&best.paid);
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
        if best.bound >= target || length < 1e-3 || tree.looked >= effort.arcs || !go_on() {
            break;
        }
        let mut norm = 0.0;
        for (direction, &left) in before.iter_mut().zip(&left) {
            *direction = 0.6 * f64::from(left) + 0.4 * *direction;
            norm += *direction * *direction;
        }
        let step = length * (target - bound) as f64 / norm.max(1.0);
        for (paid, &direction) in paid.iter_mut().zip(&before) {
            let more = *paid as f64 + (step * direction).round();
            *paid = more.clamp(-MOST_PAID, MOST_PAID) as i64;
        }
    }
    Some(best)
}

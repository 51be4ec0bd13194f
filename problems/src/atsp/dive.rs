//! [`dive`]: a tour close to the bound, with few arcs: a dive that repeatedly fixes the arcs which the bound uses most,
//! then a short search.

use super::arcs::{Allowed, Arcs, COST_SCALE, tour_of};
use super::ascent::{Effort, ascend};
use super::sparse::Priced;
use super::tours::Tours;
use pleach_core::search::depth_first::TreeExplorer;
use pleach_core::search::explorer::Explorer;
use pleach_core::search::tree::Tree;
use pleach_core::search::work::Pool;

/// How much longer than the bound a tour with an arc may be, for the arc to be used: tried until there is a tour.
const DISTANCES: [i64; 5] = [6, 12, 24, 48, 96];
/// The part of the open cities that get their successors in each step: one in `SHARE`.
const SHARE: usize = 8;
const EFFORT: Effort = Effort { steps: 50, patience: 6, first: 0.3, arcs: u64::MAX };
/// The same for the search, whose tours may not be longer either.
const SEARCHED: i64 = 4;
/// The maximum number of nodes of a search.
const NODES: u64 = 60;

/// Looks for a tour shorter than `length` while `keep_going` returns true. Returns the shortest one, in the numbering
/// of the tree.
pub(super) fn dive(
    tours: &Tours,
    priced: &Priced,
    length: i64,
    keep_going: &dyn Fn() -> bool,
) -> Option<Vec<u16>> {
    let mut best = (length, None);
    let allowed = |distance: i64| {
        let mut allowed = tours.root.allowed.clone();
        let room = COST_SCALE * (tours.least + distance) - priced.bound;
        allowed.fix_by_reduced_cost(&priced.arcs, &priced.reduced, room);
        allowed
    };
    for distance in DISTANCES {
        if tours.least + distance >= best.0 || !keep_going() {
            break;
        }
        let found = settle(tours, allowed(distance), &priced.multipliers, keep_going);
        let found = found.map(|order| (tours.instance.length(&order), order));
        if let Some((length, order)) = found.filter(|(length, _)| *length < best.0) {
            best = (length, Some(order));
            break;
        }
    }
    let goal = tours.least + SEARCHED;
    if goal < best.0 {
        let mut near = tours.clone();
        near.root.allowed = allowed(SEARCHED);
        let mut explorer = TreeExplorer::new(&near);
        explorer.put_pool(Pool::whole(Tree::root(&near)));
        let mut nodes = 0;
        while explorer.size() > 0.0 && nodes < NODES && keep_going() {
            let progress = explorer.run(1, goal);
            nodes += progress.counts.branched.max(1);
            if let Some(found) = progress.found {
                return near.order_of(&found.solution);
            }
        }
    }
    best.1
}

/// A tour with these arcs, if all goes well.
fn settle(
    tours: &Tours,
    mut allowed: Allowed,
    multipliers: &[i64],
    keep_going: &dyn Fn() -> bool,
) -> Option<Vec<u16>> {
    let mut multipliers = multipliers.to_vec();
    if !allowed.propagate(&tours.twins) {
        return None;
    }
    while keep_going() {
        let arcs = Arcs::new(&tours.instance, &allowed);
        let raised = ascend(&arcs, &multipliers, COST_SCALE * tours.target, EFFORT, keep_going)?;
        if let Some(next) = raised.tour {
            return tour_of(&next);
        }
        let is_open = |&at: &usize| allowed.degree(arcs.tail[at].into()) > 1;
        let mut open: Vec<usize> = (0..arcs.len()).filter(is_open).collect();
        open.sort_by(|&a, &b| raised.used[b].total_cmp(&raised.used[a]));
        let cities = (0..arcs.cities).filter(|&i| allowed.degree(i) > 1).count();
        if cities == 0 {
            let next: Vec<u16> =
                (0..arcs.cities).filter_map(|i| allowed.row(i).next()).map(|j| j as u16).collect();
            return tour_of(&next);
        }
        open.truncate(cities.div_ceil(SHARE));
        for at in open {
            let (i, j) = (arcs.tail[at].into(), arcs.head[at].into());
            if !allowed.has(i, j) {
                continue;
            }
            let before = allowed.clone();
            allowed.force(i, j);
            if !allowed.propagate(&tours.twins) {
                allowed = before;
                allowed.remove(i, j);
                if !allowed.propagate(&tours.twins) {
                    return None;
                }
            }
        }
        multipliers = raised.multipliers;
    }
    None
}

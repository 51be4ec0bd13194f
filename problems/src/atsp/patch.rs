//! A first tour by patching (Karp 1979): joins the cycles of a minimum assignment one by one.

use super::instance::Instance;

/// Joins the cycles of these successors, always the largest with the one that is cheapest to add; with any of
/// them once `keep_going` returns false.
pub(super) fn patch(instance: &Instance, next: &[u16], keep_going: &dyn Fn() -> bool) -> Vec<u16> {
    let n = next.len();
    let mut next: Vec<usize> = next.iter().map(|&j| j.into()).collect();
    let cycle = |next: &[usize], start: usize| {
        let mut cities = vec![start];
        while next[cities[cities.len() - 1]] != start {
            cities.push(next[cities[cities.len() - 1]]);
        }
        cities
    };
    let mut is_in = vec![false; n];
    let mut largest =
        (0..n).map(|start| cycle(&next, start)).max_by_key(Vec::len).unwrap_or_default();
    while largest.len() < n {
        is_in.fill(false);
        largest.iter().for_each(|&i| is_in[i] = true);
        let others = || (0..n).filter(|&j| !is_in[j]);
        let mut pairs = largest.iter().flat_map(|&i| others().map(move |j| (i, j)));
        let more = |&(i, j): &(usize, usize)| {
            let cost = |from, to| instance.cost(from, to);
            cost(i, next[j]) + cost(j, next[i]) - cost(i, next[i]) - cost(j, next[j])
        };
        let pair = if keep_going() { pairs.min_by_key(more) } else { pairs.next() };
        let Some((i, j)) = pair else { break };
        next.swap(i, j);
        largest = cycle(&next, i);
    }
    largest.iter().map(|&city| city as u16).collect()
}

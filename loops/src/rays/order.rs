//! Orders the tetrahedra of a view from front to back, topologically.

use super::prepare::Prepared;

/// The tetrahedra in an order in which none hides an earlier one; leaves out those that depend on a cycle.
///
/// `more` has pairs that no common face relates, in ascending order: the first is drawn before the second.
#[must_use]
pub fn order(prepared: &Prepared, more: &[[u32; 2]]) -> Vec<u32> {
    // Single bytes, so that more of them fit into the caches. A tetrahedron waits once for all pairs that it is behind.
    let mut waits = prepared.waits.clone();
    let count = waits.len();
    let related = if more.is_empty() { 0 } else { count };
    // For each tetrahedron: the pairs for which it still waits, and the first pair that waits for it, counted from 1.
    let (mut behind, mut first) = (vec![0_u32; related], vec![0_u32; related]);
    for (number, &[before, after]) in (1..).zip(more) {
        let (before, after) = (before as usize, after as usize);
        waits[after] += u8::from(behind[after] == 0);
        behind[after] += 1;
        if first[before] == 0 {
            first[before] = number;
        }
    }
    let mut order: Vec<u32> = Vec::with_capacity(count);
    let mut open: Vec<u32> = (0..count as u32).filter(|&tet| waits[tet as usize] == 0).collect();
    // Depth first, so that neighbours in space stay neighbours in memory.
    while let Some(tet) = open.pop() {
        order.push(tet);
        let at = tet as usize;
        let mut release = |tet: u32| {
            let waits = &mut waits[tet as usize];
            *waits -= 1;
            if *waits == 0 {
                open.push(tet);
            }
        };
        let mut slots = prepared.waited[at];
        while slots != 0 {
            release(prepared.next[at][slots.trailing_zeros() as usize]);
            slots &= slots - 1;
        }
        if let Some(own) = first.get(at).and_then(|number| number.checked_sub(1)) {
            let own = more[own as usize..].iter().take_while(|pair| pair[0] == tet);
            for &[_, after] in own {
                behind[after as usize] -= 1;
                if behind[after as usize] == 0 {
                    release(after);
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rays::mesh::NONE;
    use crate::rays::record::Lens;

    /// Tetrahedra behind these others, and nothing else about them.
    fn linked(next: Vec<[u32; 4]>) -> Prepared {
        let mut waits = vec![0; next.len()];
        next.iter().flatten().filter(|&&it| it != NONE).for_each(|&it| waits[it as usize] += 1);
        let bits = |next: &[u32; 4]| (0..4).map(|i| u8::from(next[i] != NONE) << i).sum::<u8>();
        Prepared {
            places: Vec::new(),
            facings: Vec::new(),
            planes: Vec::new(),
            leaving: Vec::new(),
            records: Vec::new(),
            notes: Vec::new(),
            waited: next.iter().map(bits).collect(),
            next,
            waits,
            lens: Lens { first: [0.0; 2], near: 0.0, least: 0.0 },
        }
    }

    /// The same order from lists of all that is behind each tetrahedron.
    fn by_lists(prepared: &Prepared, more: &[[u32; 2]]) -> Vec<u32> {
        let behind = |tet: u32| {
            let next = prepared.next[tet as usize].into_iter().filter(|&it| it != NONE);
            let pairs = more.iter().filter(move |pair| pair[0] == tet).map(|pair| pair[1]);
            next.chain(pairs).collect::<Vec<u32>>()
        };
        let all: Vec<Vec<u32>> = (0..prepared.next.len() as u32).map(behind).collect();
        let mut waits = vec![0; all.len()];
        all.iter().flatten().for_each(|&tet| waits[tet as usize] += 1);
        let mut open: Vec<u32> = (0..).zip(&waits).filter(|it| *it.1 == 0).map(|it| it.0).collect();
        let mut order = Vec::new();
        while let Some(tet) = open.pop() {
            order.push(tet);
            for &tet in &all[tet as usize] {
                waits[tet as usize] -= 1;
                if waits[tet as usize] == 0 {
                    open.push(tet);
                }
            }
        }
        order
    }

    #[test]
    fn nothing_hides_an_earlier_one() {
        let mut random = oorandom::Rand32::new(5);
        for count in [1, 2, 77, 1000] {
            let mut below = |tet: u32| random.rand_range(0..tet);
            let next = |tet: u32, below: &mut dyn FnMut(u32) -> u32| {
                let mut slot = || if tet > 0 && below(3) > 0 { below(tet) } else { NONE };
                [NONE, slot(), slot(), slot()]
            };
            let prepared = linked((0..count).map(|tet| next(tet, &mut below)).collect());
            // More of them are before the first one than a byte can count.
            let mut more: Vec<[u32; 2]> = (1..count).map(|tet| [tet, 0]).collect();
            more.extend((2..count).map(|tet| [tet, below(tet)]));
            more.sort_unstable();
            more.dedup();
            for more in [&more[..], &[]] {
                let order = order(&prepared, more);
                assert_eq!(order, by_lists(&prepared, more));
                assert_eq!(order.len(), count as usize);
                let mut place = vec![0; order.len()];
                order.iter().enumerate().for_each(|(at, &tet)| place[tet as usize] = at);
                let is_before = |a: u32, b: u32| place[a as usize] < place[b as usize];
                let mut links = (0..count).zip(&prepared.next);
                assert!(links.all(|(tet, next)| {
                    next.iter().all(|&next| next == NONE || is_before(tet, next))
                }));
                assert!(more.iter().all(|&[before, after]| is_before(before, after)));
            }
        }
    }

    #[test]
    fn a_cycle_and_what_is_behind_it_are_left_out() {
        assert!(order(&linked(Vec::new()), &[]).is_empty());
        let unrelated = linked(vec![[NONE; 4]; 3]);
        assert_eq!(order(&unrelated, &[]), [2, 1, 0]);
        assert_eq!(order(&unrelated, &[[0, 1], [1, 0]]), [2]);
        let one = |next| [next, NONE, NONE, NONE];
        let ring = linked(vec![one(1), [2, 3, NONE, NONE], one(0), [NONE; 4], one(3)]);
        assert_eq!(order(&ring, &[]), [4]);
        assert_eq!(order(&ring, &[[4, 0]]), [4]);
    }
}

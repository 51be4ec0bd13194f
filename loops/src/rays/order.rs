//! Orders the tetrahedra of a view from front to back, topologically.

use super::mesh::NONE;
use super::prepare::Prepared;

/// The tetrahedra in an order in which none hides an earlier one; leaves out those that depend on a cycle.
///
/// `more` has pairs that no common face relates: the first is drawn before the second.
#[must_use]
pub fn order(prepared: &Prepared, more: &[[u32; 2]]) -> Vec<u32> {
    let mut waits: Vec<u32> = prepared.waits.iter().map(|&count| u32::from(count)).collect();
    for &[_, behind] in more {
        waits[behind as usize] += 1;
    }
    let mut starts = vec![0_u32; if more.is_empty() { 0 } else { waits.len() + 1 }];
    for &[before, _] in more {
        starts[before as usize + 1] += 1;
    }
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    let mut order: Vec<u32> = Vec::with_capacity(waits.len());
    let mut open: Vec<u32> =
        (0..waits.len() as u32).filter(|&tet| waits[tet as usize] == 0).collect();
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
        for (slot, &next) in prepared.next[at].iter().enumerate() {
            if prepared.waited[at] >> slot & 1 == 1 && next != NONE {
                release(next);
            }
        }
        if !starts.is_empty() {
            let list = &more[starts[at] as usize..starts[at + 1] as usize];
            list.iter().for_each(|&[_, behind]| release(behind));
        }
    }
    order
}

//! Explorers that make and undo moves count what explorers of nodes count, and exchange work with them.

use super::*;
use crate::search::depth_first::TreeExplorer;
use crate::search::laws::{explorer_law, hostile_law, run_to_end};

/// Orders of items at least cost, as moves.
struct Orders {
    n: u8,
    bounds: bool,
}

fn cost(place: usize, item: u8) -> i64 {
    (place as i64 * 7 + i64::from(item) * 5 + place as i64 * i64::from(item)) % 11
}

impl Backtrack for Orders {
    type State = (Vec<u8>, i64);
    type Move = u8;
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> Self::State {
        (Vec::new(), 0)
    }

    fn apply(&self, (order, sum): &mut Self::State, &item: &u8) {
        *sum += cost(order.len(), item);
        order.push(item);
    }

    fn undo(&self, (order, sum): &mut Self::State, &item: &u8) {
        assert_eq!(order.pop(), Some(item));
        *sum -= cost(order.len(), item);
    }

    fn expand(&self, (order, sum): &mut Self::State, _: Option<i64>, out: &mut Moves<'_, Self>) {
        out.tally(order.len(), 1);
        if order.len() == usize::from(self.n) {
            out.count(1);
            return out.solution(*sum, || order.iter().map(|&item| item.into()).collect());
        }
        for item in (0..self.n).filter(|item| !order.contains(item)) {
            if self.bounds {
                out.child_within(*sum + cost(order.len(), item), item);
            } else {
                out.child(item);
            }
        }
    }

    fn valid(&self, (order, _): &Self::State, item: &u8) -> bool {
        *item < self.n && !order.contains(item)
    }
}

fn whole(tree: &Backtracking<Orders>) -> Work {
    Pool::whole(tree.root()).to_work()
}

/// The same tree, node by node by the default explorer and all at once by its own.
#[test]
fn both_explorers_count_the_same() {
    for bounds in [false, true] {
        let tree = Backtracking(Orders { n: 6, bounds });
        let mut plain = TreeExplorer::new(&tree);
        plain.put_pool(Pool::whole(tree.root()));
        let by_nodes = run_to_end(&mut plain, i64::MAX);
        let mut own = tree.own_explorer().unwrap();
        own.add_work(&whole(&tree).bytes).unwrap();
        let by_moves = run_to_end(&mut *own, i64::MAX);
        assert_eq!(by_moves, by_nodes);
        if !bounds {
            assert_eq!((by_moves.counts.total, by_moves.counts.depth), (720, 6));
            assert_eq!(by_moves.counts.tally, [1, 6, 30, 120, 360, 720, 720]);
        }
    }
}

#[test]
fn moves_keep_the_laws() {
    let tree: &'static _ = Box::leak(Box::new(Backtracking(Orders { n: 7, bounds: true })));
    let mut alone = tree.own_explorer().unwrap();
    alone.add_work(&whole(tree).bytes).unwrap();
    let best = run_to_end(&mut *alone, i64::MAX).found.unwrap().score;
    alone.add_work(&whole(tree).bytes).unwrap();
    let proof = run_to_end(&mut *alone, best);
    for seed in 0..50 {
        // Explorers of both kinds exchange work.
        let kinds: [&dyn Fn(usize) -> Box<dyn Explorer>; 2] =
            [&|_| tree.own_explorer().unwrap(), &|i| {
                if i % 2 == 0 {
                    tree.own_explorer().unwrap()
                } else {
                    Box::new(TreeExplorer::new(tree))
                }
            }];
        for kind in kinds {
            explorer_law(kind, &whole(tree), best, &proof, seed);
        }
    }
    alone.add_work(&whole(tree).bytes).unwrap();
    alone.run(60, i64::MAX);
    let good = alone.drain();
    hostile_law(&|| tree.own_explorer().unwrap(), &good.bytes, 2000, 1);
}

#[test]
fn shares_of_the_tree_add_up_to_what_is_open() {
    let tree = Backtracking(Orders { n: 6, bounds: false });
    let mut explorer = tree.own_explorer().unwrap();
    explorer.add_work(&whole(&tree).bytes).unwrap();
    let mut before = 1.0;
    while explorer.size() > 0.0 {
        let open = explorer.open_share().unwrap();
        assert!(open <= before + 1e-5, "{open} after {before}");
        before = open;
        explorer.run(10, i64::MAX);
    }
    assert!(explorer.open_share().unwrap() < 1e-6);
}

//! A print of a tree by a sample of its nodes, for trees that do not print their data themselves.

use crate::explorer::{Explorer, Progress, TreeExplorer};
use crate::tree::Tree;
use crate::wire::fingerprint;
use crate::work::{Pack, Pool};
use std::collections::VecDeque;

/// Nodes of the sample that lie near the root.
const WIDE: usize = 128;
/// Nodes along a path of first children, and along one of last children.
const DEEP: usize = 64;

/// The print of the nodes near the root, and of those on two paths down the tree.
pub(crate) fn print<T: Tree>(tree: &T) -> u64 {
    let mut bytes = Vec::new();
    let mut next = VecDeque::from([tree.root()]);
    let mut seen = 0;
    while let Some(node) = next.pop_front().filter(|_| seen < WIDE) {
        seen += 1;
        next.extend(children(tree, node, &mut bytes).into_iter().take(WIDE));
        next.truncate(WIDE);
    }
    for last in [false, true] {
        let mut node = Some(tree.root());
        for _ in 0..DEEP {
            let Some(at) = node else { break };
            let mut below = children(tree, at, &mut bytes);
            node = if last { below.pop() } else { below.into_iter().next() };
        }
    }
    fingerprint("tree", &bytes)
}

/// A node's children, after adding to the print: the node, its children with their bounds, what it counts,
/// and a solution.
///
/// An explorer makes them: a second place that calls [`Tree::expand`] would keep the compiler from building
/// that into the explorer's loop.
fn children<T: Tree>(tree: &T, node: T::Node, print: &mut Vec<u8>) -> Vec<T::Node> {
    node.pack(print);
    let mut explorer = TreeExplorer::new(tree);
    explorer.put_pool(Pool::whole(node));
    let Progress { counts, found, .. } = explorer.run(1, i64::MAX);
    counts.pack(print);
    found.into_iter().collect::<Vec<_>>().pack(print);
    let pool = explorer.take_pool();
    // The first child lies on top of the stack.
    let all = pool.entries().iter().rev();
    for child in all.clone().take(WIDE) {
        print.extend(child.bound.to_le_bytes());
        child.node.pack(print);
    }
    all.map(|child| child.node.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Children, Goal};

    /// Subsets of items whose weights the root does not show.
    struct Subsets(Vec<i64>);

    impl Tree for Subsets {
        type Node = (u32, i64);
        const GOAL: Goal = Goal::Maximise;

        fn root(&self) -> (u32, i64) {
            (0, 0)
        }

        fn expand(&self, &(at, sum): &(u32, i64), best: Option<i64>, out: &mut Children<Self>) {
            assert_eq!(best, None, "nothing is to be beaten in a sample");
            match self.0.get(at as usize) {
                None => out.solution(sum, Vec::new),
                Some(item) => {
                    out.child((at + 1, sum + item));
                    out.child((at + 1, sum));
                }
            }
        }
    }

    /// The print used to cover the root alone, so that a checkpoint of one graph was resumed on another.
    #[test]
    fn trees_with_the_same_root_have_different_prints() {
        let print = |items: &[i64]| Subsets(items.to_vec()).fingerprint();
        let items: Vec<i64> = (1..40).collect();
        assert_eq!(print(&items), print(&items));
        for at in 0..items.len() {
            let mut other = items.clone();
            other[at] += 100;
            assert_ne!(print(&items), print(&other), "item {at}");
        }
        assert_ne!(print(&items), print(&items[1..]));
    }
}

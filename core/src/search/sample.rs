//! The fingerprint of a tree from a sample of its nodes, for trees that do not compute their own.

use crate::search::depth_first::TreeExplorer;
use crate::search::explorer::{Explorer, Progress};
use crate::search::tree::Tree;
use crate::search::work::{Pack, Pool};
use crate::wire::fingerprint;
use std::collections::VecDeque;

/// The largest sample: its size is the last byte of the fingerprint.
pub(crate) const MOST: u8 = u8::MAX;

/// The maximum number of nodes near the root that wait to be sampled.
const WIDE: usize = 128;

/// The size of the sample behind a fingerprint.
pub(crate) fn size(print: u64) -> u8 {
    print as u8
}

/// The fingerprint of up to `most` nodes: in turn one near the root, one on the path of first children, and one on
/// the path of last children. It always includes the root, and what values mean, and ends early once `keep_going`
/// returns false.
pub(crate) fn print<T: Tree>(tree: &T, most: u8, keep_going: &dyn Fn() -> bool) -> u64 {
    let mut bytes = (T::GOAL as u8, tree.decimals()).packed();
    let mut near = VecDeque::from([tree.root()]);
    let mut paths = [Some(tree.root()), Some(tree.root())];
    let mut size = 0;
    while size < most && (size == 0 || keep_going()) {
        let turn = usize::from(size % 3);
        let turns = [turn, (turn + 1) % 3, (turn + 2) % 3];
        let next = turns.into_iter().find_map(|at| match at {
            0 => Some((at, near.pop_front()?)),
            _ => Some((at, paths[at - 1].take()?)),
        });
        let Some((at, node)) = next else { break };
        size += 1;
        let mut below = children(tree, node, &mut bytes);
        match at {
            0 => {
                near.extend(below);
                near.truncate(WIDE);
            }
            1 => paths[0] = below.into_iter().next(),
            _ => paths[1] = below.pop(),
        }
    }
    fingerprint("tree", &bytes) & !u64::from(MOST) | u64::from(size)
}

/// Adds a node to the fingerprint, with its children and their bounds, its count and its solution. Returns its
/// children.
///
/// An explorer makes them: a second call of [`Tree::expand`] would keep the compiler from inlining it into the
/// explorer's loop.
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
    use crate::search::problem::{Plain, Problem};
    use crate::search::tree::{Children, Goal};
    use std::cell::Cell;

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

    /// The fingerprint used to cover the root alone, so that a checkpoint of one graph was resumed on another.
    #[test]
    fn trees_with_the_same_root_have_different_fingerprints() {
        let print = |items: &[i64]| super::print(&Subsets(items.to_vec()), MOST, &|| true);
        let items: Vec<i64> = (1..40).collect();
        assert_eq!(print(&items), print(&items));
        for at in 0..items.len() {
            let mut other = items.clone();
            other[at] += 100;
            assert_ne!(print(&items), print(&other), "item {at}");
        }
        assert_ne!(print(&items), print(&items[1..]));
    }

    /// Sampling a tree whose nodes take seconds used to take minutes.
    #[test]
    fn a_sample_may_end_early_and_is_recognised() {
        let tree = Plain(Subsets((1..40).collect()));
        let left = Cell::new(10);
        let keep_going = || {
            left.set(left.get() - 1);
            left.get() > 0
        };
        let short = tree.new_fingerprint(&keep_going);
        assert_eq!((super::size(short), super::size(tree.fingerprint())), (10, MOST));
        assert!(tree.has_fingerprint(short) && tree.has_fingerprint(tree.fingerprint()));
        let other = Plain(Subsets((2..41).collect()));
        assert!(!other.has_fingerprint(short) && !other.has_fingerprint(tree.fingerprint()));
        let one = tree.new_fingerprint(&|| false);
        assert!(super::size(one) == 1 && tree.has_fingerprint(one));
    }

    /// A path without bounds and solutions.
    struct Path<const GOAL: u8> {
        own: Option<u64>,
    }

    impl<const GOAL: u8> Tree for Path<GOAL> {
        type Node = u64;
        const GOAL: Goal = [Goal::Minimise, Goal::Maximise, Goal::Count, Goal::Find][GOAL as usize];

        fn root(&self) -> u64 {
            0
        }

        fn expand(&self, node: &u64, _: Option<i64>, out: &mut Children<Self>) {
            out.child(node + 1);
        }

        fn fingerprint(&self) -> Option<u64> {
            self.own
        }
    }

    /// A search for any solution that was over could be resumed as one for the best, with that solution as its optimum.
    #[test]
    fn trees_with_different_goals_have_different_fingerprints() {
        for own in [None, Some(0), Some(7)] {
            let mut prints = [
                Plain(Path::<0> { own }).fingerprint(),
                Plain(Path::<1> { own }).fingerprint(),
                Plain(Path::<2> { own }).fingerprint(),
                Plain(Path::<3> { own }).fingerprint(),
            ];
            prints.sort_unstable();
            assert!(prints.windows(2).all(|two| two[0] < two[1]), "{prints:?}");
        }
    }
}

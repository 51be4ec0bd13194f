//! [`TreeExplorer`]: the default explorer of any [`Tree`], depth first.

use crate::search::explorer::{Explorer, Progress};
use crate::search::found::Found;
use crate::search::tree::{Children, Counts, Tree, read};
use crate::search::work::pool::DEEPEST;
use crate::search::work::{Entry, Malformed, Pool, Work};

/// Depth-first search of any [`Tree`] on a pool.
pub struct TreeExplorer<'t, T: Tree> {
    pub(super) tree: &'t T,
    pub(super) pool: Pool<T::Node>,
}

impl<'t, T: Tree> TreeExplorer<'t, T> {
    /// An explorer without work.
    #[must_use]
    pub fn new(tree: &'t T) -> Self {
        Self { tree, pool: Pool::default() }
    }

    /// Adds nodes directly, without encoding them.
    pub fn put_pool(&mut self, pool: Pool<T::Node>) {
        self.pool.append(pool);
    }

    /// Hands over all open nodes directly, without encoding them.
    pub fn take_pool(&mut self) -> Pool<T::Node> {
        std::mem::take(&mut self.pool)
    }
}

/// Divides a node's part of the tree among its first child and the others, and reverses the others on top
/// of the stack so that the next one to explore is popped first. Returns the part of each.
#[inline]
fn hand_down<N>(share: f32, others: usize, stack: &mut [Entry<N>]) -> f32 {
    let from = stack.len() - others;
    let others = &mut stack[from..];
    // Two children are common, and division is slow.
    let share = match others {
        [_] => share * 0.5,
        _ => share / (others.len() + 1) as f32,
    };
    others.iter_mut().for_each(|child| child.share = share);
    others.reverse();
    share
}

/// The loop of [`TreeExplorer`].
///
/// It is implemented for the tree, so that the compiler puts it into one unit of code with the tree's
/// [`Tree::expand`] and can inline that: 3 times as fast where nodes are cheap.
trait DepthFirst: Tree {
    fn search_depth_first(&self, pool: &mut Pool<Self::Node>, fuel: u64, best: i64) -> Progress;
}

impl<T: Tree> DepthFirst for T {
    fn search_depth_first(&self, pool: &mut Pool<T::Node>, fuel: u64, best: i64) -> Progress {
        let (mut counts, mut used, mut found) = (Counts::default(), 0, Found::default());
        let mut out = Children::new(self, &mut pool.stack, &mut found, fuel, best);
        while used < out.fuel {
            let Some(Entry { bound, depth, mut share, mut node }) = out.stack.pop() else { break };
            // The incumbent may have improved since the node was pushed.
            if bound >= out.cutoff {
                continue;
            }
            (out.bound, out.depth) = (bound, depth);
            // From first child to first child: none of them passes through the stack.
            let left = loop {
                counts.branched += self.weight(&node);
                (out.made, out.others) = (0, 0);
                // Depths only order nodes, so deeper ones may count as equally deep.
                out.depth = (out.depth + 1).min(DEEPEST);
                self.expand(&node, T::GOAL.to_beat(out.cutoff), &mut out);
                used += out.made.max(1);
                counts.bounded += out.made;
                let Some(first) = out.first.take() else { break None };
                if out.others > 0 {
                    share = hand_down(share, out.others, out.stack);
                }
                (out.bound, node) = first;
                if used >= out.fuel {
                    break Some(node);
                }
            };
            counts.depth = counts.depth.max(out.depth.saturating_sub(u32::from(out.made == 0)));
            if let Some(node) = left {
                out.stack.push(Entry { bound: out.bound, depth: out.depth, share, node });
            }
        }
        out.end_stretch();
        counts.total = out.total;
        let Found { solution: found, fault, tally } = found;
        counts.tally = tally;
        Progress { counts, used, found, fault }
    }
}

impl<T: Tree> Explorer for TreeExplorer<'_, T> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        self.pool.append(read(self.tree, work)?);
        Ok(())
    }

    fn size(&self) -> f64 {
        self.pool.len() as f64
    }

    fn least_bound(&self) -> Option<i64> {
        self.pool.least_bound()
    }

    fn open_share(&self) -> Option<f64> {
        Some(self.pool.share())
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        self.tree.search_depth_first(&mut self.pool, fuel, best)
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        self.pool.split(share).map(|given| given.to_work())
    }

    fn drain(&mut self) -> Work {
        std::mem::take(&mut self.pool).to_work()
    }

    fn copy(&mut self) -> Work {
        self.pool.to_work()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::laws::{explorer_law, hostile_law, run_to_end};
    use crate::search::tree::{Goal, expansion};

    /// Permutations whose cost is a sum over places, with or without bounds.
    struct Orders {
        n: u8,
        goal: Goal,
    }

    struct Cheapest(Orders);
    struct Costliest(Orders);
    struct All(Orders);

    impl Orders {
        fn cost(place: usize, item: u8) -> i64 {
            (place as i64 * 7 + i64::from(item) * 5 + place as i64 * i64::from(item)) % 11
        }

        fn expand<T: Tree<Node = Vec<u8>>>(&self, order: &[u8], out: &mut Children<'_, T>) {
            let sum: i64 = order.iter().enumerate().map(|(i, &item)| Self::cost(i, item)).sum();
            if order.len() == usize::from(self.n) {
                out.count(1);
                return out.solution(sum, || order.iter().map(|&item| item.into()).collect());
            }
            let left = i64::from(self.n) - order.len() as i64 - 1;
            for item in (0..self.n).filter(|item| !order.contains(item)) {
                let child = [order, &[item]].concat();
                let sum = sum + Self::cost(order.len(), item);
                match self.goal {
                    Goal::Minimise => out.child_within(sum, child),
                    Goal::Maximise => out.child_within(sum + 10 * left, child),
                    _ => out.child(child),
                }
            }
        }
    }

    macro_rules! tree {
        ($name:ident, $goal:expr) => {
            impl Tree for $name {
                type Node = Vec<u8>;
                const GOAL: Goal = $goal;
                fn root(&self) -> Vec<u8> {
                    Vec::new()
                }
                fn expand(&self, node: &Vec<u8>, _best: Option<i64>, out: &mut Children<'_, Self>) {
                    self.0.expand(node, out);
                }
            }
        };
    }
    tree!(Cheapest, Goal::Minimise);
    tree!(Costliest, Goal::Maximise);
    tree!(All, Goal::Count);

    fn search<T: Tree>(tree: &T, best: i64) -> Progress {
        let mut explorer = TreeExplorer::new(tree);
        explorer.put_pool(Pool::whole(tree.root()));
        run_to_end(&mut explorer, best)
    }

    #[test]
    fn goals_agree_with_brute_force() {
        let n = 7;
        let all = search(&All(Orders { n, goal: Goal::Count }), i64::MAX);
        assert_eq!(all.counts.total, 5040);
        assert_eq!(all.counts.depth, 7);
        let mut orders = vec![vec![]];
        for _ in 0..n {
            orders = orders
                .iter()
                .flat_map(|order: &Vec<u8>| {
                    let free = (0..n).filter(|item| !order.contains(item));
                    free.map(|item| [&order[..], &[item]].concat()).collect::<Vec<_>>()
                })
                .collect();
        }
        let cost = |order: &Vec<u8>| -> i64 {
            order.iter().enumerate().map(|(i, &item)| Orders::cost(i, item)).sum()
        };
        let least = orders.iter().map(cost).min().unwrap();
        let most = orders.iter().map(cost).max().unwrap();
        let cheapest = search(&Cheapest(Orders { n, goal: Goal::Minimise }), i64::MAX);
        let costliest = search(&Costliest(Orders { n, goal: Goal::Maximise }), i64::MAX);
        assert_eq!(Goal::Minimise.value(cheapest.found.unwrap().score), least);
        assert_eq!(Goal::Maximise.value(costliest.found.unwrap().score), most);
        assert!(costliest.counts.branched < all.counts.branched);
    }

    #[test]
    fn the_default_explorer_keeps_the_laws() {
        let tree = Cheapest(Orders { n: 8, goal: Goal::Minimise });
        let best = search(&tree, i64::MAX).found.unwrap().score;
        let whole = search(&tree, best);
        assert!(whole.found.is_none());
        let root = Pool::whole(tree.root()).to_work();
        for seed in 0..50 {
            explorer_law(&|_| Box::new(TreeExplorer::new(&tree)), &root, best, &whole, seed);
        }
        let tree: &'static Cheapest = Box::leak(Box::new(tree));
        let mut explorer = TreeExplorer::new(tree);
        explorer.add_work(&root.bytes).unwrap();
        explorer.run(20, i64::MAX);
        let good = explorer.drain();
        hostile_law(&|| Box::new(TreeExplorer::new(tree)), &good.bytes, 2000, 1);
    }

    /// Each node has one child.
    struct Endless;

    impl Tree for Endless {
        type Node = u64;
        const GOAL: Goal = Goal::Count;

        fn root(&self) -> u64 {
            0
        }

        fn expand(&self, node: &u64, _best: Option<i64>, out: &mut Children<'_, Self>) {
            out.child(node + 1);
        }
    }

    #[test]
    fn an_endless_path_can_be_saved_at_any_depth() {
        let mut explorer = TreeExplorer::new(&Endless);
        let (depth, share) = (DEEPEST - 3, 1.0);
        explorer.pool.stack.push(Entry { bound: i64::MIN, depth, share, node: 7 });
        assert_eq!(explorer.run(10, i64::MAX).counts.branched, 10);
        let work = explorer.drain();
        explorer.add_work(&work.bytes).unwrap();
        assert_eq!(explorer.pool.stack[0].node, 17);
    }

    /// A tree that postpones its root, and may also give it a child.
    struct Postponing {
        with_child: bool,
    }

    impl Tree for Postponing {
        type Node = u8;
        const GOAL: Goal = Goal::Count;

        fn root(&self) -> u8 {
            0
        }

        fn expand(&self, node: &u8, _best: Option<i64>, out: &mut Children<'_, Self>) {
            out.postpone(i64::MIN, *node);
            if self.with_child {
                out.child(1);
            }
        }
    }

    /// The node would be explored twice: its child now, and all of it later.
    #[test]
    #[should_panic(expected = "a node that has children cannot be postponed")]
    fn a_node_that_was_put_off_cannot_get_children() {
        let tree = Postponing { with_child: true };
        let mut explorer = TreeExplorer::new(&tree);
        explorer.put_pool(Pool::whole(tree.root()));
        explorer.run(10, i64::MAX);
    }

    #[test]
    fn a_single_node_can_be_put_off() {
        let tree = Postponing { with_child: false };
        let expansion = expansion(&tree, &0, i64::MIN, i64::MAX);
        assert_eq!((expansion.children, expansion.made), (vec![(i64::MIN, 0)], 0));
    }

    #[test]
    fn shares_of_the_tree_add_up_to_what_is_open() {
        let tree = All(Orders { n: 6, goal: Goal::Count });
        let mut explorer = TreeExplorer::new(&tree);
        explorer.put_pool(Pool::whole(tree.root()));
        let mut before = 1.0;
        while explorer.size() > 0.0 {
            let open = explorer.open_share().unwrap();
            assert!(open <= before + 1e-5, "{open} after {before}");
            before = open;
            explorer.run(10, i64::MAX);
        }
        assert_eq!(explorer.open_share(), Some(0.0));
    }
}

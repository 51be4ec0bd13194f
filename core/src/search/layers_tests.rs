//! Searches by layers find what searches in depth find, in the same number of nodes in any order, and leave open what they
//! have not explored.

use crate::search::depth_first::TreeExplorer;
use crate::search::explorer::Explorer;
use crate::search::laws::run_to_end;
use crate::search::layers::{LayerTask, Layered, LayersEnd, LayersLimits};
use crate::search::tree::{Children, Counts, Goal, Solution, Tree};
use crate::search::work::{Pool, Work};
use oorandom::Rand64;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Orders of items whose costs depend on pairs of neighbours.
struct Orders {
    costs: Vec<Vec<i64>>,
    keys: bool,
    /// By how much bounds may exceed the true values: 0 for a tree without faults.
    wrong: i64,
}

impl Orders {
    fn new(n: usize, seed: u64) -> Self {
        let mut rng = Rand64::new(u128::from(seed));
        let mut row = |_| (0..n).map(|_| rng.rand_range(0..30) as i64).collect();
        Self { costs: (0..n).map(&mut row).collect(), keys: true, wrong: 0 }
    }

    fn least(&self, item: usize) -> i64 {
        self.costs[item].iter().copied().min().unwrap_or(0)
    }
}

impl Tree for Orders {
    type Node = (Vec<u8>, i64);
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> Self::Node {
        (Vec::new(), 0)
    }

    fn expand(&self, (order, cost): &Self::Node, _: Option<i64>, out: &mut Children<'_, Self>) {
        if order.len() == self.costs.len() {
            return out.solution(*cost, || order.iter().map(|&item| item.into()).collect());
        }
        let open = || (0..self.costs.len()).filter(|&item| !order.contains(&(item as u8)));
        for item in open() {
            let step = order.last().map_or(0, |&last| self.costs[usize::from(last)][item]);
            // Every item but the last is left at least cost.
            let most = open().map(|item| self.least(item)).max().unwrap_or(0);
            let rest: i64 = open().map(|item| self.least(item)).sum::<i64>() - most + self.wrong;
            let node = ([&order[..], &[item as u8]].concat(), cost + step);
            out.child_within(cost + step + rest, node);
        }
    }

    fn key(&self, (order, _): &Self::Node) -> Option<u128> {
        let set = order.iter().fold(0, |set, item| set | 1 << item);
        self.keys.then(|| set | u128::from(order.last().copied().unwrap_or(0)) << 100)
    }

    fn dominates(&self, one: &Self::Node, other: &Self::Node) -> bool {
        one.1 <= other.1
    }
}

/// Runs tasks in order, or backwards.
fn tasks(backwards: bool) -> impl Fn(usize, &LayerTask<'_>) {
    move |n, task| (0..n).for_each(|i| task(if backwards { n - 1 - i } else { i }))
}

fn by_layers(tree: &Orders, backwards: bool, made: u64, stop_after: u64) -> LayersEnd {
    let asked = AtomicU64::new(0);
    let limits = LayersLimits {
        run_tasks: &tasks(backwards),
        made,
        stop: &|| asked.fetch_add(1, Ordering::Relaxed) >= stop_after,
        report: &|_, _| (),
    };
    from_root(tree, i64::MAX, &limits)
}

/// No limits.
fn whole_tree() -> LayersLimits<'static> {
    LayersLimits {
        run_tasks: &|n, task| (0..n).for_each(task),
        made: u64::MAX,
        stop: &|| false,
        report: &|_, _| (),
    }
}

/// Searches the whole tree by layers.
fn from_root<T: Tree>(tree: &T, best: i64, limits: &LayersLimits<'_>) -> LayersEnd {
    let root = [Pool::whole(tree.root()).to_work()];
    tree.search_by_layers(root.into(), best, None, limits).unwrap()
}

/// The least cost, and the counts of a search in depth.
fn in_depth(tree: &Orders) -> (i64, Counts) {
    let mut explorer = TreeExplorer::new(tree);
    explorer.put_pool(Pool::whole(tree.root()));
    let all = run_to_end(&mut explorer, i64::MAX);
    (all.found.unwrap().score, all.counts)
}

#[test]
fn layers_prove_the_optimum_in_fewer_nodes_in_any_order() {
    let (mut layers, mut depth) = (0, 0);
    for seed in 0..5 {
        let mut tree = Orders::new(11, seed);
        let (least, counts) = in_depth(&tree);
        let end = by_layers(&tree, false, u64::MAX, u64::MAX);
        assert_eq!(
            (end.progress.best.map(|best| best.score), end.progress.least),
            (Some(least), least)
        );
        assert!(end.open.is_empty() && end.fault.is_none());
        let again = by_layers(&tree, true, u64::MAX, u64::MAX);
        assert_eq!(end.progress.counts, again.progress.counts);
        layers += end.progress.counts.bounded;
        depth += counts.bounded;
        // Without keys, too, and with bounds that say nothing.
        tree.keys = false;
        let end = by_layers(&tree, false, u64::MAX, u64::MAX);
        assert_eq!(end.progress.best.map(|best| best.score), Some(least));
    }
    assert!(layers < depth, "{layers} instead of {depth}");
}

/// Wherever layers are stopped, what is open leads to the optimum.
#[test]
fn whatever_is_left_open_has_the_optimum() {
    let mut open = 0;
    for seed in 0..6 {
        let tree = Orders::new(8, seed);
        let least = in_depth(&tree).0;
        for stop in 0..60 {
            let (made, asked) =
                if stop % 2 == 0 { (40 * stop, u64::MAX) } else { (u64::MAX, 40 * stop) };
            let LayersEnd { progress, open: pieces, fault } = by_layers(&tree, false, made, asked);
            // A node's children are made together.
            let most = made.saturating_add(8);
            assert!(fault.is_none() && progress.least <= least && progress.counts.bounded <= most);
            let bounds: Vec<i64> = pieces.iter().map(|piece| piece.least_bound).collect();
            let best = progress.best.as_ref().map_or(i64::MAX, |best| best.score);
            assert!(best >= least && bounds.iter().all(|&bound| bound <= best));
            let size: f64 = pieces.iter().map(|piece| piece.size).sum();
            open += usize::from(size > 1.0);
            let optimum = optimum_of(&tree, &pieces, progress.best.as_ref());
            assert_eq!(optimum, least, "seed {seed}, {stop}");
        }
    }
    assert!(open > 300, "{open}");
}

/// Explores the open nodes that a save would hold.
fn optimum_of(tree: &Orders, open: &[Work], best: Option<&Solution>) -> i64 {
    let best = best.map_or(i64::MAX, |best| best.score);
    let mut explorer = TreeExplorer::new(tree);
    open.iter().for_each(|piece| explorer.add_work(&piece.bytes).unwrap());
    run_to_end(&mut explorer, best).found.map_or(best, |found| found.score)
}

/// Searches that continue by layers again and again end, with the optimum, in a few times as many nodes as one that is not
/// stopped. What they would save after any layer leads to the optimum, too.
#[test]
fn stopped_layers_continue() {
    let saves = RefCell::new(0);
    for seed in 0..3 {
        let tree = Orders::new(10, seed);
        let least = in_depth(&tree).0;
        let whole = by_layers(&tree, false, u64::MAX, u64::MAX).progress.counts.bounded;
        for made in [whole / 200, whole / 20, whole / 3] {
            let (mut open, mut best) = (vec![Pool::whole(tree.root()).to_work()], None);
            let (mut sum, mut runs) = (0, 0);
            while !open.is_empty() {
                assert!(tree.is_layer(&open).unwrap());
                let limits = LayersLimits {
                    run_tasks: &tasks(runs % 2 == 1),
                    made,
                    stop: &|| false,
                    report: &|progress, open| {
                        let best = progress.best.as_ref();
                        assert_eq!(optimum_of(&tree, &open(), best), least);
                        *saves.borrow_mut() += 1;
                    },
                };
                let end = tree.search_by_layers(open, i64::MAX, best, &limits);
                let LayersEnd { progress, open: left, .. } = end.unwrap();
                assert!(progress.least <= least);
                if progress.best.as_ref().is_none_or(|best| best.score > least) {
                    // From here, the optimum is found even if only that is looked for.
                    let end = tree.search_by_layers(left.clone(), least + 1, None, &whole_tree());
                    assert_eq!(end.unwrap().progress.best.map(|best| best.score), Some(least));
                }
                (open, best) = (left, progress.best);
                sum += progress.counts.bounded;
                runs += 1;
                assert!(runs < 10_000, "no progress");
            }
            assert_eq!(best.map(|best| best.score), Some(least), "{seed} {made}");
            // Runs that are too short for a pass find no solutions early.
            assert!(runs > 2 && sum < 4 * whole, "{sum} instead of {whole} in {runs} runs");
        }
    }
    assert!(saves.into_inner() > 50);
}

/// Nodes of many depths come from a search in depth, which continues.
#[test]
fn open_nodes_of_many_depths_are_no_layer() {
    let tree = Orders::new(9, 1);
    let mut explorer = TreeExplorer::new(&tree);
    explorer.put_pool(Pool::whole(tree.root()));
    explorer.run(30, i64::MAX);
    let open = explorer.drain();
    let broken = Work { bytes: vec![255; 9], ..open.clone() };
    assert_eq!(tree.is_layer(&[open]), Ok(false));
    assert!(tree.is_layer(&[broken]).is_err());
}

#[test]
fn a_value_to_beat_and_a_wrong_bound_are_noticed() {
    let mut tree = Orders::new(7, 3);
    let least = in_depth(&tree).0;
    let reports = RefCell::new(Vec::new());
    let limits = LayersLimits {
        run_tasks: &tasks(false),
        made: u64::MAX,
        stop: &|| false,
        report: &|progress, _| reports.borrow_mut().push(progress.least),
    };
    let end = from_root(&tree, least, &limits);
    assert!(end.progress.best.is_none() && end.open.is_empty());
    assert_eq!(end.progress.least, least);
    assert!(reports.borrow().is_sorted() && !reports.borrow().is_empty());
    tree.wrong = 1000;
    let end = by_layers(&tree, false, u64::MAX, u64::MAX);
    assert!(
        end.fault.is_some_and(|fault| fault.to_string().contains("the bound of Orders is wrong"))
    );
}

/// Costs to maximise are those of the other direction.
#[test]
fn layers_maximise_as_well() {
    /// Items to take or leave, with a value and a weight.
    struct Sack(Vec<(i64, i64)>, i64);
    impl Tree for Sack {
        type Node = (u32, i64, i64);
        const GOAL: Goal = Goal::Maximise;
        fn root(&self) -> Self::Node {
            (0, self.1, 0)
        }
        fn expand(
            &self,
            &(at, room, value): &Self::Node,
            _: Option<i64>,
            out: &mut Children<'_, Self>,
        ) {
            let Some(&(worth, weight)) = self.0.get(at as usize) else {
                return out.solution(value, Vec::new);
            };
            let rest: i64 = self.0[at as usize + 1..].iter().map(|item| item.0).sum();
            if weight <= room {
                out.child_within(value + worth + rest, (at + 1, room - weight, value + worth));
            }
            out.child_within(value + rest, (at + 1, room, value));
        }
        fn key(&self, _: &Self::Node) -> Option<u128> {
            Some(0)
        }
        fn dominates(&self, one: &Self::Node, other: &Self::Node) -> bool {
            one.1 >= other.1 && one.2 >= other.2
        }
    }
    let mut rng = Rand64::new(5);
    let items = (0..40).map(|_| (rng.rand_range(1..50) as i64, rng.rand_range(1..50) as i64));
    let sack = Sack(items.collect(), 400);
    let mut best = vec![0; 401];
    for &(worth, weight) in &sack.0 {
        for room in (weight as usize..=400).rev() {
            best[room] = best[room].max(best[room - weight as usize] + worth);
        }
    }
    let end = from_root(&sack, i64::MAX, &whole_tree());
    assert_eq!(end.progress.best.map(|found| Goal::Maximise.value(found.score)), Some(best[400]));
    assert!(end.open.is_empty() && end.progress.counts.bounded < 1_000_000);
}

//! Tests all bounds against brute force on small matrices of every kind, and the laws of explorers.

use super::bound::Bound;
use super::instance::{Instance, MOST_COST};
use super::*;
use crate::flowshop::instance::Instance as Times;
use crate::flowshop::{no_wait, shop::Shop};
use node::Node;
use oorandom::Rand64;
use pleach_core::search::explorer::Progress;
use pleach_core::search::laws::{
    explore_whole, explorer_law, full_explorer, hostile_law, open_work_after, pack_law, run_to_end,
};
use pleach_core::search::work::Reader;
use std::cell::Cell;

/// A matrix of some kind: with few distinct, large, zero, negative or equal values, with twins, or with prices for
/// leaving and entering.
fn random(rng: &mut Rand64, n: usize) -> Instance {
    let kind = rng.rand_range(0..8);
    let mut below = |n: i64| rng.rand_range(0..n as u64) as i64;
    let prices: Vec<i64> = (0..2 * n).map(|_| below(50)).collect();
    let mut costs: Vec<i64> = (0..n * n)
        .map(|at| match kind {
            0 => below(4),
            1 => below(100),
            2 => MOST_COST - below(1000),
            3 => below(2 * MOST_COST + 1) - MOST_COST,
            4 => below(100) - 50,
            5 => 7,
            6 => below(100) * below(2),
            _ => 3 * below(4) + prices[at / n] - prices[n + at % n],
        })
        .collect();
    if n > 3 && below(3) == 0 {
        // The last two cities become twins.
        for other in 0..n - 2 {
            costs[(n - 1) * n + other] = costs[(n - 2) * n + other];
            costs[other * n + n - 1] = costs[other * n + n - 2];
        }
        costs[(n - 1) * n + n - 2] = costs[(n - 2) * n + n - 1];
    }
    Instance::new(n, costs).unwrap()
}

/// The length of the shortest tour, by brute force.
fn shortest(instance: &Instance) -> i64 {
    fn go(instance: &Instance, order: &mut Vec<u16>, least: &mut i64) {
        if order.len() == instance.cities() {
            *least = instance.length(order).min(*least);
        }
        for city in 0..instance.cities() as u16 {
            if !order.contains(&city) {
                order.push(city);
                go(instance, order, least);
                order.pop();
            }
        }
    }
    let mut least = i64::MAX;
    go(instance, &mut vec![0], &mut least);
    least
}

fn make(instance: &Instance, bound: Bound, nodes: Nodes, level: Level) -> Atsp {
    Atsp::new(instance.clone(), bound, (nodes, level), (None, 1), &|| true).unwrap()
}

#[test]
fn optima_agree_with_brute_force() {
    let mut rng = Rand64::new(3);
    for n in (1..8).cycle().take(2800) {
        let instance = random(&mut rng, n);
        let least = shortest(&instance);
        for bound in Bound::ALL {
            let atsp = make(&instance, bound, Nodes::Pool, Level::best());
            assert!(atsp.least_score() <= least, "{bound} {instance:?}");
            assert!(instance.length(atsp.start()) >= least);
            for best in [i64::MAX, instance.length(atsp.start()) + 1, least + 1] {
                let found = explore_whole(&atsp, best).found;
                let found = found.unwrap_or_else(|| panic!("{bound} below {best} {instance:?}"));
                assert_eq!(found.score, least, "{bound} below {best} {instance:?}");
                assert_eq!(atsp.check(&found.solution), Some(Ok(least)));
                assert_eq!(found.solution[0], 1);
            }
            assert_eq!(explore_whole(&atsp, least).found, None, "{bound} {instance:?}");
        }
    }
}

/// A search that is prepared for as long as its clock has been read fewer than this many times.
fn stopped(instance: &Instance, looks: u32) -> Atsp {
    let looked = Cell::new(0);
    let wanted = || looked.replace(looked.get() + 1) < looks;
    let (how, start) = ((Nodes::Pool, Level::best()), (None, 1));
    Atsp::unless_stopped(instance.clone(), Bound::Auto, how, start, (&wanted, &wanted)).unwrap()
}

#[test]
fn bounds_of_a_stopped_preparation_never_exceed_the_shortest_tour() {
    let mut rng = Rand64::new(8);
    for n in (1..8).cycle().take(700) {
        let instance = random(&mut rng, n);
        let least = shortest(&instance);
        for looks in 0..8 {
            let atsp = stopped(&instance, looks);
            assert!(atsp.least_score() <= least, "{looks} {instance:?}");
            assert!(instance.length(atsp.start()) >= least, "{looks} {instance:?}");
        }
        if n > 2 {
            let bound = assignment::cheapest(&Arcs::new(&instance, &Allowed::all(n)));
            assert!(bound <= arcs::COST_SCALE * least, "{instance:?}");
        }
    }
}

/// Its bound used to be the sum of the cheapest arcs from all cities, and its tour close to the order of their numbers.
#[test]
fn a_stopped_preparation_has_a_good_tour_and_a_bound() {
    let mut rng = Rand64::new(5);
    let times = (0..20 * 80).map(|_| 1 + rng.rand_range(0..99) as u32).collect();
    let instance = no_wait::tour(&Shop::new(Times::new(20, times).unwrap())).unwrap();
    let whole = make(&instance, Bound::Auto, Nodes::Pool, Level::best());
    let best = instance.length(whole.start());
    let others = |i: usize| (0..instance.cities()).filter(move |&j| j != i);
    let from = |i: usize| others(i).map(|j| instance.cost(i, j)).min().unwrap();
    let cheapest: i64 = (0..instance.cities()).map(from).sum();
    for looks in [0, 1, 5, 20, 50, 100, 400] {
        let atsp = stopped(&instance, looks);
        assert!(instance.length(atsp.start()) <= best * 5 / 4, "{looks}");
        assert!((cheapest + 1..=best).contains(&atsp.least_score()), "{looks}");
    }
}

#[test]
fn paths_give_one_tree_on_every_code_path() {
    let mut rng = Rand64::new(4);
    let made = |word: &str| named::named(word).unwrap().unwrap();
    let small: Vec<Instance> = (0..60).map(|i| random(&mut rng, 1 + i % 9)).collect();
    let larger = ["crane:12:1", "tsmat:11:2", "amat:40:1", "super:34:3"].map(made);
    for instance in small.iter().chain(&larger) {
        let plain = make(instance, Bound::Partial, Nodes::Pool, Level::Off);
        let best = instance.length(plain.start());
        // With forty cities, only paths far below the best tour can be searched exhaustively.
        let best = if instance.cities() > 30 { best / 8 } else { best };
        let Search::Paths(paths) = &plain.search else { panic!("expected paths") };
        let mut explorer = TreeExplorer::new(paths);
        explorer.put_pool(Pool::whole(Tree::root(paths)));
        let whole = run_to_end(&mut explorer, best);
        for level in Level::ALL.into_iter().filter(|level| level.works()) {
            for nodes in Nodes::ALL {
                let atsp = make(instance, Bound::Partial, nodes, level);
                let found = explore_whole(&atsp, best);
                assert_eq!(found.counts, whole.counts, "{level} {nodes} {instance:?}");
                assert_eq!(found.found, whole.found, "{level} {nodes} {instance:?}");
            }
        }
    }
}

#[test]
fn the_laws_hold() {
    let instance = named::named("crane:10:5").unwrap().unwrap();
    for bound in [Bound::Partial, Bound::Assignment, Bound::Arborescence] {
        for nodes in Nodes::ALL {
            if (bound, nodes) != (bound, Nodes::Pool) && bound != Bound::Partial {
                continue;
            }
            let atsp: &'static Atsp =
                Box::leak(Box::new(make(&instance, bound, nodes, Level::best())));
            let best = shortest(&instance);
            let whole = explore_whole(atsp, best);
            for seed in 0..30 {
                explorer_law(&|_| atsp.explorer(), &atsp.root(), best, &whole, seed);
            }
            let good = open_work_after(atsp, 20);
            hostile_law(&|| atsp.explorer(), &good.bytes, 3000, 1);
        }
    }
}

/// Readers used to refuse a node with larger prices.
#[test]
fn prices_of_an_assignment_fit_into_a_node() {
    let instance = named::named("tsmat:9:5").unwrap().unwrap();
    let allowed = Allowed::all(9);
    let arcs = Arcs::new(&instance, &allowed);
    let start: &[i64] = &[1 << 52; 9];
    let found = assignment::solve(&arcs, &arcs.cost, (start, &[]), &|| true).ok().flatten();
    let Assignment { out: multipliers, next, .. } = found.unwrap();
    pack_law(&Node { allowed, multipliers, next, deferred: false }, &mut Rand64::new(1));
}

#[test]
fn nodes_are_read_back_as_packed() {
    let instance = named::named("tsmat:9:5").unwrap().unwrap();
    let atsp = make(&instance, Bound::Arborescence, Nodes::Pool, Level::best());
    let Search::Tours(tours) = &atsp.search else { panic!("expected tours") };
    let node = Tree::root(tours);
    pack_law(&node, &mut Rand64::new(1));
    let mut large = Node { multipliers: vec![1 << 51; 9], ..node };
    let mut bytes = Vec::new();
    pleach_core::search::work::Pack::pack(&large, &mut bytes);
    let read = <Node as pleach_core::search::work::Pack>::unpack(&mut Reader::new(&bytes));
    assert!(read.is_err(), "multipliers out of range");
    large.multipliers.pop();
    bytes.clear();
    pleach_core::search::work::Pack::pack(&large, &mut bytes);
    assert!(<Node as pleach_core::search::work::Pack>::unpack(&mut Reader::new(&bytes)).is_err());
}

#[test]
fn every_file_but_the_hard_ones_is_proven() {
    for name in ["br17", "ftv33", "ftv35", "ftv38", "ftv44", "ft53", "ft70", "ry48p", "p43"] {
        let instance = named::named(name).unwrap().unwrap();
        let atsp = make(&instance, Bound::Auto, Nodes::Pool, Level::best());
        let (start, optimum) = (instance.length(atsp.start()), named::optimum(name).unwrap());
        assert!(start <= optimum * 102 / 100, "{name}: starts from {start}");
        let found = explore_whole(&atsp, optimum + 1).found.unwrap();
        assert_eq!(found.score, optimum, "{name}");
        assert_eq!(explore_whole(&atsp, optimum).found, None, "{name}");
    }
}

#[test]
fn with_few_cities_a_start_is_the_best_tour() {
    let mut rng = Rand64::new(9);
    for n in (1..4).cycle().take(200) {
        let instance = random(&mut rng, n);
        let atsp = make(&instance, Bound::Auto, Nodes::Pool, Level::best());
        assert_eq!(instance.length(atsp.start()), shortest(&instance), "{instance:?}");
        assert!(atsp.improver(1).is_none());
    }
}

/// A run that waits to stop leaves nodes unexpanded; after resuming, the tree is the same and each node is counted
/// once.
#[test]
fn nodes_that_are_left_are_gone_on_with() {
    for (name, bound) in [("ftv38", Bound::Assignment), ("ry48p", Bound::Arborescence)] {
        let instance = named::named(name).unwrap().unwrap();
        let atsp = make(&instance, bound, Nodes::Pool, Level::best());
        let best = named::optimum(name).unwrap();
        let whole = explore_whole(&atsp, best);
        let mut explorer = full_explorer(&atsp);
        let mut sum = Progress::default();
        while explorer.size() > 0.0 {
            atsp.set_stop_requested(true);
            sum.add(explorer.run(1000, best));
            let work = explorer.drain();
            atsp.set_stop_requested(false);
            explorer.add_work(&work.bytes).unwrap();
            sum.add(explorer.run(3, best));
        }
        assert_eq!(sum.counts, whole.counts, "{bound}");
        assert!(whole.counts.branched > 20, "{whole:?}");
    }
}

/// Here enough arcs are left that tours are sought close to the bound: the best of them must remain in the tree.
#[test]
fn a_start_found_close_to_the_bound_is_in_the_tree() {
    let mut rng = Rand64::new(2);
    let times = (0..60 * 160).map(|_| 1 + rng.rand_range(0..99) as u32).collect();
    let shop = Shop::new(Times::new(60, times).unwrap());
    let instance = no_wait::tour(&shop).unwrap();
    let (start, ..) = tour(&Arc::new(instance.clone()), None, 1, &|| true);
    let atsp = make(&instance, Bound::Arborescence, Nodes::Pool, Level::best());
    let better = instance.length(atsp.start());
    assert!(atsp.least_score() <= better && better < instance.length(&start), "no dive");
    let Search::Tours(tours) = &atsp.search else { panic!("expected tours") };
    let order = tours.order_of(&instance::solution_of(atsp.start())).unwrap();
    let next = order.iter().cycle().skip(1);
    for (&i, &j) in order.iter().zip(next) {
        assert!(tours.root.allowed.has(i.into(), j.into()), "{i} to {j}");
    }
}

//! Simulates clusters with the explorers of real problems: results are exact whatever goes wrong.

#[path = "../../runtime/tests/words.rs"]
mod words;

use oorandom::Rand64;
use pleach_core::search::laws::full_explorer;
use pleach_core::search::problem::{Plain, Problem};
use pleach_core::search::tree::{Counts, Tree};
use pleach_core::search::work::Nodes;
use pleach_core::steal::Policy;
use pleach_lab::cluster::Cluster;
use pleach_lab::enumerate::every_schedule_reduced;
use pleach_lab::load::Search;
use pleach_lab::machine::Machine;
use pleach_lab::network::{Link, Network};
use pleach_lab::random_cluster::{random_cluster, random_device};
use pleach_lab::recorded::Recorded;
use pleach_lab::sites::random::random_fleet;
use pleach_lab::sites::{Churn, Fleet, SiteClass};
use pleach_problems::flowshop::Flowshop;
use pleach_problems::flowshop::instance::Instance;
use pleach_problems::knapsack::Knapsack;
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;
use pleach_problems::uts::{Uts, parameters::Parameters};
use words::Words;

/// How many seeds to try: `PLEACH_SEEDS`, or a few.
fn seeds() -> u64 {
    std::env::var("PLEACH_SEEDS").ok().and_then(|word| word.parse().ok()).unwrap_or(2500)
}

const PRESETS: [&str; 29] = [
    "adaptive",
    "adaptive:degree=2,share=1/3",
    "random-power",
    "random-half:share=1/8",
    "weighted:weights=1/7/2",
    "ring",
    "lifelines",
    "overlay",
    "overlay:degree=2",
    "overlay:bridges=no,degree=3",
    "master-worker",
    "hierarchical-master-worker:degree=3",
    "static:weights=1/7/2",
    "dynamic:share=chunk/3",
    "guided",
    "lifelines:share=power,patience=1",
    "overlay:tree=random",
    "adaptive:end=counter",
    "overlay:degree=2,end=counter",
    "master-worker:end=counter,least=6",
    "random-half:end=counter",
    "adaptive:levels=2",
    "hierarchical-master-worker:degree=2,grain=9/2",
    "overlay:bridges=random,end=requests,first=random",
    "overlay:bridges=no,degree=2,end=requests,first=random",
    "random-power:first=random,power=whole",
    "overlay:degree=3,least=5",
    "overlay:degree=2,share=subtree-power",
    "overlay:bridges=random,share=subtree-power,weights=1/7/2",
];

fn small_flowshop(seed: u64) -> Flowshop {
    let mut chance = Rand64::new(u128::from(seed));
    let times = (0..8 * 4).map(|_| chance.rand_range(1..100) as u32).collect();
    Flowshop::new(Instance::new(4, times).unwrap(), Level::Off)
}

fn small_knapsack(seed: u64) -> Plain<Knapsack> {
    let mut chance = Rand64::new(u128::from(seed));
    let items: Vec<[i64; 2]> = (0..18)
        .map(|_| {
            let weight = chance.rand_range(10..100) as i64;
            [weight + chance.rand_range(0..9) as i64, weight]
        })
        .collect();
    Plain(Knapsack::new(400, &items).unwrap())
}

/// Searches on rough clusters. Every run is compared with a single explorer, and each snapshot is searched to its end.
fn search(problem: &dyn Problem, start: i64, seed: u64) -> (u32, u64) {
    let mut search = Search::new(problem, 1_400, start);
    assert!(search.measure(u64::MAX));
    let (mut snapshots, mut messages) = (0, 0);
    for round in 0..2 {
        let seed = 2 * seed + round;
        // Problems rotate through seven kinds, presets through twenty-nine: all pairs occur.
        let policy = Policy::parse(PRESETS[seed as usize % PRESETS.len()]).unwrap();
        let mut cluster = random_cluster(1 + (seed * 7 % 23) as u32, policy, seed);
        // Sometimes the faster peers are devices.
        if let Some(class) = cluster.machine.classes.last_mut().filter(|_| seed.is_multiple_of(3)) {
            class.device = Some(random_device(seed));
        }
        // Every snapshot is searched to its end, so there must not be too many.
        cluster.snapshot_ns = cluster.snapshot_ns.map(|mean_ns| mean_ns.max(1_000_000));
        let figures = cluster.run(&search).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        // Every kind of problem meets every preset, with and without devices, among the first of these runs. One of the
        // kinds alternates between two problems.
        if seed < 2 * 14 * 29 * 3 {
            assert_eq!(figures, cluster.run(&search).unwrap(), "seed {seed} again");
        }
        snapshots += figures.snapshots;
        messages += figures.messages;
    }
    (snapshots, messages)
}

/// A small problem, each kind in turn, and the score to beat.
fn with_problem<R>(seed: u64, search: impl Fn(&dyn Problem, i64) -> R) -> R {
    let tree = format!("type=geometric,shape=fixed,b0=4,gen_mx=5,seed={seed}");
    match seed % 7 {
        // This one has counters of its own.
        0 if seed.is_multiple_of(2) => search(&Plain(Words(9)), i64::MAX),
        0 => search(&Uts::new(Parameters::parse(&tree).unwrap(), Level::Off), i64::MAX),
        1 => search(&Queens::new(7, Level::Off).unwrap(), i64::MAX),
        2 => search(&small_flowshop(seed), i64::MAX),
        3 => search(&small_knapsack(seed), i64::MAX),
        4 => {
            let mut queens = Queens::new(7, Level::Off).unwrap();
            queens.nodes = Nodes::Interval;
            search(&queens, i64::MAX)
        }
        kind => {
            // Start from the optimum, so that the nodes are the same in any order.
            let mut problem = small_flowshop(seed);
            problem.nodes = Nodes::ALL[usize::from(kind == 5)];
            let best = alone(&problem, i64::MAX).1;
            problem.reference = best;
            search(&problem, best)
        }
    }
}

#[test]
fn searches_are_exact_whatever_goes_wrong() {
    let (mut snapshots, mut messages) = (0, 0);
    for seed in 0..seeds() {
        let (cut, sent) = with_problem(seed, |problem, start| search(problem, start, seed));
        snapshots += cut;
        messages += sent;
    }
    println!("{} runs, {snapshots} snapshots, {messages} messages", 2 * seeds());
    assert!(u64::from(snapshots) > seeds() / 4);
}

/// Sites join, leave, die, pause and come back, and a root dies and resumes: the counts equal those of one explorer,
/// the best solution is kept, and every file, searched to its end, is complete.
#[test]
fn searches_on_sites_are_exact_whatever_goes_wrong() {
    let (mut died, mut files) = (0, 0);
    // The last two are regressions: a site that was stopped handed over its work before the solution it had pruned by;
    // a site that was leaving split off a piece that it could no longer give.
    for seed in (0..seeds()).chain([42_626, 39_943]) {
        // Presets for a single process are left out.
        let preset = PRESETS[seed as usize % 17];
        let fleet = random_fleet(Policy::parse(preset).unwrap(), seed);
        let figures = with_problem(seed, |problem, start| {
            // Nodes take long, so that there is time for incidents.
            let mut search = Search::new(problem, 2_000_000, start);
            assert!(search.measure(u64::MAX));
            fleet.run(&search).unwrap_or_else(|why| panic!("seed {seed}, {preset}: {why}"))
        });
        let sites = figures.sites.unwrap();
        died += sites.died;
        files += sites.files;
    }
    println!("{} runs on sites, {died} sites died, {files} files", seeds());
    assert!(u64::from(died) > seeds() / 2 && u64::from(files) > seeds());
}

/// Sites get parts of a pool from a coordinator, which explores nothing below the cutoff: counts are exact whatever goes
/// wrong.
#[test]
fn a_coordinator_of_sites_is_exact_whatever_goes_wrong() {
    let words = [
        "dynamic:share=chunk/1,cutoff=2,coordinator=yes",
        "dynamic:share=chunk/3,cutoff=2,second_cutoff=4,coordinator=yes",
        "guided:cutoff=3,coordinator=yes",
        "static:cutoff=2,second_cutoff=3,coordinator=yes",
        "static:cutoff=3,coordinator=yes",
    ];
    let (mut died, mut pieces) = (0, 0);
    for seed in 0..seeds() / 2 {
        let words = words[seed as usize % words.len()];
        let fleet = random_fleet(Policy::parse(words).unwrap(), seed);
        let mut problem = small_flowshop(seed);
        let start = [i64::MAX, alone(&problem, i64::MAX).1][seed as usize / 5 % 2];
        problem.reference = start;
        let mut search = Search::new(&problem, 2_000_000, start);
        assert!(search.measure(u64::MAX));
        let figures =
            fleet.run(&search).unwrap_or_else(|why| panic!("seed {seed}, {words}: {why}"));
        died += figures.sites.unwrap().died;
        pieces += figures.pieces;
    }
    println!("{} runs, {died} sites died, {pieces} pieces", seeds() / 2);
    assert!(u64::from(died) > seeds() / 4 && pieces > seeds());
}

/// A coordinator and a site, to which nothing happens. The workers have a speed of 0.5.
fn two_sites(words: &str, workers: u32) -> Fleet {
    let mut fleet = random_fleet(Policy::parse(words).unwrap(), 1);
    fleet.sites = vec![SiteClass { count: 2, workers, speed: 0.5, device: None }];
    (fleet.churn, fleet.stop_ns, fleet.node_limit) = (Churn::default(), None, None);
    fleet.terms.lease_ns = 1_000_000_000;
    fleet
}

/// What the coordinator and the gateways of sites explore before they give takes as long as they need for it.
#[test]
fn the_tops_of_sites_take_time() {
    let mut problem = small_flowshop(1);
    let optimum = alone(&problem, i64::MAX).1;
    problem.reference = optimum;
    let mut search = Search::new(&problem, 2_000, optimum);
    assert!(search.measure(u64::MAX));
    for words in
        ["static:cutoff=8,coordinator=yes", "static:cutoff=1,second_cutoff=8,coordinator=yes"]
    {
        let figures = two_sites(words, 4).run(&search).unwrap();
        // Nothing is below the last of eight jobs, so the four workers have nothing to do.
        let alone_ns = 2 * figures.alone_ns.unwrap();
        assert!(figures.declared_ns > alone_ns * 9 / 10, "{words}: {} ns", figures.declared_ns);
    }
}

/// What a gateway does not explore of a top in 50 ms is left to the workers, here to one.
#[test]
fn a_gateway_explores_no_more_than_it_has_time_for() {
    let problem = Plain(Words(9));
    let mut search = Search::new(&problem, 2_000_000, i64::MAX);
    assert!(search.measure(u64::MAX));
    let fleet = two_sites("static:cutoff=1,second_cutoff=10,coordinator=yes", 1);
    let figures = fleet.run(&search).unwrap();
    let alone_ns = 2 * figures.alone_ns.unwrap();
    assert!(alone_ns > 500_000_000, "the top takes only {alone_ns} ns");
    assert!(figures.declared_ns > alone_ns * 9 / 10, "{} ns", figures.declared_ns);
}

/// What the root explores before it gives counts towards a limit, and so do the tops that gateways explore.
#[test]
fn the_tops_of_sites_count_towards_a_limit() {
    let problem = Plain(Words(9));
    let mut search = Search::new(&problem, 2_000, i64::MAX);
    assert!(search.measure(u64::MAX));
    for words in
        ["static:cutoff=10,coordinator=yes", "dynamic:cutoff=3,second_cutoff=10,coordinator=yes"]
    {
        let mut fleet = two_sites(words, 1);
        // Workers look at the limit after each node.
        (fleet.node_limit, fleet.poll_ns) = (Some(100), 2_000);
        let figures = fleet.run(&search).unwrap();
        assert!(figures.alone_ns.is_none(), "{words}: ended before its limit");
        let explored = figures.counts.bounded;
        assert!(explored <= 120, "{words}: {explored} nodes");
    }
}

/// Late giving explores some work twice, and that part is known: the rest is the whole tree.
#[test]
fn late_giving_explores_the_whole_tree() {
    let (mut twice, mut bounded) = (0, 0);
    for seed in 0..seeds() / 5 {
        let mut problem = small_flowshop(seed);
        problem.nodes = Nodes::Interval;
        let optimum = alone(&problem, i64::MAX).1;
        for start in [i64::MAX, optimum] {
            problem.reference = start;
            let mut search = Search::new(&problem, 1_400, start);
            assert!(search.measure(u64::MAX));
            let words = ["master-worker:late", "master-worker:late,degree=2,share=1/3,end=counter"];
            let policy = Policy::parse(words[seed as usize % 2]).unwrap();
            let mut cluster = random_cluster(1 + (seed * 7 % 23) as u32, policy, seed);
            cluster.snapshot_ns = None;
            let figures = cluster.run(&search).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
            assert_eq!(figures.best.unwrap_or(start), optimum);
            twice += figures.redundant.bounded;
            bounded += figures.counts.bounded;
        }
    }
    println!("{twice} of {bounded} nodes twice");
    assert!(twice > 0);
}

/// The widest code paths take many nodes at a time; the counts stay the same.
#[test]
fn wide_explorers_are_exact_too() {
    let tree = Parameters::parse("T1").unwrap();
    let uts = Uts::new(tree, Level::best());
    let mut search = Search::new(&uts, 1_400, i64::MAX);
    assert!(search.measure(u64::MAX));
    for seed in 0..4 {
        let mut cluster = random_cluster(30, Policy::default(), seed);
        cluster.snapshot_ns = None;
        let figures = cluster.run(&search).unwrap();
        assert_eq!(figures.counts.total, 4_130_071);
    }
}

#[test]
fn one_peer_takes_as_long_as_one_explorer_alone() {
    let queens = Queens::new(9, Level::Off).unwrap();
    let mut search = Search::new(&queens, 1_000, i64::MAX);
    search.measure(u64::MAX);
    let mut cluster = random_cluster(1, Policy::default(), 0);
    cluster.machine = pleach_lab::machine::Machine::uniform(1, 5_000, 100_000);
    cluster.snapshot_ns = None;
    let figures = cluster.run(&search).unwrap();
    assert_eq!(Some(figures.time_ns), figures.alone_ns);
    assert!((figures.efficiency() - 1.0).abs() < 1e-12 && figures.ending_ns() == 0);
}

/// What a single explorer counts, and the best score it finds.
fn alone(problem: &dyn Problem, start: i64) -> (Counts, i64) {
    let mut explorer = full_explorer(problem);
    let (mut counts, mut best) = (Counts::default(), start);
    while explorer.size() > 0.0 {
        let progress = explorer.run(1000, best);
        counts.add(&progress.counts);
        best = progress.found.map_or(best, |found| found.score);
    }
    (counts, best)
}

/// A record is searched like the tree itself, even from a better score than it was recorded with.
fn record_is_the_same<T: Tree>(tree: T) {
    let recorded = Plain(Recorded::of(&tree, i64::MAX, 10_000_000).unwrap());
    let tree = Plain(tree);
    let (counts, best) = alone(&tree, i64::MAX);
    assert_eq!(alone(&recorded, i64::MAX), (counts, best));
    assert_eq!(alone(&recorded, best), alone(&tree, best));
    for seed in 0..10 {
        search(&recorded, i64::MAX, seed);
        search(&recorded, best, seed);
    }
    assert!(Recorded::of(&tree.0, i64::MAX, 5).is_none());
}

#[test]
fn recorded_trees_are_searched_like_the_trees_themselves() {
    let tree = Parameters::parse("type=geometric,shape=fixed,b0=4,gen_mx=6,seed=19").unwrap();
    record_is_the_same(Uts::new(tree, Level::Off));
    record_is_the_same(Queens::new(8, Level::Off).unwrap());
    record_is_the_same(small_knapsack(1).0);
    record_is_the_same(small_flowshop(1));
}

/// Every schedule of four peers: 2 units here; `ci/prove.sh` plays 3, which takes minutes.
#[test]
fn every_schedule_of_four_peers_ends_correctly() {
    let units = std::env::var("PLEACH_ROOM").ok().and_then(|word| word.parse().ok()).unwrap_or(2);
    let mut policy = Policy::parse("random-half:degree=2,patience=1").unwrap();
    (policy.rests.first_ns, policy.rests.longest_ns) = (0, 0);
    let seen = every_schedule_reduced(4, units, policy).unwrap();
    println!("4 peers x {units} units, refusals and receipts at once: {seen:?}");
    assert!(seen.ends > 0 && seen.states > 100_000);
}

/// A broker once asked a thief to serve itself, because of an outdated report; after such messages were dropped, the
/// thief waited forever.
#[test]
fn a_broker_keeps_its_workers_busy() {
    let uts = Uts::new(Parameters::parse("T3").unwrap(), Level::best());
    let mut search = Search::new(&uts, 1_000, i64::MAX);
    assert!(search.measure(u64::MAX));
    let cluster = Cluster {
        policy: Policy::parse("master-worker").unwrap(),
        machine: Machine::uniform(16, 5_000, 100_000),
        network: Network::uniform(Link { latency_ns: 20_000, bytes_per_ns: 1.0 }),
        message_bytes: 40,
        snapshot_ns: None,
        seed: 0,
        most_events: 100_000_000,
    };
    let efficiency = cluster.run(&search).unwrap().efficiency();
    println!("master-worker, 16 peers on T3: {efficiency:.3}");
    assert!(efficiency > 0.7, "{efficiency}");
}

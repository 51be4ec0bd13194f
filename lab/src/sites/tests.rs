//! Tests simulated runs on sites.

use super::random::random_fleet;
use super::{Churn, Fleet, SiteClass, SiteFigures};
use crate::figures::Figures;
use crate::spans::Spans;
use pleach_core::steal::Policy;

const PRESETS: [&str; 11] = [
    "adaptive",
    "random-half",
    "lifelines",
    "ring",
    "overlay",
    "overlay:bridges=no,degree=3",
    "overlay:bridges=random,end=requests",
    "master-worker",
    "hierarchical-master-worker:grain=64/8/1",
    "adaptive:least=100000",
    "overlay:share=subtree-power",
];

/// Whatever happens to sites, each unit is counted once, and each file of the root is consistent.
#[test]
fn sites_count_exactly_whatever_happens() {
    let seeds = 400;
    let (mut died, mut joined, mut left, mut files, mut stopped) = (0, 0, 0, 0, 0);
    for seed in 0..seeds {
        let preset = PRESETS[seed as usize % PRESETS.len()];
        let fleet = random_fleet(Policy::parse(preset).unwrap(), seed);
        let spans = Spans::new(1 << 24, 1_500_000_000, 12, 0.8, seed);
        let figures =
            fleet.run(&spans).unwrap_or_else(|why| panic!("seed {seed}, {preset}: {why}"));
        let sites = figures.sites.unwrap();
        died += sites.died;
        joined += sites.joined;
        left += sites.left;
        files += sites.files;
        stopped += u32::from(figures.alone_ns.is_none());
    }
    println!(
        "{seeds} runs: {died} died, {joined} joined, {left} left, {files} files, {stopped} stopped"
    );
    assert!(died > 300 && joined > 500 && left > 200 && files > 2000 && stopped > 20);
}

/// Without faults nothing is done twice, and a run takes as long as that many workers side by side.
#[test]
fn sites_without_faults_lose_nothing() {
    let sizes = [(1, 1), (1, 8), (2, 1), (16, 1), (16, 4), (200, 1)];
    // With lifelines, sites that prefetched a large piece once kept it to themselves.
    let all = ["adaptive", "lifelines"].map(|preset| sizes.map(|size| (preset, size)));
    for (preset, (count, workers)) in all.into_iter().flatten() {
        let mut fleet = random_fleet(Policy::parse(preset).unwrap(), 1);
        fleet.sites = vec![SiteClass { count, workers, speed: 1.0, device: None }];
        (fleet.churn, fleet.stop_ns, fleet.poll_ns) = (Churn::default(), None, 50_000);
        fleet.network.delays = None;
        let each_ns = 400_000_000;
        let spans = Spans::new(1 << 30, u64::from(count * workers) * each_ns, 12, 0.5, 3);
        let figures = fleet.run(&spans).unwrap();
        assert_eq!(figures.redone(), 0.0);
        let efficiency = figures.efficiency();
        assert!(efficiency > 0.95, "{preset}, {count} x {workers}: {efficiency}");
    }
}

/// A site that dies loses at most what it did since its last report, plus two periods.
#[test]
fn a_death_costs_little() {
    for seed in 0..20 {
        let mut fleet = random_fleet(Policy::default(), 1);
        fleet.seed = seed;
        fleet.sites = vec![SiteClass { count: 8, workers: 2, speed: 1.0, device: None }];
        fleet.churn = Churn { deaths: 60.0, notice_ns: 1_000_000, ..Churn::default() };
        fleet.stop_ns = None;
        let spans = Spans::new(1 << 30, 16_000_000_000, 12, 0.5, 3);
        let figures = fleet.run(&spans).unwrap();
        let lost_ns = figures.work_ns - spans_ns(&figures);
        // Two workers a site; each death may also lose what others held for the dead site.
        let died = figures.sites.unwrap().died;
        let most_ns = u64::from(died) * 2 * 3 * fleet.terms.commit_ns;
        assert!(lost_ns <= most_ns, "{died} died: {lost_ns} of {most_ns}");
    }
}

/// A site that takes the place of a dead one is not mistaken for it: little is done twice, and nothing by the lease of
/// a site that is present.
#[test]
fn a_site_that_joins_is_not_missed() {
    for open in [false, true] {
        let mut fleet = random_fleet(Policy::default(), 1);
        fleet.seed = 3;
        fleet.open = open;
        fleet.sites = vec![SiteClass { count: 40, workers: 1, speed: 1.0, device: None }];
        fleet.churn = Churn { deaths: 60.0, joins: 60.0, notice_ns: 1_000_000, ..Churn::default() };
        (fleet.stop_ns, fleet.node_limit) = (None, None);
        let spans = Spans::new(1 << 30, 40 * 10_000_000_000, 12, 0.5, 3);
        let figures = fleet.run(&spans).unwrap();
        let lost_ns = (figures.work_ns - spans_ns(&figures)) as f64;
        let SiteFigures { died, joined, .. } = figures.sites.unwrap();
        let most_ns = f64::from(died) * 3.0 * fleet.terms.commit_ns as f64;
        assert!(joined > 3, "{joined}");
        assert!(lost_ns <= most_ns, "open {open}: {died} died, {lost_ns} of {most_ns}");
    }
}

/// A root that was dead when the search was to stop, or that died while it stopped, used to finish the search.
#[test]
fn a_root_that_resumes_late_stops_the_search() {
    for seed in 0..12 {
        let mut fleet = random_fleet(Policy::default(), seed);
        fleet.sites = vec![SiteClass { count: 4, workers: 1, speed: 1.0, device: None }];
        fleet.churn = Churn {
            root_deaths: 1_200.0,
            resume_ns: 40_000_000,
            notice_ns: 1_000_000,
            ..Churn::default()
        };
        (fleet.stop_ns, fleet.node_limit) = (Some(200_000_000), None);
        let spans = Spans::new(1 << 24, 40_000_000_000, 12, 0.5, seed);
        let figures = fleet.run(&spans).unwrap();
        assert!(figures.alone_ns.is_none(), "seed {seed} was searched to the end");
    }
}

fn spans_ns(figures: &Figures) -> u64 {
    figures.alone_ns.unwrap_or_default()
}

/// The same seed gives the same run.
#[test]
fn runs_on_sites_are_reproducible() {
    let run = |fleet: &Fleet| fleet.run(&Spans::new(1 << 20, 900_000_000, 8, 0.5, 1)).unwrap();
    for seed in 0..10 {
        let fleet = random_fleet(Policy::default(), seed);
        assert_eq!(run(&fleet), run(&fleet));
    }
}

/// Sites that come and go begin at the root, as real processes do: any other place may be empty.
#[test]
fn open_sites_begin_in_a_star() {
    let run = |words: &str, open| {
        let mut fleet = random_fleet(Policy::parse(words).unwrap(), 1);
        fleet.sites = vec![SiteClass { count: 24, workers: 1, speed: 1.0, device: None }];
        (fleet.churn, fleet.stop_ns, fleet.node_limit) = (Churn::default(), None, None);
        fleet.open = open;
        fleet.run(&Spans::new(1 << 20, 900_000_000, 8, 0.5, 1)).unwrap()
    };
    let [narrow, wide] = ["adaptive:degree=2", "adaptive:degree=5"];
    assert_eq!(run(narrow, true), run(wide, true));
    assert_ne!(run(narrow, false), run(wide, false));
}

/// Between sites, leases alone decide when the search is over: no other rule changes anything.
#[test]
fn leases_end_every_run_on_sites() {
    for seed in 0..12 {
        let run = |end: &str| {
            let policy = Policy::parse(&format!("overlay:bridges=random{end}")).unwrap();
            random_fleet(policy, seed).run(&Spans::new(1 << 20, 900_000_000, 8, 0.5, 1)).unwrap()
        };
        let figures = run("");
        for end in [",end=requests", ",end=waves", ",end=counter"] {
            assert_eq!(run(end), figures, "seed {seed}{end}");
        }
    }
}

/// With a limit, sites explore at most what they were granted, and little less. Everything else stays open.
#[test]
fn all_sites_together_respect_a_limit() {
    for seed in 0..40 {
        let mut fleet = random_fleet(Policy::default(), seed);
        fleet.sites =
            vec![SiteClass { count: 1 + seed as u32 % 9, workers: 2, speed: 1.0, device: None }];
        (fleet.churn, fleet.stop_ns, fleet.poll_ns) = (Churn::default(), None, 5_000);
        // Late messages would raise suspicions against sites, and their work would not count.
        fleet.network.delays = None;
        let limit = 1 << (12 + seed % 8);
        fleet.node_limit = Some(limit);
        let spans = Spans::new(1 << 30, 3_000_000_000_000, 0, 0.0, seed);
        let figures = fleet.run(&spans).unwrap();
        assert!(figures.alone_ns.is_none(), "seed {seed} ended before its limit");
        let granted = figures.sites.unwrap().granted;
        assert!(granted <= limit, "seed {seed}: {granted} of {limit}");
        let explored = figures.counts.bounded;
        // Each site may have part of its last grant left.
        let slack = u64::from(figures.peers) * 8192;
        assert!(explored.abs_diff(limit) <= slack, "seed {seed}: {explored} of {limit}");
    }
}

//! Searches on the host with bounds from the emulated device, several batches at a time, in any order.

use crate::device::bounds;
use crate::on_cpu;
use oorandom::Rand64;
use pleach_core::search::evaluate::{Batch, HostSearch, Parents};
use pleach_core::search::explorer::{Explorer, Progress};
use pleach_core::search::laws::{explorer_law, run_to_end};
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Tree;
use pleach_core::search::work::{Malformed, Work};
use pleach_problems::flowshop::Flowshop;
use pleach_problems::flowshop::bound::Bound;
use pleach_problems::flowshop::branching::Branching;
use pleach_problems::flowshop::instance::Instance;
use pleach_problems::simd::Level;

/// A search with up to this many batches under way, each of at most this many nodes.
struct Loose<'p> {
    host: Box<dyn HostSearch + 'p>,
    batches: usize,
    most: usize,
    under_way: Vec<(Batch, Parents)>,
    rng: Rand64,
}

fn loose(problem: &dyn Problem, batches: usize, most: usize, seed: u64) -> Loose<'_> {
    let host = problem.evaluation().unwrap();
    Loose { host, batches, most, under_way: Vec::new(), rng: Rand64::new(seed.into()) }
}

impl Explorer for Loose<'_> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        self.host.add_work(work)
    }

    fn size(&self) -> f64 {
        self.host.size()
    }

    fn least_bound(&self) -> Option<i64> {
        self.host.least_bound()
    }

    fn open_share(&self) -> Option<f64> {
        self.host.open_share()
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        let mut progress = Progress::default();
        while self.size() > 0.0 && progress.used < fuel && progress.found.is_none() {
            let n = self.under_way.len() as u64;
            if n < self.batches as u64 && self.rng.rand_range(0..3) > 0 {
                let mut parents = Parents::default();
                let (batch, done) = self.host.send(self.most, best, &mut parents);
                progress.add(done);
                if !parents.is_empty() {
                    self.under_way.push((batch, parents));
                }
            } else if n > 0 {
                let (batch, parents) =
                    self.under_way.swap_remove(self.rng.rand_range(0..n) as usize);
                let bounds = bounds(&self.host.layout(), &parents, self.rng.rand_u64());
                progress.add(self.host.receive(batch, &bounds, best));
            }
        }
        progress
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        self.host.split(share)
    }

    fn drain(&mut self) -> Work {
        self.host.drain()
    }

    fn copy(&mut self) -> Work {
        self.host.copy()
    }
}

fn random(rng: &mut Rand64, jobs: u64, machines: u64, spread: u64) -> Flowshop {
    let times = (0..jobs * machines).map(|_| rng.rand_range(0..spread) as u32).collect();
    Flowshop::new(Instance::new(machines as usize, times).unwrap(), Level::Off)
}

const BOUNDS: [Bound; 5] =
    [Bound::One, Bound::OneTight, Bound::Two, Bound::TwoAdjacent, Bound::TwoLast];

#[test]
fn trees_are_those_of_the_cpu_on_all_devices() {
    let mut rng = Rand64::new(11);
    let mut nodes = 0;
    for case in 0..24_u64 {
        let (jobs, machines) = (2 + rng.rand_range(0..9), 1 + rng.rand_range(0..12));
        let mut flowshop = random(&mut rng, jobs, machines, [2, 10, 100, 4000][case as usize % 4]);
        let best = on_cpu(&flowshop, i64::MAX).found.unwrap().score;
        flowshop.reference = best;
        for bound in BOUNDS {
            flowshop.bound = bound;
            flowshop.branching = Branching::ALL[rng.rand_range(0..6) as usize];
            let whole = on_cpu(&flowshop, best);
            nodes += whole.counts.branched;
            if whole.counts.branched > 3000 {
                continue;
            }
            let one = &flowshop;
            let make = |i: usize| -> Box<dyn Explorer + '_> {
                let seed = case * 4 + i as u64;
                match i {
                    0 => one.explorer(),
                    _ => Box::new(loose(one, i, [1, 7, 1, 300][i], seed)),
                }
            };
            explorer_law(&make, &Problem::root(one), best, &whole, case);
        }
    }
    assert!(nodes > 3000, "{nodes}");
}

/// From scratch, with jobs in both words of a set and sums near the limit.
#[test]
fn optima_are_found_with_their_schedules() {
    let mut rng = Rand64::new(12);
    for (jobs, machines, spread) in [(9, 5, 100), (8, 12, 3000), (10, 2, 6000)] {
        let mut flowshop = random(&mut rng, jobs, machines, spread);
        let wanted = on_cpu(&flowshop, i64::MAX).found.unwrap().score;
        for bound in BOUNDS {
            flowshop.bound = bound;
            let mut search = loose(&flowshop, 3, 20, jobs);
            search.add_work(&Problem::root(&flowshop).bytes).unwrap();
            let found = run_to_end(&mut search, i64::MAX).found.unwrap();
            assert_eq!(found.score, wanted);
            assert_eq!(Tree::check(&flowshop, &found.solution), Some(Ok(wanted)));
        }
    }
}

/// Up to 64 jobs, whose trees are too large to search: only the first nodes.
#[test]
fn many_jobs_are_bounded_as_on_the_cpu() {
    let mut rng = Rand64::new(13);
    for (jobs, machines) in [(33, 20), (64, 5), (64, 32), (2, 64), (40, 1)] {
        let mut flowshop = random(&mut rng, jobs, machines, 500);
        for bound in BOUNDS {
            flowshop.bound = bound;
            let best = flowshop.root_bound() * 2;
            let (mut search, mut plain) =
                (loose(&flowshop, 1, 1, 1), flowshop.evaluation().unwrap());
            for host in [&mut search as &mut dyn Explorer, &mut *plain] {
                host.add_work(&Problem::root(&flowshop).bytes).unwrap();
            }
            for _ in 0..12 {
                let one = search.run(1, best);
                let other = plain.run(1, best);
                assert_eq!(one.counts, other.counts, "{jobs} jobs, {bound}");
                assert_eq!(search.copy(), plain.copy(), "{jobs} jobs, {bound}");
            }
        }
    }
}

//! Measures the engine: its cost around a bare explorer and compared with hand-written recursion, two threads against
//! one, and the time from asking for work to having it. The two times of a ratio come from one run.

use pleach::{Children, Goal, Plain, Problem, RunError, Settings, Solver, Tree};
use pleach_core::search::laws::run_to_end;
use pleach_gpu::DeviceSet;
use pleach_gpu::pool::DevicePool;
use pleach_gpu::spec::Spec;
use pleach_problems::flowshop::{
    Flowshop,
    named::{best_known, named},
};
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;
use pleach_problems::uts::{Uts, parameters::Parameters};
use pleach_runtime::WorkerPool;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A row of the page of figures: its name, and what measures it.
type Row<'a> = (&'a str, &'a dyn Fn() -> Result<(), RunError>);

fn main() -> Result<(), RunError> {
    let rows: [Row<'_>; 14] = [
        ("engine around uts T1L", &|| overhead("uts T1L", (&uts("T1L"), None), 5)),
        ("engine around uts T3L", &|| overhead("uts T3L", (&uts("T3L"), None), 5)),
        ("engine around queens 16", &|| overhead("queens 16", (&queens(16), None), 15)),
        ("engine around queens 17", &|| overhead("queens 17", (&queens(17), None), 3)),
        ("engine around flowshop ta028", &|| {
            overhead("ta028", from_optimum(&flowshop("ta028")), 5)
        }),
        ("knapsack", &knapsack),
        ("two threads uts T1XL", &|| two_threads("uts T1XL", (&uts("T1XL"), None))),
        ("two threads uts P3D-T3", &|| two_threads("uts P3D-T3", (&uts("P3D-T3"), None))),
        ("two threads queens 18", &|| two_threads("queens 18", (&queens(18), None))),
        ("two threads flowshop ta025", &|| two_threads("ta025", from_optimum(&flowshop("ta025")))),
        ("steal, thief spinning", &|| steals("thief spinning", Duration::from_millis(5))),
        ("steal, thief asleep", &|| steals("thief asleep", Duration::ZERO)),
        ("run after another, threads", &|| second_run("threads", "")),
        ("run after another, device", &|| second_run("device", "emulated")),
    ];
    // Words on the command line choose: only rows that contain one of them are run.
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (row, run) in rows {
        if words.is_empty() || words.iter().any(|word| row.contains(word.as_str())) {
            run()?;
        }
    }
    Ok(())
}

/// A problem, and the value that its search starts from.
type Start<'a> = (&'a dyn Problem, Option<i64>);

fn uts(name: &str) -> Uts {
    Uts::new(Parameters::parse(name).expect("a named tree"), Level::best())
}

fn queens(n: u32) -> Queens {
    Queens::new(n, Level::best()).expect("a size that can be counted")
}

/// An instance of known optimum, whose tree from there is always the same.
fn flowshop(name: &str) -> Flowshop {
    let mut flowshop = Flowshop::new(named(name).expect("a named instance"), Level::best());
    flowshop.reference = best_known(name).expect("a named instance").0;
    flowshop
}

fn from_optimum(flowshop: &Flowshop) -> Start<'_> {
    (flowshop, Some(flowshop.reference))
}

fn seconds((problem, best): Start<'_>, threads: u32) -> Result<f64, RunError> {
    let settings = Settings { best, ..self::threads(threads) };
    let outcome =
        pleach_runtime::run(problem, &settings, &mut |_| std::ops::ControlFlow::Continue(()))?;
    Ok(outcome.seconds)
}

fn bare((problem, best): Start<'_>) -> f64 {
    let start = Instant::now();
    let mut explorer = problem.explorer();
    explorer.add_work(&problem.root().bytes).expect("a root is canonical");
    run_to_end(&mut *explorer, best.unwrap_or(i64::MAX));
    start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn threads(threads: u32) -> Settings {
    Settings { threads, ..Settings::default() }
}

/// One thread through the whole engine against the explorer alone, alternately.
fn overhead(name: &str, problem: Start<'_>, pairs: usize) -> Result<(), RunError> {
    let (mut with, mut without, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..pairs {
        let (engine, alone) = (seconds(problem, 1)?, bare(problem));
        with.push(engine);
        without.push(alone);
        ratios.push(engine / alone);
    }
    println!(
        "engine around {name:10} {:.4} s, bare {:.4} s, ratio {:.3}",
        median(with),
        median(without),
        median(ratios)
    );
    Ok(())
}

/// A small run by a worker pool that is new, against the same by one that has run before, alternately.
fn second_run(name: &str, device: &str) -> Result<(), RunError> {
    let queens = queens(7);
    let spec: Vec<Spec> = Spec::parse(device).into_iter().collect();
    let run = |pool: &WorkerPool, open: &Arc<DevicePool>| -> Result<f64, RunError> {
        let settings = Settings { devices: DeviceSet::from_pool(spec.clone(), open), ..threads(2) };
        let start = Instant::now();
        pool.run(&queens, &settings, &mut |_| std::ops::ControlFlow::Continue(()))?;
        Ok(start.elapsed().as_secs_f64() * 1e6)
    };
    let (mut firsts, mut seconds, mut started) = (Vec::new(), Vec::new(), 0);
    for _ in 0..201 {
        let (pool, open) = (WorkerPool::default(), Arc::<DevicePool>::default());
        firsts.push(run(&pool, &open)?);
        let before = (pool.threads_started(), open.opened());
        seconds.push(run(&pool, &open)?);
        started += pool.threads_started() - before.0 + open.opened() - before.1;
    }
    println!(
        "run after another, {name}: first {:.0} us, second {:.0} us, {started} threads and devices \
         started by the second",
        median(firsts),
        median(seconds)
    );
    Ok(())
}

/// Two threads against one, alternately.
fn two_threads(name: &str, problem: Start<'_>) -> Result<(), RunError> {
    let (mut ones, mut twos, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..5 {
        let (one, two) = (seconds(problem, 1)?, seconds(problem, 2)?);
        ones.push(one);
        twos.push(two);
        ratios.push(one / two);
    }
    println!(
        "two threads {name:12} {:.3} s, one {:.3} s, ratio {:.3}",
        median(twos),
        median(ones),
        median(ratios)
    );
    Ok(())
}

/// From asking to having work, two threads, over many short runs.
fn steals(name: &str, spin: Duration) -> Result<(), RunError> {
    let mut waits = Vec::new();
    for seed in 0..20 {
        let solver = Solver::of(uts("T3")).threads(2);
        let report = solver.settings(|all| (all.spin, all.seed) = (spin, seed)).run()?;
        waits.extend(report.outcome.balance.steal_ns.iter().map(|&ns| ns as f64 / 1e3));
    }
    println!("steal, {name}: median {:.1} us of {} steals", median(waits.clone()), waits.len());
    Ok(())
}

/// The knapsack of the example, on items whose value is their weight and a little.
struct Knapsack {
    capacity: i64,
    items: Vec<[i64; 3]>,
}

impl Tree for Knapsack {
    type Node = (u32, i64, i64, u128);
    const GOAL: Goal = Goal::Maximise;

    fn root(&self) -> Self::Node {
        (0, self.capacity, 0, 0)
    }

    fn expand(
        &self,
        &(at, room, value, taken): &Self::Node,
        _: Option<i64>,
        out: &mut Children<'_, Self>,
    ) {
        let Some(&[gain, weight, _]) = self.items.get(at as usize) else {
            let taken = (0..self.items.len()).filter(|i| taken >> i & 1 == 1);
            return out.solution(value, || taken.map(|i| self.items[i][2]).collect());
        };
        let with = (room - weight, value + gain, taken | 1 << at);
        for (room, value, taken) in [with, (room, value, taken)] {
            if room >= 0 {
                out.child_within(self.bound(at + 1, room, value), (at + 1, room, value, taken));
            }
        }
    }
}

impl Knapsack {
    fn new(n: usize, seed: u64) -> Self {
        let mut state = seed;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as i64 % 10_000 + 1
        };
        let mut items: Vec<_> =
            (0..n).map(|i| (draw(), i)).map(|(w, i)| [w + 1000, w, i as i64]).collect();
        items.sort_by_key(|&[gain, weight, _]| std::cmp::Reverse((gain << 30) / weight));
        let capacity = items.iter().map(|item| item[1]).sum::<i64>() / 2;
        Self { capacity, items }
    }

    #[inline]
    fn bound(&self, from: u32, mut room: i64, mut value: i64) -> i64 {
        for &[gain, weight, _] in &self.items[from as usize..] {
            if weight > room {
                return value + gain * room / weight;
            }
            (room, value) = (room - weight, value + gain);
        }
        value
    }

    /// The same search by hand: bound each child, recurse, keep the best and what it takes.
    fn recurse(
        &self,
        (at, room, value, taken): (u32, i64, i64, u128),
        best: &mut (i64, u128),
    ) -> u64 {
        let Some(&[gain, weight, _]) = self.items.get(at as usize) else {
            if value > best.0 {
                *best = (value, taken);
            }
            return 1;
        };
        let mut nodes = 1;
        if weight <= room {
            let (room, value) = (room - weight, value + gain);
            if self.bound(at + 1, room, value) > best.0 {
                nodes += self.recurse((at + 1, room, value, taken | 1 << at), best);
            }
        }
        if self.bound(at + 1, room, value) > best.0 {
            nodes += self.recurse((at + 1, room, value, taken), best);
        }
        nodes
    }
}

/// One thread through the whole engine against recursion by hand, alternately.
fn knapsack() -> Result<(), RunError> {
    let mut ratios = Vec::new();
    let (mut engine, mut by_hand, mut nodes) = (Vec::new(), Vec::new(), [0; 2]);
    for _ in 0..7 {
        let start = Instant::now();
        let items = Knapsack::new(60, 13);
        let mut best = (i64::MIN, 0);
        nodes[0] = items.recurse(items.root(), &mut best);
        let hand = start.elapsed().as_secs_f64();
        let report = Solver::of(Plain(Knapsack::new(60, 13))).threads(1).run()?;
        assert_eq!(report.objective, Some(best.0));
        nodes[1] = report.outcome.counts.branched;
        ratios.push(report.outcome.seconds / hand);
        engine.push(report.outcome.seconds);
        by_hand.push(hand);
    }
    println!(
        "knapsack engine {:.4} s ({} nodes), recursion {:.4} s ({} nodes), ratio {:.3}",
        median(engine),
        nodes[1],
        median(by_hand),
        nodes[0],
        median(ratios)
    );
    Ok(())
}

//! Measures the cost of work that can travel: saving a search while it runs, and intervals against pools.

use pleach::{Problem, RunError, Save, Settings};
use pleach_core::search::work::Nodes;
use pleach_problems::flowshop::{
    Flowshop,
    named::{best_known, named},
};
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;
use pleach_problems::uts::{Uts, parameters::Parameters};
use std::ops::ControlFlow;
use std::time::Duration;

/// Pairs of alternating runs.
const PAIRS: usize = 3;

fn main() -> Result<(), RunError> {
    let ta025 = flowshop("ta025");
    let uts = Uts::new(Parameters::parse("T1XL").expect("a named tree"), Level::best());
    let queens = Queens::new(18, Level::best()).expect("a size that can be counted");
    let rows: [(&str, &dyn Problem, Option<i64>); 3] = [
        ("uts T1XL", &uts, None),
        ("queens 18", &queens, None),
        ("flowshop ta025", &ta025, Some(ta025.reference)),
    ];
    for (name, problem, best) in rows {
        for every in [Duration::from_secs(1), Duration::from_millis(20)] {
            saving(name, problem, best, every)?;
        }
    }
    for name in ["ta021", "ta025", "ta028"] {
        for threads in [1, 2] {
            intervals(name, threads)?;
        }
    }
    Ok(())
}

/// Intervals against pools, on equal trees: the first 400 million children of Ta021, the others whole.
fn intervals(name: &str, threads: u32) -> Result<(), RunError> {
    let pool = flowshop(name);
    let mut interval = pool.clone();
    interval.nodes = Nodes::Interval;
    let node_limit = (name == "ta021").then_some(400_000_000);
    let settings =
        Settings { threads, best: Some(pool.reference), node_limit, ..Settings::default() };
    let (mut ones, mut others, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let (one, other) = (seconds(&interval, &settings)?, seconds(&pool, &settings)?);
        ones.push(one);
        others.push(other);
        ratios.push(one / other);
    }
    println!(
        "intervals {name}, {threads} threads: {:.3} s, pools {:.3} s, ratio {:.3}",
        median(ones),
        median(others),
        median(ratios)
    );
    Ok(())
}

/// An instance of known optimum, whose tree from there is always the same.
fn flowshop(name: &str) -> Flowshop {
    let mut flowshop = Flowshop::new(named(name).expect("a named instance"), Level::best());
    flowshop.reference = best_known(name).expect("a named instance").0;
    flowshop
}

fn seconds(problem: &dyn Problem, settings: &Settings) -> Result<f64, RunError> {
    Ok(pleach_runtime::run(problem, settings, &mut |_| ControlFlow::Continue(()))?.seconds)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Two threads that save against two that do not.
fn saving(
    name: &str,
    problem: &dyn Problem,
    best: Option<i64>,
    every: Duration,
) -> Result<(), RunError> {
    let path = std::env::temp_dir().join(format!("pleach-bench-{}.pleach", std::process::id()));
    let without = Settings { threads: 2, best, ..Settings::default() };
    let save = Some(Save::new(&path, every));
    let with = Settings { save, ..without.clone() };
    let (mut plain, mut saved, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let (saving, not) = (seconds(problem, &with)?, seconds(problem, &without)?);
        saved.push(saving);
        plain.push(not);
        ratios.push(saving / not);
    }
    // Only this benchmark uses the file, and it is no longer needed.
    let _ = std::fs::remove_file(path);
    let ratio = median(ratios);
    println!(
        "saving {name:14} every {every:?}: {:.3} s, without {:.3} s, ratio {ratio:.4}; every 30 s {:.6}",
        median(saved),
        median(plain),
        1.0 + (ratio - 1.0) * every.as_secs_f64() / 30.0
    );
    Ok(())
}

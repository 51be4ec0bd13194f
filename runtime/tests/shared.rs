//! Shared by the tests of several crates: larger problems, temporary files, slow threads.
#![allow(dead_code)]

#[path = "words.rs"]
mod words;

use pleach_core::search::problem::{Plain, Problem};
use pleach_core::search::tree::Counts;
use pleach_core::search::work::Nodes;
use pleach_core::wire::checkpoint::Checkpoint;
use pleach_problems::flowshop::{Flowshop, named::named};
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;
use pleach_problems::uts::{Uts, parameters::Parameters};
use pleach_runtime::{Save, Settings, run};
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use words::Words;

/// Slow-down factors of the first threads.
pub fn slow_threads(factors: impl IntoIterator<Item = f64>) -> Vec<(String, f64)> {
    factors.into_iter().enumerate().map(|(i, factor)| (format!("cpu{i}"), factor)).collect()
}

/// A larger problem on a code path, with its starting value, if any.
pub fn problem(which: u64, level: Level) -> (Box<dyn Problem>, Option<i64>) {
    let uts = |words| Box::new(Uts::new(Parameters::parse(words).unwrap(), level));
    match which {
        0 => (uts("T1"), None),
        1 => (uts("type=binomial,b0=200,q=0.199,m=5,seed=3"), None),
        2 | 3 => {
            let mut queens = Queens::new(12, level).unwrap();
            queens.nodes = Nodes::ALL[usize::from(which == 3)];
            (Box::new(queens), None)
        }
        6 => (Box::new(Plain(Words(34))), None),
        _ => {
            let mut flowshop = Flowshop::new(named("VFR10_20_1").unwrap(), level);
            flowshop.branching = pleach_problems::flowshop::branching::Branching::Alternate;
            flowshop.reference = 1583;
            flowshop.nodes = Nodes::ALL[usize::from(which == 5)];
            (Box::new(flowshop), Some(1583))
        }
    }
}

pub fn counted(which: u64) -> Counts {
    let (problem, best) = problem(which, Level::best());
    let settings = Settings { threads: 1, best, ..Settings::default() };
    run(&*problem, &settings, &mut |_| ControlFlow::Continue(())).unwrap().counts
}

/// A checkpoint that is removed when the test ends, with the one before it.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("pleach-{}-{name}.pleach", std::process::id())))
    }

    pub fn save(&self, every: Duration) -> Save {
        Save::new(&self.0, every)
    }

    pub fn read(&self) -> Arc<Checkpoint> {
        Arc::new(Checkpoint::from_bytes(&fs::read(&self.0).unwrap()).unwrap())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
        let _ = fs::remove_file(self.0.with_extension("pleach.old"));
    }
}

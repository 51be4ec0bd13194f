//! A loop for tests of sites: a number for each unit, and how often each unit ran.

use crate::network::ThreadNetwork;
use pleach_cluster::{Cluster, First};
use pleach_core::search::work::{Malformed, Pack, Reader};
use pleach_loops::looping::{Loop, RemoteLoop, ResultPlacement};
use pleach_loops::looping::{LoopReport, LoopSettings};
use pleach_loops::looping::{ShareLoops, run_loop};
use pleach_runtime::{RunError, WorkerPool};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// A number for each unit, and how often it ran in this process.
pub struct Numbers {
    pub results: Vec<AtomicU64>,
    pub runs: Vec<AtomicU64>,
    pub kept: ResultPlacement,
    /// Rounds of work for each unit.
    pub work: u64,
    /// The first unit waits for this.
    pub gateway: Option<Arc<AtomicBool>>,
    /// Set when a unit runs.
    pub opens: Option<Arc<AtomicBool>>,
    /// Whether other sites cannot read its results.
    pub garbles: bool,
}

fn number(unit: usize) -> u64 {
    (unit as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Numbers {
    pub fn new(units: usize, kept: ResultPlacement, work: u64) -> Self {
        let zeros = || (0..units).map(|_| AtomicU64::new(0)).collect();
        Self {
            results: zeros(),
            runs: zeros(),
            kept,
            work,
            gateway: None,
            opens: None,
            garbles: false,
        }
    }

    pub fn has(&self, unit: usize) -> bool {
        self.results[unit].load(Ordering::Relaxed) == number(unit)
    }

    pub fn runs(&self, unit: usize) -> u64 {
        self.runs[unit].load(Ordering::Relaxed)
    }
}

impl Loop for Numbers {
    type Local = ();

    fn units(&self) -> usize {
        self.results.len()
    }

    fn local(&self) {}

    fn run(&self, units: Range<usize>, (): &mut ()) {
        self.opens.iter().for_each(|gateway| gateway.store(true, Ordering::Relaxed));
        for unit in units {
            while unit == 0 && self.gateway.iter().any(|gateway| !gateway.load(Ordering::Relaxed)) {
                thread::sleep(Duration::from_millis(1));
            }
            (0..self.work).for_each(|i| _ = std::hint::black_box(i));
            self.runs[unit].fetch_add(1, Ordering::Relaxed);
            self.results[unit].store(number(unit), Ordering::Relaxed);
        }
    }

    fn remote(&self) -> Option<&dyn RemoteLoop> {
        Some(self)
    }
}

impl RemoteLoop for Numbers {
    fn result_placement(&self) -> ResultPlacement {
        self.kept
    }

    fn pack(&self, unit: usize, out: &mut Vec<u8>) {
        if self.garbles {
            out.push(0);
        }
        self.results[unit].load(Ordering::Relaxed).pack(out);
    }

    fn unpack(&self, unit: usize, from: &mut Reader<'_>) -> Result<(), Malformed> {
        self.results[unit].store(Pack::unpack(from)?, Ordering::Relaxed);
        Ok(())
    }
}

/// What a site made of its part.
pub type Ended = Result<LoopReport, RunError>;

/// Runs loops one after the other at each site.
pub fn each(
    parts: &[(Arc<Cluster>, ThreadNetwork)],
    loops: &[Vec<Numbers>],
    settings: &[LoopSettings],
) -> Vec<Ended> {
    let site = |at: usize| {
        let cluster = &parts[at].0;
        if at == 0 {
            cluster.begin_loops(b"numbers".to_vec(), First::from(&b"first"[..]))?;
        } else {
            cluster.next_order(|| true)?;
            assert_eq!(cluster.first_of_loops(false, || true)?.as_deref(), Some(&b"first"[..]));
        }
        let settings = LoopSettings { cluster: Some(cluster.clone()), ..settings[at].clone() };
        let mut last = LoopReport::default();
        for work in &loops[at] {
            let pool = WorkerPool::default();
            last = run_loop(&pool, work, &settings, &mut |_| ControlFlow::Continue(()))?.report;
        }
        if at == 0 {
            cluster.end_loops_together()?;
        }
        cluster.end();
        Ok(last)
    };
    thread::scope(|scope| {
        let sites: Vec<_> = (0..parts.len()).map(|at| scope.spawn(move || site(at))).collect();
        sites.into_iter().map(|site| site.join().unwrap()).collect()
    })
}

pub fn settings(threads: u32) -> LoopSettings {
    LoopSettings { threads, ..LoopSettings::default() }
}

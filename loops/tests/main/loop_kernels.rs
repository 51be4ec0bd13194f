//! The kernels of loops on the emulated device: results equal the CPU's, however units are shared and whatever fails.

mod lattice;
mod rays;
mod spmm;

use pleach_gpu::spec::Spec;
use pleach_loops::looping::Loop;
use pleach_loops::looping::run_loop;
use pleach_loops::looping::{LoopSettings, Sizes};
use pleach_runtime::WorkerPool;
use std::ops::ControlFlow;

/// A way to run a loop.
#[derive(Clone, Debug)]
struct Way {
    threads: u32,
    devices: Vec<String>,
    sizes: Sizes,
}

impl Way {
    fn new(threads: u32, devices: &[&str], sizes: Sizes) -> Self {
        Self { threads, devices: devices.iter().map(|words| (*words).into()).collect(), sizes }
    }

    /// Runs a loop to its end; checks that devices did their part and that failures were reported. Returns their local
    /// data.
    fn run<L: Loop>(&self, work: &L) -> Vec<L::Local> {
        let devices = self.devices.iter().map(|words| Spec::parse(words).unwrap()).collect();
        let (threads, sizes) = (self.threads, self.sizes.clone());
        let settings = LoopSettings { threads, devices, sizes, ..LoopSettings::default() };
        let go_on = &mut |_: &_| ControlFlow::Continue(());
        let outcome = run_loop(&WorkerPool::default(), work, &settings, go_on).unwrap();
        let (parts, warnings) = (outcome.report.parts, outcome.report.warnings);
        assert!(outcome.report.complete);
        // Alongside threads, a device may be ready too late for a small loop.
        let sure = threads == 0 && work.units() > 0;
        if self.devices.iter().any(|words| words.contains("fail=")) {
            let first = self.devices == ["emulated:rmax=2:fail=1"];
            let reported = warnings.iter().any(|line| line.contains("failed as requested"));
            assert!(reported || !(sure && first), "{self:?}: {warnings:?}");
        } else {
            assert!(warnings.is_empty(), "{warnings:?}");
            let by_devices: u64 = parts[threads as usize..].iter().map(|part| part.units).sum();
            assert!(by_devices > 0 || !sure, "{self:?}");
        }
        outcome.locals
    }
}

/// Alone on a device, alongside threads, on two devices, and on devices that fail in various launches.
fn ways() -> Vec<Way> {
    let sizes =
        [Sizes::Given(1, 1), Sizes::Given(1, 3), Sizes::Static(vec![1.0; 3]), Sizes::Measured];
    let whole = [
        (0, &["emulated"][..]),
        (1, &["emulated:rmax=3"]),
        (2, &["emulated"]),
        (0, &["emulated:rmax=1", "emulated"]),
        (0, &["emulated:fail=2", "emulated:fail=1"]),
        (0, &["emulated:rmax=2:fail=1"]),
        (1, &["emulated:rmax=2:fail=2"]),
        (0, &["emulated:rmax=2:fail=3"]),
        (0, &["emulated:launch=once"]),
        (1, &["emulated:launch=once:rmax=5", "emulated:launch=once:fail=3"]),
        (0, &["emulated:launch=once:fail=1", "emulated"]),
    ];
    let with = |sizes: Sizes| {
        whole.iter().map(move |&(threads, devices)| Way::new(threads, devices, sizes.clone()))
    };
    sizes.into_iter().flat_map(with).collect()
}

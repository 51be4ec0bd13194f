//! Flags that choose the workers of a run and how they share work.

use super::flag::{About, Accepts, Applies, Flag, Group, Lasts, Record, listed};
use super::numbers::whole;
use super::values::{Devices, FlagValues, Workers};
use super::verb::{SEARCHES_AND_JOIN, Verb};
use crate::failure::Failure;
use pleach_cluster::mpi;
use pleach_core::steal::{PRESETS, Policy};
use pleach_gpu::gpus::count;
use pleach_gpu::spec::{DeviceKind, Spec, names, repeated};
use pleach_problems::simd::Level;
use pleach_runtime::cores;
use pleach_runtime::error::MOST_THREADS;

use serde_json::json;

const ABOUT: About = About {
    group: Group::Workers,
    applies: Applies::To(SEARCHES_AND_JOIN),
    lasts: Lasts::Kept,
    ..About::BASE
};

const SEARCHES_AND_SIM: &[Verb] = &[Verb::Solve, Verb::Count, Verb::Resume, Verb::Own, Verb::Sim];
const THREADS_OF: &[Verb] = &[
    Verb::Solve,
    Verb::Count,
    Verb::Resume,
    Verb::Own,
    Verb::Join,
    Verb::Sim,
    Verb::Loop,
    Verb::Audit,
    Verb::Serve,
];
const UNITS_OF: &[Verb] =
    &[Verb::Solve, Verb::Count, Verb::Resume, Verb::Own, Verb::Join, Verb::Loop];
const CODE_PATHS: &[Verb] =
    &[Verb::Solve, Verb::Count, Verb::Resume, Verb::Join, Verb::Sim, Verb::Devices, Verb::Loop];

pub static THREADS: Flag<u32> = Flag {
    about: About {
        default: "all cores",
        applies: Applies::To(THREADS_OF),
        record: Record::Own(|given| Some(json!(given.workers().ok()?.threads))),
        ..ABOUT.valued("threads", "N", "number of CPU threads")
    },
    parse: |word| whole(word, 1, MOST_THREADS.into()).map(|threads| threads as u32),
};

pub static DEVICES: Flag<String> = Flag::text(About { default: "cpu,gpu where a GPU works",
    applies: Applies::To(UNITS_OF),
    record: Record::Own(|given| Some(json!(given.workers().ok()?.devices.words))), ..ABOUT.valued("devices", "LIST", "comma-separated list of cpu, gpu (all GPUs), gpu0, gpu1, ..., emulated (GPU code on the CPU, for \
               tests); options follow colons, as in gpu:explorers=2048:inside=hypercube") });

pub static SLOW: Flag<String> = Flag::text(About {
    default: "none",
    applies: Applies::To(UNITS_OF),
    accepts: Accepts::Several,
    record: Record::Own(|given| Some(json!(given.slow()))),
    ..ABOUT.valued(
        "slow",
        "WORKER=F",
        "make a thread or a device F times slower, to try unequal machines (cpu1=4, emulated0=2)",
    )
});

pub static PACE: Flag<u64> = Flag {
    about: About {
        default: "off",
        record: Record::Own(|given| Some(json!(given.get(&PACE).ok().flatten()))),
        ..ABOUT.valued(
            "pace",
            "N",
            "limit every worker to N nodes a second, by sleeping: many processes on few cores \
               then behave like many slow machines",
        )
    },
    parse: |word| whole(word, 1, 1_000_000_000),
};

pub static REPEAT: Flag<u64> = Flag {
    about: About {
        default: "1",
        applies: Applies::To(&[Verb::Solve, Verb::Count, Verb::Own, Verb::Loop]),
        record: Record::Own(|given| Some(json!(given.get(&REPEAT).ok().flatten().unwrap_or(1)))),
        ..ABOUT.valued(
            "repeat",
            "N",
            "run N times; report mean, standard deviation, minimum and maximum",
        )
    },
    parse: |word| whole(word, 1, 1000),
};

pub static BALANCE: Flag<Policy> = Flag {
    about: About { choices: || PRESETS.iter().map(|preset| preset.0.to_string()).collect(),
        default: "adaptive",
        applies: Applies::To(SEARCHES_AND_SIM),
        record: Record::ValueOrDefault, ..ABOUT.valued("balance", "NAME", "how workers share work: adaptive, random-power, random-half, weighted, ring, lifelines, \
               overlay, master-worker, hierarchical-master-worker, static, dynamic, guided; options \
               follow a colon, as in overlay:degree=4,bridges=no") },
    parse: |word| Policy::parse(word).map_err(|why| format!("{word}: {why}")),
};

pub static SIMD: Flag<Level> = Flag {
    about: About {
        choices: || ["auto".to_string()].into_iter().chain(listed(&Level::ALL)).collect(),
        default: "auto",
        applies: Applies::To(CODE_PATHS),
        record: Record::Own(|given| {
            let level = given.get(&SIMD).ok().flatten().unwrap_or_else(Level::best);
            Some(json!(level.to_string()))
        }),
        ..ABOUT.valued("simd", "LEVEL", "vector instructions to use: auto, off, avx2, avx512")
    },
    parse: Level::parse,
};

pub static CHECK: Flag<Spec> = Flag {
    about: About {
        applies: Applies::To(&[Verb::Devices]),
        lasts: Lasts::OneRun,
        ..ABOUT.valued(
            "check",
            "DEVICE",
            "test the kernels of a device, such as gpu0, against the CPU's counts: all kernels, \
               or those of the named problems; one line per check",
        )
    },
    parse: Spec::parse,
};

/// The maximum number of devices; no machine has more.
const MOST_DEVICES: usize = 64;

/// The number of cores of this machine; 0 if unknown.
fn machine_cores() -> u32 {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    about.lines().filter(|line| line.starts_with("processor")).count() as u32
}

/// The threads of one of several processes on a machine, if the launcher has not bound each to cores of its own.
fn fair_share(allowed: u32, there: u32, processes: u32) -> u32 {
    let bound = there > 0 && allowed < there;
    let share = if bound { allowed } else { allowed / processes.max(1) };
    share.clamp(1, MOST_THREADS)
}

impl FlagValues {
    /// The workers.
    ///
    /// # Errors
    /// One line: which flag, which value, and what was expected.
    pub fn workers(&self) -> Result<Workers, Failure> {
        let read = || Workers::read(self.word("threads"), self.word("devices"));
        self.workers.get_or_init(read).clone().map_err(Failure::Usage)
    }
}

impl Workers {
    /// Reads the flags; without `--devices`, all available GPUs take part.
    ///
    /// # Errors
    /// One line: which flag, which value, and what was expected.
    pub fn read(threads: Option<&str>, devices: Option<&str>) -> Result<Self, String> {
        let wanted = match threads {
            None => fair_share(cores(), machine_cores(), mpi::processes_here().unwrap_or(1)),
            Some(word) => (THREADS.parse)(word).map_err(|why| format!("--threads {why}"))?,
        };
        let Some(list) = devices else {
            let mut specs = Spec::of(DeviceKind::Gpu(0)).on_gpus(count().unwrap_or(0));
            // The user has not asked for GPUs, so a problem without a kernel is not an error.
            specs.iter_mut().for_each(|spec| spec.asked = false);
            let words = if specs.is_empty() { "cpu" } else { "cpu,gpu" }.to_string();
            return Ok(Self { threads: wanted, devices: Devices { words, specs } });
        };
        let (mut on_cpu, mut specs) = (false, Vec::new());
        for words in list.split(',') {
            let spec = || Spec::parse(words).map_err(|why| format!("--devices {why}"));
            match words.split(':').next() {
                Some("cpu") if words == "cpu" => on_cpu = true,
                Some("cpu") => return Err(format!("--devices {words}: cpu takes no options")),
                // If there is no GPU, the run reports why.
                Some("gpu") => specs.extend(spec()?.on_gpus(count().unwrap_or(1))),
                _ => specs.push(spec()?),
            }
        }
        if specs.len() > MOST_DEVICES {
            return Err(format!("--devices {list}: expected at most {MOST_DEVICES} devices"));
        }
        if let Some(gpu) = repeated(&specs) {
            return Err(format!("--devices {list}: {gpu} is named twice"));
        }
        if !on_cpu && threads.is_some() {
            return Err(format!("--threads has no effect without cpu among --devices {list}"));
        }
        let devices = Devices { words: list.to_string(), specs };
        Ok(Self { threads: if on_cpu { wanted } else { 0 }, devices })
    }
}

/// The artificial slow-down factors, by worker name.
///
/// # Errors
/// One line: which worker does not exist, or which factor is wrong.
pub fn slow_factors(words: &[&str], workers: &Workers) -> Result<Vec<(String, f64)>, String> {
    let threads = (0..workers.threads).map(|number| format!("cpu{number}"));
    let known: Vec<String> = threads.chain(names(&workers.devices.specs)).collect();
    let mut factors = Vec::new();
    for word in words.iter().filter(|&&word| word != "none") {
        let (worker, factor) = word.split_once('=').unwrap_or((word, ""));
        let factor = factor.parse().ok().filter(|factor| (1.0..=1e6).contains(factor));
        match factor.filter(|_| known.iter().any(|name| name == worker)) {
            Some(factor) => factors.push((worker.to_string(), factor)),
            None => {
                let workers = match &known[..] {
                    [only] => only.clone(),
                    [first, .., last] => format!("{first} to {last}"),
                    [] => "this run has none".into(),
                };
                return Err(format!(
                    "--slow {word}: expected WORKER=FACTOR, with a worker ({workers}) and a factor from 1 to 1000000"
                ));
            }
        }
    }
    Ok(factors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_share_the_cores_of_a_machine() {
        assert_eq!(fair_share(8, 8, 1), 8);
        assert_eq!(fair_share(8, 8, 3), 2);
        assert_eq!(fair_share(2, 2, 16), 1);
        // Each process already has its own cores.
        assert_eq!(fair_share(2, 8, 4), 2);
        assert_eq!(fair_share(4, 0, 2), 2);
    }

    #[test]
    fn slow_workers_are_named() {
        let workers = Workers::read(Some("2"), Some("cpu,emulated,gpu3,emulated")).unwrap();
        let slow = |words: &[&str]| slow_factors(words, &workers);
        let wanted = ["cpu1", "emulated1", "gpu3"].map(|name| (name.to_string(), 4.0));
        assert_eq!(slow(&["cpu1=4", "emulated1=4", "none", "gpu3=4"]), Ok(wanted.to_vec()));
        for bad in ["cpu2=4", "cpu0", "gpu0=2", "cpu0=0.5", "cpu0=inf", "emulated2=2"] {
            assert!(slow(&[bad]).is_err(), "{bad}");
        }
    }

    #[test]
    fn devices_are_named() {
        let read = |threads, devices| {
            let workers = Workers::read(threads, devices)?;
            let kinds: Vec<String> =
                workers.devices.specs.iter().map(|spec| spec.kind.to_string()).collect();
            Ok::<_, String>((workers.threads, kinds.join(" ")))
        };
        assert_eq!(read(Some("3"), Some("cpu,gpu2")), Ok((3, "gpu2".into())));
        assert_eq!(read(None, Some("emulated,emulated")), Ok((0, "emulated emulated".into())));
        assert!(read(None, Some("cpu,gpu")).is_ok_and(|(_, gpus)| gpus.starts_with("gpu0")));
        for bad in ["cpu:explorers=2", "gpu:explorers=x", "", "cpu,,gpu"] {
            assert!(read(None, Some(bad)).is_err(), "{bad}");
        }
        for twice in ["gpu0:launch=once,gpu0", "gpu,gpu0", "cpu,gpu0,emulated,gpu0:wait=1"] {
            let why = format!("--devices {twice}: gpu0 is named twice");
            assert_eq!(read(None, Some(twice)), Err(why));
        }
        assert!(read(Some("2"), Some("emulated")).is_err());
    }
}

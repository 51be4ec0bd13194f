//! What the flags of a command line mean together: whether they fit the command, and the settings that they make.

use super::flag::{About, Applies, Group, Item, Lasts, Use, applies};
use super::values::{FlagValues, Saving, unmarked};
use super::verb::Verb;
use super::workers::slow_factors;
use super::{
    BALANCE, CHECKPOINT, EVERY, FLAGS, MEMORY, NODE_LIMIT, NODES, PACE, SEED, SIMD, TIME_LIMIT,
};
use crate::campaign::{Certify, Checkpoint, Search};
use crate::failure::{Failure, usage};
use crate::processes::share_of_memory;
use pleach_core::search::work::Nodes;
use pleach_gpu::DeviceSet;
use pleach_problems::simd::Level;
use pleach_runtime::{RunError, Settings};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::time::Duration;

/// A command with its problem, as messages name it.
#[derive(Clone, Copy)]
pub struct Kind<'a> {
    /// What it does.
    pub verb: Verb,
    /// The problem's name, or that of the user's own command.
    pub problem: &'a str,
    /// The flags that the problem names.
    pub named: &'a [Use],
}

/// Time between two progress snapshots, without and with a trace.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
const PROGRESS_EVERY_TRACED: Duration = Duration::from_millis(10);

impl FlagValues {
    /// As [`FlagValues::check`], for a command without a problem.
    pub fn check_alone(&self, verb: Verb, named: &[Use]) -> Result<(), Failure> {
        self.check(Kind { verb, problem: "", named })
    }

    /// Refuses flags that do not apply to a command, and values that cannot be read.
    ///
    /// # Errors
    /// One line: the first such flag.
    pub fn check(&self, kind: Kind<'_>) -> Result<(), Failure> {
        let Kind { verb, problem, named } = kind;
        let what = [verb.word(), problem].join(" ");
        for flag in FLAGS.iter().filter(|flag| self.has(flag.about().name)) {
            let (about, name) = (flag.about(), flag.about().name);
            let resuming = matches!(about.applies, Applies::To([Verb::Resume]));
            let fits = applies(about, verb, named).is_some();
            if !fits && resuming && self.saving.from.is_none() {
                return usage(format!("--{name} works only with 'resume FILE'"));
            }
            if !fits && !resuming {
                return usage(format!("--{name} does not apply to '{}'", what.trim()));
            }
            flag.check(self)?;
        }
        // Contradictory flags are refused before any file is touched.
        let about_service = FLAGS.iter().any(|flag| {
            flag.about().group == Group::Service && applies(flag.about(), verb, named).is_some()
        });
        if !matches!(verb, Verb::Check | Verb::Devices | Verb::Report | Verb::Audit)
            && !about_service
        {
            self.settings()?;
        }
        if verb != Verb::Sim && self.get(&BALANCE)?.is_some_and(|policy| policy.is_late()) {
            return usage(format!("--balance: {}", RunError::Late));
        }
        if self.has("every") && !self.has("checkpoint") {
            return usage("--every has no effect without --checkpoint FILE");
        }
        self.check_certificate()?;
        if self.has("dashboard") && self.has("quiet") {
            return usage("--dashboard and --quiet contradict each other: give only one of them");
        }
        for name in ["key", "places"] {
            if verb != Verb::Join && self.has(name) && !self.has("listen") {
                return usage(format!("--{name} has no effect without --listen HOST:PORT"));
            }
        }
        Ok(())
    }

    /// Refuses a certificate that cannot be made, before an address is opened for joining processes.
    ///
    /// # Errors
    /// One line: what cannot be combined.
    pub fn check_certificate(&self) -> Result<(), Failure> {
        if !self.has("certificate") {
            return Ok(());
        }
        if self.get(&NODES)? == Some(Nodes::Interval) {
            return usage(
                "--certificate needs open nodes, so it cannot be combined with --nodes interval",
            );
        }
        if self.has("listen") || self.cluster.is_some() {
            return usage("--certificate works only in a single process");
        }
        Ok(())
    }

    /// Workers, limits, balance and seed.
    ///
    /// # Errors
    /// One line: which flag, which value, and what was expected.
    pub fn settings(&self) -> Result<Settings, Failure> {
        let workers = self.workers()?;
        let trace = self.has("trace");
        Ok(Settings {
            threads: workers.threads,
            make_room: self.word("threads").is_none(),
            slow: slow_factors(&self.slow(), &workers).map_err(Failure::Usage)?,
            devices: DeviceSet::shared(workers.devices.specs),
            policy: self.get(&BALANCE)?.unwrap_or_default(),
            time_limit: self.get(&TIME_LIMIT)?.flatten(),
            node_limit: self.get(&NODE_LIMIT)?.flatten(),
            memory: self.memory()?,
            seed: self.get(&SEED)?.unwrap_or(0),
            pace: self.get(&PACE)?,
            best_first: self.on("best-first"),
            trace,
            processes: self.cluster.clone().map(|cluster| cluster as _),
            progress_every: if trace { PROGRESS_EVERY_TRACED } else { PROGRESS_EVERY },
            ..Settings::default()
        })
    }

    /// The memory that open work may take, if it is not the default of a process that is alone on its machine.
    fn memory(&self) -> Result<Option<u64>, Failure> {
        Ok(self.get(&MEMORY)?.or_else(share_of_memory))
    }

    /// How to search; progress is set elsewhere.
    ///
    /// # Errors
    /// One line: which flag, which value, and what was expected.
    pub fn search<'a>(&self) -> Result<Search<'a>, Failure> {
        let every = self.get(&EVERY)?.unwrap_or(Checkpoint::EVERY);
        let Saving { origin, from, .. } = self.saving.clone();
        let checkpoint = self.get(&CHECKPOINT)?.map(|path| Checkpoint {
            path: path.into(),
            every,
            from: from.map(PathBuf::from),
        });
        Ok(Search {
            settings: Settings { about: origin.to_string(), ..self.settings()? },
            simd: self.simd()?,
            nodes: self.get(&NODES)?.unwrap_or(Nodes::Pool),
            checkpoint,
            certify: if self.has("certificate") { Certify::Make } else { Certify::No },
            ..Search::default()
        })
    }

    /// The instructions to use.
    ///
    /// # Errors
    /// One line: which value, and what was expected.
    pub fn simd(&self) -> Result<Level, Failure> {
        Ok(self.get(&SIMD)?.unwrap_or_else(Level::best))
    }

    /// The flags in force, for the report.
    pub fn record(&self) -> Value {
        let mut all = Map::new();
        for flag in FLAGS {
            if let Some(value) = flag.record(self) {
                all.insert(flag.about().name.replace('-', "_"), value);
            }
        }
        all.into()
    }

    /// The flags in force that apply to a command.
    pub fn record_for(&self, verb: Verb, named: &[Use]) -> Value {
        let applying = FLAGS.iter().filter(|flag| applies(flag.about(), verb, named).is_some());
        let record = |flag: &&(dyn Item + Sync)| {
            Some((flag.about().name.replace('-', "_"), flag.record(self)?))
        };
        applying.filter_map(record).collect::<Map<String, Value>>().into()
    }

    /// The flags on the command line that stay in force as `lasts` says, as words.
    pub fn lasting(&self, lasts: &[Lasts]) -> Vec<String> {
        let all = FLAGS.iter().map(|flag| flag.about());
        let all = all.filter(|about| lasts.contains(&about.lasts) && self.has(about.name));
        let words = |about: &About| -> Vec<String> {
            let name = about.name;
            match about.value {
                None => vec![format!("--{name}")],
                Some(_) => {
                    let values = self.matches.get_many::<String>(name).into_iter().flatten();
                    values.map(|value| format!("--{name}={}", unmarked(value))).collect()
                }
            }
        };
        all.flat_map(words).collect()
    }

    /// The first frozen flag on the command line.
    pub fn frozen(&self) -> Option<&'static str> {
        let frozen = |flag: &&&(dyn Item + Sync)| flag.about().lasts == Lasts::Frozen;
        let all = FLAGS.iter().filter(frozen).map(|flag| flag.about().name);
        all.into_iter().find(|name| self.has(name))
    }
}

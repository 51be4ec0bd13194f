//! [`FlagValues`]: the flags of a command line, read one by one, and the settings that they make.

use super::units::{Units, slow_factors};
use super::{
    About, Applies, BALANCE, CHECKPOINT, EVERY, FLAGS, Flag, Lasts, MEMORY, NODE_LIMIT, NODES,
    PACE, SEED, SIMD, TIME_LIMIT, Use, Verb, WORD, applies,
};
use crate::campaign::{Checkpoint, Search};
use crate::loops::inputs::Files;
use clap::ArgMatches;
use clap::parser::ValueSource;
use pleach_cluster::Cluster;
use pleach_core::search::work::Nodes;
use pleach_gpu::DeviceSet;
use pleach_problems::simd::Level;
use pleach_runtime::Settings;
use serde_json::{Map, Value};
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The flags of a command line.
pub struct FlagValues {
    matches: ArgMatches,
    /// Looked for once: to ask for GPUs takes time.
    units: OnceCell<Result<Units, String>>,
    /// How the search is saved, as the command line says it.
    pub saving: Saving,
    /// The processes that search together, if this one is not alone.
    pub cluster: Option<Arc<Cluster>>,
    /// The texts of input files, by their words: as they were read, or as another process has sent them.
    pub texts: Texts,
    /// The same of loops, whose files need not be texts.
    pub files: RefCell<Files>,
}

/// Texts by the words that name their files.
pub type Texts = RefCell<BTreeMap<String, String>>;

/// What is written beside a saved search.
#[derive(Clone, Debug, Default)]
pub struct Saving {
    /// The words, the flags and the prints of the input files.
    pub origin: Value,
    /// The file that `resume` names.
    pub from: Option<String>,
}

/// A command with its problem, as messages name it.
#[derive(Clone, Copy)]
pub struct Kind<'a> {
    /// What it does.
    pub verb: Verb,
    /// The problem's name, or the own command's.
    pub problem: &'a str,
    /// The flags that the problem names.
    pub named: &'a [Use],
}

/// Time between two looks at a run, and at one that is traced.
const LOOK: Duration = Duration::from_millis(100);
const LOOK_TRACED: Duration = Duration::from_millis(10);

impl FlagValues {
    /// The flags that were parsed.
    pub fn new(matches: ArgMatches) -> Self {
        Self {
            matches,
            units: OnceCell::new(),
            saving: Saving::default(),
            cluster: None,
            texts: Texts::default(),
            files: RefCell::default(),
        }
    }

    /// Whether a flag is on the command line.
    pub fn has(&self, name: &str) -> bool {
        self.matches.value_source(name) == Some(ValueSource::CommandLine)
    }

    /// Whether a switch is on.
    pub fn on(&self, name: &str) -> bool {
        self.matches.get_flag(name)
    }

    /// A flag's value as it was written; the last one if there are several.
    pub fn word(&self, name: &str) -> Option<&str> {
        let word = self.matches.get_many::<String>(name)?.next_back()?;
        // A value that begins with a dash and has a blank was marked as a word.
        Some(word.strip_prefix(WORD).unwrap_or(word))
    }

    /// A flag's value as a path.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.word(name).map(PathBuf::from)
    }

    /// A flag's value.
    ///
    /// # Errors
    /// One line: which flag, which value, and what was expected.
    pub fn get<T>(&self, flag: &Flag<T>) -> Result<Option<T>, String> {
        let About { name, value, .. } = flag.about;
        let Some(word) = value.and_then(|_| self.word(name)) else { return Ok(None) };
        (flag.parse)(word).map(Some).map_err(|why| format!("--{name} {why}"))
    }

    /// The slowed units as they were written.
    pub fn slow(&self) -> Vec<&str> {
        let words = self.matches.get_many::<String>("slow").into_iter().flatten();
        words.flat_map(|word| word.split(',')).collect()
    }

    /// The units.
    ///
    /// # Errors
    /// One line: which flag, which value, and what was expected.
    pub fn units(&self) -> Result<Units, String> {
        let read = || Units::read(self.word("threads"), self.word("devices"));
        self.units.get_or_init(read).clone()
    }

    /// The words before the flags.
    pub fn words(&self) -> Vec<String> {
        self.matches.get_many("words").map(|all| all.cloned().collect()).unwrap_or_default()
    }

    /// Refuses flags that do not apply to a command, and values that cannot be read.
    ///
    /// # Errors
    /// One line: the first such flag.
    pub fn check(&self, kind: Kind<'_>) -> Result<(), String> {
        let Kind { verb, problem, named } = kind;
        let what = [verb.word(), problem].join(" ");
        for flag in FLAGS.iter().filter(|flag| self.has(flag.about().name)) {
            let (about, name) = (flag.about(), flag.about().name);
            let resuming = matches!(about.applies, Applies::To([Verb::Resume]));
            let fits = applies(about, verb, named).is_some();
            if !fits && resuming && self.saving.from.is_none() {
                return Err(format!("--{name} works only with 'resume FILE'"));
            }
            if !fits && !resuming {
                return Err(format!("--{name} does not apply to '{}'", what.trim()));
            }
            flag.check(self)?;
        }
        // What flags mean together is seen before any file is touched.
        if !matches!(verb, Verb::Check | Verb::Devices | Verb::Report) {
            self.settings()?;
        }
        if self.has("every") && !self.has("checkpoint") {
            return Err("--every has no effect without --checkpoint FILE".into());
        }
        if self.has("dashboard") && self.has("quiet") {
            return Err("--dashboard and --quiet contradict each other: leave one out".into());
        }
        for name in ["key", "places"] {
            if verb != Verb::Join && self.has(name) && !self.has("listen") {
                return Err(format!("--{name} has no effect without --listen HOST:PORT"));
            }
        }
        Ok(())
    }

    /// Units, limits, balance and seed.
    ///
    /// # Errors
    /// One line: which flag, which value, and what was expected.
    pub fn settings(&self) -> Result<Settings, String> {
        let units = self.units()?;
        let trace = self.has("trace");
        Ok(Settings {
            threads: units.threads,
            make_room: self.word("threads").is_none(),
            slow: slow_factors(&self.slow(), &units)?,
            devices: DeviceSet::shared(units.devices.specs),
            policy: self.get(&BALANCE)?.unwrap_or_default(),
            time_limit: self.get(&TIME_LIMIT)?.flatten(),
            node_limit: self.get(&NODE_LIMIT)?.flatten(),
            memory: self.get(&MEMORY)?,
            seed: self.get(&SEED)?.unwrap_or(0),
            pace: self.get(&PACE)?,
            trace,
            processes: self.cluster.clone().map(|cluster| cluster as _),
            look_every: if trace { LOOK_TRACED } else { LOOK },
            ..Settings::default()
        })
    }

    /// How to search, but for progress.
    ///
    /// # Errors
    /// One line: which flag, which value, and what was expected.
    pub fn search<'a>(&self) -> Result<Search<'a>, String> {
        let every = self.get(&EVERY)?.unwrap_or(Checkpoint::EVERY);
        let Saving { origin, from } = self.saving.clone();
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
            ..Search::default()
        })
    }

    /// The instructions to use.
    ///
    /// # Errors
    /// One line: which value, and what was expected.
    pub fn simd(&self) -> Result<Level, String> {
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

    /// Those of the flags in force that apply to a command.
    pub fn record_for(&self, verb: Verb, named: &[Use]) -> Value {
        let applying = FLAGS.iter().filter(|flag| applies(flag.about(), verb, named).is_some());
        let record = |flag: &&(dyn super::Item + Sync)| {
            Some((flag.about().name.replace('-', "_"), flag.record(self)?))
        };
        applying.filter_map(record).collect::<Map<String, Value>>().into()
    }

    /// The flags on the command line as words, those that last at least so long.
    pub fn lasting(&self, lasts: &[Lasts]) -> Vec<String> {
        let all = FLAGS.iter().map(|flag| flag.about());
        let all = all.filter(|about| lasts.contains(&about.lasts) && self.has(about.name));
        let words = |about: &About| -> Vec<String> {
            let name = about.name;
            match about.value {
                None => vec![format!("--{name}")],
                Some(_) => {
                    let values = self.matches.get_many::<String>(name).into_iter().flatten();
                    values.map(|value| format!("--{name}={value}")).collect()
                }
            }
        };
        all.flat_map(words).collect()
    }

    /// The first frozen flag on the command line.
    pub fn frozen(&self) -> Option<&'static str> {
        let frozen = |flag: &&&(dyn super::Item + Sync)| flag.about().lasts == Lasts::Frozen;
        let all = FLAGS.iter().filter(frozen).map(|flag| flag.about().name);
        all.into_iter().find(|name| self.has(name))
    }
}

//! [`Entry`]: a problem as the command knows it; [`Request`]: what a command line asks of it.

use super::instances::NamedInstance;
use super::simulated_load::{Load, SimulatedLoad};
use crate::campaign::{Best, Inspection, Search, plain};
use crate::cli::flags::{self, FlagValues, Use, Verb};
use crate::failure::{Failure, usage};
use crate::input::{text_of, text_of_stdin};
use crate::report::{Labels, Report};
use pleach_core::search::problem::Problem;
use pleach_problems::simd::Level;
use serde_json::Value;
use std::io::ErrorKind;

/// A problem.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// A short description.
    pub about: &'static str,
    /// What names an instance.
    pub instance: &'static str,
    /// The instances that have names.
    pub instances: fn() -> Vec<NamedInstance>,
    /// Whether a word for an instance means a file.
    pub is_file: fn(&str) -> bool,
    /// Whether larger values are better.
    pub maximises: bool,
    /// What can be done with it.
    pub tasks: &'static [Task],
    /// Draws a solution, if the problem has pictures.
    pub draws: Option<Draw>,
    /// How it is simulated, if it can be simulated.
    pub simulation: Option<Simulation>,
    /// What `devices` measures.
    pub rates: &'static [Rate],
    /// The instances with which `devices --check` tests its kernels.
    pub probes: &'static [Probe],
}

impl Entry {
    /// A problem without names, pictures, simulations or devices.
    pub const PLAIN: Self = Self {
        name: "",
        about: "",
        instance: "",
        instances: Vec::new,
        is_file: |_| false,
        maximises: false,
        tasks: &[],
        draws: None,
        simulation: None,
        rates: &[],
        probes: &[],
    };
}

/// Something that can be done with a problem.
#[derive(Clone, Copy)]
pub struct Task {
    /// The command.
    pub verb: Verb,
    /// Its flags, in addition to the general ones.
    pub flags: &'static [Use],
    /// Whole command lines to show as examples, without the program's name.
    pub examples: &'static [&'static str],
    /// The code for it.
    pub act: Act,
}

/// How a task is done.
#[derive(Clone, Copy)]
pub enum Act {
    /// Reads the instance, and returns a function that searches.
    Search(fn(&Request<'_>) -> Result<Start<'static>, Failure>),
    /// Computes the value of the solution in a file.
    Check(fn(&Request<'_>, &str) -> Result<Checked, Failure>),
}

/// Draws a solution, given by its numbers as results have them: a picture (SVG) and the solution's value.
pub type Draw = fn(&Request<'_>, &[i64]) -> Result<(String, i64), Failure>;

/// A solution that was checked.
pub struct Checked {
    /// What it is, such as "a tour of length".
    pub phrase: &'static str,
    /// Its value.
    pub value: i64,
    /// How the value is written.
    pub labels: Labels,
    /// The files that flags ask for.
    pub files: Vec<SolutionFile>,
}

/// What a command line asks of a problem.
pub struct Request<'a> {
    /// The word for the instance.
    pub instance: &'a str,
    /// The flags.
    pub given: &'a FlagValues,
    /// Whether a saved search is resumed; its checkpoint then has the starting solution.
    pub resumed: bool,
    /// Whether another process has started the search.
    pub follows: bool,
    /// Prints a note, apart from the result.
    pub note: &'a dyn Fn(&str),
}

/// A search that is ready to run, or to be inspected if it was saved.
pub struct Start<'p> {
    /// How its values and solutions are written.
    pub labels: Labels,
    /// Runs or inspects it.
    pub search: StartSearch<'p>,
}

/// Runs or inspects a search.
pub type StartSearch<'p> = Box<dyn FnOnce(Search<'_>, Mode) -> Result<Ended, Failure> + 'p>;

impl<'p> Start<'p> {
    /// A search whose values and solutions are written as plain numbers.
    pub fn new(search: impl FnOnce(Search<'_>, Mode) -> Result<Ended, Failure> + 'p) -> Self {
        Self { labels: Labels::default(), search: Box::new(search) }
    }
}

/// Whether to run a search, or to inspect one that has begun: to read its checkpoint, or, if another process
/// leads it, to take part in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Run,
    Inspect,
}

/// The outcome of a search.
pub enum Ended {
    /// A report.
    Done(Box<Done>),
    /// The inspection of a search that has begun.
    Inspection(Box<Inspection>),
}

/// A search that has ended.
pub struct Done {
    /// What it found and proved.
    pub report: Report,
    /// Entries of `settings` beyond the flags.
    pub settings: Vec<(&'static str, Value)>,
    /// The files that flags ask for and the problem writes about its solution, each with the flag's name.
    pub files: Vec<SolutionFile>,
}

/// What a problem writes about a solution, after the name of the flag that asks for it.
pub type SolutionFile = (&'static str, String);

impl Ended {
    /// Runs or inspects the search of a problem that needs no preparation; nothing is added to its report.
    ///
    /// # Errors
    /// If the machine fails, a solution fails its check, or the checkpoint file holds another search.
    pub fn plain(
        problem: &dyn Problem,
        best: Option<i64>,
        mut search: Search<'_>,
        mode: Mode,
    ) -> Result<Self, Failure> {
        Ok(match mode {
            Mode::Run => {
                let report = plain::run(problem, best, &mut search)?;
                Ended::Done(Box::new(Done { report, settings: Vec::new(), files: Vec::new() }))
            }
            Mode::Inspect => {
                Ended::Inspection(Box::new(plain::inspect(problem, best, &mut search)?))
            }
        })
    }
}

/// How a problem is simulated.
#[derive(Clone, Copy)]
pub struct Simulation {
    /// The flags that stand for keys of its load.
    pub flags: &'static [Use],
    /// Whether its work can be held as intervals.
    pub intervals: bool,
    /// Makes the problem.
    pub make_load: fn(&Load, &FlagValues) -> Result<SimulatedLoad, Failure>,
}

/// A rate that `devices` measures.
#[derive(Clone, Copy)]
pub struct Rate {
    /// What is measured.
    pub name: &'static str,
    /// The problem.
    pub problem: fn(Level) -> Result<Box<dyn Problem>, String>,
    /// Whether devices are measured with it as well.
    pub on_devices: bool,
}

/// An instance with which `devices --check` tests a kernel.
#[derive(Clone, Copy)]
pub struct Probe {
    /// Its name.
    pub instance: &'static str,
    /// Reads it.
    pub make_check: fn(Level) -> Result<Check, String>,
    /// Whether every search of it explores the same nodes.
    pub exact: bool,
    /// Whether it is too large for the emulated device.
    pub large: bool,
}

impl Probe {
    /// An instance that every device can search, each time exploring the same nodes.
    pub const fn new(
        instance: &'static str,
        make_check: fn(Level) -> Result<Check, String>,
    ) -> Self {
        Self { instance, make_check, exact: true, large: false }
    }

    /// The same, if the nodes depend on the order of the search.
    pub const fn varying(self) -> Self {
        Self { exact: false, ..self }
    }

    /// The same, if it is too large for the emulated device.
    pub const fn large(self) -> Self {
        Self { large: true, ..self }
    }
}

/// A problem to check a kernel with, and the value to beat.
pub struct Check {
    pub problem: Box<dyn Problem>,
    pub best: Option<i64>,
}

impl Entry {
    /// The task that a command performs on this problem.
    pub fn task(&self, verb: Verb) -> Option<&Task> {
        self.tasks.iter().find(|task| task.verb == verb)
    }
}

/// The entry of a problem.
pub fn entry<'r>(registry: &'r [Entry], name: &str) -> Option<&'r Entry> {
    registry.iter().find(|entry| entry.name == name)
}

/// The names of the problems that pass a test, as a phrase.
pub fn names(registry: &[Entry], passes: impl Fn(&Entry) -> bool) -> String {
    let names: Vec<&str> =
        registry.iter().filter(|entry| passes(entry)).map(|entry| entry.name).collect();
    match &names[..] {
        [] => "no problem".into(),
        [only] => (*only).into(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

impl<'a> Request<'a> {
    /// A request of the first process of a new search, which prints no notes.
    pub fn new(instance: &'a str, given: &'a FlagValues) -> Self {
        Self { instance, given, resumed: false, follows: false, note: &|_| {} }
    }

    /// The text of the instance's file, or of standard input.
    ///
    /// # Errors
    /// If it cannot be read; `expected` says what the word may be.
    pub fn text(&self, expected: &str) -> Result<String, Failure> {
        let word = self.instance;
        let texts = &self.given.texts;
        if let Some(text) = texts.borrow().get(word) {
            return Ok(text.clone());
        }
        let text = if word != "-" {
            text_of(word).or_else(|why| match why.kind() {
                // The file exists, so its name needs no advice.
                ErrorKind::InvalidData => usage(format!("{word}: {why}")),
                _ => usage(format!("{word}: {why}; expected {expected}")),
            })?
        } else if self.given.has("checkpoint") {
            return usage(
                "--checkpoint cannot be combined with '-', because resuming reads the instance again; \
                 put it into a file",
            );
        } else {
            text_of_stdin().or_else(|why| usage(format!("standard input: {why}")))?
        };
        texts.borrow_mut().insert(word.into(), text.clone());
        Ok(text)
    }

    /// The text of another file that the line names.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn file(&self, path: &str) -> Result<String, Failure> {
        if let Some(text) = self.given.texts.borrow().get(path) {
            return Ok(text.clone());
        }
        let text = text_of(path).or_else(|why| usage(format!("{path}: {why}")))?;
        self.given.texts.borrow_mut().insert(path.into(), text.clone());
        Ok(text)
    }

    /// The built-in instance of this name, or else the one in this file.
    ///
    /// # Errors
    /// If it cannot be read; `expected` says what the word may be.
    pub fn read<T>(
        &self,
        expected: &str,
        named: fn(&str) -> Option<Result<T, String>>,
        read: fn(&str) -> Result<T, String>,
    ) -> Result<T, Failure> {
        let name = self.name();
        if let Some(instance) = self.built_in(named) {
            return instance.or_else(|why| usage(format!("{name}: {why}")));
        }
        read(&self.text(expected)?).or_else(|why| usage(format!("{name}{why}")))
    }

    /// The built-in instance of this name, unless a file here takes precedence.
    pub fn built_in<T>(&self, named: fn(&str) -> Option<T>) -> Option<T> {
        named(self.instance).filter(|_| !self.hides_a_name())
    }

    /// Whether an instance with the name of a built-in one is a file here: the file then takes precedence.
    fn hides_a_name(&self) -> bool {
        if self.follows {
            // The process that started the search has read the file, if there is one.
            return self.given.texts.borrow().contains_key(self.instance);
        }
        let hides = is_here(self.instance);
        if hides && !self.given.on("quiet") && !self.given.on("json") {
            let word = self.instance;
            (self.note)(&format!(
                "reading the file {word}, not the built-in instance of that name"
            ));
        }
        hides
    }

    /// The instance as messages name it.
    pub fn name(&self) -> &str {
        if self.instance == "-" { "standard input" } else { self.instance }
    }
}

/// Whether a word is a file in the current folder.
pub(super) fn is_here(word: &str) -> bool {
    std::path::Path::new(word).is_file()
}

/// The value to beat for a problem with heuristics; `optimum` returns the published optimum of the instance.
///
/// # Errors
/// One line: what is wrong with `--best`.
pub(super) fn best(
    request: &Request<'_>,
    optimum: impl Fn(&str) -> Result<i64, Failure>,
) -> Result<Best, Failure> {
    let named = request.given.get(&flags::BEST)?;
    Ok(match named.unwrap_or(flags::Start::Search) {
        flags::Start::None => Best::None,
        flags::Start::Neh => Best::Neh,
        flags::Start::Search => Best::Search,
        flags::Start::Value(value) => Best::Value(value),
        flags::Start::Decimal => {
            let word = request.given.word("best").unwrap_or_default();
            return usage(format!("--best {word}: expected a whole number for {}", request.name()));
        }
        flags::Start::Optimum if is_here(request.instance) => {
            let word = request.instance;
            return usage(format!("--best optimum: no optimum is published for the file {word}"));
        }
        flags::Start::Optimum => Best::Reach(optimum(request.instance)?),
    })
}

/// The published optimum of an instance, as `--best optimum` needs it.
///
/// # Errors
/// If there is none.
pub(super) fn published(word: &str, optimum: Option<i64>) -> Result<i64, Failure> {
    let none = || Failure::Usage(format!("--best optimum: no optimum is published for {word}"));
    optimum.ok_or_else(none)
}

/// The value of a flag with named choices; `None` for `auto`.
///
/// # Errors
/// One line: which flag, which value, and what was expected.
pub(super) fn choice<T>(
    flag: &str,
    word: Option<&str>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, Failure> {
    let named = word.filter(|&word| word != "auto").map(parse).transpose();
    named.map_err(|why| Failure::Usage(format!("--{flag} {why}")))
}

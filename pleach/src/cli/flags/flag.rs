//! [`Flag`]: a flag's name and help, its parser, where it applies, and how it is recorded.

use super::values::FlagValues;
use super::verb::Verb;
use crate::failure::{Failure, usage};
use clap::{Arg, ArgAction};
use serde_json::{Value, json};

/// A flag whose value is a `T`.
pub struct Flag<T: 'static> {
    /// Its name and help, and where it belongs.
    pub about: About,
    /// Parses its value; an error message continues after `--NAME`.
    pub parse: fn(&str) -> Result<T, String>,
}

impl Flag<String> {
    /// A flag whose value is kept as it was written.
    pub const fn text(about: About) -> Self {
        Self { about, parse: |word| Ok(word.into()) }
    }
}

impl Flag<()> {
    /// A flag without a value.
    pub const fn switch(about: About) -> Self {
        Self { about, parse: |_| Ok(()) }
    }
}

/// The name and help of a flag, and where it belongs.
#[derive(Clone, Copy)]
pub struct About {
    /// Its name, without the dashes.
    pub name: &'static str,
    /// What its value is called; `None` for a switch.
    pub value: Option<&'static str>,
    /// What it does.
    pub help: &'static str,
    /// What applies without it; empty for a switch that is off.
    pub default: &'static str,
    /// The heading under which help shows it.
    pub group: Group,
    /// Where it applies.
    pub applies: Applies,
    /// How long it stays in force.
    pub lasts: Lasts,
    /// How often it may be given.
    pub accepts: Accepts,
    /// Its values, where they have names.
    pub choices: fn() -> Vec<String>,
    /// Its entry in `settings`.
    pub record: Record,
}

impl About {
    /// What most flags have in common.
    pub const BASE: Self = Self {
        name: "",
        value: None,
        help: "",
        default: "",
        group: Group::Search,
        applies: Applies::Named,
        lasts: Lasts::OneRun,
        accepts: Accepts::One,
        choices: Vec::new,
        record: Record::No,
    };

    /// The same for a switch.
    pub const fn named(self, name: &'static str, help: &'static str) -> Self {
        Self { name, help, ..self }
    }

    /// The same for a flag with a value.
    pub const fn valued(self, name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self { value: Some(value), ..self.named(name, help) }
    }
}

/// What `settings` records of a flag.
#[derive(Clone, Copy)]
pub enum Record {
    /// Nothing.
    No,
    /// Its value as it was written, or null without it; whether a switch is on.
    Value,
    /// The same, if it is given.
    IfGiven,
    /// Its value as it was written, or else its default.
    ValueOrDefault,
    /// An entry of its own, if it has one.
    Own(fn(&FlagValues) -> Option<Value>),
}

/// How often a flag may be given.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Accepts {
    /// Once; a second one is an error.
    One,
    /// Several times, each with its own value.
    Several,
}

/// The headings of help, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    Search,
    Workers,
    Limits,
    Processes,
    Service,
    Output,
}

impl Group {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Search, Self::Workers, Self::Limits, Self::Processes, Self::Service, Self::Output];

    /// The heading.
    pub fn heading(self) -> &'static str {
        match self {
            Group::Search => "Search",
            Group::Workers => "Workers and balance",
            Group::Limits => "Limits and saving",
            Group::Processes => "Several processes",
            Group::Service => "Service",
            Group::Output => "Output",
        }
    }
}

/// Where a flag applies.
#[derive(Clone, Copy)]
pub enum Applies {
    /// To these commands, whatever the problem.
    To(&'static [Verb]),
    /// Everywhere.
    Everywhere,
    /// Where a problem names it.
    Named,
}

/// How long a flag stays in force.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lasts {
    /// It defines the search: a checkpoint keeps it, and a resume may not change it.
    Frozen,
    /// A checkpoint keeps it, and a resume may change it.
    Kept,
    /// It applies to one run only.
    OneRun,
}

/// A flag of any type.
pub trait Item {
    /// Its name and help, and where it belongs.
    fn about(&self) -> &About;
    /// Refuses a value that cannot be read.
    fn check(&self, given: &FlagValues) -> Result<(), Failure>;
    /// Its entry in `settings`.
    fn record(&self, given: &FlagValues) -> Option<Value>;
}

impl FlagValues {
    /// A flag's value.
    ///
    /// # Errors
    /// One line: which flag, which value, and what was expected.
    pub fn get<T>(&self, flag: &Flag<T>) -> Result<Option<T>, Failure> {
        let About { name, value, .. } = flag.about;
        let Some(word) = value.and_then(|_| self.word(name)) else { return Ok(None) };
        (flag.parse)(word).map(Some).or_else(|why| usage(format!("--{name} {why}")))
    }
}

impl<T> Item for Flag<T> {
    fn about(&self) -> &About {
        &self.about
    }

    fn check(&self, given: &FlagValues) -> Result<(), Failure> {
        given.get(self).map(|_| ())
    }

    fn record(&self, given: &FlagValues) -> Option<Value> {
        let About { name, value, default, record, .. } = self.about;
        let written = || match value {
            Some(_) => json!(given.word(name)),
            None => json!(given.on(name)),
        };
        match record {
            Record::No => None,
            Record::Value => Some(written()),
            Record::IfGiven => given.has(name).then(written),
            Record::ValueOrDefault => Some(json!(given.word(name).unwrap_or(default))),
            Record::Own(record) => record(given),
        }
    }
}

/// A flag that a problem has, with the problem's own help and default where they differ.
#[derive(Clone, Copy)]
pub struct Use {
    /// The flag's name.
    pub flag: &'static str,
    /// What it does here.
    pub help: Option<&'static str>,
    /// What applies without it here.
    pub default: Option<&'static str>,
    /// Its values here, where they have names.
    pub choices: Option<fn() -> Vec<String>>,
}

impl Use {
    /// With the flag's own help.
    pub const fn plain(flag: &'static str) -> Self {
        Self { flag, help: None, default: None, choices: None }
    }

    /// With the problem's own help.
    pub const fn with(flag: &'static str, help: &'static str, default: &'static str) -> Self {
        Self { flag, help: Some(help), default: Some(default), choices: None }
    }

    /// With the problem's own values.
    pub const fn among(self, choices: fn() -> Vec<String>) -> Self {
        Self { choices: Some(choices), ..self }
    }
}

/// The names of some values.
pub fn listed<T: std::fmt::Display>(all: &[T]) -> Vec<String> {
    all.iter().map(T::to_string).collect()
}

/// The name and help of a flag, if it applies.
pub fn applies(about: &About, verb: Verb, named: &[Use]) -> Option<About> {
    let own = named.iter().find(|own| own.flag == about.name);
    let applies = match about.applies {
        Applies::Everywhere => true,
        Applies::To(verbs) => verbs.contains(&verb),
        Applies::Named => own.is_some(),
    };
    let said = own.map_or(*about, |own| About {
        help: own.help.unwrap_or(about.help),
        default: own.default.unwrap_or(about.default),
        choices: own.choices.unwrap_or(about.choices),
        ..*about
    });
    applies.then_some(said)
}

/// The flag as an argument for `clap`, which parses it and shows its help.
pub fn argument(about: &About) -> Arg {
    let help = match about.default {
        "" => about.help.to_string(),
        default => format!("{} [default: {default}]", about.help),
    };
    let arg = Arg::new(about.name).long(about.name).help(wrapped(&help));
    let arg = arg.help_heading(about.group.heading());
    let Some(value) = about.value else { return arg.action(ArgAction::SetTrue) };
    let arg = arg.value_name(value).allow_negative_numbers(true);
    let several = about.accepts == Accepts::Several;
    arg.action(if several { ArgAction::Append } else { ArgAction::Set })
}

/// The width of a flag's help, in columns.
const HELP_WIDTH: usize = 70;

/// Breaks a text into lines of limited length.
fn wrapped(text: &str) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for word in text.split(' ') {
        let length = word.chars().count() + 1;
        let full = column > 0 && column + length > HELP_WIDTH;
        out.push_str(if full {
            "\n"
        } else if column > 0 {
            " "
        } else {
            ""
        });
        column = if full { length } else { column + length };
        out.push_str(word);
    }
    out
}

//! Parses the arguments of a process into words and flags.

use super::flags::{FLAGS, FlagValues, Verb, WORD, argument};
use crate::failure::{Failure, usage};
use clap::error::{ContextKind, ErrorKind};
use clap::{Arg, ArgAction, Command};
use std::ffi::OsString;

/// A command line: words, then flags.
pub struct Line {
    /// The words.
    pub words: Vec<String>,
    /// The flags.
    pub given: FlagValues,
}

impl Line {
    /// The command that the first word names.
    pub fn verb(&self) -> Option<Verb> {
        Verb::of(self.words.first()?)
    }
}

/// Parses arguments, without the program's name.
///
/// # Errors
/// One line: what is wrong with them.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Line, Failure> {
    let args = args.into_iter().map(|arg| match arg.into_string() {
        Ok(word) if is_word(&word) => format!("{WORD}{word}").into(),
        Ok(word) => word.into(),
        Err(arg) => arg,
    });
    let wrong = |why: clap::Error| usage(format!("{} (see --help)", one_line(&why)));
    let matches = command().try_get_matches_from(args).or_else(wrong)?;
    let given = FlagValues::new(matches);
    Ok(Line { words: given.words(), given })
}

/// Parses the words and flags of a saved search, followed by flags that replace some of them.
///
/// # Errors
/// One line: what is wrong with them.
pub fn parse_again(words: &[String], flags: Vec<String>) -> Result<Line, Failure> {
    let args = flags.into_iter().chain(["--".into()]).chain(words.iter().cloned());
    let matches = command().args_override_self(true).try_get_matches_from(args);
    let matches = matches.or_else(|why| usage(one_line(&why)))?;
    Ok(Line { words: words.to_vec(), given: FlagValues::new(matches) })
}

/// A word, or a flag with its value.
pub struct Argument<'a> {
    /// It, as one or two arguments of the process.
    pub args: &'a [String],
    /// The flag's name.
    pub flag: Option<&'a str>,
    /// The flag's value.
    pub value: Option<&'a str>,
}

/// Divides the arguments of a process into words and flags, without checking them.
pub fn arguments(mut args: &[String]) -> impl Iterator<Item = Argument<'_>> {
    std::iter::from_fn(move || {
        let flag = args.first()?.strip_prefix("--");
        let (flag, mut value) = match flag.and_then(|flag| flag.split_once('=')) {
            Some((name, value)) => (Some(name), Some(value)),
            None => (flag, None),
        };
        let about = FLAGS.iter().map(|it| it.about()).find(|about| Some(about.name) == flag);
        let separate = value.is_none() && about.is_some_and(|about| about.value.is_some());
        let all = args.split_at_checked(1 + usize::from(separate)).unwrap_or((args, &[]));
        let (these, rest) = all;
        args = rest;
        value = value.or(these.get(1).map(String::as_str));
        Some(Argument { args: these, flag, value })
    })
}

/// Refuses words beyond those that a command takes.
pub fn no_more(words: &[String], most: usize) -> Result<(), Failure> {
    match words.get(most) {
        Some(word) => {
            usage(format!("unexpected argument '{word}' after '{}'", words[..most].join(" ")))
        }
        None => Ok(()),
    }
}

/// Whether an argument begins like a flag but is a word, since no flag has a blank in its name.
fn is_word(arg: &str) -> bool {
    arg.starts_with('-') && arg.split('=').next().is_some_and(|name| name.contains(' '))
}

fn command() -> Command {
    let version = Arg::new("version").long("version").short('V').action(ArgAction::SetTrue);
    // A priority may be negative.
    let words = Arg::new("words").value_name("ARGUMENTS").num_args(0..);
    let words = words.allow_negative_numbers(true);
    Command::new("pleach")
        .no_binary_name(true)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .arg(version)
        .arg(words)
        .args(FLAGS.iter().map(|flag| argument(flag.about())))
        .mut_arg("help", |help| help.short('h'))
        .mut_arg("out", |out| out.short('o'))
}

/// The message of a parse error in one line; the message ends at its first empty line.
fn one_line(why: &clap::Error) -> String {
    if why.kind() == ErrorKind::InvalidUtf8 {
        return "an argument is not valid UTF-8".into();
    }
    let text = why.to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    let said = lines.collect::<Vec<_>>().join(" ");
    let near = why.get(ContextKind::SuggestedArg);
    let near = near.map_or(String::new(), |near| format!(": did you mean '{near}'?"));
    format!("{}{near}", said.trim_start_matches("error: "))
}

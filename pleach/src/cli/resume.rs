//! Saved searches: what their files say about them, and the command line that resumes them.

use super::files::READ;
use super::flags::{FlagValues, Lasts, Saving};
use super::line::{Line, parse_again};
use super::order_text::name_of;
use crate::campaign::described;
use crate::failure::{Failure, usage};
use pleach_core::wire::fingerprint;
use pleach_runtime::load;
use serde_json::{Map, Value, json};
use std::path::{Path, absolute};

/// What a checkpoint says about itself: the program, the command line, and its input files with their paths and
/// fingerprints.
pub fn origin(program: &str, words: &[String], inputs: &[String], given: &FlagValues) -> Value {
    let input = |word: &String| {
        let place = absolute(word).ok()?.to_string_lossy().into_owned();
        Some((word.clone(), json!({ "path": place, "print": print_of(Path::new(word))? })))
    };
    let flags = read_again().filter_map(|flag| Some(given.word(flag)?.to_string()));
    let words_of_files: Vec<String> = inputs.iter().cloned().chain(flags).collect();
    let files: Map<String, Value> = words_of_files.iter().filter_map(input).collect();
    with_flags(
        json!({ "program": program, "words": words, "flags": lasting(given), "files": files }),
        given,
    )
}

/// The flags that name files which a resumed search reads, too. It has its starting solution.
fn read_again() -> impl Iterator<Item = &'static str> {
    READ.into_iter().filter(|&flag| flag != "start")
}

/// The same with the texts that were read, for other processes, which have no files.
fn with_flags(mut origin: Value, given: &FlagValues) -> Value {
    if given.cluster.is_some() {
        origin["texts"] = json!(*given.texts.borrow());
    }
    origin
}

/// The same for a resumed search: its words stay as they were, flags may be new.
pub fn origin_again(given: &FlagValues) -> Value {
    let mut origin = given.saving.origin.clone();
    origin["flags"] = json!(lasting(given));
    with_flags(origin, given)
}

/// The flags that a checkpoint remembers. Outputs keep their original paths, wherever the search is
/// resumed.
fn lasting(given: &FlagValues) -> Vec<String> {
    let mut flags = given.lasting(&[Lasts::Frozen, Lasts::Kept]);
    for flag in &mut flags {
        let outputs = ["--solution=", "--gantt=", "--schedule="];
        let output = outputs.into_iter().find(|name| flag.starts_with(name));
        if let Some((name, path)) = output.map(|name| flag.split_at(name.len()))
            && let Ok(path) = absolute(path)
        {
            *flag = format!("{name}{}", path.display());
        }
    }
    flags
}

/// The fingerprint of a file's content, if the file exists.
fn print_of(path: &Path) -> Option<u64> {
    let bytes = path.is_file().then(|| std::fs::read(path).ok())??;
    Some(fingerprint("file", &bytes))
}

/// The fingerprint of an input file in a checkpoint. Early checkpoints have nothing else.
fn saved_print(file: &Value) -> Option<u64> {
    file["print"].as_u64().or_else(|| file.as_u64())
}

/// The strings of a list.
fn strings(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|word| Some(word.as_str()?.to_string())).collect()
}

/// Whether a checkpoint file holds the search that is being started; that search is then resumed.
///
/// # Errors
/// If the file holds another search, or is not a checkpoint.
pub fn holds(path: &Path, origin: &Value) -> Result<bool, Failure> {
    let shown = path.display();
    let Ok(about) = std::fs::metadata(path) else { return Ok(false) };
    let mark = pleach_core::wire::ContentKind::Checkpoint.mark();
    // A device may be endless, so only regular files are read.
    let begins = || std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(&mark));
    // A file that is not a checkpoint is refused when the search begins.
    if about.len() == 0 || !about.is_file() || !begins() {
        return Ok(false);
    }
    let content = load(path).or_else(|why| usage(format!("--checkpoint {why}")))?;
    let about: Value = serde_json::from_str(&content.about).unwrap_or_default();
    let prints = |about: &Value| -> Vec<(String, Option<u64>)> {
        let files = about["files"].as_object().into_iter().flatten();
        files.map(|(word, file)| (word.clone(), saved_print(file))).collect()
    };
    if about["words"] == origin["words"] && prints(&about) == prints(origin) {
        return Ok(true);
    }
    let held = described(&about).map_or(String::new(), |search| format!(": {search}"));
    let same_words = about["words"] == origin["words"];
    let changed =
        prints(origin).into_iter().find(|file| same_words && !prints(&about).contains(file));
    let changed =
        changed.map_or(String::new(), |(file, _)| format!(", and '{file}' has changed since"));
    usage(format!(
        "--checkpoint {shown} holds another search{held}{changed}; resume that one, remove the file, or \
         choose another"
    ))
}

/// The command line of the copy of a search whose root is gone: the copy holds everything that the root had read.
///
/// # Errors
/// One line: why the search cannot be resumed.
pub fn read_copy(file: &str, now: &FlagValues, by: (&str, bool)) -> Result<Line, Failure> {
    let content = load(Path::new(file)).or_else(|why| usage(format!("cannot resume {why}")))?;
    line_of(file, &content.about, now, For::Succeed(by.0, by.1))
}

/// What a saved command line is needed for.
#[derive(Clone, Copy)]
pub enum For<'a> {
    /// To take the place of its root, in this program, which may be a user's own.
    Succeed(&'a str, bool),
    /// To resume its search, by this program, which may be a user's own.
    Resume(&'a str, bool),
    /// To audit its proof, by this program.
    Audit(&'a str),
}

/// The command line of a saved search, combined with the flags of this one.
///
/// # Errors
/// One line: why the search cannot be resumed.
pub fn read(file: &str, now: &FlagValues, (program, own): (&str, bool)) -> Result<Line, Failure> {
    let before = format!("{file}.old");
    let content = load(Path::new(file)).or_else(|why| {
        let hint = match load(Path::new(&before)) {
            Ok(_) => format!("; the previous save is in {before}"),
            Err(_) => String::new(),
        };
        usage(format!("cannot resume {why}{hint}"))
    })?;
    if let Some(name) = now.frozen() {
        return usage(format!("--{name} cannot change when a search is resumed"));
    }
    line_of(file, &content.about, now, For::Resume(program, own))
}

/// The command line that a file describes, combined with the flags of this one.
///
/// # Errors
/// One line: why it cannot be used.
pub fn line_of(
    file: &str,
    about: &str,
    now: &FlagValues,
    what_for: For<'_>,
) -> Result<Line, Failure> {
    let (cannot, program, own) = match what_for {
        For::Resume(program, own) | For::Succeed(program, own) => {
            (format!("cannot resume {file}"), program, own)
        }
        For::Audit(program) => (format!("cannot audit {file}"), program, false),
    };
    let mut about: Value = serde_json::from_str(about).unwrap_or_default();
    if let (For::Audit(_), Some(all)) = (what_for, about.as_object_mut()) {
        // A certificate must not bring its own instance.
        all.remove("texts");
    }
    let (Some(words), Some(mut flags)) = (strings(&about["words"]), strings(&about["flags"]))
    else {
        return usage(format!("{cannot}: it was not saved by this command"));
    };
    // Early files do not record the program.
    if let Some(other) = about["program"].as_str().filter(|&other| other != program) {
        return usage(format!("{cannot}: it holds a search of '{other}'"));
    }
    let ours = own || matches!(words.first().map(String::as_str), Some("solve" | "count"));
    if !ours {
        return usage(format!("{cannot}: another program saved it"));
    }
    let copied = matches!(what_for, For::Succeed(..));
    let has_text = |word: &str| about["texts"].get(word).is_some_and(Value::is_string);
    let found = |word: String| {
        if copied && has_text(&word) { Ok(word) } else { found(&cannot, word, &about) }
    };
    let words = words.into_iter().map(&found);
    let words = words.collect::<Result<Vec<String>, Failure>>()?;
    // A resumed search names a file by its path.
    let word_of = |path: &str| {
        let mut files = about["files"].as_object().into_iter().flatten();
        let file = files.find(|(word, file)| *word == path || file["path"] == path);
        file.map_or(path, |(word, _)| word).to_string()
    };
    for flag in &mut flags {
        let file = flag.split_once('=').filter(|_| read_again().any(|it| it == name_of(flag)));
        if let Some((name, file)) = file.filter(|(_, file)| !copied || !has_text(file)) {
            *flag = format!("{name}={}", found(word_of(file))?);
        }
    }
    // With other workers, flags about the earlier ones no longer apply.
    let named = |flag: &str, name: &str| flag.starts_with(&format!("--{name}="));
    if now.has("devices") || now.has("threads") || now.has("slow") {
        let stale = if now.has("devices") { "threads" } else { "slow" };
        flags.retain(|flag| !named(flag, "slow") && !named(flag, stale));
    }
    let saved_by = if let For::Audit(_) = what_for {
        // What cannot be certified cannot be audited. Nothing is saved.
        flags.retain(|flag| !named(flag, "every"));
        "certificate"
    } else {
        "checkpoint"
    };
    flags.push(format!("--{saved_by}={file}"));
    let own = now.lasting(&[Lasts::Kept, Lasts::OneRun]).into_iter();
    flags.extend(own.filter(|flag| !named(flag, "sample")));
    let mut line =
        parse_again(&words, flags).map_err(|why| Failure::Usage(format!("{file}: {why}")))?;
    let origin = json!({
        "program": about["program"], "words": about["words"], "files": about["files"],
    });
    // Where the input files do not exist, the file may hold the copies that other processes
    // received.
    let texts = about["texts"].as_object().into_iter().flatten();
    let missing = texts.filter(|(word, _)| copied || !Path::new(word).exists());
    let texts = missing.filter_map(|(word, text)| Some((word.clone(), text.as_str()?.into())));
    line.given.texts.replace(texts.collect());
    line.given.saving = Saving { origin, from: Some(file.to_string()), copied };
    Ok(line)
}

/// A word of a saved command line; an input file that is not found here is looked up at its original path.
fn found(cannot: &str, word: String, about: &Value) -> Result<String, Failure> {
    let Some(input) = about["files"].get(&word) else { return Ok(word) };
    let print = saved_print(input);
    let place = input["path"].as_str().unwrap_or(&word);
    let prints = [word.as_str(), place].map(|path| print_of(Path::new(path)));
    match prints {
        [here, _] if here.is_some() && here == print => Ok(word),
        [_, there] if there.is_some() && there == print => Ok(place.to_string()),
        [None, None] if about["texts"][&word].is_string() => Ok(word),
        [None, None] => usage(format!("{cannot}: its input {place} does not exist")),
        _ => usage(format!("{cannot}: its input {word} has changed since it was saved")),
    }
}

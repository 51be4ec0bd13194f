//! [`Input`]: a JSON object from a file, with its place there.

use crate::failure::{Failure, usage};
use crate::input::{text_of, text_of_stdin};
use serde_json::error::Category;
use serde_json::{Deserializer, Value};
use std::path::{Path, PathBuf};

/// A JSON object of a file.
pub struct Input {
    /// The file as it was named, and the number of this object if there are several.
    pub place: String,
    /// The folder of the file; for standard input, the current folder.
    pub folder: PathBuf,
    pub value: Value,
}

/// The objects of a file, in sequence or in a list. `-` is standard input.
pub fn read(word: &str) -> Result<Vec<Input>, Failure> {
    let (name, text) = match word {
        "-" => ("standard input", text_of_stdin()),
        _ => (word, text_of(word)),
    };
    let text = text.or_else(|why| usage(format!("{name}: {why}")))?;
    let mut values = Vec::new();
    for value in Deserializer::from_str(&text).into_iter::<Value>() {
        match value {
            Ok(Value::Array(list)) => values.extend(list),
            Ok(value) => values.push(value),
            Err(why) => return usage(format!("{name}{}", said(&why))),
        }
    }
    if values.is_empty() {
        return usage(format!("{name}: empty, expected what a command prints with --json"));
    }
    let several = values.len() > 1;
    let folder = Path::new(word).parent().unwrap_or(Path::new("")).to_path_buf();
    let input = |(at, value)| {
        let place = if several { format!("{name}, object {}", at + 1) } else { name.to_string() };
        Input { place, folder: folder.clone(), value }
    };
    Ok(values.into_iter().enumerate().map(input).collect())
}

/// Describes what is wrong with a text, and where.
fn said(why: &serde_json::Error) -> String {
    let (line, column) = (why.line(), why.column());
    if why.classify() == Category::Eof {
        return format!(", line {line}: the text ends within a JSON object");
    }
    let what = why.to_string();
    let what = what.split(" at line ").next().unwrap_or_default();
    format!(", line {line}, column {column}: {what}; expected what a command prints with --json")
}

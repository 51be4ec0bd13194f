//! The command line of a command for a user's own problem: its program, words and flags.

use super::console::Console;
use super::line::{self, Line};
use super::{company, join, resume};
use crate::failure::{Failure, usage};
use std::path::Path;

/// The words on the command line that are not flags: files and sizes for your own problem.
///
/// With `resume FILE`, they come from the saved search. Ends the process with a message if the
/// command line is invalid.
#[must_use]
pub fn words() -> Vec<String> {
    match own() {
        Ok(line) => line.words,
        Err(why) => {
            let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
            let console = Console::new(program(), true, &mut out, &mut err);
            company::only_one_speaks(&console);
            let code = console.finish(|| Err(why));
            std::process::exit(code.into())
        }
    }
}

/// The name of this program.
pub(super) fn program() -> String {
    let path = std::env::args_os().next().unwrap_or_default();
    let name = Path::new(&path).file_stem().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| "pleach".into())
}

/// The command line of the user's own command, or of the saved search that it resumes.
pub(super) fn own() -> Result<Line, Failure> {
    let line = line::parse(std::env::args_os().skip(1))?;
    match &line.words[..] {
        [verb, file] if verb == "resume" && !line.given.on("help") => {
            resume::read(file, &line.given, (&program(), true))
        }
        [verb, at] if verb == "join" && !line.given.on("help") => join::early(at, &line.given),
        [verb] if verb == "join" && line.given.has("key") => {
            usage("join: expected HOST:PORT, on which another process listens")
        }
        [verb, ..] if verb == "resume" && !line.given.on("help") => {
            usage("resume: expected FILE, a file that --checkpoint wrote")
        }
        _ => Ok(line),
    }
}

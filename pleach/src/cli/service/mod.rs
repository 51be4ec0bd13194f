//! The service: `serve`, joiners of it, and the commands of its users.

mod accounts;
mod jobs;
mod joiner;
mod request;
#[cfg(feature = "serve")]
mod serve;
mod submission;

pub use accounts::USER_FLAGS;
pub use joiner::join;
pub use request::SERVE_FLAGS;
pub use submission::submit;

use super::console::Console;
use super::flags::Verb;
use super::line::Line;
use crate::failure::Failure;

/// Runs a service.
#[cfg(feature = "serve")]
pub fn serve(console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    serve::serve(console, line)
}

/// Says that this build has no service.
#[cfg(not(feature = "serve"))]
pub fn serve(_: &Console<'_>, _: &Line) -> Result<u8, Failure> {
    crate::failure::usage("serve: this pleach was built without the feature 'serve'")
}

/// Carries out a command of a user, except `submit`.
pub fn run(console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    let words: Vec<&str> = line.words.iter().map(String::as_str).collect();
    match words[..] {
        ["jobs", ..] => jobs::list(console, line),
        ["watch", ..] => jobs::watch(console, line),
        ["result", ..] => jobs::result(console, line),
        ["priority", ..] => jobs::priority(console, line),
        ["pause", ..] => jobs::act(console, line, Verb::Pause),
        ["continue", ..] => jobs::act(console, line, Verb::Continue),
        ["cancel", ..] => jobs::act(console, line, Verb::Cancel),
        _ => accounts::run(console, line),
    }
}

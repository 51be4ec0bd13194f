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
    match line.verb() {
        Some(Verb::Jobs) => jobs::list(console, line),
        Some(Verb::Watch) => jobs::watch(console, line),
        Some(Verb::Result) => jobs::result(console, line),
        Some(Verb::Priority) => jobs::priority(console, line),
        Some(verb @ (Verb::Pause | Verb::Continue | Verb::Cancel)) => {
            jobs::act(console, line, verb)
        }
        _ => accounts::run(console, line),
    }
}

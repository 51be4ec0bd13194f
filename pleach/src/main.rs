//! The `pleach` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    pleach::cli::pleach()
}

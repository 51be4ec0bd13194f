//! `pleach join HOST:PORT --key FILE` with the credentials of a service: works for one search after another.

use super::super::console::{Console, DONE, STOPPED};
use super::super::files::keep_apart;
use super::super::flags::{FlagValues, PATIENCE, THREADS, Verb, address};
use super::super::log::Log;
use super::super::own_process::own_path;
use super::super::stopping::interrupts;
use super::request::failed;
use crate::failure::{Failure, usage};
use crate::joining::BUILD;
use pleach_runtime::cores;
use pleach_serve::client::{Client, ClientError};
use pleach_serve::credentials::Credentials;
use pleach_serve::joiner::{JoinerEnd, Settings, serve};
use std::path::Path;
use std::time::Duration;

/// Flags of `join` that concern the searches, and so travel to them.
const PASSED_ON: [&str; 6] = ["pace", "devices", "simd", "slow", "memory", "reach"];

/// Serves a service if this is its file of credentials.
pub fn join(
    console: &Console<'_>,
    at: &str,
    given: &FlagValues,
    key: &str,
) -> Option<Result<u8, Failure>> {
    Credentials::is_in(Path::new(key)).then(|| run(console, at, given, key))
}

fn run(console: &Console<'_>, at: &str, given: &FlagValues, key: &str) -> Result<u8, Failure> {
    given.check_alone(Verb::Join, &[])?;
    for flag in ["standby", "checkpoint", "metrics", "dashboard"] {
        if given.has(flag) {
            return usage(format!("--{flag} has no effect on a joiner of a service"));
        }
    }
    let address = address(at).map_err(|why| Failure::Usage(format!("join {why}")))?;
    let credentials = Credentials::read(Path::new(key));
    let credentials = credentials.map_err(|why| Failure::Usage(format!("--key: {why}")))?;
    let threads = given.get(&THREADS)?;
    let patience = given.get(&PATIENCE)?;
    let flags = PASSED_ON
        .iter()
        .filter(|name| given.has(name))
        .filter_map(|name| Some([format!("--{name}"), given.word(name)?.to_string()]));
    // The service knows by this name which of Slurm's jobs it is.
    let name = match (std::env::var("SLURM_JOB_ID"), std::env::var("SLURM_PROCID").as_deref()) {
        (Ok(id), Err(_) | Ok("0")) => format!("slurm-{id}"),
        _ => format!("{}-{}", pleach_runtime::host(), std::process::id()),
    };
    let settings = Settings {
        program: own_path(),
        build: BUILD.into(),
        name,
        threads: threads.unwrap_or(cores()).min(pleach_runtime::error::MOST_THREADS),
        flags: flags.flatten().collect(),
        patience: patience.unwrap_or(Some(Duration::from_secs(60))),
    };
    let client = Client::new(Credentials { address, ..credentials });
    keep_apart(given, &[])?;
    console.keep_log(Log::open(given)?);
    let cancel = interrupts();
    let quiet = given.on("quiet");
    let note = |text: &str| {
        if quiet {
            console.log(text);
        } else {
            console.note(text);
        }
    };
    let served = serve(client, &settings, &|| cancel.is_cancelled(), &note);
    match served.map_err(failure)? {
        JoinerEnd::Dismissed => Ok(DONE),
        JoinerEnd::Left => {
            note("left the service");
            Ok(STOPPED)
        }
    }
}

/// Why a joiner ended. A program of another build can join once either of the two is replaced.
fn failure(why: ClientError) -> Failure {
    match why {
        ClientError::Refused { status: 409, why } => Failure::Machine(why),
        why => failed(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_no_bad_usage() {
        let refused = |status| failure(ClientError::Refused { status, why: String::new() });
        assert!(matches!(refused(409), Failure::Machine(_)), "another build");
        assert!(matches!(refused(401), Failure::Usage(_)), "an unknown token");
        let other = ClientError::Certificate { at: String::new() };
        assert!(matches!(failure(other), Failure::Usage(_)));
    }
}

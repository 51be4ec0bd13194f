//! `pleach join HOST:PORT --key FILE` with the credentials of a service: works for one search after another.

use super::super::console::{Console, DONE, STOPPED};
use super::super::files::keep_apart;
use super::super::flags::{FlagValues, Lasts, PATIENCE, Verb, address};
use super::super::log::Log;
use super::super::order_text::name_of;
use super::super::own_process::own_path;
use super::super::stopping::interrupts;
use super::request::failed;
use crate::failure::{Failure, usage};
use crate::joining::BUILD;
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
    for flag in ["standby", "checkpoint", "metrics", "dashboard", "json"] {
        if given.has(flag) {
            return usage(format!("--{flag} has no effect on a joiner of a service"));
        }
    }
    let address = address(at).map_err(|why| Failure::Usage(format!("join {why}")))?;
    let credentials = Credentials::read(Path::new(key));
    let credentials = credentials.map_err(|why| Failure::Usage(format!("--key: {why}")))?;
    let (threads, flags) = part(given)?;
    let patience = given.get(&PATIENCE)?;
    // The service knows by this name which of Slurm's jobs it is.
    let name = match (std::env::var("SLURM_JOB_ID"), std::env::var("SLURM_PROCID").as_deref()) {
        (Ok(id), Err(_) | Ok("0")) => format!("slurm-{id}"),
        _ => format!("{}-{}", pleach_runtime::host(), std::process::id()),
    };
    let settings = Settings {
        program: own_path(),
        build: BUILD.into(),
        name,
        threads,
        flags,
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

/// How many threads a joiner counts as, and the flags with which it joins each search.
fn part(given: &FlagValues) -> Result<(u32, Vec<String>), Failure> {
    let mut flags = given.lasting(&[Lasts::Kept, Lasts::OneRun]);
    flags.retain(|flag| PASSED_ON.contains(&name_of(flag)));
    let workers = given.workers()?;
    let devices = workers.devices.specs.len() as u32;
    if workers.threads == 0 {
        return Ok((devices.max(1), flags));
    }
    flags.push(format!("--threads={}", workers.threads));
    Ok((workers.threads, flags))
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
    use super::super::super::line::parse_again;
    use super::*;

    /// A joiner without threads of the CPU could join no search, and only the last of several slow workers was slow.
    #[test]
    fn a_joiner_takes_its_own_workers_to_each_search() {
        let of = |flags: &str| {
            let flags = flags.split(' ').map(String::from).collect();
            part(&parse_again(&[], flags).unwrap().given).unwrap()
        };
        let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let devices = "--devices=emulated,emulated";
        assert_eq!(of(devices), (2, words(devices)));
        let slow = "--slow=cpu0=2 --slow=cpu1=3";
        let expected = format!("{slow} --threads=2");
        assert_eq!(of(&format!("--threads=2 {slow} --quiet")), (2, words(&expected)));
    }

    #[test]
    fn what_may_pass_is_no_bad_usage() {
        let refused = |status| failure(ClientError::Refused { status, why: String::new() });
        assert!(matches!(refused(409), Failure::Machine(_)), "another build");
        assert!(matches!(refused(401), Failure::Usage(_)), "an unknown token");
        let other = ClientError::Certificate { at: String::new() };
        assert!(matches!(failure(other), Failure::Usage(_)));
    }
}

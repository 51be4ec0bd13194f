//! The processes of a search: those that a launcher started, or those that join.

use super::console::Console;
use super::files::key_path;
use super::flags::{DEFAULT_PLACES, FlagValues, LISTEN, MPI, PLACES};
use super::line::Line;
use super::show::quoted;
use crate::failure::{Failure, usage};
use crate::joining::{self, CHANGING, LASTING, MESSAGE_BY_MPI};
use pleach_cluster::mpi::{self, Choice};
use pleach_cluster::tls::Key;
use pleach_cluster::{Cluster, Members};
use serde_json::json;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// Mutes all processes of a job except the first.
pub fn only_one_speaks(console: &Console<'_>) {
    console.mute(mpi::rank().is_some_and(|rank| rank > 0));
}

/// Runs a command with the processes that its flags and its launcher name. The first one leads; the others
/// follow.
pub fn run_together(
    console: &Console<'_>,
    mut line: Line,
    lead: impl FnOnce(Line) -> Result<u8, Failure>,
    follow: impl FnOnce(&Arc<Cluster>, &Line) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    if line.given.on("show") {
        return lead(line);
    }
    let company = company(console, &line.given).inspect_err(|why| {
        // The error may be in this process only.
        console.mute(console.is_mute() && !matches!(why, Failure::Machine(_)));
    });
    let Some(cluster) = company? else { return lead(line) };
    if !cluster.is_root() {
        return follow(&cluster, &line);
    }
    // A resumed search is saved in the file that it comes from.
    if line.given.has("checkpoint") || line.words.first().is_some_and(|word| word == "resume") {
        cluster.allow_standby();
    }
    line.given.cluster = Some(Arc::clone(&cluster));
    let ended = lead(line);
    let in_order = matches!(ended, Ok(_) | Err(Failure::Usage(_) | Failure::Unwritten(_)));
    // The result comes first, since a network may be slow to close.
    let code = console.finish(|| ended);
    if in_order {
        cluster.end();
    } else {
        cluster.abort(code.into());
    }
    Ok(code)
}

/// The processes of a search; `None` if this one is alone.
fn company(console: &Console<'_>, given: &FlagValues) -> Result<Option<Arc<Cluster>>, Failure> {
    let choice: Choice = match given.get(&MPI)? {
        Some(word) => word.parse().map_err(|why| Failure::Usage(format!("--mpi: {why}")))?,
        None => Choice::Auto,
    };
    if choice == Choice::Off {
        // Each process searches alone.
        console.mute(false);
    }
    let launched = mpi::open(&choice, MESSAGE_BY_MPI);
    let launched = launched.map_err(|why| Failure::Machine(why.to_string()))?;
    let address = given.get(&LISTEN)?;
    match (launched, address) {
        (None, None) => Ok(None),
        (Some(network), None) => {
            let terms = if network.members() == Members::Fixed { LASTING } else { CHANGING };
            Ok(Some(Arc::new(Cluster::new(network, None, Arc::default(), terms))))
        }
        (None, Some(address)) => listen(console, given, address).map(Some),
        (Some(mut network), Some(_)) => {
            let why = "--listen cannot be combined with a launcher, whose processes end together";
            let code = console.finish(|| usage(why));
            network.abort(code.into());
            usage(why)
        }
    }
}

/// Opens a search to joining processes.
fn listen(
    console: &Console<'_>,
    given: &FlagValues,
    address: String,
) -> Result<Arc<Cluster>, Failure> {
    given.check_certificate()?;
    let path = key_path(given);
    let key = Key::make(Path::new(&path));
    let key = key.map_err(|why| Failure::Usage(format!("--key: {why}")))?;
    let places = given.get(&PLACES)?.unwrap_or(DEFAULT_PLACES);
    let listening = joining::listen(address, key, places);
    let (cluster, at) = listening.map_err(|why| Failure::of_listening("--listen", &why))?;
    if given.on("updates") {
        console.update(&json!({ "listening": at.to_string() }).to_string());
    }
    if !given.on("quiet") {
        let at = reachable(at);
        let key = quoted(&path);
        console.note(&format!("to join: {} join {at} --key {key}", console.program));
    }
    Ok(Arc::new(cluster))
}

/// An address at which other machines can reach this one.
fn reachable(address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        format!("{}:{}", pleach_runtime::host(), address.port())
    } else {
        address.to_string()
    }
}

//! `pleach serve`: runs a service until it is stopped.

use super::super::console::{Console, DONE};
use super::super::flags::{ADDRESS, GROW, HALF_LIFE, KEEP, LISTEN, ROOTS, THREADS, Verb};
use super::super::line::{Line, no_more};
use super::super::own_process::own_path;
use super::super::stopping::interrupts;
use super::submission::{check_command, continued};
use crate::failure::{Failure, usage};
use crate::joining::BUILD;
use crate::provenance::now;
use pleach_runtime::cores;
use pleach_serve::server::{ServeError, Settings, run};
use std::io::Write;
use std::net::ToSocketAddrs;
use std::time::Duration;

/// Runs a service.
pub fn serve(console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    let given = &line.given;
    super::request::check(line, Verb::Serve, &[])?;
    no_more(&line.words, 1)?;
    let Some(listen) = given.get(&LISTEN).map_err(Failure::Usage)? else {
        return usage("serve: expected --listen HOST:PORT");
    };
    let Some(data) = given.path("data") else {
        return usage("serve: expected --data FOLDER");
    };
    let resolved = listen.to_socket_addrs().map(|mut all| all.next());
    let Some(at) = resolved.ok().flatten() else {
        return usage(format!("--listen {listen}: the host has no address"));
    };
    let certificate = match (given.path("tls-certificate"), given.path("tls-key")) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => return usage("--tls-certificate and --tls-key belong together"),
    };
    let threads = given.get(&THREADS).map_err(Failure::Usage)?.unwrap_or(1);
    let roots = given.get(&ROOTS).map_err(Failure::Usage)?.unwrap_or(2 * cores() as u64);
    let half_life = given.get(&HALF_LIFE).map_err(Failure::Usage)?;
    let settings = Settings {
        listen: at,
        address: given.get(&ADDRESS).map_err(Failure::Usage)?.or_else(|| named(&listen)),
        data: data.clone(),
        program: own_path(),
        build: BUILD.into(),
        roots: roots as usize,
        root_threads: threads,
        half_life: half_life.unwrap_or(Duration::from_secs(3600)),
        keep: given.get(&KEEP).map_err(Failure::Usage)?.flatten(),
        certificate,
        grow: given.get(&GROW).map_err(Failure::Usage)?,
        check: check_command,
        continued,
        note: if given.on("quiet") { |_| {} } else { note },
    };
    let cancel = interrupts();
    let ran = run(
        settings,
        move || cancel.is_cancelled(),
        |at| {
            if !given.on("quiet") {
                let data = data.display();
                console.note(&format!(
                    "serving at {at}; credentials: {data}/operator, {data}/joiners"
                ));
            }
        },
    );
    match ran {
        Ok(()) => Ok(DONE),
        Err(why @ (ServeError::Runtime(_) | ServeError::Random(_))) => {
            Err(Failure::Machine(why.to_string()))
        }
        Err(why) => usage(why.to_string()),
    }
}

/// The address that users type, if the service listens at one that they can reach.
fn named(listen: &str) -> Option<String> {
    let (host, port) = listen.rsplit_once(':')?;
    let everywhere = ["0.0.0.0", "[::]", "::"].contains(&host);
    // A port that the system chooses is known later.
    (port != "0").then(|| {
        if everywhere { format!("{}:{port}", pleach_runtime::host()) } else { listen.to_string() }
    })
}

/// Shows an event, with its time.
fn note(text: &str) {
    // There is nowhere else to report that this failed.
    let _ = writeln!(std::io::stderr(), "{} {text}", now());
}

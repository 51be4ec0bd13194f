//! `pleach serve`: runs a service until it is stopped.

use super::super::console::{Console, DONE};
use super::super::files::{ABOUT_SOLUTION, WRITTEN};
use super::super::flags::{
    ADDRESS, GROW, HALF_LIFE, KEEP, LISTEN, NODE_LIMIT, ROOTS, THREADS, TIME_LIMIT, Verb,
};
use super::super::line::{self, Line, arguments, no_more};
use super::super::own_process::own_path;
use super::super::stopping::interrupts;
use super::request;
use super::submission::check_command;
use crate::failure::{Failure, usage};
use crate::joining::BUILD;
use crate::provenance::now;
use pleach_runtime::cores;
use pleach_serve::server::{ListenError, ServeError, Settings, StoreError, run};
use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::time::Duration;

/// Runs a service.
pub fn serve(console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    let given = &line.given;
    line.given.check_alone(Verb::Serve, &request::SERVE_FLAGS)?;
    no_more(&line.words, 1)?;
    let Some(listen) = given.get(&LISTEN)? else {
        return usage("serve: expected --listen HOST:PORT");
    };
    let Some(data) = given.path("data") else {
        return usage("serve: expected --data FOLDER");
    };
    let resolved = listen.to_socket_addrs().map(|mut all| all.next());
    let Some(at) = resolved.ok().flatten() else {
        return usage(format!("--listen {listen}: the host name has no address"));
    };
    let certificate = match (given.path("tls-certificate"), given.path("tls-key")) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => return usage("--tls-certificate and --tls-key belong together: give both or neither"),
    };
    let threads = given.get(&THREADS)?.unwrap_or(1);
    let roots = given.get(&ROOTS)?.unwrap_or(2 * cores() as u64);
    let half_life = given.get(&HALF_LIFE)?;
    let settings = Settings {
        listen: at,
        address: given.get(&ADDRESS)?.unwrap_or_else(|| named(&listen)),
        data: data.clone(),
        program: own_path(),
        build: BUILD.into(),
        roots: roots as usize,
        root_threads: threads,
        half_life: half_life.unwrap_or(Duration::from_secs(3600)),
        keep: given.get(&KEEP)?.flatten(),
        certificate,
        grow: given.get(&GROW)?,
        check: check_command,
        outputs,
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
    ran.map(|()| DONE).map_err(|failed| match &failed {
        // The network may still start.
        ServeError::Listen(ListenError::Listen { why, .. })
            if why.kind() == ErrorKind::AddrNotAvailable =>
        {
            Failure::Machine(failed.to_string())
        }
        ServeError::Folder { why, .. }
        | ServeError::Listen(ListenError::Listen { why, .. } | ListenError::Write { why, .. }) => {
            Failure::of_system(why.kind(), failed.to_string())
        }
        ServeError::InUse(_)
        | ServeError::Store(StoreError::Version(_))
        | ServeError::Listen(ListenError::Certificate { .. }) => Failure::Usage(failed.to_string()),
        // A supervisor may try again.
        _ => Failure::Machine(failed.to_string()),
    })
}

/// The files that a command writes, with or without a solution.
fn outputs(args: &[String], solved: bool) -> Vec<PathBuf> {
    let line = line::parse(args.iter().map(OsString::from));
    let given = line.as_ref().map(|line| &line.given).ok();
    let flags = WRITTEN.iter().filter(|flag| solved || !ABOUT_SOLUTION.contains(flag));
    flags.filter_map(|flag| given?.path(flag)).collect()
}

/// The least time for a continued search: it must load what was saved, and print the result.
const LEAST: Duration = Duration::from_secs(10);
/// Limits of a whole search.
const LIMITS: [&str; 2] = ["time-limit", "node-limit"];

/// The command that continues a search after this time and this many nodes: its limits are what is left of them.
fn continued(args: &[String], time: Duration, nodes: u64) -> Vec<String> {
    let Ok(line) = line::parse(args.iter().map(OsString::from)) else { return args.to_vec() };
    let others = arguments(args).filter(|it| it.flag.is_none_or(|flag| !LIMITS.contains(&flag)));
    let mut out: Vec<String> = others.flat_map(|it| it.args).cloned().collect();
    if let Ok(Some(Some(limit))) = line.given.get(&TIME_LIMIT) {
        let left = limit.saturating_sub(time).max(limit.min(LEAST));
        out.push(format!("--time-limit={}ms", left.as_millis()));
    }
    if let Ok(Some(Some(limit))) = line.given.get(&NODE_LIMIT) {
        out.push(format!("--node-limit={}", limit.saturating_sub(nodes).max(1)));
    }
    out
}

/// The address that users type for one at which the service listens.
fn named(listen: &str) -> String {
    match listen.rsplit_once(':') {
        Some(("0.0.0.0" | "[::]" | "::", port)) => format!("{}:{port}", pleach_runtime::host()),
        _ => listen.to_string(),
    }
}

/// Shows an event, with its time.
fn note(text: &str) {
    // There is nowhere else to report that this failed.
    let _ = writeln!(std::io::stderr(), "{} {text}", now());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_type_the_name_of_this_machine_for_all_of_its_addresses() {
        let host = pleach_runtime::host();
        for (listen, port) in [("0.0.0.0:7400", 7400), ("0.0.0.0:0", 0), ("[::]:0", 0)] {
            assert_eq!(named(listen), format!("{host}:{port}"));
        }
        assert_eq!(named("127.0.0.1:0"), "127.0.0.1:0");
    }

    #[test]
    fn commands_say_which_files_they_write() {
        let words = "solve flowshop ta001 --gantt plan.svg --start best.txt --solution=all.json \
                     --trace run.json";
        let args: Vec<String> = words.split(' ').map(String::from).collect();
        assert_eq!(outputs(&args, true), ["all.json", "plan.svg", "run.json"].map(PathBuf::from));
        assert_eq!(outputs(&args, false), [PathBuf::from("run.json")]);
        assert!(outputs(&args[..3], true).is_empty());
    }

    #[test]
    fn limits_of_a_continued_search_are_what_is_left() {
        let left = |text: &str| {
            continued(
                &text.split(' ').map(String::from).collect::<Vec<_>>(),
                Duration::from_millis(20_500),
                700,
            )
            .join(" ")
        };
        assert_eq!(
            left("solve flowshop ta056 --time-limit 1m --bound one --node-limit=1000"),
            "solve flowshop ta056 --bound one --time-limit=39500ms --node-limit=300"
        );
        assert_eq!(left("count uts T3 --time-limit=20"), "count uts T3 --time-limit=10000ms");
        assert_eq!(left("count uts T3 --time-limit=3"), "count uts T3 --time-limit=3000ms");
        assert_eq!(left("count uts T3 --node-limit none"), "count uts T3");
        // A file may have the name of a flag.
        assert_eq!(left("solve atsp time-limit --seed 1"), "solve atsp time-limit --seed 1");
    }
}

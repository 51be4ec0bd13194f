//! Searches and loops by several processes: as many as join, whatever happens to them.

mod chaos;
mod loops;
pub mod party;
pub mod proxy;
mod restarts;
mod standby;

use crate::outside::{example_path, folder, fresh, json, output_of, pleach, refused, until};
use party::{Party, Process, Search};
use serde_json::Value;
use std::fs::Permissions;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// A search that takes four paced workers about two seconds, whose counts are published.
const QUEENS: Search =
    Search { words: "count queens 13", count: Some(73_712), branched: None, bounded: 4_674_889 };

/// The same in branch and bound, and in a tree whose subtrees differ widely.
const TA030: Search = Search {
    words: "solve flowshop ta030 --best optimum --bound one",
    count: None,
    branched: Some(2_415_779),
    bounded: 45_246_962,
};
const T1: Search = Search {
    words: "count uts T1",
    count: Some(4_130_071),
    branched: Some(824_953),
    bounded: 4_130_070,
};

#[test]
fn joiners_change_no_count() {
    let mut party = Party::begin("join", &QUEENS, 50_000, &[]);
    (0..2).for_each(|_| party.join());
    party.all_join();
    // Without the last one, the others would need half a minute.
    party.join_with(&["--pace", "2000000"]);
    let report = party.end();
    QUEENS.check(&report);
    let sites = report["sites"].as_array().unwrap();
    assert_eq!(sites.len(), 4);
    let alone = json("count queens 13");
    assert!(alone["sites"].is_null());
    assert_eq!(alone["nodes"], report["nodes"]);
    for (site, joiner) in sites[1..].iter().zip(&mut party.joiners) {
        assert!(site["end"].is_null() && site["units"].as_array().unwrap().len() == 1, "{site}");
        assert_eq!((joiner.end(), joiner.output().as_str()), (Some(0), ""));
    }
}

/// The pool of the root is all that is given, node by node or in parts; what a dead process had is searched again.
#[test]
fn a_coordinator_gives_its_pool_to_joiners() {
    for (name, search, balance, threads) in [
        ("pool-dynamic", QUEENS, "dynamic:share=chunk/1,cutoff=2,coordinator=yes", 1),
        (
            "pool-second",
            QUEENS,
            "dynamic:share=chunk/1,cutoff=2,second_cutoff=5,coordinator=yes",
            2,
        ),
        ("pool-guided", QUEENS, "guided:cutoff=3,coordinator=yes", 1),
        ("pool-static", QUEENS, "static:cutoff=3,second_cutoff=6,coordinator=yes", 2),
        ("pool-flowshop", TA030, "dynamic:share=chunk/1,cutoff=3,coordinator=yes", 1),
        ("pool-uts", T1, "dynamic:share=chunk/1,cutoff=4,second_cutoff=6,coordinator=yes", 1),
    ] {
        let pace = search.bounded / 20 / threads;
        let flags = ["--balance", balance, "--places", "4"];
        let mut party = Party::begin(name, &search, pace, &flags);
        (0..3).for_each(|_| party.join_with(&["--threads", &threads.to_string()]));
        let workers = 3 * threads;
        party.root_reports(&format!(" {workers} of {} workers busy", workers + 1));
        party.kill(1);
        let report = party.end();
        search.check(&report);
        let workers = report["units"].as_array().unwrap();
        let nodes = |name: &str| {
            let worker = workers.iter().find(|worker| worker["name"] == name).unwrap();
            worker["branched"].as_u64().unwrap()
        };
        assert_eq!(nodes("site0/cpu0"), 0, "{balance}");
    }
}

/// A process that joins splits each node of the pool between its devices.
#[test]
fn a_coordinator_feeds_devices_of_several_processes() {
    let balance = "dynamic:share=chunk/1,cutoff=2,second_cutoff=4,coordinator=yes";
    let search =
        Search { words: "count queens 11", count: Some(2680), branched: None, bounded: 166_925 };
    let mut party = Party::begin("pool-devices", &search, 20_000, &["--balance", balance]);
    for devices in ["emulated:inside=none,emulated:inside=none", "emulated:inside=none"] {
        party.join_with(&["--devices", devices]);
    }
    let report = party.end();
    search.check(&report);
    let workers = report["units"].as_array().unwrap();
    let devices =
        workers.iter().filter(|worker| worker["name"].as_str().unwrap().contains("emulated"));
    let nodes: Vec<_> = devices.map(|worker| worker["branched"].as_u64().unwrap()).collect();
    assert!(nodes.len() == 3 && nodes.iter().all(|&nodes| nodes > 0), "{workers:?}");
}

/// What a process with a device had is searched again, by devices of others.
#[test]
fn a_process_with_a_device_dies_under_a_coordinator() {
    let balance = "dynamic:share=chunk/1,cutoff=2,second_cutoff=4,coordinator=yes";
    let search =
        Search { words: "count queens 11", count: Some(2680), branched: None, bounded: 166_925 };
    let mut party = Party::begin("pool-device-dies", &search, 10_000, &["--balance", balance]);
    for devices in ["emulated:inside=none,emulated:inside=none", "emulated:inside=none"] {
        party.join_with(&["--devices", devices]);
    }
    party.root_reports(" 3 of 4 workers busy");
    party.kill(1);
    search.check(&party.end());
}

/// On one machine, a process coordinates, and another one divides each node of the pool between its devices. What a
/// limit leaves open may be searched in a single process.
#[test]
fn one_machine_divides_a_pool_between_its_devices() {
    let balance = "dynamic:share=chunk/1,cutoff=2,second_cutoff=4,coordinator=yes";
    let search =
        Search { words: "count queens 11", count: Some(2680), branched: None, bounded: 166_925 };
    let flags = ["--balance", balance, "--node-limit", "40000"];
    let mut party = Party::begin("pool-one-machine", &search, 40_000, &flags);
    party.join_with(&["--devices", "emulated:inside=none,emulated:inside=none"]);
    let stopped = party.end();
    assert_eq!(stopped["status"], "stopped", "{stopped}");
    let words = "--balance adaptive --devices cpu,emulated,emulated --pace 1000000";
    search.check(&json(&format!("resume {} {words}", party.file().display())));
}

/// The tree of an overlay is one of the processes that are present: one may die, and another come.
#[test]
fn an_overlay_of_joiners_changes_no_count() {
    let flags = ["--balance", "overlay:degree=2,bridges=random,end=requests"];
    let mut party = Party::begin("overlay", &QUEENS, 50_000, &flags);
    (0..5).for_each(|_| party.join());
    party.all_join();
    party.kill(0);
    party.join_with(&["--pace", "2000000"]);
    let report = party.end();
    QUEENS.check(&report);
    assert!(party.root().said().contains("leases decide when the search is over"));
}

#[test]
fn a_joiner_leaves_in_order() {
    let log = folder("cluster-leave").join("run.log");
    let _ = std::fs::remove_file(&log);
    let flags = ["--log", log.to_str().unwrap()];
    let mut party = Party::begin("leave", &QUEENS, 300_000, &flags);
    party.join();
    party.join();
    party.all_join();
    party.joiners[0].signal("-INT");
    let report = party.end();
    QUEENS.check(&report);
    let ends: Vec<_> = report["sites"].as_array().unwrap().iter().map(|it| &it["end"]).collect();
    assert_eq!(ends.iter().filter(|end| **end == "left").count(), 1, "{ends:?}");
    let workers = report["units"].as_array().unwrap();
    assert_eq!(workers.len(), 3, "a site that leaves tells what it did");
    let left = &mut party.joiners[0];
    assert_eq!(left.end(), Some(3));
    assert!(left.said().contains("left the search"), "{}", left.said());
    let log = std::fs::read_to_string(log).unwrap();
    let said = |end: &str| log.lines().filter(|line| line.ends_with(end)).count();
    assert_eq!((said(" joined"), said(" left")), (2, 1), "{log}");
    assert!(
        log.lines().all(|line| line.starts_with("20") && line[19..].starts_with("Z ")),
        "{log}"
    );
}

/// One process without memory used to stop the search of all.
#[test]
fn a_joiner_without_memory_leaves() {
    let mut party = Party::begin("memory", &QUEENS, 20_000, &[]);
    party.join_with(&["--memory", "1"]);
    party.joiners[0].says("exceeds the memory limit", 1);
    party.join_with(&["--pace", "2000000"]);
    QUEENS.check(&party.end());
    let left = &mut party.joiners[0];
    assert_eq!(left.end(), Some(3), "{}", left.said());
    assert_eq!(party.joiners[1].end(), Some(0));
}

#[test]
fn limits_hold_for_all_processes_together() {
    let mut party = Party::begin("limit", &QUEENS, 600_000, &["--node-limit", "2000000"]);
    party.join();
    let report = party.end();
    assert_eq!(report["status"], "stopped");
    let nodes = report["nodes"]["bounded"].as_u64().unwrap();
    assert!((1_800_000..2_020_000).contains(&nodes), "{nodes}");
}

#[test]
fn the_second_search_of_a_command_is_joined_too() {
    let search = Search {
        words: "solve flowshop VFR10_5_1 --best optimum --bound one --all",
        count: None,
        branched: None,
        bounded: 0,
    };
    let mut party = Party::begin("all", &search, 400_000, &[]);
    party.join();
    let report = party.end();
    let alone = json("solve flowshop VFR10_5_1 --best optimum --bound one --all");
    for key in ["status", "objective", "lower_bound", "count"] {
        assert_eq!(report[key], alone[key], "{key}");
    }
}

#[test]
fn an_instance_travels_to_those_that_have_no_file() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/knapsack/correlated-60.txt");
    let words = format!("solve knapsack {file}");
    let search = Search { words: &words, count: None, branched: None, bounded: 0 };
    let mut party = Party::begin("file", &search, 1_500_000, &[]);
    party.join();
    let report = party.end();
    let alone = json(&words);
    assert_eq!(report["status"], "optimal");
    assert_eq!(report["objective"], alone["objective"]);
}

#[test]
fn a_process_that_cannot_join_learns_why() {
    refused("join somewhere", "join somewhere: expected HOST:PORT");
    refused("join 127.0.0.1:1 --key /nowhere/at.key", "cannot read the key file");
    refused("join 127.0.0.1:1 --listen 127.0.0.1:2", "--listen does not apply to 'join'");
    refused("count queens 8 --key some.key", "--key has no effect without --listen");
    refused("count queens 8 --listen nowhere", "expected HOST:PORT");
    let mut party = Party::begin("refuse", &QUEENS, 200_000, &[]);
    let mut other = Party::begin("stranger", &QUEENS, 2_000_000, &[]);
    party.root().says("to join", 1);
    other.root().says("to join", 1);
    let why = party.why_not(other.key(), party.address(), &[]);
    assert!(why.contains("does not hold the key of the run"), "{why}");
    let nobody = party.why_not(party.key(), "127.0.0.1:1", &["--patience", "600ms"]);
    assert!(nobody.contains("cannot reach '127.0.0.1:1'"), "{nobody}");
    for flag in ["--log", "--metrics"] {
        let flags = [flag, "/nowhere/at", "--patience", "600ms"];
        let output = output_of(&mut party.joining(party.key(), "127.0.0.1:1", &flags));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("{flag} /nowhere/at: No such file")), "{said}");
    }
}

/// A joiner that was asked to leave just before an attempt to join failed used to end with that error.
#[test]
fn a_joiner_that_leaves_before_it_has_joined_has_not_failed() {
    let party = Party::begin("waits", &QUEENS, 20_000, &[]);
    until("the key", || party.key().exists());
    let root = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = root.local_addr().unwrap().to_string();
    let mut command = party.joining(party.key(), &at, &[]);
    let mut joiner = Process::start(&mut command, &party.folder, "leaves");
    let (attempt, _) = root.accept().unwrap();
    joiner.signal("-TERM");
    drop((attempt, root));
    assert_eq!((joiner.end(), joiner.said().as_str()), (Some(3), ""));
}

/// An address that another process has may become free: no bad usage, as for a service.
#[test]
fn an_address_in_use_is_no_bad_usage() {
    let key = fresh("cluster-address", "run.key");
    let words = |at: &str| format!("count queens 6 --listen {at} --key {}", key.display());
    // An address for documentation, which no machine has.
    refused(&words("192.0.2.1:7400"), "cannot listen on '192.0.2.1:7400': ");
    // A standby listens on all addresses of its machine.
    let taken = TcpListener::bind("0.0.0.0:0").unwrap();
    let at = format!("127.0.0.1:{}", taken.local_addr().unwrap().port());
    let fails = |words: &str, expected: &str| {
        let output = pleach(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(expected), "{said}");
    };
    fails(&words(&at), "--listen: cannot listen on ");
    let (key, copy) = (key.display(), key.with_file_name("copy.pleach"));
    let standby = format!("--standby {at} --checkpoint {} --key {key}", copy.display());
    fails(&format!("join 127.0.0.1:1 {standby}"), &format!("--standby {at}: cannot listen on "));
}

/// A key that is a credential of systemd used to be refused: an access list opens it to one user, but shows as bits of
/// the group.
#[test]
fn a_key_may_be_a_credential_of_systemd() {
    let key = fresh("cluster-credentials", "pleach.key");
    std::fs::write(&key, format!("pleach-key-1 {}\n", "07".repeat(32))).unwrap();
    let said = |mode: u32, credentials: &str| {
        std::fs::set_permissions(&key, Permissions::from_mode(mode)).unwrap();
        let mut join = Command::new(env!("CARGO_BIN_EXE_pleach"));
        join.args(["join", "127.0.0.1:1", "--patience", "400ms", "--key"]).arg(&key);
        let output = output_of(join.env("CREDENTIALS_DIRECTORY", credentials));
        String::from_utf8(output.stderr).unwrap()
    };
    let here = key.parent().unwrap().to_str().unwrap();
    for (mode, credentials, expected) in [
        (0o440, here, "cannot reach '127.0.0.1:1'"),
        (0o440, "", "is open to others"),
        (0o440, "/elsewhere", "is open to others"),
        (0o460, here, "is open to others"),
        (0o444, here, "is open to others"),
    ] {
        let said = said(mode, credentials);
        assert!(said.contains(expected), "{mode:o}, {credentials}: {said}");
    }
}

/// A root of a user's own program used to name 'pleach join' as the way to join it, and instances could not travel.
#[test]
fn a_users_own_program_is_joined_by_the_same_program() {
    let program = example_path("knapsack");
    let file = folder("cluster-own").join("items.txt");
    let items = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/knapsack/correlated-60.txt");
    std::fs::copy(items, &file).unwrap();
    let mut party = Party::of(&program, "own", 1_500_000, &[file.to_str().unwrap()]);
    party.root().says("to join: knapsack join", 1);
    // Joiners have no files.
    std::fs::remove_file(&file).unwrap();
    let mut other = Command::new(env!("CARGO_BIN_EXE_pleach"));
    let output = output_of(other.args(["join", party.address(), "--key"]).arg(party.key()));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("the root runs 'knapsack': join it with 'knapsack join'"), "{said}");
    party.join_with(&["--json"]);
    let report = party.end();
    assert_eq!((&report["status"], &report["objective"]), (&"optimal".into(), &215_359.into()));
    let joiner = &mut party.joiners[0];
    assert_eq!(joiner.end(), Some(0), "{}", joiner.said());
    let part: Value = serde_json::from_str(&joiner.output()).unwrap();
    assert_eq!((&part["searches"], &part["end"]), (&1.into(), &"over".into()));
    assert!(part["nodes"]["bounded"].as_u64().unwrap() > 0, "{part}");
}

//! Standbys that take the place of a root that is gone, or only seems to be.

use super::QUEENS;
use super::party::{Party, Process, Search, free_address};
use super::proxy::Proxy;
use crate::outside::{example_path, output_of, until};
use std::fs;

/// A process that joins the root's address and stands by. Its files have this name.
fn stand_by(party: &Party, at: &str, name: &str, flags: &[&str]) -> Process {
    let copy = party.folder.join(format!("{name}.pleach"));
    let address = free_address();
    let copy = copy.to_str().unwrap();
    let flags = [&["--standby", &address, "--checkpoint", copy, "--json"], flags].concat();
    Process::start(&mut party.joining(party.key(), at, &flags), &party.folder, name)
}

/// Waits until the standby has a copy.
fn has_copy(party: &Party, standby: &mut Process, name: &str) {
    let copy = party.folder.join(format!("{name}.pleach"));
    until("a copy", || {
        assert!(!standby.is_over(), "{}", standby.said());
        copy.exists()
    });
}

fn forget_copies(party: &Party, names: &[&str]) {
    for name in names {
        for end in ["", ".old"] {
            let _ = fs::remove_file(party.folder.join(format!("{name}.pleach{end}")));
        }
    }
}

#[test]
fn a_standby_takes_the_place_of_a_dead_root() {
    let mut party = Party::begin("standby", &QUEENS, 200_000, &["--places", "8"]);
    forget_copies(&party, &["standby"]);
    party.join();
    party.join();
    party.all_join();
    let mut standby = stand_by(&party, &party.proxy.address, "standby", &[]);
    has_copy(&party, &mut standby, "standby");
    party.root_reports(" 4 of 4 workers busy");
    // Nothing of its machine is left.
    party.root().kill();
    fs::remove_file(party.file()).unwrap();
    let report = standby.report();
    QUEENS.check(&report);
    assert_eq!(report["settings"]["places"], 8, "{report}");
    for joiner in &mut party.joiners {
        assert_eq!(joiner.end(), Some(0), "{}", joiner.said());
        assert!(joiner.said().contains("reached the root again"), "{}", joiner.said());
    }
}

/// Two roots of one run count exactly, each on its own; the older one gives way without a result.
#[test]
fn a_root_gives_way_to_the_standby_that_took_its_place() {
    let mut party = Party::begin("two-roots", &QUEENS, 100_000, &[]);
    forget_copies(&party, &["two-roots"]);
    party.join();
    party.all_join();
    // One thread explores what remains in the end.
    let mut standby = stand_by(&party, &party.proxy.address, "two-roots", &["--pace", "20000"]);
    has_copy(&party, &mut standby, "two-roots");
    party.all_work(3);
    party.root().signal("-STOP");
    party.joiners[0].says("reached the root again", 1);
    party.root().signal("-CONT");
    let root = party.root();
    assert_eq!(root.end(), Some(1), "{}", root.said());
    assert!(root.said().contains("another process has taken over this search"), "{}", root.said());
    assert_eq!(root.output(), "");
    // What it has saved is that of the older root.
    party.start_root(&["resume"]);
    assert_eq!(party.root().end(), Some(1), "{}", party.root().said());
    QUEENS.check(&standby.report());
    assert_eq!(party.joiners[0].end(), Some(0), "{}", party.joiners[0].said());
}

#[test]
fn a_standby_that_alone_has_lost_the_root_does_not_take_over() {
    let mut party = Party::begin("minority", &QUEENS, 20_000, &[]);
    forget_copies(&party, &["minority"]);
    party.join();
    party.join();
    party.all_join();
    let proxy = Proxy::new(party.address());
    let mut standby = stand_by(&party, &proxy.address, "minority", &["--patience", "16s"]);
    has_copy(&party, &mut standby, "minority");
    party.root_reports(" 4 of 4 workers busy");
    proxy.close();
    assert_eq!(standby.end(), Some(1), "{}", standby.said());
    assert!(standby.said().contains("the connection to the root is lost: "), "{}", standby.said());
    assert_eq!(standby.output(), "");
    party.join_with(&["--pace", "3000000"]);
    QUEENS.check(&party.end());
}

/// The limits of the root hold for what remains, and a user's own program can stand by, too.
#[test]
fn a_standby_keeps_limits_and_runs_own_trees() {
    let flags = ["--node-limit", "1000000"];
    let mut party = Party::begin("standby-limit", &QUEENS, 100_000, &flags);
    forget_copies(&party, &["standby-limit"]);
    until("the key", || party.key().exists());
    let mut standby = stand_by(&party, &party.proxy.address, "standby-limit", &[]);
    has_copy(&party, &mut standby, "standby-limit");
    party.root_reports(" 2 of 2 workers busy");
    party.root().kill();
    let report = standby.report();
    assert_eq!(report["status"], "stopped");
    let nodes = report["nodes"]["bounded"].as_u64().unwrap();
    assert!((900_000..1_020_000).contains(&nodes), "{nodes}");

    let mut party = Party::of(&example_path("slow"), "standby-own", 1_000_000, &["10", "5"]);
    forget_copies(&party, &["standby-own"]);
    until("the key", || party.key().exists());
    let mut standby = stand_by(&party, &party.proxy.address, "standby-own", &[]);
    has_copy(&party, &mut standby, "standby-own");
    party.join();
    party.all_join();
    party.root().kill();
    assert_eq!(standby.report()["count"], 1024);
    assert_eq!(party.joiners[0].end(), Some(0), "{}", party.joiners[0].said());
}

/// The root's files need not exist on the standby's machine, and outputs are written next to the copy.
#[test]
fn a_standby_needs_no_file_of_the_root() {
    let words = ["solve", "knapsack", "items.txt", "--solution", "best.txt"];
    let mut party = Party::begin("standby-files", &QUEENS, 1, &[]);
    party.root().kill();
    forget_copies(&party, &["standby-files"]);
    let elsewhere = party.folder.join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let items = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/knapsack/correlated-60.txt");
    fs::copy(items, elsewhere.join("items.txt")).unwrap();
    let mut command = party.command(&words);
    command.current_dir(&elsewhere).args(["--pace", "1000000", "--checkpoint", "run.pleach"]);
    command.args(["--every", "200ms", "--listen", party.address()]);
    let mut root = Process::start(&mut command, &party.folder, "root-with-files");
    root.says("to join", 1);
    let mut standby = stand_by(&party, party.address(), "standby-files", &["--pace", "3000000"]);
    has_copy(&party, &mut standby, "standby-files");
    root.kill();
    fs::remove_dir_all(&elsewhere).unwrap();
    let report = standby.report();
    assert_eq!((&report["status"], &report["objective"]), (&"optimal".into(), &215_359.into()));
    let best = fs::read_to_string(party.folder.join("standby-files.pleach.solution.txt")).unwrap();
    assert_eq!(best.split_whitespace().count(), report["solution"].as_array().unwrap().len());
}

/// A command may search twice, and so begin another run; the copy goes with the search.
#[test]
fn a_standby_follows_to_the_next_search() {
    let search = Search {
        words: "solve flowshop VFR10_5_1 --best optimum --bound one --all",
        count: None,
        branched: None,
        bounded: 0,
    };
    let mut party = Party::begin("standby-all", &search, 200_000, &[]);
    forget_copies(&party, &["standby-all"]);
    until("the key", || party.key().exists());
    let mut standby = stand_by(&party, &party.proxy.address, "standby-all", &[]);
    let report = party.end();
    assert_eq!(report["status"], "optimal", "{report}");
    assert_eq!(standby.end(), Some(0), "{}", standby.said());
    assert!(!party.folder.join("standby-all.pleach").exists());
}

#[test]
fn what_cannot_be_copied_is_refused() {
    let mut party = Party::begin("no-standby", &QUEENS, 1000, &[]);
    forget_copies(&party, &["first", "second", "foreign"]);
    until("the key", || party.key().exists());
    let copy = |name: &str| party.folder.join(format!("{name}.pleach"));
    let why = |party: &Party, flags: &[&str], code: i32| {
        let mut command = party.joining(party.key(), party.address(), flags);
        let output = output_of(&mut command);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{flags:?}: {said}");
        said
    };
    let standby = ["--standby", &free_address()];
    assert!(why(&party, &standby, 2).contains("--standby needs --checkpoint FILE"));
    let second = copy("second");
    let saved = ["--checkpoint", second.to_str().unwrap()];
    assert!(why(&party, &saved, 2).contains("--checkpoint has no effect without --standby"));
    let both = [standby, saved].concat();
    // A file that holds something else is left alone.
    fs::write(&second, "important").unwrap();
    assert!(why(&party, &both, 2).contains("not a checkpoint; refusing to overwrite it"));
    assert_eq!(fs::read_to_string(&second).unwrap(), "important");
    fs::remove_file(&second).unwrap();
    // So is the checkpoint of another search.
    let mut other = Party::begin("other-search", &QUEENS, 1000, &[]);
    let (file, foreign) = (other.file(), copy("foreign"));
    until("a file", || file.exists());
    fs::copy(&file, &foreign).unwrap();
    other.root().kill();
    let bytes = fs::read(&foreign).unwrap();
    let elsewhere = ["--standby", &free_address(), "--checkpoint", foreign.to_str().unwrap()];
    assert!(why(&party, &elsewhere, 2).contains("it holds another search"));
    assert_eq!(fs::read(&foreign).unwrap(), bytes);
    let mut first = stand_by(&party, party.address(), "first", &[]);
    has_copy(&party, &mut first, "first");
    assert!(why(&party, &both, 1).contains("is already the standby"));
    first.kill();
    let impatient = [&both[..], &["--patience", "5s"]].concat();
    assert!(why(&party, &impatient, 2).contains("--standby needs a --patience of 15s or more"));
    // A search that is not saved has nothing to copy.
    let mut command = party.command(&["count", "queens", "13", "--pace", "1000"]);
    command.args(["--listen", party.address()]);
    party.root().kill();
    let mut unsaved = Process::start(&mut command, &party.folder, "unsaved");
    unsaved.says("to join", 1);
    let said = why(&party, &both, 1);
    assert!(said.contains("the root needs --checkpoint FILE"), "{said}");
}

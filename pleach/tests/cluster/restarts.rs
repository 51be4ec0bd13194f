//! Roots that end and start again, unchanged or with other flags, while their joiners keep running.

use super::QUEENS;
use super::party::{Party, Search};
use crate::outside::{example_path, folder, json, until};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

fn knapsack() -> String {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/knapsack/correlated-60.txt");
    format!("solve knapsack {file}")
}

/// A joiner used to come back with the value to beat of a root that was dead, so that the next one, which had none,
/// proved a wrong optimum.
#[test]
fn a_value_to_beat_ends_with_its_run() {
    let words = knapsack();
    let optimum = json(&words)["objective"].as_i64().unwrap();
    let search = Search { words: &words, count: None, branched: None, bounded: 0 };
    let best = optimum.to_string();
    let mut party = Party::begin("value", &search, 1, &["--best", &best]);
    party.join_with(&["--pace", "3000000"]);
    party.all_join();
    party.root().kill();
    std::fs::remove_file(party.file()).unwrap();
    let again: Vec<&str> = words.split(' ').chain(["--pace", "20000"]).collect();
    party.start_root(&again);
    party.joiners[0].says("the root has begun another run", 1);
    let report = party.end();
    assert_eq!(
        (&report["status"], report["objective"].as_i64()),
        (&"optimal".into(), Some(optimum))
    );
}

/// Joiners that a root had stopped before it died used to stay stopped, and to stop all others.
#[test]
fn a_stop_ends_with_its_root() {
    let mut party = Party::begin("stopped", &QUEENS, 20_000, &[]);
    // It keeps what it is given for much longer than the test lasts.
    party.join_with(&["--pace", "1000"]);
    party.all_join();
    party.all_work(2);
    let file = party.file();
    until("a file", || file.exists());
    party.joiners[0].signal("-STOP");
    // The first asks for an orderly end, for which the joiner would be needed.
    party.root().signal("-INT");
    until("the end of the root", || {
        // Two signals in a row count as one.
        thread::sleep(Duration::from_millis(50));
        party.root().signal("-INT");
        party.root().is_over()
    });
    party.start_root(&["resume"]);
    party.root().says("to join", 1);
    party.joiners[0].signal("-CONT");
    party.joiners[0].says("reached the root again", 1);
    party.all_work(2);
    party.join_with(&["--pace", "2000000"]);
    QUEENS.check(&party.end());
}

/// A joiner that was asleep while its root ended in an orderly way used to report that root as lost, and to join the
/// next one only to leave it at once.
#[test]
fn a_root_that_has_ended_is_not_lost() {
    let hold = folder("cluster-ended").join("hold");
    File::create(&hold).unwrap();
    let held = format!("hold={}", hold.display());
    let words = ["4", "200", &held];
    let mut party = Party::of(&example_path("slow"), "ended", 1_000_000, &words);
    party.join();
    party.all_join();
    // During its first node the root has no work to give: its end waits for nobody.
    party.joiners[0].signal("-STOP");
    party.root().signal("-INT");
    party.root_reports(" workers busy");
    fs::remove_file(&hold).unwrap();
    let report = party.end();
    assert!(report["sites"][1]["end"].is_null(), "{report}");
    party.start_root(&["resume"]);
    party.root().says("to join", 1);
    party.joiners[0].signal("-CONT");
    let joiner = &mut party.joiners[0];
    assert_eq!(joiner.end(), Some(0), "{}", joiner.said());
    assert!(!joiner.said().contains("lost"), "{}", joiner.said());
}

/// A root that could not write an output at its end used to look dead: its joiners waited for another one.
#[test]
fn a_root_that_cannot_write_an_output_has_ended() {
    let gone = folder("cluster-unwritten").join("gone");
    fs::create_dir_all(&gone).unwrap();
    let trace = gone.join("trace.json");
    let mut party =
        Party::begin("unwritten", &QUEENS, 20_000, &["--trace", trace.to_str().unwrap()]);
    party.join();
    party.all_join();
    fs::remove_dir_all(&gone).unwrap();
    party.root().signal("-INT");
    assert_eq!(party.end()["status"], "stopped");
    let root = party.root();
    assert_eq!(root.end(), Some(1));
    assert!(root.said().contains("cannot write"), "{}", root.said());
    let joiner = &mut party.joiners[0];
    assert_eq!(joiner.end(), Some(0), "{}", joiner.said());
}

/// A joiner whose root had a limit used to wait forever for nodes from a root that had none.
#[test]
fn a_limit_ends_with_its_root() {
    let flags = ["--node-limit", "4000000"];
    let mut party = Party::begin("limits", &QUEENS, 300_000, &flags);
    party.join();
    party.all_join();
    let file = party.file();
    until("a file", || file.exists());
    party.replace_root(&["resume"]);
    QUEENS.check(&party.end());
    let mut party = Party::begin("unlimited", &QUEENS, 300_000, &[]);
    party.join();
    party.all_join();
    let file = party.file();
    until("a file", || file.exists());
    party.replace_root(&["resume", "--node-limit", "20000"]);
    let report = party.end();
    assert_eq!(report["status"], "stopped");
    assert!(report["nodes"]["bounded"].as_u64().unwrap() < QUEENS.bounded, "{report}");
}

/// Whatever answered at the root's address while it was away used to end all joiners at once.
#[test]
fn other_answers_at_the_address_of_the_root_are_ignored() {
    let mut party = Party::begin("answers", &QUEENS, 300_000, &[]);
    party.join();
    party.all_join();
    let file = party.file();
    until("a file", || file.exists());
    party.root().kill();
    let listener = TcpListener::bind(party.address()).unwrap();
    listener.set_nonblocking(true).unwrap();
    let answers: [&[u8]; 3] = [b"HTTP/1.1 503 Service Unavailable\r\n\r\n", b"nothing", b""];
    for answer in answers {
        let mut caller = None;
        until("the joiner to call", || {
            caller = listener.accept().ok();
            caller.is_some()
        });
        let (mut socket, _) = caller.unwrap();
        socket.set_nonblocking(false).unwrap();
        // It has something to say first.
        let _ = socket.read(&mut [0; 64]);
        socket.write_all(answer).unwrap();
    }
    drop(listener);
    // A root of another search, with another key.
    let mut other = Party::begin("another", &QUEENS, 1, &[]);
    other.root().kill();
    other.listen_at(party.address());
    other.root().says("to join", 1);
    other.root().says("does not have this key", 1);
    other.root().kill();
    party.start_root(&["resume"]);
    party.joiners[0].says("reached the root again", 1);
    QUEENS.check(&party.end());
    assert_eq!(party.joiners[0].end(), Some(0), "{}", party.joiners[0].said());
}

/// A joiner whose connection broke on its side only used to be turned away: its own ghost had its place.
#[test]
fn a_joiner_replaces_its_ghost() {
    let mut party = Party::begin("ghost", &QUEENS, 300_000, &["--places", "2"]);
    party.join();
    party.all_join();
    party.proxy.cut_near(0);
    party.joiners[0].says("reached the root again", 1);
    let report = party.end();
    QUEENS.check(&report);
    assert_eq!(report["sites"].as_array().unwrap().len(), 3, "{}", report["sites"]);
    assert_eq!(party.joiners[0].end(), Some(0));
}

/// After a short disconnection, the root used to take over what a joiner held, and the joiner's work was wasted.
#[test]
fn a_short_disconnection_costs_nothing() {
    let mut party = Party::begin("short-cut", &QUEENS, 300_000, &[]);
    party.join();
    party.all_join();
    for cut in 1..=3 {
        party.proxy.cut(0);
        party.joiners[0].says("reached the root again", cut);
    }
    let report = party.end();
    QUEENS.check(&report);
    let redone =
        report["sites"].as_array().unwrap().iter().map(|it| it["redone"].as_u64().unwrap());
    assert_eq!(redone.sum::<u64>(), 0, "{}", report["sites"]);
}

/// After a restart, joiners that came back in another order used to get one another's places, and to drop all they held.
#[test]
fn joiners_get_their_places_back_in_any_order() {
    let mut party = Party::begin("places", &QUEENS, 200_000, &[]);
    for joiner in 0..2 {
        party.join();
        party.joiners[joiner].says("joined as site", 1);
    }
    let file = party.file();
    until("a file", || file.exists());
    party.joiners[0].signal("-STOP");
    party.replace_root(&["resume"]);
    party.joiners[1].says("reached the root again", 1);
    party.joiners[0].signal("-CONT");
    party.joiners[0].says("reached the root again", 1);
    QUEENS.check(&party.end());
}

/// A joiner made its tree from the first order, and used to search it for a root that had begun with other words.
#[test]
fn a_users_own_tree_is_not_searched_for_other_words() {
    let mut party = Party::of(&example_path("slow"), "other-words", 1_000_000, &["6", "100"]);
    party.join();
    party.all_join();
    party.root().kill();
    std::fs::remove_file(party.file()).unwrap();
    party.start_root(&["5", "100"]);
    party.joiners[0].says("the root has started another search: join again", 1);
    assert_eq!(party.joiners[0].end(), Some(1));
    assert_eq!(party.end()["count"], 32);
}

//! `solve qap` and `check qap` from outside: names, files, saved searches, and what is refused.

use crate::outside::{folder, json, pleach, refused};
use pleach::{Best, Error, Status, qap};
use std::fs;

#[test]
fn named_instances_are_proven() {
    for (name, optimum) in [("nug12", 578), ("had12.dat", 1652), ("chr15a", 9896), ("scr15", 51140)]
    {
        let answer = json(&format!("solve qap {name}"));
        assert_eq!(answer["status"], "optimal", "{name}");
        let values = (&answer["objective"], &answer["lower_bound"]);
        assert_eq!(values, (&optimum.into(), &optimum.into()), "{name}");
    }
    for how in ["--best none", "--best optimum --threads 1", "--best 600 --balance overlay"] {
        let answer = json(&format!("solve qap nug12 {how}"));
        assert_eq!((&answer["status"], &answer["objective"]), (&"optimal".into(), &578.into()));
    }
}

/// Nothing improves, so all see the same nodes.
#[test]
fn assignments_from_the_optimum_are_one_tree() {
    let common = "solve qap rou12 --best 235528";
    let one = json(&format!("{common} --threads 1"));
    assert_eq!((&one["status"], &one["lower_bound"]), (&"no-better".into(), &235_528.into()));
    assert!(one["nodes"]["branched"].as_u64() > Some(5_000));
    for how in ["--threads 2", "--threads 3", "--threads 3 --balance lifelines"] {
        assert_eq!(json(&format!("{common} {how}"))["nodes"], one["nodes"], "{how}");
    }
}

#[test]
fn a_stopped_search_for_assignments_is_resumed() {
    let file = folder("qap").join("saved.pleach");
    let _ = fs::remove_file(&file);
    let words = format!("solve qap rou12 --best 235528 --checkpoint {}", file.display());
    let stopped = pleach(&format!("{words} --node-limit 4000"));
    assert_eq!(stopped.status.code(), Some(3));
    assert!(pleach(&format!("resume {} --show", file.display())).status.success());
    let whole = json(&format!("resume {}", file.display()));
    assert_eq!(whole["nodes"], json("solve qap rou12 --best 235528")["nodes"]);
}

#[test]
fn assignments_are_written_checked_started_from_and_refused() {
    let folder = folder("qap");
    let (found, bad) = (folder.join("found.txt"), folder.join("bad.dat"));
    let (path, file) = (found.display(), bad.display());
    assert!(pleach(&format!("solve qap nug12 --solution {path}")).status.success());
    assert_eq!(json(&format!("check qap nug12 {path}"))["objective"], 578);
    let answer = json(&format!("solve qap nug12 --best none --start {path}"));
    assert_eq!((&answer["status"], &answer["objective"]), (&"optimal".into(), &578.into()));
    for (places, said) in [
        ("1 2", "found.txt: locations for 2 facilities, expected 12"),
        ("1 2 3 4 5 6 7 8 9 10 11 11", "found.txt: location 11 appears twice"),
        ("1 2 3 4 5 6 7 8 9 10 11 13", "found.txt: location 13, expected 1 to 12"),
        ("1 x", "line 1: 'x', expected the number of a location"),
    ] {
        fs::write(&found, places).unwrap();
        refused(&format!("check qap nug12 {path}"), said);
    }
    for (text, said) in [
        ("2\n0 1\n1 y\n", "bad.dat, line 3: 'y', expected a whole number"),
        ("2\n0 1 1 0\n0 1\n", "bad.dat: 6 numbers after the size 2"),
        (
            "1\n9223372036854775807\n2\n",
            "bad.dat: the sum of all flows times the greatest distance",
        ),
    ] {
        fs::write(&bad, text).unwrap();
        refused(&format!("solve qap {file}"), said);
    }
    // One location stays empty.
    fs::write(&bad, "2\n0 1\n1 0\n3\n0 5 6\n5 0 4\n6 4 0\n").unwrap();
    assert_eq!(json(&format!("solve qap {file}"))["objective"], 8);
    refused("solve qap nug13", "expected a file, or a name such as nug12");
    refused("solve qap nug12 --best neh", "--best neh is for flowshop");
    refused(&format!("solve qap {file} --best optimum"), "no optimum is published");
}

#[test]
fn the_library_finds_the_same_assignment() {
    let instance = qap::named("chr12a").unwrap().unwrap();
    let answer = qap::solve(&instance, qap::Options::default()).unwrap();
    assert_eq!((answer.status, answer.cost), (Status::Optimal, qap::optimum("chr12a")));
    assert_eq!(Some(instance.cost(&answer.places.unwrap())), answer.cost);
    let options = qap::Options { best: Best::Neh, ..qap::Options::default() };
    assert!(matches!(qap::solve(&instance, options), Err(Error::Input(_))));
}

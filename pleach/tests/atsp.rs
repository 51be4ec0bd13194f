//! `solve atsp` and `check atsp` from outside: names, files, flags, and what is refused.

use crate::outside::{folder, json, pleach, refused};
use std::fs;

#[test]
fn named_files_are_proven_with_every_bound() {
    for (name, optimum) in [("br17", 39), ("ftv33", 1286), ("ry48p.atsp", 14422), ("p43", 5620)] {
        let answer = json(&format!("solve atsp {name}"));
        assert_eq!(answer["status"], "optimal", "{name}");
        assert_eq!(
            (&answer["objective"], &answer["lower_bound"]),
            (&optimum.into(), &optimum.into())
        );
        assert_eq!(answer["solution"][0], 1, "{name}");
    }
    for how in
        ["--bound assignment", "--bound arborescence --best none", "--best 1500 --balance overlay"]
    {
        let answer = json(&format!("solve atsp ftv35 {how}"));
        assert_eq!((&answer["status"], &answer["objective"]), (&"optimal".into(), &1473.into()));
    }
    // Heuristics look for the tour itself for a second, which may be too short on a busy machine.
    let answer = json("solve atsp ftv35 --best optimum --threads 1");
    assert_eq!(answer["lower_bound"], 1473);
    if answer["status"] != "no-better" {
        assert_eq!((&answer["status"], &answer["objective"]), (&"optimal".into(), &1473.into()));
    }
    let answer = json("solve atsp ftv35 --best 1400");
    assert_eq!((&answer["status"], &answer["lower_bound"]), (&"no-better".into(), &1400.into()));
    assert_eq!(json("solve atsp ftv33")["settings"]["bound"], "arborescence");
    assert_eq!(json("solve atsp amat:100:1")["settings"]["bound"], "assignment");
}

#[test]
fn paths_from_the_optimum_are_one_tree() {
    let optimum = json("solve atsp crane:13:1")["objective"].to_string();
    let common = format!("solve atsp crane:13:1 --bound partial --best {optimum}");
    let one = json(&format!("{common} --threads 1 --simd off"))["nodes"].clone();
    assert!(one["branched"].as_u64() > Some(100_000));
    for how in ["--threads 2", "--nodes interval", "--balance lifelines --threads 3"] {
        assert_eq!(json(&format!("{common} {how}"))["nodes"], one, "{how}");
    }
}

#[test]
fn tours_are_written_checked_and_started_from() {
    let file = folder("atsp").join("tour.txt");
    let path = file.display();
    assert!(pleach(&format!("solve atsp ftv38 --solution {path}")).status.success());
    assert_eq!(json(&format!("check atsp ftv38 {path}"))["objective"], 1530);
    let answer = json(&format!("solve atsp ftv38 --best none --start {path}"));
    assert_eq!((&answer["status"], &answer["objective"]), (&"optimal".into(), &1530.into()));
    fs::write(&file, "1 2 x").unwrap();
    refused(&format!("check atsp ftv38 {path}"), "line 1: 'x', expected the number of a city");
    fs::write(&file, "1 2 2").unwrap();
    refused(&format!("check atsp ftv38 {path}"), "city 2 appears twice");
}

#[test]
fn files_of_any_name_are_read() {
    let file = folder("atsp").join("mine.atsp");
    let path = file.display();
    let text = "DIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n\
                EDGE_WEIGHT_SECTION\n0 1 9\n9 0 1\n-1 9 0\nEOF\n";
    fs::write(&file, text).unwrap();
    let answer = json(&format!("solve atsp {path}"));
    assert_eq!((&answer["status"], &answer["objective"]), (&"optimal".into(), &1.into()));
    // No tour is shorter than 1, and a value may well be negative.
    assert_eq!(json(&format!("solve atsp {path} --best -3"))["status"], "no-better");
    fs::write(&file, text.replace("9 0 1", "9 0 one")).unwrap();
    refused(&format!("solve atsp {path}"), "line 6: 'one', expected a whole number");
}

#[test]
fn a_search_is_stopped_and_resumed() {
    let file = folder("atsp").join("run.pleach");
    let path = file.display();
    let _ = fs::remove_file(&file);
    let stopped = pleach(&format!("solve atsp ftv64 --node-limit 100 --checkpoint {path}"));
    assert_eq!(stopped.status.code(), Some(3));
    let shown = json(&format!("resume {path} --show"));
    assert!(shown["open"].as_f64() > Some(0.0) && shown["lower_bound"].as_i64() > Some(1700));
    let answer = json(&format!("resume {path}"));
    assert_eq!((&answer["status"], &answer["objective"]), (&"optimal".into(), &1839.into()));
}

#[test]
fn contradictory_options_are_refused() {
    for (words, said) in [
        ("ftv34", "expected a file, a name such as ftv33, or CLASS:CITIES:SEED"),
        ("crane:9", "expected CLASS:CITIES:SEED"),
        ("ftv33 --bound two", "expected auto, partial, assignment or arborescence"),
        ("ftv33 --branching forward", "--branching does not apply to 'solve atsp'"),
        ("ftv33 --all", "--all does not apply to 'solve atsp'"),
        ("ftv33 --nodes interval", "--nodes interval works only with --bound partial"),
        (
            "ftv33 --best neh",
            "--best neh is for flowshop; expected none, optimum, search or a number",
        ),
        ("crane:9:1 --best optimum", "no optimum is published for crane:9:1"),
        ("ft70 --bound partial", "70 cities, expected at most 64"),
    ] {
        refused(&format!("solve atsp {words}"), said);
    }
}

//! `solve clique` and `check clique` from outside: names, files, saved searches, and what is refused.

use crate::outside::{folder, json, pleach, refused};
use pleach::{Search, Status, clique};
use std::fs;

#[test]
fn named_graphs_are_proven() {
    for (name, size) in [("brock200_2", 12), ("brock200_4.clq", 17), ("c-fat200-1", 12)] {
        let answer = json(&format!("solve clique {name}"));
        assert_eq!(answer["status"], "optimal", "{name}");
        assert_eq!((&answer["objective"], &answer["lower_bound"]), (&size.into(), &size.into()));
        assert_eq!(answer["solution"].as_array().unwrap().len(), size);
    }
}

/// Nothing improves, so all see the same nodes.
#[test]
fn searches_from_the_optimum_are_one_tree() {
    let common = "solve clique brock200_4 --best 17";
    let one = json(&format!("{common} --threads 1"));
    assert_eq!((&one["status"], &one["lower_bound"]), (&"no-better".into(), &17.into()));
    assert!(one["nodes"]["branched"].as_u64() > Some(10_000));
    for how in ["--threads 2", "--threads 3", "--threads 3 --balance lifelines"] {
        assert_eq!(json(&format!("{common} {how}"))["nodes"], one["nodes"], "{how}");
    }
}

#[test]
fn a_stopped_search_for_cliques_is_resumed() {
    let file = folder("clique").join("saved.pleach");
    let _ = fs::remove_file(&file);
    let words = format!("solve clique brock200_4 --best 17 --checkpoint {}", file.display());
    let stopped = pleach(&format!("{words} --node-limit 20000"));
    assert_eq!(stopped.status.code(), Some(3));
    let shown = pleach(&format!("resume {} --show", file.display()));
    assert!(shown.status.success());
    let whole = json(&format!("resume {}", file.display()));
    assert_eq!(whole["nodes"], json("solve clique brock200_4 --best 17")["nodes"]);
}

#[test]
fn cliques_are_written_checked_and_refused() {
    let folder = folder("clique");
    let (graph, found) = (folder.join("graph.clq"), folder.join("found.txt"));
    fs::write(&graph, "c two triangles\np edge 5 6\ne 1 2\ne 2 3\ne 1 3\ne 3 4\ne 4 5\ne 3 5\n")
        .unwrap();
    let (graph, path) = (graph.display(), found.display());
    assert!(pleach(&format!("solve clique {graph} --solution {path}")).status.success());
    assert_eq!(json(&format!("check clique {graph} {path}"))["objective"], 3);
    for (clique, said) in [
        ("1 2 4", "found.txt: vertices 1 and 4 are not adjacent"),
        ("1 1", "found.txt: vertex 1 appears twice"),
        ("6", "found.txt: vertex 6, expected 1 to 5"),
        ("1 x", "line 1: 'x', expected the number of a vertex"),
    ] {
        fs::write(&found, clique).unwrap();
        refused(&format!("check clique {graph} {path}"), said);
    }
    fs::write(folder.join("bad.clq"), "p edge 3 1\ne 1 4\n").unwrap();
    let bad = folder.join("bad.clq");
    refused(
        &format!("solve clique {}", bad.display()),
        "bad.clq, line 2: vertex 4, expected 1 to 3",
    );
    refused("solve clique brock200_5", "expected a file, or a name such as brock200_4");
    refused(
        "solve clique brock200_4 --best search",
        "--best search: expected none or a whole number",
    );
}

#[test]
fn the_library_finds_the_same_clique() {
    let graph = clique::named("brock200_2").unwrap().unwrap();
    let answer = clique::solve(&graph, None, Search::default()).unwrap();
    assert_eq!((answer.status, answer.size), (Status::Optimal, clique::optimum("brock200_2")));
    assert_eq!(graph.clique(&answer.vertices.unwrap()), Ok(12));
    let none = clique::solve(&graph, Some(12), Search::default()).unwrap();
    assert_eq!((none.status, none.bound), (Status::NoBetter, Some(12)));
}

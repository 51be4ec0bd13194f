//! No dependency cycles between the files of a crate: to read one, only those below it matter.

use crate::house::{ORDER, root};
use crate::imports::{Graph, Modules};
use std::collections::BTreeSet;

#[test]
fn no_files_form_a_circle() {
    let mut circles = Vec::new();
    for (folder, _) in ORDER {
        let graph = Modules::of(&root().join(folder).join("src")).graph();
        let least = if folder == "core/derive" { 1 } else { 5 };
        assert!(graph.len() >= least, "{folder}: {} files", graph.len());
        circles.extend(ties(&graph).into_iter().map(|tie| format!("{folder}/src: {tie}")));
    }
    assert!(circles.is_empty(), "files that form circles:\n{}", circles.join("\n"));
}

/// What ties files of a circle to each other.
fn ties(graph: &Graph) -> Vec<String> {
    let mut ties = Vec::new();
    for (file, taken) in graph {
        for (other, names) in taken.iter().filter(|(other, _)| reached(graph, other).contains(file))
        {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            ties.push(format!("{file} -> {other} ({})", names.join(", ")));
        }
    }
    ties
}

/// The files to which the imports of a file lead.
fn reached<'g>(graph: &'g Graph, from: &'g str) -> BTreeSet<&'g String> {
    let (mut found, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(file) = next.pop() {
        let others = graph.get(file).into_iter().flat_map(|taken| taken.keys());
        next.extend(others.filter(|other| found.insert(*other)).map(String::as_str));
    }
    found
}

/// The ties of a crate of these files.
fn ties_of(files: &[(&str, &str)]) -> Vec<String> {
    let text =
        |file: &str| files.iter().find(|(name, _)| *name == file).map(|(_, text)| text.to_string());
    ties(&Modules::read(&text).graph())
}

#[test]
fn circles_are_found_by_imports_and_by_paths() {
    let found = ties_of(&[
        ("lib.rs", "mod a;\nmod b;\nmod c;"),
        ("a.rs", "use crate::{b::{self, Late as Early}, c};\npub struct First;"),
        ("b.rs", "pub struct Late;\nfn f() -> usize { super::c::size(&[1]) }"),
        ("c.rs", "pub fn size(x: &[u8]) -> usize { crate::a::First; x.len() }"),
    ]);
    let wanted = [
        "a.rs -> b.rs (crate::b::Late)",
        "b.rs -> c.rs (super::c::size)",
        "c.rs -> a.rs (crate::a::First)",
    ];
    assert_eq!(found, wanted);
}

#[test]
fn a_module_that_hands_names_on_is_looked_through() {
    let children = [
        ("a/b.rs", "use super::C;\npub struct B(C);"),
        ("a/c.rs", "pub struct C;"),
        ("lib.rs", "mod a;\nuse a::B;\nfn f(b: B) {}"),
    ];
    let of = |parent| ties_of(&[&children[..], &[("a/mod.rs", parent)]].concat());
    assert_eq!(of("mod b;\nmod c;\npub use b::B;\npub use c::C;"), [""; 0]);
    // It defines what a child uses, and uses the child.
    let found = of("mod b;\npub use b::B;\npub struct C;\nimpl C { fn b(self) -> B { B(self) } }");
    assert_eq!(found, ["a/b.rs -> a/mod.rs (super::C)", "a/mod.rs -> a/b.rs (b::B)"]);
}

#[test]
fn comments_strings_and_tests_name_nothing() {
    let found = ties_of(&[
        ("lib.rs", "mod a;\nmod b;"),
        ("a.rs", "use crate::b::B;\npub struct A<'a>(&'a B, char);"),
        (
            "b.rs",
            "//! [`crate::a::A`]\npub struct B;\n/* crate::a::A */ const S: &str = \"crate::a::A\";\n\
             const C: char = '\"';\nconst R: &str = r#\"\"crate::a::A\"#;\n\
             #[cfg(test)]\nmod tests { use crate::a::A; }\n#[cfg(all(test, unix))]\nuse crate::a::A;",
        ),
    ]);
    assert_eq!(found, [""; 0]);
}

//! No circles between the files of a crate: each can be read with those below it in mind, and no others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module by the names that lead to it from the root of its crate.
type Module = Vec<String>;

/// Circles that stay: a kernel's trait stands with its problem, which also chooses among the kernels of
/// `simd`; and parts of one search that were split for length.
const ALLOWED: [&str; 6] = [
    "problems/uts",
    "problems/queens",
    "problems/simd::",
    "problems/flowshop::",
    "problems/atsp::tours problems/atsp::branch problems/atsp::prepare",
    "problems/atsp::arcs problems/atsp::twins",
];

#[test]
fn files_of_a_crate_form_no_circles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut circles = Vec::new();
    for folder in ["core", "lab", "problems", "runtime", "gpu", "cluster", "loops", "pleach"] {
        let graph = graph(&root.join(folder).join("src"));
        assert!(graph.len() > 10, "{folder}");
        for module in graph.keys().filter(|module| reaches(&graph, module, module)) {
            let name = format!("{folder}/{}", module.join("::"));
            let allowed = |place: &&str| {
                place.split(' ').any(|it| name == it || it.ends_with("::") && name.starts_with(it))
                    || name.starts_with(&format!("{place}::"))
            };
            if !ALLOWED.iter().any(allowed) {
                circles.push(name);
            }
        }
    }
    assert!(circles.is_empty(), "in circles: {circles:#?}");
}

/// The test sees circles at all, and paths of every kind.
#[test]
fn imports_are_understood() {
    let text =
        "use super::{a::b, c};\nuse crate::x::{self, Y as Z};\npub use self::d::*;\nuse std::e;";
    let known = ["m::a", "m::a::b", "m::c", "x", "m::n::d", "m::n"];
    let known: BTreeSet<Module> =
        known.iter().map(|path| path.split("::").map(str::to_string).collect()).collect();
    let here: Module = vec!["m".into(), "n".into()];
    let found: Vec<String> =
        imports(text, &here, &known).iter().map(|module| module.join("::")).collect();
    assert_eq!(found, ["m::a::b", "m::c", "m::n::d", "x"]);
    let edges =
        [(vec!["a".to_string()], vec!["b".to_string()]), (vec!["b".into()], vec!["a".into()])];
    let graph = edges.into_iter().map(|(from, to)| (from, BTreeSet::from([to]))).collect();
    assert!(reaches(&graph, &vec!["a".into()], &vec!["a".into()]));
}

/// What each file of a folder imports of the others, tests left out.
fn graph(src: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut files = BTreeMap::new();
    collect(src, &mut Vec::new(), &mut files);
    let known: BTreeSet<Module> = files.keys().cloned().collect();
    let imported = |(module, path): (&Module, &PathBuf)| {
        let text = fs::read_to_string(path).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        (module.clone(), imports(text, module, &known))
    };
    files.iter().map(imported).collect()
}

fn collect(folder: &Path, at: &mut Module, files: &mut BTreeMap<Module, PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            at.push(name);
            collect(&path, at, files);
            at.pop();
        } else if path.extension().is_some_and(|it| it == "rs") && !name.ends_with("tests") {
            let own = !["mod", "lib", "main"].contains(&name.as_str());
            files.insert(at.iter().cloned().chain(own.then_some(name)).collect(), path);
        }
    }
}

/// The other modules that a file imports from.
fn imports(text: &str, here: &Module, known: &BTreeSet<Module>) -> BTreeSet<Module> {
    let mut found = BTreeSet::new();
    for statement in text.split(';') {
        let last = statement.rfind("use ").filter(|&at| {
            let before = statement[..at].trim_end_matches(' ');
            before.is_empty()
                || before.ends_with('\n')
                || before.ends_with("pub")
                || before.ends_with(')')
        });
        let Some(at) = last else { continue };
        let paths = expanded(statement[at + 4..].trim());
        found.extend(paths.iter().filter_map(|path| reached(path, here, known)));
    }
    found.extend(named(text).iter().filter_map(|path| reached(path, here, known)));
    found
}

/// The other module to which a path leads from a module.
fn reached(path: &str, here: &Module, known: &BTreeSet<Module>) -> Option<Module> {
    let mut words: Vec<&str> = path.split("::").map(str::trim).collect();
    let mut base = here.clone();
    match words.first() {
        Some(&"crate") => base.clear(),
        Some(&"self") => {}
        Some(&"super") => {
            while words.first() == Some(&"super") {
                words.remove(0);
                base.pop();
            }
            words.insert(0, "");
        }
        _ => return None,
    }
    // The longest part of the path that is a file.
    let mut best = base.clone();
    for word in &words[1..] {
        base.push((*word).to_string());
        if !known.contains(&base) {
            break;
        }
        best.clone_from(&base);
    }
    (best != *here && known.contains(&best)).then_some(best)
}

/// The paths that code names where it stands, without a `use`.
fn named(text: &str) -> Vec<String> {
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back().unwrap_or(' ');
            if !before.is_alphanumeric() && !['_', ':'].contains(&before) {
                let end =
                    code[at..].find(|c: char| !c.is_alphanumeric() && !['_', ':'].contains(&c));
                found.push(code[at..end.map_or(code.len(), |end| at + end)].to_string());
            }
        }
    }
    found
}

/// The paths of a `use`, braces resolved.
fn expanded(path: &str) -> Vec<String> {
    let Some((head, rest)) = path.split_once('{') else {
        return vec![path.split(" as ").next().unwrap_or_default().to_string()];
    };
    let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in inner.chars() {
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            _ => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                parts.last_mut().unwrap().push(c);
            }
        }
    }
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.flat_map(|part| expanded(&format!("{head}{part}"))).collect()
}

/// Whether imports lead from one module to another.
fn reaches(graph: &BTreeMap<Module, BTreeSet<Module>>, from: &Module, to: &Module) -> bool {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(module) = next.pop() {
        for other in graph.get(module).into_iter().flatten() {
            if other == to {
                return true;
            }
            if seen.insert(other) {
                next.push(other);
            }
        }
    }
    false
}

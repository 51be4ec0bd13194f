//! The rules of the house: short files that say what they are for, `unsafe` inside its fences,
//! crates that point downwards, nothing left unfinished.

use crate::imports::Modules;
use std::fs;
use std::path::{Path, PathBuf};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// All files below the workspace with one of these endings, as path from its root and text.
fn files(endings: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = vec![root()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                open.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                let short = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
                found.push((short, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(found.len() > 3, "no files with endings {endings:?}");
    found
}

fn complain(what: &str, places: &[String]) {
    assert!(places.is_empty(), "{what}:\n{}", places.join("\n"));
}

/// How names of files with code end.
const SOURCES: [&str; 5] = [".rs", ".cu", ".cuh", ".cpp", ".hpp"];

#[test]
fn files_are_short() {
    let long = files(&SOURCES).into_iter().filter(|(_, text)| text.lines().count() > 500);
    complain("over 500 lines", &long.map(|(path, _)| path).collect::<Vec<_>>());
}

#[test]
fn files_open_with_what_they_are_for() {
    let silent = files(&SOURCES).into_iter().filter(|(path, text)| {
        let opening = if path.ends_with(".rs") { "//! " } else { "// " };
        !text.starts_with(opening)
    });
    complain("no opening sentence", &silent.map(|(path, _)| path).collect::<Vec<_>>());
}

/// The type that a line of code defines, unless it is one of a trait or of a test.
fn defined(line: &str) -> Option<&str> {
    let visible = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(')').map_or(rest, |(_, rest)| rest),
        None => rest,
    });
    let keywords = ["struct ", "enum ", "trait ", "type "];
    let rest = keywords.iter().find_map(|keyword| visible.trim_start().strip_prefix(keyword))?;
    let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
    // Types of traits and tests are indented.
    line.starts_with(|c: char| !c.is_whitespace()).then_some(&rest[..end])
}

#[test]
fn every_type_of_the_engine_has_a_name_of_its_own() {
    let engine = |path: &str| {
        let folders = [
            "core/src/", "runtime/src/", "cluster/src/", "gpu/src/", "gpu/kernels/src/",
            "loops/src/looping/",
        ];
        let inside = folders.iter().any(|it| path.starts_with(it));
        inside && !path.contains("tests")
    };
    let mut found: Vec<(String, String)> = Vec::new();
    for (path, text) in files(&[".rs"]).into_iter().filter(|(path, _)| engine(path)) {
        found.extend(text.lines().filter_map(|line| Some((defined(line)?.into(), path.clone()))));
    }
    assert!(found.len() > 300, "only {} types", found.len());
    found.sort();
    let twice = found.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    let twice = twice.map(|pair| format!("{} in {} and {}", pair[0].0, pair[0].1, pair[1].1));
    complain("names of two types", &twice.collect::<Vec<_>>());
}

/// The only places where `unsafe` may stand.
const FENCES: [&str; 11] = [
    "problems/src/simd/",
    "loops/src/simd/",
    "gpu/kernels/src/emulated/",
    "gpu/kernels/tests/kernels/device.rs",
    "gpu/kernels/examples/evaluate_host.rs",
    "cluster/src/mpi/",
    "runtime/src/worker_pool.rs",
    "runtime/src/pins.rs",
    "runtime/src/standard.rs",
    "gpu/src/",
    "python/src/native.rs",
];

#[test]
fn unsafe_stands_inside_its_fences_and_is_explained() {
    let mut places = Vec::new();
    for (path, text) in files(&[".rs"]) {
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let words = code.replace(|c: char| !c.is_alphanumeric() && c != '_', " ");
            if path.ends_with("house.rs") || !words.split(' ').any(|word| word == "unsafe") {
                continue;
            }
            let declares = code.contains("unsafe fn");
            let above = &lines[i.saturating_sub(3)..i];
            let said =
                above.iter().any(|line| line.contains("SAFETY:") || line.contains("# Safety"));
            let documented =
                declares && lines[i.saturating_sub(8)..i].iter().any(|l| l.contains("# Safety"));
            if !FENCES.iter().any(|fence| path.starts_with(fence)) || !(said || documented) {
                places.push(format!("{path}:{}: {}", i + 1, line.trim()));
            }
        }
    }
    complain("unsafe outside its fence or without a reason", &places);
}

/// Crates from the lowest up: each may use only those before it.
pub const ORDER: [(&str, &str); 11] = [
    ("core/derive", "pleach-derive"),
    ("core", "pleach-core"),
    ("lab", "pleach-lab"),
    ("problems", "pleach-problems"),
    ("runtime", "pleach-runtime"),
    ("gpu/kernels", "pleach-kernels"),
    ("gpu", "pleach-gpu"),
    ("cluster", "pleach-cluster"),
    ("loops", "pleach-loops"),
    ("serve", "pleach-serve"),
    ("pleach", "pleach"),
];

/// Crates that know no problem: they use them in their tests alone.
const ENGINE: [&str; 6] = ["lab", "runtime", "gpu", "cluster", "loops", "serve"];

#[test]
fn arrows_between_crates_point_down() {
    let mut places = Vec::new();
    for (at, (folder, _)) in ORDER.iter().enumerate() {
        let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        let used = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let used = used.split("\n[").next().unwrap_or_default();
        for &(_, package) in &ORDER[at..] {
            let names = |line: &str| line.split(['.', ' ']).next() == Some(package);
            if used.lines().any(names) {
                places.push(format!("{folder} uses {package}"));
            }
        }
    }
    for folder in ENGINE {
        let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        let used = manifest.split("[dev-dependencies]").next().unwrap_or_default();
        if used.contains("pleach-problems") {
            places.push(format!("{folder} uses pleach-problems"));
        }
    }
    complain("arrows that point up", &places);
}

/// The same by what the code names, tests left out.
#[test]
fn code_names_no_crate_above_its_own() {
    let mut places = Vec::new();
    for (at, (folder, _)) in ORDER.iter().enumerate() {
        let above = ORDER[at..].iter().map(|&(_, package)| package);
        let of_problems = ENGINE.contains(folder).then_some("pleach-problems");
        let refused: Vec<String> =
            above.chain(of_problems).map(|package| package.replace('-', "_")).collect();
        let heads = Modules::of(&root().join(folder).join("src")).heads();
        assert!(*folder != "pleach" || heads.iter().any(|(_, head)| head == "pleach_core"));
        let wrong = heads.into_iter().filter(|(_, head)| refused.contains(head));
        places.extend(wrong.map(|(file, head)| format!("{folder}/src/{file}: {head}")));
    }
    complain("code that names a crate above", &places);
}

#[test]
fn core_touches_no_machine() {
    let mut places = Vec::new();
    for (path, text) in files(&[".rs"]) {
        let fenced = path.starts_with("core/src/") || path.starts_with("lab/src/");
        for word in ["std::thread", "std::time", "std::fs", "std::env", "std::net"] {
            if fenced && text.contains(word) {
                places.push(format!("{path}: {word}"));
            }
        }
    }
    complain("a machine inside core", &places);
}

#[test]
fn nothing_is_left_unfinished() {
    let words = ["TO".to_string() + "DO", "FIX".to_string() + "ME", "todo".to_string() + "!("];
    let ignored = "#[ign".to_string() + "ore";
    let mut places = Vec::new();
    for (path, text) in files(&[".rs", ".sh", ".md", ".toml"]) {
        for (i, line) in text.lines().enumerate() {
            let left = words.iter().any(|word| line.contains(word.as_str()));
            if left || line.contains(&ignored) {
                places.push(format!("{path}:{}", i + 1));
            }
        }
    }
    complain("left unfinished", &places);
}

#[test]
fn every_dependency_is_justified() {
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut places = Vec::new();
    for (folder, _) in ORDER {
        let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        for section in manifest.split("\n[").filter(|section| {
            section.lines().next().is_some_and(|head| head.contains("dependencies"))
        }) {
            for line in section.lines().skip(1).filter(|line| line.contains('=')) {
                let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
                if !name.starts_with("pleach") && !architecture.contains(&format!("`{name}`")) {
                    places.push(format!("{folder}: {name}"));
                }
            }
        }
    }
    complain("dependencies that ARCHITECTURE.md does not name", &places);
}

/// The tree in the README is the one of the example, which is compiled and tested.
#[test]
fn the_readme_shows_the_example_as_it_is() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let shown = readme.split("```rust\n").nth(1).unwrap().split("```").next().unwrap();
    let example = fs::read_to_string(root().join("pleach/examples/walks.rs")).unwrap();
    assert!(example.contains(shown), "the README shows another tree than walks.rs");
}

#[test]
fn the_knapsack_example_stays_small() {
    let text = fs::read_to_string(root().join("pleach/examples/knapsack.rs")).unwrap();
    assert!(text.lines().count() <= 50, "{} lines", text.lines().count());
}

/// The command knows problems through the registry alone.
#[test]
fn only_the_registry_and_the_campaigns_name_problems() {
    let mut places = Vec::new();
    for (path, text) in files(&[".rs"]) {
        let Some(inside) = path.strip_prefix("pleach/src/") else { continue };
        if inside.starts_with("registry/") || inside.starts_with("campaign/") {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (i, line) in code.lines().enumerate() {
            let names = ["flowshop", "atsp", "queens", "uts", "knapsack", "clique", "qap"];
            if names.iter().any(|name| line.contains(&format!("\"{name}\""))) {
                places.push(format!("{path}:{}", i + 1));
            }
        }
    }
    complain("a problem named outside the registry", &places);
}

/// The pages of the book, as its contents list them.
pub fn pages() -> Vec<String> {
    let contents = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let links = contents.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let pages = links.filter(|link| link.ends_with(".md"));
    pages
        .map(|link| link.strip_prefix("../").map_or(format!("docs/{link}"), str::to_string))
        .collect()
}

/// The book's contents list every page.
#[test]
fn every_page_is_in_the_book() {
    let listed = pages();
    let outside = ["docs/SUMMARY.md", "python/README.md"];
    let pages = files(&[".md"]).into_iter().map(|(path, _)| path);
    let missing: Vec<String> =
        pages.filter(|path| !listed.contains(path) && !outside.contains(&&**path)).collect();
    complain("pages that are not in docs/SUMMARY.md", &missing);
}

/// What a page calls a heading in links.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|&letter| letter.is_alphanumeric() || " -_".contains(letter));
    kept.collect::<String>().trim().to_lowercase().replace(' ', "-")
}

/// Links between pages lead somewhere, to a heading of the page if they name one.
#[test]
fn links_between_pages_are_whole() {
    let mut places = Vec::new();
    for (path, text) in files(&[".md"]) {
        let folder = root().join(&path).parent().unwrap().to_path_buf();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (to, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if to.is_empty() { root().join(&path) } else { folder.join(to) };
            let exists = || match heading {
                "" => target.exists(),
                _ => fs::read_to_string(&target).is_ok_and(|text| {
                    // Every other part is a block of code.
                    let text: String = text.split("```").step_by(2).collect();
                    let headings = text.lines().filter(|line| line.starts_with('#'));
                    headings
                        .map(|line| anchor(line.trim_start_matches('#')))
                        .any(|one| one == heading)
                }),
            };
            if !link.contains("://") && !exists() {
                places.push(format!("{path}: {link}"));
            }
        }
    }
    complain("links that lead nowhere", &places);
}

/// All files that state the version state the same one.
#[test]
fn versions_agree() {
    let version = env!("CARGO_PKG_VERSION");
    for (file, lines) in [
        ("Cargo.toml", vec![format!("version = \"{version}\"")]),
        ("python/Cargo.toml", vec![format!("version = \"{version}\"")]),
        ("CITATION.cff", vec![format!("version: {version}")]),
    ] {
        let text = fs::read_to_string(root().join(file)).unwrap();
        let stated: Vec<&str> = text.lines().filter(|line| line.starts_with("version")).collect();
        assert_eq!(stated, lines, "{file}");
        let parts = text.lines().filter(|line| line.starts_with("pleach-"));
        let other = parts.filter(|line| !line.contains(&format!("version = \"{version}\"")));
        complain(
            &format!("{file}: not version {version}"),
            &other.map(String::from).collect::<Vec<_>>(),
        );
    }
}

/// Processes search together only with equal sources: the hash of them leaves out no crate.
#[test]
fn the_hash_of_the_sources_covers_all_crates() {
    let build = fs::read_to_string(root().join("pleach/build.rs")).unwrap();
    let list = build.split("const CRATES").nth(1).unwrap().split(';').nth(1).unwrap();
    let left_out = |folder: &str| {
        let top = folder.split('/').next().unwrap_or_default();
        !list.contains(&format!("\"{top}\""))
    };
    let places: Vec<String> =
        ORDER.iter().filter(|(folder, _)| left_out(folder)).map(|it| it.0.to_string()).collect();
    complain("crates that the hash leaves out", &places);
}

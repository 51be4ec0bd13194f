//! Tells the program which commit it is built from, for the rows that `pleach reproduce` writes, and which sources, for
//! processes that search together.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let git = |words: &[&str]| {
        let output = Command::new("git").args(words).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?.trim().to_string();
        (output.status.success() && !text.is_empty()).then_some(text)
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"]);
    let version = format!("{} (not from a repository)", env!("CARGO_PKG_VERSION"));
    println!("cargo::rustc-env=PLEACH_COMMIT={}", commit.unwrap_or(version));
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=PLEACH_SOURCES={:08x}", sources() as u32);
    // Each commit and each checkout adds a line there.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"])
        && Path::new(&log).exists()
    {
        println!("cargo::rerun-if-changed={log}");
    }
}

/// The crates whose sources make the program.
const CRATES: [&str; 9] =
    ["cluster", "core", "gpu", "lab", "loops", "pleach", "problems", "runtime", "serve"];

/// A hash of all sources of the workspace. As a published package this crate sees only its own, and its version
/// stands for those of the others.
fn sources() -> u64 {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for part in CRATES {
        list(&workspace.join(part), &mut files);
    }
    files.sort();
    let start = 0xcbf2_9ce4_8422_2325_u64;
    files
        .iter()
        .filter_map(|file| fs::read(file).ok())
        .flatten()
        .fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Lists the sources in a folder, without tests and examples.
fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    let tests = ["tests", "benches", "examples", "target"];
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if path.is_dir() && !tests.contains(&&*name) {
            println!("cargo::rerun-if-changed={}", path.display());
            list(&path, files);
        } else if [".rs", ".cu", ".cuh", ".toml"].iter().any(|end| name.ends_with(end)) {
            println!("cargo::rerun-if-changed={}", path.display());
            files.push(path);
        }
    }
}

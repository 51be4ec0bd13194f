//! Tells the program which commit it is built from, for the rows that `pleach reproduce` writes.

use std::path::Path;
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
    // Each commit and each checkout adds a line there.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"])
        && Path::new(&log).exists()
    {
        println!("cargo::rerun-if-changed={log}");
    }
}

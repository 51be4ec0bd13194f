//! Completions in real shells, the manual page, and the list of known instances.

use crate::outside::{folder, json, pleach, refused};
use std::process::{Command, Output};

/// Runs a script in a shell, with `pleach` on its path; `None` if the shell is missing.
fn shell(name: &str, flags: &[&str], script: &str) -> Option<Output> {
    let home = folder("shells");
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_pleach")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(name);
    command.args(flags).arg("-c").arg(script).env("PATH", path).env("HOME", &home);
    let output = command.env("XDG_CONFIG_HOME", &home).current_dir(&home).output();
    if output.is_err() {
        eprintln!("skipped: {name} not found");
    }
    output.ok()
}

/// What a shell offers for a line.
fn offered(output: &Output) -> Vec<String> {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect()
}

/// Lines, and what is offered for the last word.
const LINES: [(&str, &[&str]); 5] = [
    ("pleach so", &["solve"]),
    ("pleach solve flowshop ta12", &["ta120"]),
    ("pleach solve flowshop ta120 --branchi", &["--branching"]),
    ("pleach solve flowshop ta120 --bound o", &["one", "one-tight"]),
    ("pleach count q", &["queens"]),
];

#[test]
fn bash_completes_commands() {
    for (line, wanted) in LINES {
        let script = format!(
            "source <(pleach completions bash); COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; \
             COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _pleach; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let Some(output) = shell("bash", &["--norc"], &script) else { return };
        assert_eq!(offered(&output), wanted, "{line}");
    }
    // Bash takes what follows '=' for a word of its own.
    let script = "source <(pleach completions bash); COMP_LINE='pleach solve flowshop ta001 --bound=t'; \
                  COMP_POINT=${#COMP_LINE}; COMP_WORDS=(pleach solve flowshop ta001 --bound = t); COMP_CWORD=6; \
                  _pleach; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let words = ["two", "two-adjacent", "two-last"];
    assert_eq!(offered(&shell("bash", &["--norc"], script).unwrap()), words);
    // Files, too.
    std::fs::write(folder("shells").join("a.pleach"), "").unwrap();
    let script = "source <(pleach completions bash); COMP_LINE='pleach resume a'; COMP_POINT=${#COMP_LINE}; \
                  COMP_WORDS=(pleach resume a); COMP_CWORD=2; _pleach; printf '%s\\n' \"${COMPREPLY[@]}\"";
    assert_eq!(offered(&shell("bash", &["--norc"], script).unwrap()), ["a.pleach"]);
}

#[test]
fn zsh_completes_commands() {
    for (line, wanted) in LINES {
        // Outside of a terminal the functions of completion are stood in for.
        let script = format!(
            "compdef() {{ :; }}; source <(pleach completions zsh); \
             _describe() {{ print -l -- ${{${{(P)3}}%%:*}}; }}; compadd() {{ shift; print -l -- \"$@\"; }}; \
             _files() {{ :; }}; words=({line}); CURRENT=${{#words}}; _pleach"
        );
        let Some(output) = shell("zsh", &["-f"], &script) else { return };
        assert_eq!(offered(&output), wanted, "{line}");
    }
}

#[test]
fn fish_completes_commands() {
    for (line, wanted) in LINES {
        let script = format!("pleach completions fish | source; complete -C '{line}'");
        let Some(output) = shell("fish", &["--no-config"], &script) else { return };
        let words: Vec<String> = offered(&output)
            .iter()
            .filter_map(|line| line.split('\t').next().map(str::to_string))
            .collect();
        assert_eq!(words, wanted, "{line}");
    }
}

#[test]
fn the_manual_page_is_readable() {
    let page = String::from_utf8(pleach("man").stdout).unwrap();
    assert!(page.starts_with(".TH PLEACH 1"), "{page}");
    let file = folder("shells").join("pleach.1");
    std::fs::write(&file, page).unwrap();
    // Lints of groff go to the standard error.
    let file = file.display();
    let script = format!("MANWIDTH=80 man --warnings -l {file} | cat");
    let Some(output) = shell("bash", &["--norc"], &script) else { return };
    if String::from_utf8_lossy(&output.stderr).contains("man: command not found") {
        return eprintln!("skipped: man not found");
    }
    let lines = offered(&output).join("\n");
    for word in
        ["NAME", "SYNOPSIS", "--branching NAME", "EXIT STATUS", "pleach solve flowshop ta021"]
    {
        assert!(lines.contains(word), "{word}: {lines}");
    }
}

#[test]
fn known_instances_are_listed() {
    let all = json("instances flowshop");
    let all = all["instances"].as_array().unwrap();
    assert_eq!(all.len(), 600);
    let ta056 = all.iter().find(|instance| instance["name"] == "ta056").unwrap();
    assert_eq!((&ta056["size"], &ta056["best"]), (&"50 × 20".into(), &3679.into()));
    for (problem, least) in [("atsp", 14), ("queens", 27), ("uts", 20), ("clique", 15), ("qap", 40)]
    {
        let known = json(&format!("instances {problem}"));
        let known = known["instances"].as_array().unwrap();
        assert!(known.len() >= least, "{problem}");
    }
    let text = String::from_utf8(pleach("instances flowshop ta00").stdout).unwrap();
    assert_eq!(text.lines().count(), 9);
    assert_eq!(text.lines().next(), Some("ta001  20 × 5  optimum 1278"));
    let text = String::from_utf8(pleach("instances").stdout).unwrap();
    assert_eq!(text.lines().count(), 7);
    let text = String::from_utf8(pleach("instances knapsack").stdout).unwrap();
    assert!(text.starts_with("knapsack has no named instances"), "{text}");
    refused("instances nonsense", "expected flowshop, atsp, queens, uts, knapsack, clique or qap");
    refused("instances flowshop tb", "no known flowshop instance has a name that begins with this");
    refused("completions tcsh", "expected bash, zsh, fish");
    refused("completions", "expected bash, zsh, fish");
    refused("man page", "unexpected argument 'page'");
    refused("instances qap --threads 2", "--threads does not apply to 'instances'");
}

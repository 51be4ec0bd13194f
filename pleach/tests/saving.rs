//! No user action loses data: checkpoints are resumed or kept, and no input is overwritten.

use crate::outside::{example, folder, fresh, json, output_of, pleach, refused, until};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn repeating_the_start_command_resumes_the_search() {
    let path = fresh("saving", "again.pleach");
    let file = path.to_str().unwrap();
    let words = format!("solve flowshop ta030 --best optimum --bound one --checkpoint {file}");
    let first = pleach(&format!("{words} --node-limit 20000000"));
    assert_eq!((first.status.code(), stderr(&first).as_str()), (Some(3), ""));
    let again = pleach(&format!("{words} --threads 1 --json"));
    assert_eq!(stderr(&again), format!("pleach: resuming the search in {file}\n"));
    let report: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(report["nodes"]["branched"], 2_415_779);
    assert_eq!(report["nodes"]["bounded"], 45_246_962, "no node is explored twice");
    // Resuming a finished search prints its result again.
    let over = json(&format!("{words} --quiet"));
    assert_eq!((&over["nodes"], &over["status"]), (&report["nodes"], &report["status"]));
}

#[test]
fn a_checkpoint_of_another_search_is_kept() {
    let (path, items) = (fresh("saving", "other.pleach"), fresh("saving", "items.txt"));
    let file = path.to_str().unwrap();
    let stopped = |words: &str| {
        let output = pleach(&format!("{words} --node-limit 100000 --checkpoint {file}"));
        assert_eq!(output.status.code(), Some(3), "{words}: {}", stderr(&output));
    };
    stopped("count queens 15");
    let before = fs::read(&path).unwrap();
    for words in ["count queens 14", "count uts T1L", "solve flowshop ta022"] {
        refused(&format!("{words} --checkpoint {file}"), "holds another search: 'count queens 15'");
        assert_eq!(fs::read(&path).unwrap(), before, "{words}");
    }
    // The same words with another frozen flag.
    for flag in ["--nodes interval", "--whole"] {
        refused(&format!("count queens 15 {flag} --checkpoint {file}"), "holds another search");
        assert_eq!(fs::read(&path).unwrap(), before, "{flag}");
    }
    // The same words, and a file that has changed.
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../data/knapsack/correlated-60.txt");
    let text = fs::read_to_string(data).unwrap();
    fs::write(&items, &text).unwrap();
    fs::remove_file(&path).unwrap();
    let words = format!("solve knapsack {}", items.display());
    stopped(&words);
    let before = fs::read(&path).unwrap();
    fs::write(&items, "1 10\n5 5\n").unwrap();
    refused(&format!("{words} --checkpoint {file}"), "has changed since; resume that one");
    assert_eq!(fs::read(&path).unwrap(), before);
    refused(&format!("resume {file}"), "has changed since it was saved");
    fs::remove_file(&items).unwrap();
    refused(&format!("resume {file}"), "items.txt does not exist");
}

#[test]
fn two_runs_do_not_save_to_one_file() {
    let path = fresh("saving", "locked.pleach");
    let file = path.to_str().unwrap();
    let mut first = Command::new(env!("CARGO_BIN_EXE_pleach"));
    let first = first.args(["count", "uts", "T1WL", "--every", "10ms", "--checkpoint", file]);
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the file", || path.exists());
    for words in [format!("resume {file}"), format!("count uts T1WL --quiet --checkpoint {file}")] {
        refused(&words, "another run is using this checkpoint");
    }
    // Inspecting it is allowed.
    assert!(pleach(&format!("resume {file} --show")).status.success());
    first.kill().unwrap();
    first.wait().unwrap();
    // The lock ends with its process.
    let resumed = pleach(&format!("resume {file} --node-limit 1000"));
    assert_eq!(resumed.status.code(), Some(3), "{}", stderr(&resumed));
}

/// A process that is killed after it has kept the previous file, and before it has replaced it, leaves two names for
/// one file.
#[test]
fn a_run_killed_while_it_saved_is_resumed() {
    let path = fresh("saving", "two-names.pleach");
    let file = path.to_str().unwrap();
    let words = format!("count queens 12 --checkpoint {file}");
    for again in [format!("resume {file}"), words.clone()] {
        pleach(&format!("{words} --node-limit 100000"));
        let old = fresh("saving", "two-names.pleach.old");
        fs::hard_link(&path, &old).unwrap();
        let report: Value =
            serde_json::from_slice(&pleach(&format!("{again} --json")).stdout).unwrap();
        assert_eq!((&report["status"], &report["count"]), (&"counted".into(), &14_200.into()));
        fs::remove_file(&path).unwrap();
    }
    refused(&format!("{words} --solution {file}.old"), "does not apply");
    let words = format!("solve queens 12 --checkpoint {file} --solution {file}.old");
    refused(&words, "is the same file as --");
}

/// A search that was stopped before its tree began was not saved, although it had a schedule.
#[test]
fn what_heuristics_found_before_the_search_is_saved() {
    for words in ["flowshop VFR300_20_1", "flowshop ta020 --objective flow-time", "qap nug20"] {
        let path = fresh("saving", "prepared.pleach");
        let file = path.to_str().unwrap();
        let words = format!("solve {words} --threads 1 --checkpoint {file}");
        let first = json(&format!("{words} --quiet --time-limit 10ms"));
        let saved = json(&format!("resume {file} --quiet --time-limit 100ms"));
        let value = |report: &Value| report["objective"].as_i64().unwrap();
        assert!(value(&saved) <= value(&first), "{words}: {saved}");
    }
}

/// A shop used to be saved only after its layers, which may take hours.
#[test]
fn a_shop_killed_within_its_layers_keeps_its_schedule() {
    let path = fresh("saving", "layers.pleach");
    let file = path.to_str().unwrap();
    let mut first = Command::new(env!("CARGO_BIN_EXE_pleach"));
    let words = ["solve", "flowshop", "ta031", "--objective", "flow-time", "--every", "10ms"];
    let first = first.args(words).args(["--checkpoint", file]);
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the file", || path.exists());
    first.kill().unwrap();
    first.wait().unwrap();
    let shown = pleach(&format!("resume {file} --show"));
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    let best = shown.split_once("\nbest ").and_then(|(_, rest)| rest.split(',').next());
    let best: i64 = best.and_then(|best| best.parse().ok()).expect(&shown);
    let resumed = pleach(&format!("resume {file} --node-limit 1 --json --quiet"));
    let resumed: Value = serde_json::from_slice(&resumed.stdout).unwrap();
    assert_eq!(resumed["status"], "stopped");
    assert!(resumed["objective"].as_i64().is_some_and(|value| value <= best), "{resumed}");
}

#[test]
fn a_saved_search_beside_another_is_kept() {
    let path = fresh("saving", "beside.pleach");
    let file = path.to_str().unwrap();
    pleach(&format!("count queens 13 --node-limit 100000 --checkpoint {file}"));
    for ending in ["part", "old", "lock"] {
        let words = format!("resume {file} --node-limit 1000 --checkpoint {file}.{ending}");
        refused(&words, &format!("the .{ending} file of the saved search"));
    }
}

#[test]
fn a_search_may_be_resumed_into_another_file() {
    let (path, other) = (fresh("saving", "from.pleach"), fresh("saving", "to.pleach"));
    let [from, to] = [&path, &other].map(|path| path.to_str().unwrap());
    pleach(&format!("count queens 14 --node-limit 100000 --checkpoint {from}"));
    let before = fs::read(&path).unwrap();
    let stopped = pleach(&format!("resume {from} --checkpoint {to} --node-limit 1000000"));
    assert_eq!(stopped.status.code(), Some(3), "{}", stderr(&stopped));
    assert!(String::from_utf8_lossy(&stopped.stdout).contains(&format!("pleach resume {to}")));
    assert_eq!(fs::read(&path).unwrap(), before, "the first file stays");
    refused(&format!("resume {from} --checkpoint {to}"), "holds another search");
    refused(&format!("resume {from} --trace {from}"), "is the same file as --checkpoint");
    refused(&format!("resume {from} --checkpoint {to}x --trace {from}"), "as the saved search");
    assert_eq!(json(&format!("resume {to}"))["count"], 365_596);
}

#[test]
fn no_output_is_an_input_or_another_output() {
    let folder = folder("saving");
    let shop = "4 3\n3 7 2 9\n8 1 6 4\n2 9 5 7\n";
    let instance = folder.join("shop.txt");
    fs::write(&instance, shop).unwrap();
    let file = instance.to_str().unwrap();
    let mut spellings =
        vec![file.to_string(), folder.join("../saving/shop.txt").display().to_string()];
    #[cfg(unix)]
    {
        let link = fresh("saving", "link.txt");
        std::os::unix::fs::symlink(&instance, &link).unwrap();
        spellings.push(link.display().to_string());
    }
    for same in &spellings {
        for flag in ["gantt", "schedule", "solution", "trace", "checkpoint"] {
            refused(
                &format!("solve flowshop {file} --{flag} {same}"),
                "is the same file as the input",
            );
            assert_eq!(fs::read_to_string(&instance).unwrap(), shop, "--{flag} {same}");
        }
    }
    let other = fresh("saving", "other.txt");
    let other = other.to_str().unwrap();
    for [one, two] in [["gantt", "schedule"], ["solution", "trace"], ["checkpoint", "schedule"]] {
        let words = format!("solve flowshop {file} --{one} {other} --{two} {other}");
        refused(&words, "is the same file as --");
    }
    fs::write(other, "1 2 3 4").unwrap();
    let words = format!("solve flowshop {file} --start {other} --gantt {other}");
    refused(&words, "is the same file as --start");
    refused(&format!("check flowshop {file} {other} --gantt {other}"), "as the input");
    refused(&format!("check flowshop {file} {other} --schedule {file}"), "as the input");
    assert_eq!(fs::read_to_string(other).unwrap(), "1 2 3 4");
    let scenario = folder.join("small.toml");
    let text = "peers = 3\n[load]\nproblem = 'interval'\ntotal_s = 1\n";
    fs::write(&scenario, text).unwrap();
    let scenario = scenario.to_str().unwrap();
    refused(&format!("sim {scenario} --svg {scenario}"), "is the same file as the input");
    assert_eq!(fs::read_to_string(scenario).unwrap(), text);
}

#[test]
fn a_search_is_resumed_from_another_directory() {
    let (here, there) = (folder("saving"), folder("saving-elsewhere"));
    let _ = fs::remove_file(here.join("moved.pleach"));
    fs::write(here.join("moved.txt"), "4 3\n3 7 2 9\n8 1 6 4\n2 9 5 7\n").unwrap();
    let run = |folder: &PathBuf, words: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
        output_of(command.current_dir(folder).args(words.split_whitespace()))
    };
    let words = "solve flowshop moved.txt --best none --checkpoint moved.pleach --node-limit 1";
    assert!(run(&here, words).status.code().is_some_and(|code| [0, 3].contains(&code)));
    let file = here.join("moved.pleach");
    let output = run(&there, &format!("resume {}", file.display()));
    assert!(output.status.success(), "{}", stderr(&output));
    // Back where it began, the command still knows its search.
    let again = run(&here, words);
    assert!(again.status.success(), "{}", stderr(&again));
    assert!(stderr(&again).contains("resuming the search"), "{}", stderr(&again));
}

#[test]
fn a_users_own_command_uses_its_own_name() {
    let path = fresh("saving", "own.pleach");
    let file = path.to_str().unwrap();
    let stopped = example("walks", &["25", "--node-limit", "10000", "--checkpoint", file]);
    let text = String::from_utf8_lossy(&stopped.stdout);
    assert!(text.ends_with(&format!("to resume: walks resume {file}\n")), "{text}");
    let refused = example("walks", &["0"]);
    assert!(stderr(&refused).starts_with("walks: expected a number of steps"), "{refused:?}");
    // Repeating the command resumes it; another one is refused.
    let again = example("walks", &["25", "--node-limit", "10000", "--checkpoint", file]);
    assert_eq!(stderr(&again), format!("walks: resuming the search in {file}\n"));
    let other = example("walks", &["24", "--node-limit", "10000", "--checkpoint", file]);
    assert_eq!(other.status.code(), Some(2));
    assert!(stderr(&other).contains("holds another search: '25'"), "{other:?}");
    for (words, said) in [
        (["12", "--nodes", "interval"], "--nodes does not apply to 'walks'"),
        (["12", "--gantt", "x.svg"], "--gantt does not apply to 'walks'"),
        (["12", "--best", "3"], "--best does not apply to 'walks'"),
    ] {
        let output = example("walks", &words);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(said), "{output:?}");
    }
    let help = String::from_utf8(example("walks", &["--help"]).stdout).unwrap();
    assert!(help.contains("--threads") && help.contains("walks resume FILE"), "{help}");
    for foreign in
        ["--gantt", "--jobs-first", "--bound", "--branching", "--all", "--peers", "--svg"]
    {
        assert!(!help.contains(foreign), "{foreign}: {help}");
    }
}

/// The files next to a checkpoint used to replace, or to remove, files of the same name.
#[test]
fn files_beside_a_checkpoint_are_only_ours() {
    let folder = folder("beside");
    let at = |name: &str| folder.join(name).to_string_lossy().into_owned();
    for name in ["run", "run.lock", "run.part"] {
        let _ = std::fs::remove_file(at(name));
    }
    for ending in ["lock", "part"] {
        let theirs = at(&format!("run.{ending}"));
        std::fs::write(&theirs, "mine").unwrap();
        refused(&format!("count queens 9 --checkpoint {}", at("run")), "is in the way");
        assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "mine");
        std::fs::remove_file(&theirs).unwrap();
        // The same file as an input or as another output.
        let checkpoint = at("run");
        let words = format!("solve queens 9 --checkpoint {checkpoint} --solution {theirs}");
        refused(&words, "is the same file as");
        std::fs::write(&theirs, "3 2\n1 2 3\n4 5 6\n").unwrap();
        refused(
            &format!("solve flowshop {theirs} --checkpoint {checkpoint}"),
            "is the same file as",
        );
        assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "3 2\n1 2 3\n4 5 6\n");
        std::fs::remove_file(&theirs).unwrap();
    }
    assert!(pleach(&format!("count queens 9 --checkpoint {}", at("run"))).status.success());
    assert!(!Path::new(&at("run.lock")).exists() && !Path::new(&at("run.part")).exists());
}

/// It used to be replaced by the file, perhaps on a smaller disk.
#[test]
#[cfg(unix)]
fn a_link_to_a_file_that_is_not_there_yet_stays_a_link() {
    let [link, target] = ["dangling.pleach", "later.pleach"].map(|name| fresh("saving", name));
    std::os::unix::fs::symlink(&target, &link).unwrap();
    pleach(&format!("count queens 12 --node-limit 1000 --checkpoint {}", link.display()));
    assert!(link.is_symlink() && target.is_file());
}

/// A cycle of links used to overflow the stack.
#[cfg(unix)]
#[test]
fn a_cycle_of_links_is_refused() {
    let folder = folder("circle");
    let (one, other) = (folder.join("one"), folder.join("other"));
    for link in [&one, &other] {
        let _ = std::fs::remove_file(link);
    }
    std::os::unix::fs::symlink(&other, &one).unwrap();
    std::os::unix::fs::symlink(&one, &other).unwrap();
    let (saved, one) = (folder.join("saved"), one.display());
    refused(&format!("count queens 8 --checkpoint {} --trace {one}", saved.display()), "--trace");
}

/// A resumed search used to write its solution to any file of that name in the current folder.
#[test]
fn outputs_keep_their_original_paths() {
    let (here, there) = (folder("outputs/here"), folder("outputs/there"));
    let saved = here.join("saved");
    for file in [&saved, &here.join("sol.txt"), &there.join("sol.txt")] {
        let _ = fs::remove_file(file);
    }
    let run = |folder: &Path, words: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
        output_of(command.current_dir(folder).args(words.split_whitespace()))
    };
    let start = "solve flowshop VFR20_10_1 --best none --node-limit 5000 --solution sol.txt --checkpoint saved";
    assert_eq!(run(&here, start).status.code(), Some(3));
    fs::write(there.join("sol.txt"), "notes").unwrap();
    fs::write(here.join("sol.txt"), "old").unwrap();
    let resumed = run(&there, &format!("resume {} --node-limit 1000000", saved.display()));
    assert!([Some(0), Some(3)].contains(&resumed.status.code()), "{resumed:?}");
    assert_eq!(fs::read_to_string(there.join("sol.txt")).unwrap(), "notes");
    assert_ne!(fs::read_to_string(here.join("sol.txt")).unwrap(), "old");
}

/// An internal mark used to stay in a path that begins with a dash and has a blank.
#[test]
fn a_path_that_looks_like_a_flag_is_kept_too() {
    let folder = folder("outputs/dash");
    let (saved, solution) = (folder.join("saved"), folder.join("-x y.txt"));
    for file in [&saved, &solution] {
        let _ = fs::remove_file(file);
    }
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
        output_of(command.current_dir(&folder).args(words))
    };
    let start = "solve flowshop VFR20_10_1 --best none --node-limit 5000 --checkpoint saved";
    let start = start.split(' ').chain(["--solution", "-x y.txt"]).collect::<Vec<_>>();
    assert_eq!(run(&start).status.code(), Some(3));
    fs::write(&solution, "old").unwrap();
    let resumed = run(&["resume", "saved", "--node-limit", "1000000"]);
    assert!([Some(0), Some(3)].contains(&resumed.status.code()), "{resumed:?}");
    assert_ne!(fs::read_to_string(&solution).unwrap(), "old");
}

/// Without a solution, its files used to be emptied, or to be kept without a note.
#[test]
fn without_a_solution_its_files_stay_as_they_were() {
    let folder = folder("nothing");
    let (old, new) = (folder.join("old.txt"), folder.join("new.svg"));
    fs::write(&old, "old").unwrap();
    let _ = fs::remove_file(&new);
    let words = format!(
        "solve flowshop ta001 --best 1 --solution {} --gantt {}",
        old.display(),
        new.display()
    );
    let done = pleach(&words);
    let notes = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && notes.matches("there is no solution").count() == 2, "{notes}");
    assert_eq!(fs::read_to_string(&old).unwrap(), "old");
    assert!(!new.exists());
}

/// A file with the name of a built-in instance used to be ignored without a note.
#[test]
fn a_file_takes_precedence_over_a_built_in_name() {
    let folder = folder("names");
    fs::write(folder.join("ta001"), "3 2\n1 2 3\n4 5 6\n").unwrap();
    let run = |words: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
        output_of(command.current_dir(&folder).args(words.split_whitespace()))
    };
    let done = run("solve flowshop ta001");
    let notes = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(notes.contains("reading the file ta001"), "{notes}");
    assert!(String::from_utf8_lossy(&done.stdout).contains("16 (optimal)"), "{done:?}");
    let refused = run("solve flowshop ta001 --best optimum");
    assert_eq!(refused.status.code(), Some(2));
    let built_in = run("solve flowshop ta002 --time-limit 5");
    assert!(String::from_utf8_lossy(&built_in.stdout).contains("1359"), "{built_in:?}");
}

/// Endless devices used to be read until memory ran out.
#[cfg(unix)]
#[test]
fn devices_are_not_read_as_files_or_saved_to() {
    refused("count queens 8 --checkpoint /dev/full", "not a regular file");
    refused("resume /dev/zero", "not a regular file");
    refused("solve flowshop /dev/zero", "longer than");
}

/// A checkpoint named by a link used to replace the link.
#[cfg(unix)]
#[test]
fn a_link_to_a_checkpoint_stays_a_link() {
    let folder = folder("linked");
    let (file, link) = (folder.join("file"), folder.join("link"));
    for path in [&file, &link] {
        let _ = fs::remove_file(path);
    }
    fs::write(&file, "").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let words = format!("count queens 9 --checkpoint {}", link.display());
    assert!(pleach(&words).status.success());
    assert!(fs::symlink_metadata(&link).unwrap().file_type().is_symlink());
    assert!(fs::metadata(&file).unwrap().len() > 0);
}

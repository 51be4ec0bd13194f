//! Output files: none replaces what a user has, and one that cannot be written loses nothing else.

use crate::outside::{end_of, folder, json, output_of, pleach, refused};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const SHOP: &str = "4 3\n3 7 2 9\n8 1 6 4\n2 9 5 7\n";

/// A separate, empty folder, and the path of a name in it.
fn fresh(name: &str) -> (PathBuf, impl Fn(&str) -> String) {
    let folder = folder("outputs").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let place = folder.clone();
    (folder, move |name| place.join(name).display().to_string())
}

#[test]
fn a_log_is_no_input_and_no_other_output() {
    let (_, at) = fresh("log");
    let (shop, file) = (at("shop.txt"), at("run.pleach"));
    fs::write(&shop, SHOP).unwrap();
    refused(&format!("solve flowshop {shop} --log {shop}"), "is the same file as the input");
    assert_eq!(fs::read_to_string(&shop).unwrap(), SHOP);
    pleach(&format!("count queens 14 --node-limit 10000 --checkpoint {file}"));
    let saved = fs::read(&file).unwrap();
    refused(&format!("resume {file} --log {file}"), "is the same file as --log");
    assert_eq!(fs::read(&file).unwrap(), saved);
}

/// A file that replaced the one to which the result was printed used to lose the result.
#[test]
fn no_output_replaces_the_one_that_the_result_is_printed_to() {
    let (_, at) = fresh("printed");
    for flag in ["metrics", "checkpoint", "log"] {
        let out = at(flag);
        let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
        command.args(["count", "queens", "6", &format!("--{flag}"), &out]);
        command.stdout(fs::File::create(&out).unwrap()).stderr(Stdio::piped());
        let output = end_of(command.spawn().unwrap());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flag}: {said}");
        assert!(said.contains("is the file that standard output goes to"), "{flag}: {said}");
    }
}

#[test]
fn a_key_is_no_output() {
    let (_, at) = fresh("key");
    let key = at("run.key");
    let open = format!("count queens 6 --listen 127.0.0.1:0 --key {key} --quiet");
    assert!(pleach(&open).status.success());
    let before = fs::read(&key).unwrap();
    for words in [open, format!("join 127.0.0.1:1 --patience 1s --key {key}")] {
        for flag in ["metrics", "log"] {
            refused(&format!("{words} --{flag} {key}"), "is the same file as --key");
            assert_eq!(fs::read(&key).unwrap(), before, "{words} --{flag}");
        }
    }
}

/// The hint is for a shell, which used to see two words.
#[test]
fn a_key_with_a_blank_in_its_path_is_quoted() {
    let (_, at) = fresh("key-with-blank");
    let key = at("run 1.key");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
    command.args(["count", "queens", "6", "--listen", "127.0.0.1:0", "--key", &key]);
    let output = output_of(&mut command);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains(&format!(" --key '{key}'\n")), "{said}");
}

#[test]
fn an_output_of_several_searches_replaces_none_of_their_instances() {
    let (_, at) = fresh("several");
    let (one, other) = (at("one.txt"), at("other.txt"));
    fs::write(&one, SHOP).unwrap();
    fs::write(&other, SHOP).unwrap();
    for flag in ["metrics", "log"] {
        let words = format!("solve flowshop {one} {other} --{flag} {other}");
        refused(&words, &format!("--{flag} "));
        assert_eq!(fs::read_to_string(&other).unwrap(), SHOP, "{flag}");
    }
}

#[test]
fn a_simulation_and_a_loop_do_not_replace_what_they_read() {
    let (_, at) = fresh("read");
    let (shop, scenario) = (at("shop.txt"), at("scenario.toml"));
    fs::write(&shop, SHOP).unwrap();
    let text = format!("peers = 2\n[load]\nproblem = 'flowshop'\ninstance = '{shop}'\n");
    fs::write(&scenario, text).unwrap();
    for words in [format!("sim flowshop {shop} --peers 2"), format!("sim {scenario}")] {
        refused(&format!("{words} --svg {shop}"), "is the same file as the input");
    }
    assert_eq!(fs::read_to_string(&shop).unwrap(), SHOP);
    for words in
        ["rays sphere:50 --size 8x8 --transfer", "lattice --size 16x16x16 --steps 1 --obstacle"]
    {
        let words = format!("loop {words} {shop} --out {shop}");
        refused(&words, "--out");
        assert_eq!(fs::read_to_string(&shop).unwrap(), SHOP, "{words}");
    }
}

#[test]
fn a_file_that_cannot_be_written_does_not_lose_the_others() {
    let (_, at) = fresh("others");
    let (shop, plan, proof) = (at("shop.txt"), at("plan.txt"), at("shop.cert"));
    fs::write(&shop, SHOP).unwrap();
    let words = format!(
        "solve flowshop {shop} --trace /dev/full --solution {plan} --gantt /dev/full --certificate {proof}"
    );
    let output = pleach(&words);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot write /dev/full"), "{said}");
    assert_eq!(json(&format!("audit {proof}"))["valid"], true);
    let table = at("table.csv");
    let output =
        pleach(&format!("check flowshop {shop} {plan} --gantt /dev/full --schedule {table}"));
    assert_eq!(output.status.code(), Some(1));
    assert!(fs::read_to_string(table).unwrap().lines().count() > 4);
}

#[test]
fn a_path_that_names_no_file_is_refused_before_the_search() {
    let (_, at) = fresh("no-file");
    let shop = at("shop.txt");
    fs::write(&shop, SHOP).unwrap();
    refused(&format!("solve flowshop {shop} --gantt="), "--gantt : expected a file name");
    refused(&format!("solve flowshop {shop} --gantt {}", at("new/")), "is a directory");
    // It used to be made as a file, which no later save could replace.
    refused(&format!("count queens 8 --checkpoint {}", at("new/")), "new/: No such file");
    assert!(!PathBuf::from(at("new")).exists());
}

/// A user who renames a saved search to `FILE.old` and starts another one in FILE still has the first.
#[test]
fn a_save_of_another_run_is_not_replaced_by_a_previous_one() {
    let (_, at) = fresh("old");
    let (file, old) = (at("run.pleach"), at("run.pleach.old"));
    pleach(&format!("count queens 14 --node-limit 100000 --checkpoint {file}"));
    fs::rename(&file, &old).unwrap();
    let theirs = fs::read(&old).unwrap();
    for n in [14, 13] {
        let words = format!("count queens {n} --node-limit 100000 --checkpoint {file}");
        for _ in 0..3 {
            assert_eq!(pleach(&words).status.code(), Some(3), "{words}");
        }
        assert_eq!(fs::read(&old).unwrap(), theirs, "{words}");
        fs::remove_file(&file).unwrap();
    }
    // Its own previous save is replaced each time.
    fs::rename(&old, &file).unwrap();
    let mut before = theirs;
    for _ in 0..3 {
        pleach(&format!("resume {file} --node-limit 100000"));
        let now = fs::read(&old).unwrap();
        assert_ne!(now, before);
        before = now;
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_as_a_checkpoint_is_refused() {
    let (_, at) = fresh("pipe");
    let pipe = at("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|it| it.success()));
    refused(&format!("count queens 8 --checkpoint {pipe}"), "not a regular file");
}

#[test]
fn a_page_of_the_user_is_not_replaced() {
    let (folder, at) = fresh("page");
    fs::write(folder.join("index.html"), "mine").unwrap();
    refused(&format!("reproduce C-fig1 --quick --out {}", at("")), "would replace");
    assert_eq!(fs::read_to_string(folder.join("index.html")).unwrap(), "mine");
    assert!(!folder.join("rows").exists());
}

#[test]
fn values_that_nothing_can_have_are_not_values_to_beat() {
    let (_, at) = fresh("best");
    let sack = at("sack.txt");
    fs::write(&sack, "2 5\n10 3\n20 4\n").unwrap();
    for best in [i64::MAX, i64::MIN] {
        refused(&format!("solve knapsack {sack} --best {best}"), "expected a number from -92233");
        refused(&format!("solve flowshop ta001 --best {best}"), "expected a number from -92233");
    }
    // JSON has long numbers as strings.
    for (words, best) in [
        (format!("solve knapsack {sack} --best"), i64::MAX - 1),
        ("solve flowshop ta001 --best".into(), i64::MIN + 1),
    ] {
        let report = json(&format!("{words}={best}"));
        assert_eq!(report["status"], "no-better", "{words}");
        assert_eq!(report["lower_bound"], best.to_string(), "{words}");
    }
}

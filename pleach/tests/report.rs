//! `pleach report`: one page about runs, and one clear line about files that hold none.

use crate::outside::{end_of, folder, output_of, pleach, refused};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs a command in a folder.
fn at(folder: &Path, words: &[&str]) -> Output {
    output_of(Command::new(env!("CARGO_BIN_EXE_pleach")).current_dir(folder).args(words))
}

/// Keeps what a command prints with `--json`.
fn keep(folder: &Path, words: &str, name: &str) {
    let words: Vec<&str> = words.split_whitespace().chain(["--json"]).collect();
    fs::write(folder.join(name), at(folder, &words).stdout).unwrap();
}

/// The page about files of a folder.
fn page(folder: &Path, files: &[&str]) -> String {
    let words: Vec<&str> =
        ["report"].iter().chain(files).copied().chain(["-o", "page.html"]).collect();
    let output = at(folder, &words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let html = fs::read_to_string(folder.join("page.html")).unwrap();
    for word in ["NaN", "inf,", "<script", "http-equiv", "src="] {
        assert!(!html.contains(word), "{word}");
    }
    // The only address is the name of SVG.
    assert_eq!(html.matches("http").count(), html.matches("http://www.w3.org/2000/svg").count());
    html
}

/// A run of two workers, as printed by `--json`.
fn told() -> Value {
    let worker = |name: &str| json!({ "name": name, "branched": 5, "busy_s": 1.0, "idle_s": 0.5 });
    json!({
        "pleach": "0.1.0", "problem": "uts", "instance": "T1", "status": "counted", "count": 11,
        "nodes": { "branched": 10, "bounded": 10 }, "seconds": 1.5, "setup_seconds": 0.1,
        "units": [worker("cpu0"), worker("cpu1")], "balance": { "preset": "adaptive" }, "settings": {},
    })
}

/// Writes a run to its own file.
fn written(folder: &Path, name: &str, value: &Value) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, value.to_string()).unwrap();
    path
}

#[test]
fn a_search_is_shown_over_time_with_its_schedule() {
    let folder = folder("report-search");
    keep(
        &folder,
        "solve flowshop VFR20_5_1 --best none --threads 2 --trace t.json --node-limit 30000000",
        "run.json",
    );
    let html = page(&folder, &["run.json"]);
    for said in [
        "Each worker over time: the darker, the busier",
        "Best value and bound over time",
        "Shares of workers",
        "20 jobs on 5 machines",
        "Settings in force",
    ] {
        assert!(html.contains(said), "{said}");
    }
    // Without its trace it says how to get one; from elsewhere the trace is found next to the run.
    let other = folder.join("elsewhere");
    fs::create_dir_all(&other).unwrap();
    for name in ["run.json", "t.json"] {
        fs::copy(folder.join(name), other.join(name)).unwrap();
    }
    fs::remove_file(folder.join("t.json")).unwrap();
    assert!(page(&folder, &["run.json"]).contains("The trace t.json was not found"));
    assert!(page(&folder, &["elsewhere/run.json"]).contains("the darker, the busier"));
    // A trace of another run is not shown, and does not count as an input.
    let trace = json!({ "pleach": "0", "seconds": 99.0, "units": [], "convergence": [] });
    written(&folder, "t.json", &trace);
    assert!(page(&folder, &["run.json", "t.json"]).contains("t.json belongs to another run"));
}

#[test]
fn runs_on_more_workers_are_compared() {
    let folder = folder("report-workers");
    for n in [1, 2, 4] {
        keep(&folder, &format!("count uts T1 --threads {n}"), &format!("{n}.json"));
    }
    keep(&folder, "count uts T1 --threads 3 --node-limit 1000", "stopped.json");
    keep(&folder, "count uts T3 --threads 2", "other.json");
    let html = page(&folder, &["4.json", "2.json", "1.json", "stopped.json", "other.json"]);
    assert!(html.contains("Compared with run <a href=\"#run-3\">3</a>"), "the fewest workers");
    assert!(html.contains("times as fast as run 3") && html.contains(">ideal<"));
    assert!(html.contains("<a href=\"#run-4\">4</a> was stopped before it was done"));
    assert_eq!(html.matches("Compared with run").count(), 1, "T3 has nothing to compare with");
    assert!(html.contains("The run was not traced. With --trace FILE.json"));
}

#[test]
fn loops_simulations_and_repeats_have_their_parts() {
    let folder = folder("report-kinds");
    keep(&folder, "loop spmm fem:900 --threads 2 --compare-static", "loop.json");
    keep(&folder, "sim uts T1 --peers 2,4", "sim.json");
    keep(&folder, "count queens 9 --repeat 3", "repeats.json");
    let html = page(&folder, &["loop.json", "sim.json", "repeats.json"]);
    for said in ["Parts of the loop", "best static split", "Simulated from", "<h3>3 runs</h3>"] {
        assert!(html.contains(said), "{said}");
    }
}

/// Several objects stand in one file, and one comes from standard input.
#[test]
fn files_hold_several_runs_and_a_page_is_replaced_completely() {
    let folder = folder("report-several");
    keep(&folder, "count queens 8 6", "lines.json");
    fs::write(folder.join("page.html"), "x".repeat(1 << 20)).unwrap();
    let html = page(&folder, &["lines.json", "./lines.json"]);
    assert!(html.contains("queens 8") && html.contains("queens 6") && html.ends_with("</html>"));
    assert!(!html.contains("run-3"), "a file that is named twice is shown once");
    let lines = fs::File::open(folder.join("lines.json")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
    let command = command.current_dir(&folder).args(["report", "-", "-o", "stdin.html", "--json"]);
    let output = end_of(command.stdin(lines).stdout(Stdio::piped()).spawn().unwrap());
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&said["runs"], &said["page"]), (&2.into(), &"stdin.html".into()));
    let shown = at(&folder, &["report", "lines.json", "-o", "-"]).stdout;
    assert_eq!(String::from_utf8(shown).unwrap().trim_end(), html);
    assert!(
        fs::read_dir(&folder)
            .unwrap()
            .all(|file| { !file.unwrap().file_name().to_string_lossy().ends_with(".part") })
    );
}

#[test]
fn names_are_text_whatever_they_hold() {
    let folder = folder("report-names");
    let nasty = "<script>alert('1')</script>\"&\u{1b}[31m";
    let mut value = told();
    value["instance"] = nasty.into();
    value["units"][0]["name"] = nasty.into();
    value["settings"] = json!({ "x<y": nasty, "trace": nasty });
    written(&folder, "run.json", &value);
    let html = page(&folder, &["run.json"]);
    assert!(html.contains("&lt;script&gt;alert(&#39;1&#39;)") && !html.contains('\u{1b}'));
}

/// The page says what cannot be found; this is not a failure.
#[test]
fn a_schedule_without_its_instance_is_explained() {
    let folder = folder("report-away");
    let mut value = told();
    value["problem"] = "flowshop".into();
    value["solution"] = json!([1, 2, 3]);
    for (instance, said) in [
        ("no-such-file.txt", "The schedule cannot be drawn: no-such-file.txt"),
        ("-", "its instance came from standard input"),
        ("/dev/null", "/dev/null is not a file"),
        ("ta001", "the solution of this run: "),
    ] {
        value["instance"] = instance.into();
        written(&folder, "run.json", &value);
        let html = page(&folder, &["run.json"]);
        assert!(html.contains(said), "{instance}: {said}");
    }
}

#[test]
fn thousands_of_workers_and_extreme_numbers_are_drawn() {
    let folder = folder("report-many");
    let mut value = told();
    let worker =
        |n: u64| json!({ "name": format!("cpu{n}"), "branched": n, "busy_s": 1e15, "idle_s": 0 });
    value["units"] = (0..5000).map(worker).collect();
    value["count"] = "340282366920938463463374607431768211455".into();
    value["objective"] = i64::MAX.to_string().into();
    value["lower_bound"] = i64::MIN.to_string().into();
    value["seconds"] = json!(1e15);
    value["settings"]["trace"] = "trace.json".into();
    written(&folder, "run.json", &value);
    let over = |n: u64| json!({ "name": format!("cpu{n}"), "step_s": 1e15, "busy": [1e15, 0], "nodes": [1e15] });
    let moment =
        json!({ "seconds": 1, "best": i64::MAX.to_string(), "bound": i64::MAX.to_string() });
    let mut trace = json!({ "pleach": "0", "seconds": 1e15, "convergence": [moment] });
    for workers in [60, 2] {
        trace["units"] = (0..workers).map(over).collect();
        written(&folder, "trace.json", &trace);
        let html = page(&folder, &["run.json"]);
        assert!(
            html.contains("5000 workers, each line") && html.contains("4800 more are not shown")
        );
        assert!(html.len() < 3_000_000, "{}", html.len());
    }
    value["seconds"] = 0.into();
    value["units"] = json!([]);
    written(&folder, "run.json", &value);
    page(&folder, &["run.json"]);
}

#[test]
fn files_without_runs_are_refused_and_nothing_is_written() {
    let folder = folder("report-refused");
    let page = folder.join("page.html");
    let _ = fs::remove_file(&page);
    let file = folder.join("run.json");
    let path = file.display();
    let refuse = |text: &str, said: &str| {
        fs::write(&file, text).unwrap();
        refused(&format!("report {path} -o {}", page.display()), said);
        assert!(!page.exists(), "{text}");
    };
    let whole = told().to_string();
    refuse("", "empty, expected what a command prints with --json");
    refuse("queens 8: 92", "run.json, line 1, column 1: ");
    refuse(&format!("{whole}\n{}", &whole[..whole.len() / 2]), "line 2: the text ends within");
    refuse("7", "run.json: 7: expected what a command prints");
    refuse("{}", "pleach is missing: expected what 'pleach solve'");
    refuse(&"[".repeat(100_000), "recursion limit");
    let changes: [(&str, Value, &str); 12] = [
        ("/seconds", json!(-1), "run.json: seconds = -1: expected a number from 0 to 1e15"),
        ("/seconds", json!(1e300), "seconds = 1e+300: expected a number"),
        ("/seconds", Value::Null, "seconds is missing: expected a number"),
        ("/status", json!("happy"), "status = \"happy\": expected one of optimal"),
        ("/units", json!("none"), "units = \"none\": expected a list"),
        ("/units/1", json!(3), "units[1] = 3: expected an object"),
        ("/units/1/busy_s", json!([]), "units[1].busy_s = a list: expected a number"),
        ("/units/0/name", json!(7), "units[0].name = 7: expected a string"),
        ("/nodes/branched", json!("1e9"), "nodes.branched = \"1e9\": expected a whole number"),
        ("/count", json!(-4), "count = -4: expected a whole number, at least 0"),
        ("/settings", json!(1), "settings = 1: expected an object"),
        ("/balance/preset", json!(1), "balance.preset = 1: expected a string"),
    ];
    for (key, wrong, said) in changes {
        let mut value = told();
        *value.pointer_mut(key).unwrap() = wrong;
        refuse(&value.to_string(), said);
    }
    let mut sim = json!({ "pleach": "0", "scenario": "s", "rows": [{ "peers": "many" }] });
    refuse(&sim.to_string(), "rows[0].peers = \"many\": expected a whole number");
    sim["rows"] = json!([{ "peers": 1, "figures": { "time_s": { "mean": "x" } } }]);
    refuse(&sim.to_string(), "rows[0].figures.time_s.mean = \"x\": expected a number");
    refused("report", "report: expected FILE…");
    refused("report /no/such/file", "/no/such/file: ");
    refused(&format!("report {path} --threads 2"), "--threads does not apply to 'report'");
}

/// A full disk used to end with the exit code of bad usage.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_no_bad_usage() {
    let run = written(&folder("report-full"), "run.json", &told());
    let output = pleach(&format!("report {} -o /dev/full", run.display()));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot write /dev/full: "), "{said}");
}

#[test]
fn a_page_never_takes_the_place_of_an_input() {
    let folder = folder("report-kept");
    let mut value = told();
    value["settings"]["trace"] = "t.json".into();
    let run = written(&folder, "run.json", &value);
    let worker = json!({ "name": "cpu0", "step_s": 0.1, "busy": [1], "nodes": [3] });
    let trace = json!({ "pleach": "0", "seconds": 1.5, "units": [worker], "convergence": [] });
    let trace = written(&folder, "t.json", &trace);
    for kept in [&run, &trace] {
        let before = fs::read(kept).unwrap();
        let words = format!("report {} -o {}", run.display(), kept.display());
        refused(&words, "is the same file as the input");
        assert_eq!(fs::read(kept).unwrap(), before);
    }
    let words =
        format!("report {} -o {}", run.display(), folder.join("no/such/page.html").display());
    refused(&words, "--out ");
    assert!(pleach(&format!("report {} -o /dev/null", run.display())).status.success());
    assert!(!Path::new("/dev/null").is_file());
}

//! Limits and signals: every phase of a command ends in an orderly way, and saves what is worth
//! saving.
#![cfg(target_os = "linux")]

use crate::outside::{end_of, example, folder, fresh, guarded, json, pleach, refused, until};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The signals that these tests send.
const HUP: u32 = 1;
pub const INT: u32 = 2;
const USR1: u32 = 10;
const TERM: u32 = 15;

/// A running command, which ends with the test.
pub struct Running(Option<Child>);

impl Running {
    /// Starts a command through a shell.
    pub fn shell(script: &str) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", script]).env("PLEACH", env!("CARGO_BIN_EXE_pleach"));
        Self(Some(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()))
    }

    /// Starts `pleach`, and waits until it catches signals.
    pub fn new(words: &str) -> Self {
        Self::of(&format!("exec $PLEACH {words}"))
    }

    /// Starts a script, and waits until its command catches signals: while a signal is being registered, it can be
    /// lost, so the sign is a thread that the command starts afterwards. Until it gets a signal, it must run on.
    fn of(script: &str) -> Self {
        let mut running = Self::shell(script);
        let tasks = format!("/proc/{}/task", running.id());
        running.until("a command that catches signals", || {
            let mut tasks = fs::read_dir(&tasks).unwrap().map(|task| task.unwrap().path());
            tasks.any(|task| {
                fs::read_to_string(task.join("comm")).is_ok_and(|name| name == "pleach-limits\n")
            })
        });
        running
    }

    /// Waits until a condition holds, while the command runs.
    fn until(&mut self, what: &str, mut is_so: impl FnMut() -> bool) {
        until(what, || {
            let so = is_so();
            let over = self.0.as_mut().unwrap().try_wait().unwrap();
            assert!(so || over.is_none(), "it ended, {over:?}, before {what}");
            so
        });
    }

    fn id(&self) -> u32 {
        self.0.as_ref().unwrap().id()
    }

    /// A set of signals, as the system reports it.
    fn signals(&self, set: &str) -> Vec<u32> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix(set)?.strip_prefix(':'));
        let mask = u64::from_str_radix(mask.unwrap().trim(), 16).unwrap();
        (1..=64).filter(|signal| mask >> (signal - 1) & 1 == 1).collect()
    }

    pub fn send(&self, signal: u32) {
        let id = self.id().to_string();
        assert!(Command::new("kill").args([format!("-{signal}"), id]).status().unwrap().success());
    }

    /// Reads lines of standard error until one contains this.
    fn says(&mut self, text: &str) -> String {
        let errors = BufReader::new(self.0.as_mut().unwrap().stderr.take().unwrap());
        let mut lines = errors.lines().map(Result::unwrap);
        guarded(self.id(), || lines.find(|line| line.contains(text))).expect(text)
    }

    pub fn end(mut self) -> Output {
        end_of(self.0.take().unwrap())
    }

    /// Ends stopped, with a result.
    pub fn stopped(self) -> String {
        let output = self.end();
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // It may have ended on its own.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A pipe that nobody writes to, so that reading it never ends.
fn silent_pipe(name: &str) -> PathBuf {
    let path = fresh("stopping", name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

/// A command that was reading used to end only at a signal, and without a result.
#[test]
fn reading_ends_at_a_limit_or_a_signal_with_a_result() {
    let pipe = silent_pipe("read");
    let pipe = pipe.display();
    let limited = pleach(&format!("solve flowshop {pipe} --time-limit 10ms --json"));
    assert_eq!(limited.status.code(), Some(3), "{limited:?}");
    let report: Value = serde_json::from_slice(&limited.stdout).unwrap();
    assert_eq!(report["status"], "stopped");
    assert_eq!((&report["objective"], &report["lower_bound"]), (&Value::Null, &Value::Null));
    assert_eq!(report["settings"]["time_limit"], "10ms");
    for (words, said) in [
        (format!("solve atsp {pipe}"), "stopped by request"),
        (format!("check flowshop {pipe} {pipe}"), "stopped before the solution was checked"),
        (format!("report {pipe}"), "report: stopped"),
        (format!("loop spmm {pipe}"), "stopped after"),
        (format!("loop rays {pipe} --json"), "\"status\":\"stopped\""),
    ] {
        let running = Running::new(&words);
        running.send(TERM);
        let text = running.stopped();
        assert!(text.contains(said) && !text.contains("solved"), "{words}: {text}");
    }
}

/// A command used to wait for the compiler of a kernel of the emulated device, which here waits for the end of the
/// test.
#[test]
fn a_compiler_at_work_holds_up_neither_limit_nor_signal() {
    let folder = folder("slow-compiler");
    let (hold, compiler) = (folder.join("hold"), folder.join("compiler"));
    fs::write(&hold, "").unwrap();
    let waits = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && exit\nwhile [ -e {} ]; do sleep 0.1; done\nexit 1\n",
        hold.display()
    );
    fs::write(&compiler, waits).unwrap();
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
    let cache = folder.join("no-cache");
    let slow = format!("CXX={} XDG_CACHE_HOME={}", compiler.display(), cache.display());
    let search = "solve flowshop ta021 --best optimum --devices";
    for devices in ["emulated", "cpu,emulated", "cpu,emulated --balance weighted"] {
        let limited = format!("exec env {slow} $PLEACH {search} {devices} --time-limit 100ms");
        assert!(Running::shell(&limited).stopped().contains("stopped"), "{devices}");
        let running = Running::of(&format!("exec env {slow} $PLEACH {search} {devices}"));
        running.send(INT);
        assert!(running.stopped().contains("stopped"), "{devices}");
    }
    let check = "devices uts --check emulated --time-limit 100ms";
    let output = Running::shell(&format!("exec env {slow} $PLEACH {check}")).end();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("emulated: 0 right, 0 wrong, 0 failed, no time for"), "{text}");
    fs::remove_file(&hold).unwrap();
}

/// A stop during the preparation used to wait for its end, and then to report "solved without search".
#[test]
fn a_stop_during_the_preparation_gives_a_true_result() {
    let folder = folder("stopping");
    let shop = folder.join("shop");
    let times = (0..60u64).map(|k| {
        let row = (0..1500u64).map(|j| (1 + (j * 7919 + k * 104_729 + j * j * k) % 99).to_string());
        row.collect::<Vec<_>>().join(" ")
    });
    fs::write(&shop, format!("1500 60\n{}\n", times.collect::<Vec<_>>().join("\n"))).unwrap();
    let shop = shop.display();
    for more in ["", "--best neh", "--best none --bound two", "--all"] {
        let output = pleach(&format!("solve flowshop {shop} {more} --time-limit 30ms --json"));
        assert_eq!(output.status.code(), Some(3), "{more}: {output:?}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["status"], "stopped", "{more}");
        let Some(jobs) = report["solution"].as_array() else { continue };
        let mut jobs: Vec<i64> = jobs.iter().map(|job| job.as_i64().unwrap()).collect();
        jobs.sort_unstable();
        assert!(jobs.into_iter().eq(1..=1500), "{more}: all jobs are there");
        assert!(report["lower_bound"].as_i64() <= report["objective"].as_i64(), "{more}");
    }
    // Nothing is claimed that there was no time to prove.
    let output = pleach("solve atsp rtilt:300:1 --bound arborescence --time-limit 1ms --json");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &report["status"]), (Some(3), &"stopped".into()));
}

/// `nohup pleach …` used to end with its terminal.
#[test]
fn an_ignored_signal_stays_ignored() {
    let running = Running::of("trap '' HUP; exec $PLEACH count uts T1XXL --quiet");
    assert!(running.signals("SigIgn").contains(&HUP) && !running.signals("SigCgt").contains(&HUP));
    running.send(TERM);
    running.stopped();
}

/// The signal used to end the process, and to lose everything since the last save.
#[test]
fn a_request_saves_the_search_which_continues() {
    let path = fresh("stopping", "saved.pleach");
    let file = path.display();
    let mut running =
        Running::new(&format!("count uts T1XXL --quiet --every 1h --checkpoint {file}"));
    running.until("a file", || path.metadata().is_ok_and(|file| file.len() > 0));
    let before = fs::read(&path).unwrap();
    running.send(USR1);
    let said = running.says("saving to");
    assert!(said.contains("nodes"), "{said}");
    running.until("a save", || fs::read(&path).unwrap() != before);
    running.send(TERM);
    assert!(running.stopped().contains("to resume"));
    // Without a checkpoint it only reports its progress.
    let mut running = Running::new("count uts T1XXL --quiet");
    running.send(USR1);
    let said = running.says("nodes");
    assert!(!said.contains("saving"), "{said}");
    running.send(TERM);
    running.stopped();
}

/// The limit used to count fuel, of which nodes without children use more than they add to the count.
#[test]
fn a_node_limit_counts_what_is_reported() {
    let near = |nodes: &Value, limit: i64| {
        let nodes = nodes["bounded"].as_i64().unwrap();
        assert!((nodes - limit).abs() <= 3000, "{nodes} of {limit}");
    };
    let items = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/knapsack/correlated-60.txt");
    for threads in ["1", "2", "5"] {
        let limited = ["--node-limit", "60000", "--json", "--threads", threads];
        for (name, words) in [("walks", vec!["25"]), ("knapsack", vec![items.to_str().unwrap()])] {
            let output = example(name, &[&words[..], &limited].concat());
            assert_eq!(output.status.code(), Some(3), "{name}: {output:?}");
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            near(&report["nodes"], 60_000);
        }
        let words = format!("count uts T1L --node-limit 60000 --threads {threads}");
        near(&json(&words)["nodes"], 60_000);
    }
}

/// A full disk used to leave a truncated file in place of a good one.
#[test]
fn a_file_that_cannot_be_written_completely_stays_as_it_was() {
    let folder = folder("stopping/full");
    for old in fs::read_dir(&folder).unwrap() {
        fs::remove_file(old.unwrap().path()).unwrap();
    }
    for (name, words) in [
        ("plan.svg", "solve flowshop ta001 --quiet --gantt"),
        ("trace.svg", "count queens 10 --quiet --trace"),
        ("product.mtx", "loop csrmm fem:2000 --columns 8 --quiet --out"),
    ] {
        let path = folder.join(name);
        fs::write(&path, "old").unwrap();
        // No file may be longer than one block.
        let script = format!("ulimit -f 1; trap '' XFSZ; exec $PLEACH {words} {}", path.display());
        let output = Running::shell(&script).end();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{name}: {output:?}");
        assert!(said.contains("cannot write") && said.lines().count() == 1, "{said}");
        assert!(!output.stdout.is_empty(), "the result comes first");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old", "{name}");
    }
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "no part is left: {left:?}");
    // Without a solution, no file is made.
    let none = folder.join("none.svg");
    pleach(&format!("solve flowshop ta001 --best 1 --quiet --gantt {}", none.display()));
    assert!(!none.exists());
}

#[test]
fn outputs_go_to_files_and_streams_but_not_to_a_dash() {
    for words in [
        "solve queens 8 --solution -",
        "solve flowshop ta001 --gantt -",
        "count queens 8 --trace -",
        "count queens 8 --metrics -",
    ] {
        refused(words, "-: expected a file");
    }
    let text = pleach("solve queens 8 --solution /dev/stdout").stdout;
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text.lines().filter(|line| line.split(' ').count() == 8).count(), 2, "{text}");
    refused("loop rays cube:1 --out x.jpg", "x.jpg: expected a name that ends in .png");
    refused("loop lattice --out flow.txt", "flow.txt: expected a name that ends in .vti or .png");
    refused("loop spmm fem:10 --out product", "product: expected a name that ends in .mtx");
    refused("loop rays cube:1 --out -", "--out -: expected");
    refused("loop nosuch --help", "no help for 'nosuch'");
    refused("solve nosuch --help", "no help for 'nosuch'");
}

#[test]
fn metrics_are_written_as_prometheus_reads_them() {
    let path = fresh("stopping", "pleach.prom");
    assert!(pleach(&format!("count queens 12 --metrics {}", path.display())).status.success());
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("# TYPE pleach_nodes_total counter\npleach_nodes_total "), "{text}");
    refused(
        "count queens 8 --metrics /nowhere/at/all.prom",
        "--metrics /nowhere/at/all.prom: No such",
    );
}

/// An infinite tree used to end the process when memory ran out.
#[test]
fn a_search_ends_in_order_when_memory_runs_out() {
    let path = fresh("stopping", "endless.pleach");
    let file = path.display();
    let endless = "count uts type=binomial,b0=4,q=1,m=4 --node-limit 1000000000000 --quiet";
    for more in ["--memory 64M".to_string(), format!("--memory 96M --checkpoint {file}")] {
        let output = pleach(&format!("{endless} {more}"));
        let (text, notes) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(3), "{text}{notes}");
        assert!(text.contains("stopped by the memory limit"), "{text}");
        assert!(notes.contains("--memory") && notes.contains("may be infinite"), "{notes}");
    }
    let again = pleach(&format!("resume {file} --quiet --node-limit 1000"));
    assert_eq!(again.status.code(), Some(3), "the checkpoint is whole: {again:?}");
    // A limit on the process counts as well.
    let script = format!("ulimit -v 1000000; exec $PLEACH {endless}");
    let output = Running::shell(&script).end();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    refused("count queens 8 --memory lots", "--memory lots: expected a size");
    refused("count queens 8 --threads 1000000", "--threads 1000000: expected");
    let many = pleach::Solver::new(Endless).threads(1_000_000).run().unwrap_err();
    assert!(many.to_string().contains("at most 1024"), "{many}");
    let report = pleach::Solver::new(Endless).threads(2).memory(64 << 20).run().unwrap();
    assert_eq!(report.outcome.stop, Some(pleach::Stop::Memory));
}

/// All nodes that a best-first search keeps would take over 50 MB.
#[test]
fn a_best_first_search_goes_deep_when_memory_is_short() {
    let path = folder("stopping").join("best-first.pleach");
    // Even where nobody notices in time that memory is short, the whole tree hardly takes more.
    let saved = format!("144M --checkpoint {} --every 100ms", path.display());
    for memory in ["48M", &saved, "1G"] {
        let _ = fs::remove_file(&path);
        let line = "solve qap nug14 --best none --best-first --threads 2";
        let result = json(&format!("{line} --memory {memory}"));
        assert_eq!((&result["status"], &result["lower_bound"]), (&"optimal".into(), &1014.into()));
        assert_eq!(result["settings"]["best_first"], true);
    }
    refused("count queens 8 --best-first", "--best-first");
}

/// With standard output closed, a result used to be lost with exit code 0.
#[test]
fn a_result_that_cannot_be_printed_is_a_failure() {
    let plan = fresh("stopping", "unprinted.txt");
    let script = format!("exec $PLEACH solve queens 8 --solution {} >&-", plan.display());
    let output = Running::shell(&script).end();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(said.contains("standard output is closed") && said.lines().count() == 1, "{said}");
    assert!(plan.exists(), "files are written all the same");
    let elsewhere = Running::shell("exec $PLEACH count queens 8 > /dev/null").end();
    assert!(elsewhere.status.success(), "{elsewhere:?}");
}

/// An infinite tree.
struct Endless;

impl pleach::Tree for Endless {
    type Node = [u64; 16];
    const GOAL: pleach::Goal = pleach::Goal::Count;

    fn root(&self) -> [u64; 16] {
        [0; 16]
    }

    fn expand(&self, node: &[u64; 16], _: Option<i64>, out: &mut pleach::Children<Self>) {
        (0..4).for_each(|_| out.child(*node));
    }
}

/// A starting solution whose score had the wrong sign used to be trusted.
#[test]
fn a_start_solution_is_checked() {
    use pleach::{Goal, Plain, Problem, Solution, Solver, knapsack::Knapsack};
    let problem = || Plain(Knapsack::new(10, &[[6, 4], [5, 3], [8, 6]]).unwrap());
    assert_eq!(problem().goal(), Goal::Maximise);
    let run = |score, plan: Vec<i64>| {
        let start = Some(Solution { score, solution: plan });
        Solver::of(problem()).settings(|all| all.start = start).run()
    };
    let why = run(13, vec![2, 3]).unwrap_err().to_string();
    let right = Goal::Maximise.score(13);
    let given = Goal::Maximise.value(13);
    assert!(why.contains(&format!("its value is given as {given}, but it is 13")), "{why}");
    assert!(run(Goal::Maximise.score(19), vec![1, 2, 3]).is_err(), "too heavy");
    assert_eq!(run(right, vec![2, 3]).unwrap().objective, Some(14));
    let why = pleach::flowshop::Instance::new(2, vec![3, 6, 5]).unwrap_err();
    assert!(why.contains("3 times, expected 2 for each job"), "{why}");
}

/// A file of another program used to be read as this program's own, and the error blamed a flag.
#[test]
fn a_checkpoint_knows_its_program() {
    let path = fresh("stopping", "walks.pleach");
    let file = path.to_str().unwrap();
    let words = ["25", "--node-limit", "1000", "--checkpoint", file, "--pace", "1000000"];
    assert_eq!(example("walks", &words).status.code(), Some(3));
    let other = example("knapsack", &["resume", file]);
    assert_eq!(other.status.code(), Some(2), "{other:?}");
    let said = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(said.contains("it holds a search of 'walks'"), "{said}");
    refused(&format!("resume {file}"), "it holds a search of 'walks'");
    let again = example("walks", &["16", "17"]);
    assert_eq!(again.status.code(), Some(2), "{again:?}");
    let file = fresh("stopping", "paced.pleach");
    let file = file.display();
    pleach(&format!("count queens 12 --node-limit 1000 --pace 100000 --checkpoint {file}"));
    let resumed = pleach(&format!("resume {file} --node-limit 1000"));
    let said = String::from_utf8_lossy(&resumed.stderr).into_owned();
    assert!(said.contains("keeps its --pace 100000"), "{said}");
}

/// It used to report nothing, so that a service took a job for done without its best solution.
#[test]
fn a_resumed_search_whose_time_is_over_reports_what_its_file_holds() {
    let path = fresh("stopping", "tour.pleach");
    let file = path.display();
    let words = format!("solve atsp crane:400:1 --threads 1 --checkpoint {file}");
    let first = json(&format!("{words} --node-limit 1"));
    assert!(first["objective"].is_i64(), "{first}");
    for words in [words, format!("resume {file}")] {
        // Its preparation alone takes longer.
        let again = json(&format!("{words} --time-limit 200ms --quiet"));
        let better = again["objective"].as_i64() <= first["objective"].as_i64();
        assert!(again["objective"].is_i64() && better, "{again}");
    }
}

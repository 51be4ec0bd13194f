//! Searches that are stopped, killed and resumed: the counts at the end are the published ones.

use crate::outside::{end_of, folder, fresh, json, output_of, pleach, refused, until};
use oorandom::Rand64;
use pleach_runtime::load;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What is searched, and the counts it must have in the end: branched, bounded, counted.
const SEARCHES: [(&str, u64, u64, u64); 8] = [
    ("count uts T1", 824_953, 4_130_070, 4_130_071),
    ("count uts T3", 513_863, 4_112_896, 4_112_897),
    ("count queens 14", 17_327_860, 27_358_552, 365_596),
    ("count queens 14 --nodes interval", 17_327_860, 27_358_552, 365_596),
    ("count queens 14 --whole", 17_327_860, 27_358_552, 365_596),
    (TA030, 2_415_779, 45_246_962, 0),
    (TA030_INTERVAL, 2_415_779, 45_246_962, 0),
    (TA030_BY_JOB, 2_415_779, 45_246_962, 0),
];
const TA030: &str = "solve flowshop ta030 --best optimum --bound one --branching min-branch";
const TA030_INTERVAL: &str =
    "solve flowshop ta030 --best optimum --bound one --branching min-branch --nodes interval";
const TA030_BY_JOB: &str =
    "solve flowshop ta030 --best optimum --bound one --nodes interval --child-order job";

fn is_exact(report: &Value, (words, branched, bounded, counted): (&str, u64, u64, u64)) {
    assert_eq!(report["nodes"]["branched"], branched, "{words}: {report}");
    assert_eq!(report["nodes"]["bounded"], bounded, "{words}: {report}");
    if counted > 0 {
        assert_eq!(report["count"], counted, "{words}: {report}");
    } else {
        assert_eq!(report["lower_bound"], 2178, "{words}: {report}");
    }
}

fn spawn(words: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
    let command = command.args(words.split_whitespace()).arg("--json");
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Searches are killed at random moments, 20 times in all or as often as `PLEACH_KILLS` says, and resumed
/// each time with another number of threads and other instructions.
#[test]
fn kills_change_no_count() {
    let kills = std::env::var("PLEACH_KILLS").ok().and_then(|word| word.parse().ok()).unwrap_or(20);
    let rng = &mut Rand64::new(9);
    let (mut killed, mut ended, mut saved) = (0, 0, 0);
    while killed < kills {
        let search = SEARCHES[ended % SEARCHES.len()];
        let path = fresh("resume", "kill.pleach");
        let file = path.to_str().unwrap();
        let report = loop {
            let threads = rng.rand_range(1..4);
            // Slowed, so that there is time to kill.
            let slow: Vec<_> = (0..threads).map(|worker| format!("cpu{worker}=10")).collect();
            let simd = ["auto", "off", "avx2"][rng.rand_range(0..3) as usize];
            let how = format!("--threads {threads} --slow {} --simd {simd}", slow.join(","));
            let mut child = spawn(&if path.exists() {
                saved += 1;
                format!("resume {file} --every 5ms {how}")
            } else {
                format!("{} --checkpoint {file} --every 5ms {how}", search.0)
            });
            let deadline = Instant::now() + Duration::from_millis(rng.rand_range(1..600));
            // Once there were enough, the last search runs to its end, however slow the machine is.
            while killed < kills && child.try_wait().unwrap().is_none() {
                if Instant::now() >= deadline {
                    child.kill().unwrap();
                    killed += 1;
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            let output = end_of(child);
            if output.status.code().is_some() {
                assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
                break serde_json::from_slice(&output.stdout).unwrap();
            }
        };
        is_exact(&report, search);
        ended += 1;
    }
    println!("{killed} kills, {saved} searches resumed, {ended} to their end");
    assert!(saved > 0);
}

/// Ctrl-C, and a resume on one thread.
#[test]
#[cfg(unix)]
fn an_interrupted_search_is_resumed_on_other_workers() {
    for nodes in ["pool", "interval"] {
        let path = fresh("resume", &format!("interrupt-{nodes}.pleach"));
        let file = path.to_str().unwrap();
        let words = format!("{TA030} --nodes {nodes}");
        // Slowed, so that there is time to interrupt.
        let slow = "--threads 2 --slow cpu0=10,cpu1=10";
        let mut child = spawn(&format!("{words} --checkpoint {file} --every 20ms {slow}"));
        // By then both workers have open nodes.
        until("a file with progress", || {
            assert!(child.try_wait().unwrap().is_none(), "it ended without one");
            path.exists() && load(&path).unwrap().counts.branched > 10_000
        });
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let output = end_of(child);
        assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
        let stopped: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(stopped["status"], "stopped");
        let shown = json(&format!("resume {file} --show"));
        assert_eq!(shown["nodes"]["branched"], stopped["nodes"]["branched"]);
        assert_eq!(shown["lower_bound"], stopped["lower_bound"]);
        // Two workers hold dozens of open nodes, or an interval or two each.
        let open = shown["open"].as_f64().unwrap();
        assert!(if nodes == "pool" { open > 10.0 } else { (1.0..=6.0).contains(&open) }, "{shown}");
        let report = json(&format!("resume {file} --threads 1"));
        is_exact(&report, (words.as_str(), 2_415_779, 45_246_962, 0));
        assert_eq!(report["settings"]["nodes"], nodes);
        assert!(report["seconds"].as_f64() > stopped["seconds"].as_f64());
        // Resuming a finished search prints its result again.
        let again = json(&format!("resume {file}"));
        for key in ["status", "objective", "lower_bound", "solution", "nodes"] {
            assert_eq!(again[key], report[key], "{key}");
        }
    }
}

/// The search for all optimal schedules is two searches: either can be stopped.
#[test]
fn both_searches_of_all_optima_are_resumed() {
    let path = fresh("resume", "all.pleach");
    let file = path.to_str().unwrap();
    let whole = json("solve flowshop VFR10_10_1 --all --threads 1 --best neh --bound one");
    let mut words = format!(
        "solve flowshop VFR10_10_1 --all --best neh --bound one --threads 1 --checkpoint {file}"
    );
    for stops in 0.. {
        let report = json(&format!("{words} --node-limit 20000"));
        if report["status"] == "optimal" {
            assert!(stops > 2, "{stops} stops");
            for key in ["objective", "count", "nodes"] {
                assert_eq!(report[key], whole[key], "{key} after {stops} stops");
            }
            break;
        }
        // It used to show the nodes of the second search alone.
        let shown = json(&format!("resume {file} --show"));
        for key in ["branched", "bounded"] {
            assert_eq!(shown["nodes"][key], report["nodes"][key], "{key} after {stops} stops");
        }
        words = format!("resume {file}");
    }
}

/// A checkpoint may be named like a word of its command.
#[test]
fn a_checkpoint_named_like_the_instance_is_resumed() {
    let folder = folder("resume-named");
    let run = |words: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
        output_of(command.current_dir(&folder).args(words.split_whitespace()))
    };
    let _ = fs::remove_file(folder.join("14"));
    let first = run("count queens 14 --checkpoint 14 --node-limit 1000 --simd off");
    assert_eq!(first.status.code(), Some(3));
    assert_eq!(run("resume 14 --node-limit 1000").status.code(), Some(3));
    let last = run("resume 14 --json");
    let report: Value = serde_json::from_slice(&last.stdout).unwrap();
    is_exact(&report, SEARCHES[2]);
}

/// Files that flags name are found from another folder, and not taken for what they were once they have changed.
#[test]
fn files_of_flags_are_found_from_elsewhere() {
    let folder = folder("resume-flags");
    let elsewhere = folder.join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let due: Vec<String> = (600..620).map(|due: u32| due.to_string()).collect();
    fs::write(folder.join("due.txt"), due.join("\n")).unwrap();
    let _ = fs::remove_file(folder.join("run.pleach"));
    let run = |at: &Path, words: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
        output_of(command.current_dir(at).args(words.split_whitespace()))
    };
    let words = "solve flowshop ta001 --objective tardiness --due due.txt --node-limit 20000";
    let first = run(&folder, &format!("{words} --checkpoint run.pleach --quiet"));
    assert_eq!(first.status.code(), Some(3), "{first:?}");
    let again = run(&elsewhere, "resume ../run.pleach --node-limit 20000 --quiet");
    assert_eq!(again.status.code(), Some(3), "{again:?}");
    fs::write(folder.join("due.txt"), due[1..].join("\n") + "\n7\n").unwrap();
    let changed = run(&elsewhere, "resume ../run.pleach --quiet");
    let said = String::from_utf8_lossy(&changed.stderr).into_owned();
    assert_eq!(changed.status.code(), Some(2), "{said}");
    assert!(said.contains("its input due.txt has changed since it was saved"), "{said}");
}

/// Counts that would overflow, and bytes that are not work, are refused even with a valid checksum.
#[test]
fn made_up_checkpoints_are_refused() {
    use pleach_core::wire::checkpoint::Checkpoint;
    let path = fresh("resume", "made-up.pleach");
    let file = path.to_str().unwrap();
    pleach(&format!("count queens 14 --checkpoint {file} --node-limit 1000 --simd off"));
    let good = Checkpoint::from_bytes(&fs::read(&path).unwrap()).unwrap();
    let mut large = good.clone();
    large.counts.total = u128::MAX;
    fs::write(&path, large.to_bytes()).unwrap();
    refused(&format!("resume {file}"), "out of range");
    let mut broken = good.clone();
    broken.pieces[0].bytes[0] ^= 0xff;
    fs::write(&path, broken.to_bytes()).unwrap();
    refused(&format!("resume {file}"), &format!("cannot resume {file}: "));
    let mut silent = good;
    silent.about = "{\"words\":[],\"flags\":[]}".into();
    fs::write(&path, silent.to_bytes()).unwrap();
    refused(&format!("resume {file}"), file);
}

/// A file of several sites: what the others held is shown and resumed.
#[test]
fn a_file_of_several_sites_is_resumed() {
    use pleach_core::lease::gateway::Portion;
    use pleach_core::lease::{Lease, ProgressReport, Rec};
    use pleach_core::search::work::Pool;
    use pleach_core::wire::checkpoint::Checkpoint;
    use pleach_problems::queens::Board;
    let path = fresh("resume", "sites.pleach");
    let file = path.to_str().unwrap();
    pleach(&format!(
        "count queens 14 --checkpoint {file} --node-limit 1000 --simd off --threads 1"
    ));
    let mut one = Checkpoint::from_bytes(&fs::read(&path).unwrap()).unwrap();
    let mut kept = Pool::<Board>::from_bytes(&one.pieces[0].bytes).unwrap();
    let given = kept.split(0.5).unwrap();
    one.pieces = vec![kept.to_work(), given.to_work()];
    fs::write(&path, one.to_bytes()).unwrap();
    let before = json(&format!("resume {file} --show"));
    assert_eq!(before["pieces"], 2);
    // All counts and one of the pieces are held elsewhere.
    let mut whole = one.progress_report();
    let mut given = ProgressReport::of(whole.content.clone());
    whole.content.open.truncate(1);
    given.content.open.remove(0);
    whole.content.done = Default::default();
    for number in 0..3 {
        let lease = Lease { site: 0, incarnation: 5, number };
        let as_given = Portion::open(given.content.open.clone());
        let rec =
            Rec { holder: 1, acked: true, given: as_given.into(), latest: Some(given.into()) };
        given = ProgressReport::default();
        given.subs.insert(lease, rec);
    }
    whole.subs = given.subs;
    fs::write(&path, one.with_progress_report(&whole).to_bytes()).unwrap();
    let shown = json(&format!("resume {file} --show"));
    for key in ["open", "pieces", "nodes", "count", "done"] {
        assert_eq!(shown[key], before[key], "{key}");
    }
    // A stop used to wait until the leases of processes that had not come back lapsed, with a warning.
    let [other, key] = ["sites-stopped.pleach", "sites.key"].map(|name| fresh("resume", name));
    let [other, key] = [other, key].map(|path| path.display().to_string());
    let how = format!("--node-limit 1000 --listen 127.0.0.1:0 --key {key} --quiet");
    let stopped = json(&format!("resume {file} --checkpoint {other} {how}"));
    assert_eq!(stopped["status"], "stopped");
    is_exact(&json(&format!("resume {other}")), SEARCHES[2]);
    is_exact(&json(&format!("resume {file}")), SEARCHES[2]);
}

/// A user's own command resumes like any other.
#[test]
fn a_users_own_command_is_resumed() {
    let example =
        Path::new(env!("CARGO_BIN_EXE_pleach")).parent().unwrap().join("examples/knapsack");
    assert!(example.exists(), "expected {}: build the examples first", example.display());
    let items = folder("resume").join("items.txt");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/knapsack/correlated-60.txt");
    fs::copy(data, &items).unwrap();
    let path = fresh("resume", "own.pleach");
    let file = path.to_str().unwrap();
    let run = |words: &[&str]| {
        let output = output_of(Command::new(&example).args(words));
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr),
        )
    };
    let items_file = items.to_str().unwrap();
    let whole: Value = serde_json::from_str(&run(&[items_file, "--json"]).1).unwrap();
    let (code, _) = run(&[items_file, "--checkpoint", file, "--node-limit", "100000"]);
    assert_eq!(code, Some(3));
    let (code, shown) = run(&["resume", file, "--show"]);
    assert_eq!(code, Some(0), "{shown}");
    let (code, report) = run(&["resume", file, "--json", "--threads", "1"]);
    assert_eq!(code, Some(0), "{report}");
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["objective"], whole["objective"]);
    assert_eq!(report["instance"], whole["instance"]);
    // Other items make another search.
    fs::write(&items, "1 10\n5 5\n").unwrap();
    let (code, said) = run(&["resume", file]);
    assert_eq!(code, Some(2));
    assert!(said.contains("has changed since it was saved"), "{said}");
}

#[test]
fn what_cannot_be_resumed_is_refused() {
    let path = fresh("resume", "refused.pleach");
    let file = path.to_str().unwrap();
    assert_eq!(
        pleach(&format!("count queens 15 --node-limit 100000 --checkpoint {file}")).status.code(),
        Some(3)
    );
    refused(
        &format!("resume {file} --bound one"),
        "--bound cannot change when a search is resumed",
    );
    refused(&format!("resume {file} --threads 0"), "--threads 0");
    refused("resume nowhere.pleach", "nowhere.pleach: ");
    refused("resume", "FILE");
    refused("count queens 8 --show", "--show works only with 'resume FILE'");
    refused("count queens 8 --every 1s", "--every has no effect without --checkpoint");
    refused("count uts T1 --nodes interval", "--nodes");
    refused("count queens 8 --nodes heap", "--nodes 'heap': expected pool or interval");
    refused(
        "count queens 8 --checkpoint /nowhere/run.pleach",
        "--checkpoint /nowhere/run.pleach: ",
    );
    let text = folder("resume").join("notes.txt");
    fs::write(&text, "do not lose").unwrap();
    let words = format!("count queens 8 --checkpoint {}", text.display());
    refused(&words, "not a checkpoint; refusing to overwrite it");
    assert_eq!(fs::read_to_string(&text).unwrap(), "do not lose");
    let good = fs::read(&path).unwrap();
    let mut damaged = good.clone();
    damaged[good.len() / 2] ^= 1;
    fs::write(&path, damaged).unwrap();
    refused(&format!("resume {file}"), "damaged");
    fs::write(&path, &good[..good.len() - 3]).unwrap();
    refused(&format!("resume {file} --show"), "its length is wrong");
    let mut newer = good.clone();
    newer[4] += 1;
    let format = newer[4];
    fs::write(&path, newer).unwrap();
    refused(&format!("resume {file}"), &format!("its format is {format}"));
}

//! `pleach sim` as a user sees it: figures, sweeps, pictures, scenarios, and one line for bad input.

use crate::outside::{folder, json, pleach, refused};
use crate::stopping::Running;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Writes a scenario, and gives the words to simulate it.
fn scenario(name: &str, text: &str) -> String {
    let path = folder("sim").join(name);
    fs::write(&path, text).unwrap();
    format!("sim {}", path.display())
}

fn mean(row: &Value, figure: &str) -> f64 {
    row["figures"][figure]["mean"].as_f64().unwrap()
}

#[test]
fn a_problem_is_simulated_on_many_peers() {
    let report = json("sim uts T1 --peers 1,20 --seed 3");
    let rows = report["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &report["seeds"]), (2, &serde_json::json!([3])));
    assert!((mean(&rows[0], "efficiency") - 1.0).abs() < 1e-9);
    assert!(mean(&rows[1], "speed_up") > 15.0);
    assert_eq!(mean(&rows[1], "nodes"), 4_130_070.0);
    for words in [
        "sim queens 10 --peers 5",
        // Each worker on a flowshop without a named bound learns which bound pays off, so node counts vary.
        "sim flowshop VFR10_10_6 --peers 200 --best optimum --seed 0",
        "sim flowshop ta001 --peers 5 --best neh --bound one --branching min-branch --seed 0",
        "sim knapsack ../data/knapsack/correlated-60.txt --peers 5 --seed 0 --best 3000",
        "sim interval 1.5s --peers 7 --balance random-half:share=1/4",
    ] {
        let output = pleach(words);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("efficiency") && text.contains("events a second"), "{text}");
    }
}

/// Limits on the process used to be ignored.
#[test]
fn more_peers_than_fit_into_memory_are_refused() {
    let script = "ulimit -v 1000000; exec $PLEACH sim queens 6 --peers 7000";
    let output = Running::shell(script).end();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("peers = 7000: expected fewer"), "{said}");
}

#[test]
fn the_same_seed_gives_the_same_figures() {
    let words = "sim interval 5s --peers 30 --seed 9";
    assert_eq!(json(words)["rows"], json(words)["rows"]);
    assert_ne!(json(words)["rows"], json("sim interval 5s --peers 30 --seed 10")["rows"]);
}

const SWEEP: &str = "title = 'A <sweep>'
seeds = [1, 2]
balance = ['adaptive', 'random-half']
peers = [5, 10, 50]
snapshot_ms = 20
chart = 'speed_up'
[load]
problem = 'interval'
total_s = 2
halvings = 6
[network]
latency_us = 10
mb_per_s = 1e3
rack = { peers = 5, latency_us = 2 }
site = { peers = 25, latency_us = 200 }
delays = { chance = 0.1, mean_us = 300, heavy = true }
[machine]
handle_us = 1
pauses = { every_ms = 50, length_ms = 5 }
changes = { every_ms = 20, least = 0.5 }
late = { part = 0.5, until_ms = 10 }
[[paper]]
x = '50'
series = 'adaptive'
value = 45.5
what = 'speed_up'
";

#[test]
fn lists_make_a_sweep_with_a_table_and_a_chart() {
    let words = scenario("sweep.toml", SWEEP);
    let report = json(&words);
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    assert_eq!(rows[1]["cell"], serde_json::json!({ "peers": "5", "balance": "random-half" }));
    assert!(rows.iter().all(|row| mean(row, "snapshots") > 0.0));
    let chart = folder("sim").join("sweep.svg");
    let output = pleach(&format!("{words} --svg {}", chart.display()));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text.lines().filter(|line| line.contains("random-half")).count(), 3, "{text}");
    assert!(text.contains("45.50"), "the published value stands beside ours: {text}");
    let svg = fs::read_to_string(chart).unwrap();
    assert!(svg.contains("A &lt;sweep&gt;") && svg.matches("<polyline").count() == 3);
    assert!(svg.contains("published") && !svg.contains("NaN") && !svg.contains("inf"));
    let less = json(&format!("{words} --peers 3 --seed 5 --balance adaptive"));
    assert_eq!(less["rows"].as_array().unwrap().len(), 1);
}

#[test]
fn kinds_of_peers_are_counted_and_named() {
    let text = "[load]\nproblem = 'interval'\ntotal_s = 10\n
        [[machine.class]]\nname = 'slow'\ncount = [0, 20]\n
        [[machine.class]]\nname = 'fast'\ncount = 2\nspeed = 50\npoll_us = 500\n";
    let report = json(&scenario("kinds.toml", text));
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows[1]["cell"], serde_json::json!({ "slow": "20" }));
    assert_eq!((&rows[0]["power"], &rows[1]["power"]), (&100.0.into(), &120.0.into()));
    // The known power of each kind is its speed, unless given.
    let run = |balance: &str, weights: [&str; 2]| {
        let [slow, fast] = weights;
        let text = text.replace("speed = 50", &format!("speed = 50\n{fast}"));
        let text = text.replace("[0, 20]", &format!("[1, 20]\n{slow}"));
        let words = scenario("weights.toml", &format!("balance = '{balance}'\n{text}"));
        json(&words)["rows"][0]["figures"].clone()
    };
    let by_hand = run("weighted:weights=1/50", ["", ""]);
    assert_eq!(run("weighted", ["", ""]), by_hand);
    assert_eq!(run("weighted", ["weight = 2", "weight = 100"]), by_hand);
    assert_ne!(run("weighted", ["", "weight = 1"]), by_hand);
}

/// A device that is short of work is slow; between sites nothing is lost.
#[test]
fn devices_are_slow_while_they_are_short_of_work() {
    let device = "device = { explorers = 64, inside = 'hypercube', launch_us = 0, copy_us = 0 }";
    let one = |units: u32| {
        let load = format!("load.problem = 'interval'\nload.total_s = {units}\nload.unit_us = 1e6");
        let text =
            format!("seeds = [1]\n{load}\n[[machine.class]]\ncount = 1\npoll_us = 1e6\n{device}\n");
        let row = json(&scenario("device.toml", &text))["rows"][0].clone();
        (mean(&row, "time_s"), mean(&row, "fill"))
    };
    assert_eq!(one(16), (64.0, 0.25));
    assert_eq!(one(640), (640.0, 1.0));
    let text = format!(
        "seeds = [1]\nload.problem = 'queens'\nload.instance = 11\nsites.count = 3\nsites.units = 2\n\
         sites.{device}\nsites.check_files = true\nchurn.deaths_per_minute = 600\n\
         churn.joins_per_minute = 900\nchurn.notice_s = 0.001\n\
         sites.commit_s = 0.01\n"
    );
    let row = &json(&scenario("device-sites.toml", &text))["rows"][0];
    assert_eq!(mean(row, "nodes"), 166_925.0);
    assert!(mean(row, "fill") < 1.0);
}

/// What a coordinator could explore is not part of linear speed-up.
#[test]
fn a_coordinator_does_not_count_for_linear_speed_up() {
    let gain = |balance: &str, peers: &str| {
        let load = "load.problem = 'queens'\nload.instance = 10";
        let text = format!("seeds = [1]\nbalance = '{balance}'\n{load}\n{peers}");
        let row = json(&scenario("linear.toml", &text))["rows"][0].clone();
        mean(&row, "linear") / mean(&row, "efficiency")
    };
    let near = |gain: f64, wanted: f64| assert!((gain / wanted - 1.0).abs() < 0.01, "{gain}");
    let coordinated = "dynamic:share=chunk/1,cutoff=2,coordinator=yes";
    let classes = "[[machine.class]]\ncount = 1\nspeed = 2\n[[machine.class]]\ncount = 3\n";
    near(gain("dynamic", classes), 1.0);
    near(gain(coordinated, classes), 5.0 / 3.0);
    near(gain(coordinated, "sites.count = 3\nsites.units = 2\n"), 6.0 / 4.0);
}

/// The nodes are those of half of the board, but they are shared in other pieces.
#[test]
fn whole_boards_are_simulated() {
    let words = "sim queens 10 --peers 9 --seed 3";
    let row = |words: &str| json(words)["rows"][0].clone();
    let [half, whole] = [row(words), row(&format!("{words} --whole"))];
    assert_eq!((mean(&half, "nodes"), mean(&whole, "nodes")), (35_538.0, 35_538.0));
    assert_ne!(mean(&half, "time_s"), mean(&whole, "time_s"));
    let text = "peers = 9\nseeds = [3]\n[load]\nproblem = 'queens'\ninstance = 10\nwhole = true\n";
    let words = scenario("whole.toml", text);
    assert_eq!(json(&words)["rows"][0]["figures"], whole["figures"]);
    refused(&format!("{words} --whole"), "does not apply to a scenario file; set load.whole");
    refused("sim uts T1 --peers 5 --whole", "--whole does not apply to 'sim uts'");
}

/// Ordered by job, the numbers of leaves are factoradics: the nodes are the same, but they are shared in other pieces.
#[test]
fn intervals_by_job_have_the_same_nodes() {
    let text = "peers = 9\nseeds = [1, 2, 3]\n[load]\nproblem = 'flowshop'\ninstance = 'VFR10_15_1'\n\
                bound = 'one'\nbranching = 'forward'\nbest = 'optimum'\nnodes = 'interval'\n\
                child_order = ['bound', 'job']\n";
    let report = json(&scenario("by-job.toml", text));
    let rows = report["rows"].as_array().unwrap();
    let nodes: Vec<f64> = rows.iter().map(|row| mean(row, "nodes")).collect();
    assert_eq!(nodes, [171_999.0, 171_999.0]);
    assert_ne!(mean(&rows[0], "time_s"), mean(&rows[1], "time_s"));
}

/// Refuses a scenario, naming its file.
fn bad(text: &str, said: &str) {
    let words = scenario("bad.toml", text);
    refused(&words, said);
    refused(&words, "bad.toml");
}

#[test]
fn bad_scenarios_give_one_line_with_file_and_key() {
    let work = "[load]\nproblem = 'interval'\ntotal_s = 1\n";
    for (whole, said) in [
        ("peers = ", "line 1"),
        ("\n\nx x", "line 3"),
        ("peers = 3", "load is missing: expected a table [load]"),
        ("peers = 'many'", "peers = 'many': expected a whole number"),
        ("[load]\nproblem = 'interval'\ntotal_s = 1", "peers is missing"),
        (
            "peers = 3\n[load]\nproblem = 'oak'",
            "load.problem = 'oak': expected interval, flowshop, atsp",
        ),
        ("peers = 3\n[load]\nproblem = 'uts'", "load.instance is missing"),
        ("peers = 3\n[load]\nproblem = 'uts'\ninstance = 'T99'", "unknown tree 'T99'"),
        (
            "peers = 3\nbalance = 'master-worker:late'\n[load]\nproblem = 'uts'\ninstance = 'T1'",
            "expected another preset for counting",
        ),
        (
            "peers = 3\nbalance = 'master-worker:late'\n[load]\nproblem = 'flowshop'\ninstance = 'ta001'",
            "or load.nodes = 'interval'",
        ),
        (
            "peers = 3\n[load]\nproblem = 'uts'\ninstance = 'T1'\nnodes = 'interval'",
            "expected pool for uts",
        ),
        (
            "peers = 3\n[load]\nproblem = 'uts'\ninstance = 'T1'\nnodes = 3",
            "load.nodes = 3: expected pool or interval",
        ),
        ("peers = 3\n[load]\nproblem = 'queens'\ninstance = 40", "expected a board of 1 to 32"),
        (
            "peers = 3\n[load]\nproblem = 'uts'\ninstance = 'T1'\nwhole = true",
            "load.whole = true: expected false for uts",
        ),
        (
            "peers = 3\n[load]\nproblem = 'queens'\ninstance = 8\nwhole = 1",
            "load.whole = 1: expected true or false",
        ),
        (
            "peers = 3\n[load]\nproblem = 'flowshop'\ninstance = 'ta001'\nchild_order = 'job'",
            "load.child_order = 'job' works only with load.nodes = 'interval'",
        ),
        (
            "peers = 3\n[load]\nproblem = 'flowshop'\ninstance = 'ta001'\nchild_order = 'age'",
            "load.child_order 'age': expected bound or job",
        ),
        (
            "peers = 3\n[load]\nproblem = 'uts'\ninstance = 'T1'\nchild_order = 'job'",
            "load.child_order does not apply to uts",
        ),
        (
            "peers = 3\n[load]\nproblem = 'atsp'\ninstance = 'ftv33'\nchild_order = 'job'",
            "load.child_order does not apply to atsp",
        ),
        (
            "peers = 3\n[load]\nproblem = 'uts'\ninstance = 'T1XL'\nrecorded = 3",
            "load.recorded = 3: expected true or false",
        ),
        (
            "peers = 3\n[load]\nproblem = 'queens'\ninstance = 8\nnodes = 'interval'\nrecorded = true",
            "expected pool with load.recorded = true",
        ),
        ("peers = 3\n[load]\nproblem = 'interval'\ntotal_s = -1", "load.total_s = -1: expected"),
        (
            "peers = 3\n[load]\nproblem = 'interval'",
            "load.total_s is missing: expected exactly one",
        ),
        (
            "peers = 9000000\n[load]\nproblem = 'uts'\ninstance = 'T1'",
            "peers = 9000000: expected fewer",
        ),
        // They used to count as one peer, and filled the memory.
        (
            "[load]\nproblem = 'uts'\ninstance = 'T1'\n[[machine.class]]\ncount = 1\n\
             device = { explorers = 9000000 }",
            "peers = 1 with 9000000 explorers: expected fewer",
        ),
    ] {
        bad(whole, said);
    }
    for (top, said) in [
        ("peers = 0", "peers = 0: expected a whole number from 1"),
        ("colour = 1\npeers = 3", "unknown key colour: expected one of"),
        ("peers = 3\nbalance = 'best'", "balance = 'best': expected a preset: unknown balance"),
        ("peers = 3\nseeds = []", "seeds = []: expected a list of whole numbers"),
        ("peers = 3\nseeds = [1, 2, 1]", "seeds = [1, 2, 1]: expected each seed once"),
        ("peers = 3\nchart = 'rain'", "chart = 'rain': expected time_s"),
        ("peers = [1]\nunit_speed = [1, 2]\nbalance = ['adaptive']", "at most two of them"),
        ("peers = []", "peers = a list: expected 1 to"),
        ("peers = 3\nsnapshot_ms = 'often'", "snapshot_ms = 'often'"),
        ("peers = 3\nsnapshot_ms = 0", "snapshot_ms = 0: expected a number from 0.001"),
        ("peers = 3\nsnapshot_ms = 1\nbalance = 'master-worker:late'", "expected no snapshot_ms"),
        (
            "sites = { count = 3 }\nbalance = 'hierarchical-master-worker:depth=auto'",
            "expected a preset without depth",
        ),
    ] {
        bad(&format!("{top}\n{work}"), said);
    }
    for (after, said) in [
        ("[network]\nlatency_us = -3", "network.latency_us = -3: expected a number from 0"),
        ("[network]\nlatency_us = 'x'", "network.latency_us = 'x'"),
        ("[network]\nspeed = 1", "unknown key network.speed"),
        ("[network]\nrack = { peers = 0 }", "network.rack.peers = 0"),
        ("[network]\nrack = { peers = 4 }\nsite = { peers = 6 }", "a multiple of rack.peers"),
        ("[machine]\npauses = { every_ms = 1, length_ms = 2 }", "less than every_ms"),
        ("[machine]\npoll_us = 0", "machine.poll_us = 0"),
        ("[[machine.class]]\ncount = 3", "peers = 3: expected only one of peers and"),
        ("[[paper]]\nx = 'a'", "paper[0].value is missing"),
    ] {
        bad(&format!("peers = 3\n{work}{after}"), said);
    }
    for (class, said) in [
        ("count = 3\nspeed = 0", "machine.class[0].speed = 0: expected a number from"),
        ("speed = 1", "machine.class[0].count is missing"),
        ("count = 0", "machine.class = [a table]: expected 1 to"),
        ("count = 1\nweight = 0", "machine.class[0].weight = 0: expected a number from"),
        ("count = 1\ncolour = 1", "unknown key machine.class[0].colour"),
        ("count = 1\ndevice = 4", "machine.class[0].device = 4: expected a table"),
        ("count = 1\ndevice = {}", "machine.class[0].device.explorers is missing"),
        (
            "count = 2\ndevice = { explorers = 9000000 }",
            "expected a whole number from 1 to 5000000",
        ),
        (
            "count = 1\ndevice = { explorers = 4, trigger = 5 }",
            "expected a whole number from 0 to 4",
        ),
        (
            "count = 1\ndevice = { explorers = 4, inside = 'out' }",
            "inside = 'out': expected windows, ring",
        ),
        ("count = 1\ndevice = { explorers = 4, put = 'two' }", "put = 'two': expected spread, one"),
        (
            "count = 1\ndevice = { explorers = 4, speed = 2 }",
            "unknown key machine.class[0].device.speed",
        ),
    ] {
        bad(&format!("{work}[[machine.class]]\n{class}"), said);
    }
}

#[test]
fn bad_words_give_one_line() {
    for (words, said) in [
        ("sim", "a scenario file is required"),
        ("sim /no/such/file.toml", "/no/such/file.toml: "),
        ("sim uts T1", "expected --peers N"),
        ("sim oak 3 --peers 2", "expected interval, flowshop, atsp, queens, uts or knapsack"),
        ("sim uts T1 --peers 0", "peers = 0"),
        ("sim uts T1 --peers few", "--peers few: expected a whole number"),
        ("sim uts T1 --peers 10000000", "peers = 10000000: expected fewer"),
        ("sim uts T1 --peers 5 --best 3", "--best does not apply to 'sim uts'"),
        ("sim uts T1 --peers 5 --bound one", "--bound does not apply to 'sim uts'"),
        ("sim flowshop ta001 --peers 5 --best search", "load.best = 'search'"),
        ("sim interval forever --peers 5", "interval forever: expected seconds"),
        ("sim interval 5s --peers 5 --gantt x.svg", "--gantt does not apply to 'sim interval'"),
        ("sim interval 5s --peers 5 --svg /no/such/folder/x.svg", "--svg /no/such/folder/x.svg"),
        ("count queens 8 --peers 3", "--peers does not apply to 'count queens'"),
        ("count queens 8 --svg x", "--svg does not apply to 'count queens'"),
    ] {
        refused(words, said);
    }
}

/// Every scenario that comes with Pleach can be read, and states its subject.
#[test]
fn the_scenarios_are_sound() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut seen = 0;
    for entry in fs::read_dir(root.join("scenarios")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# "), "{} opens with a comment", path.display());
        // An unknown preset is refused only after everything else was read.
        let output = pleach(&format!("sim {} --svg /no/such/folder/x", path.display()));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("--svg /no/such/folder/x"), "{}: {stderr}", path.display());
        seen += 1;
    }
    assert!(seen > 0);
}

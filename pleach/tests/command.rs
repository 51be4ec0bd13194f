//! The command as a user sees it: results, JSON, limits, and one clear line for bad input.

use crate::outside::{example, folder, json, pleach, refused};
use serde_json::Value;
use std::fs;

#[test]
fn counts_are_exact_on_every_code_path() {
    for (words, count, branched, bounded) in [
        ("count uts T1", 4_130_071, 824_953, 4_130_070),
        ("count uts T3", 4_112_897, 513_863, 4_112_896),
        ("count queens 12", 14_200, 0, 856_188),
        ("count queens 12 --whole", 14_200, 0, 856_188),
        ("count queens 1", 1, 0, 1),
    ] {
        for how in ["--threads 1", "--threads 3 --balance random-half:share=1/8", "--simd off"] {
            let report = json(&format!("{words} {how}"));
            assert_eq!(report["status"], "counted", "{words} {how}");
            assert_eq!(report["count"], count, "{words} {how}");
            assert_eq!(report["nodes"]["bounded"], bounded, "{words} {how}");
            if branched > 0 {
                assert_eq!(report["nodes"]["branched"], branched, "{words} {how}");
            }
        }
    }
}

#[test]
fn json_always_has_the_same_keys() {
    let keys = [
        "pleach", "problem", "instance", "status", "stopped_by", "objective", "lower_bound",
        "solution", "count", "gap", "nodes", "seconds", "setup_seconds", "efficiency", "units",
        "sites", "balance", "host", "processor", "commit", "date", "settings", "seed", "repeats",
    ];
    for words in ["count queens 8 --threads 2 --slow cpu1=2", "solve queens 8 --seed 7"] {
        let report = json(words);
        let object = report.as_object().unwrap();
        assert_eq!(object.keys().collect::<Vec<_>>(), keys);
        for worker in report["units"].as_array().unwrap() {
            for key in ["name", "branched", "busy_s", "idle_s", "steals"] {
                assert!(!worker[key].is_null(), "{key} in {worker}");
            }
        }
        for key in ["preset", "requests", "served", "refused", "moved_bytes"] {
            assert!(!report["balance"][key].is_null(), "{key}");
        }
    }
    let found = json("solve queens 8");
    assert_eq!(found["status"], "found");
    assert_eq!(found["solution"].as_array().unwrap().len(), 8);
    assert_eq!(json("solve queens 3")["status"], "infeasible");
}

#[test]
fn limits_stop_with_the_result_so_far() {
    for words in ["count uts T1XXL --time-limit 1s", "count queens 20 --node-limit 1000000"] {
        let output = pleach(&format!("{words} --json"));
        assert_eq!(output.status.code(), Some(3), "{words}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["status"], "stopped");
        assert!(report["nodes"]["bounded"].as_u64().unwrap() > 0);
    }
}

#[test]
fn bad_input_gives_one_line_and_exit_code_two() {
    for (words, said) in [
        ("", "expected a command: solve, count, check"),
        ("count", "a problem is required: expected queens or uts"),
        (
            "count queens 8 --thread 2",
            "unexpected argument '--thread' found: did you mean '--threads'?",
        ),
        ("count oak 3", "count oak: expected queens or uts"),
        ("count queens", "an instance is required: the board size"),
        ("count queens 0", "queens 0: expected a board of 1 to 32"),
        ("count queens 99", "queens 99: expected a board of 1 to 32"),
        ("count queens -3", "queens -3: expected a board size"),
        ("count queens many", "queens many: expected a board size"),
        ("solve queens 5000", "queens 5000: expected a board of 1 to 1000"),
        ("solve uts T1", "solve uts: expected flowshop, atsp, queens, knapsack, clique or qap"),
        ("check queens 8 x", "check queens: expected flowshop, atsp, clique or qap"),
        ("solve queens 8 --bound one", "--bound does not apply to 'solve queens'"),
        ("solve queens 8 --whole", "--whole does not apply to 'solve queens'"),
        ("solve queens 8 --gantt x.svg", "--gantt does not apply to 'solve queens'"),
        ("solve queens 8 --best neh", "--best does not apply to 'solve queens'"),
        ("solve knapsack /no/file --best neh", "/no/file: "),
        ("count queens 8 --gantt x.svg", "--gantt does not apply to 'count queens'"),
        ("devices --threads 2", "--threads does not apply to 'devices'"),
        ("count queens 8 99", "queens 99: expected a board of 1 to 32"),
        ("count queens 8 9 --trace x", "--trace takes one instance, not 2"),
        ("solve flowshop ta001 ta002 --best 1278", "--best V takes one instance"),
        ("solve flowshop ta001 ta002 --checkpoint x", "--checkpoint takes one instance, not 2"),
        ("check flowshop ta001 x y", "unexpected argument 'y' after 'check flowshop ta001 x'"),
        ("solve knapsack /no/file", "/no/file: "),
        ("count uts T99", "unknown tree 'T99'"),
        ("count uts type=binomial,q=2", "q=2: expected a number from 0 to 1"),
        ("count uts type=binomial,q=-1", "q=-1"),
        ("count uts type=binomial,m=99999999999", "m=99999999999"),
        ("count uts depth=3", "unknown key 'depth'"),
        ("count uts type=binomial,q=0.5,m=2", "the tree may be infinite"),
        ("count queens 8 --threads 0", "--threads 0: expected a whole number from 1 to 1024"),
        ("count queens 8 --threads 1000000", "--threads 1000000"),
        ("count queens 8 --threads x", "--threads x"),
        ("count queens 8 --simd sse9", "'sse9': expected auto, off, avx2 or avx512"),
        ("count queens 8 --balance best", "unknown balance 'best'"),
        ("count queens 8 --slow cpu9=2 --threads 2", "--slow cpu9=2"),
        ("count queens 8 --time-limit soon", "--time-limit soon"),
        ("count queens 8 --node-limit 0", "--node-limit 0"),
        ("count queens 8 --devices gpux", "'gpux': expected cpu, gpu"),
        ("count queens 8 --best 5", "--best does not apply to 'count queens'"),
        ("count queens 8 --color red", "--color"),
        ("count queens 8 --seed 1 --seed 2", "'--seed <N>' cannot be used multiple times"),
        ("count queens 8 --trace /no/such/folder/x", "--trace /no/such/folder/x"),
        ("solve flowshop - --until-eof", "--until-eof cannot be combined with '-'"),
    ] {
        refused(words, said);
    }
}

#[test]
fn several_instances_are_searched_in_turn() {
    let output = pleach("count queens 8 4 8 --threads 1 --json");
    assert_eq!(output.status.code(), Some(0));
    let lines = String::from_utf8(output.stdout).unwrap();
    let reports = lines.lines().map(|line| serde_json::from_str(line).unwrap());
    let reports: Vec<serde_json::Value> = reports.collect();
    let said = |key: &str| reports.iter().map(|report| report[key].clone()).collect::<Vec<_>>();
    assert_eq!(said("instance"), ["8", "4", "8"]);
    assert_eq!(said("count"), [92, 2, 92]);
    let output = pleach("count queens 4 20 --node-limit 100 --threads 1");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("1 of 2 instances completed in"), "{text}");
}

/// The second instance has no kernel: this is reported, and the others are searched.
#[test]
fn one_instance_that_fails_does_not_end_the_list() {
    let output = pleach("count queens 6 32 8 --devices emulated --json");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("boards of more than 31 queens") && said.lines().count() == 1, "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 2);
}

#[test]
fn an_endless_tree_runs_within_limits() {
    let words = "count uts type=binomial,b0=10,q=1,m=2 --node-limit 10000";
    assert_eq!(pleach(words).status.code(), Some(3));
}

#[test]
fn help_shows_examples_and_flags() {
    let output = pleach("--help");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success());
    for word in ["count uts T1L", "--threads", "--time-limit", "Exit codes"] {
        assert!(text.contains(word), "{word}");
    }
}

#[test]
fn devices_are_measured() {
    let report = json("devices");
    assert!(report["cpu"]["cores"].as_u64().unwrap() > 0);
    let rates = report["cpu"]["nodes_per_second_and_thread"].as_object().unwrap();
    assert!(rates.len() == 3 && rates.values().all(|rate| rate.as_f64().unwrap() > 0.0));
}

#[test]
fn trace_and_solution_are_written() {
    let folder = folder("files");
    let (trace, solution) = (folder.join("trace.json"), folder.join("solution.txt"));
    let words = format!("count uts T1 --threads 2 --trace {}", trace.display());
    assert!(pleach(&words).status.success());
    let trace: Value = serde_json::from_str(&fs::read_to_string(trace).unwrap()).unwrap();
    let nodes =
        trace["units"].as_array().unwrap().iter().flat_map(|worker| {
            worker["nodes"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap())
        });
    assert_eq!(nodes.sum::<u64>(), 4_130_070);
    let words = format!("solve queens 20 --solution {}", solution.display());
    assert!(pleach(&words).status.success());
    assert_eq!(fs::read_to_string(solution).unwrap().split_whitespace().count(), 20);
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_stops_with_the_result_so_far() {
    let running = crate::stopping::Running::new("count uts T1WL --json");
    running.send(crate::stopping::INT);
    let report: Value = serde_json::from_str(&running.stopped()).unwrap();
    assert_eq!(report["status"], "stopped");
}

#[test]
fn the_knapsack_example_proves_its_optimum() {
    let file = folder("knapsack").join("items.txt");
    fs::write(&file, "4 10\n6 4\n5 3\n8 6\n3 2\n").unwrap();
    let output = example("knapsack", &[file.to_str().unwrap(), "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["status"], &report["objective"]), (&"optimal".into(), &14.into()));
    assert_eq!(report["lower_bound"], 14);
    let better = example("knapsack", &[file.to_str().unwrap(), "--json", "--best", "14"]);
    let report: Value = serde_json::from_slice(&better.stdout).unwrap();
    assert_eq!((&report["status"], &report["lower_bound"]), (&"no-better".into(), &14.into()));
    fs::write(&file, "2 10\n6 4\n5 many\n").unwrap();
    let output = example("knapsack", &[file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("line 3: 'many', expected a whole number"), "{stderr}");
}

#[test]
fn the_walks_example_counts_as_published() {
    let output = example("walks", &["12", "--threads", "2", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["count"], 324_932);
    assert_eq!(example("walks", &["0"]).status.code(), Some(2));
    let both = example("walks", &["-", "--until-eof"]);
    let said = String::from_utf8_lossy(&both.stderr);
    assert_eq!(both.status.code(), Some(2), "{said}");
    assert!(said.contains("--until-eof cannot be combined with '-'"), "{said}");
    let repeated = example("walks", &["8", "--repeat", "3", "--json"]);
    let json: Value = serde_json::from_slice(&repeated.stdout).unwrap();
    assert_eq!((&json["count"], &json["repeats"]["runs"]), (&5916.into(), &3.into()), "{json}");
}

#[test]
fn repeated_runs_have_a_mean_and_a_range() {
    let told = json("count queens 9 --repeat 3");
    let repeats = &told["repeats"];
    assert_eq!((told["count"].as_u64(), repeats["runs"].as_u64()), (Some(352), Some(3)));
    let seconds = |key: &str| repeats["seconds"][key].as_f64().unwrap();
    assert!(seconds("least") <= seconds("mean") && seconds("mean") <= seconds("most"));
    assert!(json("count queens 9")["repeats"].is_null());
    assert_eq!(json("loop spmm fem:900 --repeat 2")["repeats"]["runs"], 2);
    let several = pleach("solve queens 8 9 --repeat 2 --json");
    assert_eq!(String::from_utf8_lossy(&several.stdout).matches("\"runs\":2").count(), 2);
    refused("count queens 9 --repeat 2 --checkpoint x.pleach", "--checkpoint is for a single run");
    refused("count queens 9 --repeat 0", "--repeat 0: expected a whole number");
}

/// The rate of all workers together, compared with the rate of each while it explored.
#[test]
fn searches_have_an_efficiency() {
    let efficiency = json("count uts T1 --threads 2")["efficiency"].as_f64().unwrap();
    assert!(efficiency > 0.1 && efficiency < 1.1, "{efficiency}");
}

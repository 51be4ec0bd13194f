//! `--devices` from outside: the emulated device with threads and alone, and what is refused.

use crate::outside::{folder, json, pleach, refused};

#[test]
fn counts_on_devices_are_those_of_the_cpu() {
    for (command, devices) in [
        ("count queens 12", "emulated"),
        ("count queens 11", "cpu,emulated:explorers=33:inside=adapt"),
        ("count queens 10", "cpu,emulated,emulated:explorers=3"),
        ("count queens 11 --whole", "cpu,emulated"),
        ("count queens 10 --nodes interval", "emulated"),
        ("count queens 11 --nodes interval", "cpu,emulated:explorers=300:inside=windows"),
        ("count uts type=binomial,b0=60,q=0.19,m=5,seed=3", "emulated"),
        ("solve flowshop ta014 --best optimum --bound one", "cpu,emulated"),
        ("solve flowshop VFR10_5_3 --best optimum --bound one", "emulated:trigger=2"),
        ("solve flowshop VFR10_5_3 --best optimum --bound one --nodes interval", "cpu,emulated"),
        ("solve flowshop VFR10_5_6 --best optimum --bound one --nodes interval", "emulated"),
        (
            "solve flowshop VFR10_5_3 --best optimum --bound one --nodes interval --child-order job",
            "cpu,emulated,emulated:bounding=parallel",
        ),
        ("solve atsp crane:9:1 --best 2431155 --bound partial", "emulated"),
        ("solve atsp crane:10:1 --best 2469639 --bound partial", "cpu,emulated"),
        ("solve atsp ftv33 --best 128 --bound partial", "cpu,emulated:inside=hypercube"),
        ("solve atsp crane:9:1 --best 2431155 --bound partial --nodes interval", "emulated"),
        ("solve atsp crane:10:1 --best 2469639 --bound partial --nodes interval", "cpu,emulated"),
    ] {
        let wanted = json(&format!("{command} --devices cpu"));
        let answer = json(&format!("{command} --devices {devices}"));
        for key in ["status", "objective", "count"] {
            assert_eq!(answer[key], wanted[key], "{command} on {devices}: {key}");
        }
        assert_eq!(answer["nodes"]["branched"], wanted["nodes"]["branched"], "{command} {devices}");
        assert_eq!(answer["nodes"]["bounded"], wanted["nodes"]["bounded"], "{command} {devices}");
        let names = |worker: &serde_json::Value| worker["name"].as_str().unwrap().to_string();
        let names: Vec<String> = answer["units"].as_array().unwrap().iter().map(names).collect();
        assert!(names.contains(&"emulated0".to_string()), "{names:?}");
    }
}

#[test]
fn a_device_finds_the_tour() {
    let tours = [(2, None), (8, Some(2_301_622))].into_iter();
    let both = tours.flat_map(|tour| ["pool", "interval"].map(|nodes| (tour, nodes)));
    for ((cities, optimum), nodes) in both {
        let words =
            format!("solve atsp crane:{cities}:1 --bound partial --best none --nodes {nodes}");
        let answer = json(&format!("{words} --devices emulated"));
        let wanted = json(&format!("{words} --devices cpu"));
        assert_eq!(answer["status"], "optimal");
        assert_eq!(answer["objective"], wanted["objective"]);
        assert!(optimum.is_none_or(|optimum| answer["objective"] == optimum));
    }
}

/// The workers are those of the resuming command, not of the original one.
#[test]
fn a_search_is_saved_and_resumed_on_other_workers() {
    let file = folder("devices").join("run.pleach");
    let path = file.display();
    // A round of a device may use more than the fuel; this tree is much larger.
    let wanted = json("count queens 13")["nodes"].clone();
    for (workers, others) in [
        ("--devices emulated", "--devices cpu,emulated"),
        ("--threads 2 --slow cpu1=3", "--devices emulated"),
        ("--nodes interval --devices emulated", "--devices cpu,emulated"),
        ("--nodes interval --devices cpu", "--devices emulated"),
    ] {
        let words = format!("count queens 13 {workers} --node-limit 90000 --checkpoint {path}");
        assert_eq!(pleach(&words).status.code(), Some(3), "{words}");
        assert_eq!(json(&format!("resume {path} {others}"))["nodes"], wanted, "{workers} {others}");
        std::fs::remove_file(&file).unwrap();
    }
}

#[test]
fn optima_are_counted_beside_a_device() {
    let words = "solve flowshop VFR10_5_3 --all --best optimum";
    let (wanted, answer) =
        (json(&format!("{words} --devices cpu")), json(&format!("{words} --devices emulated")));
    assert_eq!(answer["count"], wanted["count"]);
    assert_eq!(answer["objective"], wanted["objective"]);
}

#[test]
fn what_a_device_did_is_traced() {
    let file = folder("devices").join("trace.json");
    json(&format!("count queens 11 --devices emulated --trace {}", file.display()));
    let trace: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let worker = &trace["units"][0];
    assert_eq!(worker["name"], "emulated0");
    let active = worker["active"].as_array().unwrap();
    assert!(
        !active.is_empty()
            && active.iter().all(|part| (0.0..=1.0).contains(&part.as_f64().unwrap()))
    );
    // Its phases in each time step add up to that step.
    let part = |phase: &str, at: usize| worker[phase][at].as_f64().unwrap();
    for at in 0..active.len() {
        let all: f64 =
            ["explore", "exchange", "copy", "wait"].iter().map(|phase| part(phase, at)).sum();
        assert!((all - 1.0).abs() < 0.01, "step {at}: {all}");
    }
    assert!((0..active.len()).any(|at| part("explore", at) > 0.5));
}

#[test]
fn a_coordinator_explores_the_top_only() {
    let devices = "cpu,emulated:inside=none:second_cutoff=4,emulated:second_cutoff=3";
    let balance = "dynamic:share=chunk/1,cutoff=2,coordinator=yes";
    for balance in [balance, "guided:cutoff=3,coordinator=yes", "static:cutoff=2,coordinator=yes"] {
        let answer =
            json(&format!("count queens 10 --threads 1 --devices {devices} --balance {balance}"));
        assert_eq!((&answer["count"], &answer["nodes"]["branched"]), (&724.into(), &22_764.into()));
        let top = answer["units"][0]["branched"].as_u64().unwrap();
        assert!((1..2000).contains(&top), "{balance}: {answer}");
    }
    refused(
        "count queens 8 --nodes interval --balance dynamic:cutoff=2",
        "--balance: cutoff and depth need work held as open nodes",
    );
    for (workers, found) in [
        ("--threads 2", "(threads: 2, usable devices: 0)"),
        ("--threads 1 --devices cpu,emulated,emulated", "(threads: 1, usable devices: 2)"),
    ] {
        let balance = "dynamic:cutoff=2,second_cutoff=4,coordinator=yes";
        refused(&format!("count queens 8 {workers} --balance {balance}"), found);
    }
    refused("count queens 8 --balance dynamic:coordinator=yes", "coordinator=yes needs cutoff=N");
    refused(
        "count queens 8 --nodes interval --devices emulated:second_cutoff=2",
        "second_cutoff needs work held as open nodes",
    );
    refused(
        "sim interval 1s --peers 4 --balance dynamic:cutoff=2",
        "cutoff and depth need a load of open",
    );
    for (words, said) in [
        ("count queens 8 --devices emulated:bounding=parallel", "held as intervals"),
        (
            "count queens 8 --nodes interval --devices emulated:bounding=parallel",
            "it has no kernel for this problem with bounding=parallel",
        ),
        (
            "solve flowshop ta001 --bound two --nodes interval --devices emulated:bounding=alone",
            "it has no kernel for this bound with bounding=alone",
        ),
        ("count queens 8 --devices emulated:bounding=wide", "expected alone or parallel"),
        ("count queens 8 --devices emulated:giving=yes", "expected always or never"),
        (
            "count queens 8 --devices emulated:giving=always:inside=none",
            "giving=always contradicts inside=none",
        ),
        (
            "count queens 8 --nodes interval --devices emulated:giving=always",
            "giving needs work held as open nodes",
        ),
    ] {
        refused(words, said);
    }
    refused(
        "count queens 8 --devices emulated:take=each",
        "take=each needs work held as intervals",
    );
}

/// The first thread makes the pool, and the second one divides it between the other workers.
#[test]
fn a_process_divides_the_nodes_of_its_pool() {
    let devices = "--threads 2 --devices cpu,emulated:inside=none,emulated:inside=none";
    for workers in ["--threads 4", devices] {
        for (balance, once) in [
            ("dynamic:share=chunk/1,cutoff=2,second_cutoff=4", false),
            ("guided:cutoff=3,second_cutoff=5", true),
            ("static:cutoff=3,second_cutoff=4", true),
        ] {
            let balance = format!("{balance},coordinator=yes");
            let answer = json(&format!("count queens 10 {workers} --balance {balance}"));
            let found = (&answer["count"], &answer["nodes"]["branched"]);
            assert_eq!(found, (&724.into(), &22_764.into()), "{workers}, {balance}");
            let of = |key: &str| {
                [0, 1, 2, 3].map(|worker| answer["units"][worker][key].as_u64().unwrap())
            };
            let (branched, steals) = (of("branched"), of("steals"));
            assert!(branched[..2].iter().all(|nodes| (1..2000).contains(nodes)), "{answer}");
            if once {
                assert_eq!(steals, [0, 1, 1, 1], "{answer}");
            } else {
                assert!(steals[0] == 0 && steals[1] > 2 && steals[2..].iter().all(|&n| n > 1));
            }
        }
    }
}

#[test]
fn masters_leave_deep_nodes_to_those_below() {
    for depths in ["1", "2/4", "3/5/6", "9", "auto", "auto/2"] {
        let balance = format!("hierarchical-master-worker:degree=2,depth={depths}");
        for workers in ["--threads 6", "--threads 3 --devices cpu,emulated"] {
            let answer = json(&format!("count queens 10 {workers} --balance {balance}"));
            let found = (&answer["count"], &answer["nodes"]["branched"]);
            assert_eq!(found, (&724.into(), &22_764.into()), "{depths}, {workers}");
        }
        let words = format!("sim queens 10 --peers 9 --seed 3 --balance {balance}");
        assert!(json(&words)["rows"][0]["figures"]["time_s"]["mean"].is_number(), "{depths}");
    }
    refused(
        "count queens 8 --nodes interval --balance hierarchical-master-worker:depth=2",
        "--balance: cutoff and depth need work held as open nodes",
    );
}

#[test]
fn weights_are_measured_if_none_are_given() {
    let words =
        "count queens 10 --threads 2 --slow cpu1=8 --devices cpu,emulated --balance weighted";
    let answer = json(words);
    let found = (&answer["count"], &answer["nodes"]["branched"]);
    assert_eq!(found, (&724.into(), &22_764.into()));
    let weights: Vec<_> =
        answer["balance"]["weights"].as_array().unwrap().iter().flat_map(|w| w.as_u64()).collect();
    assert!(weights.len() == 3 && weights.contains(&1_000_000), "{weights:?}");
    assert!(weights[0] / weights[1] == 8 || weights[0] / weights[1] == 7, "{weights:?}");
    assert!(json("count queens 8")["balance"]["weights"].is_null());
}

/// Each device gets its part of the pool, once; the thread only coordinates.
#[test]
fn a_static_split_follows_weights() {
    let answer = json(
        "count queens 10 --threads 1 --devices cpu,emulated:inside=none,emulated:inside=none \
         --balance static:cutoff=3,coordinator=yes,weights=9/1/3",
    );
    assert_eq!((&answer["count"], &answer["nodes"]["branched"]), (&724.into(), &22_764.into()));
    let of = |worker: usize, key: &str| answer["units"][worker][key].as_u64().unwrap();
    assert_eq!([0, 1, 2].map(|worker| of(worker, "steals")), [0, 1, 1], "{answer}");
    assert!(of(2, "branched") > of(1, "branched"), "{answer}");
}

#[test]
fn what_devices_did_is_drawn() {
    let file = folder("devices").join("trace.svg");
    let devices = "cpu,emulated,emulated:mode=evaluate";
    let words =
        format!("solve flowshop ta001 --best 1270 --bound one --devices {devices} --threads 1");
    json(&format!("{words} --node-limit 3000 --trace {}", file.display()));
    let svg = std::fs::read_to_string(&file).unwrap();
    for word in [">emulated0<", ">emulated1<", ">exchange<", ">active explorers<"] {
        assert!(svg.contains(word), "{word}");
    }
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}

#[test]
fn a_slowed_device_wastes_time() {
    let device = "count queens 9 --devices emulated";
    assert_eq!(json(device)["count"], 352);
    // After a first round that takes a microsecond or more, the device owes at least a second.
    let output = pleach(&format!("{device} --slow emulated0=1000000 --time-limit 100ms --json"));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &answer["stopped_by"]), (Some(3), &"time-limit".into()));
    assert!(answer["nodes"]["branched"].as_u64().unwrap() < 2_000, "{answer}");
}

#[test]
fn a_device_may_come_late_or_never() {
    for device in ["emulated", "emulated:late=1", "emulated:late=30", "emulated:late=3600000"] {
        let answer = json(&format!("count queens 12 --threads 1 --devices cpu,{device}"));
        assert_eq!(answer["count"], 14_200, "{device}");
        let worker = &answer["units"][1];
        assert_eq!((&worker["name"], &worker["mode"]), (&"emulated0".into(), &"explore".into()));
        let there = worker["opened_s"].as_f64().is_some();
        assert!(there || device != "emulated", "{worker}");
        assert!(!there || !device.ends_with("00000"), "{worker}");
    }
    let file = folder("devices").join("late.pleach");
    let path = file.display();
    // A round can be much longer than the limit, and must not reach the end of the tree.
    let wanted = json("count queens 13")["nodes"].clone();
    for late in ["late=1", "late=5", "late=1:fail=0", "late=5:fail=1", "late=3600000"] {
        let workers = format!("--threads 1 --devices cpu,emulated:{late}");
        let words = format!("count queens 13 {workers} --node-limit 90000 --checkpoint {path}");
        assert_eq!(pleach(&words).status.code(), Some(3), "{words}");
        let output = pleach(&format!("resume {path} {workers} --json"));
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["nodes"], wanted, "{late}");
        std::fs::remove_file(&file).unwrap();
    }
    refused(
        "count queens 8 --devices emulated:late=9:fail=0",
        "emulated0 not used: failed as requested",
    );
}

#[test]
fn a_device_that_cannot_be_used_is_left_out() {
    let output = pleach("count queens 9 --devices cpu,emulated:fail=3");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.lines().count() <= 1, "{said}");
    let output = pleach("solve queens 8 --devices cpu,emulated");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success());
    assert!(
        said.contains("warning: emulated0 not used: it has no kernel for this problem"),
        "{said}"
    );
    for (words, said) in [
        ("count queens 32", "boards of more than 31 queens"),
        ("count uts gen_mx=5,g=2", "hashes that are computed more than once"),
        ("count uts shape=expdec,b0=3,gen_mx=5", "trees of unlimited depth"),
        ("solve atsp ftv33", "bounds other than partial"),
        ("solve flowshop ta001 --bound auto", "bounds other than one"),
        ("solve flowshop ta091 --bound one", "more than 64 jobs, 64 machines or 2048 operations"),
    ] {
        refused(&format!("{words} --devices emulated"), &format!("it has no kernel for {said}"));
    }
    for (words, said) in [
        ("--devices emulated", "emulated0 not used: it has no kernel for this problem"),
        ("--devices cuda", "'cuda': expected cpu, gpu, gpu0 and so on, or emulated"),
        ("--devices emulated:explorers=0", "expected a whole number from 1 to"),
        ("--devices emulated --threads 2", "--threads has no effect without cpu among --devices"),
        ("--devices cpu:explorers=2", "cpu takes no options"),
        ("--devices emulated --slow cpu0=2", "with a worker (emulated0) and a factor"),
    ] {
        refused(&format!("solve queens 8 {words}"), said);
    }
}

//! Flowshops with other objectives and with side conditions, as a user sees them.

use crate::outside::{folder, fresh, is_alone, json, pleach, refused};
use pleach::{Best, Checkpoint, ProgressSnapshot, Search, Status, flowshop, shop};
use serde_json::json as value;
use std::cmp::Reverse;
use std::fs;
use std::ops::ControlFlow;
use std::time::Duration;

fn file(name: &str, text: &str) -> String {
    let path = folder("variants").join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

/// Layers that do not fit into memory leave the rest to a search depth first, whose progress includes them.
#[test]
fn progress_continues_from_layers_to_a_search() {
    if !is_alone("variants::progress_continues_from_layers_to_a_search") {
        return;
    }
    let shop = shop::Shop::new(flowshop::named("ta011").unwrap());
    let variant = shop::Variant::new(shop, shop::Objective::FlowTime, shop::Passing::Wait).unwrap();
    let mut states: Vec<ProgressSnapshot> = Vec::new();
    let mut search = Search::default();
    (search.settings.threads, search.settings.memory) = (2, Some(32 << 20));
    search.progress = Some(Box::new(|snapshot| {
        states.push(snapshot.clone());
        // In layers there are no workers.
        if snapshot.workers.is_empty() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }));
    let answer = shop::solve(&variant, shop::Options { search, ..shop::Options::default() });
    let nodes = answer.unwrap().nodes.bounded;
    let (last, layers) = states.split_last().unwrap();
    assert!(!last.workers.is_empty() && !layers.is_empty());
    assert!(layers.iter().all(|layer| layer.workers.is_empty()));
    for two in states.windows(2) {
        assert!(two[0].counts.bounded <= two[1].counts.bounded && two[0].seconds <= two[1].seconds);
    }
    assert!(layers.last().unwrap().counts.bounded > 0 && last.counts.bounded <= nodes);
}

/// A shop without waiting is searched as a tour, which its progress used to show.
#[test]
fn progress_shows_schedules_of_shops_without_waiting() {
    let shop = shop::Shop::new(flowshop::named("ta011").unwrap());
    let wait = shop::Passing::NoWait;
    let variant = shop::Variant::new(shop, shop::Objective::Makespan, wait).unwrap();
    // A search may be over before it reports anything.
    let shown = (0..100).find_map(|seed| {
        let mut last = None;
        let mut search = Search::default();
        search.settings.seed = seed;
        search.settings.progress_every = Duration::ZERO;
        search.progress = Some(Box::new(|snapshot| {
            last = snapshot.solution.clone().or(last.take());
            ControlFlow::Continue(())
        }));
        let answer = shop::solve(&variant, shop::Options { search, ..shop::Options::default() });
        assert_eq!(answer.unwrap().status, Status::Optimal);
        last
    });
    let mut jobs = shown.expect("a solution on the way").solution;
    jobs.sort_unstable();
    assert_eq!(jobs, Vec::from_iter(1..=20));
}

/// Without waiting, the insertion heuristic used to ignore the limit. Stopped, it keeps the longest jobs first.
#[test]
fn insertion_without_waiting_respects_the_time_limit() {
    let instance = flowshop::named("ta011").unwrap();
    let mut longest: Vec<u16> = (0..20).collect();
    longest.sort_by_key(|&job| Reverse(instance.job(job.into()).iter().sum::<u32>()));
    let wait = shop::Passing::NoWait;
    let variant =
        shop::Variant::new(shop::Shop::new(instance), shop::Objective::Makespan, wait).unwrap();
    let mut search = Search::default();
    search.settings.time_limit = Some(Duration::ZERO);
    let options = shop::Options { best: Best::Neh, search, ..shop::Options::default() };
    let answer = shop::solve(&variant, options).unwrap();
    assert_eq!((answer.status, answer.schedule), (Status::Stopped, Some(longest)));
}

/// Reports used to leave out how times and weights were scaled.
#[test]
fn reports_have_the_decimals_of_the_shop() {
    use shop::{Objective, Passing};
    let instance = flowshop::Instance::new(2, vec![35, 20, 10, 40, 20, 15]).unwrap();
    let mut shop = shop::Shop::new(instance);
    (shop.decimals, shop.due) = (1, Some(vec![50, 60, 70]));
    (shop.weight_decimals, shop.weights) = (1, Some(vec![5, 10, 30]));
    for (objective, passing, decimals) in [
        (Objective::Makespan, Passing::Wait, 1),
        (Objective::Makespan, Passing::NoWait, 1),
        (Objective::Lateness, Passing::Blocking, 1),
        (Objective::FlowTime, Passing::Wait, 2),
        (Objective::TardyJobs, Passing::Wait, 1),
    ] {
        let variant = shop::Variant::new(shop.clone(), objective, passing).unwrap();
        for limit in [None, Some(Duration::ZERO)] {
            let mut search = Search::default();
            search.settings.time_limit = limit;
            let options = shop::Options { search, ..shop::Options::default() };
            let report = shop::solve(&variant, options).unwrap().report;
            assert_eq!(report.decimals, decimals, "{objective} {passing:?} {limit:?}");
            assert_eq!(report.real(725), 725.0 / 10f64.powi(decimals as i32));
            // Texts used to have whole numbers.
            let value = report.real(report.objective.unwrap());
            let said = format!("flowshop x: {value:.*} (", decimals as usize);
            assert!(report.text("flowshop", "x").starts_with(&said), "{said}");
        }
    }
}

/// Layers, and searches of many jobs, used to continue although a schedule met the bound of all schedules.
#[test]
fn a_schedule_that_meets_the_bound_needs_no_search() {
    for jobs in [20, 60] {
        let mut shop = shop::Shop::new(flowshop::Instance::new(1, vec![3; jobs]).unwrap());
        shop.releases = Some((0..jobs as u32).map(|job| 2 * job).collect());
        let (objective, passing) = (shop::Objective::FlowTime, shop::Passing::Wait);
        let variant = shop::Variant::new(shop, objective, passing).unwrap();
        let answer = shop::solve(&variant, shop::Options::default()).unwrap();
        assert_eq!((answer.status, answer.value), (Status::Optimal, answer.bound));
        assert_eq!(answer.nodes.bounded, 0);
    }
}

/// A search that stops within its layers used to continue depth first when it was resumed, which takes far longer.
#[test]
fn layers_that_were_stopped_begin_again() {
    let path = folder("variants-layers").join("run.pleach");
    // The file of an earlier run of this test holds the finished search.
    let _ = std::fs::remove_file(&path);
    let with = |passing, limit: u64, save: bool| {
        let shop = shop::Shop::new(flowshop::named("ta002").unwrap());
        let variant = shop::Variant::new(shop, shop::Objective::FlowTime, passing).unwrap();
        let mut search = Search::default();
        (search.settings.threads, search.settings.node_limit) = (2, Some(limit));
        search.checkpoint = save.then(|| Checkpoint::new(&path));
        shop::solve(&variant, shop::Options { search, ..shop::Options::default() })
    };
    let solve = |limit, save| with(shop::Passing::Wait, limit, save).unwrap();
    let whole = solve(1 << 40, false);
    assert_eq!((whole.status, whole.value), (Status::Optimal, Some(15_151)));
    let mut before = 0;
    for _ in 0..2 {
        let stopped = solve(whole.nodes.bounded / 4, true);
        assert_eq!(stopped.status, Status::Stopped);
        assert!(stopped.nodes.bounded > before && stopped.bound <= whole.value);
        before = stopped.nodes.bounded;
    }
    let other = with(shop::Passing::NoWait, 1, true).unwrap_err().to_string();
    assert!(other.contains("holds another search"), "{other}");
    // Depth first, this would not suffice by far.
    let resumed = solve(2 * whole.nodes.bounded, true);
    assert_eq!((resumed.status, resumed.value), (Status::Optimal, whole.value));
    assert!(resumed.nodes.bounded > before);
    // It has nothing left to do now.
    let again = solve(1, true);
    assert_eq!((again.status, again.value), (Status::Optimal, whole.value));
    assert_eq!(again.nodes, resumed.nodes);
}

const TABLE: &str = "Job,Saw,Oven,Paint,Due,Weight,Release\nA,3.5,2,1,9,1,0\nB,1,4,2.5,8,2,2\nC,2,1,3,12,1,0\n\
                     D,4,3,1,7.5,0.5,1\nE,2.5,2.5,2,20,3,4\n";
const TABLE_WITHOUT_RELEASES: &str =
    "Job,Saw,Oven,Paint,Due\nA,3,2,1,9\nB,1,4,2,8\nC,2,1,3,12\nD,4,3,1,7\nE,2,2,2,20\n";

/// Published optima of Taillard's instances.
#[test]
fn flow_times_and_schedules_without_waiting_are_proven() {
    for how in ["--threads 1", "--threads 2 --simd off --best none", "--threads 3 --seed 7"] {
        let report = json(&format!("solve flowshop ta002 --objective flow-time {how}"));
        assert_eq!(report["status"], "optimal", "{how}");
        assert_eq!(
            (&report["objective"], &report["lower_bound"]),
            (&value!(15151), &value!(15151))
        );
        assert_eq!(report["settings"]["objective"], "flow-time");
        assert_eq!(report["settings"]["conditions"], value!([]));
    }
    let report = json("solve flowshop ta001 --no-wait");
    assert_eq!((&report["status"], &report["objective"]), (&value!("optimal"), &value!(1486)));
    assert_eq!(report["settings"]["conditions"], value!(["no-wait"]));
}

/// The nodes of a search by layers depend neither on threads nor on instructions.
#[test]
fn layers_count_the_same_nodes_on_any_number_of_threads() {
    let count = |how: &str| {
        json(&format!("solve flowshop VFR10_10_2 --objective flow-time {how}"))["nodes"].clone()
    };
    let one = count("--threads 1");
    for how in ["--threads 3", "--threads 2 --simd off", "--threads 2 --simd avx2"] {
        assert_eq!(count(how), one, "{how}");
    }
}

/// A trace used to begin when the layers had proven the result.
#[test]
fn traces_include_what_layers_find() {
    let trace = folder("variants").join("layers.json");
    let words = "solve flowshop VFR10_10_2 --objective flow-time --best none";
    let report = json(&format!("{words} --trace {}", trace.display()));
    let traced: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(trace).unwrap()).unwrap();
    let (first, last) = match &traced["convergence"].as_array().unwrap()[..] {
        [first, .., last] => (first.clone(), last.clone()),
        short => panic!("{short:?}"),
    };
    assert!(first["best"].is_null() && first["bound"].as_i64() < report["objective"].as_i64());
    assert!(first["seconds"].as_f64() <= last["seconds"].as_f64());
    assert_eq!((&last["best"], &last["bound"]), (&report["objective"], &report["objective"]));
}

/// The two tables as shops, in multiples of their least decimals.
fn shops() -> [shop::Shop; 2] {
    let with = |times: [u32; 15], due: [u32; 5]| {
        let mut shop = shop::Shop::new(flowshop::Instance::new(3, times.to_vec()).unwrap());
        shop.due = Some(due.to_vec());
        shop
    };
    let mut table =
        with([35, 20, 10, 10, 40, 25, 20, 10, 30, 40, 30, 10, 25, 25, 20], [90, 80, 120, 75, 200]);
    (table.decimals, table.weight_decimals) = (1, 1);
    table.weights = Some(vec![10, 20, 10, 5, 30]);
    table.releases = Some(vec![0, 20, 0, 10, 40]);
    [table, with([3, 2, 1, 1, 4, 2, 2, 1, 3, 4, 3, 1, 2, 2, 2], [9, 8, 12, 7, 20])]
}

/// The least value of all 120 orders.
fn least(variant: &shop::Variant) -> i64 {
    let with = |all: Vec<Vec<u16>>, job: u16| -> Vec<Vec<u16>> {
        let inserted = |order: Vec<u16>| {
            (0..=order.len()).map(move |at| [&order[..at], &[job], &order[at..]].concat())
        };
        all.into_iter().flat_map(inserted).collect()
    };
    let orders = (0..5).fold(vec![Vec::new()], with);
    orders.iter().map(|order| variant.value(order)).min().unwrap()
}

/// Every objective with every combination of conditions: solved to the optimum of all orders, or refused in one line.
#[test]
fn every_objective_and_condition_is_solved_or_refused() {
    let tables = [file("shop.csv", TABLE), file("plain.csv", TABLE_WITHOUT_RELEASES)];
    let rows: Vec<Vec<u32>> =
        (0..15).map(|row: u32| (0..5).map(|at| (row * 3 + at) % 4).collect()).collect();
    let line = |row: &Vec<u32>| row.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    let setups = file("setups.txt", &rows.iter().map(line).collect::<Vec<_>>().join("\n"));
    let solution = folder("variants").join("solution.txt");
    let solution = solution.to_str().unwrap();
    for (table, shop) in tables.iter().zip(shops()) {
        for objective in shop::Objective::ALL {
            for (flag, passing) in [
                ("", shop::Passing::Wait),
                ("--no-wait", shop::Passing::NoWait),
                ("--blocking", shop::Passing::Blocking),
            ] {
                for with_setups in [false, true] {
                    let mut flags = format!("--objective {objective} {flag}");
                    let mut shop = shop.clone();
                    if with_setups {
                        flags += &format!(" --setups {setups}");
                        let scale = 10u32.pow(shop.decimals);
                        shop.setups =
                            Some(rows.iter().flatten().map(|time| time * scale).collect());
                    }
                    let words = format!("{table} {flags}");
                    let Ok(variant) = shop::Variant::new(shop, objective, passing) else {
                        assert_eq!((flag, with_setups), ("--blocking", true));
                        refused(&format!("solve flowshop {words} --quiet"), "cannot be combined");
                        continue;
                    };
                    let report = json(&format!("solve flowshop {words} --solution {solution}"));
                    assert_eq!(report["status"], "optimal", "{words}");
                    assert_eq!(report["objective"], least(&variant), "{words}");
                    assert_eq!(report["lower_bound"], report["objective"], "{words}");
                    let checked = json(&format!("check flowshop {table} {solution} {flags}"));
                    assert_eq!(checked["objective"], report["objective"], "{words}");
                }
            }
            let both = format!("{table} --objective {objective} --no-wait --blocking");
            refused(&format!("solve flowshop {both}"), "cannot be combined");
            if objective.needs_due_dates() {
                let without = format!("solve flowshop ta001 --objective {objective}");
                refused(&without, "needs due dates: a column 'due' in a table, or --due FILE");
            }
        }
    }
}

#[test]
fn a_table_becomes_a_schedule() {
    let table = file("shop2.csv", TABLE);
    let (chart, plan) = (folder("variants").join("out.svg"), folder("variants").join("plan.csv"));
    let (chart, plan) = (chart.to_str().unwrap(), plan.to_str().unwrap());
    let words =
        format!("solve flowshop {table} --objective tardiness --gantt {chart} --schedule {plan}");
    let output = pleach(&words);
    assert!(output.status.success());
    let found = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(found.contains("(optimal)"), "{found}");
    // Times have one decimal, and weights another one.
    let report = json(&words);
    assert_eq!(report["settings"]["decimals"], 2);
    assert_eq!(report["settings"]["conditions"], value!(["releases"]));
    // The names are those of the jobs in their order; the report shows them, too.
    let solution = report["solution"].as_array().unwrap().iter();
    let names: Vec<&str> =
        solution.map(|job| ["A", "B", "C", "D", "E"][job.as_u64().unwrap() as usize - 1]).collect();
    assert_eq!(report["names"], value!(names));
    assert_eq!(json("solve flowshop VFR10_5_1").get("names"), None);
    let (run, page) = (file("run.json", &report.to_string()), folder("variants").join("run.html"));
    assert!(pleach(&format!("report {run} -o {}", page.display())).status.success());
    let shown = format!("<pre>{}</pre>", names.join("\n"));
    assert!(fs::read_to_string(page).unwrap().contains(&shown), "{shown}");
    let rows = fs::read_to_string(plan).unwrap();
    assert_eq!(rows.lines().count(), 16);
    // Nothing starts before its release date.
    for row in rows.lines().filter(|row| row.starts_with("E,")) {
        let start: f64 = row.split(',').nth(2).unwrap().parse().unwrap();
        assert!(start >= 4.0, "{row}");
    }
    assert!(fs::read_to_string(chart).unwrap().contains(", tardiness "));
}

#[test]
fn a_stopped_search_gives_a_schedule_and_a_bound() {
    for words in ["ta051 --objective flow-time", "ta031 --blocking", "ta061 --objective flow-time"]
    {
        let output = pleach(&format!("solve flowshop {words} --node-limit 20000 --json"));
        assert_eq!(output.status.code(), Some(3), "{words}");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let (best, bound) = (&report["objective"], &report["lower_bound"]);
        assert!(best.as_i64() > bound.as_i64() && bound.as_i64() > Some(0), "{words}: {report}");
    }
}

/// A time limit within layers used to be reported as a request to stop if the search was saved.
#[test]
fn a_time_limit_ends_layers_that_are_saved() {
    let path = folder("variants").join("late.pleach");
    let words = "solve flowshop ta031 --objective flow-time --best neh --time-limit 1s --json";
    let output = pleach(&format!("{words} --checkpoint {}", path.display()));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &answer["stopped_by"]), (Some(3), &value!("time-limit")));
    fs::remove_file(path).unwrap();
}

#[test]
fn an_interrupted_search_is_resumed() {
    let path = folder("variants").join("run.pleach");
    let _ = fs::remove_file(&path);
    let path = path.to_str().unwrap();
    let words = "solve flowshop VFR10_10_2 --objective flow-time --best none";
    let whole = json(words);
    let first = pleach(&format!("{words} --node-limit 1 --checkpoint {path} --quiet"));
    assert_eq!(first.status.code(), Some(3));
    let rest = json(&format!("resume {path}"));
    assert_eq!(rest["status"], "optimal");
    assert_eq!(rest["objective"], whole["objective"]);
}

/// A search that stopped right after its layers used to lose what the open nodes proved when it was resumed.
#[test]
fn a_resumed_search_keeps_its_bound() {
    let shop = "Job,A,B,C,Due\nJ0,2,5,2,32\nJ1,8,8,7,14\nJ2,2,8,1,25\nJ3,7,1,8,18\nJ4,4,2,6,2\nJ5,1,1,9,1\n\
                J6,7,4,7,2\nJ7,9,4,8,32\nJ8,9,4,6,15\nJ9,4,8,5,2\n";
    let shop = file("bounded.csv", shop);
    let path = fresh("variants", "bounded.pleach");
    let words = format!(
        "solve flowshop {shop} --objective tardiness --no-wait --threads 1 --json --checkpoint {}",
        path.display()
    );
    let bound = |limit: u64| {
        let output = pleach(&format!("{words} --quiet --node-limit {limit}"));
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["status"], "stopped", "{answer}");
        answer["lower_bound"].as_i64().unwrap()
    };
    let first = bound(60);
    assert!(bound(1) >= first);
}

#[test]
fn bad_combinations_are_refused_in_one_line() {
    let short = file("short.txt", "1 2 3\n");
    let fine = file("fine.txt", "1.5 2 3\n");
    let shop = file("three.csv", "1,2\n3,4\n5,6\n");
    let table = file("full.csv", TABLE);
    for (words, said) in [
        ("ta001 --objective speed".into(), "--objective 'speed': expected makespan, flow-time"),
        (
            "ta001 --objective tardiness".into(),
            "needs due dates: a column 'due' in a table, or --due FILE",
        ),
        ("ta001 --no-wait --blocking".into(), "--no-wait cannot be combined with --blocking"),
        (
            format!("ta001 --due {short}"),
            "short.txt: 3 numbers, expected 20 numbers, one for each job",
        ),
        (
            format!("{shop} --quiet --releases {fine}"),
            "fine.txt, line 1: '1.5', expected at most 0 decimals, as the times have",
        ),
        (
            format!("{shop} --quiet --due {}", file("large.txt", "1\n2 3000000000\n")),
            "large.txt, line 2: '3000000000', expected at most 2147483647",
        ),
        (
            format!("{shop} --quiet --releases {}", file("long.txt", "1 2 3 4\n")),
            "long.txt: 4 numbers, expected 3 numbers, one for each job",
        ),
        (
            format!("{shop} --quiet --due {}", file("word.txt", "1\nFriday\n-3\n")),
            "word.txt, line 2: 'Friday', expected a number of at least 0",
        ),
        (
            format!("{shop} --quiet --setups {short}"),
            "short.txt: 3 numbers, expected 18 numbers: for each of 2 machines, 3 lines of 3",
        ),
        (format!("{shop} --quiet --due {shop}"), "three.csv: 6 numbers, expected 3 numbers"),
        (format!("{table} --quiet --due {short}"), "full.csv already has due"),
        ("ta001 --no-wait --bound one".into(), "--bound works only with the objective makespan"),
        (
            "ta001 --objective flow-time --all".into(),
            "--all works only with the objective makespan",
        ),
        ("ta001 --blocking --nodes interval".into(), "--nodes interval works only"),
        ("ta001 --no-wait --best optimum".into(), "no optimum is published for ta001 with this"),
        ("ta001 --setups missing.txt".into(), "--setups missing.txt: "),
        (
            format!("{shop} --quiet --blocking --setups {}", file("s.txt", &"1 2 3\n".repeat(6))),
            "cannot be combined",
        ),
    ] {
        refused(&format!("solve flowshop {words}"), said);
    }
}

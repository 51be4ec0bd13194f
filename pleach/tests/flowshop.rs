//! `solve flowshop` and `check flowshop` as a user sees them.

use crate::outside::{folder, fresh, json, pleach, refused};
use std::fs;

/// A file with this text, as a word of the command line.
fn file(name: &str, text: &str) -> String {
    let path = folder("flowshop").join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

#[test]
fn instances_are_solved_to_proof_whatever_the_way() {
    for how in [
        "--threads 1",
        "--threads 3 --seed 4",
        "--bound one --branching min-min",
        "--bound one-tight --branching max-sum",
        "--bound two --branching alternate",
        "--best neh --simd off",
        "--best none --bound two",
        "--best 1300",
        "--balance random-half --slow cpu0=3",
    ] {
        let report = json(&format!("solve flowshop ta005 {how}"));
        assert_eq!(report["status"], "optimal", "{how}");
        assert_eq!(report["objective"], 1235, "{how}");
        assert_eq!(report["lower_bound"], 1235, "{how}");
        assert_eq!(report["gap"], 0.0, "{how}");
        assert_eq!(report["solution"].as_array().unwrap().len(), 20, "{how}");
        assert!(
            report["settings"]["bound"].is_string() && report["settings"]["branching"].is_string()
        );
    }
}

#[test]
fn trees_from_the_optimum_are_those_published() {
    for how in ["--threads 1 --simd auto", "--threads 2 --simd avx2", "--threads 3 --seed 9"] {
        let words = "solve flowshop ta030 --best optimum --bound one --branching min-branch";
        let report = json(&format!("{words} {how}"));
        assert!(["optimal", "no-better"].contains(&report["status"].as_str().unwrap()), "{how}");
        assert_eq!(report["nodes"]["branched"], 2_415_779, "{how}");
        assert_eq!(report["nodes"]["bounded"], 45_246_962, "{how}");
        assert_eq!(report["lower_bound"], 2178, "{how}");
    }
}

#[test]
fn the_order_of_children_changes_no_tree_from_the_optimum() {
    let words =
        "solve flowshop ta030 --best optimum --bound one --nodes interval --child-order job";
    for how in ["--threads 3", "--threads 1 --simd off"] {
        let report = json(&format!("{words} {how}"));
        assert_eq!(report["nodes"]["branched"], 2_415_779, "{how}");
        assert_eq!(report["nodes"]["bounded"], 45_246_962, "{how}");
        assert_eq!(report["settings"]["child_order"], "job", "{how}");
    }
    let from_scratch = json("solve flowshop ta005 --nodes interval --child-order job --best none");
    assert_eq!(from_scratch["objective"], 1235);
}

#[test]
fn a_value_that_nothing_beats_is_reported_as_such() {
    for best in [1200, 1278] {
        let report = json(&format!("solve flowshop ta001 --best {best}"));
        assert_eq!(report["status"], "no-better");
        assert_eq!(report["lower_bound"], best);
        assert!(report["objective"].is_null() && report["solution"].is_null());
    }
}

#[test]
fn a_start_that_is_worse_than_the_value_to_beat_is_not_called_optimal() {
    let instance = file("four.txt", "4 3\n3 7 2 9\n8 1 6 4\n2 9 5 7\n");
    let best = json(&format!("solve flowshop {instance}"))["objective"].as_i64().unwrap();
    let start = file("start.txt", "1 2 3 4");
    let value = json(&format!("check flowshop {instance} {start}"))["objective"].as_i64().unwrap();
    assert!(value > best);
    for beat in [10, best] {
        let words = format!("solve flowshop {instance} --start {start} --best {beat} --all");
        let report = json(&words);
        assert_eq!(
            (&report["status"], &report["lower_bound"]),
            (&"no-better".into(), &beat.into())
        );
        assert!(report["objective"].is_null() && report["solution"].is_null());
        assert_eq!(report["count"].is_null(), beat < best);
    }
}

#[test]
fn files_are_not_touched_before_there_is_something_to_write() {
    let instance = file("three.txt", "3 2\n1 2 3\n4 5 6\n");
    let both = file("both.txt", "3 2 1\n");
    refused(&format!("solve flowshop {instance} --bound x --solution {both}"), "--bound 'x'");
    assert_eq!(fs::read_to_string(&both).unwrap(), "3 2 1\n");
    // A start is an input: it is not overwritten.
    let words = format!("solve flowshop {instance} --start {both} --solution {both}");
    refused(&words, "is the same file as --start");
    assert_eq!(fs::read_to_string(&both).unwrap(), "3 2 1\n");
    let words = format!("solve flowshop {instance} --solution {both}");
    assert_eq!(json(&words)["objective"], 16);
    assert_eq!(fs::read_to_string(&both).unwrap().split_whitespace().count(), 3);
    refused(
        &format!("check flowshop {instance} {both} --solution x.txt"),
        "--solution does not apply to 'check flowshop'",
    );
}

#[test]
fn a_stop_keeps_the_best_and_a_proven_bound() {
    for limit in ["--time-limit 300ms", "--node-limit 100000"] {
        let output = pleach(&format!("solve flowshop ta056 --json {limit}"));
        assert_eq!(output.status.code(), Some(3));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["status"], "stopped");
        let [value, bound] = ["objective", "lower_bound"].map(|key| report[key].as_i64());
        if limit.starts_with("--time") && (value.is_none() || bound.is_none()) {
            // On a busy machine, time may be over before there is a schedule.
            continue;
        }
        let (value, bound) = (value.unwrap(), bound.unwrap());
        assert!((3495..=3679).contains(&bound) && 3679 <= value, "{bound} {value}");
        assert!(report["gap"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn all_optimal_schedules_are_counted_on_request() {
    let equal = file("equal.txt", "4 3\n5 5 5 5\n5 5 5 5\n5 5 5 5\n");
    assert_eq!(json(&format!("solve flowshop {equal} --all"))["count"], 24);
    assert!(json(&format!("solve flowshop {equal}"))["count"].is_null());
    for threads in [1, 2] {
        let report = json(&format!("solve flowshop VFR10_5_1 --all --threads {threads}"));
        assert_eq!((&report["objective"], &report["count"]), (&695.into(), &2228.into()));
    }
}

#[test]
fn solutions_are_written_drawn_checked_and_started_from() {
    let solution = folder("flowshop").join("solution.txt");
    let picture = folder("flowshop").join("out.svg");
    let (solution, picture) = (solution.to_str().unwrap(), picture.to_str().unwrap());
    let first = json(&format!("solve flowshop VFR10_10_1 --solution {solution} --gantt {picture}"));
    let value = first["objective"].as_i64().unwrap();
    let svg = fs::read_to_string(picture).unwrap();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    assert!(svg.contains(&format!("makespan {value}")));
    assert_eq!(json(&format!("check flowshop VFR10_10_1 {solution}"))["objective"], value);
    let again = json(&format!("solve flowshop VFR10_10_1 --best none --start {solution}"));
    assert_eq!((&again["status"], &again["objective"]), (&"optimal".into(), &value.into()));
    // Any schedule can be drawn.
    let own = file("own.txt", "10 9 8 7 6 5 4 3 2 1");
    let drawn = json(&format!("check flowshop VFR10_10_1 {own} --gantt {picture}"));
    let svg = fs::read_to_string(picture).unwrap();
    assert!(svg.contains(&format!("makespan {}", drawn["objective"])), "{svg}");
    assert!(svg.contains("<title>job 10 on M1: 0 to "), "{svg}");
    let twice = file("twice.txt", "1 2 3 4 5 6 7 8 9 9");
    refused(&format!("check flowshop VFR10_10_1 {twice}"), "twice.txt: job 9 appears twice");
    let short = file("short.txt", "1 2 3");
    refused(&format!("solve flowshop VFR10_10_1 --start {short}"), "short.txt: job 4 is missing");
    let words = file("words.txt", "1 2\nx");
    refused(&format!("check flowshop VFR10_10_1 {words}"), "words.txt, line 2: 'x', expected");
}

#[test]
fn degenerate_instances_are_solved() {
    for (name, text, value) in [
        ("one-job.txt", "1 4\n1\n2\n3\n4\n", 10),
        ("one-machine.txt", "4 1\n1 2 3 4\n", 10),
        ("one.txt", "1 1\n7\n", 7),
        ("two.txt", "2 2\n1 5\n5 1\n", 7),
        ("zeros.txt", "4 2\n0 0 0 0\n0 0 0 0\n", 0),
        ("wide.txt", "2 2\n1000000000 1\n1 1000\n", 1_000_000_002),
    ] {
        let path = file(name, text);
        for how in ["", "--best none", "--best neh --simd off", "--bound two --threads 1"] {
            let report = json(&format!("solve flowshop {path} {how}"));
            assert_eq!(report["status"], "optimal", "{name} {how}");
            assert_eq!(report["objective"], value, "{name} {how}");
        }
    }
    let jobs_first = file("jobs-first.txt", "3 2\n1 4\n2 5\n3 6\n");
    assert_eq!(json(&format!("solve flowshop {jobs_first} --jobs-first"))["objective"], 16);
}

/// From a spreadsheet to a schedule for one, with names and decimals.
#[test]
fn a_table_is_solved_and_its_schedule_written() {
    let text = "Job;Säge;Ofen;Due date;Weight\r\nA 1;3,5;2;20;1\r\n\"B; x\";1,25;4;9;2\r\n";
    let table = file("table.csv", &format!("\u{feff}# hours\r\n{text}"));
    let out = |name: &str| folder("flowshop").join(name).to_str().unwrap().to_string();
    let [order, chart, schedule] = ["t.txt", "t.svg", "t.csv"].map(out);
    let words = format!("solve flowshop {table} --solution {order} --schedule {schedule}");
    let output = pleach(&words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let found = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("2 jobs × 2 machines (Säge, Ofen), in multiples of 0.01\n"), "{said}");
    assert!(said.contains("due dates and weights are not used: the objective is the makespan"));
    assert!(found.contains("7.25 (optimal)\nB; x, A 1\n"), "{found}");
    assert_eq!(fs::read_to_string(&order).unwrap(), "B; x\nA 1\n");
    let rows = "job,machine,start,end\nB; x,Säge,0.00,1.25\nB; x,Ofen,1.25,5.25\n\
                A 1,Säge,1.25,4.75\nA 1,Ofen,5.25,7.25\n";
    assert_eq!(fs::read_to_string(&schedule).unwrap(), rows);
    let trace = folder("flowshop").join("decimals.svg");
    assert!(pleach(&format!("{words} --trace {}", trace.display())).status.success());
    let drawn = fs::read_to_string(&trace).unwrap();
    assert!(drawn.contains(">7.") && !drawn.contains(">725</text>"), "{drawn}");
    // In JSON values are whole numbers.
    let start = file("t-start.txt", "B; x\nA 1\n");
    let report = json(&format!("{words} --best none --start {start}"));
    assert_eq!((&report["objective"], &report["solution"]), (&725.into(), &vec![2, 1].into()));
    assert_eq!(report["settings"]["decimals"], 2);
    let beaten = pleach(&format!("solve flowshop {table} --best 7 --quiet"));
    let beaten = String::from_utf8_lossy(&beaten.stdout).into_owned();
    assert!(beaten.contains("nothing beats 7.00 (no-better)"), "{beaten}");
    let beaten = pleach(&format!("solve flowshop {table} --best 7.25 --quiet"));
    let beaten = String::from_utf8_lossy(&beaten.stdout).into_owned();
    assert!(beaten.contains("nothing beats 7.25 (no-better)"), "{beaten}");
    assert_eq!(json(&format!("solve flowshop {table} --best 7.26"))["objective"], 725);
    let tardiness = format!("solve flowshop {table} --objective tardiness --best");
    refused(&format!("{tardiness} 0.00001 --quiet"), "a number of at most 2 decimals");
    refused(&format!("solve flowshop {table} --best 7,25 --quiet"), "--best 7,25: expected");
    let best = order.clone();
    for solution in [order, file("numbers.txt", "2 1")] {
        let words = format!("check flowshop {table} {solution} --gantt {chart} --quiet");
        let output = pleach(&words);
        let found = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(found.ends_with("a schedule of makespan 7.25\n"), "{found}");
        assert!(output.stderr.is_empty());
        let svg = fs::read_to_string(&chart).unwrap();
        assert!(svg.contains("<title>job B; x on Ofen: 1.25 to 5.25, due 9.00</title>"), "{svg}");
        assert_eq!(json(&words)["decimals"], 2);
    }
    let saved = fresh("flowshop", "decimals.pleach").display().to_string();
    json(&format!("solve flowshop {table} --checkpoint {saved}"));
    assert_eq!(json(&format!("resume {saved} --show"))["settings"]["decimals"], 2);
    for words in [format!("{table} --repeat 3"), format!("{table} {table} --repeat 2")] {
        let repeated = pleach(&format!("solve flowshop {words}"));
        let said = String::from_utf8_lossy(&repeated.stderr);
        assert_eq!(said.matches(": read as").count(), 1, "{words}: {said}");
    }
    let proof = folder("flowshop").join("decimals.cert");
    let proof = proof.display();
    json(&format!("solve flowshop {table} --certificate {proof}"));
    let audited = pleach(&format!("audit {proof}"));
    let audited = String::from_utf8_lossy(&audited.stdout).into_owned();
    assert!(audited.contains("the optimum is 7.25, by"), "{audited}");
    let audited = json(&format!("audit {proof}"));
    assert_eq!((&audited["objective"], &audited["decimals"]), (&725.into(), &2.into()));
    // One's own plan, and the one that was found below it.
    let own = file("own.txt", "A 1\nB; x\n");
    let both = format!("check flowshop {table} {own} --gantt {chart} --quiet --beside");
    let output = pleach(&format!("{both} {best}"));
    assert!(output.status.success() && output.stderr.is_empty());
    let svg = fs::read_to_string(&chart).unwrap();
    assert!(svg.contains("own.txt: 2 jobs on 2 machines, makespan 9.50"), "{svg}");
    assert!(svg.contains("t.txt: 2 jobs on 2 machines, makespan 7.25"), "{svg}");
    refused(&format!("{both} {chart}"), "is the same file as --beside");
    refused(
        &format!("check flowshop {table} {own} --quiet --beside {best}"),
        "it needs --gantt FILE",
    );
    let unknown = file("unknown.txt", "A 1\nC\n");
    refused(&format!("{both} {unknown}"), "unknown.txt, line 2: 'C'");
    refused(
        &format!("check flowshop {table} {unknown} --quiet"),
        "unknown.txt, line 2: 'C', expected the name or number of a job",
    );
}

#[test]
fn tables_that_cannot_be_solved_are_refused_in_one_line() {
    for (name, text, said) in [
        (
            "setup.csv",
            "job,M1,Setup M1\nA,1,2\n",
            "line 1, column 'Setup M1': setup times, expected",
        ),
        ("typing.csv", "job,Saw,Oven\nA,1,2\nB,l,3\n", "typing.csv, line 3, column 'Saw': 'l',"),
        ("header.csv", "job,M1\n", "header.csv, line 1: no line after the header"),
        ("empty.csv", "", "empty.csv: empty, expected a line for each job"),
        ("book.xlsx", "", "book.xlsx: "),
    ] {
        let path = file(name, text);
        refused(&format!("solve flowshop {path} --quiet"), said);
        refused(&format!("check flowshop {path} {path} --quiet"), said);
    }
    // Release dates that say nothing are no condition.
    let dates = file("release.csv", "job,M1,Release\nA,1,0\nB,3,5\n");
    assert_eq!(json(&format!("solve flowshop {dates}"))["objective"], 8);
    let zeros = file("zeros.csv", "job,M1,M2,Release\nA,1,2,0\nB,3,4,0\n");
    assert_eq!(json(&format!("solve flowshop {zeros}"))["objective"], 8);
}

/// A job whose name is missing used to be read as a header of numbers, without a word about it.
#[test]
fn a_header_of_numbers_is_stated() {
    let indexed = file("indexed.csv", ",101,102\nA,1,4\nB,2,5\n");
    let output = pleach(&format!("solve flowshop {indexed}"));
    let said = String::from_utf8_lossy(&output.stderr);
    let note = "read as 2 jobs × 2 machines (101, 102); the first row is read as the header";
    assert!(said.contains(note), "{said}");
    let nameless = file("nameless.csv", ",4,3\nB,1,2\n");
    refused(&format!("solve flowshop {nameless}"), "could be a header or a job without a name;");
}

/// Excel saves tables with its own hint at the separator, with titles in several lines, and in several encodings.
#[test]
fn tables_of_excel_are_read() {
    let table = "sep=;\r\nJob;Säge;\"Due\ndate\"\r\n\"A, 1\";1,5;2\r\nB;3;4\r\n";
    let path = folder("flowshop").join("excel.csv");
    let units = table.encode_utf16().flat_map(u16::to_le_bytes);
    let wide = [0xff, 0xfe].into_iter().chain(units).collect();
    for bytes in [table.as_bytes().to_vec(), wide] {
        fs::write(&path, bytes).unwrap();
        let output = pleach(&format!("solve flowshop {} --objective tardiness", path.display()));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let found = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("read as 2 jobs × 1 machine (Säge), in multiples of 0.1"), "{said}");
        assert!(found.contains("0.5 (optimal)\n\"A, 1\", B\n"), "{found}");
    }
    fs::write(&path, b"Job;S\xe4ge;Ofen\nA;1;2\n").unwrap();
    let words = format!("solve flowshop {} --quiet", path.display());
    refused(&words, "excel.csv: line 1 is not text in UTF-8: save the file as UTF-8");
}

#[test]
fn shops_and_schedules_may_have_comments() {
    let shop = file("comments.txt", "# c\n3 2 # jobs, machines\n1 2 3\n4 5 6\n");
    let order = file("comments-order.txt", "# best\n1 2 # first\n3\n");
    assert_eq!(json(&format!("check flowshop {shop} {order}"))["objective"], 16);
    let commas = file("commas.txt", "1,2,3\n");
    let said = "'1,2,3', expected the number of a job; blanks or line ends separate them";
    refused(&format!("check flowshop {shop} {commas}"), said);
}

#[test]
fn files_of_pyjobshop_are_read() {
    let due = file("due.txt", "3\n2\n7\t9\t30\n1\t4\n2\t5\n3\t6\n");
    let output = pleach(&format!("solve flowshop {due}"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.ends_with("due.txt: due dates are not used: the objective is the makespan\n"));
    assert_eq!(json(&format!("solve flowshop {due}"))["objective"], 16);
    let rows = "1 2\n3 4\n".repeat(3);
    let setups = file("setups.txt", &format!("2\n2\n{rows}"));
    // The second machine needs 2 before the second job, which reaches it even later.
    let report = json(&format!("solve flowshop {setups}"));
    assert_eq!((&report["status"], &report["objective"]), (&"optimal".into(), &10.into()));
    assert_eq!(report["settings"]["conditions"], serde_json::json!(["setups"]));
}

#[test]
fn bad_instances_and_flags_are_refused_in_one_line() {
    for (name, text, said) in [
        ("empty.txt", "", "empty.txt: empty, expected the numbers of jobs"),
        ("zero.txt", "0 0\n", "zero.txt, line 1: '0', expected a whole number from 1"),
        ("missing.txt", "3 2\n1 2 3\n4 5\n", "missing.txt, line 3: 2 numbers, expected 3"),
        ("negative.txt", "2 1\n1 -2\n", "negative.txt, line 2: '-2', expected"),
        ("text.txt", "2 1\n1 many\n", "text.txt, line 2: 'many', expected"),
        ("trailing.txt", "2 1\n1 2\n3\n", "trailing.txt, line 3: '3' after the end"),
        ("shape.txt", "3 2\n1 4\n2 5\n3 6\n", "--jobs-first"),
        ("huge.txt", "3 1\n999999999 999999999 999999999\n", "huge.txt: times that may add up"),
    ] {
        let path = file(name, text);
        refused(&format!("solve flowshop {path}"), said);
    }
    for (words, said) in [
        ("solve flowshop ta000", "expected a file, or a name from ta001 to ta120"),
        (
            "solve flowshop ta001 --bound three",
            "--bound 'three': expected auto, one, one-tight, two, two-adjacent or two-last",
        ),
        ("solve flowshop ta001 --child-order job", "child order job needs nodes interval"),
        ("solve flowshop ta001 --child-order auto", "--child-order 'auto': expected bound or job"),
        ("solve flowshop ta001 --branching up", "--branching 'up': expected auto, forward"),
        ("solve flowshop ta001 --best good", "--best good: expected none, a number or a name"),
        (
            "solve flowshop ta051 --best optimum",
            "--best optimum: the optimum of ta051 is not known; the best known makespan is 3846",
        ),
        ("solve flowshop ta001 --start /no/file", "/no/file"),
        ("solve flowshop ta001 --gantt /no/folder/x.svg", "--gantt /no/folder/x.svg"),
        (
            "solve flowshop ta001 --balance master-worker:late",
            "--balance: master-worker:late is for simulations only",
        ),
        ("count flowshop ta001", "count flowshop: expected queens or uts"),
    ] {
        refused(words, said);
    }
}

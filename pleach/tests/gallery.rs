//! The gallery of own problems: known values, equal counts on any number of threads, one line for bad input.

use crate::outside::{example, folder};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// A small generator of numbers, for instances.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: i64) -> i64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as i64 % end
    }
}

fn report(name: &str, words: &[&str]) -> Value {
    let output = example(name, &[words, &["--json"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.is_empty(), "{name} {words:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// It counts as many, in as many nodes, on one thread and on two.
fn counts(name: &str, words: &[&str], count: u64) {
    let on = |threads| report(name, &[words, &["--threads", threads]].concat());
    let [one, two] = ["1", "2"].map(on);
    assert_eq!((&one["count"], &two["count"]), (&count.into(), &count.into()), "{name} {words:?}");
    assert_eq!(one["nodes"]["bounded"], two["nodes"]["bounded"], "{name} {words:?}");
}

/// It proves this optimum on one thread and on two, and from it in as many nodes. Returns the solution.
fn proves(name: &str, words: &[&str], optimum: i64) -> Vec<i64> {
    let value = optimum.to_string();
    let both = ["1", "2"].map(|threads| {
        let solved = report(name, &[words, &["--threads", threads]].concat());
        let found = (solved["status"].as_str(), solved["objective"].as_i64());
        assert_eq!(found, (Some("optimal"), Some(optimum)), "{name} {words:?}: {solved}");
        let from = report(name, &[words, &["--threads", threads, "--best", &value]].concat());
        assert_eq!(from["status"], "no-better", "{name} {words:?}: {from}");
        (solved["solution"].clone(), from["nodes"]["bounded"].clone())
    });
    let [(solution, one), (_, two)] = both;
    assert_eq!(one, two, "{name} {words:?}");
    serde_json::from_value(solution).unwrap()
}

fn data(file: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../data").join(file).display().to_string()
}

#[test]
fn semigroups_are_counted_as_published() {
    let published =
        [1, 1, 2, 4, 7, 12, 23, 39, 67, 118, 204, 343, 592, 1001, 1693, 2857, 4806, 8045];
    for (genus, &count) in published.iter().enumerate() {
        counts("semigroups", &[&genus.to_string()], count);
    }
    counts("semigroups", &["30"], 5_646_773);
}

#[test]
fn pentominoes_fill_rectangles_as_published() {
    counts("pentominoes", &["3x20"], 4 * 2);
    counts("pentominoes", &["20x3"], 4 * 2);
    counts("pentominoes", &["4x15"], 4 * 368);
    let report = report("pentominoes", &["3x20"]);
    assert_eq!(report["problem"], "pentominoes");
    let placed: Vec<u64> = serde_json::from_value(report["tally"].clone()).unwrap();
    assert_eq!(placed.len(), 12);
    // Every node but the root is a shape that was put down.
    assert_eq!(report["nodes"]["bounded"], placed.iter().sum::<u64>());
}

#[test]
fn golomb_rulers_are_as_short_as_published() {
    for (marks, length) in (3..).zip([3, 6, 11, 17, 25, 34, 44, 55, 72]) {
        let ruler = proves("golomb", &[&marks.to_string()], length);
        let pairs = (0..marks).flat_map(|i| (0..i).map(move |j| (i, j)));
        let mut distances: Vec<i64> = pairs.map(|(i, j)| ruler[i] - ruler[j]).collect();
        distances.sort_unstable();
        distances.dedup();
        assert_eq!(distances.len(), marks * (marks - 1) / 2, "{ruler:?}");
        assert!(distances[0] > 0 && distances.last() == Some(&length), "{ruler:?}");
    }
}

#[test]
fn graphs_need_as_many_colours_as_published() {
    let known = [("myciel3", 4), ("myciel4", 5), ("queen5", 5), ("queen6", 7), ("queen7", 7)];
    for (graph, colours) in known {
        proves("colouring", &[graph], colours);
    }
    let mut graph = "c a wheel of five spokes\np edge 6 10\n".to_string();
    for v in 1..=5 {
        writeln!(graph, "e {v} {}\ne {v} 6", v % 5 + 1).unwrap();
    }
    let file = folder("gallery").join("wheel.col");
    // Some files announce each edge twice, but list it once.
    for announced in ["p edge 6 10", "p edge 6 20"] {
        std::fs::write(&file, graph.replace("p edge 6 10", announced)).unwrap();
        let colours = proves("colouring", &[file.to_str().unwrap()], 4);
        assert!((0..5).all(|v| colours[v] != colours[(v + 1) % 5] && colours[v] != colours[5]));
    }
}

/// The least cost of a path through all stops that keeps the precedences, by dynamic programming over sets.
fn cheapest(costs: &[Vec<i64>]) -> i64 {
    let n = costs.len();
    let mut best = vec![vec![i64::MAX; n]; 1 << n];
    best[1][0] = 0;
    for (set, last) in (1..1 << n).flat_map(|set: usize| (0..n).map(move |last| (set, last))) {
        let cost = best[set][last];
        let ready = |v: usize| (0..n).all(|u| costs[v][u] >= 0 || set >> u & 1 == 1);
        for v in (0..n).filter(|v| cost < i64::MAX && set >> v & 1 == 0).filter(|&v| ready(v)) {
            let next = &mut best[set | 1 << v][v];
            *next = (*next).min(cost + costs[last][v]);
        }
    }
    best[(1 << n) - 1][n - 1]
}

#[test]
fn stops_are_ordered_at_least_cost() {
    proves("ordering", &[&data("ordering/ESC12.sop")], 1675);
    let file = folder("gallery").join("stops.sop");
    for seed in 0..5 {
        let (mut numbers, n) = (Numbers(seed), 9);
        let mut costs = vec![vec![0; n]; n];
        for (u, v) in (0..n).flat_map(|u| (0..n).map(move |v| (u, v))).filter(|(u, v)| u != v) {
            let first = v == 0 || u == n - 1 || (v < u && numbers.below(5) == 0);
            costs[u][v] = if first { -1 } else { numbers.below(100) };
        }
        let rows =
            costs.iter().flatten().fold(String::new(), |rows, cost| rows + &format!("{cost} "));
        std::fs::write(&file, format!("EDGE_WEIGHT_SECTION\n{n}\n{rows}\nEOF\n")).unwrap();
        let path = proves("ordering", &[file.to_str().unwrap()], cheapest(&costs));
        assert!((0..n).all(|i| (0..i).all(|j| costs[path[j] as usize][path[i] as usize] >= 0)));
    }
}

/// The least weighted tardiness, by dynamic programming over the sets of jobs that come first.
fn least_tardiness(times: &[i64], weights: &[i64], dues: &[i64]) -> i64 {
    let n = times.len();
    let members = |set: usize| (0..n).filter(move |job| set >> job & 1 == 1);
    let mut best = vec![0; 1 << n];
    for set in 1..1_usize << n {
        let end: i64 = members(set).map(|job| times[job]).sum();
        let cost = |job: usize| best[set & !(1 << job)] + weights[job] * (end - dues[job]).max(0);
        best[set] = members(set).map(cost).min().unwrap();
    }
    best[(1 << n) - 1]
}

#[test]
fn jobs_are_sequenced_at_least_tardiness() {
    let published = [913, 1225, 537, 2094, 990, 6955, 6324, 6865];
    for (number, optimum) in (1..).zip(published) {
        let words = [&data("tardiness/wt40.txt"), "40", &number.to_string()];
        assert_eq!(proves("tardiness", &words, optimum).len(), 40);
    }
    let (mut numbers, mut text, mut optima, n) = (Numbers(1), String::new(), Vec::new(), 11);
    for _ in 0..8 {
        let times: Vec<i64> = (0..n).map(|_| 1 + numbers.below(20)).collect();
        let weights: Vec<i64> = (0..n).map(|_| numbers.below(10)).collect();
        let total: i64 = times.iter().sum();
        let dues: Vec<i64> = (0..n).map(|_| numbers.below(total)).collect();
        for number in times.iter().chain(&weights).chain(&dues) {
            write!(text, "{number} ").unwrap();
        }
        optima.push(least_tardiness(&times, &weights, &dues));
    }
    let file = folder("gallery").join("jobs.txt");
    std::fs::write(&file, text).unwrap();
    for (number, optimum) in (1..).zip(optima) {
        let words = [file.to_str().unwrap(), &n.to_string(), &number.to_string()];
        proves("tardiness", &words, optimum);
    }
}

#[test]
fn subgraphs_are_counted_as_known() {
    counts("subgraphs", &["petersen", "petersen"], 120);
    counts("subgraphs", &["cube:4", "cube:4"], 384);
    counts("subgraphs", &["complete:3", "complete:6"], 120);
    // 80 squares, each in four rotations and two directions.
    counts("subgraphs", &["cycle:4", "cube:5"], 640);
    // Petersen's graph has twelve cycles of length 5, and no Hamiltonian one.
    counts("subgraphs", &["cycle:5", "petersen"], 120);
    counts("subgraphs", &["cycle:10", "petersen"], 0);
    // 1344 Hamiltonian cycles of the cube of four dimensions.
    counts("subgraphs", &["cycle:16", "cube:4"], 43_008);
}

#[test]
fn the_gallery_refuses_bad_input_in_one_line() {
    let folder = folder("gallery");
    let loops = folder.join("loop.col");
    std::fs::write(&loops, "p edge 3 1\ne 1 1\n").unwrap();
    let cut = folder.join("cut.col");
    std::fs::write(&cut, "p edge 4 6\ne 1 2\n").unwrap();
    let weighted = folder.join("weighted.col");
    std::fs::write(&weighted, "p edge 2 1\ne 1 2 7\n").unwrap();
    let short = folder.join("short.sop");
    std::fs::write(&short, "EDGE_WEIGHT_SECTION\n0 1 2\n3 4\nEOF\n").unwrap();
    let (loops, short, jobs) =
        (loops.to_str().unwrap(), short.to_str().unwrap(), data("tardiness/wt40.txt"));
    let (cut, weighted) = (cut.to_str().unwrap(), weighted.to_str().unwrap());
    let cases: [(&str, &[&str], &str); 16] = [
        ("semigroups", &["65"], "expected a genus"),
        ("semigroups", &[], "expected a genus"),
        ("golomb", &["2"], "expected a number of marks"),
        ("colouring", &[], "expected mycielN"),
        ("colouring", &["queen99"], "queen99: No such file"),
        ("colouring", &[loops], "expected a graph"),
        ("colouring", &[cut], "expected a graph"),
        ("colouring", &[weighted], "expected a graph"),
        ("ordering", &[], "expected a TSPLIB file"),
        ("ordering", &["none.sop"], "none.sop: No such file"),
        ("ordering", &[short], "expected costs"),
        ("tardiness", &[&jobs, "40"], "expected a file"),
        ("tardiness", &[&jobs, "40", "99"], "no instance 99 of 40 jobs"),
        ("subgraphs", &["petersen"], "expected the names"),
        ("subgraphs", &["star:5", "cube:3"], "'star:5': expected"),
        ("subgraphs", &["cube:3", "cube:9"], "'cube:9': expected"),
    ];
    for (name, words, why) in cases {
        let output = example(name, words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name} {words:?}: {said}");
        assert!(said.starts_with(name) && said.contains(why), "{name} {words:?}: {said}");
        assert!(said.lines().count() == 1 && output.stdout.is_empty(), "{name} {words:?}: {said}");
    }
}

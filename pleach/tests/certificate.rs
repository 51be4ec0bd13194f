//! Certificates: a proof of each problem passes an audit, and no forged one does.

use crate::outside::{folder, fresh, json, output_of, pleach, refused};
use pleach::{Certificate, Children, Goal, NoProof, Sample, Solver, Tree, audit};
use pleach_core::search::region::Region;
use pleach_core::search::work::{Entry, Pool};
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn proofs_of_all_problems_pass_an_audit() {
    let out = folder("certificates");
    let knapsack = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/knapsack/correlated-60.txt");
    for (nth, search) in [
        "solve flowshop ta001",
        "solve flowshop ta003 --best none",
        "solve flowshop ta011 --best 1000 --bound two --branching forward",
        "count queens 10",
        "solve queens 3",
        "count uts type=binomial,b0=200,q=0.19,m=5,seed=7",
        &format!("solve knapsack {}", knapsack.display()),
        "solve clique brock200_4",
        "solve qap nug12",
    ]
    .into_iter()
    .enumerate()
    {
        for threads in [1, 3] {
            let file = out.join(format!("{nth}-{threads}.cert"));
            let file = file.display();
            let found = json(&format!("{search} --threads {threads} --certificate {file}"));
            let seen = json(&format!("audit {file} --all"));
            assert_eq!(seen["valid"], true, "{search}");
            assert_eq!(seen["explored"], seen["regions"], "{search}");
            if found["status"] == "optimal" {
                assert_eq!(seen["objective"], found["objective"], "{search}");
            }
            assert_eq!(seen["count"], found["count"], "{search}");
            let other = json(&format!("audit {file} --sample 3 --seed 1 --threads 2"));
            assert_eq!(other["nodes"], seen["nodes"], "{search}");
        }
    }
}

/// The tree from the optimum is the same however it is cut into regions.
#[test]
fn counts_are_those_of_a_search_from_the_optimum() {
    let file = folder("certificates").join("exact.cert");
    let file = file.display();
    json(&format!("solve flowshop ta005 --best optimum --certificate {file}"));
    let whole = json("solve flowshop ta005 --best optimum --bound one --threads 1");
    assert_eq!(json(&format!("audit {file}"))["nodes"]["bounded"], whole["nodes"]["bounded"]);
}

#[test]
fn a_bound_that_some_reader_would_round_is_a_string() {
    let file = folder("certificates").join("large.cert");
    let file = file.display();
    let best = "9007199254740993";
    let found = json(&format!("solve clique c-fat200-1 --best {best} --certificate {file}"));
    assert_eq!(found["lower_bound"], best);
    assert_eq!(json(&format!("audit {file}"))["bound"], best);
}

#[test]
fn files_that_are_no_certificates_are_refused() {
    let out = folder("certificates-refused");
    let (file, other) = (out.join("q.cert"), out.join("other"));
    json(&format!("count queens 9 --certificate {}", file.display()));
    let good = fs::read(&file).unwrap();
    for (bytes, said) in [
        (&good[..good.len() / 2], "its length is wrong"),
        (b"mine", "it was not written by pleach"),
        (&[&good[..300], &[good[300] ^ 1], &good[301..]].concat()[..], "it is damaged"),
    ] {
        fs::write(&other, bytes).unwrap();
        refused(&format!("audit {}", other.display()), said);
    }
    let file = file.display();
    refused("audit", "audit: expected FILE");
    refused("audit /nowhere.cert", "cannot audit /nowhere.cert: No such file");
    refused("audit /dev/zero", "cannot audit /dev/zero: expected a regular file");
    refused(&format!("audit {file} --all --sample 3"), "--all and --sample contradict each other");
    refused(&format!("audit {file} --all --seed 3"), "--all and --seed contradict each other");
    refused(&format!("audit {file} --best 3"), "--best does not apply to 'audit'");
    refused(&format!("resume {file}"), "cannot resume");
    refused(&format!("solve atsp ftv33 --certificate {file}"), "does not apply to 'solve atsp'");
    let key = out.join("unused.key");
    let listening = format!("--listen 127.0.0.1:0 --key {}", key.display());
    refused(&format!("count queens 8 --certificate {file} {listening}"), "single process");
    assert!(!key.exists());
    refused(
        &format!("count queens 9 --nodes interval --certificate {file}"),
        "--certificate needs open nodes",
    );
    refused(
        &format!("solve flowshop ta001 --objective flow-time --certificate {file}"),
        "--certificate works only with the objective makespan",
    );
    refused(
        &format!("solve flowshop ta001 --bound auto --certificate {file}"),
        "needs another bound",
    );
    refused(&format!("solve flowshop ta001 --all --certificate {file}"), "one optimal schedule");
    refused(
        &format!("solve flowshop ta001 --solution {file} --certificate {file}"),
        "is the same file as",
    );
    // A search without a proof leaves a file as it was.
    let stopped = pleach(&format!("count queens 17 --node-limit 1000 --certificate {file}"));
    assert_eq!(stopped.status.code(), Some(3));
    let said = String::from_utf8(stopped.stderr).unwrap();
    assert!(said.contains("there is no complete proof, so"), "{said}");
    assert_eq!(json(&format!("audit {file}"))["valid"], true);
}

/// The error used to say that the file holds "another search", and should be removed.
#[test]
fn a_saved_search_with_the_bound_auto_gets_no_certificate() {
    let [saved, file] = ["auto.pleach", "auto.cert"].map(|name| fresh("certificates-saved", name));
    let [saved, file] = [saved, file].map(|path| path.display().to_string());
    let words = format!("solve flowshop VFR10_5_1 --devices cpu --checkpoint {saved}");
    json(&words);
    for words in [words, format!("resume {saved}")] {
        refused(&format!("{words} --certificate {file}"), "bound auto depends on time");
    }
    assert!(!Path::new(&file).exists());
}

/// What a file says about its search is no more to be trusted than its regions.
#[test]
fn a_certificate_of_another_question_is_refused() {
    let out = folder("certificates-question");
    let (shop, file, forged) = (out.join("shop.txt"), out.join("shop.cert"), out.join("forged"));
    fs::write(&shop, "3 2\n1 2\n4 5\n3 1\n").unwrap();
    let [shop, file] = [shop, file].map(|path| path.display().to_string());
    json(&format!("solve flowshop {shop} --jobs-first --certificate {file}"));
    let seen = json(&format!("audit {file}"));
    assert_eq!(seen["flags"], serde_json::json!(["--jobs-first"]));
    let text = String::from_utf8(pleach(&format!("audit {file}")).stdout).unwrap();
    assert!(text.starts_with(&format!("flowshop {shop} --jobs-first: the optimum is ")), "{text}");

    // Flags that concerned only the first run are no obstacle.
    let (saved, other) = (out.join("shop.pleach"), out.join("saved.cert"));
    let _ = fs::remove_file(&saved);
    let [saved, other] = [saved, other].map(|path| path.display().to_string());
    let words = format!("{shop} --jobs-first --checkpoint {saved} --every 10s --seed 3 --quiet");
    json(&format!("solve flowshop {words} --certificate {other}"));
    assert_eq!(json(&format!("audit {other}"))["valid"], true);

    let good = Certificate::from_bytes(&fs::read(&file).unwrap()).unwrap();
    let about: serde_json::Value = serde_json::from_str(&good.search.about).unwrap();
    let first =
        serde_json::json!({ "branched": 0, "bounded": 0, "depth": 0, "elapsed_ns": 0, "best": 9 });
    for (flags, first, said) in [
        (vec![], Some(first), "one optimal schedule, not all"),
        (vec!["--all"], None, "one optimal schedule, not all"),
        (vec!["--objective=flow-time"], None, "works only with the objective makespan"),
        (vec!["--nodes=interval"], None, "needs open nodes"),
        (vec!["--peers=3"], None, "--peers does not apply to 'solve flowshop'"),
    ] {
        let mut about = about.clone();
        about["flags"] = [&["--jobs-first"], &flags[..]].concat().into();
        if let Some(first) = first {
            about["state"]["first"] = first;
        }
        let mut other = good.clone();
        other.search.about = about.to_string();
        fs::write(&forged, other.to_bytes()).unwrap();
        refused(&format!("audit {} --all", forged.display()), said);
    }
}

/// Orders of items whose costs depend on their places.
struct Orders;

impl Tree for Orders {
    type Node = Vec<u8>;
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> Vec<u8> {
        Vec::new()
    }

    fn expand(&self, order: &Vec<u8>, _: Option<i64>, out: &mut Children<Self>) {
        let cost = cost(order);
        if order.len() == 8 {
            return out.solution(cost, || order.iter().map(|&item| item.into()).collect());
        }
        for item in (0..8).filter(|item| !order.contains(item)) {
            let child = [&order[..], &[item]].concat();
            out.child_within(self::cost(&child), child);
        }
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        let mut sorted = solution.to_vec();
        sorted.sort_unstable();
        if sorted != (0..8).collect::<Vec<i64>>() {
            return Some(Err("not every item once".into()));
        }
        Some(Ok(cost(&solution.iter().map(|&item| item as u8).collect::<Vec<u8>>())))
    }
}

fn cost(order: &[u8]) -> i64 {
    let at = |(place, &item): (usize, &u8)| (place as i64 * 7 + i64::from(item) * 5) % 11;
    order.iter().enumerate().map(at).sum::<i64>()
        + order.windows(2).map(|two| i64::from(two[0] ^ two[1])).sum::<i64>()
}

#[test]
fn no_forged_certificate_passes() {
    let report = Solver::new(Orders).threads(2).certify().run().unwrap();
    let good = *report.certificate.unwrap();
    let bytes = good.to_bytes();
    assert_eq!(Certificate::from_bytes(&bytes).unwrap(), good);
    let fine = audit(Orders, &good, Sample::All).unwrap();
    assert_eq!((fine.objective, fine.explored), (report.objective, good.regions.len()));
    assert!(good.regions.len() > 2, "{}", good.regions.len());
    let refused = |what: &str, forge: &dyn Fn(&mut Certificate), said: &str| {
        let mut forged = good.clone();
        forge(&mut forged);
        assert_ne!(forged, good, "{what}");
        match audit(Orders, &forged, Sample::All) {
            Err(NoProof::Wrong(why)) => assert!(why.contains(said), "{what}: {why}"),
            other => panic!("{what}: {other:?}"),
        }
    };
    let last = good.regions.len() - 1;
    for region in 0..=last {
        refused(
            "a region is missing",
            &|forged| {
                let gone = forged.regions.remove(region).counts;
                forged.search.counts = forged.search.counts.without(&gone).unwrap();
            },
            "at which",
        );
        refused(
            "a region is there twice",
            &|forged| {
                let again = forged.regions[region].clone();
                forged.search.counts.add(&again.counts);
                forged.regions.push(again);
            },
            "at which",
        );
        refused(
            "a count is wrong",
            &|forged| {
                forged.regions[region].counts.bounded += 1;
                forged.search.counts.bounded += 1;
            },
            "it has",
        );
    }
    // The message used to name the nodes, which do not differ.
    let branched = good.search.counts.branched;
    let said = format!("regions have {branched} branched nodes, not {}", branched + 1);
    refused("counts do not add up", &|forged| forged.search.counts.branched += 1, &said);
    refused(
        "nothing was explored",
        &|forged| forged.regions.clear(),
        "no region begins at 1 node at",
    );
    refused(
        "the root alone, never explored",
        &|forged| {
            forged.regions.truncate(1);
            forged.regions[0].ends.clear();
            forged.search.counts = forged.regions[0].counts.clone();
        },
        "",
    );
    refused(
        "a node is left out of where a region ends, and of where the next begins",
        &|forged| {
            let region = forged.regions.iter_mut().find(|region| !region.ends.is_empty()).unwrap();
            let gone = region.ends.pop().unwrap();
            forged.regions.retain(|region| !region.begins.contains(&gone));
        },
        "",
    );
    refused(
        "the optimum is a worse one",
        &|forged| {
            let solution = forged.search.solution.as_mut().unwrap();
            solution.solution.swap(0, 1);
        },
        "its solution has the value",
    );
    refused(
        "a value that nothing beats, so that every tree ends at its root",
        &|forged| {
            forged.search.best = i64::MIN;
            forged.search.solution = None;
            forged.search.counts = Default::default();
            forged.regions.retain(|region| region.begins == good.regions[0].begins);
            forged.regions[0].ends.clear();
            forged.regions[0].counts = Default::default();
        },
        "it rules nothing out",
    );
    refused("another tree", &|forged| forged.search.fingerprint ^= 1, "another tree");
    refused(
        "a better optimum than there is",
        &|forged| {
            forged.search.best -= 1;
            forged.search.solution = None;
        },
        "",
    );
    refused(
        "a worse bound than was proven",
        &|forged| {
            forged.search.best += 1;
            forged.search.solution = None;
        },
        "",
    );
}

/// Triples of digits below 3, counted. A node adds one child and the rest of itself, which is no node of its own.
struct Triples;

impl Tree for Triples {
    type Node = (u8, u8);
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> (u8, u8) {
        (0, 0)
    }

    fn expand(&self, &(depth, from): &(u8, u8), _: Option<i64>, out: &mut Children<Self>) {
        if depth == 2 {
            // The last digits are counted without a node.
            out.count(1);
        } else {
            out.child((depth + 1, 0));
        }
        if from < 2 {
            out.child((depth, from + 1));
        }
    }

    fn weight(&self, &(_, from): &(u8, u8)) -> u64 {
        (from == 0).into()
    }
}

/// Rests of nodes have no key, so what they count used to be neither missed nor noticed where it was too much.
#[test]
fn what_rests_of_nodes_count_cannot_be_forged() {
    let report = Solver::new(Triples).threads(2).certify().run().unwrap();
    assert_eq!(report.count, 27);
    let good = *report.certificate.unwrap();
    assert_eq!(audit(Triples, &good, Sample::All).unwrap().counts.total, 27);
    let entry = |node: (u8, u8)| Entry { bound: i64::MIN, depth: 3, share: 0.0, node };
    let rest = Pool::new(vec![entry((2, 1))]).to_work().bytes;
    let forged = |times: usize, begins: bool| {
        let mut forged = good.clone();
        let mut region = Region {
            begins: vec![Pool::whole(Triples.root()).to_work().bytes],
            ..Region::default()
        };
        let list = if begins { &mut region.begins } else { &mut region.ends };
        list.extend(std::iter::repeat_n(rest.clone(), times));
        let walk = pleach_core::search::region::walk(&Triples, &region, i64::MAX, &|| true);
        region.counts = walk.unwrap().unwrap().counts;
        forged.search.counts = region.counts.clone();
        forged.regions = vec![region];
        forged
    };
    assert_eq!(audit(Triples, &forged(0, false), Sample::All).unwrap().counts.total, 27);
    for (times, begins, total) in [(9, false, 9), (1, false, 25), (5, true, 37)] {
        let forged = forged(times, begins);
        assert_eq!(forged.search.counts.total, total);
        let why = audit(Triples, &forged, Sample::All).unwrap_err().to_string();
        assert!(why.contains("partly explored nodes"), "{why}");
    }
}

/// What cannot be checked is not called an optimum.
#[test]
fn a_solution_without_a_check_proves_nothing() {
    struct Unchecked;
    impl Tree for Unchecked {
        type Node = Vec<u8>;
        const GOAL: Goal = Goal::Minimise;
        fn root(&self) -> Vec<u8> {
            Orders.root()
        }
        fn expand(&self, order: &Vec<u8>, _: Option<i64>, out: &mut Children<Self>) {
            let cost = cost(order);
            if order.len() == 8 {
                return out.solution(cost, Vec::new);
            }
            for item in (0..8).filter(|item| !order.contains(item)) {
                let child = [&order[..], &[item]].concat();
                out.child_within(self::cost(&child), child);
            }
        }
    }
    let optimum = Solver::new(Orders).run().unwrap().objective.unwrap();
    let report = Solver::new(Unchecked).best(optimum - 1).certify().run().unwrap();
    let mut forged = *report.certificate.unwrap();
    let honest = audit(Unchecked, &forged, Sample::All).unwrap();
    assert_eq!((honest.objective, honest.bound), (None, Some(optimum - 1)));
    forged.search.solution = Some(Goal::Minimise.solution(optimum - 1, Vec::new()));
    assert_eq!(audit(Unchecked, &forged, Sample::All).unwrap(), honest);
}

/// A program in another language, without vectors or an engine, agrees.
#[test]
fn a_simple_program_checks_small_proofs_whole() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: python3 not found");
        return;
    }
    let out = folder("certificates-simple");
    let (shop, file) = (out.join("shop.txt"), out.join("shop.cert"));
    let mut state = 5u64;
    let mut rows = String::from("9 5\n");
    for _ in 0..5 {
        let row = (0..9).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) % 99 + 1
        });
        rows += &(row.map(|time| time.to_string()).collect::<Vec<_>>().join(" ") + "\n");
    }
    fs::write(&shop, rows).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ci/check-certificate.py");
    let check = || output_of(Command::new("python3").arg(&script).args([&shop, &file]));
    for best in ["none", "search"] {
        let (shop, file) = (shop.display(), file.display());
        let found = json(&format!("solve flowshop {shop} --best {best} --certificate {file}"));
        let said = check();
        let (text, errors) = (said.stdout, String::from_utf8_lossy(&said.stderr).into_owned());
        let wanted = format!("the optimum is {}:", found["objective"]);
        assert!(String::from_utf8(text).unwrap().starts_with(&wanted), "{errors}");
    }
    // A forged one: a region less.
    let mut forged = Certificate::from_bytes(&fs::read(&file).unwrap()).unwrap();
    let gone = forged.regions.pop().unwrap().counts;
    forged.search.counts = forged.search.counts.without(&gone).unwrap();
    fs::write(&file, forged.to_bytes()).unwrap();
    let said = check();
    assert!(!said.status.success());
    assert!(String::from_utf8(said.stderr).unwrap().contains("regions do not fit together"));
}

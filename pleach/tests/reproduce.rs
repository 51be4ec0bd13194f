//! `pleach reproduce` from outside: what it runs, what it keeps, and what it prints.

use crate::outside::{folder, json, pleach, refused};
use std::fs;

#[test]
fn figures_are_listed() {
    let list = String::from_utf8(pleach("reproduce").stdout).unwrap();
    for id in ["A-fig2-left", "B-tab1", "C-fig3", "D-fig7", "E-idle", "H-qap"] {
        assert!(list.lines().any(|line| line.starts_with(id)), "{id}: {list}");
    }
}

/// Finished runs are not repeated, except for a lost row, and the page is the same.
#[test]
fn runs_continue_where_they_stopped() {
    let out = folder("reproduce");
    let _ = fs::remove_dir_all(&out);
    let words = format!("reproduce G-scaling --quick --out {}", out.display());
    let first = json(&words);
    let figure = &first["figures"][0];
    assert_eq!((figure["id"].as_str(), figure["quick"].as_bool()), (Some("G-scaling"), Some(true)));
    assert!(figure["verdict"].as_str().unwrap().contains("reproduced"), "{}", figure["verdict"]);
    let rows = out.join("rows/G-scaling.quick.jsonl");
    let before = fs::read_to_string(&rows).unwrap();
    assert!(before.contains("\"commit\"") && before.contains("\"processor\""));
    // The last row is torn, as by a loss of power.
    fs::write(&rows, &before[..before.len() - 30]).unwrap();
    let second = json(&words);
    assert_eq!(first["figures"], second["figures"]);
    let after = fs::read_to_string(&rows).unwrap();
    assert_eq!(after.lines().count(), before.lines().count());
    let kept = before.lines().count() - 1;
    assert!(before.lines().take(kept).eq(after.lines().take(kept)), "rows were run again");
    assert_eq!(json(&words)["figures"], second["figures"], "the same command again");
    assert_eq!(fs::read_to_string(&rows).unwrap(), after);
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    for part in
        ["G-scaling", "verdict", "<svg", "Instead of the paper's", "pleach reproduce C-fig3"]
    {
        assert!(page.contains(part), "{part}");
    }
    let network = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!network.contains("http"), "the page needs a network");
}

/// Sizes of trees do not depend on the machine: their claims hold everywhere.
#[test]
fn published_trees_are_reproduced() {
    let out = folder("reproduce-trees");
    let all = json(&format!("reproduce F-trees H-trees --quick --out {}", out.display()));
    for figure in all["figures"].as_array().unwrap() {
        assert_eq!(figure["verdict"], "reproduced", "{figure}");
        for claim in figure["claims"].as_array().unwrap() {
            assert_eq!(claim["holds"], claim["points"], "{claim}");
        }
    }
}

#[test]
fn a_mistake_is_one_line() {
    refused("reproduce C-fig33", "reproduce C-fig33: expected all, or some of A-fig2-left");
    refused("reproduce --columns 3", "--columns does not apply to 'reproduce'");
    refused("solve queens 8 --quick", "--quick does not apply");
    refused("reproduce C-fig3 --out /dev/null/x", "--out /dev/null/x");
    let out = folder("reproduce-foreign");
    fs::create_dir_all(out.join("rows")).unwrap();
    fs::write(out.join("rows/E-idle.quick.jsonl"), "mine\n").unwrap();
    refused(
        &format!("reproduce E-idle --quick --out {}", out.display()),
        "E-idle.quick.jsonl, line 1: expected a row",
    );
    assert_eq!(fs::read_to_string(out.join("rows/E-idle.quick.jsonl")).unwrap(), "mine\n");
}

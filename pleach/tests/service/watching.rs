//! How jobs end, and what their watchers see.

use super::harness::Service;
use super::refusal;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// A reader that closed the pipe used to leave `watch` running.
#[test]
fn watching_ends_with_its_reader() {
    let service = Service::start("service-watch", "");
    service.text("operator", "user ann");
    let id = service.submit("ann", "solve flowshop ta056");
    let mut watch = Command::new(env!("CARGO_BIN_EXE_pleach"))
        .args(["watch", &id.to_string(), "--service"])
        .arg(service.file("ann"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(watch.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("thread"), "{line}");
    assert_eq!(watch.wait().unwrap().code(), Some(3));
    service.text("ann", &format!("cancel {id}"));
}

/// A search whose time was over within its layers used to begin again and again.
#[test]
fn a_time_limit_ends_a_search_by_layers() {
    let service = Service::start("service-layers", "");
    service.text("operator", "user ann");
    let words = "solve flowshop ta031 --objective flow-time --best neh --time-limit 1s";
    let id = service.submit("ann", words);
    assert_eq!(service.result(id)["stopped_by"], "time-limit");
}

/// Files that a killed root had not yet written used to be missing for good.
#[test]
fn a_result_counts_only_with_the_files_of_its_command() {
    let mut service = Service::start("service-outputs", "--roots 1");
    service.text("operator", "user ann");
    let first = service.submit("ann", "count uts T3 --pace 1000");
    service.until(first, |job| job.search.is_some());
    let search = "solve flowshop ta001 --gantt plan.svg";
    let ids = [search, search, "loop spmm fem:900 --seed 1"].map(|it| service.submit("ann", it));
    service.end();
    // As if the roots of the jobs had been killed after they had printed a result.
    let left = json!({ "status": "optimal", "objective": 1 });
    let folder = |id: u64| service.folder.join(format!("data/jobs/{id}"));
    for id in ids {
        fs::create_dir_all(folder(id)).unwrap();
        fs::write(folder(id).join("result.json"), format!("{left}\n")).unwrap();
    }
    fs::write(folder(ids[1]).join("plan.svg"), "<svg/>").unwrap();
    let plan = folder(ids[0]).join("plan.svg");
    service.begin();
    service.text("ann", &format!("cancel {first}"));
    let results: [Value; 3] = ids.map(|id| service.result(id));
    assert_eq!(results[0]["objective"], 1278);
    assert!(fs::read_to_string(plan).unwrap().starts_with("<svg"));
    assert_eq!(results[1], left);
    assert_ne!(results[2], left);
    // A report refuses this result: no fault of the machine.
    let report = service.client("ann").get_text(&format!("/v1/jobs/{}/report", ids[1]));
    assert_eq!(refusal(report).0, 409);
}

/// A job that was cancelled just before the service was killed used to keep its checkpoint and its key.
#[test]
fn nothing_internal_stays_of_a_job_that_was_cancelled_before_a_kill() {
    let mut service = Service::start("service-leftover", "");
    service.text("operator", "user ann");
    let id = service.submit("ann", "count uts T3 --pace 1000");
    service.until(id, |job| job.search.is_some());
    let mut ann = service.client("ann");
    let _: Value = ann.post(&format!("/v1/jobs/{id}/cancel"), &json!({})).unwrap();
    service.kill();
    service.begin();
    let folder = service.folder.join(format!("data/jobs/{id}"));
    for name in ["search.pleach", "search.key", "result.json"] {
        while folder.join(name).exists() {
            sleep(Duration::from_millis(20));
        }
    }
}

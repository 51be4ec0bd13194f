//! How jobs end, and what their watchers see.

use super::harness::{Process, Service};
use super::refusal;
use crate::outside::{end_of, guarded, until};
use pleach_serve::api::JobState;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

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
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let first = guarded(watch.id(), || lines.next());
    assert!(first.is_some_and(|line| line.unwrap().contains("thread")));
    drop(lines);
    assert_eq!(end_of(watch).status.code(), Some(3));
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

/// Files that a killed root had not yet written used to be missing for good; and a search without a solution, which has
/// none to write, ran again.
#[test]
fn a_result_counts_only_with_the_files_of_its_command() {
    let mut service = Service::start("service-outputs", "--roots 1");
    service.text("operator", "user ann");
    let first = service.submit("ann", "count uts T3 --pace 1000");
    service.until(first, |job| job.search.is_some());
    let search = "solve flowshop ta001 --gantt plan.svg";
    let ids = [search, search, "loop spmm fem:900 --seed 1", search];
    let ids = ids.map(|words| service.submit("ann", words));
    service.end();
    // As if the roots of the jobs had been killed after they had printed a result.
    let left = json!({ "status": "optimal", "objective": 1, "solution": [1] });
    let none = json!({ "status": "infeasible", "objective": null, "solution": null });
    let folder = |id: u64| service.folder.join(format!("data/jobs/{id}"));
    for (id, left) in ids.into_iter().zip([&left, &left, &left, &none]) {
        fs::create_dir_all(folder(id)).unwrap();
        fs::write(folder(id).join("result.json"), format!("{left}\n")).unwrap();
    }
    fs::write(folder(ids[1]).join("plan.svg"), "<svg/>").unwrap();
    let plan = folder(ids[0]).join("plan.svg");
    service.begin();
    service.text("ann", &format!("cancel {first}"));
    let results: [Value; 4] = ids.map(|id| service.result(id));
    assert_eq!(results[0]["objective"], 1278);
    assert!(fs::read_to_string(plan).unwrap().starts_with("<svg"));
    assert_eq!(results[1], left);
    assert_ne!(results[2], left);
    assert_eq!(results[3], none);
    // A report refuses this result: no fault of the machine.
    let report = service.client("ann").get_text(&format!("/v1/jobs/{}/report", ids[1]));
    assert_eq!(refusal(report).0, 409);
}

/// What a service that was killed had not yet removed used to stay if the next one was killed as well, or if a job was
/// cancelled before the root of an earlier service had ended.
#[test]
fn nothing_internal_stays_of_jobs_that_are_over() {
    let mut service = Service::start("service-leftover", "");
    service.text("operator", "user ann");
    fs::write(service.folder.join("wrong.txt"), "5 2\n3 5\n").unwrap();
    let failed = service.submit("ann", "solve flowshop wrong.txt");
    service.until(failed, |job| job.state == JobState::Failed);
    let why = service.refused("ann", &format!("watch {failed}"));
    assert!(why.contains(&format!("job {failed} failed: wrong.txt")), "{why}");
    let slow = "count uts T3 --pace 1000";
    let [cancelled, open] = [slow, slow].map(|words| service.submit("ann", words));
    service.text("ann", &format!("cancel {cancelled}"));
    service.end();
    // As if services had been killed, and the roots of two jobs were still saving.
    let jobs = service.folder.join("data/jobs");
    let files = |id: u64| {
        ["search.key", "result.json", "search.pleach"]
            .map(|name| jobs.join(id.to_string()).join(name))
    };
    for id in [failed, cancelled, open] {
        fs::create_dir_all(jobs.join(id.to_string())).unwrap();
        for file in files(id) {
            fs::write(file, "").unwrap();
        }
    }
    let saving = [cancelled, open].map(|id| {
        let output = File::create(&files(id)[1]).unwrap();
        output.lock().unwrap();
        output
    });
    service.begin();
    service.text("ann", &format!("cancel {open}"));
    until("its end", || service.job(open).ended.is_some());
    fs::write(&files(open)[2], "").unwrap();
    let gone = |files: &[PathBuf]| {
        until("the end of files", || !files.iter().any(|file| file.exists()));
    };
    gone(&files(failed)[..2]);
    assert!(files(failed)[2].exists(), "what failed may be resumed by hand");
    for id in [cancelled, open] {
        assert!(files(id)[1..].iter().all(|file| file.exists()), "job {id} is being saved");
    }
    drop(saving);
    gone(&files(cancelled));
    gone(&files(open));
}

/// A joiner of a service used to take these flags, and to write neither log nor metrics.
#[test]
fn a_joiner_writes_its_log_and_refuses_what_it_does_not_write() {
    let service = Service::start("service-log", "");
    service.text("operator", "user ann");
    let key = service.file("joiners").display().to_string();
    for (flag, said) in [
        ("--metrics m", "has no effect"),
        ("--json", "has no effect"),
        (&format!("--log {key}"), "same file"),
    ] {
        let words = format!("join 127.0.0.1:1 --patience 1s --key {key} {flag}");
        let got = service.refused("operator", &words);
        assert!(got.contains(said), "{flag}: {got}");
    }
    let id = service.submit("ann", "count uts T3 --pace 1000");
    let log = service.folder.join("join.log");
    let child = Command::new(env!("CARGO_BIN_EXE_pleach"))
        .args(["join", &service.address, "--threads", "1", "--key", &key, "--log"])
        .arg(&log)
        .stderr(Stdio::null())
        .spawn();
    let mut joiner = Process(child.unwrap());
    service.until(id, |job| job.search.as_ref().is_some_and(|search| search.workers > 1));
    let number = joiner.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &number]).status().unwrap().success());
    until("the end of the joiner", || joiner.0.try_wait().unwrap().is_some());
    assert_eq!(joiner.0.wait().unwrap().code(), Some(3));
    let text = fs::read_to_string(log).unwrap();
    for said in ["left the service", &format!("serving job {id}")] {
        assert!(text.contains(said), "{text}");
    }
    service.text("ann", &format!("cancel {id}"));
}

/// A full disk used to count as bad usage, and the former file was lost.
#[test]
fn a_fetched_file_replaces_another_one_only_as_a_whole() {
    let service = Service::start("service-fetch", "");
    service.text("operator", "user ann");
    fs::write(service.folder.join("shop.txt"), "2 2\n1 2\n3 4\n").unwrap();
    let id = service.submit("ann", "solve flowshop shop.txt");
    service.result(id);
    fs::create_dir(service.folder.join("got")).unwrap();
    std::os::unix::fs::symlink("/dev/full", service.folder.join("got/shop.txt")).unwrap();
    let output = service.run("ann", &format!("result {id} --fetch got"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot write got/shop.txt"), "{said}");
    // A file that is too long used to be fetched twice in part, and the service seemed to be out of reach.
    let file = service.folder.join(format!("data/jobs/{id}/shop.txt"));
    File::options().write(true).open(file).unwrap().set_len((1 << 30) + 1).unwrap();
    let output = service.run("ann", &format!("result {id} --fetch other"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("it takes 1073741825 bytes: expected at most"), "{said}");
}

/// Reports used to look for instances in the folder where the service was started.
#[test]
fn a_report_draws_the_schedule_of_a_file_that_was_sent() {
    let service = Service::start("service-report", "");
    service.text("operator", "user ann");
    let shop = service.folder.join("shop.txt");
    fs::write(&shop, "2 2\n1 2\n3 4\n").unwrap();
    let id = service.submit("ann", "solve flowshop shop.txt");
    service.result(id);
    fs::remove_file(shop).unwrap();
    let page = service.client("ann").get_text(&format!("/v1/jobs/{id}/report")).unwrap();
    let html = String::from_utf8(page).unwrap();
    assert!(html.contains("<svg") && !html.contains("The schedule cannot be drawn"), "{html}");
}

/// The command used to end without the number of the job.
#[test]
fn a_job_continues_when_nobody_waits_for_it() {
    let service = Service::start("service-wait", "");
    service.text("operator", "user ann");
    let mut child = Command::new(env!("CARGO_BIN_EXE_pleach"))
        .args(["submit", "count", "uts", "T3", "--pace", "1000", "--wait", "--service"])
        .arg(service.file("ann"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut operator = service.client("operator");
    until("the job", || {
        assert!(child.try_wait().unwrap().is_none(), "the submission has ended");
        operator.job(1).is_ok()
    });
    let number = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &number]).status().unwrap().success());
    let output = end_of(child);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("job 1 continues; to follow it: pleach watch 1"), "{said}");
    service.text("ann", "cancel 1");
}

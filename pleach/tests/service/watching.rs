//! How jobs end, and what their watchers see.

use super::harness::Service;
use std::io::{BufRead, BufReader};
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

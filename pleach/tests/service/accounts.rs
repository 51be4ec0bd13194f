//! What one account may take, hide or change.

use super::harness::Service;
use super::refusal;
use crate::outside::until;
use pleach_serve::api::{Assignments, JobState, JobView, JoinerReport};
use pleach_serve::credentials::Credentials;
use pleach_serve::joiner::{JoinerEnd, Settings, serve};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread::spawn;
use std::time::Duration;

/// What a user has is not hidden by the jobs of others, and not more than a limit.
#[test]
fn many_jobs_hide_none_of_another_user() {
    let service = Service::start("service-many", "--roots 1");
    for user in ["ann", "bob --most-files 20000"] {
        service.text("operator", &format!("user {user}"));
    }
    let first = service.submit("ann", "count uts T3 --pace 1000");
    service.until(first, |job| job.search.is_some());
    let one = json!({ "args": ["count", "queens", "8"] });
    let many = json!({ "jobs": vec![one.clone(); 300] });
    let mut ann = service.client("ann");
    let ids: Value = ann.post("/v1/jobs", &many).unwrap();
    assert_eq!(ids["ids"].as_array().unwrap().len(), 300);
    let bob = service.submit("bob", "count queens 6");
    let seen: Value = service.client("bob").get("/v1/jobs").unwrap();
    let jobs = seen["jobs"].as_array().unwrap();
    assert!(jobs.iter().any(|job| job["id"] == bob), "{bob}");
    assert!(jobs.len() < 300);
    // A file counts at once, and an empty one counts as well.
    let with = |files: usize| {
        let files: serde_json::Map<String, Value> =
            (0..files).map(|n| (format!("f{n}"), json!(""))).collect();
        json!({ "args": ["count", "queens", "8"], "files": files })
    };
    let mut bob = service.client("bob");
    let (status, said) = refusal(bob.post::<Value>("/v1/jobs", &with(1001)));
    assert_eq!((status, said.as_str()), (400, "expected at most 1000 files of a job"));
    assert!(refusal(bob.post::<Value>("/v1/jobs", &with(5))).1.contains("at most 20000 together"));
    let _: Value = bob.post("/v1/jobs", &with(3)).unwrap();
    assert!(refusal(bob.post::<Value>("/v1/jobs", &with(3))).1.contains("at most 20000 together"));
    // What is wrong with a submission is said.
    for (sent, said) in [
        (json!({ "args": ["count", "queens", "8"], "prio": 3 }), "unknown field `prio`"),
        (json!({ "jobs": [one, 0] }), "invalid type: integer `0`"),
        (
            json!({ "args": [], "priority": 3_000_000_000_u32 }),
            "invalid value: integer `3000000000`",
        ),
        (json!({ "jobs": [], "args": [] }), "unknown field `args`"),
        (json!({ "args": ["count"], "key": "k".repeat(201) }), "201 bytes: expected at most 200"),
        (json!({ "args": vec!["x".repeat(9000); 8] }), "together at most 65536"),
    ] {
        let (status, why) = refusal(bob.post::<Value>("/v1/jobs", &sent));
        assert!(status == 400 && why.contains(said), "{sent}: {status} {why}");
    }
    let long = "x".repeat(65 << 20);
    let (status, why) = refusal(bob.post::<Value>("/v1/jobs", &json!({ "args": [long] })));
    assert!(status == 413 && why.contains("expected at most 67108864"), "{why}");
}

/// Accounts change only where nothing depends on them, and an account that is gone sees nothing more.
#[test]
fn accounts_that_are_gone_stay_gone() {
    let mut service = Service::start("service-gone", "");
    for user in ["ann", "eve --role operator"] {
        service.text("operator", &format!("user {user}"));
    }
    assert!(service.refused("operator", "user operator --role user").contains("your own role"));
    let job = service.submit("ann", "count uts T3 --pace 1000");
    assert!(service.refused("operator", "user ann --role joiner").contains("unfinished jobs"));
    // A misspelt name used to get an account.
    assert!(service.refused("operator", "user an --renew").contains("there is no user 'an'"));
    let lost = service.refused("operator", "user ann --renew --out nowhere/ann.service");
    assert!(lost.contains("--out nowhere/ann.service: No such file"), "{lost}");
    service.text("ann", "jobs");
    // The stream of an account ends with it, at the next change.
    let mut watching = service.client("eve");
    let (mut operator, mut seen) = (Some(service.client("operator")), false);
    watching
        .watch(job, &mut |state: Option<&JobView>| {
            let Some(state) = state else { return true };
            assert_eq!(state.priority, 0, "eve sees what came later");
            seen = true;
            if let Some(mut operator) = operator.take() {
                let _: Value = operator.delete("/v1/users/eve").unwrap();
                let urgent = json!({ "priority": 7 });
                let at = format!("/v1/jobs/{job}/priority");
                let _: Value = operator.post(&at, &urgent).unwrap();
            }
            true
        })
        .unwrap_err();
    assert!(seen);
    // An operator that was removed is not made again while there is another one.
    service.text("operator", "user max --role operator");
    let mut max = service.client("max");
    let _: Value = max.post(&format!("/v1/jobs/{job}/cancel"), &json!({})).unwrap();
    service.until(job, |job| job.state == JobState::Cancelled);
    let _: Value = max.delete("/v1/users/operator").unwrap();
    fs::remove_file(service.file("operator")).unwrap();
    service.end();
    service.begin();
    let users: Value = service.client("max").get("/v1/users").unwrap();
    assert!(users["users"].as_array().unwrap().iter().all(|it| it["name"] != "operator"));
    assert!(!service.file("operator").exists());
}

/// The files that a service writes used to name the address of its first start.
#[test]
fn a_service_at_another_address_names_it_in_its_files() {
    let mut service = Service::start("service-moved", "");
    let token = service.client("operator").credentials().token.clone();
    service.end();
    service.address = "127.0.0.1:0".into();
    service.begin();
    for name in ["operator", "joiners"] {
        assert_eq!(Credentials::read(&service.file(name)).unwrap().address, service.address);
    }
    assert_eq!(service.client("operator").credentials().token, token);
    assert_eq!(service.text("operator", "jobs").trim(), "no jobs");
}

/// The files of the database that was removed used to stay, and nobody had an account.
#[test]
fn a_new_database_has_new_credentials() {
    let mut service = Service::start("service-new-database", "");
    let token = service.client("operator").credentials().token.clone();
    service.end();
    for name in ["service.sqlite", "service.sqlite-wal", "service.sqlite-shm"] {
        // The last two exist only if the service was killed.
        let _ = fs::remove_file(service.folder.join("data").join(name));
    }
    service.begin();
    assert_ne!(service.client("operator").credentials().token, token);
    assert_eq!(service.text("operator", "jobs").trim(), "no jobs");
    assert_eq!(service.client("joiners").get::<Value>("/v1/session").unwrap()["role"], "joiner");
}

/// The key of a search used to be the same for good, so that a joiner whose account was removed could still join.
#[test]
fn each_start_of_a_search_has_a_new_key() {
    let service = Service::start("service-new-key", "");
    service.text("operator", "user ann");
    let id = service.submit("ann", "count uts T3 --pace 1000");
    let report = JoinerReport {
        name: "x".into(),
        threads: 1,
        build: service.build(),
        ..JoinerReport::default()
    };
    let mut joiner = service.client("joiners");
    let mut order_after = |run: u64| {
        let mut order = None;
        until("an order", || {
            let orders: Assignments = joiner.post("/v1/joiners/orders", &report).unwrap();
            order = orders.order.filter(|order| order.run > run);
            order.is_some()
        });
        order.unwrap()
    };
    let first = order_after(0);
    for verb in ["pause", "continue"] {
        service.text("ann", &format!("{verb} {id}"));
    }
    assert_ne!(order_after(first.run).key, first.key);
    service.text("ann", &format!("cancel {id}"));
}

/// Its last request for orders used to list it again; five seconds later, it was lost.
#[test]
fn a_joiner_that_leaves_does_not_seem_to_come_again() {
    let service = Service::start("service-leaving", "");
    let joiners = || {
        let seen: Value = service.client("operator").get("/v1/joiners").unwrap();
        seen["joiners"].clone()
    };
    let build = service.build();
    // It was asked to leave before or after it sent its request for orders.
    for (name, leaving) in [("x", true), ("y", false)] {
        let mut report = JoinerReport {
            name: name.into(),
            threads: 1,
            build: build.clone(),
            leaving: true,
            ..JoinerReport::default()
        };
        let mut joiner = service.client("joiners");
        let _: Assignments = joiner.post("/v1/joiners/report", &report).unwrap();
        report.leaving = leaving;
        let orders: Assignments = joiner.post("/v1/joiners/orders", &report).unwrap();
        assert!(orders.dismissed, "{name}");
        assert_eq!(joiners(), json!([]), "{name}");
    }
    // The next process of the same name may join.
    let settings = Settings {
        program: "false".into(),
        build,
        name: "x".into(),
        threads: 1,
        flags: Vec::new(),
        patience: Some(Duration::ZERO),
    };
    for _ in 0..2 {
        let is_listed = || joiners() != json!([]);
        let end = serve(service.client("joiners"), &settings, &is_listed, &|_| {}).unwrap();
        assert_eq!((end, joiners()), (JoinerEnd::Left, json!([])));
    }
}

/// A joiner that waited used to get the next job, and its key, after its account was removed.
#[test]
fn joiners_go_with_their_account() {
    let service = Service::start("service-joiners-gone", "");
    for user in ["ann", "bob", "night --role joiner --only-for ann"] {
        service.text("operator", &format!("user {user}"));
    }
    let report = JoinerReport {
        name: "x".into(),
        threads: 1,
        build: service.build(),
        ..JoinerReport::default()
    };
    let joiners = || service.client("operator").get::<Value>("/v1/joiners").unwrap();
    let mut night = service.client("night");
    let waiting = spawn(move || {
        loop {
            night.post::<Assignments>("/v1/joiners/orders", &report)?;
        }
    });
    until("the joiner", || joiners()["joiners"] != json!([]));
    service.text("operator", "user night --only-for bob");
    assert_eq!(joiners()["joiners"][0]["only_for"], "bob");
    // Once set, it used to stay.
    service.text("operator", "user night --only-for none");
    assert_eq!(joiners()["joiners"][0]["only_for"], Value::Null);
    service.text("operator", "user night --remove");
    assert_eq!(joiners()["joiners"], json!([]));
    until("the joiner to be refused", || waiting.is_finished());
    assert_eq!(refusal::<()>(waiting.join().unwrap()).0, 401);
}

/// The message used to name the certificate that the service would have made.
#[test]
fn a_certificate_that_does_not_belong_to_its_key_is_named() {
    let [one, other] = ["service-chain", "service-key"].map(|name| Service::start(name, ""));
    let chain = one.folder.join("data/certificate.pem").display().to_string();
    let key = other.folder.join("data/private-key.pem").display().to_string();
    let files = format!("--tls-certificate {chain} --tls-key {key}");
    let said = one.refused("operator", &format!("serve --listen 127.0.0.1:0 --data y {files}"));
    assert!(said.contains(&format!(" {chain}: ")), "{said}");
}

/// Objects of these commands used to lack what every other one has, and changes of accounts were no objects.
#[test]
fn commands_of_users_print_json() {
    let service = Service::start("service-json", "");
    for (user, words) in [
        ("operator", "user ann"),
        ("operator", "user bob --weight 2"),
        ("operator", "user bob --weight 3"),
        ("operator", "user bob --remove"),
        ("operator", "user"),
        ("ann", "submit count uts T3 --pace 1000"),
        ("ann", "jobs"),
        ("ann", "jobs 1"),
        ("ann", "priority 1 3"),
        ("ann", "cancel 1"),
        ("ann", "submit count queens 6"),
        ("ann", "watch 2"),
    ] {
        let text = service.text(user, &format!("{words} --json"));
        for line in text.lines() {
            let said: Value = serde_json::from_str(line).unwrap();
            for key in ["pleach", "host", "processor", "commit", "date"] {
                assert!(said[key].is_string(), "{words}: {line}");
            }
        }
    }
}

/// Other users of the machine could read the files of jobs where the service's folder existed before the service.
#[test]
fn files_of_jobs_are_closed_to_others_even_in_an_existing_folder() {
    let mut service = Service::start("service-closed", "--threads 1");
    service.end();
    let data = service.folder.join("data");
    fs::remove_dir_all(&data).unwrap();
    fs::create_dir(&data).unwrap();
    service.begin();
    let mode = data.join("jobs").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

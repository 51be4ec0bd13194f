//! The service from outside: users, joiners that move between searches, kills, and requests of all kinds.

mod accounts;
mod harness;
mod watching;

use crate::outside::until;
use harness::{Process, Service};
use oorandom::Rand64;
use pleach_serve::api::{Assignments, JobState, JobView, JoinerReport};
use pleach_serve::client::{Client, ClientError};
use pleach_serve::credentials::Credentials;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::net::TcpStream;

fn refusal<T: std::fmt::Debug>(result: Result<T, ClientError>) -> (u16, String) {
    match result {
        Err(ClientError::Refused { status, why }) => (status, why),
        other => panic!("{other:?}"),
    }
}

/// Joiners move between the searches of two users, some die, and every count is what it is alone.
#[test]
fn joiners_move_between_searches_and_counts_stay_exact() {
    let service = Service::start("service-moves", "--half-life 2 --roots 3");
    service.text("operator", "user ann --weight 1");
    service.text("operator", "user bob --weight 2");
    let mut joiners: Vec<Process> = (0..4).map(|_| service.joiner("--pace 60000")).collect();
    let jobs = [
        ("ann", "count uts T1 --pace 60000", 4_130_071),
        ("bob", "count queens 12 --pace 60000", 0),
        ("bob", "count uts T5 --pace 60000", 4_147_582),
        ("ann", "count queens 11 --pace 60000", 0),
    ];
    let ids: Vec<u64> = jobs.iter().map(|(user, words, _)| service.submit(user, words)).collect();
    // Joiners work for both users.
    service.until(ids[0], |job| job.joiners > 0);
    service.until(ids[2], |job| job.joiners > 0);
    drop(joiners.pop());
    joiners.push(service.joiner("--pace 60000"));
    for (&id, (_, words, nodes)) in ids.iter().zip(&jobs) {
        let result = service.result(id);
        let solutions = if words.contains("queens 12") { 14_200 } else { 2_680 };
        if words.contains("queens") {
            assert_eq!(result["count"], solutions, "{words}");
        } else {
            assert_eq!(result["count"], *nodes, "{words}");
        }
    }
    let users: Value = service.client("ann").get("/v1/users").unwrap();
    let usage = |name: &str| {
        let all = users["users"].as_array().unwrap().iter();
        all.filter(|user| user["name"] == name)
            .map(|user| user["usage"].as_f64().unwrap())
            .sum::<f64>()
    };
    assert!(usage("ann") > 0.0 && usage("bob") > 0.0, "{users}");
}

/// A service that is killed again and again loses no job, and runs none twice.
#[test]
fn a_killed_service_continues_with_every_job() {
    let mut service = Service::start("service-killed", "--roots 2");
    service.text("operator", "user ann");
    let joiner = service.joiner("--pace 100000");
    let words = ["count uts T1 --pace 100000", "count queens 11 --pace 100000", "count queens 8"];
    let mut ids: Vec<u64> = words.iter().map(|words| service.submit("ann", words)).collect();
    for round in 1..=4 {
        // Progress since the last time, if anything is left.
        let nodes = |job: &JobView| job.search.as_ref().map_or(0, |search| search.nodes);
        service.until(ids[0], |job| nodes(job) > round * 200_000);
        service.kill();
        service.begin();
        ids.push(service.submit("ann", "count queens 6"));
    }
    let counts: Vec<Value> = ids.iter().map(|&id| service.result(id)["count"].clone()).collect();
    assert_eq!(counts[..3], [json!(4_130_071), json!(2_680), json!(92)]);
    assert!(counts[3..].iter().all(|count| *count == 4));
    assert_eq!(ids, (1..=7).collect::<Vec<u64>>());
    drop(joiner);
    let metrics = service.client("operator").get_text("/metrics").unwrap();
    let metrics = String::from_utf8(metrics).unwrap();
    assert!(metrics.contains("pleach_jobs{state=\"done\"} 7"), "{metrics}");
}

#[test]
fn users_see_and_control_what_is_theirs() {
    let service = Service::start("service-users", "--roots 2");
    service.text("operator", "user ann");
    service.text("operator", "user bob --most-jobs 1 --most-files 1k --most-memory 1G");
    service.text("operator", "user night --role joiner --only-for bob");
    assert!(service.refused("operator", "user ann --renew").contains("ann.service exists"));
    let slow = service.submit("ann", "count uts T3 --pace 1000");
    service.until(slow, |job| job.search.is_some());
    // What others see of it concerns the threads only.
    let seen: JobView = service.client("bob").get(&format!("/v1/jobs/{slow}")).unwrap();
    assert!(seen.args.is_empty() && seen.search.is_none() && seen.workers == 1, "{seen:?}");
    for words in ["cancel 1", "pause 1", "priority 1 5", "result 1"] {
        assert!(service.refused("bob", words).contains("belongs to ann"), "{words}");
    }
    assert!(service.refused("bob", "user cleo").contains("for operators only"));
    assert!(service.refused("night", "jobs").contains("joiners have no jobs"));
    assert!(service.refused("ann", "cancel 9").contains("there is no job 9"));
    assert!(service.refused("ann", "watch x").contains("expected the number of a job"));
    // Limits.
    assert!(service.refused("bob", "submit count queens 8 --memory 2G").contains("--memory"));
    let bob = service.submit("bob", "count uts T3 --pace 1000");
    assert!(
        service
            .refused("bob", "submit count queens 8")
            .contains("you have unfinished jobs: 1, and 1 more; expected at most 1")
    );
    assert!(service.text("bob", &format!("cancel {bob}")).contains("job 2 is"));
    service.until(bob, |job| job.state == JobState::Cancelled);
    assert!(service.refused("bob", &format!("cancel {bob}")).contains("is over: cancelled"));
    // Pause, continue, priority, as owner and as operator.
    service.text("ann", "priority 1 -5");
    assert_eq!(service.client("ann").job(slow).unwrap().priority, -5);
    service.text("ann", "priority 1 5");
    service.text("operator", "pause 1");
    let paused = service.until(slow, |job| job.state == JobState::Paused && job.workers == 0);
    assert_eq!(paused.priority, 5);
    service.until(slow, |job| job.why == "paused by ann or an operator");
    service.text("ann", "continue 1");
    service.until(slow, |job| job.workers == 1 && job.search.is_some());
    service.text("ann", "cancel 1");
    // Results, files and reports.
    let output = service.run("ann", "submit solve flowshop ta001 --gantt plan.svg --wait");
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["objective"], 1278);
    service.text("ann", "result 3 --fetch got");
    let plan = fs::read_to_string(service.folder.join("got/plan.svg")).unwrap();
    assert!(plan.starts_with("<svg"));
    let page = service.client("ann").get_text("/v1/jobs/3/report").unwrap();
    assert!(String::from_utf8(page).unwrap().contains("<html"));
    let course: Value = service.client("ann").get("/v1/jobs/3/history").unwrap();
    assert_eq!(course["history"].as_array().unwrap().last().unwrap()["best"], 1278);
    fs::write(service.folder.join("due"), "1\n".repeat(2000)).unwrap();
    let said =
        service.refused("bob", "submit solve flowshop ta001 --objective tardiness --due due");
    assert!(said.contains("expected at most 1024 together"), "{said}");
    // What fails says why.
    fs::write(service.folder.join("wrong.txt"), "5 2\n3 5\n").unwrap();
    let output = service.run("ann", "submit solve flowshop wrong.txt --wait");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("wrong.txt"), "{said}");
    let said = service.refused("ann", "submit solve flowshop nothing.txt");
    assert!(said.contains("submit: nothing.txt: expected a file, or the name"), "{said}");
    for (path, what) in [("/v1/jobs/none", "none"), ("/v1/jobs/1/files/%ff", "UTF-8")] {
        let (status, why) = refusal(service.client("ann").get::<Value>(path));
        assert!(status == 400 && why.contains(what), "{path}: {status} {why}");
    }
    // A scenario travels with the instance that it names.
    fs::create_dir_all(service.folder.join("mine")).unwrap();
    fs::write(service.folder.join("mine/shop.txt"), "5 2\n3 5 1 6 2\n6 2 4 3 2\n").unwrap();
    let scenario =
        "seeds = [1]\npeers = 4\n[load]\nproblem = \"flowshop\"\ninstance = \"mine/shop.txt\"\n";
    fs::write(service.folder.join("mine/s.toml"), scenario).unwrap();
    let output = service.run("ann", "submit sim mine/s.toml --wait");
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&result["scenario"], &result["seeds"]), (&json!("s.toml"), &json!([1])));
    // An account that is removed is locked out at once.
    let mut ann = service.client("ann");
    service.text("operator", "user ann --remove");
    assert_eq!(refusal(ann.get::<Value>("/v1/jobs")).0, 401);
    let audit: Value = service.client("operator").get("/v1/audit").unwrap();
    let events = audit["audit"].as_array().unwrap();
    for (who, what) in [("ann", "continued job 1"), ("operator", "removed ann")] {
        assert!(events.iter().any(|it| it["who"] == who && it["what"] == what), "{audit}");
    }
}

/// A job that crashes three joiners is set aside, and says why. One that crashes repeatedly no longer serves it.
#[test]
fn jobs_that_crash_joiners_are_set_aside() {
    let service = Service::start("service-crash", "--roots 2");
    service.text("operator", "user ann");
    let id = service.submit("ann", "count uts T3 --pace 1000");
    let build = service.build();
    let mut joiner = service.client("joiners");
    let mut crashes = 0;
    for (name, times) in [("x", 3), ("y", 1), ("z", 1)] {
        assert!(!service.job(id).state.is_over());
        let mut report = JoinerReport {
            name: name.into(),
            threads: 1,
            build: build.clone(),
            ..JoinerReport::default()
        };
        let mut orders = Assignments::default();
        until("an order", || {
            orders = joiner.post("/v1/joiners/orders", &report).unwrap();
            orders.order.is_some()
        });
        let order = orders.order.unwrap();
        assert_eq!(order.job, id);
        for _ in 0..times {
            assert_eq!(service.job(id).crashes, crashes);
            crashes += 1;
            let crashed = Some((order.clone(), "signal: 11".to_string()));
            let report = JoinerReport { crashed, ..report.clone() };
            let _: Assignments = joiner.post("/v1/joiners/report", &report).unwrap();
        }
        report.serving = Some(order);
        until("the end of its service", || {
            times < 3 || {
                let orders = joiner.post::<Assignments>("/v1/joiners/orders", &report).unwrap();
                orders.order.is_none()
            }
        });
    }
    let job = service.until(id, |job| job.state == JobState::Failed);
    assert_eq!(job.error.unwrap(), "set aside after crashes of 3 joiners: signal: 11");
    // Its checkpoint stays when the other files go.
    let folder = service.folder.join(format!("data/jobs/{id}"));
    until("the end of its result", || !folder.join("result.json").exists());
    assert!(folder.join("search.pleach").exists());
}

/// A stand-in for Slurm: joiners come while a search can use them, and go when they are idle.
#[test]
fn joiners_come_from_slurm_and_go_when_idle() {
    // The first joiner is not idle for as long before the second one comes.
    let service =
        Service::start("service-slurm", "--grow slurm:night,max=2,time=10m,idle=9s --roots 1");
    let submit = "n=$(( $(cat n 2>/dev/null || echo 0) + 1 )); echo $n > n; echo \"$@\" > asked-$n\n\
                  while [ $# -gt 0 ]; do [ \"$1\" = --wrap ] && wrap=$2; shift; done\n\
                  SLURM_JOB_ID=$n sh -c \"$wrap\" > /dev/null 2>&1 &\n\
                  echo $! > job-$n; echo $n";
    Service::program(&service.folder, "sbatch", submit);
    let list = "for job in job-*; do [ -e $job ] && kill -0 $(cat $job) 2>/dev/null && echo ${job#job-}; done; true";
    Service::program(
        &service.folder,
        "squeue",
        &format!("echo \"$@\" > list; mv list listed; {list}"),
    );
    Service::program(&service.folder, "scancel", "true");
    service.text("operator", "user ann");
    let id = service.submit("ann", "solve flowshop ta056");
    service.until(id, |job| job.joiners == 2);
    service.text("ann", &format!("cancel {id}"));
    let mut operator = service.client("operator");
    until("the end of the joiners", || {
        operator.get::<Value>("/v1/joiners").unwrap()["joiners"] == json!([])
    });
    let asked = fs::read_to_string(service.folder.join("bin/asked-2")).unwrap();
    assert!(asked.contains("--partition night") && asked.contains("--time 10 "), "{asked}");
    // Another service of this user lists and cancels only its own joiners.
    let listed = fs::read_to_string(service.folder.join("bin/listed")).unwrap();
    for words in [asked.replace("--job-name", "--name"), listed] {
        assert!(words.contains("--name pleach-joiner-127-0-0-1-"), "{words}");
    }
    assert!(!service.folder.join("bin/asked-3").exists());
}

/// The history of a search continues where it was when the service ended.
#[test]
fn the_course_of_a_search_outlives_the_service() {
    let mut service = Service::start("service-course", "");
    service.text("operator", "user ann");
    let id = service.submit("ann", "count queens 13 --pace 50000");
    let course = |service: &Service| -> Vec<Value> {
        let path = format!("/v1/jobs/{id}/history");
        let course: Value = service.client("ann").get(&path).unwrap();
        course["history"].as_array().unwrap().clone()
    };
    until("its course", || course(&service).len() >= 2);
    let before = course(&service)[0].clone();
    service.end();
    service.begin();
    assert_eq!(course(&service)[0], before);
    service.text("ann", &format!("cancel {id}"));
}

#[test]
fn files_of_jobs_that_are_over_go_in_time() {
    let service = Service::start("service-keep", "--keep 1s");
    service.text("operator", "user ann");
    fs::write(service.folder.join("small.txt"), "2 2\n1 2\n3 4\n").unwrap();
    let id = service.submit("ann", "solve flowshop small.txt");
    let result = service.result(id);
    assert_eq!(result["status"], "optimal");
    let data = service.folder.join("data");
    until("the end of its files", || !data.join(format!("jobs/{id}")).exists());
    assert_eq!(service.result(id), result);
    assert_eq!(fs::read_dir(data.join("jobs/incoming")).unwrap().count(), 0);
}

/// A search used to get its whole limit again with every start of its root.
#[test]
fn a_limit_counts_all_starts_of_a_search() {
    let mut service = Service::start("service-limit", "");
    service.text("operator", "user ann");
    let words = "count queens 13 --pace 50000 --node-limit 300000";
    let id = service.submit("ann", words);
    let nodes = |job: &JobView| job.search.as_ref().map_or(0, |search| search.nodes);
    for round in 1..=2 {
        service.until(id, |job| nodes(job) > round * 50_000);
        service.kill();
        service.begin();
    }
    let result = service.result(id);
    assert_eq!(
        (&result["status"], &result["stopped_by"]),
        (&json!("stopped"), &json!("node-limit"))
    );
    let nodes = result["nodes"]["bounded"].as_u64().unwrap();
    assert!((290_000..330_000).contains(&nodes), "{nodes}");
}

/// A search with a limit used to be done when a signal stopped its root.
#[test]
fn a_signal_to_a_root_ends_no_job() {
    let service = Service::start("service-signal", "");
    service.text("operator", "user ann");
    let id = service.submit("ann", "count uts T3 --pace 20000 --time-limit 10h");
    service.until(id, |job| job.search.as_ref().is_some_and(|search| search.nodes > 20_000));
    let folder = service.folder.join(format!("data/jobs/{id}"));
    let folder = fs::canonicalize(folder).unwrap();
    let mut processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let root =
        processes.find(|it| fs::read_link(it.path().join("cwd")).is_ok_and(|at| at == folder));
    let root = root.unwrap().file_name();
    assert!(std::process::Command::new("kill").arg("-INT").arg(root).status().unwrap().success());
    service.until(id, |job| job.error.as_deref() == Some("a signal stopped it"));
    let nodes = |job: &JobView| job.search.as_ref().map_or(0, |search| search.nodes);
    let before = nodes(&service.job(id));
    service.until(id, |job| job.state == JobState::Running && nodes(job) > before);
    service.text("ann", &format!("cancel {id}"));
}

/// A job whose checkpoint could not be read used to fail for good.
#[test]
fn a_job_waits_until_its_checkpoint_can_be_read() {
    let service = Service::start("service-unread", "");
    service.text("operator", "user ann");
    service.text("operator", "user bob");
    let id = service.submit("ann", "count uts T3 --pace 50000");
    service.until(id, |job| job.search.as_ref().is_some_and(|search| search.nodes > 20_000));
    service.text("ann", &format!("pause {id}"));
    service.until(id, |job| job.state == JobState::Paused && job.workers == 0);
    let file = service.folder.join(format!("data/jobs/{id}/search.pleach"));
    let saved = fs::read(&file).unwrap();
    fs::write(&file, &saved[..saved.len() / 2]).unwrap();
    service.text("ann", &format!("continue {id}"));
    let job = service.until(id, |job| job.state == JobState::Waiting && job.error.is_some());
    assert!(job.error.unwrap().contains("search.pleach"), "{:?}", service.job(id));
    service.until(id, |job| job.why.starts_with("waiting to be tried again"));
    let seen_by = |user| service.text(user, &format!("jobs {id} --json"));
    let (ann, bob) = (seen_by("ann"), seen_by("bob"));
    assert!(ann.contains("search.pleach"), "{ann}");
    assert!(bob.contains("tried again") && !bob.contains("search.pleach"), "{bob}");
    service.text("ann", &format!("cancel {id}"));
}

/// Requests of all kinds: none gets in without a token, and none harms the service.
#[test]
fn hostile_requests_do_no_harm() {
    let service = Service::start("service-hostile", "--roots 1");
    service.text("operator", "user ann");
    // Bytes that are no TLS.
    let mut rng = Rand64::new(3);
    let mut below = |n: u64| rng.rand_range(0..n);
    for _ in 0..20 {
        let mut socket = TcpStream::connect(&service.address).unwrap();
        let bytes: Vec<u8> = (0..below(300)).map(|_| below(256) as u8).collect();
        // The service may have hung up.
        let _ = socket.write_all(&bytes);
    }
    let mut nobody = service.client("ann").credentials().clone();
    nobody.token = nobody.token.chars().rev().collect();
    let mut nobody = Client::new(nobody);
    let mut ann = service.client("ann");
    let described: Value = nobody.get("/openapi.json").unwrap();
    let paths = described["paths"].as_object().unwrap();
    let bodies = [
        json!({}),
        json!([]),
        json!(null),
        json!({ "args": ["solve", "flowshop", "/etc/passwd"] }),
        json!({ "args": ["solve", "flowshop", "ta001", "--start=../operator"] }),
        json!({ "args": ["serve", "--listen", "0.0.0.0:1", "--data", "x"] }),
        json!({ "args": ["solve", "flowshop", "x"], "files": { "../x": "" } }),
        json!({ "args": ["solve", "flowshop", "x"], "files": { "x": "not base 64!" } }),
        json!({ "args": "x", "priority": 1e300 }),
        json!({ "weight": -1 }),
        json!({ "name": "x", "threads": 0, "build": "" }),
        json!({ "token": "x\r\nset-cookie: a=b" }),
    ];
    let mut asked = 0;
    for (path, methods) in paths {
        let open = ["/", "/openapi.json"].contains(&path.as_str());
        for id in ["1", "-1", "18446744073709551615", "18446744073709551616", "x", "%2e%2e", "%00"]
        {
            let path = path.replace("{id}", id).replace("{name}", "%2e%2e%2foperator");
            if path.ends_with("events") {
                continue;
            }
            if methods.get("get").is_some() && !open {
                assert!(nobody.get_text(&path).is_err(), "{path}");
                if let Err(ClientError::Refused { status, .. }) = ann.get_text(&path) {
                    assert!((400..500).contains(&status), "{path} {status}");
                }
            }
            if methods.get("post").is_some() {
                for body in &bodies {
                    let (status, _) = refusal(nobody.post::<Value>(&path, body));
                    assert!((400..500).contains(&status), "{path} {status}");
                    if let Err(ClientError::Refused { status, .. }) = ann.post::<Value>(&path, body)
                    {
                        assert!((400..500).contains(&status), "{path} {status}");
                    }
                    asked += 2;
                }
            }
        }
    }
    // The head of a request is short.
    for (length, expected) in [(8_000, 404), (20_000, 431)] {
        let path = format!("/{}", "x".repeat(length));
        assert_eq!(refusal(nobody.get_text(&path)).0, expected, "{length}");
    }
    assert!(asked > 1000, "{asked}");
    let jobs: Value = ann.get("/v1/jobs").unwrap();
    assert_eq!(jobs["jobs"], json!([]));
    let users: Value = service.client("operator").get("/v1/users").unwrap();
    assert_eq!(users["users"].as_array().unwrap().len(), 3);
    assert_eq!(
        service.text("ann", "submit count queens 6 --wait").matches("\"count\":4").count(),
        1
    );
}

/// The page and its files are served, and keep foreign scripts out.
#[test]
fn the_page_loads_only_its_own_files() {
    let service = Service::start("service-page", "");
    let mut nobody = service.client("operator");
    let page = String::from_utf8(nobody.get_text("/").unwrap()).unwrap();
    for id in ["sign-in", "jobs", "submit", "command", "joiners", "connection"] {
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
    }
    for file in ["/app.js", "/style.css"] {
        assert!(page.contains(file.trim_start_matches('/')), "{file}");
        assert!(!nobody.get_text(file).unwrap().is_empty());
    }
    assert!(!page.contains("<script>") && !page.contains("http:"), "nothing from elsewhere");
    let mut signed = service.client("operator");
    let token = signed.credentials().token.clone();
    let session: Value = signed.post("/v1/session", &json!({ "token": token })).unwrap();
    assert_eq!(session, json!({ "name": "operator", "role": "operator" }));
    assert_eq!(refusal(signed.post::<Value>("/v1/session", &json!({ "token": "x" }))).0, 401);
}

/// Misuse of the commands gets one line.
#[test]
fn bad_words_are_refused() {
    let service = Service::start("service-words", "");
    for (words, said) in [
        ("serve", "expected --listen"),
        ("serve --listen 127.0.0.1:0", "expected --data"),
        ("serve --listen nowhere --data x", "--listen"),
        ("serve --listen 127.0.0.1:0 --data y --grow pbs:x", "expected slurm:PARTITION"),
        ("serve --listen 127.0.0.1:0 --data data", "another service uses it"),
        ("serve --listen 127.0.0.1:0 --data y --tls-key k", "belong together"),
        ("serve --listen 127.0.0.1:0 --data y --tls-key k --tls-certificate c", "c: "),
        ("submit", "expected a command"),
        ("submit solve flowshop", "an instance is required"),
        ("submit solve flowshop ta001 --listen 0.0.0.0:1", "the service sets it"),
        ("submit solve flowshop ta001 --priority high", "--priority high: expected"),
        ("priority 1", "expected the number of a job and a priority"),
        ("cancel", "expected numbers of jobs"),
        ("jobs --service nothing", "cannot read 'nothing'"),
        ("jobs --weight 2", "does not apply"),
        ("user ../x", "expected a name of up to 64 letters"),
        ("user none", "'none' cannot be a user"),
        ("user x --weight 0", "expected a number above 0"),
        ("user x --role king", "expected user, operator or joiner"),
        ("user x --only-for nobody", "there is no user 'nobody'"),
    ] {
        let got = service.refused("operator", words);
        assert!(got.contains(said), "{words}: {got}");
    }
    // The address may become free: no bad usage.
    let taken = service.run("operator", &format!("serve --listen {} --data y", service.address));
    assert_eq!(taken.status.code(), Some(1), "{}", String::from_utf8_lossy(&taken.stderr));
    // Another certificate is not that of the service. A joiner used to wait for the right one.
    let mut wrong = Credentials::read(&service.file("joiners")).unwrap();
    wrong.certificate[0] ^= 1;
    wrong.write(&service.folder.join("wrong")).unwrap();
    let join = format!("join {} --key wrong --patience 1s", service.address);
    for words in ["jobs --service wrong", &join] {
        let said = service.refused("operator", words);
        assert!(said.contains("has a different certificate"), "{words}: {said}");
    }
}

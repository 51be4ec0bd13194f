//! [`Service`]: a service with a folder of its own, and its users.

use super::refusal;
use crate::outside::{folder, guarded, output_of, until};
use pleach_serve::api::{Assignments, JobState, JobView, JoinerReport};
use pleach_serve::client::Client;
use pleach_serve::credentials::Credentials;
use serde_json::Value;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A process that ends with its owner.
pub struct Process(pub Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A service with a folder of its own.
pub struct Service {
    pub folder: PathBuf,
    flags: &'static str,
    pub address: String,
    pub process: Option<Process>,
}

impl Service {
    pub fn start(name: &str, flags: &'static str) -> Self {
        let folder = folder(name);
        // From an earlier run of the tests.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let mut service = Self { folder, flags, address: "127.0.0.1:0".into(), process: None };
        service.begin();
        service
    }

    /// Puts a program into the service's path.
    pub fn program(folder: &Path, name: &str, script: &str) {
        let place = folder.join("bin");
        fs::create_dir_all(&place).unwrap();
        let text = format!("#!/bin/sh\ncd '{}'\n{script}\n", place.display());
        fs::write(place.join(name), text).unwrap();
        fs::set_permissions(place.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Starts the service, at the same address as before.
    pub fn begin(&mut self) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pleach"))
            .args(["serve", "--listen", &self.address, "--data"])
            .arg(self.folder.join("data"))
            .args(self.flags.split_whitespace())
            .env(
                "PATH",
                format!("{}:{}", self.folder.join("bin").display(), env::var("PATH").unwrap()),
            )
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut said = lines.by_ref().map(Result::unwrap);
        let said = guarded(child.id(), || said.find(|line| line.contains("serving at")));
        let said = said.expect("the service starts");
        let at = said.split("serving at ").nth(1).unwrap().split(';').next().unwrap();
        self.address = at.to_string();
        // Its notes must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        self.process = Some(Process(child));
    }

    /// Ends the service in an orderly way.
    pub fn end(&mut self) {
        let Some(Process(child)) = &mut self.process else { return };
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        until("the end of the service", || child.try_wait().unwrap().is_some());
        self.process = None;
    }

    pub fn kill(&mut self) {
        self.process = None;
    }

    pub fn file(&self, name: &str) -> PathBuf {
        match name {
            "operator" | "joiners" => self.folder.join("data").join(name),
            name => self.folder.join(format!("{name}.service")),
        }
    }

    pub fn client(&self, name: &str) -> Client {
        let credentials = Credentials::read(&self.file(name)).unwrap();
        Client::new(Credentials { address: self.address.clone(), ..credentials })
    }

    /// Runs a command of a user.
    pub fn run(&self, user: &str, words: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
        command.args(words.split_whitespace()).env("PLEACH_SERVICE", self.file(user));
        output_of(command.current_dir(&self.folder))
    }

    /// The same, for what it prints.
    pub fn text(&self, user: &str, words: &str) -> String {
        let output = self.run(user, words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The same for a command that is refused, for the reason.
    pub fn refused(&self, user: &str, words: &str) -> String {
        let output = self.run(user, words);
        assert_eq!(output.status.code(), Some(2), "{words}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.lines().count(), 1, "{words}: {said}");
        said
    }

    pub fn submit(&self, user: &str, words: &str) -> u64 {
        let text = self.text(user, &format!("submit {words}"));
        text.trim().strip_prefix("job ").unwrap().parse().unwrap()
    }

    pub fn joiner(&self, flags: &str) -> Process {
        let child = Command::new(env!("CARGO_BIN_EXE_pleach"))
            .args([
                "join", &self.address, "--quiet", "--threads", "1", "--patience", "none", "--key",
            ])
            .arg(self.file("joiners"))
            .args(flags.split_whitespace())
            .spawn();
        Process(child.unwrap())
    }

    /// The build of the service: a joiner of another one is refused, and learns it.
    pub fn build(&self) -> String {
        let report = JoinerReport { name: "x".into(), threads: 1, ..JoinerReport::default() };
        let answer = self.client("joiners").post::<Assignments>("/v1/joiners/orders", &report);
        let (status, why) = refusal(answer);
        assert_eq!(status, 409);
        why.split("pleach ").nth(1).unwrap().split(',').next().unwrap().to_string()
    }

    pub fn job(&self, id: u64) -> JobView {
        self.client("operator").job(id).unwrap()
    }

    /// Waits until a job is as wanted.
    pub fn until(&self, id: u64, wanted: impl Fn(&JobView) -> bool) -> JobView {
        let (mut operator, mut last) = (self.client("operator"), None);
        until(&format!("job {id}"), || {
            let job = &*last.insert(operator.job(id).unwrap());
            let so = wanted(job);
            assert!(so || !job.state.is_over(), "{job:?}");
            so
        });
        last.unwrap()
    }

    /// The result of a job, once it is over.
    pub fn result(&self, id: u64) -> Value {
        self.until(id, |job| job.state == JobState::Done);
        self.client("operator").get(&format!("/v1/jobs/{id}/result")).unwrap()
    }
}

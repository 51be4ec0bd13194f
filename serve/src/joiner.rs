//! A joiner: works for one search after another, as a service says, each in a process of its own.

use crate::api::{Assignment, Assignments, JoinerReport};
use crate::client::{Client, ClientError};
use crate::credentials::new_token;
use crate::private;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// How often the process of a search is checked.
const LOOK: Duration = Duration::from_millis(10);
/// How long the process of a search may take to leave it.
const LEAVE: Duration = Duration::from_secs(20);
/// What the program says of its own faults.
const BUG: &str = "this is a bug";
/// Time between two attempts, to reach the service or to join a search.
const AGAIN: Duration = Duration::from_millis(500);

/// How a joiner works.
pub struct Settings {
    /// The program to start: `pleach`.
    pub program: PathBuf,
    /// Its build.
    pub build: String,
    /// The name of this process. A random word is appended.
    pub name: String,
    /// How many threads it counts as.
    pub threads: u32,
    /// Flags of `pleach join`: its threads and devices, and others.
    pub flags: Vec<String>,
    /// How long the service may be out of reach; any time if `None`.
    pub patience: Option<Duration>,
}

/// How a joiner ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinerEnd {
    /// The service dismissed it.
    Dismissed,
    /// It was asked to leave.
    Left,
}

/// What the threads of a joiner share.
type Shared = Mutex<JoinerReport>;

fn lock(shared: &Shared) -> MutexGuard<'_, JoinerReport> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves until the service dismisses this process, or `leave` returns true.
///
/// # Errors
/// If the service refuses this joiner, or cannot be reached for longer than the patience, or the system has no random
/// bytes.
pub fn serve(
    mut client: Client,
    settings: &Settings,
    leave: &dyn Fn() -> bool,
    note: &dyn Fn(&str),
) -> Result<JoinerEnd, ClientError> {
    // Two containers may have the same host name and process number, and two joiners the same Slurm job. The random
    // word also distinguishes this joiner from one that has just left.
    let word = new_token().map_err(ClientError::Random)?;
    let report = JoinerReport {
        name: format!("{}-{}", settings.name, &word[..6]),
        threads: settings.threads,
        build: settings.build.clone(),
        ..JoinerReport::default()
    };
    let shared = Arc::new(Shared::new(report));
    let (orders, received) = channel();
    let (asking, asked) = (client.another(), Arc::clone(&shared));
    let patience = settings.patience;
    client.timeout = Duration::from_secs(5);
    // It ends with the process, or when nobody receives any more.
    thread::spawn(move || {
        let mut asking = asking;
        let mut lost: Option<Instant> = None;
        loop {
            let report = lock(&asked).clone();
            let answer = match asking.post::<Assignments>("/v1/joiners/orders", &report) {
                Err(why) if may_return(&why) => {
                    let since = *lost.get_or_insert_with(Instant::now);
                    if patience.is_none_or(|patience| since.elapsed() < patience) {
                        sleep(AGAIN);
                        continue;
                    }
                    Err(why)
                }
                Ok(answer) => {
                    lost = None;
                    // From now on this order is the one that is carried out.
                    lock(&asked).serving.clone_from(&answer.order);
                    Ok(answer)
                }
                Err(why) => Err(why),
            };
            let last = !matches!(answer, Ok(Assignments { dismissed: false, .. }));
            if orders.send(answer).is_err() || last {
                return;
            }
        }
    });
    let mut current: Option<Serving<'_>> = None;
    loop {
        if leave() {
            lock(&shared).leaving = true;
            drop(current);
            let report = lock(&shared).clone();
            // If it cannot be reached, the service notices by itself.
            let _ = client.post::<Assignments>("/v1/joiners/report", &report);
            return Ok(JoinerEnd::Left);
        }
        match received.recv_timeout(LOOK) {
            Ok(answer) => {
                let Assignments { order, dismissed } = answer?;
                if dismissed {
                    return Ok(JoinerEnd::Dismissed);
                }
                if current.as_ref().map(|serving| &serving.order) != order.as_ref() {
                    // The search gets its work back before the next one starts.
                    drop(current.take());
                    if let Some(order) = order {
                        note(&format!("serving job {}", order.job));
                        current = Some(Serving::begin(order, settings, client.credentials()));
                    } else {
                        note("waiting for a job");
                    }
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(JoinerEnd::Dismissed),
        }
        if let Some(serving) = &mut current
            && let Some((error, crashed)) = serving.look()
        {
            note(&format!("job {}: {error}", serving.order.job));
            if crashed {
                let crashed = Some((serving.order.clone(), error));
                let report = JoinerReport { crashed, ..lock(&shared).clone() };
                // A crash that is not reported is not counted.
                let _ = client.another().post::<Assignments>("/v1/joiners/report", &report);
            }
        }
    }
}

/// Whether the service may be back soon.
fn may_return(why: &ClientError) -> bool {
    match why {
        ClientError::Unreachable { .. } => true,
        ClientError::Refused { status, .. } => *status >= 500,
        ClientError::Certificate { .. }
        | ClientError::Malformed { .. }
        | ClientError::Random(_) => false,
    }
}

/// A search that this joiner serves.
struct Serving<'s> {
    order: Assignment,
    settings: &'s Settings,
    /// The host of the service.
    host: String,
    folder: PathBuf,
    child: Option<Child>,
    /// When to start the process.
    again: Option<Instant>,
    /// The last error.
    failed: String,
}

impl<'s> Serving<'s> {
    fn begin(
        order: Assignment,
        settings: &'s Settings,
        credentials: &crate::credentials::Credentials,
    ) -> Self {
        let host = credentials.address.rsplit_once(':').map_or("", |(host, _)| host).to_string();
        let (folder, child, failed) = Default::default();
        Self { order, settings, host, folder, child, again: Some(Instant::now()), failed }
    }

    /// Starts the process that joins the search.
    fn start(&mut self) -> std::io::Result<()> {
        self.remove_folder();
        self.folder = make_private()?;
        let key = self.folder.join("key");
        private::create(&key, &self.order.key)?;
        let errors = File::create(self.folder.join("errors"))?;
        let mut command = Command::new(&self.settings.program);
        // Ctrl-C in a terminal reaches this process, which leaves the search.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command
            .arg("join")
            .arg(format!("{}:{}", self.host, self.order.port))
            .arg("--key")
            .arg(&key)
            .args(["--quiet", "--until-eof", "--patience", "5s"])
            .args(&self.settings.flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn()?;
        self.child = Some(child);
        Ok(())
    }

    /// Starts the process, notices that it has ended, and starts it again after a while: the order still stands.
    /// Returns the error if it failed, and whether it crashed. An error that is not a crash is returned once, however
    /// often the process is started.
    fn look(&mut self) -> Option<(String, bool)> {
        if self.again.take_if(|at| *at <= Instant::now()).is_some()
            && let Err(why) = self.start()
        {
            self.again = Some(Instant::now() + AGAIN);
            return self.failure(format!("cannot start: {why}"), false);
        }
        let status = self.child.as_mut()?.try_wait().ok()??;
        self.child = None;
        let last = last_line(&self.folder.join("errors"));
        // 0: the search is over. 3: this process was asked to leave it. Others: it could not join, or crashed.
        let in_order = matches!(status.code(), Some(0 | 3));
        self.again = Some(Instant::now() + if in_order { AGAIN } else { 10 * AGAIN });
        let crashed = status.code().is_none() || last.contains(BUG);
        if in_order && !crashed {
            self.failed.clear();
            return None;
        }
        let error = if last.is_empty() { status.to_string() } else { format!("{status}: {last}") };
        self.failure(error, crashed)
    }

    /// A failure, unless it repeats the last one.
    fn failure(&mut self, error: String, crashed: bool) -> Option<(String, bool)> {
        let is_new = error != self.failed;
        self.failed.clone_from(&error);
        (crashed || is_new).then_some((error, crashed))
    }

    fn remove_folder(&self) {
        if self.folder != Path::new("") {
            // Whatever remains is in the folder for temporary files.
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // The end of its input asks it to leave.
            drop(child.stdin.take());
            let until = Instant::now() + LEAVE;
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
                sleep(Duration::from_millis(2));
            }
            // Has no effect on a process that has ended.
            let _ = child.kill();
            let _ = child.wait();
        }
        self.remove_folder();
    }
}

/// The last line of a file, or as much of its end as fits.
fn last_line(path: &Path) -> String {
    let read = || -> std::io::Result<String> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(4000)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read().unwrap_or_default();
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("");
    last.chars().filter(|c| !c.is_control()).take(400).collect()
}

/// A new folder that only this user can read.
fn make_private() -> std::io::Result<PathBuf> {
    let name = new_token().map_err(std::io::Error::other)?;
    let folder = std::env::temp_dir().join(format!("pleach-joiner-{name}"));
    let builder = &mut std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(builder, 0o700);
    builder.create(&folder)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::Credentials;

    /// A joiner that could not reach a root, or whose devices did not work, used to seem to serve the job.
    #[test]
    fn a_search_that_cannot_be_joined_is_noted_once() {
        for (program, error) in [
            ("true", None),
            ("false", Some("exit status: 1")),
            ("/nowhere/pleach", Some("cannot start: No such file or directory (os error 2)")),
        ] {
            let settings = Settings {
                program: program.into(),
                build: String::new(),
                name: String::new(),
                threads: 1,
                flags: Vec::new(),
                patience: None,
            };
            let (address, name, token) = ("127.0.0.1:1".into(), String::new(), String::new());
            let credentials = Credentials { address, certificate: [0; 32], name, token };
            let mut serving = Serving::begin(Assignment::default(), &settings, &credentials);
            for expected in [error, None] {
                let ended = loop {
                    let ended = serving.look();
                    if serving.child.is_none() {
                        break ended;
                    }
                    sleep(Duration::from_millis(1));
                };
                assert_eq!(ended, expected.map(|error| (error.to_string(), false)), "{program}");
                serving.again = Some(Instant::now());
            }
        }
    }
}

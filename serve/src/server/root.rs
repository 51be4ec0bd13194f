//! The process of a job: starts it in the job's folder, reads its reports, and settles how it ended.
//!
//! If the service is killed, the process runs on until it has saved, because its input ends with the service. It holds
//! a lock on its result until then, so that the next service waits for it.

use super::folder::{CHECKPOINT, KEY, LOG, RESULT, RootEnd, end_of, has_all};
use super::job::StopReason;
use super::refusal::Refused;
use super::state::Service;
use crate::api::{CommandKind, Update};
use serde::Deserialize;
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::sleep;

/// How long a root that was asked to stop may take, and how many bytes of its checkpoint add a second to that: slow
/// disks take long to write gigabytes.
const GRACE: Duration = Duration::from_secs(120);
const SLOWEST: u64 = 4 << 20;
/// How long a root may take that was cancelled.
const CANCEL_GRACE: Duration = Duration::from_secs(2);
/// The exit code of a command that refuses its input.
const BAD_INPUT: i32 = 2;
/// How often to check whether the root of an earlier service has ended.
pub const LOCK: Duration = Duration::from_millis(20);
/// The exit code of a command that was stopped.
const STOPPED: i32 = 3;

/// Runs the root of a job, and settles the job at its end.
pub async fn run(service: Arc<Service>, id: u64, run: u64, args: Vec<String>) {
    let folder = service.folder(id);
    let end = match begin(&service, id, run, &folder, &args).await {
        Ok(Begun::Child(mut child)) => {
            let errors = child.stderr.take();
            let reports = async {
                match errors {
                    Some(errors) => read_reports(&service, id, run, &folder, errors).await,
                    None => String::new(),
                }
            };
            let (code, said) = tokio::join!(wait(&service, id, run, &folder, &mut child), reports);
            end_of(&folder, code, &said)
        }
        Ok(Begun::Over(end)) => end,
        Err(why) => RootEnd::not_started(&why.to_string()),
    };
    service.root_ended(id, run, end);
}

impl Service {
    /// Whether the files of a job belong to the result that an earlier root left, with or without a solution.
    fn has_its_files(&self, id: u64, folder: &Path, solved: bool) -> bool {
        let state = self.lock();
        // A loop prints a result when it is stopped, too.
        let job = state.jobs.get(&id).filter(|job| job.kind != CommandKind::Loop);
        job.is_some_and(|job| has_all(folder, &(self.settings.outputs)(&job.view.args, solved)))
    }

    /// A page about the result of a job, made by `pleach report`.
    pub(super) async fn report_page(&self, id: u64, result: Vec<u8>) -> Result<Vec<u8>, Refused> {
        let fails = |why: std::io::Error| Refused(500, format!("cannot make a report: {why}"));
        let mut command = Command::new(&self.settings.program);
        command.args(["report", "-", "--out", "-", "--quiet"]).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // An instance file still exists, unless the folder has been removed since.
        let folder = self.folder(id);
        if folder.is_dir() {
            command.current_dir(folder);
        }
        let mut child = command.spawn().map_err(fails)?;
        let input = child.stdin.take();
        let write = async {
            if let Some(mut input) = input {
                // A process that ended early has said why.
                let _ = input.write_all(&result).await;
            }
        };
        let (output, ()) = tokio::join!(child.wait_with_output(), write);
        let output = output.map_err(fails)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let why = said.lines().last().unwrap_or("no report").to_string();
        Err(Refused(if output.status.code() == Some(BAD_INPUT) { 409 } else { 500 }, why))
    }
}

/// A root that runs, or one that ended under an earlier service.
enum Begun {
    Child(Child),
    Over(RootEnd),
}

async fn begin(
    service: &Service,
    id: u64,
    run: u64,
    folder: &Path,
    args: &[String],
) -> std::io::Result<Begun> {
    std::fs::create_dir_all(folder)?;
    let path = folder.join(RESULT);
    let output = File::options().create(true).append(true).open(&path)?;
    // The root of an earlier service may still be saving.
    while let Err(why) = output.try_lock() {
        if let TryLockError::Error(why) = why {
            return Err(why);
        }
        if service.stop_now(id, run).is_some() {
            return Err(std::io::Error::other("stopped before it started"));
        }
        sleep(LOCK).await;
    }
    if output.metadata()?.len() > 0 {
        let mut end = end_of(folder, Some(0), "");
        let done = end.result.is_ok() && end.is_done(false);
        if done && service.has_its_files(id, folder, end.solved) {
            end.code = end.stopped_by.as_ref().map_or(end.code, |_| Some(STOPPED));
            return Ok(Begun::Over(end));
        }
        if let Some(last) = end.last {
            service.root_left(id, run, last);
        }
        output.set_len(0)?;
    }
    // Joiners that are no longer admitted may know the last key.
    if let Err(why) = std::fs::remove_file(folder.join(KEY))
        && why.kind() != ErrorKind::NotFound
    {
        return Err(why);
    }
    let args = if folder.join(CHECKPOINT).exists() {
        let Update { seconds, nodes, .. } = service.root_resumes(id, run).unwrap_or_default();
        (service.settings.continued)(args, Duration::from_secs_f64(seconds.max(0.0)), nodes)
    } else {
        args.to_vec()
    };
    let mut command = Command::new(&service.settings.program);
    command.args(args).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(output).stderr(Stdio::piped());
    // Ctrl-C in a terminal reaches the service, which stops its roots.
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn()?;
    service.root_began(id, run, child.stdin.take());
    Ok(Begun::Child(child))
}

/// Waits for the end of a root. One that was asked to stop has a while for it.
async fn wait(
    service: &Service,
    id: u64,
    run: u64,
    folder: &Path,
    child: &mut Child,
) -> Option<i32> {
    let length = |file: String| folder.join(file).metadata().map_or(0, |file| file.len());
    let grace = || {
        let longest = length(CHECKPOINT.into()).max(length(format!("{CHECKPOINT}.part")));
        GRACE + Duration::from_secs(longest / SLOWEST)
    };
    let late = async {
        service.stop_of(id, run).await;
        let since = Instant::now();
        // A job that is being saved may be cancelled meanwhile.
        while since.elapsed() < grace() {
            let cancelled = service.stop_now(id, run) == Some(StopReason::Cancel);
            if cancelled && since.elapsed() > CANCEL_GRACE {
                return;
            }
            sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::select! {
        status = child.wait() => return status.ok().and_then(|status| status.code()),
        () = late => {}
    }
    // Has no effect on a process that has ended.
    let _ = child.kill().await;
    None
}

/// What a root says: its reports, as lines of JSON, and other lines for the log. Returns the last one of these.
async fn read_reports(
    service: &Service,
    id: u64,
    run: u64,
    folder: &Path,
    errors: impl AsyncRead + Unpin,
) -> String {
    #[derive(Deserialize)]
    struct Listening {
        listening: std::net::SocketAddr,
    }
    let mut said = String::new();
    let mut lines = BufReader::new(errors).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Ok(Listening { listening }) = serde_json::from_str(&line) {
            let key = std::fs::read_to_string(folder.join(KEY)).unwrap_or_default();
            service.root_listens(id, run, listening.port(), key);
        } else if line.starts_with('{')
            && let Ok(update) = serde_json::from_str::<Update>(&line)
        {
            service.root_reported(id, run, update);
        } else {
            let log = File::options().create(true).append(true).open(folder.join(LOG));
            if let Ok(mut log) = log {
                // A full disk must not stop the search.
                let _ = std::io::Write::write_all(&mut log, format!("{line}\n").as_bytes());
            }
            said = line;
        }
    }
    said
}

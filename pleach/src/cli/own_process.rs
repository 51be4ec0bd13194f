//! [`OwnProcess`]: this program, run again as another process.

use super::stopping::interrupts;
use crate::results::{self, RunData};
use std::io::{ErrorKind, Read};
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;
use std::thread::JoinHandle;
use std::time::Duration;

/// How often to check whether a process has ended.
const POLL_EVERY: Duration = Duration::from_millis(5);
/// The exit code of a run that a limit stopped.
const STOPPED: i32 = 3;

/// A process of this program, which ends with its owner.
pub struct OwnProcess(Child);

/// Where this program is, if that is not the executable of this process.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Names the program that runs this command, where the process is an interpreter. The first call counts.
pub fn set_path(program: PathBuf) {
    PROGRAM.get_or_init(|| program);
}

/// Where this program is.
pub fn own_path() -> PathBuf {
    // If the system does not report it, the name that the program was started by serves as well.
    let own = || std::env::current_exe().map_or_else(|_| "pleach".into(), still_there);
    PROGRAM.get().cloned().unwrap_or_else(own)
}

/// A path by which the program of this process can be run. Its file may have been replaced, by an update for instance;
/// this link, which Linux provides, leads to the program that is running, so all runs of a batch use the same version.
fn still_there(path: PathBuf) -> PathBuf {
    if cfg!(target_os = "linux") && !path.exists() { "/proc/self/exe".into() } else { path }
}

/// The command that runs this program again.
pub fn this_program() -> Command {
    let mut command = Command::new(own_path());
    command.stdin(Stdio::null());
    command
}

impl OwnProcess {
    /// Starts a command.
    pub fn start(command: &mut Command) -> std::io::Result<Self> {
        command.spawn().map(Self)
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    /// If it cannot be started, or [`ErrorKind::Interrupted`] if the user interrupts; it is then stopped.
    pub fn output(command: &mut Command) -> std::io::Result<Output> {
        let mut process = Self::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
        let out = read_along(process.stdout.take());
        let err = read_along(process.stderr.take());
        let status = process.wait()?;
        Ok(Output { status, stdout: all_read(out), stderr: all_read(err) })
    }

    /// Waits for its end, unless the user interrupts.
    pub fn wait(&mut self) -> std::io::Result<ExitStatus> {
        let cancel = interrupts();
        loop {
            let ended = self.try_wait()?;
            // Ctrl-C reaches both processes: what an interrupted one printed is not its result.
            if cancel.is_cancelled() {
                return Err(std::io::Error::new(ErrorKind::Interrupted, "stopped"));
            }
            if let Some(status) = ended {
                return Ok(status);
            }
            std::thread::sleep(POLL_EVERY);
        }
    }
}

impl Deref for OwnProcess {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for OwnProcess {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for OwnProcess {
    fn drop(&mut self) {
        // It may have ended on its own.
        let _ = self.kill();
        let _ = self.0.wait();
    }
}

/// Reads a stream to its end on another thread; errors are ignored.
pub fn read_along(from: Option<impl Read + Send + 'static>) -> Option<JoinHandle<Vec<u8>>> {
    let read = |mut from: Box<dyn Read + Send>| {
        let mut all = Vec::new();
        let _ = from.read_to_end(&mut all);
        all
    };
    from.map(|from| std::thread::spawn(move || read(Box::new(from))))
}

/// What such a thread has read.
pub fn all_read(reader: Option<JoinHandle<Vec<u8>>>) -> Vec<u8> {
    reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
}

/// The result that a run printed with `--json`; a limit may stop it only if it has one.
///
/// # Errors
/// One line: why the run has no result.
pub fn result_of(output: &Output, limited: bool) -> Result<RunData, String> {
    let code = output.status.code();
    if code != Some(0) && !(limited && code == Some(STOPPED)) {
        let said = String::from_utf8_lossy(&output.stderr);
        let killed = format!("it was killed ({})", output.status);
        let said = said.lines().next_back().map_or(killed, String::from);
        return Err(said.trim_start_matches("pleach: ").to_string());
    }
    let value =
        serde_json::from_slice(&output.stdout).map_err(|why| format!("invalid JSON: {why}"));
    let run: RunData = results::read("its result", value?)?;
    match run.stopped_by.as_deref() {
        Some("cancelled") => Err("it was stopped".into()),
        _ => Ok(run),
    }
}

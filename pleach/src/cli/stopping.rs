//! Signals and time limits, handled in every phase of a command.

use super::dashboard::screen;
use super::files::remove_parts;
use super::line::Line;
use crate::failure::{Failure, usage};
use pleach_gpu::ending::leave;
use pleach_runtime::Cancel;
use pleach_runtime::{SaveNow, Stop};
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Two interrupts within this time count as one.
const ONE_WORD: Duration = Duration::from_millis(200);

/// How long a phase with nothing to lose may take to end once it should stop.
const GRACE: Duration = Duration::from_millis(120);

/// The exit code of a second interrupt.
const INTERRUPTED: u8 = 130;

/// The signals that this process has received, and its current phase.
static SHARED: OnceLock<Arc<Shared>> = OnceLock::new();

#[derive(Default)]
struct Shared {
    cancel: Cancel,
    save: SaveNow,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// When the process was first asked to stop.
    asked: Option<Instant>,
    /// When the first signal to stop arrived.
    interrupted: Option<Instant>,
    /// The current phase, if nothing is lost by ending it.
    phase: Option<Phase>,
    /// The number of phases so far.
    phases: u64,
}

/// A phase with nothing to lose.
struct Phase {
    until: Option<Instant>,
    last_words: LastWords,
}

/// What to print if the process ends in a phase, and with which exit code.
type LastWords = Box<dyn FnOnce(Stop) -> (String, u8) + Send>;

/// Catches signals from now on: the first one that asks to stop stops the search, the second ends the process at once.
pub fn listen() {
    let _ = shared();
}

/// Whether the user has asked to stop. Catches signals from now on.
pub fn interrupts() -> Cancel {
    shared().cancel.clone()
}

/// From now on, the end of standard input asks to stop, if `--until-eof` is given.
///
/// # Errors
/// If the command reads standard input itself.
pub fn stop_at_eof(line: &Line) -> Result<(), Failure> {
    if !line.given.on("until-eof") {
        return Ok(());
    }
    if line.words.iter().any(|word| word == "-") {
        return usage("--until-eof cannot be combined with '-': both read standard input");
    }
    let shared = Arc::clone(shared());
    let read = move || {
        // What arrives before the end means nothing; an error is an end.
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        shared.ask();
    };
    // Without this thread, signals still stop the process.
    let _ = Builder::new().name("pleach-stdin".into()).spawn(read);
    Ok(())
}

/// Requests to save the search now. Catches them from now on.
pub fn requests_to_save() -> SaveNow {
    let shared = shared();
    signals::catch_requests();
    shared.save.clone()
}

/// From now on, a process that is stopped by Ctrl-Z leaves the dashboard's screen first.
pub fn leave_screen_when_stopped() {
    signals::catch_stops();
}

/// A phase in which nothing is lost if the process ends: on a signal or at the time limit, the process prints these
/// last words and ends, unless the phase soon ends on its own.
#[must_use]
pub struct InterruptiblePhase(u64);

impl InterruptiblePhase {
    /// Begins a phase. Has no effect if signals are not caught, as in tests that run the command in-process.
    pub fn until(
        until: Option<Instant>,
        last_words: impl FnOnce(Stop) -> (String, u8) + Send + 'static,
    ) -> Self {
        let Some(shared) = SHARED.get() else { return Self(0) };
        let mut state = shared.lock();
        state.phases += 1;
        state.phase = Some(Phase { until, last_words: Box::new(last_words) });
        shared.changed.notify_all();
        Self(state.phases)
    }
}

impl Drop for InterruptiblePhase {
    fn drop(&mut self) {
        if let Some(shared) = SHARED.get() {
            // Waits for last words that are being printed.
            let mut state = shared.lock();
            if state.phases == self.0 {
                state.phase = None;
            }
        }
    }
}

fn shared() -> &'static Arc<Shared> {
    SHARED.get_or_init(|| {
        let shared = Arc::new(Shared::default());
        signals::catch(&shared);
        let watched = Arc::clone(&shared);
        // Without this thread, phases only end on their own.
        let _ = Builder::new().name("pleach-limits".into()).spawn(move || watched.supervise());
        shared
    })
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for an orderly stop.
    fn ask(&self) {
        self.lock().asked.get_or_insert_with(Instant::now);
        self.cancel.cancel();
        self.changed.notify_all();
    }

    /// Handles a signal that asks to stop.
    fn interrupt(&self) {
        let before = *self.lock().interrupted.get_or_insert_with(Instant::now);
        self.ask();
        // A signal to a process group may arrive twice.
        if before.elapsed() > ONE_WORD {
            end(INTERRUPTED);
        }
    }

    /// Ends phases that do not end on their own.
    fn supervise(&self) {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let due = state.due();
            if let Some((_, why)) = due.filter(|&(at, _)| at <= now)
                && let Some(phase) = state.phase.take()
            {
                let (text, code) = (phase.last_words)(why);
                screen::close();
                if !text.is_empty() {
                    // There is nowhere else to report that this failed.
                    let _ = writeln!(std::io::stdout(), "{text}");
                }
                end(code);
            }
            state = match due {
                Some((at, _)) => {
                    let waited = self.changed.wait_timeout(state, at - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

impl State {
    /// When the current phase has to end, and why.
    fn due(&self) -> Option<(Instant, Stop)> {
        let phase = self.phase.as_ref()?;
        let asked = self.asked.map(|at| (at, Stop::Asked));
        let limit = phase.until.map(|at| (at, Stop::Time));
        let (at, why) = asked.into_iter().chain(limit).min_by_key(|&(at, _)| at)?;
        Some((at + GRACE, why))
    }
}

/// Ends the process at once; restores the terminal and removes incomplete files.
fn end(code: u8) -> ! {
    screen::close();
    remove_parts();
    let _ = std::io::stdout().flush();
    leave(code)
}

#[cfg(unix)]
mod signals {
    use super::{Shared, screen};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGUSR1};
    use signal_hook::iterator::{Handle, Signals};
    use signal_hook::low_level::emulate_default_handler;
    use std::sync::{Arc, OnceLock};
    use std::thread::Builder;

    /// Adds a signal to those that are caught, and those that were ignored at the start.
    static CAUGHT: OnceLock<(Handle, Vec<i32>)> = OnceLock::new();

    /// Catches signals that ask to stop. A signal that is ignored stays ignored, so that commands started with `nohup`
    /// outlive their terminal. If no signal can be caught, the system's defaults apply.
    pub fn catch(shared: &Arc<Shared>) {
        let Ok(mut signals) = Signals::new::<[i32; 0], i32>([]) else { return };
        let (handle, shared) = (signals.handle(), Arc::clone(shared));
        let pass_on = move || {
            for signal in signals.forever() {
                match signal {
                    SIGUSR1 => shared.save.request(),
                    SIGTSTP => {
                        screen::suspend();
                        // If the system does not stop the process, it continues as before.
                        let _ = emulate_default_handler(SIGTSTP);
                    }
                    _ => shared.interrupt(),
                }
            }
        };
        if Builder::new().name("pleach-signals".into()).spawn(pass_on).is_err() {
            return;
        }
        let all = [SIGUSR1, SIGHUP, SIGINT, SIGTERM];
        let ignored = ignored();
        for signal in all.into_iter().filter(|signal| !ignored.contains(signal)) {
            // An MPI library may learn of deaths by this signal, so it is caught once the library is open.
            if signal != SIGUSR1 || pleach_cluster::mpi::rank().is_none() {
                let _ = handle.add_signal(signal);
            }
        }
        let _ = CAUGHT.set((handle, ignored));
    }

    /// Catches requests to save.
    pub fn catch_requests() {
        also(SIGUSR1);
    }

    /// Catches requests to stop the process for a while.
    pub fn catch_stops() {
        also(SIGTSTP);
    }

    /// Catches another signal, unless it is ignored.
    fn also(signal: i32) {
        let caught = CAUGHT.get().filter(|(_, ignored)| !ignored.contains(&signal));
        if let Some((handle, _)) = caught {
            let _ = handle.add_signal(signal);
        }
    }

    /// The signals that this process was started to ignore, if the system reports them.
    fn ignored() -> Vec<i32> {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        (1..=64).filter(|signal| mask >> (signal - 1) & 1 == 1).collect()
    }
}

#[cfg(not(unix))]
mod signals {
    use super::Shared;
    use std::sync::Arc;

    /// Catches Ctrl-C; if that fails, Ctrl-C ends the process.
    pub fn catch(shared: &Arc<Shared>) {
        let shared = Arc::clone(shared);
        let _ = ctrlc::set_handler(move || shared.interrupt());
    }

    /// There are no such requests on this system.
    pub fn catch_requests() {}

    /// There are no such requests on this system.
    pub fn catch_stops() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that Ctrl-C had ended, too, closed the pipe a little later: that used to count as a second Ctrl-C, and
    /// ended the process while it saved.
    #[test]
    fn the_end_of_standard_input_is_no_second_interrupt() {
        let shared = Shared::default();
        shared.interrupt();
        shared.lock().asked = Instant::now().checked_sub(2 * ONE_WORD);
        shared.ask();
        assert!(shared.cancel.is_cancelled());
    }

    /// Nor did the first signal after it leave time to save.
    #[test]
    fn the_first_signal_after_the_end_of_standard_input_is_no_second_one() {
        let shared = Shared::default();
        shared.lock().asked = Instant::now().checked_sub(2 * ONE_WORD);
        shared.interrupt();
        assert!(shared.cancel.is_cancelled());
    }
}

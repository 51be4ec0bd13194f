//! The terminal while a dashboard is up: entered once, always left once; notes are held back meanwhile.

use super::text::Line;
use console::Term;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, Once, PoisonError, TryLockError};
use std::thread::sleep;
use std::time::Duration;

/// Enters the alternate screen, hides the cursor, and turns off line wrapping.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
/// Undoes [`ENTER`].
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";
/// To the upper left corner, the rest of a line, and all below.
const HOME: &str = "\x1b[H";
const CLEAR_LINE: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\x1b[J";
const CLEAR_ALL: &str = "\x1b[2J";

/// The assumed size of a terminal that does not report its size.
const UNKNOWN: (u16, u16) = (80, 24);

/// The maximum number of notes kept for later dashboards.
const NOTES: usize = 50;
/// How often, and at what intervals, an ending process tries to lock the terminal.
const TRIES: (u32, Duration) = (100, Duration::from_millis(5));

/// The state of the one terminal.
struct State {
    up: bool,
    /// Left for as long as the process is stopped or in the background.
    suspended: bool,
    size: (u16, u16),
    /// Notes, the newest ones last.
    notes: Vec<String>,
    /// Notes to print once the terminal is restored.
    held: Vec<String>,
}

static STATE: Mutex<State> = Mutex::new(State {
    up: false,
    suspended: false,
    size: (0, 0),
    notes: Vec::new(),
    held: Vec::new(),
});

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state, unless it stays locked: a blocked terminal must not hold up the end of a process.
fn state_soon() -> Option<MutexGuard<'static, State>> {
    let (tries, pause) = TRIES;
    for _ in 0..tries {
        match STATE.try_lock() {
            Ok(state) => return Some(state),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => sleep(pause),
        }
    }
    None
}

/// Writes to the terminal. There is nowhere to report a failure.
fn send(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Why there is no screen.
pub fn lack() -> &'static str {
    if Term::stderr().is_term() {
        "the terminal cannot move its cursor (TERM=dumb)"
    } else {
        "standard error is not a terminal"
    }
}

/// Enters the alternate screen; returns whether standard error is a terminal that has one.
pub fn open() -> bool {
    static HOOK: Once = Once::new();
    if !Term::stderr().is_term() || console::is_dumb() {
        return false;
    }
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |why| {
            close();
            before(why);
        }));
    });
    let mut state = state();
    if !state.up {
        state.up = true;
        state.size = (0, 0);
        send(ENTER);
    }
    true
}

/// Leaves the alternate screen if it is up, and prints what was held back.
pub fn close() {
    if let Some(mut state) = state_soon() {
        state.suspended = false;
        state.leave();
    }
}

/// Leaves the alternate screen until the process is in the foreground again.
pub fn suspend() {
    if let Some(mut state) = state_soon().filter(|state| state.up) {
        state.suspended = true;
        state.leave();
    }
}

/// Whether the process may write to its terminal, as far as the system says.
fn is_in_foreground() -> bool {
    let status = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the process, in parentheses, may hold anything.
    let fields = status.rsplit(')').next().map(|rest| rest.split_whitespace().collect::<Vec<_>>());
    // State, parent, group, session, terminal, the terminal's foreground group.
    fields.is_none_or(|fields| fields.get(2) == fields.get(5))
}

impl State {
    fn leave(&mut self) {
        if !self.up {
            return;
        }
        self.up = false;
        let held = std::mem::take(&mut self.held);
        let held: String = held.iter().flat_map(|line| [line, "\n"]).collect();
        send(&format!("{LEAVE}{held}"));
    }
}

/// Records a note of the command; returns whether it is held back.
pub fn note(line: &str) -> bool {
    let mut state = state();
    if state.notes.len() == NOTES {
        state.notes.remove(0);
    }
    state.notes.push(line.to_string());
    if state.up {
        state.held.push(line.to_string());
    }
    state.up
}

/// The newest notes, including earlier ones.
pub fn notes() -> Vec<String> {
    state().notes.clone()
}

/// Shows what `page` makes of the terminal's columns and rows.
pub fn draw(page: impl FnOnce((usize, usize)) -> Vec<Line>) {
    let Some((rows, columns)) = Term::stderr().size_checked() else { return };
    // Some terminals do not know their size.
    let (columns, rows) = if columns == 0 || rows == 0 { UNKNOWN } else { (columns, rows) };
    let size = (usize::from(columns), usize::from(rows));
    let frame = frame(&page(size), size);
    let mut state = state();
    if state.suspended && is_in_foreground() {
        (state.up, state.suspended, state.size) = (true, false, (0, 0));
        send(ENTER);
    }
    if !state.up {
        return;
    }
    let resized = std::mem::replace(&mut state.size, (columns, rows)) != (columns, rows);
    send(&if resized { format!("{CLEAR_ALL}{frame}") } else { frame });
}

/// The bytes that overwrite the last frame; only what is not rewritten is cleared.
fn frame(lines: &[Line], (columns, rows): (usize, usize)) -> String {
    let mut out = HOME.to_string();
    for (row, line) in lines.iter().take(rows).enumerate() {
        if row > 0 {
            out += "\r\n";
        }
        out += &line.painted();
        // At the edge, the cursor is on the last character.
        if line.width() < columns {
            out += CLEAR_LINE;
        }
    }
    if lines.len() < rows {
        out += if lines.is_empty() { "" } else { "\r\n" };
        out += CLEAR_BELOW;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::dashboard::text::Paint;

    #[test]
    fn a_frame_clears_what_it_does_not_write() {
        let lines = |texts: &[&str]| -> Vec<Line> {
            texts.iter().map(|text| Line::of(*text, Paint::Plain)).collect()
        };
        assert_eq!(frame(&lines(&["ab", "abc"]), (3, 3)), "\x1b[Hab\x1b[K\r\nabc\r\n\x1b[J");
        assert_eq!(frame(&lines(&["abc", "abc"]), (3, 2)), "\x1b[Habc\r\nabc");
        assert_eq!(frame(&lines(&["abc", "abc"]), (3, 1)), "\x1b[Habc");
        assert_eq!(frame(&[], (3, 1)), "\x1b[H\x1b[J");
    }
}

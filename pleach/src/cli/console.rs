//! [`Console`]: where a command prints, and its exit codes.

use super::dashboard::screen;
use super::log::Log;
use crate::failure::Failure;
use pleach_runtime::output_was_closed;
use std::cell::{Cell, RefCell};
use std::io::{ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The exit codes of a command.
pub const DONE: u8 = 0;
pub const FAILED: u8 = 1;
const BAD_USAGE: u8 = 2;
pub const STOPPED: u8 = 3;

/// Where a command prints.
pub struct Console<'a> {
    /// The program's name, as it stands before errors and in hints.
    pub program: String,
    /// Whether the problem is the user's own.
    pub own: bool,
    out: RefCell<&'a mut dyn Write>,
    err: RefCell<&'a mut dyn Write>,
    /// Whether another process does all the printing.
    mute: Cell<bool>,
    /// Where notes are logged as well.
    log: RefCell<Option<Log>>,
}

impl<'a> Console<'a> {
    /// A console of a program.
    pub fn new(
        program: impl Into<String>,
        own: bool,
        out: &'a mut dyn Write,
        err: &'a mut dyn Write,
    ) -> Self {
        Self {
            program: program.into(),
            own,
            out: RefCell::new(out),
            err: RefCell::new(err),
            mute: Cell::new(false),
            log: RefCell::new(None),
        }
    }

    /// Mutes or unmutes the console.
    pub fn mute(&self, mute: bool) {
        self.mute.set(mute);
    }

    /// Logs notes from now on, if there is a log.
    pub fn keep_log(&self, log: Option<Log>) {
        self.log.replace(log);
    }

    /// Writes a line into the log, if there is one, and shows it nowhere.
    pub fn log(&self, line: &str) {
        if let Some(log) = &mut *self.log.borrow_mut() {
            log.line(line);
        }
    }

    /// Whether it is muted.
    pub fn is_mute(&self) -> bool {
        self.mute.get()
    }

    /// Prints a result; a reader that closed the pipe is not a failure.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        self.print_line(text).map(drop)
    }

    /// Prints one of many lines. Returns whether its reader is still there.
    pub fn print_line(&self, text: &str) -> Result<bool, Failure> {
        if self.mute.get() {
            return Ok(true);
        }
        if output_was_closed() {
            return Err(Failure::Unwritten(
                "standard output is closed, so the result is not printed".into(),
            ));
        }
        match writeln!(self.out.borrow_mut(), "{text}") {
            Ok(()) => Ok(true),
            Err(why) if why.kind() == ErrorKind::BrokenPipe => Ok(false),
            Err(why) => Err(Failure::Unwritten(format!("cannot write to standard output: {why}"))),
        }
    }

    /// Prints an update of `--updates`, apart from the result.
    pub fn update(&self, line: &str) {
        if !self.mute.get() {
            // A reader that is gone misses updates only.
            let _ = writeln!(self.err.borrow_mut(), "{line}");
        }
    }

    /// Prints a note apart from the result, with the program's name.
    pub fn note(&self, line: &str) {
        if self.mute.get() {
            return;
        }
        let line = on_one_line(line);
        self.log(&line);
        let text = format!("{}: {line}", self.program);
        // A dashboard shows it first.
        if !screen::note(&text) {
            // There is nowhere else to report that this failed.
            let _ = writeln!(self.err.borrow_mut(), "{text}");
        }
    }

    /// Carries out a command, prints its error if it fails, and returns the exit code.
    pub fn finish(&self, act: impl FnOnce() -> Result<u8, Failure>) -> u8 {
        let panicked = |_| Err(Failure::Inside("the program panicked (see above)".into()));
        let result = catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(panicked);
        result.unwrap_or_else(|why| match why {
            Failure::Usage(line) => {
                self.note(&line);
                BAD_USAGE
            }
            Failure::Left(line) => {
                self.note(&line);
                STOPPED
            }
            Failure::Inside(line) if self.own => {
                self.note(&format!("{line}; the fault is most likely in this problem's own code"));
                FAILED
            }
            Failure::Inside(line) => {
                self.note(&format!(
                    "{line}; this is a bug: please report it, with the command line"
                ));
                FAILED
            }
            other => {
                self.note(&other.to_string());
                FAILED
            }
        })
    }
}

/// A text without line breaks and other control characters, which names of files may have.
fn on_one_line(text: &str) -> String {
    text.chars().fold(String::new(), |mut line, c| {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
        line
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::usage;

    fn finished(own: bool, act: impl FnOnce() -> Result<u8, Failure>) -> (u8, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = Console::new("mine", own, &mut out, &mut err).finish(act);
        (code, String::from_utf8(err).unwrap())
    }

    #[test]
    fn a_failure_says_whose_fault_it_is() {
        let (code, said) = finished(true, || panic!("in a tree of the user's"));
        assert_eq!(code, FAILED);
        assert!(said.contains("this problem's own code") && !said.contains("report"), "{said}");
        let (code, said) = finished(false, || panic!("in a problem of ours"));
        assert_eq!(code, FAILED);
        assert!(said.contains("please report it"), "{said}");
        let (code, said) = finished(false, || Err(Failure::Machine("disk full".into())));
        assert_eq!((code, said.as_str()), (FAILED, "mine: disk full\n"));
        let (code, said) = finished(false, || usage("wrong"));
        assert_eq!((code, said.as_str()), (BAD_USAGE, "mine: wrong\n"));
        let (_, said) = finished(false, || usage("a\nb\u{1b}.txt: no such file"));
        assert_eq!(said, "mine: a\\nb\\u{1b}.txt: no such file\n", "an error is one line");
        assert_eq!(finished(false, || Ok(DONE)), (DONE, String::new()));
    }
}

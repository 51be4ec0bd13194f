//! [`Handling`]: how a GPU gets its kernels and how long they may run; [`BuiltKernel`]: the form that was built.

use pleach_core::search::named::named;
use std::time::Duration;

/// A form of a kernel, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Compiled for the instance by an earlier run.
    Cached,
    /// Compiled for the instance by this run.
    Compiled,
    /// Compiled for the instance, then marked for a driver older than the compiler.
    Lowered,
    /// Shipped with Pleach, for any instance.
    Committed,
}

named!(Form {
    Cached = "cached",
    Compiled = "compiled",
    Lowered = "lowered",
    Committed = "committed",
});

/// How a GPU gets its kernels, and how long they may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handling {
    /// The only form to use: compiled in this run, or shipped with Pleach.
    pub form: Option<Form>,
    /// Whether compiled code names the lines of its source, for profilers.
    pub lines: bool,
    /// Seconds after which a running kernel counts as hung.
    pub wait: Option<u32>,
}

/// The default of [`Handling::wait`], in seconds. Others may use the GPU as well.
const WAIT: u32 = 10;

impl Handling {
    /// How long to wait for a kernel that itself takes no time.
    pub(super) fn patience(&self) -> Duration {
        Duration::from_secs(self.wait.unwrap_or(WAIT).into())
    }

    /// Whether this form may be used.
    pub(super) fn allows(&self, form: Form) -> bool {
        match self.form {
            None => true,
            Some(Form::Committed) => form == Form::Committed,
            Some(_) => matches!(form, Form::Compiled | Form::Lowered),
        }
    }
}

/// The form of a kernel in use, and why it is not a better one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltKernel {
    /// The form.
    pub form: Form,
    /// Why better forms failed, in one line; empty if none did.
    pub log: String,
}

/// The maximum length of a log, in characters.
const LOG_CHARACTERS: usize = 600;

/// A log in one line, cut if it is long.
pub(super) fn in_one_line(log: &str) -> String {
    let lines = log.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let lines = lines.map(|line| line.trim_end_matches(';').to_string());
    let line = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
    match line.char_indices().nth(LOG_CHARACTERS) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_become_a_line() {
        assert_eq!(in_one_line("a  b;\n\n\tc\n"), "a b; c");
        assert_eq!(in_one_line(&"é".repeat(700)).chars().count(), LOG_CHARACTERS + 2);
    }

    #[test]
    fn a_forced_form_excludes_all_others() {
        let forced = |form| Handling { form: Some(form), ..Handling::default() };
        let allowed = |handling: Handling| Form::ALL.map(|form| handling.allows(form));
        assert_eq!(allowed(Handling::default()), [true; 4]);
        assert_eq!(allowed(forced(Form::Compiled)), [false, true, true, false]);
        assert_eq!(allowed(forced(Form::Committed)), [false, false, false, true]);
    }
}

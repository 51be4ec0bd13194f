//! Progress on the terminal, and Ctrl-C.

use super::options::Options;
use crate::report::trace::{self, Moment};
use crate::report::{gap, grouped, short};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pleach_run::Sight;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How often Ctrl-C was pressed.
static INTERRUPTS: AtomicU32 = AtomicU32::new(0);

/// Two interrupts within this time are one.
const ONE_WORD: Duration = Duration::from_millis(200);

/// Whether Ctrl-C was pressed.
pub fn interrupted() -> bool {
    INTERRUPTS.load(Ordering::Relaxed) > 0
}

/// Counts Ctrl-C from now on: the first stops the search, the second ends the process at once.
pub fn catch_interrupts() {
    static CAUGHT: OnceLock<()> = OnceLock::new();
    CAUGHT.get_or_init(|| {
        let mut last: Option<Instant> = None;
        let caught = ctrlc::set_handler(move || {
            // Whoever stops a group of processes may send the same word twice.
            let again = last.is_some_and(|last| last.elapsed() > ONE_WORD);
            last.get_or_insert_with(Instant::now);
            INTERRUPTS.fetch_add(1, Ordering::Relaxed);
            if again {
                std::process::exit(130);
            }
        });
        // Without a handler Ctrl-C ends the process, which is what the system does by itself.
        let _ = caught;
    });
}

/// A line on the terminal that says how far the search is.
pub struct Progress {
    line: ProgressBar,
    /// Nodes and time of the look before.
    before: (u64, f64),
    /// When the best value or the bound changed, if that is to be kept.
    moments: Option<Vec<Moment>>,
}

impl Progress {
    /// A line on standard error if that is a terminal and nobody asked for quiet.
    pub fn new(options: &Options) -> Self {
        catch_interrupts();
        let shown = !options.quiet && std::io::stderr().is_terminal();
        let target =
            if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        // A template that is only the message has nothing that could be wrong with it.
        let style = ProgressStyle::with_template("{msg}").expect("a template");
        let line = ProgressBar::with_draw_target(None, target).with_style(style);
        let moments = options.trace.is_some().then(Vec::new);
        Self { line, before: (0, 0.0), moments }
    }

    /// Shows a look at the run; breaks if Ctrl-C was pressed.
    pub fn show(&mut self, sight: &Sight) -> ControlFlow<()> {
        if let Some(warning) = &sight.warning {
            // Above the line if there is one.
            self.line.suspend(|| eprintln!("pleach: warning: {warning}"));
        }
        if let Some(moments) = &mut self.moments {
            trace::note(moments, Moment::of(sight));
        }
        if !self.line.is_hidden() {
            let (nodes, seconds) = (sight.counts.bounded, sight.seconds);
            let rate =
                nodes.saturating_sub(self.before.0) as f64 / (seconds - self.before.1).max(1e-9);
            self.before = (nodes, seconds);
            let mut text = format!(
                "{seconds:.1} s  {} nodes, {} a second",
                grouped(nodes.into()),
                short(rate)
            );
            if sight.counts.total > 0 && sight.counts.total != u128::from(nodes) {
                text += &format!("  {} counted", grouped(sight.counts.total));
            }
            if let Some(best) = sight.best {
                text += &format!("  best {best}");
            }
            if let Some(bound) = sight.bound {
                text += &format!("  bound {bound}");
                if let Some(best) = sight.best {
                    text += &format!("  gap {:.2} %", 100.0 * gap(best, bound));
                }
            }
            if let Some(done) = sight.done {
                text += &format!("  {:.1} % done", 100.0 * done);
            }
            self.line.set_message(text);
            self.line.tick();
        }
        if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Progress {
    /// When the best value or the bound changed.
    pub fn moments(&mut self) -> Vec<Moment> {
        self.moments.take().unwrap_or_default()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}

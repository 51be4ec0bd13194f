//! [`Dashboard`]: the live view that `--dashboard` shows on the whole terminal.

mod chart;
mod history;
mod page;
#[cfg(test)]
mod page_tests;
pub mod screen;
mod table;
mod text;

use super::console::Console;
use super::stopping::leave_screen_when_stopped;
use history::{History, Sample};
use page::{Scene, Title, page};
use pleach_loops::looping::LoopSnapshot;
use pleach_runtime::Cancel;
use pleach_runtime::ProgressSnapshot;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The least time between two frames.
const FRAME: Duration = Duration::from_millis(90);

/// A live view of a run on the whole terminal, which is restored when this is dropped.
pub struct Dashboard {
    title: Title,
    history: History,
    /// Values are multiples of 10 to the power of minus this.
    decimals: u32,
    cancel: Cancel,
    began: Instant,
    drawn: Option<Instant>,
}

impl Dashboard {
    /// Takes over the terminal, if this was requested and there is one. `words` name the run.
    pub fn open(
        console: &Console<'_>,
        asked: bool,
        words: &[&str],
        cancel: &Cancel,
    ) -> Option<Self> {
        static TOLD: AtomicBool = AtomicBool::new(false);
        if !asked || console.is_mute() {
            return None;
        }
        if !screen::open() {
            // Only once for all instances on a command line.
            if !TOLD.swap(true, Ordering::Relaxed) {
                let why = screen::lack();
                console.note(&format!("warning: {why}; continuing without a dashboard"));
            }
            return None;
        }
        leave_screen_when_stopped();
        let words = words.iter().map(|word| (*word).to_string()).collect();
        let title = Title { program: console.program.clone(), words, ..Title::default() };
        let (history, cancel, began) = (History::default(), cancel.clone(), Instant::now());
        let mut board = Self { title, history, decimals: 0, cancel, began, drawn: None };
        board.draw();
        Some(board)
    }

    /// Begins another run, one of this many.
    pub fn begin(&mut self, run: u64, runs: u64) {
        self.title.run = (run, runs);
        self.title.nth_loop = 0;
        self.history = History::default();
        self.began = Instant::now();
        self.draw();
    }

    /// Begins another loop of the run.
    pub fn begin_loop(&mut self) {
        self.title.nth_loop += 1;
        self.history = History::default();
    }

    /// Shows a snapshot of a search, whose values are multiples of 10 to the power of minus `decimals`.
    pub fn show(&mut self, snapshot: &ProgressSnapshot, decimals: u32) {
        self.decimals = decimals;
        // A last warning comes without a sample.
        if !snapshot.workers.is_empty() {
            self.history.add(Sample::from(snapshot));
        }
        self.draw_in_time();
    }

    /// Shows a snapshot of a loop.
    pub fn show_loop(&mut self, snapshot: &LoopSnapshot) {
        self.history.add(Sample::from(snapshot));
        self.draw_in_time();
    }

    fn draw_in_time(&mut self) {
        if self.drawn.is_none_or(|drawn| drawn.elapsed() >= FRAME) {
            self.draw();
        }
    }

    fn draw(&mut self) {
        let Self { title, history, decimals, .. } = self;
        // The time of a resumed search includes earlier runs.
        let search = history.last().filter(|last| last.whole.is_none());
        let seconds = search.map_or(self.began.elapsed().as_secs_f64(), |last| last.seconds);
        let (stopping, notes) = (self.cancel.is_cancelled(), &screen::notes());
        let scene = Scene { title, history, decimals: *decimals, seconds, stopping, notes };
        screen::draw(|size| page(&scene, size));
        self.drawn = Some(Instant::now());
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        screen::close();
    }
}

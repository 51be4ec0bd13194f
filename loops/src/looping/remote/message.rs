//! [`LoopMessage`]: what processes say to each other about a shared loop.

use super::super::loop_thread::TakerTally;
use pleach_core::search::work::{Malformed, Pack};
use std::ops::Range;

/// A message about a step: a loop, or the exchange before the first one.
#[derive(Clone, Debug, PartialEq, Pack)]
pub(super) struct LoopMessage {
    /// The number of the step since the root began.
    pub at: u32,
    pub what: What,
}

/// What it says.
#[derive(Clone, Debug, PartialEq, Pack)]
pub(super) enum What {
    /// To the root: the sender has reached this step.
    Ready(WorkerCount),
    /// From the root: run these rows.
    Run { number: u32, rows: Range<u32> },
    /// The results of rows that were handed out under this number; from the root, the results of all rows.
    Results { number: u32, rows: Range<u32>, bytes: Vec<u8> },
    /// From the root: the step is over; whether it ran to its end.
    Over { complete: bool },
    /// To the root, after a loop: what each of the sender's workers did.
    WorkerReports(Vec<TakerTally>),
    /// To the root: the sender knows that the step is over.
    Heard,
    /// To the root, periodically: the sender is alive.
    Alive,
    /// To the root: the sender leaves.
    Leave,
}

/// What a process says when it is ready.
#[derive(Clone, Debug, Default, PartialEq, Pack)]
pub(super) struct WorkerCount {
    /// Units of its loop, which must equal the root's. Before the first loop: 1 if it already knows what comes
    /// first.
    pub units: u64,
    /// The name of its machine.
    pub host: String,
    /// The names of its workers.
    pub names: Vec<String>,
}

/// The maximum number of workers of a process.
const MOST_WORKERS: usize = 1 << 14;
const LONGEST_NAME: usize = 256;

impl LoopMessage {
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let message = Self::unpacked(bytes)?;
        if message.what.is_possible() { Ok(message) } else { Err(Malformed::Range) }
    }
}

impl What {
    /// Whether a process can have sent it.
    fn is_possible(&self) -> bool {
        match self {
            What::Ready(WorkerCount { host, names, .. }) => {
                names.len() <= MOST_WORKERS && names.iter().chain([host]).all(|name| is_name(name))
            }
            What::WorkerReports(all) => {
                let is_cost = |did: &TakerTally| did.cost.is_finite() && did.cost >= 0.0;
                all.len() <= MOST_WORKERS && all.iter().all(is_cost)
            }
            What::Run { rows, .. } | What::Results { rows, .. } => rows.start <= rows.end,
            _ => true,
        }
    }
}

/// Whether a name is safe to show on a terminal.
fn is_name(text: &str) -> bool {
    text.len() <= LONGEST_NAME && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_the_way() {
        let reports = TakerTally { units: 7, cost: 7.0, ranges: 2, busy_ns: 1 << 40 };
        let workers =
            WorkerCount { units: 9, host: "here".into(), names: vec!["cpu0".into(), "".into()] };
        let all = [
            What::Ready(workers),
            What::Run { number: 3, rows: 5..5 },
            What::Results { number: 0, rows: 0..u32::MAX, bytes: vec![0, 1, 255] },
            What::Over { complete: true },
            What::WorkerReports(vec![reports; 2]),
            What::Alive,
            What::Leave,
            What::Heard,
        ];
        for what in all {
            let word = LoopMessage { at: 300, what };
            assert_eq!(LoopMessage::from_bytes(&word.packed()), Ok(word));
        }
    }

    #[test]
    fn what_is_no_word_is_refused() {
        for bytes in
            [&[][..], &[1], &[1, 9], &[1, 1, 0, 5, 4], &[1, 3, 2], &[1, 5, 0], &[1, 4, 200]]
        {
            assert!(LoopMessage::from_bytes(bytes).is_err(), "{bytes:?}");
        }
        for host in ["\u{1b}[2J", &"x".repeat(257)] {
            let workers = WorkerCount { host: host.into(), ..WorkerCount::default() };
            let word = LoopMessage { at: 1, what: What::Ready(workers) };
            assert!(LoopMessage::from_bytes(&word.packed()).is_err(), "{host:?}");
        }
    }
}

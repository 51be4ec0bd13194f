//! [`SessionMessage`]: the messages between the processes of a search.

use super::totals::SiteTotals;
use pleach_core::lease::SiteId;
use pleach_core::search::tree::{Counts, Solution};
use pleach_core::search::work::{Malformed, Pack};
use pleach_runtime::control::Stop;
use pleach_runtime::error::RunError;
use pleach_runtime::outcome::WorkerReport;

/// A message between sites about a search.
#[derive(Clone, Debug, Pack)]
pub enum SessionMessage {
    /// From the root: a search begins.
    Begin(Order),
    /// Between two gateways.
    Gateway(Vec<u8>),
    /// To the root, periodically: the sender's progress.
    SiteProgress(SiteProgress),
    /// To the root: a request to stop the search, with a reason.
    Wish(Stop),
    /// The sender failed, for a reason that ends the search.
    Failed(String),
    /// To the root, at the end: the sender's totals.
    SiteTotals(SiteTotals),
    /// From the root: no search follows.
    Dismissed,
    /// About a loop.
    Loop(Vec<u8>),
    /// To the root: the sender has left for good.
    Left,
    /// From the root: where a standby takes the root's place if the root is gone.
    Standby(String),
    /// From the root, to a standby.
    Copy(RootCopy),
    /// From a standby: a copy has arrived, and another one may be sent.
    Copied,
}

/// What a standby keeps to take the root's place.
#[derive(Clone, Debug, Default, PartialEq, Pack)]
pub struct RootCopy {
    /// The root's file.
    pub file: Vec<u8>,
    /// The time that the search may still take, if it is limited.
    pub left_ns: Option<u64>,
    /// The number of nodes, those in the file included, at which the search stops, if it is limited.
    pub last_node: Option<u64>,
    /// The number of places for processes.
    pub places: u32,
}

/// A search in which a site takes part.
#[derive(Clone, Debug, Default, PartialEq, Pack)]
pub struct Order {
    /// The run number, which is also in its file. A run with another value to beat has another number.
    pub run: u64,
    /// How often another process has taken the root's place in this run.
    pub term: u32,
    /// A random number that the root drew for this search: it differs after a restart.
    pub root: u64,
    /// The fingerprint of the problem.
    pub fingerprint: u64,
    /// The score that solutions must beat even though no solution with that score is known.
    pub cutoff: i64,
    /// The best solution that is known.
    pub best: Option<Solution>,
    /// Whether there is a node limit.
    pub limited: bool,
    /// Whether heuristics run alongside the search.
    pub improve: bool,
    /// Whether to record the activity of the workers.
    pub trace: bool,
    /// A description of the search by the process that began it.
    pub about: Vec<u8>,
}

impl Order {
    /// Whether a process in the run of the other order can continue with its work: it has pruned by no value that this
    /// run does not know, and counts nodes by the same limit.
    pub fn continues(&self, other: &Self) -> bool {
        (self.run, self.fingerprint, self.limited) == (other.run, other.fingerprint, other.limited)
    }
}

/// The longest reason for a failure.
const MOST_TEXT: usize = 1000;

/// The maximum number of workers of a site.
const MOST_WORKERS: u32 = 1 << 14;

/// The progress of a site.
#[derive(Clone, Debug, Default, PartialEq, Pack)]
pub struct SiteProgress {
    /// The counts of its workers.
    pub counts: Counts,
    /// The number of its workers.
    pub workers: u32,
    /// How many of these have work.
    pub busy: u32,
    /// Whether one of them is a device that does not know which part of the tree its nodes are.
    pub blind: bool,
}

impl SessionMessage {
    /// The message as a packet about the search with this number.
    pub fn to_bytes(&self, search: u64) -> Vec<u8> {
        let mut out = Vec::new();
        search.pack(&mut out);
        self.pack(&mut out);
        out
    }

    /// Reads a packet. Returns the number of the search, and the message.
    pub fn from_bytes(bytes: &[u8]) -> Result<(u64, Self), Malformed> {
        let (search, mut message) = <(u64, Self)>::unpacked(bytes)?;
        if let SessionMessage::Failed(why) = &mut message {
            // The reason is shown on a terminal, in one line.
            *why = why.chars().filter(|it| !it.is_control()).take(MOST_TEXT).collect();
        }
        if message.is_possible() { Ok((search, message)) } else { Err(Malformed::Range) }
    }

    /// Whether a site can have sent it.
    fn is_possible(&self) -> bool {
        match self {
            SessionMessage::SiteProgress(progress) => {
                progress.workers <= MOST_WORKERS && progress.busy <= progress.workers
            }
            SessionMessage::SiteTotals(totals) => {
                let timed = |worker: &WorkerReport| {
                    let seconds = [worker.busy_s, worker.improve_s, worker.idle_s];
                    seconds.into_iter().chain(worker.opened_s).all(|it| it >= 0.0 && it.is_finite())
                };
                totals.workers.len() <= MOST_WORKERS as usize && totals.workers.iter().all(timed)
            }
            _ => true,
        }
    }
}

/// The run of the search that a welcome announces, and the term of its root.
#[must_use]
pub fn search_of(welcome: &[u8]) -> Option<(u64, u32)> {
    match SessionMessage::from_bytes(welcome) {
        Ok((_, SessionMessage::Begin(order))) => Some((order.run, order.term)),
        _ => None,
    }
}

/// The error at an invalid message where processes live and die together.
#[must_use]
pub fn invalid_message_from(site: SiteId) -> RunError {
    RunError::Protocol(format!("invalid message from site {site}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_a_round_trip() {
        let counts = Counts { branched: 7, bounded: 30, total: 2, depth: 4, tally: vec![3] };
        let best = Some(Solution { score: -5, solution: vec![1, 2] });
        let order =
            Order { run: 7, best, limited: true, about: b"{}".to_vec(), ..Order::default() };
        let messages = [
            SessionMessage::Begin(order),
            SessionMessage::Gateway(vec![1, 2, 3]),
            SessionMessage::SiteProgress(SiteProgress { counts, workers: 3, busy: 2, blind: true }),
            SessionMessage::Wish(Stop::Memory),
            SessionMessage::Failed("a bound is wrong".into()),
            SessionMessage::SiteTotals(SiteTotals::default()),
            SessionMessage::Dismissed,
            SessionMessage::Loop(vec![4, 5]),
            SessionMessage::Left,
            SessionMessage::Standby("here:7400".into()),
            SessionMessage::Copy(RootCopy { left_ns: Some(7), ..RootCopy::default() }),
            SessionMessage::Copied,
        ];
        for message in messages {
            let (search, read) = SessionMessage::from_bytes(&message.to_bytes(9)).unwrap();
            assert_eq!((search, format!("{read:?}")), (9, format!("{message:?}")));
        }
    }

    /// A site's reason for a failure used to reach the terminal with its escape sequences.
    #[test]
    fn foreign_texts_are_one_line_of_plain_characters() {
        let text = format!("\u{1b}[2Jgone\nfor good{}", "!".repeat(5000));
        let (_, read) =
            SessionMessage::from_bytes(&SessionMessage::Failed(text).to_bytes(1)).unwrap();
        let SessionMessage::Failed(read) = read else { panic!("{read:?}") };
        assert!(read.starts_with("[2Jgonefor good!!!") && read.len() == MOST_TEXT, "{read}");
    }

    #[test]
    fn invalid_messages_are_refused() {
        for bytes in [&[][..], &[0], &[0, 9], &[0, 3, 99], &[0, 3], &[0, 6, 1], &[0, 4, 1, 0xff]] {
            assert!(SessionMessage::from_bytes(bytes).is_err(), "{bytes:?}");
        }
        let progress = |bounded, busy| {
            let counts = Counts { bounded, ..Counts::default() };
            SessionMessage::SiteProgress(SiteProgress { counts, workers: 2, busy, blind: false })
        };
        let totals = |busy_s| {
            let workers = vec![WorkerReport { busy_s, ..WorkerReport::default() }];
            SessionMessage::SiteTotals(SiteTotals { workers, ..SiteTotals::default() })
        };
        let read = |message: SessionMessage| SessionMessage::from_bytes(&message.to_bytes(1));
        assert!(read(progress(1, 2)).is_ok() && read(totals(0.5)).is_ok());
        let wrong = [progress(1, 3), progress(u64::MAX, 2), totals(f64::NAN), totals(-1.0)];
        for message in wrong {
            let shown = format!("{message:?}");
            assert!(read(message).is_err(), "{shown}");
        }
    }
}

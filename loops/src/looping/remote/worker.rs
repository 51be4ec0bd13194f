//! [`LoopWorker`]: the part of a loop in a follower of the root: ranges come in, and results go out.

use super::super::loop_queue::{LoopQueue, UnitsOf};
use super::assignments::{Assignments, in_pieces};
use super::message::{What, WorkerCount};
use super::orders::{next_message, send_message};
use crate::looping::contract::RemoteLoop;
use pleach_cluster::Cluster;
use pleach_cluster::sites::message::SessionMessage;
use pleach_cluster::sites::session::Session;
use pleach_runtime::error::RunError;
use std::ops::Range;
use std::time::{Duration, Instant};

/// The part of a loop in a process that follows the root.
pub(super) struct LoopWorker<'a> {
    pub share: &'a LoopQueue<'a>,
    pub assignments: &'a Assignments,
    pub work: &'a dyn RemoteLoop,
    pub cluster: &'a Cluster,
    /// The units of the loop for rows of the queue.
    pub units: UnitsOf<'a>,
    pub workers: WorkerCount,
}

/// Time between two heartbeats.
const ALIVE: Duration = Duration::from_millis(250);

impl LoopWorker<'_> {
    /// Does what the root wants until the loop is over. Returns whether it ran to its end.
    pub fn run(&self) -> Result<bool, RunError> {
        let session = &mut *self.cluster.session();
        let at = self.cluster.sequence().at;
        send_message(session, 0, at, What::Ready(self.workers.clone()));
        let mut last_sent = Instant::now();
        let mut report = |session: &mut Session| {
            for (number, rows) in self.assignments.take_finished() {
                self.send_results(session, at, (number, rows));
                last_sent = Instant::now();
            }
            if last_sent.elapsed() > ALIVE {
                send_message(session, 0, at, What::Alive);
                last_sent = Instant::now();
            }
        };
        loop {
            while let Some(word) = next_message(session)? {
                // Messages about an earlier loop no longer matter.
                let Some(what) = (word.at == at).then_some(word.what) else { continue };
                match what {
                    What::Run { number, rows } => {
                        let end = rows.end.min(self.share.rows());
                        let rows = rows.start.min(end)..end;
                        self.assignments.add(number, rows.clone());
                        self.share.hand_out([rows]);
                    }
                    What::Results { rows, bytes, .. } if rows.end <= self.share.rows() => {
                        self.work.unpack_all((self.units)(&rows), &bytes)?;
                        // More may wait than can be unpacked before the root considers this process lost.
                        report(session);
                    }
                    What::Over { complete } => {
                        send_message(session, 0, at, What::Heard);
                        self.cluster.sequence().at = at + 1;
                        return Ok(complete);
                    }
                    _ => {}
                }
            }
            if session.is_past() {
                return Ok(false);
            }
            if self.share.is_stopped() {
                send_message(session, 0, at, What::Leave);
                return Ok(false);
            }
            report(session);
            self.cluster.wait_for_arrival(session, ALIVE);
        }
    }

    /// Sends results. If they are too long for a message, the root learns why and excludes this process.
    fn send_results(&self, session: &mut Session, at: u32, (number, rows): (u32, Range<u32>)) {
        let mut fits = true;
        in_pieces(self.work, rows, self.units, |rows, bytes| {
            if !fits {
                return;
            }
            fits = bytes.len() as u64 <= self.cluster.longest_packet();
            if fits {
                send_message(session, 0, at, What::Results { number, rows, bytes });
            } else {
                let why = format!("results of {} bytes are too long for a message", bytes.len());
                session.send(0, &SessionMessage::Failed(why));
            }
        });
    }
}

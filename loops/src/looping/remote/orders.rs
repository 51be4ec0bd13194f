//! Starts and ends loops of several processes: the root says what to run, and the others ask for what they need.

use super::message::{LoopMessage, What, WorkerCount};
use pleach_cluster::sites::loop_sequence::{First, LoopSequence};
use pleach_cluster::sites::message::SessionMessage;
use pleach_cluster::sites::session::{Incoming, Session};
use pleach_cluster::sites::{Cluster, Order};
use pleach_core::lease::SiteId;
use pleach_core::search::work::Pack;
use pleach_core::wire::fingerprint;
use pleach_runtime::error::RunError;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// The maximum wait between two checks whether to continue waiting.
const POLL_EVERY: Duration = Duration::from_millis(50);

/// What the processes of a cluster do with loops.
pub trait ShareLoops {
    /// Starts an order of loops at the root. All processes learn what it is `about`; each of them can request `first`.
    ///
    /// # Errors
    /// If this process already runs one.
    fn begin_loops(&self, about: Vec<u8>, first: First) -> Result<(), RunError>;

    /// Ends an order of loops at the root: processes that join now wait for the next one.
    fn end_loops(&self);

    /// The same, but waits until all others know the end of every loop. Returns warnings, such as why one of them was
    /// excluded or lost.
    ///
    /// # Errors
    /// If the network or another process fails.
    fn end_loops_together(&self) -> Result<Vec<String>, RunError>;

    /// This process has failed in a loop. If all live and die together, that ends the others too.
    fn fail_loops(&self, why: &str);

    /// What the root says first about the current order; nothing if this process `knows` it already. `None` if this
    /// process came too late, or `waits` returned false.
    ///
    /// # Errors
    /// If the network fails, or the root is lost.
    fn first_of_loops(
        &self,
        knows: bool,
        waits: impl Fn() -> bool,
    ) -> Result<Option<Vec<u8>>, RunError>;
}

impl ShareLoops for Cluster {
    fn begin_loops(&self, about: Vec<u8>, first: First) -> Result<(), RunError> {
        let order = Order { fingerprint: fingerprint("loops", &about), about, ..Order::default() };
        self.can_begin_loops()?;
        let (mut session, mut sequence) = (self.session(), self.sequence());
        let barred = std::mem::take(&mut sequence.barred);
        *sequence = LoopSequence::after(first, barred);
        session.begin_search(order);
        Ok(())
    }

    fn end_loops(&self) {
        self.session().end_search();
    }

    fn end_loops_together(&self) -> Result<Vec<String>, RunError> {
        let (session, sequence) = (&mut *self.session(), &mut *self.sequence());
        let mut warnings = Vec::new();
        let last = sequence.at - 1;
        let waits_for = |sequence: &LoopSequence, site: SiteId| {
            !sequence.barred.contains(&site)
                && sequence.informed.get(&site).is_none_or(|&at| at < last)
        };
        while session.others().into_iter().any(|site| waits_for(sequence, site)) {
            match session.next_incoming()? {
                Some(Incoming::Message(site, _)) if is_excluded(session, sequence, site) => {}
                Some(Incoming::Message(from, SessionMessage::Loop(bytes))) => {
                    match LoopMessage::from_bytes(&bytes) {
                        Ok(LoopMessage { at, what: What::Ready(workers) }) if at <= last => {
                            send_end(session, sequence, from, (at, &workers));
                        }
                        Ok(LoopMessage { at, what: What::Heard }) => {
                            sequence.record_informed(from, at)
                        }
                        Ok(LoopMessage { what: What::Leave, .. }) => {
                            sequence.record_informed(from, last)
                        }
                        Err(why) => {
                            let why = why.to_string();
                            warnings.extend(exclude(self, session, sequence, from, &why)?);
                        }
                        Ok(_) => {}
                    }
                }
                Some(Incoming::Message(site, SessionMessage::Failed(why))) => {
                    warnings.extend(exclude(self, session, sequence, site, &why)?);
                }
                Some(Incoming::End) => {
                    return Err(RunError::Lost("the network was shut down".into()));
                }
                Some(Incoming::Invalid(site)) => {
                    warnings.extend(exclude(self, session, sequence, site, INVALID)?);
                }
                Some(Incoming::Note(line)) => warnings.push(line),
                Some(_) => {}
                None => self.wait_for_arrival(session, POLL_EVERY),
            }
        }
        session.end_search();
        Ok(warnings)
    }

    fn fail_loops(&self, why: &str) {
        let mut session = self.session();
        if self.is_root() {
            session.send_all(&SessionMessage::Failed(why.into()));
        } else {
            session.send(0, &SessionMessage::Failed(why.into()));
        }
    }

    fn first_of_loops(
        &self,
        knows: bool,
        waits: impl Fn() -> bool,
    ) -> Result<Option<Vec<u8>>, RunError> {
        self.can_begin_loops()?;
        let mut session = self.session();
        *self.sequence() = LoopSequence::default();
        let workers = WorkerCount { units: knows.into(), ..WorkerCount::default() };
        send_message(&mut session, 0, 0, What::Ready(workers));
        let mut first = Vec::new();
        while waits() && !session.is_past() {
            match next_message(&mut session)? {
                Some(LoopMessage { at: 0, what: What::Results { bytes, .. } }) => {
                    first.extend_from_slice(&bytes);
                }
                Some(LoopMessage { at: 0, what: What::Over { .. } }) => {
                    send_message(&mut session, 0, 0, What::Heard);
                    self.sequence().at = 1;
                    return Ok(Some(first));
                }
                Some(_) => {}
                None => self.wait_for_arrival(&session, POLL_EVERY),
            }
        }
        Ok(None)
    }
}

/// The reason for the exclusion of a process whose message could not be read.
pub(super) const INVALID: &str = "its message is invalid";

/// Excludes a process that failed or sent an invalid message, so that nobody waits for it. Returns a warning if it took
/// part until now.
///
/// # Errors
/// If all processes live and die together.
pub(super) fn exclude(
    cluster: &Cluster,
    session: &mut Session,
    sequence: &mut LoopSequence,
    site: SiteId,
    why: &str,
) -> Result<Option<String>, RunError> {
    if !cluster.is_open() {
        return Err(RunError::Site { site, why: why.into() });
    }
    if is_excluded(session, sequence, site) {
        return Ok(None);
    }
    if !session.expel(site, why) {
        sequence.barred.insert(site);
    }
    Ok(Some(format!("site {site} was excluded: {why}")))
}

/// Whether messages of a site no longer count.
pub(super) fn is_excluded(session: &Session, sequence: &LoopSequence, site: SiteId) -> bool {
    !session.is_there(site) || sequence.barred.contains(&site)
}

/// Sends a message about a step. Returns whether there is a receiver.
pub(super) fn send_message(session: &mut Session, to: u32, at: u32, what: What) -> bool {
    session.send(to, &SessionMessage::Loop(LoopMessage { at, what }.packed()))
}

/// A message with results that several processes need.
pub(super) fn pack_results(
    session: &Session,
    at: u32,
    (rows, bytes): (Range<u32>, Vec<u8>),
) -> Arc<[u8]> {
    let what = What::Results { number: 0, rows, bytes };
    session.pack_shared(&SessionMessage::Loop(LoopMessage { at, what }.packed()))
}

/// Sends a process that was ready for a finished step the results that everybody needs, and the news that the step is
/// over.
pub(super) fn send_end(
    session: &mut Session,
    sequence: &mut LoopSequence,
    to: u32,
    (at, workers): (u32, &WorkerCount),
) {
    let Some((complete, results)) = sequence.past.get_mut(at as usize) else { return };
    let knows = at == 0 && workers.units > 0;
    if !knows {
        if at == 0 && results.is_empty() {
            let first = sequence.first.0.iter();
            *results = first.map(|part| pack_results(session, 0, (0..0, part.to_vec()))).collect();
        }
        results.iter().for_each(|message| session.send_shared(to, message));
    }
    send_message(session, to, at, What::Over { complete: *complete });
}

/// The next message from the root to this process.
pub(super) fn next_message(session: &mut Session) -> Result<Option<LoopMessage>, RunError> {
    loop {
        let Some(incoming) = session.next_incoming()? else { return Ok(None) };
        match incoming {
            Incoming::Message(0, SessionMessage::Loop(bytes)) => {
                return Ok(Some(LoopMessage::from_bytes(&bytes)?));
            }
            Incoming::Message(0, SessionMessage::Failed(why)) => {
                return Err(RunError::Site { site: 0, why });
            }
            // A root that has ended waits only for a while for those that have not noticed.
            Incoming::Lost(0) if !session.is_dismissed() => {
                return Err(RunError::Lost(session.root_loss()));
            }
            Incoming::End => return Err(RunError::Lost("the network was shut down".into())),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_cluster::{Arrival, Members, NetError, Network, Rank};
    use std::collections::VecDeque;

    /// What arrives at site 1.
    struct Arrivals(VecDeque<Arrival>);

    impl Network for Arrivals {
        fn me(&self) -> Rank {
            1
        }

        fn sites(&self) -> u32 {
            2
        }

        fn members(&self) -> Members {
            Members::Changing
        }

        fn name(&self) -> &str {
            "a test"
        }

        fn send(&mut self, _: Rank, _: Vec<u8>) {}

        fn poll(&mut self) -> Result<Option<Arrival>, NetError> {
            Ok(self.0.pop_front())
        }

        fn rest(&self) -> Option<Duration> {
            None
        }

        fn finish(&mut self) {}

        fn abort(&mut self, _: i32) {}
    }

    /// A process that prepared a loop for longer than its root waited at the end used to fail.
    #[test]
    fn a_root_that_has_ended_is_not_lost() {
        let bytes = SessionMessage::Dismissed.to_bytes(0);
        let ends = || Arrival::Message { from: 0, bytes: bytes.clone() };
        let lost = || Arrival::Lost(0);
        for (arrivals, ended) in [(vec![ends(), lost()], true), (vec![lost()], false)] {
            let mut session = Session::new(Box::new(Arrivals(arrivals.into())), None);
            let next = next_message(&mut session);
            let is_lost = matches!(next, Err(RunError::Lost(_)));
            assert_eq!((session.is_past(), is_lost), (ended, !ended));
        }
    }
}

//! [`Cluster`]: the processes that search together, as one of them sees them.

use super::join_ticket::MISSED_END;
use super::loop_sequence::LoopSequence;
use super::message::{Order, RootCopy, SessionMessage, invalid_message_from};
use super::reconnect::{Admission, KeepCopy, Reconnect, Rejoin, Return};
use super::session::{Incoming, Session};
use super::waker::Waker;
use crate::{Entrance, Members, Network};
use pleach_core::lease::SiteId;
use pleach_core::lease::Terms;
use pleach_runtime::error::RunError;
use pleach_runtime::sync::{Mutex, lock};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

/// The processes that search together. Site 0, the *root*, decides what is searched; the others follow.
pub struct Cluster {
    /// The number of this site; it may change when the site comes back.
    me: AtomicU32,
    name: String,
    /// Whether the search continues when a process dies.
    open: bool,
    /// Whether unreachable processes may come back.
    comes_back: bool,
    /// When work is reported, and which sites count as dead.
    terms: Terms,
    waker: Arc<Waker>,
    session: Mutex<Session>,
    /// The progress in an order of loops.
    sequence: Mutex<LoopSequence>,
    /// Whether a loop is under way.
    loops: AtomicBool,
    /// Reconnects when the root is lost.
    again: Option<Rejoin>,
    /// What this site will know when it has lost the root.
    known: Mutex<Return>,
    /// At a standby: keeps what it needs to take the root's place.
    keep_copy: Option<KeepCopy>,
}

/// More bytes than a message has around its packet.
const ENVELOPE: u64 = 64;

/// The longest time for an orderly end of the network.
const SHUTDOWN: Duration = Duration::from_secs(10);

/// The maximum number of messages handled before a process checks whether it should still wait.
const MOST_AT_ONCE: usize = 64;

/// How long a process that leaves waits for its last message to be sent.
const LAST_MESSAGE: Duration = Duration::from_millis(100);

/// How long the root waits at its end for processes that it has admitted.
const ARRIVAL: Duration = Duration::from_secs(2);

/// How long a site that leaves waits for the root to notice.
const SIGN_OFF: Duration = Duration::from_secs(2);

/// The longest wait between two checks of whether to keep waiting.
const POLL_EVERY: Duration = Duration::from_millis(50);

const UNDER_WAY: RunError = RunError::Follow(
    "a loop of these processes is under way, and another one cannot begin inside it",
);

impl Cluster {
    /// The processes of a network. Others may join if there is an entrance. The network's callback must wake the waker.
    #[must_use]
    pub fn new(
        network: Box<dyn Network>,
        entrance: Option<Box<dyn Entrance>>,
        waker: Arc<Waker>,
        terms: Terms,
    ) -> Self {
        let (me, name) = (network.me().into(), network.name().to_string());
        let open = network.members() != Members::Fixed;
        let comes_back = network.members() == Members::Changing;
        let session = Mutex::new(Session::new(network, entrance));
        let (sequence, loops) = (Mutex::default(), AtomicBool::new(false));
        let (again, known, keep_copy) = (None, Mutex::default(), None);
        Self {
            me,
            name,
            open,
            comes_back,
            terms,
            waker,
            session,
            sequence,
            loops,
            again,
            known,
            keep_copy,
        }
    }

    /// The processes of a network that this process has joined, with the welcome that it received. A standby
    /// keeps copies of the root's file.
    ///
    /// # Errors
    /// If the welcome is invalid.
    pub fn joined(
        (network, welcome): Admission,
        again: Rejoin,
        keep_copy: Option<KeepCopy>,
        waker: Arc<Waker>,
        terms: Terms,
    ) -> Result<Self, RunError> {
        let again = Some(again);
        let cluster = Self { again, keep_copy, ..Self::new(network, None, waker, terms) };
        cluster.session().apply_welcome(&welcome)?;
        Ok(cluster)
    }

    /// The number of this process.
    #[must_use]
    pub fn me(&self) -> SiteId {
        self.me.load(Ordering::Relaxed)
    }

    /// Whether this process decides what is searched.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.me() == 0
    }

    /// Whether the search continues when a process dies.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Whether unreachable processes may come back.
    pub fn comes_back(&self) -> bool {
        self.comes_back
    }

    /// When work is reported, and which sites count as dead.
    pub fn terms(&self) -> Terms {
        self.terms
    }

    /// The maximum number of bytes of a packet, or of the results of a loop, in a message.
    pub fn longest_packet(&self) -> u64 {
        self.terms.most_commit_bytes.saturating_mul(2).saturating_sub(ENVELOPE)
    }

    /// Wakes the thread that waits for the network.
    pub fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Starts to reconnect to the lost root; `None` if that is impossible.
    pub(super) fn begin_to_return(&self, session: &mut Session, over: bool) -> Option<Reconnect> {
        let again = self.again.as_ref()?;
        let others = session.others().len() as u32;
        session.disconnect();
        let back = Return { place: session.me(), others, over, ..lock(&self.known).clone() };
        Some(Reconnect::start(again, back, &self.waker))
    }

    /// Notes the root that this site follows.
    pub(super) fn follow(&self, order: &Order) {
        lock(&self.known).search = (order.run, order.term);
    }

    /// Notes the address at which a standby takes the root's place.
    pub(super) fn know_standby(&self, address: String) {
        lock(&self.known).standby = Some(address);
    }

    /// Takes what a standby needs.
    pub(super) fn keep_copy(&self, copy: RootCopy) {
        if let Some(keep_copy) = &self.keep_copy {
            keep_copy(copy);
        }
    }

    /// Notes that the searches of this root are saved, so that a standby can copy them.
    pub fn allow_standby(&self) {
        self.session().allow_standby();
    }

    /// The number of places for other processes.
    pub fn others(&self) -> usize {
        self.session().places() as usize - 1
    }

    /// The network, for as long as a search lasts.
    pub fn session(&self) -> MutexGuard<'_, Session> {
        lock(&self.session)
    }

    /// Begins a loop.
    ///
    /// # Errors
    /// If a loop is already under way: it would wait for itself.
    pub fn begin_loop(&self) -> Result<(), RunError> {
        if self.loops.swap(true, Ordering::Relaxed) { Err(UNDER_WAY) } else { Ok(()) }
    }

    /// Ends a loop.
    pub fn end_loop(&self) {
        self.loops.store(false, Ordering::Relaxed);
    }

    /// Checks whether a loop can begin.
    ///
    /// # Errors
    /// If a loop is under way.
    pub fn can_begin_loops(&self) -> Result<(), RunError> {
        if self.loops.load(Ordering::Relaxed) { Err(UNDER_WAY) } else { Ok(()) }
    }

    /// The progress in an order of loops.
    pub fn sequence(&self) -> MutexGuard<'_, LoopSequence> {
        lock(&self.sequence)
    }

    /// Waits for the next search in which this site takes part. `None` if no search follows, or `waits` returns false.
    ///
    /// # Errors
    /// If the network fails, or the root is lost, or this process has missed the end.
    pub fn next_order(&self, waits: impl Fn() -> bool) -> Result<Option<Order>, RunError> {
        let mut session = self.session();
        let mut reconnect: Option<Reconnect> = None;
        while waits() {
            if let Some(order) = session.next_order() {
                order.iter().for_each(|order| self.follow(order));
                return Ok(order);
            }
            if let Some(end) = reconnect.as_ref().and_then(Reconnect::result) {
                self.come_back(&mut session, end)?;
                reconnect = None;
            }
            // The root may have been lost at the end of the previous search.
            if reconnect.is_none() && !session.is_there(0) {
                let lost = RunError::Lost(session.root_loss());
                reconnect = Some(self.begin_to_return(&mut session, true).ok_or(lost)?);
            }
            match session.next_incoming()? {
                Some(Incoming::Invalid(site)) if !self.open => {
                    return Err(invalid_message_from(site));
                }
                Some(_) => {}
                None => self.wait_for_arrival(&session, POLL_EVERY),
            }
        }
        Ok(None)
    }

    /// Signs off from the root after a search that continues without this site: messages on their way to the root must
    /// not be lost. If the root is lost, there is nothing to do.
    ///
    /// # Errors
    /// If the network fails.
    pub fn sign_off(&self) -> Result<(), RunError> {
        if !self.session().is_there(0) {
            return Ok(());
        }
        let start = Instant::now();
        match self.next_order(|| start.elapsed() < SIGN_OFF) {
            Ok(_) | Err(RunError::Lost(_) | RunError::MissedEnd) => Ok(()),
            Err(why) => Err(why),
        }
    }

    /// Continues in a rejoined network, perhaps at another place, if this process could come back.
    pub(super) fn come_back(
        &self,
        session: &mut Session,
        end: Result<Admission, String>,
    ) -> Result<(), RunError> {
        let admission = end.map_err(|why| {
            if !why.ends_with(MISSED_END) {
                return RunError::Lost(why);
            }
            session.note_end();
            RunError::MissedEnd
        })?;
        session.come_back(admission)?;
        self.me.store(session.me(), Ordering::Relaxed);
        Ok(())
    }

    /// Waits, between searches, until this number of other sites are present or wait for a search to begin. Returns
    /// whether they are: false if `waits` returned false before. `note` gets lines for the user, such as why a process
    /// cannot join.
    ///
    /// # Errors
    /// If the network fails, or fewer can join.
    pub fn wait_for(
        &self,
        others: usize,
        mut note: impl FnMut(String),
        waits: impl Fn() -> bool,
    ) -> Result<bool, RunError> {
        loop {
            let session = match self.session.try_lock() {
                Ok(session) => Some(session),
                Err(TryLockError::Poisoned(session)) => Some(session.into_inner()),
                // A search that is under way keeps it.
                Err(TryLockError::WouldBlock) => None,
            };
            if let Some(mut session) = session {
                let most = session.places() as usize - 1;
                if others > most {
                    return Err(RunError::Places { wanted: others, most });
                }
                let mut notes = Vec::new();
                for _ in 0..MOST_AT_ONCE {
                    match session.next_incoming()? {
                        Some(Incoming::Note(line)) => notes.push(line),
                        Some(Incoming::Invalid(site)) if !self.open => {
                            return Err(invalid_message_from(site));
                        }
                        Some(_) => {}
                        None => break,
                    }
                }
                let complete = session.others().len() + session.callers() >= others;
                if !complete && notes.is_empty() {
                    self.wait_for_arrival(&session, POLL_EVERY);
                }
                // The caller may ask for the session.
                drop(session);
                notes.into_iter().for_each(&mut note);
                if complete {
                    return Ok(true);
                }
            } else {
                std::thread::sleep(POLL_EVERY);
            }
            if !waits() {
                return Ok(false);
            }
        }
    }

    /// Waits for an arrival from the network.
    pub fn wait_for_arrival(&self, session: &Session, at_most: Duration) {
        match session.rest().map_or(at_most, |rest| rest.min(at_most)) {
            Duration::ZERO => std::thread::yield_now(),
            rest => self.waker.wait(rest),
        }
    }

    /// Ends the network in an orderly way: no search follows. All output should be written before.
    pub fn end(&self) {
        let mut session = self.session();
        if self.is_root() {
            // A process that was admitted at the last moment must learn that the search is over,
            // too.
            let start = Instant::now();
            while session.awaits_arrivals() && start.elapsed() < ARRIVAL {
                match session.next_incoming() {
                    Ok(None) => self.wait_for_arrival(&session, POLL_EVERY),
                    Ok(Some(_)) => {}
                    Err(_) => break,
                }
            }
            session.send_all(&SessionMessage::Dismissed);
        }
        session.finish();
        let start = Instant::now();
        // Without the root, nothing arrives any more.
        while session.is_there(0) && (start.elapsed() <= SHUTDOWN || !self.open) {
            match session.next_incoming() {
                // A failed network has ended, too.
                Err(_) | Ok(Some(Incoming::End)) => return,
                Ok(Some(_)) => {}
                Ok(None) => self.wait_for_arrival(&session, POLL_EVERY),
            }
        }
    }

    /// Leaves before the end. The root already knows, and has this process's work.
    pub fn leave(&self) {
        let mut session = self.session();
        session.finish();
        let start = Instant::now();
        // Wait until the last message is sent.
        while start.elapsed() < LAST_MESSAGE
            && matches!(session.next_incoming(), Ok(None | Some(_)))
        {
            self.wait_for_arrival(&session, LAST_MESSAGE / 4);
        }
    }

    /// Ends the network at once, after a failure. If its processes end together, this process also ends, with this exit
    /// code.
    pub fn abort(&self, code: i32) {
        self.session().abort(code);
    }
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "site {} over {}", self.me(), self.name)
    }
}

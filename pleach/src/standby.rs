//! [`Standby`]: a joiner that keeps a copy of the root's file, and takes the root's place if the root is gone.
//!
//! Until then it listens only to answer joiners that have lost the root, too: their calls are their votes.

use crate::failure::Failure;
use crate::joining::{self, CHANGING, StandsBy};
use pleach_cluster::tls::{Key, ONLY_STANDBY};
use pleach_cluster::{Caller, Entrance, JoinTicket, Network, Return, RootCopy, Votes};
use pleach_core::search::work::Pack;
use pleach_core::wire::checkpoint::Checkpoint;
use pleach_runtime::save::replace;
use pleach_runtime::sync::lock;
use pleach_runtime::{Cancel, Lock, Save, load};
use std::collections::BTreeSet;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A joiner that takes the root's place if the root is gone.
pub(crate) struct Standby {
    /// Where others reach it then.
    address: String,
    /// Where it listens.
    listens: String,
    file: PathBuf,
    state: Arc<Mutex<State>>,
    events: Sender<Event>,
    thread: Mutex<Option<JoinHandle<()>>>,
    _lock: Lock,
}

/// What its thread waits for.
enum Event {
    Copy(RootCopy),
    /// A joiner may call.
    Call,
    End,
}

struct State {
    began: Instant,
    votes: Votes,
    copy: Option<Kept>,
    /// The run in the file before the first copy, and its term, if there was a file.
    earlier: Option<(u64, u32)>,
    /// The runs that were copied.
    copied: BTreeSet<u64>,
    /// Why it cannot stand by.
    failure: Option<String>,
    /// Whether it takes the root's place.
    takes_over: bool,
}

/// What the process that takes over continues with.
pub(crate) struct Succession {
    /// Where to write the copy.
    pub file: PathBuf,
    /// The copy, with the term that begins.
    pub checkpoint: Checkpoint,
    /// Where it listens, and where others reach it.
    pub listens: String,
    pub address: String,
    /// The number of places for processes.
    pub places: u32,
    /// The time and the nodes that are left, if they are limited.
    pub time_left: Option<Duration>,
    pub nodes_left: Option<u64>,
}

/// The latest copy.
struct Kept {
    checkpoint: Checkpoint,
    /// What came with it, without the file.
    about: RootCopy,
    came: Instant,
}

impl Standby {
    /// Stands by at this address, which others reach, with this file for the copy. Cancels the run if it fails.
    ///
    /// # Errors
    /// One line: what is wrong with the address or the file.
    pub fn new(
        address: &str,
        file: &Path,
        key: &Key,
        cancel: Cancel,
    ) -> Result<Arc<Self>, Failure> {
        let shown = file.display();
        let fails =
            |why: &dyn std::fmt::Display| Failure::Usage(format!("--checkpoint {shown}: {why}"));
        let save = Save::new(file, Duration::MAX);
        save.may_replace().map_err(|why| fails(&why))?;
        let held = Lock::acquire(file).map_err(|why| fails(&why))?;
        let holds_something = std::fs::metadata(file).is_ok_and(|about| about.len() > 0);
        let earlier = holds_something.then(|| load(file)).transpose();
        let earlier = earlier.map_err(|why| Failure::Usage(format!("--checkpoint {why}")))?;
        let earlier = earlier.map(|earlier| (earlier.run, earlier.term));
        let flag = format!("--standby {address}");
        let listens =
            all_addresses(address).map_err(|why| Failure::Usage(format!("{flag}: {why}")))?;
        let (events, receiver) = channel();
        let rings = events.clone();
        // Once it no longer stands by, nobody waits for a call.
        let wake = Arc::new(move || drop(rings.send(Event::Call)));
        let (mut star, mut entrance) = joining::open(listens.clone(), key.clone(), 2, wake)
            .map_err(|why| Failure::of_listening(&flag, &why))?;
        let (votes, failure, copy, takes_over) = (Votes::default(), None, None, false);
        let (began, copied) = (Instant::now(), BTreeSet::new());
        let state = State { began, votes, copy, earlier, copied, failure, takes_over };
        let state = Arc::new(Mutex::new(state));
        let (shared, path) = (Arc::clone(&state), file.to_path_buf());
        let run = move || {
            for event in receiver {
                match event {
                    Event::Copy(copy) => {
                        let mut state = lock(&shared);
                        if let Err(why) = state.keep(copy, &path) {
                            state.failure = Some(why);
                            cancel.cancel();
                        }
                    }
                    Event::Call => answer(&mut entrance, &shared),
                    Event::End => break,
                }
            }
            star.abort(0);
        };
        let thread = std::thread::Builder::new().name("standby".into()).spawn(run);
        let thread = thread.map_err(|why| Failure::Machine(why.to_string()))?;
        let thread = Mutex::new(Some(thread));
        let (address, file) = (address.to_string(), file.to_path_buf());
        Ok(Arc::new(Self { address, listens, file, state, events, thread, _lock: held }))
    }

    /// The options with which this process joins as a standby.
    pub fn stands_by(&self) -> StandsBy {
        let events = Mutex::new(self.events.clone());
        let keep_copy = move |copy| {
            let events = lock(&events);
            // This fails once it no longer stands by.
            let _ = events.send(Event::Copy(copy));
        };
        let state = Arc::clone(&self.state);
        let takes_over =
            move |back: &Return, lost_for: Duration| lock(&state).takes_over(back, lost_for);
        let (keep_copy, takes_over) = (Arc::new(keep_copy), Arc::new(takes_over));
        StandsBy { address: self.address.clone(), keep_copy, takes_over }
    }

    /// Why it cannot stand by, if it cannot.
    pub fn failure(&self) -> Option<String> {
        lock(&self.state).failure.clone()
    }

    /// Stops listening. Returns what to continue with if it should take the root's place. If the search is over, the
    /// copy is removed.
    pub fn end(&self, is_over: bool) -> Option<Succession> {
        let _ = self.events.send(Event::End);
        let thread = lock(&self.thread).take();
        thread.map(JoinHandle::join);
        let mut state = lock(&self.state);
        let Kept { checkpoint, about, came } = state.copy.take()?;
        if is_over {
            // The root has the result, or the file. A copy that remains does no harm.
            let _ = std::fs::remove_file(&self.file);
            let mut old = self.file.clone().into_os_string();
            old.push(".old");
            let old = PathBuf::from(old);
            if load(&old).is_ok_and(|copy| state.copied.contains(&copy.run)) {
                let _ = std::fs::remove_file(&old);
            }
        }
        let counted = checkpoint.counted().map_or(0, |counts| counts.bounded);
        let left = |left_ns| Duration::from_nanos(left_ns).saturating_sub(came.elapsed());
        state.takes_over.then(|| Succession {
            file: self.file.clone(),
            checkpoint: Checkpoint { term: checkpoint.term.saturating_add(1), ..checkpoint },
            listens: self.listens.clone(),
            address: self.address.clone(),
            places: about.places,
            time_left: about.left_ns.map(left),
            nodes_left: about.last_node.map(|last| last.saturating_sub(counted).max(1)),
        })
    }
}

impl State {
    /// Whether to take the root's place now: it has been away for longer than a lease, most joiners have lost it, the
    /// search was neither stopped nor over, and there is a copy.
    fn takes_over(&mut self, back: &Return, lost_for: Duration) -> bool {
        let now = self.began.elapsed();
        let copied = self.copy.as_ref().is_some_and(|copy| copy.checkpoint.run == back.search.0);
        let late = lost_for >= Duration::from_nanos(CHANGING.lease_ns);
        let lost = now.saturating_sub(lost_for);
        let may = copied && late && !back.over;
        self.takes_over |= may && self.votes.are_majority(back.others, lost, now);
        self.takes_over
    }

    /// Takes a copy. Only the first one may find another search in the file.
    fn keep(&mut self, mut about: RootCopy, file: &Path) -> Result<(), String> {
        let shown = file.display();
        let checkpoint = Checkpoint::from_bytes(&about.file)
            .map_err(|why| format!("invalid copy of the search: {why}"))?;
        match self.earlier.filter(|_| self.copy.is_none()) {
            Some((run, _)) if run != checkpoint.run => {
                let why = "it holds another search; remove the file, or choose another";
                return Err(format!("--checkpoint {shown}: {why}"));
            }
            Some((_, term)) if term > checkpoint.term => {
                return Err(format!(
                    "--checkpoint {shown}: a standby has taken over the search that it holds, so it is newer \
                     than that of the root; resume it instead"
                ));
            }
            _ => {}
        }
        let runs: Vec<u64> = self.copied.iter().copied().chain([checkpoint.run]).collect();
        match replace(file, &about.file, &runs) {
            Err(why) if self.copy.is_none() => return Err(format!("--checkpoint {shown}: {why}")),
            // The disk may be full for a while: the previous copy stays.
            Err(_) => return Ok(()),
            Ok(()) => {}
        }
        self.copied.insert(checkpoint.run);
        about.file = Vec::new();
        self.copy = Some(Kept { checkpoint, about, came: Instant::now() });
        Ok(())
    }
}

/// All addresses of this machine, with the port of this one.
fn all_addresses(address: &str) -> Result<String, String> {
    let mut found = address.to_socket_addrs().map_err(|why| why.to_string())?;
    let found = found.next().ok_or("the host name has no address")?;
    match found {
        _ if found.port() == 0 => Err("expected a port other than 0".into()),
        SocketAddr::V4(_) => Ok(format!("0.0.0.0:{}", found.port())),
        SocketAddr::V6(_) => Ok(format!("[::]:{}", found.port())),
    }
}

/// Counts the votes of joiners that have lost the root, and sends them back to try again.
fn answer(entrance: &mut impl Entrance, state: &Mutex<State>) {
    while let Some(caller) = entrance.next() {
        let Caller::JoinRequest { number, bytes, .. } = caller else { continue };
        let mut state = lock(state);
        let ticket = JoinTicket::unpacked(&bytes);
        if let Ok(JoinTicket { token, search: Some((run, _)), place: Some(_), .. }) = ticket
            && state.copy.as_ref().is_some_and(|copy| copy.checkpoint.run == run)
        {
            let now = state.began.elapsed();
            state.votes.record(token, now);
        }
        entrance.postpone(number, ONLY_STANDBY);
    }
}

//! [`Standby`]: a joiner that keeps a copy of the root's file, and takes the root's place if the root is gone.
//!
//! Until then it listens only to answer joiners that have lost the root, too: their calls are their votes.

use crate::joining::{self, CHANGING, StandsBy};
use pleach_cluster::tls::Key;
use pleach_cluster::{Caller, Entrance, JoinTicket, Network, Return, RootCopy, Votes};
use pleach_core::wire::checkpoint::Checkpoint;
use pleach_runtime::save::replace;
use pleach_runtime::{Cancel, Lock, load};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
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
    copy: Option<(Checkpoint, RootCopy, Instant)>,
    /// The run in the file before the first copy, if there was a file.
    earlier: Option<u64>,
    /// Why it cannot stand by.
    failure: Option<String>,
    /// Whether it takes the root's place.
    takes_over: bool,
}

/// What the process that takes over runs.
pub(crate) struct Succession {
    /// The copy, which the search resumes.
    pub file: PathBuf,
    /// Flags of the root that the file does not hold, and its address.
    pub flags: Vec<String>,
    /// The run, and the term that begins.
    pub search: (u64, u32),
}

impl Standby {
    /// Stands by at this address, which others reach, with this file for the copy. Cancels the run if it fails.
    ///
    /// # Errors
    /// One line: what is wrong with the address or the file.
    pub fn new(address: &str, file: &Path, key: &Key, cancel: Cancel) -> Result<Arc<Self>, String> {
        let shown = file.display();
        let fails = |why: &dyn std::fmt::Display| format!("--checkpoint {shown}: {why}");
        let lock = Lock::acquire(file).map_err(|why| fails(&why))?;
        let holds_something = std::fs::metadata(file).is_ok_and(|about| about.len() > 0);
        let earlier = holds_something.then(|| load(file)).transpose();
        let earlier = earlier.map_err(|why| format!("--checkpoint {why}"))?.map(|it| it.run);
        let port = address.rsplit_once(':').map_or("", |(_, port)| port);
        if port == "0" {
            return Err(format!("--standby {address}: expected a port other than 0"));
        }
        let listens = format!("0.0.0.0:{port}");
        let (events, receiver) = channel();
        let rings = events.clone();
        // Once it no longer stands by, nobody waits for a call.
        let wake = Arc::new(move || drop(rings.send(Event::Call)));
        let (mut star, mut entrance) = joining::open(listens.clone(), key.clone(), 2, wake)
            .map_err(|why| format!("--standby {address}: {why}"))?;
        let (votes, failure, copy, takes_over) = (Votes::default(), None, None, false);
        let state = State { began: Instant::now(), votes, copy, earlier, failure, takes_over };
        let state = Arc::new(Mutex::new(state));
        let (shared, path) = (Arc::clone(&state), file.to_path_buf());
        let run = move || {
            for event in receiver {
                match event {
                    Event::Copy(copy) => {
                        let mut state = lock_state(&shared);
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
        let thread = Mutex::new(Some(thread.map_err(|why| why.to_string())?));
        let (address, file) = (address.to_string(), file.to_path_buf());
        Ok(Arc::new(Self { address, listens, file, state, events, thread, _lock: lock }))
    }

    /// How a process joins that stands by so.
    pub fn stands_by(&self) -> StandsBy {
        let events = Mutex::new(self.events.clone());
        let keep_copy = move |copy| {
            let events = events.lock().unwrap_or_else(PoisonError::into_inner);
            // This fails once it no longer stands by.
            let _ = events.send(Event::Copy(copy));
        };
        let state = Arc::clone(&self.state);
        let takes_over =
            move |back: &Return, lost_for: Duration| lock_state(&state).takes_over(back, lost_for);
        let (keep_copy, takes_over) = (Arc::new(keep_copy), Arc::new(takes_over));
        StandsBy { address: self.address.clone(), keep_copy, takes_over }
    }

    /// Why it cannot stand by, if that is so.
    pub fn failure(&self) -> Option<String> {
        lock_state(&self.state).failure.clone()
    }

    /// Stops listening. Returns what to run if it is to take the root's place.
    ///
    /// # Errors
    /// One line: why the copy cannot be written.
    pub fn end(&self) -> Result<Option<Succession>, String> {
        // The thread ends at the latest when its sender does.
        let _ = self.events.send(Event::End);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        thread.map(JoinHandle::join);
        let mut state = lock_state(&self.state);
        let Some((copy, about, came)) = state.copy.take().filter(|_| state.takes_over) else {
            return Ok(None);
        };
        let here = self.file.parent().unwrap_or(Path::new(""));
        let about_text = outputs_here(&copy.about, here);
        let term = copy.term.saturating_add(1);
        let counted = copy.counted().map_or(0, |counts| counts.bounded);
        let next = Checkpoint { about: about_text, term, ..copy };
        let shown = self.file.display();
        let fails = |why: std::io::Error| format!("cannot take over: {shown}: {why}");
        replace(&self.file, &next.to_bytes()).map_err(fails)?;
        let mut flags =
            vec![format!("--listen={}", self.listens), format!("--places={}", about.places)];
        if let Some(left_ns) = about.left_ns {
            let left = Duration::from_nanos(left_ns).saturating_sub(came.elapsed());
            flags.push(format!("--time-limit={}ms", left.as_millis().max(1)));
        }
        if let Some(last) = about.last_node {
            flags.push(format!("--node-limit={}", last.saturating_sub(counted).max(1)));
        }
        Ok(Some(Succession { file: self.file.clone(), flags, search: (next.run, term) }))
    }
}

impl State {
    /// Whether to take the root's place now: it has been away for longer than a lease, most joiners have lost it, and
    /// there is a copy of its search.
    fn takes_over(&mut self, back: &Return, lost_for: Duration) -> bool {
        let now = self.began.elapsed();
        let copied = self.copy.as_ref().is_some_and(|(copy, ..)| copy.run == back.search.0);
        let late = lost_for >= Duration::from_nanos(CHANGING.lease_ns);
        self.takes_over |= copied && late && self.votes.are_majority(back.others, now);
        self.takes_over
    }

    fn keep(&mut self, copy: RootCopy, file: &Path) -> Result<(), String> {
        let shown = file.display();
        let checkpoint = Checkpoint::from_bytes(&copy.file)
            .map_err(|why| format!("invalid copy of the search: {why}"))?;
        if self.earlier.is_some_and(|run| run != checkpoint.run) {
            let why = "it holds another search; remove the file, or choose another";
            return Err(format!("--checkpoint {shown}: {why}"));
        }
        replace(file, &copy.file).map_err(|why| format!("--checkpoint {shown}: {why}"))?;
        self.earlier = Some(checkpoint.run);
        self.copy = Some((checkpoint, copy, Instant::now()));
        Ok(())
    }
}

/// Counts the votes of joiners that have lost the root, and sends them back to try again.
fn answer(entrance: &mut impl Entrance, state: &Mutex<State>) {
    while let Some(caller) = entrance.next() {
        let Caller::JoinRequest { number, bytes, .. } = caller else { continue };
        let mut state = lock_state(state);
        let ticket = JoinTicket::from_bytes(&bytes);
        if let Ok(JoinTicket { token, search: Some((run, _)), place: Some(_), .. }) = ticket
            && state.copy.as_ref().is_some_and(|(copy, ..)| copy.run == run)
        {
            let now = state.began.elapsed();
            state.votes.record(token, now);
        }
        entrance.postpone(number, "it only stands by: the root may come back");
    }
}

fn lock_state(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a file says about its search, with the outputs that have no folder on this machine beside the copy instead.
fn outputs_here(about: &str, here: &Path) -> String {
    let Ok(mut all) = serde_json::from_str::<serde_json::Value>(about) else {
        return about.into();
    };
    for flag in all["flags"].as_array_mut().into_iter().flatten() {
        let text = flag.as_str().and_then(|flag| flag.split_once('='));
        let Some((name, path)) = text.map(|(name, path)| (name.to_string(), Path::new(path)))
        else {
            continue;
        };
        let missing = path.is_absolute() && path.parent().is_some_and(|folder| !folder.is_dir());
        if let Some(file) = path.file_name().filter(|_| missing) {
            *flag = format!("{name}={}", here.join(file).display()).into();
        }
    }
    all.to_string()
}

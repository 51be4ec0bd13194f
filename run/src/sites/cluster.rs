//! [`Cluster`]: the processes that search together, as one of them sees them.

use super::adrift::{Entered, Return, Way};
use super::bell::Bell;
use super::course::Course;
use super::link::{Heard, Link, ROOT_LOST};
use super::parcel::{Order, Parcel};
use crate::error::RunError;
use crate::sync::{Mutex, lock};
use pleach_core::lease::Terms;
use pleach_net::{Entrance, Members, Network, SiteId};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

/// The processes that search together. Site 0, the *root*, decides what is searched; the others follow.
pub struct Cluster {
    /// It may be another one after a return.
    me: AtomicU32,
    name: String,
    /// Whether it goes on when a process dies.
    open: bool,
    /// Whether processes that cannot be reached may come back.
    comes_back: bool,
    /// When work is told of, and who is taken for dead.
    terms: Terms,
    bell: Arc<Bell>,
    link: Mutex<Link>,
    /// How far it is in an order of loops.
    course: Mutex<Course>,
    /// Whether a loop is under way.
    loops: AtomicBool,
    /// How to come back when the root is lost.
    again: Option<Return>,
}

/// How long the end of a network may take.
const FAREWELL: Duration = Duration::from_secs(10);

/// How long a process that leaves waits for its last word to go out.
const LAST_WORD: Duration = Duration::from_millis(100);

/// The longest wait between two looks at whether to go on waiting.
const LOOK: Duration = Duration::from_millis(50);

const UNDER_WAY: RunError = RunError::Follow(
    "a loop of these processes is under way, and another one cannot begin inside it",
);

impl Cluster {
    /// The processes of a network. Others may come in where there is an entrance. Whatever wakes the caller of
    /// the network must ring the bell.
    #[must_use]
    pub fn new(
        network: Box<dyn Network>,
        entrance: Option<Box<dyn Entrance>>,
        bell: Arc<Bell>,
        terms: Terms,
    ) -> Self {
        let (me, name) = (network.me().into(), network.name().to_string());
        let open = network.members() != Members::Fixed;
        let comes_back = network.members() == Members::Changing;
        let link = Mutex::new(Link::new(network, entrance));
        let (course, loops) = (Mutex::default(), AtomicBool::new(false));
        Self { me, name, open, comes_back, terms, bell, link, course, loops, again: None }
    }

    /// A network that this process has joined, and what it was told at the entrance.
    ///
    /// # Errors
    /// If that is nothing that a root says.
    pub fn joined(
        (network, welcome): Entered,
        again: Return,
        bell: Arc<Bell>,
        terms: Terms,
    ) -> Result<Self, RunError> {
        let cluster = Self { again: Some(again), ..Self::new(network, None, bell, terms) };
        cluster.link().welcomed(&welcome)?;
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

    /// Whether it goes on when a process dies.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// Whether processes that cannot be reached may come back.
    pub(crate) fn comes_back(&self) -> bool {
        self.comes_back
    }

    pub(crate) fn terms(&self) -> Terms {
        self.terms
    }

    pub(crate) fn bell(&self) -> &Bell {
        &self.bell
    }

    /// Begins to come back to the root, which is lost; `None` if there is no way back.
    pub(super) fn begin_to_return(&self, link: &mut Link) -> Option<Way> {
        let again = self.again.as_ref()?;
        link.drift();
        Some(Way::begin(again, link.me(), &self.bell))
    }

    /// How many places there are for other processes.
    pub(crate) fn others(&self) -> usize {
        self.link().places() as usize - 1
    }

    /// The network, for as long as a search lasts.
    pub(crate) fn link(&self) -> MutexGuard<'_, Link> {
        lock(&self.link)
    }

    /// Begins a loop.
    ///
    /// # Errors
    /// If one is under way already, which would wait for itself.
    pub(crate) fn begin_loop(&self) -> Result<(), RunError> {
        if self.loops.swap(true, Ordering::Relaxed) { Err(UNDER_WAY) } else { Ok(()) }
    }

    /// Ends it.
    pub(crate) fn end_loop(&self) {
        self.loops.store(false, Ordering::Relaxed);
    }

    /// Sees whether a loop can begin.
    ///
    /// # Errors
    /// If one is under way.
    pub fn can_begin_loops(&self) -> Result<(), RunError> {
        if self.loops.load(Ordering::Relaxed) { Err(UNDER_WAY) } else { Ok(()) }
    }

    /// How far it is in an order of loops.
    pub(crate) fn course(&self) -> MutexGuard<'_, Course> {
        lock(&self.course)
    }

    /// Waits for the next search that this site is to take part in. `None` if there is none any more, or
    /// `waits` says so.
    ///
    /// # Errors
    /// If the network fails, or the root is lost.
    pub fn next_order(&self, waits: impl Fn() -> bool) -> Result<Option<Order>, RunError> {
        let mut link = self.link();
        let mut way: Option<Way> = None;
        while waits() {
            if let Some(order) = link.next_order() {
                return Ok(order);
            }
            match way.as_ref().and_then(Way::end) {
                Some(Ok(entered)) => {
                    self.come_back(&mut link, entered)?;
                    way = None;
                }
                Some(Err(why)) => return Err(RunError::Lost(why)),
                None => {}
            }
            match link.hear()? {
                Some(Heard::Lost(0)) => {
                    let lost = RunError::Lost(ROOT_LOST.into());
                    way = Some(self.begin_to_return(&mut link).ok_or(lost)?);
                }
                Some(_) => {}
                None => self.rest(&link, LOOK),
            }
        }
        Ok(None)
    }

    /// Goes on in a network that was entered again, perhaps at another place.
    pub(super) fn come_back(&self, link: &mut Link, entered: Entered) -> Result<(), RunError> {
        link.come_back(entered)?;
        self.me.store(link.me(), Ordering::Relaxed);
        Ok(())
    }

    /// Waits for the network to bring something.
    pub(crate) fn rest(&self, link: &Link, at_most: Duration) {
        match link.rest().map_or(at_most, |rest| rest.min(at_most)) {
            Duration::ZERO => std::thread::yield_now(),
            rest => self.bell.wait(rest),
        }
    }

    /// Ends it in order: no search follows. What is to be shown to anybody should have been shown.
    pub fn end(&self) {
        let mut link = self.link();
        if self.is_root() {
            link.send_all(&Parcel::Dismissed);
        }
        link.finish();
        let start = Instant::now();
        // A network that has failed has ended, too.
        while let Ok(heard) = link.hear() {
            match heard {
                Some(Heard::End) => return,
                Some(Heard::Lost(0)) if !self.is_root() => return,
                Some(_) => {}
                None if start.elapsed() > FAREWELL && self.open => return,
                None => self.rest(&link, LOOK),
            }
        }
    }

    /// Leaves before the end; the root knows, and holds what this process had.
    pub fn leave(&self) {
        let mut link = self.link();
        link.finish();
        let start = Instant::now();
        // For as long as the last word takes.
        while start.elapsed() < LAST_WORD && matches!(link.hear(), Ok(None | Some(_))) {
            self.rest(&link, LAST_WORD / 4);
        }
    }

    /// Ends it at once, after a failure. A network whose processes end together ends this one, too, with this
    /// exit code.
    pub fn abort(&self, code: i32) {
        self.link().abort(code);
    }
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "site {} over {}", self.me(), self.name)
    }
}

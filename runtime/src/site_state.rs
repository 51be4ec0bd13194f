//! [`SiteState`]: what the gateway of a site shares with the units and their watcher.

use crate::control::{Reason, Stop};
use crate::outcome::SiteSnapshot;
use crate::sync::{AtomicBool, AtomicI64, AtomicU64, Condvar, Mutex, Ordering, lock};
use crate::transport::local::Mailboxes;
use pleach_core::lease::ProgressReport;
use pleach_core::lease::gateway::Portion;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::Work;
use pleach_core::steal::PeerId;
use pleach_core::wire::checkpoint::Cut;
use std::sync::Arc;
use std::time::Duration;

/// The round after the last one.
const OVER: u64 = u64::MAX;

/// How long a unit that waits for the next round goes without a look at whether the run has failed.
const POLL_EVERY: Duration = Duration::from_millis(10);

/// What is known of the other processes of a search.
pub trait OtherProcesses: Send + Sync {
    /// How all are now.
    fn together(&self) -> CombinedProgress;

    /// How each is, as far as it told.
    fn snapshots(&self) -> Vec<SiteSnapshot>;
}

/// How the other processes are, all together.
#[derive(Clone, Copy, Debug, Default)]
pub struct CombinedProgress {
    /// Those that are there.
    pub sites: u32,
    /// Units of theirs.
    pub units: u32,
    /// How many of those have work.
    pub busy: u32,
    /// What all have counted so far, also those that are gone.
    pub counts: Counts,
}

/// What the gateway of a site shares with the units and their watcher.
///
/// Units work in *rounds*, which have even numbers. A round ends when the gateway takes everything from them: each
/// hands in its work, and waits for the next round.
pub struct SiteState {
    mailboxes: Mailboxes,
    round: AtomicU64,
    turn: Mutex<()>,
    turned: Condvar,
    /// What each unit had counted when it was last without work. The gateway's own place stays empty.
    settled: Vec<Mutex<Counts>>,
    /// Cuts of the snapshot that is under way.
    cuts: Mutex<Vec<Cut>>,
    /// What peers had at the end of the round.
    ends: Mutex<Vec<Cut>>,
    /// Why the units, or their watcher, want the search to stop.
    wish: Reason,
    asked: AtomicBool,
    /// What the root knows of the other sites.
    others: Arc<dyn OtherProcesses>,
    /// The root's last progress report.
    whole: Mutex<Option<Arc<ProgressReport<Portion<Counts>>>>>,
    least_bound: AtomicI64,
    /// Whether some unit, here or elsewhere, does not tell which part of the tree its nodes are.
    blind: AtomicBool,
}

impl SiteState {
    /// The state of a site whose units have these mailboxes, after the gateway's.
    pub fn new(mailboxes: Mailboxes, others: Arc<dyn OtherProcesses>) -> Self {
        let peers = mailboxes.peers();
        Self {
            mailboxes,
            round: AtomicU64::new(0),
            turn: Mutex::new(()),
            turned: Condvar::new(),
            settled: (0..peers).map(|_| Mutex::default()).collect(),
            cuts: Mutex::default(),
            ends: Mutex::default(),
            wish: Reason::default(),
            asked: AtomicBool::new(false),
            others,
            whole: Mutex::default(),
            least_bound: AtomicI64::new(i64::MIN),
            blind: AtomicBool::new(false),
        }
    }

    /// What is known of the other sites.
    pub fn others(&self) -> &dyn OtherProcesses {
        &*self.others
    }

    /// The units' mailboxes, and the gateway's.
    pub fn mailboxes(&self) -> &Mailboxes {
        &self.mailboxes
    }

    /// Peers of the site: its units, and the gateway.
    pub fn peers(&self) -> u32 {
        self.mailboxes.peers()
    }

    /// Wakes the gateway.
    pub fn ring(&self) {
        self.mailboxes.ring(0);
    }

    /// Asks the gateway to stop the search, or to leave it.
    pub fn wish(&self, why: Stop) {
        if why == Stop::Asked {
            self.asked.store(true, Ordering::Relaxed);
        }
        self.wish.give(why);
        self.ring();
    }

    /// Whether the user, or the caller, wants this process to end its part.
    pub fn asked_to_leave(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// What was asked of the gateway.
    pub fn wished(&self) -> Option<Stop> {
        self.wish.given()
    }

    /// The round under way.
    #[inline]
    pub fn round(&self) -> u64 {
        self.round.load(Ordering::Acquire)
    }

    /// Whether the site has come to its end.
    pub fn is_over(&self) -> bool {
        self.round() == OVER
    }

    /// Waits for a round, but not so long that a failed run goes unnoticed.
    pub fn await_round(&self, round: u64) {
        let turn = lock(&self.turn);
        if self.round() < round {
            // Whether it was woken or not, the round tells.
            let _ = self.turned.wait_timeout(turn, POLL_EVERY);
        }
    }

    /// Ends the round: all units hand in what they have.
    pub fn close_round(&self) {
        self.change_to(self.round() + 1);
    }

    /// Begins the next round, once all units have handed in what they had.
    pub fn begin_round(&self) {
        self.forget_cuts();
        self.change_to(self.round() + 1);
    }

    /// Ends the site: no round follows.
    pub fn end(&self) {
        self.change_to(OVER);
    }

    fn change_to(&self, round: u64) {
        let turn = lock(&self.turn);
        self.round.store(round, Ordering::Release);
        drop(turn);
        self.turned.notify_all();
        self.mailboxes.ring_all();
    }

    /// A unit is without work, and has counted this.
    pub fn settle(&self, me: PeerId, counts: Counts) {
        *lock(&self.settled[me as usize]) = counts;
    }

    /// What all units have counted, once all are without work.
    pub fn settled(&self) -> Counts {
        let mut sum = Counts::default();
        self.settled.iter().for_each(|counts| sum.add(&lock(counts)));
        sum
    }

    /// Takes a peer's part of a snapshot.
    pub fn hand_in(&self, cut: Cut) {
        self.add(&self.cuts, cut);
    }

    /// Takes what a peer had at the end of a round.
    pub fn hand_over(&self, all: Cut) {
        self.add(&self.ends, all);
    }

    fn add(&self, list: &Mutex<Vec<Cut>>, cut: Cut) {
        let mut list = lock(list);
        list.push(cut);
        let all = list.len() == self.peers() as usize;
        drop(list);
        if all {
            self.ring();
        }
    }

    fn take(&self, list: &Mutex<Vec<Cut>>) -> Option<Vec<Cut>> {
        let mut list = lock(list);
        (list.len() == self.peers() as usize).then(|| std::mem::take(&mut *list))
    }

    /// The cuts of all peers, once all are here.
    pub fn whole(&self) -> Option<Vec<Cut>> {
        self.take(&self.cuts)
    }

    /// What all peers had at the end of the round, once all have handed it over.
    pub fn all_ends(&self) -> Option<Vec<Cut>> {
        self.take(&self.ends)
    }

    /// Puts the root's newest progress report down.
    pub fn set_progress_report(&self, whole: ProgressReport<Portion<Counts>>) {
        let least = all_open(&whole).map(|piece| piece.least_bound).min().unwrap_or(i64::MAX);
        self.least_bound.fetch_max(least, Ordering::Relaxed);
        *lock(&self.whole) = Some(Arc::new(whole));
    }

    /// What no solution can beat but the incumbent, as far as the root's progress reports tell. They may be old, but
    /// they leave no open node out.
    pub fn least_bound(&self) -> i64 {
        self.least_bound.load(Ordering::Relaxed)
    }

    /// The root's newest progress report.
    pub fn progress_report(&self) -> Option<Arc<ProgressReport<Portion<Counts>>>> {
        lock(&self.whole).clone()
    }

    /// Notes that some unit does not tell which part of the tree its nodes are.
    pub fn go_blind(&self) {
        self.blind.store(true, Ordering::Relaxed);
    }

    /// Whether there is, or was, such a unit.
    pub fn is_blind(&self) -> bool {
        self.blind.load(Ordering::Relaxed)
    }

    /// Forgets the cuts of a snapshot that nobody wants any more.
    pub fn forget_cuts(&self) {
        lock(&self.cuts).clear();
    }
}

/// All pieces that a progress report has open, those given on included.
fn all_open(whole: &ProgressReport<Portion<Counts>>) -> impl Iterator<Item = &Work> {
    let given = whole.nested().flat_map(|(_, rec)| &rec.content().open);
    whole.content.open.iter().chain(given).map(AsRef::as_ref)
}

/// The part of the tree that a progress report has open, if that is known.
pub fn share_open(problem: &dyn Problem, whole: &ProgressReport<Portion<Counts>>) -> Option<f64> {
    let mut explorer = problem.explorer();
    all_open(whole).try_for_each(|piece| explorer.put(&piece.bytes)).ok()?;
    let open = explorer.open_nodes();
    explorer.open_share().filter(|&share| share > 0.0 || open == 0.0)
}

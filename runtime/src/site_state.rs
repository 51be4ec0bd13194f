//! [`SiteState`]: the state that a site's gateway shares with the workers and their watcher.

use crate::control::{Reason, Stop};
use crate::outcome::SiteSnapshot;
use crate::sync::{AtomicBool, AtomicI64, AtomicU64, Condvar, Mutex, Ordering, lock};
use crate::transport::Mailboxes;
use pleach_core::lease::ProgressReport;
use pleach_core::lease::gateway::Portion;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::Work;
use pleach_core::steal::PeerId;
use pleach_core::wire::checkpoint::Cut;
use std::sync::Arc;
use std::time::Duration;

/// The number that marks the end of all rounds.
const OVER: u64 = u64::MAX;

/// How often a worker that waits for the next round checks whether the run has failed.
const POLL_EVERY: Duration = Duration::from_millis(10);

/// The state of a search's other processes, as far as known.
pub trait OtherProcesses: Send + Sync {
    /// The state of all of them together.
    fn combined_progress(&self) -> CombinedProgress;

    /// The state of each, as it last reported.
    fn snapshots(&self) -> Vec<SiteSnapshot>;
}

/// The state of all other processes together.
#[derive(Clone, Debug, Default)]
pub struct CombinedProgress {
    /// The number of processes present.
    pub sites: u32,
    /// The number of their workers.
    pub workers: u32,
    /// How many of these have work.
    pub busy: u32,
    /// The counts of all so far, including processes that are gone.
    pub counts: Counts,
}

/// The state that a site's gateway shares with the workers and their watcher.
///
/// Workers work in *rounds*, which have even numbers. A round ends when the gateway takes all work: each worker hands in
/// its work, and waits for the next round.
pub struct SiteState {
    mailboxes: Mailboxes,
    round: AtomicU64,
    turn: Mutex<()>,
    turned: Condvar,
    /// The counts of each worker when it was last without work. The gateway's entry is for what it explores itself.
    settled: Vec<Mutex<Counts>>,
    /// Cuts of the snapshot under way.
    cuts: Mutex<Vec<Cut>>,
    /// What the peers handed over at the end of the round.
    ends: Mutex<Vec<Cut>>,
    /// Why the workers, or their watcher, want the search to stop.
    wish: Reason,
    asked: AtomicBool,
    /// The root's knowledge of the other sites.
    others: Arc<dyn OtherProcesses>,
    /// The root's last progress report.
    whole: Mutex<Option<Arc<ProgressReport<Portion<Counts>>>>>,
    least_bound: AtomicI64,
    /// Whether some worker, here or elsewhere, does not know which part of the tree its nodes are.
    blind: AtomicBool,
}

impl SiteState {
    /// The state of a site. The first mailbox is the gateway's, the others are the workers'.
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

    /// The state of the other sites, as far as known.
    pub fn others(&self) -> &dyn OtherProcesses {
        &*self.others
    }

    /// The mailboxes of the gateway and the workers.
    pub fn mailboxes(&self) -> &Mailboxes {
        &self.mailboxes
    }

    /// The number of peers of the site: the gateway and the workers.
    pub fn peers(&self) -> u32 {
        self.mailboxes.peers()
    }

    /// Wakes the gateway.
    pub fn wake_gateway(&self) {
        self.mailboxes.wake_peer(0);
    }

    /// Asks the gateway to stop the search, or to leave it.
    pub fn request_stop(&self, why: Stop) {
        if why == Stop::Asked {
            self.asked.store(true, Ordering::Relaxed);
        }
        self.wish.set(why);
        self.wake_gateway();
    }

    /// Whether the user or the caller asked this process to end its part.
    pub fn asked_to_leave(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The reason why the gateway was asked to stop, if it was.
    pub fn requested_stop(&self) -> Option<Stop> {
        self.wish.get()
    }

    /// The round under way.
    #[inline]
    pub fn round(&self) -> u64 {
        self.round.load(Ordering::Acquire)
    }

    /// Whether the site has ended.
    pub fn is_over(&self) -> bool {
        self.round() == OVER
    }

    /// Waits for a round, but only briefly, so that the caller can check whether the run has failed.
    pub fn await_round(&self, round: u64) {
        let turn = lock(&self.turn);
        if self.round() < round {
            // The round shows whether to wait again.
            let _ = self.turned.wait_timeout(turn, POLL_EVERY);
        }
    }

    /// Ends the round: all workers hand in their work.
    pub fn close_round(&self) {
        self.change_to(self.round() + 1);
    }

    /// Begins the next round, once all workers have handed in their work.
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
        self.mailboxes.wake_all();
    }

    /// Records the counts of a worker that is without work.
    pub fn record_counts(&self, me: PeerId, counts: Counts) {
        *lock(&self.settled[me as usize]) = counts;
    }

    /// The counts of all workers, once all are without work.
    pub fn total_counts(&self) -> Counts {
        let mut sum = Counts::default();
        self.settled.iter().for_each(|counts| sum.add(&lock(counts)));
        sum
    }

    /// Takes a peer's part of a snapshot.
    pub fn hand_in(&self, cut: Cut) {
        self.add(&self.cuts, cut);
    }

    /// Takes a peer's work and counts at the end of a round.
    pub fn hand_over(&self, all: Cut) {
        self.add(&self.ends, all);
    }

    fn add(&self, list: &Mutex<Vec<Cut>>, cut: Cut) {
        let mut list = lock(list);
        list.push(cut);
        let all = list.len() == self.peers() as usize;
        drop(list);
        if all {
            self.wake_gateway();
        }
    }

    fn take_if_complete(&self, list: &Mutex<Vec<Cut>>) -> Option<Vec<Cut>> {
        let mut list = lock(list);
        (list.len() == self.peers() as usize).then(|| std::mem::take(&mut *list))
    }

    /// The cuts of all peers, once all have arrived.
    pub fn take_cuts(&self) -> Option<Vec<Cut>> {
        self.take_if_complete(&self.cuts)
    }

    /// The work and counts of all peers at the end of the round, once all have handed them over.
    pub fn all_ends(&self) -> Option<Vec<Cut>> {
        self.take_if_complete(&self.ends)
    }

    /// Stores the root's newest progress report.
    pub fn set_progress_report(&self, whole: ProgressReport<Portion<Counts>>) {
        let least = all_open(&whole).map(|piece| piece.least_bound).min().unwrap_or(i64::MAX);
        self.least_bound.fetch_max(least, Ordering::Relaxed);
        *lock(&self.whole) = Some(Arc::new(whole));
    }

    /// The least bound by the root's progress reports: only the incumbent may beat it. The reports may be old, but they
    /// omit no open node.
    pub fn least_bound(&self) -> i64 {
        self.least_bound.load(Ordering::Relaxed)
    }

    /// The root's newest progress report.
    pub fn progress_report(&self) -> Option<Arc<ProgressReport<Portion<Counts>>>> {
        lock(&self.whole).clone()
    }

    /// Notes that some worker does not know which part of the tree its nodes are.
    pub fn go_blind(&self) {
        self.blind.store(true, Ordering::Relaxed);
    }

    /// Whether there is, or was, such a worker.
    pub fn is_blind(&self) -> bool {
        self.blind.load(Ordering::Relaxed)
    }

    /// Forgets the cuts of a snapshot that nobody wants any more.
    pub fn forget_cuts(&self) {
        lock(&self.cuts).clear();
    }
}

/// All open pieces of a progress report, including those of leases passed on.
fn all_open(whole: &ProgressReport<Portion<Counts>>) -> impl Iterator<Item = &Work> {
    let given = whole.nested().flat_map(|(_, rec)| &rec.content().open);
    whole.content.open.iter().chain(given).map(AsRef::as_ref)
}

/// The nodes that a progress report counts, including those of leases passed on.
pub fn nodes_of(whole: &ProgressReport<Portion<Counts>>) -> u64 {
    let given = whole.nested().map(|(_, rec)| rec.content().done.bounded);
    given.fold(whole.content.done.bounded, u64::saturating_add)
}

/// The part of the tree that is open by a progress report, if known.
pub fn share_open(problem: &dyn Problem, whole: &ProgressReport<Portion<Counts>>) -> Option<f64> {
    let mut explorer = problem.explorer();
    let (mut share, mut open) = (explorer.open_share()?, 0.0);
    // Piece by piece: to add one to many takes as long as to add all of them.
    for piece in all_open(whole) {
        explorer.add_work(&piece.bytes).ok()?;
        share += explorer.open_share()?;
        open += explorer.open_nodes();
        explorer.drain();
    }
    (share > 0.0 || open == 0.0).then_some(share)
}

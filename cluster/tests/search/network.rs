//! A network between the threads of a test, each of which is a site.

use pleach_cluster::{Arrival, Members, NetError, Network};
use pleach_cluster::{Cluster, Waker};
use pleach_core::lease::SiteId;
use pleach_core::lease::Terms;
use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The state that all sites share.
struct SharedNetwork {
    boxes: Vec<Mutex<VecDeque<Arrival>>>,
    wakers: Vec<Arc<Waker>>,
    /// The sites that have finished. A site that is lost and finishes later counts once.
    finished: Mutex<HashSet<SiteId>>,
    mortal: bool,
    /// All packets that were sent.
    sent: Mutex<Vec<Vec<u8>>>,
    /// The number of packets that each site may still send before it is lost.
    life: Vec<AtomicI64>,
    /// A long message of which parts keep arriving.
    arriving: Mutex<Option<LongMessage>>,
}

struct LongMessage {
    from: SiteId,
    /// Whether the last call reported it.
    reported: bool,
    /// The packets that its site has sent after it.
    behind: Vec<(SiteId, Vec<u8>)>,
}

/// One site's links.
#[derive(Clone)]
pub struct ThreadNetwork {
    shared: Arc<SharedNetwork>,
    me: SiteId,
}

impl ThreadNetwork {
    /// All packets that were sent by any site.
    pub fn sent(&self) -> Vec<Vec<u8>> {
        self.shared.sent.lock().unwrap().clone()
    }

    /// Makes this site be lost once it has sent this many more packets.
    pub fn dies_after(&self, packets: i64) {
        self.shared.life[self.me as usize].store(packets, Ordering::Relaxed);
    }

    /// From now on, parts of a long message of this site keep arriving, and nothing else.
    pub fn keeps_arriving(&self) {
        let message = LongMessage { from: self.me, reported: false, behind: Vec::new() };
        *self.shared.arriving.lock().unwrap() = Some(message);
    }

    /// The long message has arrived, and so has everything that was sent after it.
    pub fn has_arrived(&self) {
        let mut arriving = self.shared.arriving.lock().unwrap();
        for (to, bytes) in arriving.take().into_iter().flat_map(|message| message.behind) {
            self.put(to, Arrival::Message { from: self.me, bytes });
        }
    }

    fn is_dead(&self) -> bool {
        self.shared.life[self.me as usize].load(Ordering::Relaxed) < 0
    }

    fn put(&self, to: SiteId, arrival: Arrival) {
        self.shared.boxes[to as usize].lock().unwrap().push_back(arrival);
        self.shared.wakers[to as usize].wake();
    }
}

impl Network for ThreadNetwork {
    fn me(&self) -> SiteId {
        self.me
    }

    fn sites(&self) -> u32 {
        self.shared.boxes.len() as u32
    }

    fn members(&self) -> Members {
        if self.shared.mortal { Members::Mortal } else { Members::Fixed }
    }

    fn name(&self) -> &str {
        "threads"
    }

    fn send(&mut self, to: SiteId, bytes: Vec<u8>) {
        match self.shared.life[self.me as usize].fetch_sub(1, Ordering::Relaxed) {
            0 => {
                self.put(0, Arrival::Lost(self.me));
                return self.finish();
            }
            ..0 => return,
            1.. => {}
        }
        self.shared.sent.lock().unwrap().push(bytes.clone());
        let mut arriving = self.shared.arriving.lock().unwrap();
        if let Some(message) = arriving.as_mut().filter(|message| message.from == self.me) {
            return message.behind.push((to, bytes));
        }
        self.put(to, Arrival::Message { from: self.me, bytes });
    }

    fn poll(&mut self) -> Result<Option<Arrival>, NetError> {
        if self.is_dead() {
            return Err(NetError::Died);
        }
        Ok(self.shared.boxes[self.me as usize].lock().unwrap().pop_front())
    }

    fn arriving(&mut self) -> Option<SiteId> {
        let mut arriving = self.shared.arriving.lock().unwrap();
        let message = arriving.as_mut()?;
        message.reported = !message.reported;
        message.reported.then_some(message.from)
    }

    fn rest(&self) -> Option<Duration> {
        None
    }

    fn finish(&mut self) {
        let mut finished = self.shared.finished.lock().unwrap();
        if finished.insert(self.me) && finished.len() as u32 == self.sites() {
            (0..self.sites()).for_each(|site| self.put(site, Arrival::End));
        }
    }

    fn abort(&mut self, _code: i32) {}
}

/// Timeouts for sites that live as long as the search.
pub const LASTING: Terms = Terms {
    commit_ns: 5_000_000,
    lease_ns: 3_600_000_000_000,
    patience_ns: 36_000_000_000_000,
    most_commit_bytes: u64::MAX,
};

/// This many processes that live as long as the search.
pub fn clusters(sites: u32) -> Vec<Arc<Cluster>> {
    with_links(sites, LASTING).into_iter().map(|(cluster, _)| cluster).collect()
}

/// This many processes, each with its links.
pub fn with_links(sites: u32, terms: Terms) -> Vec<(Arc<Cluster>, ThreadNetwork)> {
    linked(sites, terms, false)
}

/// This many processes, each with its links, which may die.
pub fn mortal(sites: u32, terms: Terms) -> Vec<(Arc<Cluster>, ThreadNetwork)> {
    linked(sites, terms, true)
}

fn linked(sites: u32, terms: Terms, mortal: bool) -> Vec<(Arc<Cluster>, ThreadNetwork)> {
    let wakers: Vec<Arc<Waker>> = (0..sites).map(|_| Arc::default()).collect();
    let boxes = (0..sites).map(|_| Mutex::default()).collect();
    let (finished, sent) = (Mutex::default(), Mutex::default());
    let life = (0..sites).map(|_| AtomicI64::new(i64::MAX)).collect();
    let arriving = Mutex::default();
    let shared = Arc::new(SharedNetwork { boxes, wakers, finished, sent, life, arriving, mortal });
    let cluster = |me: SiteId| {
        let message = ThreadNetwork { shared: shared.clone(), me };
        let waker = shared.wakers[me as usize].clone();
        (Arc::new(Cluster::new(Box::new(message.clone()), None, waker, terms)), message)
    };
    (0..sites).map(cluster).collect()
}

//! A network between the threads of a test, each of them a site.

use pleach_core::custody::Terms;
use pleach_net::{Arrival, NetError, Network, SiteId};
use pleach_run::{Bell, Cluster};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What all sites share.
struct Hall {
    boxes: Vec<Mutex<VecDeque<Arrival>>>,
    bells: Vec<Arc<Bell>>,
    finished: Mutex<u32>,
}

/// One site's links.
struct Post {
    hall: Arc<Hall>,
    me: SiteId,
}

impl Post {
    fn put(&self, to: SiteId, arrival: Arrival) {
        self.hall.boxes[to as usize].lock().unwrap().push_back(arrival);
        self.hall.bells[to as usize].ring();
    }
}

impl Network for Post {
    fn me(&self) -> SiteId {
        self.me
    }

    fn sites(&self) -> u32 {
        self.hall.boxes.len() as u32
    }

    fn name(&self) -> &str {
        "threads"
    }

    fn send(&mut self, to: SiteId, bytes: Vec<u8>) {
        self.put(to, Arrival::Letter { from: self.me, bytes });
    }

    fn poll(&mut self) -> Result<Option<Arrival>, NetError> {
        Ok(self.hall.boxes[self.me as usize].lock().unwrap().pop_front())
    }

    fn rest(&self) -> Option<Duration> {
        None
    }

    fn finish(&mut self) {
        let mut finished = self.hall.finished.lock().unwrap();
        *finished += 1;
        if *finished == self.sites() {
            (0..self.sites()).for_each(|site| self.put(site, Arrival::End));
        }
    }

    fn abort(&mut self, _code: i32) {}
}

/// Times for sites that live as long as the search.
pub const LASTING: Terms =
    Terms { commit_ns: 5_000_000, lease_ns: 3_600_000_000_000, patience_ns: 36_000_000_000_000 };

/// So many processes that live as long as the search.
pub fn clusters(sites: u32) -> Vec<Arc<Cluster>> {
    let bells: Vec<Arc<Bell>> = (0..sites).map(|_| Arc::default()).collect();
    let boxes = (0..sites).map(|_| Mutex::default()).collect();
    let hall = Arc::new(Hall { boxes, bells, finished: Mutex::new(0) });
    let cluster = |me: SiteId| {
        let post = Box::new(Post { hall: hall.clone(), me });
        Arc::new(Cluster::new(post, None, hall.bells[me as usize].clone(), false, LASTING))
    };
    (0..sites).map(cluster).collect()
}

//! One site of a job: opens its network and plays a case.

use crate::signal::Signal;
use crate::{conformance, failing, still};
use pleach_cluster::mpi::{self, Choice};
use pleach_cluster::{Arrival, Network};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The longest message of any case.
pub const LONGEST: usize = 40_000_000;

/// Whether a process without a launcher has no network.
pub fn opens_nothing() -> bool {
    mpi::open(&Choice::Auto, LONGEST).unwrap().is_none()
}

/// A site with a time limit.
pub struct Site {
    pub network: Box<dyn Network>,
    pub me: u32,
    pub sites: u32,
    /// Arrivals while others were still joining.
    early: VecDeque<Arrival>,
    /// Wakes this site, if the network does so.
    signal: Signal,
    start: Instant,
}

impl Site {
    pub fn open(choice: &Choice) -> Self {
        let network = mpi::open(choice, LONGEST).unwrap_or_else(|error| panic!("{error}"));
        Self::of(network.expect("no network"), Signal::default())
    }

    /// A site with this network, which all have joined or will have joined by the end of [`Site::gather`].
    pub fn of(network: Box<dyn Network>, signal: Signal) -> Self {
        let (me, sites) = (network.me(), network.sites());
        assert!(me < sites);
        Self { network, me, sites, early: VecDeque::new(), signal, start: Instant::now() }
    }

    /// Waits until this many others have joined.
    pub fn gather(mut self, mut missing: u32) -> Self {
        let mut early = VecDeque::new();
        while missing > 0 {
            match self.next() {
                Arrival::Joined { .. } => missing -= 1,
                other => early.push_back(other),
            }
        }
        self.early = early;
        self
    }

    pub fn others(&self) -> impl Iterator<Item = u32> + use<> {
        let me = self.me;
        (0..self.sites).filter(move |&site| site != me)
    }

    /// The next arrival, if there is one now. Otherwise rests as the network prescribes.
    pub fn look(&mut self) -> Option<Arrival> {
        assert!(self.start.elapsed() < Duration::from_secs(25), "nothing arrives");
        if let Some(arrival) = self.early.pop_front() {
            return Some(arrival);
        }
        let arrival = self.network.poll().unwrap_or_else(|error| panic!("{error}"));
        if arrival.is_none() {
            match self.network.rest() {
                None => self.signal.wait(Duration::from_secs(1)),
                // Others may need this core.
                Some(Duration::ZERO) => std::thread::yield_now(),
                Some(rest) => std::thread::sleep(rest),
            }
        }
        arrival
    }

    /// Waits for the next arrival.
    pub fn next(&mut self) -> Arrival {
        loop {
            if let Some(arrival) = self.look() {
                return arrival;
            }
        }
    }

    /// Waits for the next message.
    pub fn message(&mut self) -> (u32, Vec<u8>) {
        match self.next() {
            Arrival::Message { from, bytes } => (from, bytes),
            other => panic!("{other:?} instead of a message"),
        }
    }

    /// Ends in an orderly way, when no message is expected any more.
    pub fn end(mut self) {
        self.network.finish();
        assert_eq!(self.next(), Arrival::End);
        assert_eq!(self.network.poll(), Ok(None));
        self.content();
    }

    pub fn content(&self) {
        content(self.me);
    }
}

/// Reports to the launching test that this site succeeded.
pub fn content(me: u32) {
    println!("site {me} is content");
}

/// Whether this process has opened an MPI library whose name contains this.
fn has_opened(library: &str) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut names = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    names.any(|name| name.contains(library) && name.contains("/libmpi"))
}

/// Plays a case under a launcher whose library's name contains this.
pub fn play(case: &str, library: &str) {
    match case {
        "by-hand" => {
            assert!(mpi::open(&Choice::Off, LONGEST).unwrap().is_none());
            by_hand(library);
        }
        "alone" => {
            assert!(mpi::open(&Choice::Auto, LONGEST).unwrap().is_none());
            assert!(!has_opened("libmpi"), "opened for one process");
            content(0);
        }
        _ => play_on(case, || {
            let site = Site::open(&Choice::Auto);
            assert!(has_opened(library), "not {library} but {}", site.network.name());
            site
        }),
    }
}

/// Plays a case on any network.
pub fn play_on(case: &str, open: impl FnOnce() -> Site) {
    match case {
        "order" | "order-tcp" => conformance::order(open()),
        "sizes" => conformance::sizes(open()),
        "long-and-short" => conformance::long_and_short(open()),
        "last-messages" => conformance::last_messages(open()),
        "idle" => still::idle(open()),
        "stopped" | "stopped-tcp" => still::stopped(open),
        "other-thread" => {
            let site = open();
            std::thread::spawn(|| conformance::order(site)).join().unwrap();
        }
        "panic" => {
            let site = open();
            std::thread::spawn(|| failing::play("panic", site));
            // Like a program that waits for another of its threads: the network must end it.
            std::thread::sleep(Duration::from_secs(60));
        }
        _ => failing::play(case, open()),
    }
}

/// Opens by its name the library that would have been chosen.
fn by_hand(library: &str) {
    let names = match library {
        "/libmpi.so.40" => ["libmpi.so.40", "libmpi.so.40"],
        "/libmpi_abi.so" => ["libmpi_abi.so.1", "libmpi_abi.so.0"],
        _ => ["libmpi.so.12", "libmpich.so.12"],
    };
    let missing = format!("cannot open the MPI library '{}'", names[0]);
    let choice = |name: &str| name.parse::<Choice>().unwrap();
    let network = mpi::open(&choice(names[0]), LONGEST).or_else(|error| {
        assert!(error.to_string().starts_with(&missing), "{error}");
        mpi::open(&choice(names[1]), LONGEST)
    });
    let network = network.unwrap().expect("no network");
    conformance::order(Site::of(network, Signal::default()));
}

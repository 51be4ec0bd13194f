//! The asymmetric travelling salesman problem (ATSP).

mod arborescence;
mod arcs;
mod ascent;
mod assignment;
pub mod bound;
mod branch;
mod dive;
mod insertion;
pub mod instance;
mod local;
pub mod named;
pub mod node;
pub mod partial;
mod patch;
mod prepare;
mod propagate;
pub mod random;
pub mod read;
mod sparse;
#[cfg(test)]
mod tests;
pub mod tours;
mod twins;

use crate::simd::Level;
use arcs::{Allowed, Arcs};
use assignment::{Assignment, Interrupted};
use bound::Bound;
use dive::dive;
use insertion::insertion;
use instance::Instance;
use local::{Beside, Local};
use partial::Paths;
use pleach_core::search::depth_first::TreeExplorer;
use pleach_core::search::device::OnDevice;
use pleach_core::search::explorer::Explorer;
use pleach_core::search::problem::Problem;
use pleach_core::search::seed::Top;
use pleach_core::search::tree::{Goal, Improver, Tree};
use pleach_core::search::work::{Nodes, Pool, Work};
use prepare::prepare;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tours::Tours;

/// Work spent on the initial tour, roughly in cost lookups: `START_EACH` per pair of cities, but at most `START`, which
/// takes about a tenth of a second.
const START: u64 = 10_000_000;
const START_EACH: u64 = 2_000;

/// An instance and how to search it.
#[derive(Clone, Debug)]
pub struct Atsp {
    instance: Arc<Instance>,
    start: Vec<u16>,
    /// Prices for leaving cities, in parts of a unit.
    prices: Vec<i64>,
    search: Search,
    /// Whether the run is waiting to stop.
    stop_requested: Arc<AtomicBool>,
}

#[derive(Clone, Debug)]
enum Search {
    Paths(Paths),
    Tours(Tours),
}

impl Atsp {
    /// A search with this bound. The initial tour is the best that heuristics find, from `start` if given; it depends
    /// only on the seed. Preparing the bound takes as long as it needs while `keep_going` returns true.
    ///
    /// # Errors
    /// If there are too many cities for the bound `partial`.
    pub fn new(
        instance: Instance,
        bound: Bound,
        how: (Nodes, Level),
        start: (Option<&[u16]>, u64),
        keep_going: &dyn Fn() -> bool,
    ) -> Result<Self, String> {
        Self::unless_stopped(instance, bound, how, start, (&|| true, keep_going))
    }

    /// The same. Once `wanted` returns false, it ends soon. The tree may then differ and must not be searched, but its
    /// bound and its initial tour are valid.
    ///
    /// # Errors
    /// If there are too many cities for the bound `partial`.
    pub fn unless_stopped(
        instance: Instance,
        bound: Bound,
        (nodes, level): (Nodes, Level),
        (start, seed): (Option<&[u16]>, u64),
        (wanted, keep_going): (&dyn Fn() -> bool, &dyn Fn() -> bool),
    ) -> Result<Self, String> {
        let instance = Arc::new(instance);
        let (mut start, mut prices, assignment) = tour(&instance, start, seed, wanted);
        let stop_requested = Arc::default();
        let search = match bound {
            Bound::Partial => Search::Paths(Paths::new(&instance, nodes, level)?),
            // A single city has no arcs.
            _ if instance.cities() == 1 => Search::Paths(Paths::new(&instance, nodes, level)?),
            _ => {
                let known = (&start[..], assignment);
                let mut prepared = prepare(&instance, bound, known, (wanted, keep_going));
                let (turned, priced) = (prepared.turned, prepared.priced.take());
                let mut tours = Tours::new(prepared, &instance, &start, &stop_requested);
                if let Some(priced) = priced {
                    let length = instance.length(&start);
                    if let Some(order) = dive(&tours, &priced, length, keep_going) {
                        tours.improve(&order, &priced);
                        start = instance.order(&tours.solution_of(&order))?;
                    }
                    prices = priced.multipliers;
                    prices.rotate_right(turned);
                }
                Search::Tours(tours)
            }
        };
        Ok(Self { instance, start, prices, search, stop_requested })
    }

    /// The instance.
    #[must_use]
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// The initial tour.
    #[must_use]
    pub fn start(&self) -> &[u16] {
        &self.start
    }

    /// The bound in use: what `auto` was resolved to.
    #[must_use]
    pub fn bound(&self) -> Bound {
        match &self.search {
            Search::Paths(_) => Bound::Partial,
            Search::Tours(tours) => tours.bound(),
        }
    }

    /// A tour of at most this length, if heuristics find one while `keep_going` returns true.
    #[must_use]
    pub fn reach(&self, length: i64, keep_going: &dyn Fn() -> bool, seed: u64) -> Option<Vec<u16>> {
        if self.instance.length(&self.start) <= length {
            return Some(self.start.clone());
        }
        let mut local = self.local(seed, keep_going)?;
        while local.best().1 > length {
            if !keep_going() {
                return None;
            }
            local.step(keep_going);
        }
        Some(local.best().0.to_vec())
    }

    /// A local search from the initial tour; `None` with fewer than four cities.
    fn local(&self, seed: u64, keep_going: &dyn Fn() -> bool) -> Option<Local> {
        let seed = seed.wrapping_add(1);
        let (instance, start) = (self.instance.clone(), self.start.clone());
        let local = || Local::new(instance, &self.prices, start, seed, keep_going);
        (self.instance.cities() > 3).then(local)
    }
}

/// A good tour found quickly, prices for leaving cities, and the assignment they come from; any tour once `keep_going`
/// returns false, and instead of the assignment the bound known by then, in parts of a unit.
fn tour(
    instance: &Arc<Instance>,
    start: Option<&[u16]>,
    seed: u64,
    keep_going: &dyn Fn() -> bool,
) -> (Vec<u16>, Vec<i64>, Result<Assignment, i64>) {
    let n = instance.cities();
    let arcs = Arcs::new(instance, &Allowed::all(n));
    let solved = assignment::solve(&arcs, &arcs.cost, (&vec![0; n], &vec![0; n]), keep_going);
    let assignment = match solved {
        Ok(Some(least)) => Ok(least),
        // Only a single city has no assignment.
        Ok(None) => Err(0),
        Err(Interrupted(bound)) => Err(bound.max(assignment::cheapest(&arcs))),
    };
    let (first, prices) = match &assignment {
        Ok(least) => (patch::patch(instance, &least.next, keep_going), least.out.clone()),
        Err(_) => (insertion(instance), vec![0; n]),
    };
    let tours = [Some(&first[..]), start].into_iter().flatten();
    let best = tours.min_by_key(|order| instance.length(order)).unwrap_or(&first).to_vec();
    if n < 4 {
        // Three cities have two tours.
        let turned: Vec<u16> = best.iter().rev().copied().collect();
        let shortest = [best, turned].into_iter().min_by_key(|order| instance.length(order));
        return (shortest.unwrap_or(vec![0]), prices, assignment);
    }
    if !keep_going() {
        return (best, prices, assignment);
    }
    let mut local = Local::new(instance.clone(), &prices, best, seed, keep_going);
    let most = START.min(START_EACH * (n * n) as u64);
    while local.work() < most && keep_going() {
        local.step(keep_going);
    }
    (local.best().0.to_vec(), prices, assignment)
}

impl Problem for Atsp {
    fn goal(&self) -> Goal {
        Goal::Minimise
    }

    fn root(&self) -> Work {
        match &self.search {
            Search::Paths(paths) => paths.whole(),
            Search::Tours(tours) => Pool::whole(Tree::root(tours)).to_work(),
        }
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        match &self.search {
            Search::Paths(paths) => partial::trail::explorer(paths),
            Search::Tours(tours) => Box::new(TreeExplorer::new(tours)),
        }
    }

    fn top(&self) -> Option<&dyn Top> {
        match &self.search {
            Search::Paths(paths) => paths.top(),
            Search::Tours(tours) => Some(tours),
        }
    }

    fn on_device(&self) -> Result<&dyn OnDevice, &'static str> {
        match &self.search {
            Search::Paths(paths) => paths.fits_device().map(|()| paths as &dyn OnDevice),
            Search::Tours(_) => Err("bounds other than partial"),
        }
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        Some(self.instance.order(solution).map(|order| self.instance.length(&order)))
    }

    fn fingerprint(&self) -> u64 {
        let print = match &self.search {
            Search::Paths(paths) => Tree::fingerprint(paths),
            Search::Tours(tours) => Tree::fingerprint(tours),
        };
        print.expect("both trees print their data")
    }

    fn set_stop_requested(&self, requested: bool) {
        self.stop_requested.store(requested, Ordering::Relaxed);
    }

    fn least_score(&self) -> i64 {
        match &self.search {
            Search::Paths(paths) => paths.least(),
            Search::Tours(tours) => tours.least(),
        }
    }

    fn improver(&self, seed: u64) -> Option<Box<dyn Improver + '_>> {
        let stop_requested = Arc::clone(&self.stop_requested);
        let local = self.local(seed, &|| !stop_requested.load(Ordering::Relaxed))?;
        Some(Box::new(Beside { local, stop_requested }))
    }
}

//! [`GatewayState`]: a site's leases, its gateway's other state, and how much work it shows to other sites.

use super::portion::{Portion, Tally};
use super::quota::Quota;
use super::workers::Workers;
use crate::lease::timer::pardon;
use crate::lease::{Content, Holding, HoldingId, Lease, LeaseTimer, ProgressReport, Site, SiteId};
use crate::steal::{PeerId, Power, Ticket};
use std::collections::{BTreeMap, HashMap};

/// A cut under way.
pub(super) struct PendingCut<D> {
    pub held: HoldingId,
    pub part: ProgressReport<Portion<D>>,
    pub since_ns: u64,
}

/// The leases of a site, and the other state of its gateway.
pub(super) struct GatewayState<D> {
    pub timer: LeaseTimer<Portion<D>>,
    /// Whether this site gives away all its work, and its workers explore none of it.
    pub coordinates: bool,
    /// Work given that has not arrived: the peer waits for a receipt.
    pub gifts: HashMap<Lease, (PeerId, Ticket)>,
    /// The holding that the workers work on.
    pub at_work: Option<HoldingId>,
    /// The holding that a piece was just split from.
    pub split_from: Option<HoldingId>,
    pub cut: Option<PendingCut<D>>,
    /// When the spare piece ran out, if there is none.
    pub bare_ns: Option<u64>,
    /// How long the spare piece may be missing before the gateway asks outside.
    pub low_ns: u64,
    /// When the peer wants to be woken.
    pub wake_ns: u64,
    /// When another site was last heard from.
    pub last_heard_ns: u64,
    /// The nodes left to explore, where the search has a limit.
    pub quota: Option<Quota>,
    /// Unreachable sites, and since when.
    pub away: BTreeMap<SiteId, u64>,
    /// Counts of work that was dropped here, and that others do again.
    pub wasted: D,
    pub stopped: bool,
    pub over: bool,
}

/// A site asks for more work only while fewer holdings than this are on their way back.
const MOST_RETURNING: usize = 8;

/// The spare piece is short while the workers together have more than this many times as much. It is too thin to be
/// given while the average worker has.
const SHORT: f64 = 4.0;

impl<D: Tally> GatewayState<D> {
    /// When a spare piece that runs out now will have been missing for too long.
    pub fn low_at(&self, now_ns: u64) -> u64 {
        now_ns.saturating_add(self.low_ns)
    }

    pub fn site(&self) -> &Site<Portion<D>> {
        self.timer.site()
    }

    /// Time in which nothing could be heard does not count for sites that are away.
    pub fn pardon_away_sites(&mut self, deaf_ns: u64, now_ns: u64) {
        self.away.values_mut().for_each(|since_ns| pardon(since_ns, deaf_ns, now_ns));
    }

    /// Whether there is nothing to explore here.
    pub fn is_idle(&self) -> bool {
        self.at_work.is_none() && self.waiting().is_none()
    }

    /// The part of the spare piece that can be given: nothing if it is small compared with a worker's work. Then it is
    /// better to wait for more.
    pub fn spare(&self, inside: &impl Workers<Done = D>) -> f64 {
        let spare = inside.spare();
        let thin = SHORT * spare * f64::from(inside.workers()) < inside.in_hand();
        if thin { 0.0 } else { spare }
    }

    /// Whether the gateway should keep collecting from the workers. A part of one worker's work would not last long among
    /// the workers of another site.
    pub fn is_short(&self, inside: &impl Workers<Done = D>) -> bool {
        SHORT * inside.spare() < inside.in_hand()
    }

    /// The holding to give from before the workers have seen it: one that waits for its turn.
    pub fn waiting(&self) -> Option<&Holding<Portion<D>>> {
        self.site().holdings().iter().find(|it| {
            !it.returning() && Some(it.held()) != self.at_work && it.part().content.has_open()
        })
    }

    /// The site's work as its peer sees it: 0 if it should ask for more, at least 2 if it can give.
    pub fn size(&self, inside: &impl Workers<Done = D>, now_ns: u64, power: Power) -> f64 {
        if self.coordinates {
            return self.waiting().map_or(0.0, |waiting| waiting.part().content.size().max(1.0));
        }
        let (spare, in_hand) = (self.spare(inside), inside.in_hand());
        if let Some(waiting) = self.waiting() {
            return 1.0 + spare + in_hand + waiting.part().content.size();
        }
        if spare > 0.0 && self.at_work.is_some() {
            return 1.0 + spare + in_hand;
        }
        let returning = self.site().holdings().iter().filter(|holding| holding.returning()).count();
        let bare = self.bare_ns.is_some_and(|since_ns| now_ns >= since_ns + self.low_ns);
        // The rest would not last until an answer comes.
        let short = bare && in_hand * 1e9 < power.0 as f64 * self.low_ns as f64;
        let low = self.at_work.is_none() || inside.has_idle_worker() || short;
        if low && returning < MOST_RETURNING { 0.0 } else { 1.0 }
    }
}

//! [`GatewayState`]: a site's leases, all that its gateway knows besides, and how much work others are to see.

use super::portion::{Portion, Tally};
use super::quota::Quota;
use super::workers::Workers;
use crate::lease::{Content, Holding, HoldingId, Lease, LeaseTimer, ProgressReport, Site, SiteId};
use crate::steal::{PeerId, Power, Ticket};
use std::collections::{BTreeMap, HashMap};

/// A cut that is being made.
pub(super) struct PendingCut<D> {
    pub held: HoldingId,
    pub part: ProgressReport<Portion<D>>,
    pub since_ns: u64,
}

/// The leases of a site, and all that the gateway knows besides.
pub(super) struct GatewayState<D> {
    pub timer: LeaseTimer<Portion<D>>,
    /// What was given and has not arrived: the peer waits for a receipt.
    pub gifts: HashMap<Lease, (PeerId, Ticket)>,
    /// The holding that the units work on.
    pub at_work: Option<HoldingId>,
    /// The holding that a piece was just split from.
    pub split_from: Option<HoldingId>,
    pub cut: Option<PendingCut<D>>,
    /// Since when there has been no spare piece.
    pub bare_ns: Option<u64>,
    /// How long the spare piece may be missing before the gateway asks outside.
    pub low_ns: u64,
    /// When the peer wants to be woken.
    pub wake_ns: u64,
    /// When another site was last heard of.
    pub last_heard_ns: u64,
    /// What is left to explore, where the search has a limit.
    pub quota: Option<Quota>,
    /// Sites that cannot be reached, and since when.
    pub away: BTreeMap<SiteId, u64>,
    /// What was done here of work that others do again.
    pub wasted: D,
    pub stopped: bool,
    pub over: bool,
}

/// At most this many holdings may be on their way back before a site asks for more.
const MOST_RETURNING: usize = 8;

/// A spare piece is short while the units have more than this many times as much. It is too thin to be given
/// while one of them has, on average.
const SHORT: f64 = 4.0;

impl<D: Tally> GatewayState<D> {
    /// When a spare piece that is missing now will have been missing for too long.
    pub fn low_at(&self, now_ns: u64) -> u64 {
        now_ns.saturating_add(self.low_ns)
    }

    pub fn site(&self) -> &Site<Portion<D>> {
        self.timer.site()
    }

    /// Whether there is nothing to explore here.
    pub fn is_idle(&self) -> bool {
        self.at_work.is_none() && self.waiting().is_none()
    }

    /// What can be given of the spare piece: nothing, if it is little beside what a unit has. Then it is
    /// better to wait for more.
    pub fn spare(&self, inside: &impl Workers<Done = D>) -> f64 {
        let spare = inside.spare();
        let thin = SHORT * spare * f64::from(inside.units()) < inside.in_hand();
        if thin { 0.0 } else { spare }
    }

    /// Whether the gateway should go on collecting from the units. What it gives of one unit's work would not
    /// last long among the units of another site.
    pub fn is_short(&self, inside: &impl Workers<Done = D>) -> bool {
        SHORT * inside.spare() < inside.in_hand()
    }

    /// The holding that can be given of although no unit has seen it: one that waits for its turn.
    pub fn waiting(&self) -> Option<&Holding<Portion<D>>> {
        self.site().holdings().iter().find(|it| {
            !it.returning() && Some(it.held()) != self.at_work && it.part().content.has_open()
        })
    }

    /// The site's work as its peer is to see it: 0 if it should ask for more, at least 2 if it can give.
    pub fn size(&self, inside: &impl Workers<Done = D>, now_ns: u64, power: Power) -> f64 {
        let (spare, in_hand) = (self.spare(inside), inside.in_hand());
        if let Some(waiting) = self.waiting() {
            return 1.0 + spare + in_hand + waiting.part().content.size();
        }
        if spare > 0.0 && self.at_work.is_some() {
            return 1.0 + spare + in_hand;
        }
        let returning = self.site().holdings().iter().filter(|holding| holding.returning()).count();
        let bare = self.bare_ns.is_some_and(|since_ns| now_ns >= since_ns + self.low_ns);
        // What is left would not last until an answer comes.
        let short = bare && in_hand * 1e9 < power.0 as f64 * self.low_ns as f64;
        let low = self.at_work.is_none() || inside.has_idle_unit() || short;
        if low && returning < MOST_RETURNING { 0.0 } else { 1.0 }
    }
}

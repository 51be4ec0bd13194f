//! [`LeaseTimer`]: decides by a clock when a site commits, asks again, suspects and gives up.

use super::holding::Holding;
use super::message::{LeaseAction, LeaseMessage};
use super::name::{HoldingId, Lease, SiteId};
use super::progress_report::{Content, ProgressReport};
use super::site::Site;
use std::collections::BTreeMap;

/// The timeouts of the lease protocol, and the largest commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The shortest time between two commits of a holding.
    pub commit_ns: u64,
    /// The lease period: a holder that is silent for this long loses its work, unless the root is unreachable. After
    /// half of that time, its lender asks it.
    pub lease_ns: u64,
    /// How long a site keeps work whose lender is silent or gone, and waits for a silent holder, while the root is
    /// unreachable. While it is reachable, or where the lender does not know the work, a site keeps work for two lease
    /// periods: the site that now answers for it finds out within one, and adopts it.
    pub patience_ns: u64,
    /// The approximate limit on the bytes of a commit, including the work passed on: half of the longest message. A
    /// site whose commit would take more only affirms that it is at work.
    pub most_commit_bytes: u64,
}

/// Commits take at most 1/COMMITS_COST of a site's time.
const COMMITS_COST: u64 = 50;

/// The longest wait for the answer to a commit before the next one.
const ANSWER_NS: u64 = 30_000_000_000;

/// The times that matter for a holding.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// When the lender was last heard from.
    last_heard_ns: u64,
    /// When the lender was last sent a progress report.
    last_sent_ns: u64,
    /// When the lender was last sent an affirmation only.
    affirmed_ns: u64,
    /// How long the last commit took.
    took_ns: u64,
    /// When a commit that the lender asked for is due.
    owed_ns: u64,
    /// Whether a commit was sent, and no message about this lease has arrived since.
    unanswered: bool,
    /// Whether the lender has answered that it does not know the work.
    unknown: bool,
}

/// A site with a clock.
#[derive(Clone, Debug)]
pub struct LeaseTimer<C> {
    site: Site<C>,
    terms: Terms,
    holdings: BTreeMap<HoldingId, Times>,
    /// When the holder of each lease was last heard from, and when it was last asked.
    holders: BTreeMap<Lease, (u64, u64)>,
    looked_ns: u64,
    /// Whether the root is reachable, and since when it is or is not.
    root: (bool, u64),
}

impl<C: Content> LeaseTimer<C> {
    /// A timer for a site.
    #[must_use]
    pub fn new(site: Site<C>, terms: Terms) -> Self {
        let (holdings, holders) = (BTreeMap::new(), BTreeMap::new());
        Self { site, terms, holdings, holders, looked_ns: 0, root: (true, 0) }
    }

    /// A site has joined, perhaps again: its leases are renewed. A process that holds nothing says so when asked.
    pub fn site_joined(&mut self, site: SiteId, now_ns: u64) {
        for (&lease, (last_heard_ns, _)) in &mut self.holders {
            if self.site.rec(lease).is_some_and(|rec| rec.holder == site) {
                *last_heard_ns = now_ns;
            }
        }
    }

    /// Notes that part of a long message to or from a site has arrived. Lease messages of that site wait behind it, so
    /// it does not count as silent, and this site does not repeat what it last sent about its holdings.
    pub fn hear_site(&mut self, site: SiteId, now_ns: u64) {
        self.site_joined(site, now_ns);
        for (held, times) in &mut self.holdings {
            let Some(holding) = self.site.holding(*held) else { continue };
            if holding.lender() != Some(site) {
                continue;
            }
            times.last_heard_ns = now_ns;
            if times.unanswered || holding.returning() {
                (times.last_sent_ns, times.owed_ns) = (now_ns, u64::MAX);
            }
        }
    }

    /// Notes whether the root is reachable. Sites reach each other through it: returns for how long holders could not
    /// be heard.
    pub fn reach_root(&mut self, reachable: bool, now_ns: u64) -> u64 {
        let (before, since_ns) = self.root;
        if reachable || before {
            self.root = (reachable, now_ns);
        }
        if !reachable || before {
            return 0;
        }
        let deaf_ns = now_ns.saturating_sub(since_ns);
        let holders = self.holders.values_mut().map(|(last_heard_ns, _)| last_heard_ns);
        holders.for_each(|last_heard_ns| pardon(last_heard_ns, deaf_ns, now_ns));
        deaf_ns
    }

    /// Whether the root is reachable.
    #[must_use]
    pub fn reaches_root(&self) -> bool {
        self.root.0
    }

    /// The site.
    #[must_use]
    pub fn site(&self) -> &Site<C> {
        &self.site
    }

    /// Its timeouts.
    #[must_use]
    pub fn terms(&self) -> Terms {
        self.terms
    }

    /// The site, for operations that need no clock.
    pub fn site_mut(&mut self) -> &mut Site<C> {
        &mut self.site
    }

    /// Handles a message.
    pub fn handle_message(
        &mut self,
        from: SiteId,
        message: LeaseMessage<C>,
        now_ns: u64,
        actions: &mut Vec<LeaseAction<C>>,
    ) {
        let lease = message.lease();
        let is_commit = matches!(message, LeaseMessage::Commit { .. });
        let is_affirmed = matches!(message, LeaseMessage::Ack { .. })
            && self.site.rec(lease).is_some_and(|rec| rec.acked);
        let unknown = matches!(message, LeaseMessage::Unknown { .. });
        let heard = match message {
            LeaseMessage::Ack { .. } | LeaseMessage::Commit { .. } => {
                self.holders.get_mut(&lease).map(|it| &mut it.0)
            }
            _ => self.holdings.get_mut(&Some(lease)).map(|times| {
                times.unanswered = false;
                &mut times.last_heard_ns
            }),
        };
        if let Some(last_heard_ns) = heard {
            *last_heard_ns = now_ns;
        }
        self.site.handle_message(from, message, actions);
        if let Some(times) = self.holdings.get_mut(&Some(lease)) {
            let orphan = self.site.holding(Some(lease)).is_some_and(Holding::is_orphan);
            times.unknown = orphan && (unknown || times.unknown);
        }
        // A lender that never answered would seem to be silent.
        if is_affirmed || is_commit && self.site.lists(lease) {
            actions
                .push(LeaseAction::Send { to: from, message: LeaseMessage::Committed { lease } });
        }
    }

    /// Notes that the lender of some work has asked for a commit. The lender has an older progress report, so the
    /// commit can wait: often the work is done first. Returns when the commit is due.
    pub fn schedule_commit(&mut self, lease: Lease, now_ns: u64) -> u64 {
        let due_ns = now_ns.saturating_add(self.terms.lease_ns / 4);
        let times = self.times(Some(lease), now_ns);
        times.owed_ns = times.owed_ns.min(due_ns);
        due_ns
    }

    fn times(&mut self, held: HoldingId, now_ns: u64) -> &mut Times {
        let new = Times {
            last_heard_ns: now_ns,
            last_sent_ns: now_ns,
            affirmed_ns: now_ns,
            took_ns: 0,
            owed_ns: u64::MAX,
            unanswered: false,
            unknown: false,
        };
        self.holdings.entry(held).or_insert(new)
    }

    /// The holding whose commit is due, if any.
    #[must_use]
    pub fn due_commit(&self, now_ns: u64) -> Option<HoldingId> {
        let live = self.site.holdings().iter().filter(|holding| !holding.returning());
        let mut known = live.filter(|holding| !holding.is_orphan());
        known.find(|holding| self.due_ns(holding.held()) <= now_ns).map(|holding| holding.held())
    }

    /// When the next commit of a holding is due. A lender that has not answered the last one is busy or far away.
    fn due_ns(&self, held: HoldingId) -> u64 {
        self.holdings.get(&held).map_or(u64::MAX, |times| {
            let wait_ns = if times.unanswered { self.terms.lease_ns.min(ANSWER_NS) } else { 0 };
            let every_ns = wait_ns.max(self.terms.commit_ns).max(COMMITS_COST * times.took_ns);
            times.last_sent_ns.saturating_add(every_ns).min(times.owed_ns)
        })
    }

    /// Notes that a commit of a holding was made or begun, and how long it takes.
    pub fn record_commit(&mut self, held: HoldingId, now_ns: u64, took_ns: u64) {
        let times = self.times(held, now_ns);
        (times.last_sent_ns, times.took_ns, times.owed_ns) = (now_ns, took_ns, u64::MAX);
    }

    /// Sends the lender of a holding a progress report, or only affirms the holding if the report is too large.
    pub fn send_commit(
        &mut self,
        held: HoldingId,
        report: ProgressReport<C>,
        actions: &mut Vec<LeaseAction<C>>,
    ) {
        let given: u64 = report.subs.values().map(|rec| rec.given.bytes()).sum();
        if report.content.bytes().saturating_add(given) > self.terms.most_commit_bytes {
            return self.site.affirm_holding(held, actions);
        }
        if let Some(times) = self.holdings.get_mut(&held) {
            times.unanswered = true;
        }
        self.site.send_commit(held, report, actions);
    }

    /// Asks, suspects, repeats and gives up where that is due. Returns when to check again.
    pub fn check_timers(&mut self, now_ns: u64, actions: &mut Vec<LeaseAction<C>>) -> u64 {
        let every_ns = (self.terms.lease_ns / 8).max(1);
        if now_ns >= self.looked_ns.saturating_add(every_ns) {
            self.pardon_standstill(now_ns);
            self.looked_ns = now_ns;
            self.look_at_holdings(now_ns, actions);
            self.look_at_holders(now_ns, actions);
        }
        let holds = !self.site.holdings().is_empty();
        if holds { self.looked_ns.saturating_add(every_ns) } else { u64::MAX }
    }

    /// Time during which this site was suspended, and did not check its timers, does not count as silence of others:
    /// their messages wait to be read, or they have to reconnect first. Returns how much time that was.
    pub fn pardon_standstill(&mut self, now_ns: u64) -> u64 {
        let late_ns = self.looked_ns.saturating_add(self.terms.lease_ns / 4);
        let still_ns = now_ns.saturating_sub(late_ns);
        if still_ns == 0 {
            return 0;
        }
        self.looked_ns += still_ns;
        let lenders = self.holdings.values_mut().map(|times| &mut times.last_heard_ns);
        let holders = self.holders.values_mut().map(|(last_heard_ns, _)| last_heard_ns);
        for since_ns in lenders.chain(holders).chain([&mut self.root.1]) {
            pardon(since_ns, still_ns, now_ns);
        }
        still_ns
    }

    /// When the next commit is due.
    #[must_use]
    pub fn next_commit_ns(&self) -> u64 {
        let live = self.site.holdings().iter().filter(|it| !it.returning() && !it.is_orphan());
        live.map(|holding| self.due_ns(holding.held())).min().unwrap_or(u64::MAX)
    }

    /// Starts to track new holdings and leases, and forgets those that are gone.
    pub fn track_leases(&mut self, now_ns: u64) {
        let held = self.site.holdings();
        if held.len() == self.holdings.len()
            && held.iter().all(|holding| self.holdings.contains_key(&holding.held()))
        {
            return;
        }
        let held: Vec<HoldingId> = held.iter().map(Holding::held).collect();
        self.holdings.retain(|it, _| held.contains(it));
        held.into_iter().for_each(|it| {
            self.times(it, now_ns);
        });
    }

    fn look_at_holdings(&mut self, now_ns: u64, actions: &mut Vec<LeaseAction<C>>) {
        self.track_leases(now_ns);
        let Terms { lease_ns, patience_ns, .. } = self.terms;
        for (held, times) in &mut self.holdings {
            let (Some(lease), Some(holding)) = (*held, self.site.holding(*held)) else { continue };
            let two_leases_ns = lease_ns.saturating_mul(2).min(patience_ns);
            let (since_ns, wait_ns) = match self.root {
                _ if times.unknown => (times.last_heard_ns, two_leases_ns),
                (true, since_ns) => (times.last_heard_ns.max(since_ns), two_leases_ns),
                (false, _) => (times.last_heard_ns, patience_ns),
            };
            let silent_ns = now_ns.saturating_sub(times.last_sent_ns.max(times.affirmed_ns));
            if now_ns >= since_ns.saturating_add(wait_ns) {
                self.site.drop_holding(lease, actions);
            } else if !holding.returning() && silent_ns >= lease_ns / 4 {
                times.affirmed_ns = now_ns;
                self.site.affirm_holding(*held, actions);
            } else if holding.returning()
                && now_ns >= times.last_sent_ns.saturating_add(lease_ns / 2)
            {
                times.last_sent_ns = now_ns;
                self.site.repeat_return(*held, actions);
            }
        }
    }

    fn look_at_holders(&mut self, now_ns: u64, actions: &mut Vec<LeaseAction<C>>) {
        let live = self.site.holdings().iter().filter(|holding| !holding.returning());
        let listed: Vec<Lease> =
            live.flat_map(|holding| holding.part().subs.keys().copied()).collect();
        let mut before = std::mem::take(&mut self.holders);
        let Terms { lease_ns, patience_ns, .. } = self.terms;
        let wait_ns = if self.root.0 { lease_ns } else { patience_ns };
        for lease in listed {
            let (last_heard_ns, mut asked_ns) = before.remove(&lease).unwrap_or((now_ns, now_ns));
            if now_ns >= last_heard_ns.saturating_add(wait_ns) {
                if let Some(holder) = self.site.rec(lease).map(|rec| rec.holder) {
                    actions.push(LeaseAction::Lapsed { lease, holder });
                }
                self.site.take_back_lease(lease, actions);
                continue;
            }
            let half_ns = lease_ns / 2;
            if now_ns >= last_heard_ns.saturating_add(half_ns)
                && now_ns >= asked_ns.saturating_add(half_ns / 2)
            {
                asked_ns = now_ns;
                self.site.ask_holder(lease, actions);
            }
            self.holders.insert(lease, (last_heard_ns, asked_ns));
        }
    }
}

/// Moves the start of another site's silence forward by the time during which nothing could be
/// heard.
pub(super) fn pardon(since_ns: &mut u64, deaf_ns: u64, now_ns: u64) {
    *since_ns = since_ns.saturating_add(deaf_ns).min(now_ns);
}

#[cfg(test)]
mod tests;

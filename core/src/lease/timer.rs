//! [`LeaseTimer`]: decides by a clock when a site commits, asks again, suspects and gives up.

use super::holding::Holding;
use super::message::{LeaseAction, LeaseMessage};
use super::name::{HoldingId, Lease, SiteId};
use super::progress_report::Content;
use super::site::Site;
use std::collections::BTreeMap;

/// The timeouts of the lease protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The shortest time between two commits of a holding.
    pub commit_ns: u64,
    /// The lease period: a holder that is silent for this long loses its work. After half of it, it is asked.
    pub lease_ns: u64,
    /// How long a site keeps work whose lender is silent or gone while the root is unreachable. While it is reachable,
    /// or where the lender does not know the work, two lease periods are enough: the site that now answers for the
    /// work finds out within one, and adopts it.
    pub patience_ns: u64,
}

/// Commits take at most 1/COMMITS_COST of a site's time.
const COMMITS_COST: u64 = 50;

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
    /// Whether the lender has not answered since the last commit.
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
    /// When the root became reachable; `None` while it is unreachable.
    root_since_ns: Option<u64>,
}

impl<C: Content> LeaseTimer<C> {
    /// A timer for a site.
    #[must_use]
    pub fn new(site: Site<C>, terms: Terms) -> Self {
        let (holdings, holders) = (BTreeMap::new(), BTreeMap::new());
        Self { site, terms, holdings, holders, looked_ns: 0, root_since_ns: Some(0) }
    }

    /// A site has joined, perhaps again: its leases are renewed. A process that holds nothing says so when asked.
    pub fn site_joined(&mut self, site: SiteId, now_ns: u64) {
        for (&lease, (last_heard_ns, _)) in &mut self.holders {
            if self.site.holder_of(lease) == Some(site) {
                *last_heard_ns = now_ns;
            }
        }
    }

    /// Notes whether the root is reachable.
    pub fn reach_root(&mut self, reachable: bool, now_ns: u64) {
        self.root_since_ns = reachable.then_some(now_ns);
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
        let is_affirmed = matches!(message, LeaseMessage::Ack { .. }) && self.site.is_acked(lease);
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

    /// Notes that the lender of some work has asked for a commit. Its older progress report is good enough for a
    /// while: often the work is done before. Returns when the commit is due.
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
            let wait_ns = if times.unanswered { self.terms.lease_ns } else { 0 };
            let every_ns = wait_ns.max(self.terms.commit_ns).max(COMMITS_COST * times.took_ns);
            times.last_sent_ns.saturating_add(every_ns).min(times.owed_ns)
        })
    }

    /// Notes that a commit of a holding was made or begun, and how long it takes.
    pub fn record_commit(&mut self, held: HoldingId, now_ns: u64, took_ns: u64) {
        let times = self.times(held, now_ns);
        (times.last_sent_ns, times.took_ns, times.owed_ns) = (now_ns, took_ns, u64::MAX);
        times.unanswered = held.is_some();
    }

    /// Asks, suspects, repeats and gives up where it is time. Returns when to check again.
    pub fn check_timers(&mut self, now_ns: u64, actions: &mut Vec<LeaseAction<C>>) -> u64 {
        let every_ns = (self.terms.lease_ns / 8).max(1);
        if now_ns >= self.looked_ns.saturating_add(every_ns) {
            let still_ns = now_ns.saturating_sub(self.looked_ns.saturating_add(2 * every_ns));
            self.pardon_silence(still_ns, now_ns);
            self.looked_ns = now_ns;
            self.look_at_holdings(now_ns, actions);
            self.look_at_holders(now_ns, actions);
        }
        let holds = !self.site.holdings().is_empty();
        if holds { self.looked_ns.saturating_add(every_ns) } else { u64::MAX }
    }

    /// Time in which this site stood still does not count as silence of others: their messages wait to be read, or
    /// they have to reconnect first.
    fn pardon_silence(&mut self, still_ns: u64, now_ns: u64) {
        let of_lenders = self.holdings.values_mut().map(|times| &mut times.last_heard_ns);
        let of_holders = self.holders.values_mut().map(|(last_heard_ns, _)| last_heard_ns);
        for last_heard_ns in of_lenders.chain(of_holders) {
            *last_heard_ns = last_heard_ns.saturating_add(still_ns).min(now_ns);
        }
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
            let (since_ns, wait_ns) = match self.root_since_ns {
                _ if times.unknown => (times.last_heard_ns, two_leases_ns),
                Some(since_ns) => (times.last_heard_ns.max(since_ns), two_leases_ns),
                None => (times.last_heard_ns, patience_ns),
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
        // Sites reach each other through the root.
        let (since_ns, wait_ns) = match self.root_since_ns {
            Some(since_ns) => (since_ns, self.terms.lease_ns),
            None => (0, self.terms.patience_ns),
        };
        for lease in listed {
            let (last_heard_ns, mut asked_ns) = before.remove(&lease).unwrap_or((now_ns, now_ns));
            if now_ns >= last_heard_ns.max(since_ns).saturating_add(wait_ns) {
                if let Some(holder) = self.site.holder_of(lease) {
                    actions.push(LeaseAction::Lapsed { lease, holder });
                }
                self.site.take_back_lease(lease, actions);
                continue;
            }
            let half_ns = self.terms.lease_ns / 2;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::ProgressReport;

    /// A number of open units.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    struct Open(u32);

    impl Content for Open {
        fn add(&mut self, other: &Self) {
            self.0 += other.0;
        }

        fn has_open(&self) -> bool {
            self.0 > 0
        }

        fn bytes(&self) -> u64 {
            u64::from(self.0) << 20
        }
    }

    const LEASE: u64 = 1000;
    const TERMS: Terms = Terms { commit_ns: 100, lease_ns: LEASE, patience_ns: 50 * LEASE };

    type LeaseActions = Vec<LeaseAction<Open>>;

    /// A root and a site that holds a unit for it.
    fn pair() -> (LeaseTimer<Open>, LeaseTimer<Open>, Lease) {
        let whole = ProgressReport::of(Open(2));
        let mut root = LeaseTimer::new(Site::root(0, 7, whole, None), TERMS);
        let mut holder = LeaseTimer::new(Site::new(1, 8), TERMS);
        let mut actions = LeaseActions::new();
        let take = |open: &mut Open| {
            open.0 -= 1;
            Some(Open(1))
        };
        let lease = root.site_mut().lend_work(None, 1, take, &mut actions).unwrap();
        pass(actions, 0, &mut holder, 0, &mut LeaseActions::new());
        holder.track_leases(0);
        (root, holder, lease)
    }

    /// Delivers what is to be sent; returns other actions, and leaves the answers in `answers`.
    fn pass(
        actions: LeaseActions,
        from: SiteId,
        to: &mut LeaseTimer<Open>,
        now_ns: u64,
        answers: &mut LeaseActions,
    ) -> LeaseActions {
        let mut others = LeaseActions::new();
        for action in actions {
            match action {
                LeaseAction::Send { message, .. } => {
                    to.handle_message(from, message, now_ns, answers)
                }
                other => others.push(other),
            }
        }
        others
    }

    /// Nodes that take longer than a lease period used to cost a site all that it held, without a warning.
    #[test]
    fn a_holder_that_has_nothing_to_commit_keeps_its_lease() {
        let (mut root, mut holder, lease) = pair();
        let mut acks = LeaseActions::new();
        holder.site().affirm_holding(Some(lease), &mut acks);
        pass(acks, 1, &mut root, 0, &mut LeaseActions::new());
        for now_ns in (0..100 * LEASE).step_by(LEASE as usize / 16) {
            let (mut said, mut asked) = (LeaseActions::new(), LeaseActions::new());
            holder.check_timers(now_ns, &mut said);
            let mut answers = LeaseActions::new();
            assert_eq!(pass(said, 1, &mut root, now_ns, &mut answers), []);
            root.check_timers(now_ns, &mut asked);
            let more = pass(asked, 0, &mut holder, now_ns, &mut LeaseActions::new());
            assert_eq!(
                (pass(answers, 0, &mut holder, now_ns, &mut LeaseActions::new()), more),
                (vec![], vec![])
            );
        }
        assert!(root.site().lists(lease) && holder.site().holding(Some(lease)).is_some());
    }

    /// Commits used to pile up at a lender that reads them more slowly than they come.
    #[test]
    fn a_commit_that_the_lender_has_not_answered_delays_the_next_one() {
        let (mut root, mut holder, lease) = pair();
        let commit = |holder: &mut LeaseTimer<Open>, now_ns: u64| {
            let mut said = LeaseActions::new();
            let part = holder.site().current_report(Some(lease)).unwrap();
            holder.record_commit(Some(lease), now_ns, 0);
            holder.site().send_commit(Some(lease), part, &mut said);
            said
        };
        let said = commit(&mut holder, 100);
        assert_eq!(holder.next_commit_ns(), 100 + LEASE);
        // What the lender has asked for is not delayed.
        assert_eq!(holder.schedule_commit(lease, 200), 200 + LEASE / 4);
        assert_eq!(holder.next_commit_ns(), 200 + LEASE / 4);
        commit(&mut holder, 450);
        let mut answers = LeaseActions::new();
        pass(said, 1, &mut root, 500, &mut answers);
        pass(answers, 0, &mut holder, 500, &mut LeaseActions::new());
        assert_eq!(holder.next_commit_ns(), 450 + TERMS.commit_ns);
    }

    /// A commit of a gigabyte would not pass the limit on messages, and would take seconds each time.
    #[test]
    fn a_site_with_too_much_open_work_affirms_instead_of_committing() {
        let (_, holder, lease) = pair();
        let commits = |megabytes| {
            let (mut said, part) = (LeaseActions::new(), ProgressReport::of(Open(megabytes)));
            holder.site().send_commit(Some(lease), part, &mut said);
            let [LeaseAction::Send { to: 0, message }] = &said[..] else { panic!("{said:?}") };
            match message {
                LeaseMessage::Commit { .. } => true,
                LeaseMessage::Ack { .. } => false,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!([1, 64, 65, 4000].map(commits), [true, true, false, false]);
    }

    /// A silent holder loses its work after a lease period, and the interpreter is notified.
    #[test]
    fn a_silent_holder_loses_its_lease() {
        let (mut root, _, lease) = pair();
        let mut actions = LeaseActions::new();
        (0..=2 * LEASE).step_by(LEASE as usize / 8).for_each(|now_ns| {
            root.check_timers(now_ns, &mut actions);
        });
        assert!(actions.contains(&LeaseAction::Lapsed { lease, holder: 1 }), "{actions:?}");
        assert!(!root.site().lists(lease));
    }

    /// While the root was away, its sites used to take back each other's work.
    #[test]
    fn a_holder_keeps_its_lease_while_the_root_is_away() {
        let (mut lender, _, lease) = pair();
        let lapses_by = |lender: &mut LeaseTimer<Open>, from_ns: u64| {
            let mut times = (from_ns..).step_by(LEASE as usize / 8);
            times.find(|&now_ns| {
                lender.check_timers(now_ns, &mut LeaseActions::new());
                !lender.site().lists(lease)
            })
        };
        lender.reach_root(false, 0);
        let mut alone = lender.clone();
        assert_eq!(lapses_by(&mut alone, 0), Some(TERMS.patience_ns + LEASE / 8));
        (0..20 * LEASE).step_by(LEASE as usize / 8).for_each(|now_ns| {
            lender.check_timers(now_ns, &mut LeaseActions::new());
        });
        lender.reach_root(true, 20 * LEASE);
        assert_eq!(lapses_by(&mut lender, 20 * LEASE), Some(21 * LEASE));
    }

    /// A root that was suspended used to take back the work of all sites as soon as it ran again.
    #[test]
    fn a_root_that_stood_still_does_not_count_it_as_silence() {
        let (mut root, _, lease) = pair();
        let mut actions = LeaseActions::new();
        root.check_timers(LEASE / 8, &mut actions);
        root.check_timers(LEASE / 4, &mut actions);
        let back_ns = 30 * LEASE;
        root.check_timers(back_ns, &mut actions);
        assert!(root.site().lists(lease));
        let mut later = (back_ns..).step_by(LEASE as usize / 8);
        let lapsed = later.find(|&now_ns| {
            root.check_timers(now_ns, &mut actions);
            !root.site().lists(lease)
        });
        assert!((back_ns + LEASE / 2..=back_ns + LEASE).contains(&lapsed.unwrap()), "{lapsed:?}");
    }

    /// Work of a dead lender used to be explored for all of a site's patience although the root was reachable.
    #[test]
    fn work_of_a_silent_lender_is_dropped_after_two_leases_unless_the_root_is_away() {
        let drops_by = |holder: &mut LeaseTimer<Open>, until_ns: u64| {
            let mut actions = LeaseActions::new();
            let times = (0..=until_ns).step_by(LEASE as usize / 8);
            times.into_iter().find(|&now_ns| {
                holder.check_timers(now_ns, &mut actions);
                holder.site().holdings().is_empty()
            })
        };
        let (_, mut holder, _) = pair();
        assert_eq!(drops_by(&mut holder, 60 * LEASE), Some(2 * LEASE));
        let (_, mut holder, _) = pair();
        holder.reach_root(false, 0);
        assert_eq!(drops_by(&mut holder, 60 * LEASE), Some(TERMS.patience_ns));
        let (_, mut holder, _) = pair();
        holder.reach_root(false, 0);
        assert_eq!(drops_by(&mut holder, 20 * LEASE), None);
        // The root is back, so somebody may adopt the work.
        holder.reach_root(true, 20 * LEASE);
        holder.looked_ns = 0;
        assert_eq!(drops_by(&mut holder, 60 * LEASE), Some(22 * LEASE));
    }
}

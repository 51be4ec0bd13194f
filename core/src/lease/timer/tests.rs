//! Tests of [`super::LeaseTimer`]: who loses what when others are silent, and when commits are due.

use super::*;
use crate::lease::Rec;
use std::sync::Arc;

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
const TERMS: Terms =
    Terms { commit_ns: 100, lease_ns: LEASE, patience_ns: 50 * LEASE, most_commit_bytes: 64 << 20 };

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

/// Delivers what must be sent; returns other actions, and leaves the answers in `answers`.
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
            LeaseAction::Send { message, .. } => to.handle_message(from, message, now_ns, answers),
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

/// A message that took longer than a lease period used to cost a site all that it held.
#[test]
fn a_lease_lasts_while_a_long_message_about_it_arrives() {
    for arrives in [true, false] {
        let (mut root, mut holder, lease) = pair();
        let mut commit = LeaseActions::new();
        let part = holder.site().current_report(Some(lease)).unwrap();
        holder.record_commit(Some(lease), 0, 0);
        holder.send_commit(Some(lease), part, &mut commit);
        let mut asked = LeaseActions::new();
        for now_ns in (0..10 * LEASE).step_by(LEASE as usize / 16) {
            if arrives {
                root.hear_site(1, now_ns);
                holder.hear_site(0, now_ns);
                assert_eq!(holder.due_commit(now_ns), None);
            }
            // All else waits behind the commit.
            holder.check_timers(now_ns, &mut LeaseActions::new());
            root.check_timers(now_ns, &mut asked);
        }
        let holds = holder.site().holding(Some(lease)).is_some();
        assert_eq!(
            (root.site().lists(lease), holds, asked.is_empty()),
            (arrives, arrives, arrives)
        );
        let mut answers = LeaseActions::new();
        pass(commit, 1, &mut root, 10 * LEASE, &mut answers);
        let taken = LeaseAction::Send { to: 1, message: LeaseMessage::Committed { lease } };
        assert_eq!(answers.contains(&taken), arrives, "{answers:?}");
    }
}

/// While a return was on its way, it used to be sent again and again.
#[test]
fn a_return_is_not_repeated_while_it_arrives() {
    let (_, mut holder, lease) = pair();
    holder.site_mut().change_content(Some(lease), |open| *open = Open(0));
    let mut said = LeaseActions::new();
    holder.site_mut().return_holding(Some(lease), &mut said);
    holder.record_commit(Some(lease), 0, 0);
    assert_eq!(said.len(), 1);
    let mut repeats = |from_ns: u64, arrives: bool| {
        let mut said = LeaseActions::new();
        for now_ns in (from_ns..from_ns + LEASE).step_by(LEASE as usize / 16) {
            if arrives {
                holder.hear_site(0, now_ns);
            }
            holder.check_timers(now_ns, &mut said);
        }
        said.len()
    };
    assert_eq!(repeats(0, true), 0);
    assert!(repeats(LEASE, false) > 0);
}

/// Commits used to pile up at a lender that reads them more slowly than they arrive.
#[test]
fn a_commit_that_the_lender_has_not_answered_delays_the_next_one() {
    let (mut root, mut holder, lease) = pair();
    let commit = |holder: &mut LeaseTimer<Open>, now_ns: u64| {
        let mut said = LeaseActions::new();
        let part = holder.site().current_report(Some(lease)).unwrap();
        holder.record_commit(Some(lease), now_ns, 0);
        holder.send_commit(Some(lease), part, &mut said);
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
    let (_, mut holder, lease) = pair();
    let mut commits = |(megabytes, given)| {
        let (mut said, mut part) = (LeaseActions::new(), ProgressReport::of(Open(megabytes)));
        let rec = Rec { holder: 2, acked: true, latest: None, given: Arc::new(Open(given)) };
        part.subs.insert(lease, rec);
        holder.send_commit(Some(lease), part, &mut said);
        let [LeaseAction::Send { to: 0, message }] = &said[..] else { panic!("{said:?}") };
        match message {
            LeaseMessage::Commit { .. } => true,
            LeaseMessage::Ack { .. } => false,
            other => panic!("{other:?}"),
        }
    };
    let sizes = [(1, 0), (60, 4), (64, 1), (4000, 0), (1, 64)];
    assert_eq!(sizes.map(&mut commits), [true, true, false, false, false]);
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
    let mut flapping = lender.clone();
    assert_eq!(lapses_by(&mut lender, 20 * LEASE), Some(21 * LEASE));
    // Only the time in which the root was away does not count.
    let lapsed = (20 * LEASE..).step_by(LEASE as usize / 8).find(|&now_ns| {
        flapping.reach_root(now_ns % (2 * LEASE) < LEASE, now_ns);
        flapping.check_timers(now_ns, &mut LeaseActions::new());
        !flapping.site().lists(lease)
    });
    assert_eq!(lapsed, Some(22 * LEASE));
}

/// A root that was suspended used to take back the work of all sites as soon as it ran again.
#[test]
fn a_root_that_stood_still_does_not_count_it_as_silence() {
    let (mut root, _, lease) = pair();
    let mut actions = LeaseActions::new();
    root.check_timers(LEASE / 8, &mut actions);
    root.check_timers(LEASE / 4, &mut actions);
    let back_ns = 30 * LEASE;
    assert_eq!(root.pardon_standstill(back_ns), back_ns - LEASE / 2);
    root.check_timers(back_ns, &mut actions);
    assert!(root.site().lists(lease));
    // The same suspension does not count twice.
    assert_eq!(root.pardon_standstill(back_ns), 0);
    let mut later = (back_ns..).step_by(LEASE as usize / 8);
    let lapsed = later.find(|&now_ns| {
        root.check_timers(now_ns, &mut actions);
        !root.site().lists(lease)
    });
    assert!((back_ns + LEASE / 2..=back_ns + LEASE).contains(&lapsed.unwrap()), "{lapsed:?}");
}

/// A site that was suspended just after the root had come back keeps its work: its lender could not be heard.
#[test]
fn a_standstill_after_the_return_of_the_root_does_not_count() {
    let (_, mut holder, lease) = pair();
    holder.reach_root(false, 0);
    holder.check_timers(LEASE / 8, &mut LeaseActions::new());
    let deaf_ns = holder.reach_root(true, 5 * LEASE);
    assert_eq!(deaf_ns, 5 * LEASE);
    holder.check_timers(5 * LEASE, &mut LeaseActions::new());
    holder.check_timers(10 * LEASE, &mut LeaseActions::new());
    assert!(holder.site().holding(Some(lease)).is_some());
}

/// Work of a dead lender used to be explored for all of a site's patience although the root was reachable.
#[test]
fn work_of_a_silent_lender_is_dropped_after_two_leases_unless_the_root_is_away() {
    let drops_by = |holder: &mut LeaseTimer<Open>, from_ns: u64, until_ns: u64| {
        let mut actions = LeaseActions::new();
        let times = (from_ns..=until_ns).step_by(LEASE as usize / 8);
        times.into_iter().find(|&now_ns| {
            holder.check_timers(now_ns, &mut actions);
            holder.site().holdings().is_empty()
        })
    };
    let (_, mut holder, _) = pair();
    assert_eq!(drops_by(&mut holder, 0, 60 * LEASE), Some(2 * LEASE));
    let (_, mut holder, _) = pair();
    holder.reach_root(false, 0);
    assert_eq!(drops_by(&mut holder, 0, 60 * LEASE), Some(TERMS.patience_ns));
    let (_, mut holder, _) = pair();
    holder.reach_root(false, 0);
    assert_eq!(drops_by(&mut holder, 0, 20 * LEASE), None);
    // The root is back, so somebody may adopt the work.
    holder.reach_root(true, 20 * LEASE);
    assert_eq!(drops_by(&mut holder, 20 * LEASE, 60 * LEASE), Some(22 * LEASE));
}

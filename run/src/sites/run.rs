//! A run as one site of several: the same units as ever, and a gate beside them.

use super::account::Account;
use super::cluster::Cluster;
use super::gatekeeper::{Gatekeeper, Kept};
use super::house::House;
use super::link::{Heard, Link};
use super::parcel::{Order, Parcel};
use super::yard::Yard;
use crate::commons::Commons;
use crate::control::Stop;
use crate::crew::Crew;
use crate::driver::Left;
use crate::error::RunError;
use crate::gather::{check, settle};
use crate::outcome::{Balance, Outcome, Parting, SiteReport, UnitReport};
use crate::save::Saver;
use crate::settings::Settings;
use crate::start::{Ground, before, control, last_warnings};
use crate::sync::{Mutex, lock};
use crate::transport::local::Office;
use crate::units::{Plan, Planned, plan};
use crate::watch::{Watcher, watch_over};
use pleach_core::balance::{End, Growth, Peer, PeerTree, Policy, Seeded, TreeShape};
use pleach_core::checkpoint::Checkpoint;
use pleach_core::custody::Site;
use pleach_core::gate::{Gate, Portion};
use pleach_core::problem::Problem;
use pleach_core::tree::Counts;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

/// How long the gate's own work may be missing before it asks other sites: a few times as long as they take to
/// answer.
const LOW_NS: u64 = 200_000;

/// Rests between two requests to other sites, which take longer to answer than threads.
const FIRST_REST_NS: u64 = 50_000;
const LONGEST_REST_NS: u64 = 5_000_000;

/// How long the root waits for others to tell what they did, where they may have died.
const ACCOUNTS: Duration = Duration::from_secs(3);

/// The most bytes of a certificate.
const CERTIFICATE: u64 = 1 << 20;

impl Crew {
    /// Takes part in a search by several processes. Where this one follows, the outcome is about its own part.
    pub(crate) fn run_with_others(
        &self,
        problem: &dyn Problem,
        settings: &Settings,
        cluster: &Cluster,
        watch: &mut Watcher<'_>,
    ) -> Result<Outcome, RunError> {
        let start = Instant::now();
        if settings.policy.is_late() {
            return Err(RunError::Late("gives to several processes what only one may hold"));
        }
        let link = &mut *cluster.link();
        let ordered = link.take_order();
        let settings = &followed(settings, cluster, ordered.as_ref().map(|(order, _)| order))?;
        problem.hurry(false);
        let Plan { units, warnings } = plan(problem, settings, self.shelf())?;
        let peers = units.len() as u32 + 1;
        let before = before(problem, settings)?;
        let before = &if cluster.is_open() {
            before
        } else {
            // Nobody from before waits to be adopted.
            before.folded().map_err(|why| RunError::Resume(why.into()))?
        };
        if ordered.as_ref().is_some_and(|(order, _)| order.fingerprint != before.fingerprint) {
            return Err(RunError::Follow(
                "the root searches something that is another problem here",
            ));
        }
        let limited = ordered.as_ref().map_or(settings.node_limit.is_some(), |(it, _)| it.limited);
        let fuel = limited.then_some(0);
        let control = control(problem, settings, before, fuel, peers);
        let saver = settings.save.as_ref().filter(|_| cluster.is_root());
        let saver = saver.map(|save| Saver::new((save, &settings.about), before, peers, start));
        let office = &Office::new(peers);
        let about = (problem.goal(), problem.least_score());
        let yard = Some(Yard::new(office.clone()));
        let commons = &Commons::new(about, before, control, peers, (start, saver), warnings, yard);
        let begin = |saver: &Saver<'_>| saver.begin(before.pieces.clone(), commons.control());
        let _lock = commons.saver().map(begin).transpose()?;
        let site = Part { problem, settings, commons, cluster, limited };
        if cluster.is_root() {
            link.begin(Order {
                fingerprint: before.fingerprint,
                best: commons.control().best(),
                limited,
                improve: settings.improve,
                trace: settings.trace,
                about: settings.about.as_bytes().to_vec(),
            });
        }
        cluster.bell().connect(Some(office.clone()));
        let ended = site.work(self, link, units, watch);
        cluster.bell().connect(None);
        let (kept, left) = match ended {
            Ok(ended) => ended,
            Err(why) => {
                link.pause();
                // What is wrong with the problem is wrong for all; what fails here alone costs only this site
                // where sites come and go.
                let for_all = matches!(why, RunError::Bound(_) | RunError::Solution(_));
                if for_all || cluster.is_root() || !cluster.is_open() {
                    link.send_all(&Parcel::Failed(why.to_string()));
                }
                return Err(why);
            }
        };
        let lag_ns = ordered.map_or(0, |(_, came)| start.duration_since(came).as_nanos() as u64);
        site.close(link, (kept, left), lag_ns, watch)
    }
}

/// This process's part in a search.
struct Part<'a> {
    problem: &'a dyn Problem,
    settings: &'a Settings,
    commons: &'a Commons<'a>,
    cluster: &'a Cluster,
    limited: bool,
}

impl<'a> Part<'a> {
    fn yard(&self) -> &'a Yard {
        self.commons.yard().expect("a site has a yard")
    }

    /// Has all units work, and the gate beside them, while the run is watched.
    fn work(
        &self,
        crew: &Crew,
        link: &mut Link,
        units: Vec<Planned<'a>>,
        watch: &mut Watcher<'_>,
    ) -> Result<(Kept, Vec<Left>), RunError> {
        let Part { problem, settings, commons, .. } = *self;
        let office = self.yard().office();
        let ground = &Ground { problem, settings, commons, office };
        let threads = units.iter().filter(|unit| unit.is_thread()).count() as u32;
        let inside = Policy { end: Some(End::Counter), ..Policy::default() };
        let tree = &PeerTree::new(self.yard().peers(), inside.tree, settings.seed);
        let kept = Mutex::new(None);
        let mut jobs = Vec::new();
        for (me, planned) in (1..).zip(units) {
            let peer = Peer::new(me, tree, inside.clone());
            // The last thread runs what improves solutions.
            let improves = me == threads.max(1);
            let job = move || ground.unit(peer, planned, std::iter::empty(), improves).map(Some);
            jobs.push(Box::new(job) as Box<dyn FnOnce() -> Result<Option<Left>, RunError> + Send>);
        }
        let gate = self.gate(link);
        let gatekeeper = self.gatekeeper(gate, link, &inside);
        let resumed = !commons.before.subs.is_empty();
        let into = &kept;
        jobs.push(Box::new(move || {
            let mut guard = ground.guard();
            *lock(into) = Some(gatekeeper.keep(resumed)?);
            guard.well = true;
            Ok(None)
        }));
        let ended = crew.side_by_side(jobs, |latch| {
            let mut guard = ground.guard();
            watch_over(problem, settings, commons, latch, office, watch);
            guard.well = true;
        })?;
        let mut left = Vec::new();
        for unit in ended {
            match unit {
                Ok(unit) => left.extend(unit?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        let kept = lock(&kept).take();
        let kept = kept.ok_or_else(|| RunError::Protocol("a gate was left open".into()))?;
        Ok((kept, left))
    }

    /// The gate of this site.
    fn gate(&self, link: &Link) -> Gate<Counts> {
        let Part { settings, commons, cluster, limited, .. } = *self;
        let me = cluster.me();
        // It names this process among all that ever take this place.
        let incarnation = RandomState::new().hash_one((std::process::id(), Instant::now()));
        let mut site = if cluster.is_root() {
            let best = commons.control().solution();
            Site::root(me, incarnation, commons.before.certificate(), best)
        } else {
            Site::new(me, incarnation)
        };
        site.tell_at_most(CERTIFICATE);
        let mut policy = Policy { end: Some(End::Custody), ..settings.policy.clone() };
        (policy.rests.first_ns, policy.rests.longest_ns) = (FIRST_REST_NS, LONGEST_REST_NS);
        if cluster.is_open() {
            // All letters pass the root, and every other place may be empty.
            policy.tree = TreeShape { growth: Growth::Full, degree: link.places(), levels: 0 };
        }
        let sites = PeerTree::new(link.places(), policy.tree, 0);
        let peer = Peer::new(me, &sites, policy);
        let peer = if cluster.is_open() { peer.alone() } else { peer };
        let chooser = Seeded::new(settings.seed, me);
        let mut terms = cluster.terms();
        if let Some(save) = &settings.save {
            terms.commit_ns = terms.commit_ns.min(save.every.as_nanos() as u64);
        }
        let mut gate = Gate::new(site, terms, peer, chooser, LOW_NS);
        if limited {
            gate.limit(settings.node_limit.filter(|_| cluster.is_root()).unwrap_or(0));
        }
        gate
    }

    fn gatekeeper<'g>(
        &'g self,
        gate: Gate<Counts>,
        link: &'g mut Link,
        inside: &Policy,
    ) -> Gatekeeper<'g> {
        let Part { problem, settings, commons, cluster, .. } = *self;
        let yard = self.yard();
        for site in link.others().into_iter().filter(|_| cluster.is_root()) {
            let host = link.host_of(site).to_string();
            yard.others.join(site, host, commons.now_ns());
        }
        Gatekeeper {
            gate,
            house: House::new(problem, commons, yard, (inside, settings.seed)),
            cluster,
            link,
            commons,
            yard,
            fingerprint: commons.before.fingerprint,
            next: None,
            stop: None,
            leaving: false,
            sighted_ns: 0,
            commits: 0,
            way: None,
        }
    }

    /// What comes of it: at the root of the whole search, elsewhere of this part.
    fn close(
        &self,
        link: &mut Link,
        (kept, left): (Kept, Vec<Left>),
        lag_ns: u64,
        watch: &mut Watcher<'_>,
    ) -> Result<Outcome, RunError> {
        let Part { problem, commons, cluster, .. } = *self;
        let mut balance = Balance::default();
        let (mut explored_ns, mut ended_ns) = (0, 0);
        let setup_ns = left.first().map_or(0, |unit| unit.started_ns);
        let mut units = Vec::new();
        for unit in left {
            explored_ns = unit.explored_ns.max(explored_ns);
            ended_ns = unit.ended_ns.max(ended_ns);
            balance.add(unit.balance);
            units.push(unit.report);
        }
        balance.add(kept.balance);
        balance.ending_ns = ended_ns.saturating_sub(explored_ns);
        let mut counts = Counts::default();
        units.iter().for_each(|unit| counts.add(&unit.counts));
        let mut outcome = Outcome {
            goal: problem.goal(),
            counts,
            solution: commons.control().solution(),
            stop: kept.stop,
            lower_bound: i64::MIN,
            open: 0.0,
            seconds: 0.0,
            earlier_seconds: commons.before.elapsed_ns as f64 * 1e-9,
            setup_seconds: setup_ns as f64 * 1e-9,
            units,
            balance,
            sites: Vec::new(),
        };
        match kept.whole {
            None => {
                let account = Account {
                    host: pleach_net::host(),
                    units: outcome.units.clone(),
                    balance: outcome.balance.clone(),
                    commits: kept.commits,
                    lag_ns,
                };
                link.send(0, &Parcel::Account(account));
            }
            Some(whole) => {
                self.judge(&mut outcome, &whole);
                check(problem, &outcome)?;
                self.save(&outcome, &whole);
                // Whoever comes now waits for the next search.
                link.pause();
                let took = commons.seconds();
                self.hear_accounts(link)?;
                outcome.seconds = took;
                self.report(&mut outcome, kept.commits);
            }
        }
        last_warnings(commons, watch);
        if !cluster.is_root() {
            outcome.seconds = commons.seconds();
        }
        debug_assert!(cluster.is_root() || outcome.sites.is_empty());
        Ok(outcome)
    }

    /// What the whole tells: counts, bound, and whether anything is left.
    fn judge(&self, outcome: &mut Outcome, whole: &Portion<Counts>) {
        outcome.counts = whole.done;
        outcome.open = whole.size();
        let bounds = whole.open.iter().map(|piece| piece.least_bound);
        let least = bounds.min().unwrap_or(i64::MAX);
        settle(self.commons, outcome, least);
    }

    fn save(&self, outcome: &Outcome, whole: &Portion<Counts>) {
        let Some(saver) = self.commons.saver() else { return };
        let stopped = outcome.stop.is_some_and(|why| why != Stop::Found);
        let open = if stopped { whole.clone() } else { Portion { done: whole.done, open: vec![] } };
        let whole = pleach_core::custody::Certificate::of(open);
        let saved = saver.write_whole(&whole, self.commons.control());
        if let Some(warning) = saved.err().and_then(|why| saver.warn(&why, true)) {
            self.commons.warn(warning);
        }
    }

    /// Hears what the other sites did.
    fn hear_accounts(&self, link: &mut Link) -> Result<(), RunError> {
        let (others, start) = (&self.yard().others, Instant::now());
        while others.owing() && (!self.cluster.is_open() || start.elapsed() < ACCOUNTS) {
            match link.hear()? {
                Some(Heard::Parcel(from, Parcel::Account(account))) => {
                    others.account(from, account);
                }
                // It comes too late to matter: all was counted.
                Some(Heard::Parcel(site, Parcel::Failed(why))) => {
                    self.commons.warn(format!("site {site}: {why}"));
                    others.account(site, Account::default());
                }
                Some(Heard::Lost(site)) => others.lose(site, self.commons.now_ns()),
                Some(_) => {}
                None => self.cluster.rest(link, Duration::from_millis(10)),
            }
        }
        Ok(())
    }

    /// What each site did, with its units.
    fn report(&self, outcome: &mut Outcome, commits: u64) {
        let before = self.commons.before.counted().unwrap_or_default().bounded;
        let counted = outcome.counts.bounded.saturating_sub(before);
        let mut units = std::mem::take(&mut outcome.units);
        let name = |site: &str, unit: &mut UnitReport| unit.name = format!("{site}/{}", unit.name);
        let root = SiteReport {
            name: "site0".into(),
            host: pleach_net::host(),
            units: (0..units.len()).collect(),
            commits,
            ..SiteReport::default()
        };
        units.iter_mut().for_each(|unit| name(&root.name, unit));
        let mut sites = vec![root];
        let mut explored = units.iter().map(|unit| unit.counts.bounded).sum::<u64>();
        for (mut report, account, seen) in self.yard().others.reports() {
            let account_came = account.is_some();
            let account = account.unwrap_or_default();
            let first = units.len();
            let late_ns = (report.joined_s * 1e9) as u64 + account.lag_ns;
            for mut unit in account.units {
                name(&report.name, &mut unit);
                unit.activity = unit.activity.map(|activity| activity.later(late_ns));
                units.push(unit);
            }
            report.units = (first..units.len()).collect();
            explored += units[first..].iter().map(|unit| unit.counts.bounded).sum::<u64>();
            explored += if account_came { 0 } else { seen.bounded };
            outcome.balance.add(Balance { ending_ns: 0, ..account.balance });
            sites.push(report);
        }
        // Only those that were lost can have explored in vain.
        let lost: Vec<&mut SiteReport> =
            sites.iter_mut().filter(|site| site.end == Some(Parting::Lost)).collect();
        let each = explored.saturating_sub(counted) / (lost.len() as u64).max(1);
        lost.into_iter().for_each(|site| site.redone = each);
        (outcome.units, outcome.sites) = (units, sites);
    }
}

/// The settings with what the root orders.
fn followed(
    settings: &Settings,
    cluster: &Cluster,
    order: Option<&Order>,
) -> Result<Settings, RunError> {
    let mut settings = settings.clone();
    // Heuristics are not to do the same everywhere.
    settings.seed = settings.seed.wrapping_add(u64::from(cluster.me()) << 32);
    if cluster.is_root() {
        return Ok(settings);
    }
    let order = order.ok_or(RunError::Follow("the root has ordered no search"))?;
    let goal_free = Settings {
        best: None,
        start: None,
        time_limit: None,
        node_limit: None,
        save: None,
        improve: order.improve,
        trace: order.trace,
        resume: Some(std::sync::Arc::new(Checkpoint {
            fingerprint: order.fingerprint,
            best: order.best,
            ..Checkpoint::default()
        })),
        ..settings
    };
    Ok(goal_free)
}

//! A run as one site of several: the usual workers, with a gateway alongside them.

use super::cluster::Cluster;
use super::gateway_thread::{GatewayResult, GatewayThread};
use super::message::{Order, SessionMessage};
use super::other_sites::OtherSites;
use super::session::Session;
use super::site_run::SiteRun;
use super::workers::SiteWorkers;
use pleach_core::lease::Site;
use pleach_core::lease::gateway::Gateway;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Counts;
use pleach_core::steal::{Peer, PeerTree, Policy, SeededChooser};
use pleach_core::wire::checkpoint::Checkpoint;
use pleach_runtime::control::Control;
use pleach_runtime::driver::WorkerResult;
use pleach_runtime::error::RunError;
use pleach_runtime::outcome::Outcome;
use pleach_runtime::outcome::Watcher;
use pleach_runtime::run_state::RunState;
use pleach_runtime::save::Saver;
use pleach_runtime::settings::ProcessGroup;
use pleach_runtime::settings::Settings;
use pleach_runtime::site_state::SiteState;
use pleach_runtime::start::{RunContext, initial_state, new_control, random_id, reached_limit};
use pleach_runtime::sync::{Mutex, lock};
use pleach_runtime::transport::Mailboxes;
use pleach_runtime::watch::{last_warnings, watch_over};
use pleach_runtime::worker_pool::WorkerPool;
use pleach_runtime::workers::{Plan, PlannedWorker, plan_workers};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Instant;

/// How long the spare piece may be missing before the gateway asks other sites: a few times as long as they take to
/// answer.
const LOW_NS: u64 = 200_000;

/// Rests between two requests to other sites, which take longer to answer than threads.
const FIRST_REST_NS: u64 = 50_000;
const LONGEST_REST_NS: u64 = 5_000_000;

/// The warning about a rule for the end that has no effect.
const LEASES_DECIDE: &str =
    "end=… has no effect: between processes, leases decide when the search is over";

impl ProcessGroup for Cluster {
    fn leads(&self) -> bool {
        self.is_root()
    }

    fn run(
        &self,
        pool: &WorkerPool,
        problem: &dyn Problem,
        settings: &Settings,
        watch: &mut Watcher<'_>,
    ) -> Result<Outcome, RunError> {
        let (start, cluster) = (Instant::now(), self);
        let policy = &settings.policy;
        if policy.has_masters() || policy.tree.drawn_first || policy.profile {
            return Err(RunError::Alone);
        }
        if settings.policy.has_depths() && problem.top().is_none() {
            return Err(RunError::Cutoff);
        }
        let session = &mut *cluster.session();
        let ordered = session.take_order();
        let settings =
            &settings_of_order(settings, cluster, ordered.as_ref().map(|(order, _)| order))?;
        problem.set_stop_requested(false);
        let Plan { workers, warnings } = plan_workers(problem, settings, start)?;
        let peers = workers.len() as u32 + 1;
        let before = &match &ordered {
            Some((order, _)) => ordered_start(problem, order)?,
            None if cluster.is_open() => initial_state(problem, settings)?,
            // No site of an earlier run waits to be adopted.
            None => initial_state(problem, settings)?
                .flattened()
                .map_err(|why| RunError::Resume(why.into()))?,
        };
        let limited = ordered.as_ref().map_or(settings.node_limit.is_some(), |(it, _)| it.limited);
        let fuel = limited.then_some(0);
        let control = new_control(problem, settings, before, fuel, peers);
        let saver = settings.save.as_ref().filter(|_| cluster.is_root());
        let saver = saver.map(|save| Saver::new((save, &settings.about), before, peers, start));
        let mailboxes = &Mailboxes::new(peers);
        let others = &Arc::<OtherSites>::default();
        let site_state = Some(SiteState::new(mailboxes.clone(), Arc::clone(others) as _));
        // The gateway is the first peer, but not a worker.
        let names = ["gateway"].into_iter().chain(workers.iter().map(|worker| &*worker.name));
        let names = names.map(Into::into).collect();
        let run_state =
            &RunState::new(problem, before, control, names, (start, saver), settings, site_state);
        warnings.into_iter().for_each(|line| run_state.warn(line));
        let reached = reached_limit(settings, before).filter(|_| cluster.is_root());
        reached.into_iter().for_each(|why| run_state.request_stop(why));
        let begin =
            |saver: &Saver<'_>| saver.lock_and_write(before.pieces.clone(), run_state.control());
        let (_lock, warning) = run_state.saver().map(begin).transpose()?.unzip();
        warning.flatten().into_iter().for_each(|line| run_state.warn(line));
        let order = ordered.as_ref().map(|(order, _)| order.clone());
        let order =
            order.unwrap_or_else(|| order_of(settings, before, run_state.control(), limited));
        let site = SiteRun { problem, settings, run_state, cluster, others, order: &order };
        if cluster.is_root() {
            session.begin_search(order.clone());
        }
        cluster.waker().connect(Some(mailboxes.clone()));
        let ended =
            catch_unwind(AssertUnwindSafe(|| site.run_workers(pool, session, workers, watch)));
        cluster.waker().connect(None);
        let ended = ended.unwrap_or_else(|panic| {
            session.end_search();
            if cluster.is_root() {
                session.send_all(&SessionMessage::Failed("the search failed".into()));
            }
            resume_unwind(panic)
        });
        let (kept, left) = match ended {
            Ok(ended) => ended,
            Err(why) => {
                session.end_search();
                // An error in the problem affects all sites; a failure of this site alone costs only this site
                // where sites come and go.
                let for_all = matches!(why, RunError::Bound(_) | RunError::Solution(_));
                // The other sites continue with the root that has taken over.
                let taken_over = matches!(why, RunError::TakenOver);
                if for_all || cluster.is_root() && !taken_over || !cluster.is_open() {
                    session.send_all(&SessionMessage::Failed(why.to_string()));
                }
                last_warnings(problem, run_state, i64::MIN, watch);
                return Err(why);
            }
        };
        let lag_ns = ordered.map_or(0, |(_, came)| start.duration_since(came).as_nanos() as u64);
        site.gather_outcome(session, (kept, left), lag_ns, watch)
    }
}

impl<'a> SiteRun<'a> {
    /// Runs all workers and the gateway alongside them, while the run is watched.
    fn run_workers(
        &self,
        pool: &WorkerPool,
        session: &mut Session,
        workers: Vec<PlannedWorker<'a>>,
        watch: &mut Watcher<'_>,
    ) -> Result<(GatewayResult, Vec<WorkerResult>), RunError> {
        let SiteRun { problem, settings, run_state, .. } = *self;
        let mailboxes = self.site_state().mailboxes();
        let context = &RunContext { problem, settings, run_state, mailboxes };
        if workers.iter().any(PlannedWorker::is_blind) {
            self.site_state().go_blind();
        }
        let threads = workers.iter().filter(|worker| worker.is_thread()).count() as u32;
        let inside = settings.policy.inside_site();
        let tree = &PeerTree::new(self.site_state().peers(), inside.tree, settings.seed);
        let kept = Mutex::new(None);
        let mut jobs = Vec::new();
        for (me, planned) in (1..).zip(workers) {
            let peer = Peer::new(me, tree, inside.clone());
            // The last thread runs the heuristic.
            let improves = me == threads.max(1);
            let job = move || context.run_worker(peer, planned, &[], improves).map(Some);
            jobs.push(
                Box::new(job) as Box<dyn FnOnce() -> Result<Option<WorkerResult>, RunError> + Send>
            );
        }
        let gateway = self.new_gateway(session);
        let gateway_thread = self.gateway_thread(gateway, session, &inside);
        let resumed = !run_state.before.subs.is_empty();
        let into = &kept;
        jobs.push(Box::new(move || {
            let mut guard = context.guard();
            *lock(into) = Some(gateway_thread.run(resumed)?);
            guard.well = true;
            Ok(None)
        }));
        let ended = pool.side_by_side(jobs, |latch| {
            let mut guard = context.guard();
            watch_over(problem, settings, run_state, latch, mailboxes, watch);
            guard.well = true;
        })?;
        let left = ended.into_iter().filter_map(Result::transpose).collect::<Result<_, _>>()?;
        let kept = lock(&kept).take();
        let kept = kept.ok_or_else(|| RunError::Protocol("the gateway left no result".into()))?;
        Ok((kept, left))
    }

    /// The gateway of this site.
    fn new_gateway(&self, session: &Session) -> Gateway<Counts> {
        let SiteRun { settings, run_state, cluster, order, .. } = *self;
        let me = cluster.me();
        // It distinguishes this process from all others that will ever have this number.
        let incarnation = random_id();
        let site = if cluster.is_root() {
            let best = run_state.control().solution();
            Site::root(me, incarnation, run_state.before.progress_report(), best)
        } else {
            let mut site = Site::new(me, incarnation);
            // The site prunes by this value, so it must have the solution.
            if let Some(best) = &order.best {
                site.record_solution(best, &mut Vec::new());
            }
            site
        };
        let mut policy = settings.policy.between_sites(session.places(), cluster.is_open());
        (policy.rests.first_ns, policy.rests.longest_ns) = (FIRST_REST_NS, LONGEST_REST_NS);
        if cluster.is_root() && settings.policy.end.is_some() {
            run_state.warn(LEASES_DECIDE.into());
        }
        // All sites must have the same tree, whatever their seeds are.
        let sites = PeerTree::new(session.places(), policy.tree, order.run);
        let peer = Peer::new(me, &sites, policy);
        let peer = if cluster.is_open() { peer.with_changing_peers() } else { peer };
        let chooser = SeededChooser::new(settings.seed, me);
        let mut terms = cluster.terms();
        if let Some(save) = &settings.save {
            terms.commit_ns = terms.commit_ns.min(save.every.as_nanos() as u64);
        }
        let mut gateway = Gateway::new(site, terms, peer, chooser, LOW_NS);
        if order.limited {
            gateway.set_node_limit(settings.node_limit.filter(|_| cluster.is_root()).unwrap_or(0));
        }
        gateway
    }

    fn gateway_thread<'g>(
        &'g self,
        gateway: Gateway<Counts>,
        session: &'g mut Session,
        inside: &Policy,
    ) -> GatewayThread<'g> {
        let SiteRun { problem, settings, run_state, cluster, others, order } = *self;
        let second_cutoff = settings.policy.second_cutoff;
        let site_state = self.site_state();
        for site in session.others().into_iter().filter(|_| cluster.is_root()) {
            let host = session.host_of(site).to_string();
            self.others.record_join(site, host, false, run_state.now_ns());
        }
        GatewayThread {
            gateway,
            workers: SiteWorkers::new(
                problem,
                run_state,
                site_state,
                (inside, settings.seed),
                second_cutoff,
            ),
            cluster,
            session,
            run_state,
            site_state,
            others,
            order,
            cutoff: settings.policy.cutoff.filter(|_| cluster.is_root()),
            node_limit: settings.node_limit,
            time_limit: settings.time_limit,
            copied: None,
            next_copy_ns: 0,
            copy_on_its_way: false,
            next: None,
            heard_ns: 0,
            stop: None,
            leaving: false,
            next_progress_ns: 0,
            commits: 0,
            reconnect: None,
            root: order.root,
            invalid: BTreeMap::new(),
            parted: BTreeSet::new(),
            begins_again: None,
        }
    }
}

/// The settings as changed by the root's order.
fn settings_of_order(
    settings: &Settings,
    cluster: &Cluster,
    order: Option<&Order>,
) -> Result<Settings, RunError> {
    let mut settings = settings.clone();
    // Heuristics must not do the same on all sites.
    settings.seed = settings.seed.wrapping_add(u64::from(cluster.me()) << 32);
    if cluster.is_root() {
        return Ok(settings);
    }
    let order = order.ok_or(RunError::Follow("the root has not started a search"))?;
    let followed = Settings {
        best: None,
        start: None,
        time_limit: None,
        node_limit: None,
        save: None,
        improve: order.improve,
        trace: order.trace,
        resume: None,
        ..settings
    };
    Ok(followed)
}

/// The root's order for its search.
fn order_of(settings: &Settings, before: &Checkpoint, control: &Control, limited: bool) -> Order {
    let (best, known) = (control.best(), control.solution());
    let attained = known.as_ref().is_some_and(|known| known.score <= best);
    Order {
        run: before.run,
        term: before.term,
        root: random_id(),
        fingerprint: before.fingerprint,
        cutoff: if attained { i64::MAX } else { best },
        best: known,
        limited,
        improve: settings.improve,
        trace: settings.trace,
        about: settings.about.as_bytes().to_vec(),
    }
}

/// The state with which this process begins a search that the root has ordered: a value to beat, and the best solution.
fn ordered_start(problem: &dyn Problem, order: &Order) -> Result<Checkpoint, RunError> {
    let fingerprint = order.fingerprint;
    if !problem.has_fingerprint(fingerprint) {
        let why =
            "the root's search differs from this one: are the program and its input the same?";
        return Err(RunError::Follow(why));
    }
    let (run, best, solution) = (order.run, order.cutoff, order.best.clone());
    Ok(Checkpoint { fingerprint, run, best, solution, ..Checkpoint::default() })
}

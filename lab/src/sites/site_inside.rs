//! [`SiteInside`]: a simulated site as its gateway sees it.

use super::effects::SiteWorkerEffects;
use super::fleet_state::FleetState;
use crate::chance::mix;
use crate::load::{Hand, Load, WorkDone};
use pleach_core::lease::gateway::{GatewayMessage, Portion, Workers};
use pleach_core::lease::{ProgressReport, SiteId};
use pleach_core::search::tree::Solution;
use pleach_core::search::work::Work;
use pleach_core::steal::{Event, Interpreter, Message, Peer, PeerTree, Policy, SeededChooser};
use pleach_core::wire::checkpoint::assemble;
use std::collections::HashMap;
use std::sync::Arc;

/// The longest time that a gateway spends on the top of a piece.
const LONGEST_TOP_NS: u64 = 50_000_000;

/// All workers of all sites, and their peers.
pub(super) struct FleetWorkers<'a, L: Load> {
    pub state: FleetState<'a, L>,
    pub interpreters: Vec<Interpreter<Arc<Work>>>,
    pub choosers: Vec<SeededChooser>,
    /// The site of each worker.
    pub site_of: Vec<SiteId>,
    trees: HashMap<u32, PeerTree>,
    inside: Policy,
}

impl<'a, L: Load> FleetWorkers<'a, L> {
    pub fn new(state: FleetState<'a, L>) -> Self {
        let fleet = state.fleet;
        let inside = fleet.policy.inside_site();
        let mut inner = Self {
            interpreters: Vec::new(),
            choosers: Vec::new(),
            site_of: Vec::new(),
            trees: HashMap::new(),
            inside,
            state,
        };
        for (site, record) in (0..).zip(&inner.state.records) {
            let (peers, shape) = (record.peers, inner.inside.tree);
            let tree =
                inner.trees.entry(peers).or_insert_with(|| PeerTree::new(peers, shape, fleet.seed));
            for me in 0..peers {
                inner.site_of.push(site);
                inner.choosers.push(SeededChooser::new(mix(fleet.seed, 24, u64::from(site)), me));
                inner
                    .interpreters
                    .push(Interpreter::new(Peer::new(me, tree, inner.inside.clone()), true));
            }
        }
        inner
    }

    /// Takes all work from the workers of a site, which start over.
    pub fn clear(&mut self, site: SiteId, now_ns: u64) {
        self.state.clear(site);
        let record = &self.state.records[site as usize];
        let tree = &self.trees[&record.peers];
        for me in 0..record.peers {
            let at = (record.first + me) as usize;
            self.interpreters[at] =
                Interpreter::new(Peer::new(me, tree, self.inside.clone()), true);
        }
        for at in self.state.range(site) {
            self.state.plan(at as u32, now_ns);
        }
    }

    /// Notifies a worker's peer of an event.
    pub fn tell(
        &mut self,
        site: SiteId,
        worker: u32,
        (event, work): (Event, Option<Arc<Work>>),
        now_ns: u64,
    ) -> Result<(), String> {
        let at = worker as usize;
        let me = worker - self.state.gateway(site);
        let effects = &mut SiteWorkerEffects { state: &mut self.state, site, me, now_ns };
        self.interpreters[at].handle_event(event, work, now_ns, &mut self.choosers[at], effects)
    }
}

/// One site at one moment.
pub(super) struct SiteInside<'w, 'a, L: Load> {
    pub inner: &'w mut FleetWorkers<'a, L>,
    pub site: SiteId,
    pub now_ns: u64,
}

impl<L: Load> SiteInside<'_, '_, L> {
    fn gateway(&self) -> u32 {
        self.inner.state.gateway(self.site)
    }

    fn hand(&mut self) -> &mut dyn Hand {
        let gateway = self.gateway() as usize;
        &mut *self.inner.state.workers[gateway].hand
    }

    fn add_piece(&mut self, piece: &Work) -> Result<(), String> {
        let put = self.hand().add_work(&piece.bytes);
        put.map_err(|why| format!("a piece cannot be read: {why}"))
    }
}

impl<L: Load> Workers for SiteInside<'_, '_, L> {
    type Done = WorkDone;
    type Error = String;

    fn workers(&self) -> u32 {
        self.inner.state.records[self.site as usize].peers - 1
    }

    fn spare(&self) -> f64 {
        self.inner.state.workers[self.gateway() as usize].hand.size()
    }

    fn in_hand(&self) -> f64 {
        self.inner.state.in_hand(self.site)
    }

    fn has_idle_worker(&self) -> bool {
        let workers = &self.inner.state.workers[self.inner.state.range(self.site)];
        workers[1..].iter().any(|worker| worker.stretch.is_none() && worker.hand.size() == 0.0)
    }

    fn is_idle(&self) -> bool {
        self.inner.state.records[self.site as usize].count == 0
    }

    fn spent(&mut self) -> (u64, u64) {
        let busy_ns: u64 = {
            let workers = &self.inner.state.workers[self.inner.state.range(self.site)];
            workers[1..].iter().map(|worker| worker.busy_ns).sum()
        };
        let record = &mut self.inner.state.records[self.site as usize];
        let (nodes, before_ns) = std::mem::replace(&mut record.spent, (record.nodes, busy_ns));
        let workers = u64::from(record.peers - 1).max(1);
        (record.nodes - nodes, busy_ns.saturating_sub(before_ns) / workers)
    }

    fn allowed_nodes(&self) -> u64 {
        self.inner.state.records[self.site as usize].allowed
    }

    fn allow_nodes(&mut self, nodes: u64) {
        let (state, now_ns) = (&mut self.inner.state, self.now_ns);
        let record = &mut state.records[self.site as usize];
        let paid = nodes.min(record.beyond);
        record.beyond -= paid;
        record.allowed += nodes - paid;
        state.of_sites.granted += nodes;
        for worker in state.range(self.site) {
            if state.workers[worker].began && state.workers[worker].stretch.is_none() {
                state.plan(worker as u32, now_ns.max(state.workers[worker].free_ns));
            }
        }
    }

    fn forbid_nodes(&mut self) {
        let record = &mut self.inner.state.records[self.site as usize];
        self.inner.state.of_sites.granted -= std::mem::take(&mut record.allowed);
    }

    fn add_work(&mut self, pieces: &[Arc<Work>]) -> Result<(), String> {
        let fleet = self.inner.state.fleet;
        let (second_cutoff, nodes) = (fleet.policy.second_cutoff, self.allowed_nodes());
        // The gateway explores only what arrives.
        let spare = second_cutoff.and_then(|_| self.split(1.0));
        pieces.iter().try_for_each(|piece| self.add_piece(piece))?;
        // Without nodes to explore, the workers share the pieces as they are.
        if let Some(depth) = second_cutoff.filter(|_| nodes > 0) {
            // Meanwhile the gateway does nothing else, so a real one explores no longer than this.
            let quarter_ns = fleet.terms.lease_ns / 4;
            let speed = self.inner.state.records[self.site as usize].top_speed();
            let cost_ns = (LONGEST_TOP_NS.min(quarter_ns) as f64 * speed) as u64;
            // A part of what is left, like that of a worker.
            let drawn = nodes / (4 * self.inner.state.range(self.site).len() as u64);
            let top = self.hand().seed(depth, cost_ns, drawn.max(1));
            let top = top.ok_or("this load has no top to explore")?;
            let record = &mut self.inner.state.records[self.site as usize];
            if fleet.node_limit.is_some() {
                record.spend_nodes(top.nodes);
            }
            // Otherwise a site whose last node took longer than its lease would lose the piece every time.
            let top_ns = record.top_ns(&top).min(quarter_ns);
            self.now_ns = self.now_ns.max(record.explores_until_ns) + top_ns;
            record.explores_until_ns = self.now_ns;
        }
        spare.iter().try_for_each(|piece| self.add_piece(piece))
    }

    fn pass_to_inner_peer(&mut self, event: Event) -> Result<(), String> {
        self.inner.tell(self.site, self.gateway(), (event, None), self.now_ns)
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        let gateway = self.gateway();
        self.inner.state.split_spare(gateway, share)
    }

    fn divide_piece(&self, piece: &Work, share: f64) -> Option<(Work, Work)> {
        let mut hand = self.inner.state.load.hand();
        hand.add_work(&piece.bytes).ok()?;
        let given = if hand.size() < 2.0 { None } else { hand.split(share) };
        given.map(|given| (hand.copy(), given))
    }

    fn begin_cut(&mut self) -> Result<(), String> {
        let record = &mut self.inner.state.records[self.site as usize];
        record.count += 1;
        record.epoch += 1;
        record.cuts.clear();
        let epoch = record.epoch;
        self.pass_to_inner_peer(Event::Snapshot { epoch })
    }

    fn best(&self) -> Option<Solution> {
        let score = self.inner.state.best(self.site);
        (score < self.inner.state.start).then(|| Solution { score, solution: vec![score] })
    }

    fn take_counts(&mut self) -> Result<WorkDone, String> {
        let done = self.inner.state.done(self.site);
        self.inner.state.records[self.site as usize].base.add(&done);
        Ok(done)
    }

    fn take_all(&mut self) -> Result<Portion<WorkDone>, String> {
        let done = self.inner.state.done(self.site);
        let mut cuts = Vec::new();
        for at in self.inner.state.range(self.site) {
            let peer = at as u32 - self.gateway();
            let work = self.inner.state.workers[at].hand.copy();
            let in_flight = self.inner.interpreters[at].in_flight();
            let counts = self.inner.state.workers[at].hand.done().counts;
            cuts.push(pleach_core::wire::checkpoint::Cut { peer, work, counts, in_flight });
        }
        let (_, open) = assemble(cuts);
        self.inner.clear(self.site, self.now_ns);
        Ok(Portion { done, open: open.into_iter().map(Arc::new).collect() })
    }

    fn update_incumbent(&mut self, best: &Solution) -> Result<(), String> {
        self.hand().update_incumbent(best.score);
        self.pass_to_inner_peer(Event::Found { score: best.score })
    }

    fn report_lapsed_site(&mut self, _site: SiteId) {}

    fn send(&mut self, to: SiteId, message: GatewayMessage<WorkDone>) {
        if matches!(message, GatewayMessage::Peer(Message::Work { .. })) {
            self.inner.state.broken = Some("work crosses sites without a lease".into());
        }
        self.inner.state.send(self.site, to, message, self.now_ns);
    }

    fn wake_at(&mut self, at_ns: u64) {
        let record = &mut self.inner.state.records[self.site as usize];
        record.gateway_wake_ns = record.gateway_wake_ns.min(at_ns.max(self.now_ns + 1));
    }

    fn save_report(
        &mut self,
        whole: &ProgressReport<Portion<WorkDone>>,
        best: Option<&Solution>,
    ) -> Result<(), String> {
        let state = &mut self.inner.state;
        state.of_sites.files += 1;
        if state.fleet.check_files {
            let (mut done, mut open) = (WorkDone::default(), Vec::new());
            spread_out(whole, &mut done, &mut open);
            let score = best.map_or(i64::MAX, |best| best.score);
            let checked = state.load.check(&done, score.min(state.start), &open);
            checked.map_err(|why| format!("the root's file is inconsistent: {why}"))?;
        }
        state.file = Some((whole.clone(), best.cloned()));
        Ok(())
    }
}

/// Adds up everything in a progress report, including nested reports.
fn spread_out(
    progress_report: &ProgressReport<Portion<WorkDone>>,
    done: &mut WorkDone,
    open: &mut Vec<Work>,
) {
    done.add(&progress_report.content.done);
    open.extend(progress_report.content.open.iter().map(|piece| Work::clone(piece)));
    for (_, rec) in progress_report.nested() {
        done.add(&rec.content().done);
        open.extend(rec.content().open.iter().map(|piece| Work::clone(piece)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sites::random::random_fleet;
    use crate::spans::Spans;

    /// The time that the workers of an earlier process had spent used to count as that of the next one.
    #[test]
    fn a_new_process_has_spent_nothing() {
        let (fleet, load) = (random_fleet(Policy::default(), 1), Spans::new(9, 9, 0, 0.0, 0));
        let mut inner = FleetWorkers::new(FleetState::new(&fleet, &load));
        inner.state.workers[1].busy_ns = 500;
        inner.state.records[0].nodes = 7;
        inner.clear(0, 0);
        let mut inside = SiteInside { inner: &mut inner, site: 0, now_ns: 0 };
        assert_eq!(inside.spent(), (0, 0));
    }
}

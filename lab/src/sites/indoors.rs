//! [`Indoors`]: a simulated site, as its gateway sees it.

use super::seat::Seat;
use super::yard::Yard;
use crate::chance::mix;
use crate::load::{Hand, Load, WorkDone};
use pleach_core::lease::gateway::{GatewayMessage, Portion, Workers};
use pleach_core::lease::{Certificate, SiteId};
use pleach_core::search::tree::Solution;
use pleach_core::search::work::Work;
use pleach_core::steal::{End, Event, Host, Message, Peer, PeerTree, Policy, SeededChooser};
use pleach_core::wire::checkpoint::assemble;
use std::collections::HashMap;
use std::sync::Arc;

/// All units of all sites, and their peers.
pub(super) struct Hall<'a, L: Load> {
    pub yard: Yard<'a, L>,
    pub hosts: Vec<Host<Arc<Work>>>,
    pub choosers: Vec<SeededChooser>,
    /// The site of each unit.
    pub site_of: Vec<SiteId>,
    trees: HashMap<u32, PeerTree>,
    inside: Policy,
}

impl<'a, L: Load> Hall<'a, L> {
    pub fn new(yard: Yard<'a, L>) -> Self {
        let fleet = yard.fleet;
        let inside = Policy { end: Some(End::Counter), ..Policy::default() };
        let mut hall = Self {
            hosts: Vec::new(),
            choosers: Vec::new(),
            site_of: Vec::new(),
            trees: HashMap::new(),
            inside,
            yard,
        };
        for (site, home) in (0..).zip(&hall.yard.homes) {
            let (peers, shape) = (home.peers, hall.inside.tree);
            let tree =
                hall.trees.entry(peers).or_insert_with(|| PeerTree::new(peers, shape, fleet.seed));
            for me in 0..peers {
                hall.site_of.push(site);
                hall.choosers.push(SeededChooser::new(mix(fleet.seed, 24, u64::from(site)), me));
                hall.hosts.push(Host::new(Peer::new(me, tree, hall.inside.clone()), true));
            }
        }
        hall
    }

    /// Takes all work from the units of a site; they begin again.
    pub fn clear(&mut self, site: SiteId, now_ns: u64) {
        self.yard.clear(site);
        let home = &self.yard.homes[site as usize];
        let tree = &self.trees[&home.peers];
        for me in 0..home.peers {
            let at = (home.first + me) as usize;
            self.hosts[at] = Host::new(Peer::new(me, tree, self.inside.clone()), true);
        }
        for at in self.yard.range(site) {
            self.yard.plan(at as u32, now_ns);
        }
    }

    /// Tells a unit's peer what happened.
    pub fn tell(
        &mut self,
        site: SiteId,
        unit: u32,
        (event, work): (Event, Option<Arc<Work>>),
        now_ns: u64,
    ) -> Result<(), String> {
        let at = unit as usize;
        let me = unit - self.yard.gateway(site);
        let seat = &mut Seat { yard: &mut self.yard, site, me, now_ns };
        self.hosts[at].tell(event, work, now_ns, &mut self.choosers[at], seat)
    }
}

/// One site at one moment.
pub(super) struct Indoors<'w, 'a, L: Load> {
    pub hall: &'w mut Hall<'a, L>,
    pub site: SiteId,
    pub now_ns: u64,
}

impl<L: Load> Indoors<'_, '_, L> {
    fn gateway(&self) -> u32 {
        self.hall.yard.gateway(self.site)
    }

    fn hand(&mut self) -> &mut L::Hand {
        let gateway = self.gateway() as usize;
        &mut self.hall.yard.units[gateway].hand
    }
}

impl<L: Load> Workers for Indoors<'_, '_, L> {
    type Done = WorkDone;
    type Error = String;

    fn units(&self) -> u32 {
        self.hall.yard.homes[self.site as usize].peers - 1
    }

    fn spare(&self) -> f64 {
        self.hall.yard.units[self.gateway() as usize].hand.size()
    }

    fn in_hand(&self) -> f64 {
        self.hall.yard.in_hand(self.site)
    }

    fn is_hungry(&self) -> bool {
        let units = &self.hall.yard.units[self.hall.yard.range(self.site)];
        units[1..].iter().any(|unit| unit.stretch.is_none() && unit.hand.size() == 0.0)
    }

    fn is_idle(&self) -> bool {
        self.hall.yard.homes[self.site as usize].count == 0
    }

    fn spent(&mut self) -> (u64, u64) {
        let busy_ns: u64 = {
            let units = &self.hall.yard.units[self.hall.yard.range(self.site)];
            units[1..].iter().map(|unit| unit.busy_ns).sum()
        };
        let home = &mut self.hall.yard.homes[self.site as usize];
        let (nodes, before_ns) = std::mem::replace(&mut home.spent, (home.nodes, busy_ns));
        let units = u64::from(home.peers - 1).max(1);
        (home.nodes - nodes, busy_ns.saturating_sub(before_ns) / units)
    }

    fn allowed(&self) -> u64 {
        self.hall.yard.homes[self.site as usize].allowed
    }

    fn allow(&mut self, nodes: u64) {
        let (yard, now_ns) = (&mut self.hall.yard, self.now_ns);
        let home = &mut yard.homes[self.site as usize];
        let paid = nodes.min(home.beyond);
        home.beyond -= paid;
        home.allowed += nodes - paid;
        yard.figures.granted += nodes;
        for unit in yard.range(self.site) {
            if yard.units[unit].began && yard.units[unit].stretch.is_none() {
                yard.plan(unit as u32, now_ns.max(yard.units[unit].free_ns));
            }
        }
    }

    fn forbid(&mut self) {
        let home = &mut self.hall.yard.homes[self.site as usize];
        self.hall.yard.figures.granted -= std::mem::take(&mut home.allowed);
    }

    fn put(&mut self, work: &Work) -> Result<(), String> {
        let put = self.hand().put(&work.bytes);
        put.map_err(|why| format!("a piece cannot be read: {why}"))
    }

    fn tell(&mut self, event: Event) -> Result<(), String> {
        self.hall.tell(self.site, self.gateway(), (event, None), self.now_ns)
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        let gateway = self.gateway();
        self.hall.yard.split_spare(gateway, share)
    }

    fn divide(&self, piece: &Work, share: f64) -> Option<(Work, Work)> {
        let mut hand = self.hall.yard.load.hand();
        hand.put(&piece.bytes).ok()?;
        let given = if hand.size() < 2.0 { None } else { hand.split(share) };
        given.map(|given| (hand.copy(), given))
    }

    fn begin_cut(&mut self) -> Result<(), String> {
        let home = &mut self.hall.yard.homes[self.site as usize];
        home.count += 1;
        home.epoch += 1;
        home.cuts.clear();
        let epoch = home.epoch;
        self.tell(Event::Snapshot { epoch })
    }

    fn best(&self) -> Option<Solution> {
        let score = self.hall.yard.best(self.site);
        (score < self.hall.yard.start).then(|| Solution { score, plan: vec![score] })
    }

    fn settle(&mut self) -> Result<WorkDone, String> {
        let done = self.hall.yard.done(self.site);
        self.hall.yard.homes[self.site as usize].base.add(&done);
        Ok(done)
    }

    fn empty(&mut self) -> Result<Portion<WorkDone>, String> {
        let done = self.hall.yard.done(self.site);
        let mut cuts = Vec::new();
        for at in self.hall.yard.range(self.site) {
            let peer = at as u32 - self.gateway();
            let work = self.hall.yard.units[at].hand.copy();
            let on_the_way = self.hall.hosts[at].on_the_way();
            let counts = self.hall.yard.units[at].hand.done().counts;
            cuts.push(pleach_core::wire::checkpoint::Cut { peer, work, counts, on_the_way });
        }
        let (_, open) = assemble(cuts);
        self.hall.clear(self.site, self.now_ns);
        Ok(Portion { done, open: open.into_iter().map(Arc::new).collect() })
    }

    fn beat(&mut self, best: &Solution) -> Result<(), String> {
        self.hand().beat(best.score);
        self.tell(Event::Found { score: best.score })
    }

    fn lapsed(&mut self, _site: SiteId) {}

    fn send(&mut self, to: SiteId, message: GatewayMessage<WorkDone>) {
        if matches!(message, GatewayMessage::Peer(Message::Work { .. })) {
            self.hall.yard.broken = Some("work crosses sites without a lease".into());
        }
        self.hall.yard.send(self.site, to, message, self.now_ns);
    }

    fn wake_at(&mut self, at_ns: u64) {
        let home = &mut self.hall.yard.homes[self.site as usize];
        home.gate_wake_ns = home.gate_wake_ns.min(at_ns.max(self.now_ns + 1));
    }

    fn save(
        &mut self,
        whole: &Certificate<Portion<WorkDone>>,
        best: Option<&Solution>,
    ) -> Result<(), String> {
        let yard = &mut self.hall.yard;
        yard.figures.files += 1;
        if yard.fleet.check_files {
            let (mut done, mut open) = (WorkDone::default(), Vec::new());
            spread_out(whole, &mut done, &mut open);
            let score = best.map_or(i64::MAX, |best| best.score);
            let checked = yard.load.check(&done, score.min(yard.start), &open);
            checked.map_err(|why| format!("the root's file is not whole: {why}"))?;
        }
        yard.file = Some((whole.clone(), best.cloned()));
        Ok(())
    }
}

/// All that a certificate says, with what is nested in it.
fn spread_out(
    certificate: &Certificate<Portion<WorkDone>>,
    done: &mut WorkDone,
    open: &mut Vec<Work>,
) {
    done.add(&certificate.content.done);
    open.extend(certificate.content.open.iter().map(|piece| Work::clone(piece)));
    for (_, rec) in certificate.nested() {
        done.add(&rec.content().done);
        open.extend(rec.content().open.iter().map(|piece| Work::clone(piece)));
    }
}

//! [`Gateway`]: a site's peer and leases; [`GatewayStep`]: how events pass between them and the site's workers.

use super::effects::OuterEffects;
use super::message::GatewayMessage;
use super::portion::{Portion, Tally};
use super::quota::Quota;
use super::state::GatewayState;
use super::workers::Workers;
use crate::lease::{
    Content, HoldingId, Lease, LeaseAction, LeaseMessage, LeaseTimer, Site, SiteId, Terms,
};
use crate::search::tree::Solution;
use crate::search::work::Work;
use crate::steal::{Event, Interpreter, Message, Peer, SeededChooser, Ticket};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// Joins the workers of a site to other sites.
pub struct Gateway<D> {
    peer: Interpreter<Arc<Work>>,
    chooser: SeededChooser,
    pub(super) state: GatewayState<D>,
}

/// A gateway that handles an event, with the workers of its site. An error is the first failure inside the site.
pub struct GatewayStep<'g, D, I> {
    pub(super) peer: &'g mut Interpreter<Arc<Work>>,
    chooser: &'g mut SeededChooser,
    pub(super) state: &'g mut GatewayState<D>,
    pub(super) now_ns: u64,
    pub(super) inside: &'g mut I,
}

impl<D: Tally> Gateway<D> {
    /// The gateway of a site, with the peer that represents the site.
    #[must_use]
    pub fn new(
        site: Site<Portion<D>>,
        terms: Terms,
        peer: Peer,
        chooser: SeededChooser,
        low_ns: u64,
    ) -> Self {
        let state = GatewayState {
            timer: LeaseTimer::new(site, terms),
            coordinates: peer.coordinates(),
            gifts: HashMap::new(),
            at_work: None,
            split_from: None,
            cut: None,
            bare_ns: None,
            low_ns,
            wake_ns: u64::MAX,
            last_heard_ns: 0,
            quota: None,
            away: BTreeMap::new(),
            wasted: D::default(),
            stopped: false,
            over: false,
        };
        Self { peer: Interpreter::new(peer, false), chooser, state }
    }

    /// The gateway at this time, with the workers of its site.
    pub fn at<'g, I>(&'g mut self, now_ns: u64, inside: &'g mut I) -> GatewayStep<'g, D, I> {
        let Self { peer, chooser, state } = self;
        GatewayStep { peer, chooser, state, now_ns, inside }
    }

    /// The site's leases.
    #[must_use]
    pub fn site(&self) -> &Site<Portion<D>> {
        self.state.site()
    }

    /// Whether the search is over.
    #[must_use]
    pub fn over(&self) -> bool {
        self.state.over
    }

    /// Whether the search was stopped here.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.state.stopped
    }

    /// Whether the root of a stopped search has gathered all counts and all open work.
    #[must_use]
    pub fn is_gathered(&self) -> bool {
        let whole = self.site().holding(None);
        self.state.stopped && whole.is_some_and(|whole| whole.part().subs.is_empty())
    }

    /// Counts of work that was dropped here: other sites did it again.
    #[must_use]
    pub fn wasted(&self) -> &D {
        &self.state.wasted
    }

    /// At the root, before the search: replaces all open work by what is left of it, with what was done.
    ///
    /// # Errors
    /// If exploring fails.
    pub fn replace_open<E>(
        &mut self,
        explore: impl FnOnce(&[Arc<Work>]) -> Result<Portion<D>, E>,
    ) -> Result<(), E> {
        let site = self.state.timer.site_mut();
        let open = site.change_content(None, |content| std::mem::take(&mut content.open));
        let portion = explore(&open.unwrap_or_default())?;
        site.change_content(None, |content| content.add(&portion));
        Ok(())
    }

    /// Limits the workers to the nodes granted by [`Workers::allow_nodes`]. `nodes` is the limit of the whole search at
    /// its root, and 0 elsewhere.
    pub fn set_node_limit(&mut self, nodes: u64) {
        self.state.quota = Some(Quota { pool: nodes, ..Quota::default() });
    }
}

impl<D: Tally, I: Workers<Done = D>> GatewayStep<'_, D, I> {
    pub(super) fn site(&self) -> &Site<Portion<D>> {
        self.state.site()
    }

    /// Whether this site holds the whole search.
    pub(super) fn is_root(&self) -> bool {
        self.site().holding(None).is_some()
    }

    /// The number of places for sites.
    pub(super) fn sites(&self) -> u32 {
        self.peer.peer().peers()
    }

    /// Passes an event to the gateway's peer.
    pub(super) fn pass_to_peer(
        &mut self,
        event: Event,
        piece: Option<Arc<Work>>,
    ) -> Result<(), I::Error> {
        let power = self.peer.peer().power();
        let Self { peer, chooser, state, now_ns, inside } = self;
        let effects = &mut OuterEffects { state, inside: *inside, now_ns: *now_ns, power };
        peer.handle_event(event, piece, *now_ns, *chooser, effects)
    }

    /// Runs an operation of the lease protocol, and carries out its actions.
    pub(super) fn update_leases(
        &mut self,
        ticket: Option<Ticket>,
        update: impl FnOnce(&mut LeaseTimer<Portion<D>>, &mut Vec<LeaseAction<Portion<D>>>),
    ) -> Result<(), I::Error> {
        let me = self.site().me();
        let mut actions = Vec::new();
        update(&mut self.state.timer, &mut actions);
        let mut actions = VecDeque::from(actions);
        while let Some(action) = actions.pop_front() {
            match action {
                LeaseAction::Send { to, message } if to == me => {
                    let mut more = Vec::new();
                    self.state.timer.handle_message(me, message, self.now_ns, &mut more);
                    actions.extend(more);
                }
                LeaseAction::Send { to, message } => {
                    self.inside.send(to, GatewayMessage::Lease(message))
                }
                LeaseAction::Came { lease, from } => {
                    let piece = self.site().holding(Some(lease));
                    let piece = piece.and_then(|it| it.part().content.open.first().cloned());
                    if let (Some(ticket), Some(piece)) = (ticket, piece) {
                        let message = Message::Work { ticket, epoch: 0 };
                        self.pass_to_peer(Event::Message { from, message }, Some(piece))?;
                    }
                }
                LeaseAction::Arrived { lease } => self.acknowledge_work(lease)?,
                LeaseAction::TakenOver { into, lease } => {
                    self.acknowledge_work(lease)?;
                    if self.state.at_work == Some(into) {
                        self.refill_workers(into)?;
                    }
                }
                LeaseAction::Dropped { lease, content } => {
                    self.state.wasted.add(&content.done);
                    if self.state.at_work == Some(Some(lease)) {
                        let in_hand = self.inside.take_all()?;
                        self.state.wasted.add(&in_hand.done);
                        self.state.at_work = None;
                        self.state.cut = None;
                    }
                }
                LeaseAction::Lapsed { holder, .. } => self.inside.report_lapsed_site(holder),
                LeaseAction::Owed { lease } => {
                    self.inside.wake_at(self.state.timer.schedule_commit(lease, self.now_ns))
                }
                LeaseAction::Better => {
                    if let Some(best) = self.site().best().cloned() {
                        self.inside.update_incumbent(&best)?;
                        let found = Event::Found { score: best.score };
                        self.pass_to_peer(found, None)?;
                    }
                }
            }
        }
        self.state.timer.track_leases(self.now_ns);
        Ok(())
    }

    /// Acknowledges work that has arrived, or come back, to the peer: once.
    fn acknowledge_work(&mut self, lease: Lease) -> Result<(), I::Error> {
        let Some((from, ticket)) = self.state.gifts.remove(&lease) else { return Ok(()) };
        let message = Message::Ack { ticket, epoch: 0 };
        self.pass_to_peer(Event::Message { from, message }, None)
    }

    /// Hands all open work of a holding to the workers.
    pub(super) fn refill_workers(&mut self, held: HoldingId) -> Result<(), I::Error> {
        let site = self.state.timer.site_mut();
        let open = site.change_content(held, |content| std::mem::take(&mut content.open));
        let open = open.unwrap_or_default();
        if open.is_empty() {
            return Ok(());
        }
        site.set_in_use(held, true);
        self.state.at_work = Some(held);
        self.inside.add_work(&open)?;
        if self.inside.spare() == 0.0 {
            // All of it was above a cutoff.
            self.inside.wake_at(0);
        }
        self.inside.pass_to_inner_peer(Event::Refilled)
    }

    /// Handles a message from another site.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn handle_message(
        &mut self,
        from: SiteId,
        message: GatewayMessage<D>,
    ) -> Result<(), I::Error> {
        let now_ns = self.now_ns;
        self.state.last_heard_ns = now_ns;
        if self.state.over {
            // A site that still writes does not know that the search is over.
            if !matches!(message, GatewayMessage::Peer(Message::Done)) {
                self.inside.send(from, GatewayMessage::Peer(Message::Done));
            }
            return Ok(());
        }
        let unaware = matches!(
            message,
            GatewayMessage::Draw { .. } | GatewayMessage::Lease(LeaseMessage::Commit { .. })
        );
        if self.state.stopped && unaware {
            self.inside.send(from, GatewayMessage::Stop);
        }
        match message {
            GatewayMessage::Peer(Message::Ask { .. })
                if self.site().leaving() || self.state.stopped =>
            {
                self.inside.send(from, GatewayMessage::Peer(Message::Refuse));
            }
            GatewayMessage::Peer(message) => {
                self.pass_to_peer(Event::Message { from, message }, None)?;
            }
            GatewayMessage::Gift(ticket, message) => {
                self.update_leases(Some(ticket), |it, actions| {
                    it.handle_message(from, message, now_ns, actions);
                })?;
            }
            GatewayMessage::Lease(message) => {
                self.update_leases(None, |it, actions| {
                    it.handle_message(from, message, now_ns, actions)
                })?;
            }
            GatewayMessage::Best(solution) => self.record_solution(&solution)?,
            GatewayMessage::Draw { dry } => self.on_draw(from, dry)?,
            GatewayMessage::Nodes(nodes) => self.on_nodes(from, nodes),
            GatewayMessage::Stop => self.stop_search()?,
            GatewayMessage::Arriving => self.state.timer.hear_site(from, now_ns),
        }
        self.advance_holdings()
    }

    /// Handles a solution that a worker or another site has found.
    ///
    /// # Errors
    /// The first failure inside the site.
    pub fn record_solution(&mut self, solution: &Solution) -> Result<(), I::Error> {
        self.update_leases(None, |it, actions| it.site_mut().record_solution(solution, actions))
    }
}

//! [`Gateway`]: a site's peer and leases, and how each hears what the other does.

use super::desk::Desk;
use super::hatch::Hatch;
use super::inside::Inside;
use super::portion::{Portion, Tally};
use super::post::Post;
use crate::balance::{Event, Host, Message, Peer, Seeded, Ticket};
use crate::lease::{Deed, Held, Lease, LeaseTimer, Site, SiteId, Terms, Word};
use crate::tree::Solution;
use crate::work::Work;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// What joins the units of a site to other sites.
pub struct Gateway<D> {
    peer: Host<Arc<Work>>,
    chooser: Seeded,
    pub(super) desk: Desk<D>,
}

impl<D: Tally> Gateway<D> {
    /// The gateway of a site, with the peer that stands for it among the sites.
    #[must_use]
    pub fn new(
        site: Site<Portion<D>>,
        terms: Terms,
        peer: Peer,
        chooser: Seeded,
        low_ns: u64,
    ) -> Self {
        let desk = Desk {
            timer: LeaseTimer::new(site, terms),
            gifts: HashMap::new(),
            at_work: None,
            split_from: None,
            cut: None,
            bare_ns: None,
            low_ns,
            wake_ns: u64::MAX,
            heard_ns: 0,
            quota: None,
            away: BTreeMap::new(),
            wasted: D::default(),
            stopped: false,
            over: false,
        };
        Self { peer: Host::new(peer, false), chooser, desk }
    }

    /// The site's leases.
    #[must_use]
    pub fn site(&self) -> &Site<Portion<D>> {
        self.desk.timer.site()
    }

    /// Whether this is the site that the whole search belongs to.
    pub(super) fn is_root(&self) -> bool {
        self.site().holding(None).is_some()
    }

    /// Places for sites.
    pub(super) fn sites(&self) -> u32 {
        self.peer.peer().peers()
    }

    /// Whether the search is over.
    #[must_use]
    pub fn over(&self) -> bool {
        self.desk.over
    }

    /// Whether the site was told to stop.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.desk.stopped
    }

    /// What was done here of work that was then dropped: others have done it again.
    #[must_use]
    pub fn wasted(&self) -> &D {
        &self.desk.wasted
    }

    /// Tells the gateway's peer what happened.
    pub(super) fn tell<I: Inside<Done = D>>(
        &mut self,
        event: Event,
        piece: Option<Arc<Work>>,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        let power = self.peer.peer().power();
        let hatch = &mut Hatch { desk: &mut self.desk, inside, now_ns, power };
        self.peer.tell(event, piece, now_ns, &mut self.chooser, hatch)
    }

    /// Has the lease protocol do something, and carries out what it wants.
    pub(super) fn act<I: Inside<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
        ticket: Option<Ticket>,
        act: impl FnOnce(&mut LeaseTimer<Portion<D>>, &mut Vec<Deed<Portion<D>>>),
    ) -> Result<(), I::Error> {
        let me = self.site().me();
        let mut deeds = Vec::new();
        act(&mut self.desk.timer, &mut deeds);
        let mut deeds = VecDeque::from(deeds);
        while let Some(deed) = deeds.pop_front() {
            match deed {
                Deed::Send { to, word } if to == me => {
                    let mut more = Vec::new();
                    self.desk.timer.on(me, word, now_ns, &mut more);
                    deeds.extend(more);
                }
                Deed::Send { to, word } => inside.post(to, Post::Word(word)),
                Deed::Came { lease, from } => {
                    let piece = self.site().holding(Some(lease));
                    let piece = piece.and_then(|it| it.part().content.open.first().cloned());
                    if let (Some(ticket), Some(piece)) = (ticket, piece) {
                        let message = Message::Work { ticket, epoch: 0 };
                        self.tell(Event::Mail { from, message }, Some(piece), now_ns, inside)?;
                    }
                }
                Deed::Arrived { lease, .. } => self.receipt(lease, now_ns, inside)?,
                Deed::Folded { into, lease } => {
                    self.receipt(lease, now_ns, inside)?;
                    if self.desk.at_work == Some(into) {
                        self.refill(into, inside)?;
                    }
                }
                Deed::Dropped { lease, content } => {
                    self.desk.wasted.add(&content.done);
                    if self.desk.at_work == Some(Some(lease)) {
                        let in_hand = inside.empty()?;
                        self.desk.wasted.add(&in_hand.done);
                        self.desk.at_work = None;
                        self.desk.cut = None;
                    }
                }
                Deed::Lapsed { holder, .. } => inside.lapsed(holder),
                Deed::Owed { lease } => inside.wake_at(self.desk.timer.owes(lease, now_ns)),
                Deed::Better => {
                    if let Some(best) = self.site().best().cloned() {
                        inside.beat(&best)?;
                        let found = Event::Found { score: best.score };
                        self.tell(found, None, now_ns, inside)?;
                    }
                }
            }
        }
        self.desk.timer.note(now_ns);
        Ok(())
    }

    /// What was given has arrived, or has come back: the peer hears of it once.
    fn receipt<I: Inside<Done = D>>(
        &mut self,
        lease: Lease,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        let Some((from, ticket)) = self.desk.gifts.remove(&lease) else { return Ok(()) };
        let message = Message::Ack { ticket, epoch: 0 };
        self.tell(Event::Mail { from, message }, None, now_ns, inside)
    }

    /// Hands all that is open of a holding to the units.
    pub(super) fn refill<I: Inside<Done = D>>(
        &mut self,
        held: Held,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        let site = self.desk.timer.site_mut();
        let open = site.change(held, |content| std::mem::take(&mut content.open));
        let open = open.unwrap_or_default();
        if open.is_empty() {
            return Ok(());
        }
        site.lend(held, true);
        self.desk.at_work = Some(held);
        for piece in open {
            inside.put(&piece)?;
        }
        inside.tell(Event::Refilled)
    }

    /// Takes in what another site sent.
    ///
    /// # Errors
    /// The first thing inside that fails.
    pub fn hear<I: Inside<Done = D>>(
        &mut self,
        from: SiteId,
        post: Post<D>,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.desk.heard_ns = now_ns;
        if self.desk.over {
            // Whoever still asks has not heard of the end.
            if !matches!(post, Post::Peer(Message::Done)) {
                inside.post(from, Post::Peer(Message::Done));
            }
            return Ok(());
        }
        let unaware = matches!(post, Post::Draw { .. } | Post::Word(Word::Commit { .. }));
        if self.desk.stopped && unaware {
            inside.post(from, Post::Stop);
        }
        match post {
            Post::Peer(Message::Ask { .. }) if self.site().leaving() || self.desk.stopped => {
                inside.post(from, Post::Peer(Message::Refuse));
            }
            Post::Peer(message) => {
                self.tell(Event::Mail { from, message }, None, now_ns, inside)?;
            }
            Post::Gift(ticket, word) => {
                self.act(now_ns, inside, Some(ticket), |it, deeds| {
                    it.on(from, word, now_ns, deeds);
                })?;
            }
            Post::Word(word) => {
                self.act(now_ns, inside, None, |it, deeds| it.on(from, word, now_ns, deeds))?;
            }
            Post::Best(solution) => self.found(&solution, now_ns, inside)?,
            Post::Draw { dry } => self.on_draw((from, dry), now_ns, inside)?,
            Post::Nodes(nodes) => self.on_nodes(nodes, inside),
            Post::Stop => self.stop(now_ns, inside)?,
        }
        self.proceed(now_ns, inside)
    }

    /// A unit, or another site, has found a solution.
    ///
    /// # Errors
    /// The first thing inside that fails.
    pub fn found<I: Inside<Done = D>>(
        &mut self,
        solution: &Solution,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        self.act(now_ns, inside, None, |it, deeds| it.site_mut().found(solution, deeds))
    }

    /// Wakes the peer if it is time.
    pub(super) fn wake<I: Inside<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        if self.desk.wake_ns <= now_ns {
            self.desk.wake_ns = u64::MAX;
            self.tell(Event::Woke, None, now_ns, inside)?;
        }
        Ok(())
    }

    /// When the peer wants to be woken.
    pub(super) fn wakes_ns(&self) -> u64 {
        self.desk.wake_ns
    }

    /// The sites next to this one in the tree of sites.
    pub(super) fn neighbours(&self) -> Vec<SiteId> {
        self.peer.peer().in_the_tree().collect()
    }
}

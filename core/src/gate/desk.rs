//! [`Gate`]: a site's peer and custody, and how each hears what the other does.

use super::inside::Inside;
use super::portion::{Portion, Tally};
use super::post::Post;
use crate::balance::late::{Split, Verbs as LateVerbs};
use crate::balance::{
    Event, Host, Law, Message, OnTheWay, Peer, PeerId, Power, Seeded, Ticket, Verbs,
};
use crate::custody::{Certificate, Content, Deed, Estate, Held, Keeper, Lien, Site, SiteId, Terms};
use crate::tree::Solution;
use crate::work::Work;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// A cut that is being made.
pub(super) struct Cut<D> {
    pub held: Held,
    pub part: Certificate<Portion<D>>,
    pub since_ns: u64,
}

/// What joins the units of a site to other sites.
pub struct Gate<D> {
    peer: Host<Arc<Work>>,
    chooser: Seeded,
    pub(super) desk: Desk<D>,
}

/// The custody of a site, and all that the gate knows besides.
pub(super) struct Desk<D> {
    pub keeper: Keeper<Portion<D>>,
    /// What was given and has not arrived: the peer waits for a receipt.
    gifts: HashMap<Lien, (PeerId, Ticket)>,
    /// The estate that the units work on.
    pub at_work: Option<Held>,
    /// The estate that a piece was just split from.
    split_from: Option<Held>,
    pub cut: Option<Cut<D>>,
    /// Since when there has been no spare piece.
    pub bare_ns: Option<u64>,
    /// How long the spare piece may be missing before the gate asks outside.
    low_ns: u64,
    /// When the peer wants to be woken.
    wake_ns: u64,
    /// When another site was last heard of.
    pub heard_ns: u64,
    pub stopped: bool,
    pub over: bool,
}

/// At most this many estates may be on their way back before a site asks for more.
const MOST_RETURNING: usize = 8;

/// A spare piece is short while the units have more than so many times as much. It is too thin to be given
/// while one of them has, on average.
const SHORT: f64 = 4.0;

impl<D: Tally> Desk<D> {
    /// When a spare piece that is missing now will have been missing for too long.
    pub fn low_at(&self, now_ns: u64) -> u64 {
        now_ns.saturating_add(self.low_ns)
    }

    fn site(&self) -> &Site<Portion<D>> {
        self.keeper.site()
    }

    /// What can be given of the spare piece: nothing, if it is little beside what a unit has. Then it is
    /// better to wait for more.
    pub fn spare(&self, inside: &impl Inside<Done = D>) -> f64 {
        let spare = inside.spare();
        let thin = SHORT * spare * f64::from(inside.units()) < inside.in_hand();
        if thin { 0.0 } else { spare }
    }

    /// Whether the gate should go on collecting from the units. What it gives of one unit's work would not
    /// last long among the units of another site.
    pub fn is_short(&self, inside: &impl Inside<Done = D>) -> bool {
        SHORT * inside.spare() < inside.in_hand()
    }

    /// The estate that can be given of although no unit has seen it: one that waits for its turn.
    fn waiting(&self) -> Option<&Estate<Portion<D>>> {
        self.site().estates().iter().find(|it| {
            !it.returning() && Some(it.held()) != self.at_work && it.part().content.has_open()
        })
    }

    /// The site's work as its peer is to see it: 0 if it should ask for more, at least 2 if it can give.
    fn size(&self, inside: &impl Inside<Done = D>, now_ns: u64, power: Power) -> f64 {
        let (spare, in_hand) = (self.spare(inside), inside.in_hand());
        if let Some(waiting) = self.waiting() {
            return 1.0 + spare + in_hand + waiting.part().content.size();
        }
        if spare > 0.0 && self.at_work.is_some() {
            return 1.0 + spare + in_hand;
        }
        let returning = self.site().estates().iter().filter(|estate| estate.returning()).count();
        let bare = self.bare_ns.is_some_and(|since_ns| now_ns >= since_ns + self.low_ns);
        // What is left would not last until an answer comes.
        let short = bare && in_hand * 1e9 < power.0 as f64 * self.low_ns as f64;
        let low = self.at_work.is_none() || inside.is_hungry() || short;
        if low && returning < MOST_RETURNING { 0.0 } else { 1.0 }
    }
}

/// The gate's peer acts through this.
struct Hatch<'g, D, I> {
    desk: &'g mut Desk<D>,
    inside: &'g mut I,
    now_ns: u64,
    power: Power,
}

impl<D: Tally, I: Inside<Done = D>> Hatch<'_, D, I> {
    /// Takes a share of all work from what waits for its turn, as far as that goes.
    fn split_waiting(&mut self, share: f64, all: f64) -> Option<Arc<Work>> {
        let held = self.desk.waiting()?.held();
        let inside = &*self.inside;
        let take = |content: &mut Portion<D>| {
            let last = content.open.pop()?;
            let part = (share * all / last.size.max(1.0)).min(0.5);
            let Some((left, given)) = inside.divide(&last, part) else {
                // The last piece stays: an estate is given on in part only.
                let whole = content.open.is_empty();
                return if whole {
                    content.open.push(last);
                    None
                } else {
                    Some(last)
                };
            };
            content.open.push(Arc::new(left));
            Some(Arc::new(given))
        };
        let taken = self.desk.keeper.site_mut().change(held, take).flatten()?;
        self.desk.split_from = Some(held);
        Some(taken)
    }
}

impl<D: Tally, I: Inside<Done = D>> Verbs for Hatch<'_, D, I> {
    type Piece = Arc<Work>;
    type Error = I::Error;

    fn size(&mut self) -> f64 {
        self.desk.size(self.inside, self.now_ns, self.power)
    }

    fn size_of(&self, piece: &Arc<Work>) -> f64 {
        piece.size
    }

    fn split(&mut self, share: f64) -> Result<Option<Arc<Work>>, I::Error> {
        // Custody would not let it go, and it must not be lost on the way.
        if self.desk.site().leaving() {
            return Ok(None);
        }
        let all = self.size();
        if let Some(piece) = self.split_waiting(share, all) {
            return Ok(Some(piece));
        }
        self.desk.split_from = self.desk.at_work;
        let spare = self.desk.spare(self.inside);
        if spare == 0.0 || self.desk.at_work.is_none() {
            return Ok(None);
        }
        let piece = self.inside.split((share * all / spare).min(1.0)).map(Arc::new);
        if self.desk.spare(self.inside) == 0.0 {
            self.desk.bare_ns = Some(self.now_ns);
            self.inside.wake_at(self.desk.low_at(self.now_ns));
        }
        Ok(piece)
    }

    fn put(&mut self, _piece: Arc<Work>) -> Result<(), I::Error> {
        // Custody holds it already.
        Ok(())
    }

    fn send(&mut self, to: PeerId, message: Message, piece: Option<Arc<Work>>) {
        match (message, piece, self.desk.split_from) {
            (Message::Work { ticket, .. }, Some(piece), Some(held)) => {
                let mut deeds = Vec::new();
                let give = |_: &mut Portion<D>| Some(Portion::open(vec![Arc::clone(&piece)]));
                let site = self.desk.keeper.site_mut();
                match site.give(held, to, give, &mut deeds) {
                    Some(lien) => {
                        self.desk.gifts.insert(lien, (to, ticket));
                    }
                    // It is neither with the units nor on its way: the estate has it again.
                    None => {
                        site.change(held, |content| content.open.push(piece));
                    }
                }
                for deed in deeds {
                    if let Deed::Send { to, word } = deed {
                        self.inside.post(to, Post::Gift(ticket, word));
                    }
                }
            }
            // Custody sends receipts.
            (Message::Work { .. } | Message::Ack { .. }, ..) => {}
            (Message::Best { .. }, ..) => {
                if let Some(best) = self.desk.site().best() {
                    self.inside.post(to, Post::Best(best.clone()));
                }
            }
            (message, ..) => self.inside.post(to, Post::Peer(message)),
        }
    }

    fn cut(&mut self, _epoch: u64, _on_the_way: OnTheWay<Arc<Work>>) -> Result<(), I::Error> {
        Ok(())
    }

    fn join(&mut self) -> Result<(), I::Error> {
        Ok(())
    }

    fn leave(&mut self) -> Result<bool, I::Error> {
        Ok(false)
    }

    fn beat(&mut self, _score: i64) {}

    fn wake_at(&mut self, at_ns: u64) {
        self.desk.wake_ns = at_ns;
        self.inside.wake_at(at_ns);
    }

    fn finish(&mut self) -> Result<(), I::Error> {
        self.desk.over = true;
        Ok(())
    }

    fn broken(&mut self, _law: Law) -> Result<(), I::Error> {
        Ok(())
    }
}

/// Sites never give late: such a policy is refused before.
impl<D: Tally, I: Inside<Done = D>> LateVerbs for Hatch<'_, D, I> {
    fn copy(&mut self) -> Result<Arc<Work>, I::Error> {
        Ok(Arc::default())
    }

    fn split_copy(&mut self, copy: &Arc<Work>, _: f64) -> Result<Split<Arc<Work>>, I::Error> {
        Ok((Arc::clone(copy), None))
    }

    fn intersect(&mut self, _: &Arc<Work>, left: &Arc<Work>) -> Result<Arc<Work>, I::Error> {
        Ok(Arc::clone(left))
    }

    fn trim(&mut self, _: &Arc<Work>) -> Result<(), I::Error> {
        Ok(())
    }
}

impl<D: Tally> Gate<D> {
    /// The gate of a site, with the peer that stands for it among the sites.
    #[must_use]
    pub fn new(
        site: Site<Portion<D>>,
        terms: Terms,
        peer: Peer,
        chooser: Seeded,
        low_ns: u64,
    ) -> Self {
        let desk = Desk {
            keeper: Keeper::new(site, terms),
            gifts: HashMap::new(),
            at_work: None,
            split_from: None,
            cut: None,
            bare_ns: None,
            low_ns,
            wake_ns: u64::MAX,
            heard_ns: 0,
            stopped: false,
            over: false,
        };
        Self { peer: Host::new(peer, false), chooser, desk }
    }

    /// The site's custody.
    #[must_use]
    pub fn site(&self) -> &Site<Portion<D>> {
        self.desk.keeper.site()
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

    /// Tells the gate's peer what happened.
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

    /// Has custody do something, and carries out what it wants.
    pub(super) fn act<I: Inside<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
        ticket: Option<Ticket>,
        act: impl FnOnce(&mut Keeper<Portion<D>>, &mut Vec<Deed<Portion<D>>>),
    ) -> Result<(), I::Error> {
        let me = self.site().me();
        let mut deeds = Vec::new();
        act(&mut self.desk.keeper, &mut deeds);
        let mut deeds = VecDeque::from(deeds);
        while let Some(deed) = deeds.pop_front() {
            match deed {
                Deed::Send { to, word } if to == me => {
                    let mut more = Vec::new();
                    self.desk.keeper.on(me, word, now_ns, &mut more);
                    deeds.extend(more);
                }
                Deed::Send { to, word } => inside.post(to, Post::Word(word)),
                Deed::Came { lien, from } => {
                    let piece = self.site().estate(Some(lien));
                    let piece = piece.and_then(|it| it.part().content.open.first().cloned());
                    if let (Some(ticket), Some(piece)) = (ticket, piece) {
                        let message = Message::Work { ticket, epoch: 0 };
                        self.tell(Event::Mail { from, message }, Some(piece), now_ns, inside)?;
                    }
                }
                Deed::Arrived { lien, .. } => self.receipt(lien, now_ns, inside)?,
                Deed::Folded { into, lien } => {
                    self.receipt(lien, now_ns, inside)?;
                    if self.desk.at_work == Some(into) {
                        self.refill(into, inside)?;
                    }
                }
                Deed::Dropped { lien } => {
                    if self.desk.at_work == Some(Some(lien)) {
                        inside.empty()?;
                        self.desk.at_work = None;
                        self.desk.cut = None;
                    }
                }
                Deed::Owed { lien } => inside.wake_at(self.desk.keeper.owes(lien, now_ns)),
                Deed::Better => {
                    if let Some(best) = self.site().best().cloned() {
                        inside.beat(&best)?;
                        let found = Event::Found { score: best.score };
                        self.tell(found, None, now_ns, inside)?;
                    }
                }
            }
        }
        self.desk.keeper.note(now_ns);
        Ok(())
    }

    /// What was given has arrived, or has come back: the peer hears of it once.
    fn receipt<I: Inside<Done = D>>(
        &mut self,
        lien: Lien,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        let Some((from, ticket)) = self.desk.gifts.remove(&lien) else { return Ok(()) };
        let message = Message::Ack { ticket, epoch: 0 };
        self.tell(Event::Mail { from, message }, None, now_ns, inside)
    }

    /// Hands all that is open of an estate to the units.
    pub(super) fn refill<I: Inside<Done = D>>(
        &mut self,
        held: Held,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        let site = self.desk.keeper.site_mut();
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

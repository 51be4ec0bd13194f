//! [`Keeper`]: a site with a clock: when to commit, to ask again, to suspect and to give up.

use super::certificate::Content;
use super::estate::Estate;
use super::lien::{Held, Lien, SiteId};
use super::site::Site;
use super::word::{Deed, Word};
use std::collections::BTreeMap;

/// The times after which a site does something on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The least time between two commits of an estate.
    pub commit_ns: u64,
    /// A holder that is silent for this long has lost its work. Half of it, and it is asked.
    pub lease_ns: u64,
    /// While the root cannot be reached, work whose patron is silent or gone is dropped after this time. While it
    /// can, and where the patron does not know the work, two leases are enough: within one, the site that answers
    /// for the work instead finds out and says so.
    pub patience_ns: u64,
}

/// A commit takes at most one part in this many of a site's time.
const COMMITS_COST: u64 = 50;

/// What a clock must know of an estate.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// When the patron was last heard of.
    heard_ns: u64,
    /// When it was last told something.
    told_ns: u64,
    /// When it was last told that the work is still held, and nothing more.
    affirmed_ns: u64,
    /// How long the last commit took.
    took_ns: u64,
    /// When a commit that the patron asked for is due.
    owed_ns: u64,
    /// Whether the patron has said that it does not know of it.
    unknown: bool,
}

/// A site with a clock.
#[derive(Clone, Debug)]
pub struct Keeper<C> {
    site: Site<C>,
    terms: Terms,
    estates: BTreeMap<Held, Times>,
    /// When the holder of each lien was last heard of, and when it was last asked.
    holders: BTreeMap<Lien, (u64, u64)>,
    looked_ns: u64,
    /// Since when the root can be reached; `None` while it cannot.
    root_since_ns: Option<u64>,
}

impl<C: Content> Keeper<C> {
    /// A clock for a site.
    #[must_use]
    pub fn new(site: Site<C>, terms: Terms) -> Self {
        let (estates, holders) = (BTreeMap::new(), BTreeMap::new());
        Self { site, terms, estates, holders, looked_ns: 0, root_since_ns: Some(0) }
    }

    /// Notes whether the root can be reached from now on.
    pub fn reach_root(&mut self, reachable: bool, now_ns: u64) {
        self.root_since_ns = reachable.then_some(now_ns);
    }

    /// The site.
    #[must_use]
    pub fn site(&self) -> &Site<C> {
        &self.site
    }

    /// Its times.
    #[must_use]
    pub fn terms(&self) -> Terms {
        self.terms
    }

    /// The site, to do something that needs no clock.
    pub fn site_mut(&mut self) -> &mut Site<C> {
        &mut self.site
    }

    /// Takes in a word.
    pub fn on(&mut self, from: SiteId, word: Word<C>, now_ns: u64, deeds: &mut Vec<Deed<C>>) {
        let lien = word.lien();
        let is_commit = matches!(word, Word::Commit { .. });
        let is_affirmed = matches!(word, Word::Ack { .. }) && self.site.is_acked(lien);
        let unknown = matches!(word, Word::Unknown { .. });
        let heard = match word {
            Word::Ack { .. } | Word::Commit { .. } => {
                self.holders.get_mut(&lien).map(|it| &mut it.0)
            }
            _ => self.estates.get_mut(&Some(lien)).map(|times| &mut times.heard_ns),
        };
        if let Some(heard_ns) = heard {
            *heard_ns = now_ns;
        }
        self.site.on(from, word, deeds);
        if let Some(times) = self.estates.get_mut(&Some(lien)) {
            let orphan = self.site.estate(Some(lien)).is_some_and(Estate::is_orphan);
            times.unknown = orphan && (unknown || times.unknown);
        }
        // A patron that only listens would seem to be silent.
        if is_affirmed || is_commit && self.site.lists(lien) {
            deeds.push(Deed::Send { to: from, word: Word::Committed { lien } });
        }
    }

    /// Notes that the patron of some work has asked for a commit. It has an older certificate, which does
    /// for a while: often the work is done before. Returns when the commit is due.
    pub fn owes(&mut self, lien: Lien, now_ns: u64) -> u64 {
        let due_ns = now_ns.saturating_add(self.terms.lease_ns / 4);
        let times = self.times(Some(lien), now_ns);
        times.owed_ns = times.owed_ns.min(due_ns);
        due_ns
    }

    fn times(&mut self, held: Held, now_ns: u64) -> &mut Times {
        let new = Times {
            heard_ns: now_ns,
            told_ns: now_ns,
            affirmed_ns: now_ns,
            took_ns: 0,
            owed_ns: u64::MAX,
            unknown: false,
        };
        self.estates.entry(held).or_insert(new)
    }

    /// The estate whose commit is due, if any.
    #[must_use]
    pub fn due(&self, now_ns: u64) -> Option<Held> {
        let live = self.site.estates().iter().filter(|estate| !estate.returning());
        let mut known = live.filter(|estate| !estate.is_orphan());
        known.find(|estate| self.due_ns(estate.held()) <= now_ns).map(|estate| estate.held())
    }

    /// When the next commit of an estate is due.
    fn due_ns(&self, held: Held) -> u64 {
        self.estates.get(&held).map_or(u64::MAX, |times| {
            let every_ns = self.terms.commit_ns.max(COMMITS_COST * times.took_ns);
            times.told_ns.saturating_add(every_ns).min(times.owed_ns)
        })
    }

    /// Notes that a commit of an estate has been made or begun, and how long it takes.
    pub fn committed(&mut self, held: Held, now_ns: u64, took_ns: u64) {
        let times = self.times(held, now_ns);
        (times.told_ns, times.took_ns, times.owed_ns) = (now_ns, took_ns, u64::MAX);
    }

    /// Looks at the clock: asks, suspects, repeats and gives up where it is time. Returns when to look again.
    pub fn look(&mut self, now_ns: u64, deeds: &mut Vec<Deed<C>>) -> u64 {
        let every_ns = (self.terms.lease_ns / 8).max(1);
        if now_ns >= self.looked_ns.saturating_add(every_ns) {
            self.looked_ns = now_ns;
            self.look_at_estates(now_ns, deeds);
            self.look_at_holders(now_ns, deeds);
        }
        let holds = !self.site.estates().is_empty();
        if holds { self.looked_ns.saturating_add(every_ns) } else { u64::MAX }
    }

    /// When the next commit is due.
    #[must_use]
    pub fn next_commit_ns(&self) -> u64 {
        let live = self.site.estates().iter().filter(|it| !it.returning() && !it.is_orphan());
        live.map(|estate| self.due_ns(estate.held())).min().unwrap_or(u64::MAX)
    }

    /// Begins to watch what is new, and forgets what is gone.
    pub fn note(&mut self, now_ns: u64) {
        let held = self.site.estates();
        if held.len() == self.estates.len()
            && held.iter().all(|estate| self.estates.contains_key(&estate.held()))
        {
            return;
        }
        let held: Vec<Held> = held.iter().map(Estate::held).collect();
        self.estates.retain(|it, _| held.contains(it));
        held.into_iter().for_each(|it| {
            self.times(it, now_ns);
        });
    }

    fn look_at_estates(&mut self, now_ns: u64, deeds: &mut Vec<Deed<C>>) {
        self.note(now_ns);
        let Terms { lease_ns, patience_ns, .. } = self.terms;
        for (held, times) in &mut self.estates {
            let (Some(lien), Some(estate)) = (*held, self.site.estate(*held)) else { continue };
            let two_leases_ns = lease_ns.saturating_mul(2).min(patience_ns);
            let (since_ns, wait_ns) = match self.root_since_ns {
                _ if times.unknown => (times.heard_ns, two_leases_ns),
                Some(since_ns) => (times.heard_ns.max(since_ns), two_leases_ns),
                None => (times.heard_ns, patience_ns),
            };
            let silent_ns = now_ns.saturating_sub(times.told_ns.max(times.affirmed_ns));
            if now_ns >= since_ns.saturating_add(wait_ns) {
                self.site.abandon(lien, deeds);
            } else if !estate.returning() && silent_ns >= lease_ns / 4 {
                times.affirmed_ns = now_ns;
                self.site.affirm(*held, deeds);
            } else if estate.returning() && now_ns >= times.told_ns.saturating_add(lease_ns / 2) {
                times.told_ns = now_ns;
                self.site.say_again(*held, deeds);
            }
        }
    }

    fn look_at_holders(&mut self, now_ns: u64, deeds: &mut Vec<Deed<C>>) {
        let live = self.site.estates().iter().filter(|estate| !estate.returning());
        let listed: Vec<Lien> =
            live.flat_map(|estate| estate.part().subs.keys().copied()).collect();
        let mut before = std::mem::take(&mut self.holders);
        for lien in listed {
            let (heard_ns, mut asked_ns) = before.remove(&lien).unwrap_or((now_ns, now_ns));
            if now_ns >= heard_ns.saturating_add(self.terms.lease_ns) {
                if let Some(holder) = self.site.holder_of(lien) {
                    deeds.push(Deed::Lapsed { lien, holder });
                }
                self.site.suspect(lien, deeds);
                continue;
            }
            let half_ns = self.terms.lease_ns / 2;
            if now_ns >= heard_ns.saturating_add(half_ns)
                && now_ns >= asked_ns.saturating_add(half_ns / 2)
            {
                asked_ns = now_ns;
                self.site.ask(lien, deeds);
            }
            self.holders.insert(lien, (heard_ns, asked_ns));
        }
    }
}

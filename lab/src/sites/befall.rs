//! What befalls the sites of a [`World`], and what others notice of it.

use super::fates::{CHANCES, Fate};
use super::figures::Moment;
use super::world::World;
use super::yard::Home;
use crate::chance::mix;
use crate::floor::{NEVER, SNAPSHOT};
use crate::load::Load;
use pleach_core::lease::{Site, SiteId};

impl<L: Load> World<'_, L> {
    /// Plans what happens by chance.
    pub(super) fn expect(&mut self, fate: Fate, now_ns: u64) {
        self.drawn += 1;
        let fleet = self.hall.yard.fleet;
        if let Some(wait_ns) = fleet.churn.wait_ns(fate, fleet.seed, self.drawn) {
            self.fate_at(now_ns + wait_ns, fate);
        }
    }

    pub(super) fn fate_at(&mut self, at_ns: u64, fate: Fate) {
        self.fates.push(fate);
        let which = self.fates.len() as u64 - 1;
        self.yard().queue.push(at_ns, which << 2 | SNAPSHOT);
    }

    /// One of the sites but the root that pass a test.
    fn any_site(&mut self, of: impl Fn(&Home) -> bool) -> Option<SiteId> {
        self.drawn += 1;
        let homes = &self.hall.yard.homes;
        let sites = homes.len() as u64;
        let first = mix(self.hall.yard.fleet.seed, self.drawn, 32) % sites;
        let mut order = (0..sites).map(|at| (first + at) % sites);
        order.find(|&site| site > 0 && of(&homes[site as usize])).map(|site| site as SiteId)
    }

    pub(super) fn befall(&mut self, which: u32, now_ns: u64) -> Result<(), String> {
        let fate = self.fates[which as usize];
        if self.end.is_some()
            && fate != Fate::Resume
            && !matches!(fate, Fate::Noticed(_) | Fate::Back(_))
        {
            return Ok(());
        }
        if CHANCES.contains(&fate) {
            self.expect(fate, now_ns);
        }
        let churn = self.hall.yard.fleet.churn;
        match fate {
            Fate::Death => match self.any_site(|home| home.alive) {
                Some(site) => self.die(site, now_ns),
                None => Ok(()),
            },
            Fate::Rack => {
                let rack = churn.rack.max(1);
                let first = self.any_site(|home| home.alive).map_or(0, |site| site / rack * rack);
                let sites = self.gateways.len() as SiteId;
                (first..(first + rack).min(sites)).filter(|&site| site > 0).try_for_each(|site| {
                    if self.hall.yard.homes[site as usize].alive {
                        self.die(site, now_ns)
                    } else {
                        Ok(())
                    }
                })
            }
            Fate::Join => {
                let Some(site) = self.any_site(|home| !home.alive) else { return Ok(()) };
                self.notice(site, now_ns)?;
                self.yard().figures.joined += 1;
                let incarnation = self.incarnation();
                self.sit(site, Site::new(site, incarnation), now_ns)
            }
            Fate::Leave => match self.any_site(|home| home.alive && home.stands_ns <= now_ns) {
                Some(site) => {
                    self.with_gate(site, now_ns, |gateway, inside| gateway.leave(now_ns, inside))?;
                    let gateway = self.hall.yard.gateway(site);
                    self.yard().plan(gateway, now_ns);
                    Ok(())
                }
                None => Ok(()),
            },
            Fate::Cut => {
                if let Some(site) = self.any_site(|home| home.alive) {
                    self.yard().figures.cut_off += 1;
                    self.yard().homes[site as usize].cut_off_ns = now_ns + churn.cut_ns;
                    self.yard().homes[site as usize].unnoticed = true;
                    self.fate_at(now_ns + churn.notice_ns, Fate::Noticed(site));
                    let back_ns = now_ns + churn.cut_ns.max(churn.notice_ns) + 1;
                    self.fate_at(back_ns, Fate::Back(site));
                }
                Ok(())
            }
            Fate::Stop => {
                if let Some(site) = self.any_site(|home| home.alive && home.stands_ns <= now_ns) {
                    self.stand(site, now_ns, churn.stop_ns);
                }
                Ok(())
            }
            Fate::RootDeath => {
                if self.hall.yard.file.is_some() && self.hall.yard.homes[0].alive {
                    self.die(0, now_ns)?;
                    self.fate_at(now_ns + churn.resume_ns, Fate::Resume);
                }
                Ok(())
            }
            Fate::Noticed(site) => self.notice(site, now_ns),
            Fate::Back(site) => self.meet(site, now_ns),
            Fate::Resume => self.resume(now_ns),
            Fate::Look => {
                self.look(now_ns);
                Ok(())
            }
            Fate::End => {
                self.with_gate(0, now_ns, |gateway, inside| gateway.stop(now_ns, inside))?;
                let gateway = self.hall.yard.gateway(0);
                self.yard().plan(gateway, now_ns);
                Ok(())
            }
        }
    }

    /// Notes how the run stands; ever more seldom, so that the moments stay few.
    fn look(&mut self, now_ns: u64) {
        let yard = &mut self.hall.yard;
        let there: Vec<_> = yard.homes.iter().filter(|home| home.alive).collect();
        let units = there.iter().map(|home| home.peers - 1).sum();
        let moment = Moment { at_ns: now_ns, sites: there.len() as u32, busy: yard.busy, units };
        let over_time = &mut yard.figures.over_time;
        over_time.push(moment);
        if over_time.len() >= 400 {
            let mut odd = false;
            over_time.retain(|_| {
                odd = !odd;
                odd
            });
        }
        let step_ns = match over_time[..] {
            [.., before, last] => last.at_ns - before.at_ns,
            _ => 1_000_000,
        };
        self.fate_at(now_ns + step_ns.max(1_000_000), Fate::Look);
    }

    fn stand(&mut self, site: SiteId, now_ns: u64, for_ns: u64) {
        let range = self.hall.yard.range(site);
        let yard = self.yard();
        yard.figures.stood += 1;
        yard.homes[site as usize].stands_ns = now_ns + for_ns;
        for at in range {
            if let Some(stretch) = &mut yard.units[at].stretch {
                stretch.since_ns += for_ns;
                stretch.until_ns += for_ns;
                let until_ns = stretch.until_ns;
                yard.units[at].turn_ns = NEVER;
                yard.plan(at as u32, until_ns);
            }
        }
    }

    fn die(&mut self, site: SiteId, now_ns: u64) -> Result<(), String> {
        self.yard().figures.died += 1;
        let notice_ns = self.hall.yard.fleet.churn.notice_ns;
        self.go(site, now_ns, notice_ns)
    }

    /// A process is gone; others notice it after a while.
    pub(super) fn go(&mut self, site: SiteId, now_ns: u64, notice_ns: u64) -> Result<(), String> {
        if self.end.is_none() {
            self.yard().close_account(site, now_ns);
        }
        self.hall.clear(site, now_ns);
        let home = &mut self.yard().homes[site as usize];
        home.alive = false;
        home.life += 1;
        home.gate_wake_ns = NEVER;
        home.unnoticed = true;
        let messages = std::mem::take(&mut home.messages);
        messages.into_iter().for_each(|place| drop(self.yard().take_letter(place)));
        self.gateways[site as usize] = None;
        self.fate_at(now_ns + notice_ns, Fate::Noticed(site));
        Ok(())
    }

    /// All that had to do with a process notice that it is gone, or cannot be reached.
    fn notice(&mut self, site: SiteId, now_ns: u64) -> Result<(), String> {
        let home = &mut self.yard().homes[site as usize];
        if !std::mem::take(&mut home.unnoticed) {
            return Ok(());
        }
        let alive = home.alive;
        let mut contacts: Vec<SiteId> = std::mem::take(&mut home.contacts).into_iter().collect();
        contacts.sort_unstable();
        for other in contacts {
            self.refused(other, site, now_ns)?;
            if alive {
                self.refused(site, other, now_ns)?;
            }
        }
        Ok(())
    }

    /// A site that came, or came back, and those that have missed it learn of each other; all, where each site
    /// knows which others are there.
    pub(super) fn meet(&mut self, site: SiteId, now_ns: u64) -> Result<(), String> {
        let missed_by = std::mem::take(&mut self.yard().homes[site as usize].missed_by);
        let others: Vec<SiteId> = if self.hall.yard.fleet.open {
            (0..self.gateways.len() as SiteId).collect()
        } else {
            missed_by.into_iter().collect()
        };
        for other in others.into_iter().filter(|&other| other != site) {
            let homes = &mut self.yard().homes;
            let reached = |at: SiteId| homes[at as usize].alive && !homes[at as usize].over;
            if reached(site) && reached(other) {
                homes[site as usize].contacts.insert(other);
                homes[other as usize].contacts.insert(site);
                self.learns_of(site, other, now_ns)?;
                self.learns_of(other, site, now_ns)?;
            }
        }
        Ok(())
    }

    fn learns_of(&mut self, site: SiteId, other: SiteId, now_ns: u64) -> Result<(), String> {
        self.with_gate(site, now_ns, |gateway, inside| gateway.came(other, now_ns, inside))?;
        let gateway = self.hall.yard.gateway(site);
        self.yard().plan(gateway, now_ns);
        Ok(())
    }

    /// A site learns that another cannot be reached.
    pub(super) fn refused(
        &mut self,
        site: SiteId,
        other: SiteId,
        now_ns: u64,
    ) -> Result<(), String> {
        if self.hall.yard.homes[site as usize].alive && !self.hall.yard.homes[site as usize].over {
            self.yard().homes[other as usize].missed_by.insert(site);
            self.with_gate(site, now_ns, |gateway, inside| gateway.away(other, now_ns, inside))?;
            let gateway = self.hall.yard.gateway(site);
            self.yard().plan(gateway, now_ns);
        }
        Ok(())
    }

    /// A new root takes the place of the dead one, with its file.
    fn resume(&mut self, now_ns: u64) -> Result<(), String> {
        self.notice(0, now_ns)?;
        let (whole, best) = self.hall.yard.file.clone().ok_or("there is no file")?;
        let incarnation = self.incarnation();
        self.sit(0, Site::root(0, incarnation, whole, best), now_ns)?;
        self.with_gate(0, now_ns, |gateway, inside| gateway.resume(now_ns, inside))
    }
}

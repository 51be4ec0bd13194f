//! Carries out what happens to the sites of a [`World`], and what others notice of it.

use super::figures::Occupancy;
use super::fleet_state::SiteRecord;
use super::incidents::{CHANCES, Incident};
use super::world::World;
use crate::chance::mix;
use crate::cluster_state::{NEVER, SNAPSHOT};
use crate::load::Load;
use pleach_core::lease::{Site, SiteId};

impl<L: Load> World<'_, L> {
    /// Schedules a random incident.
    pub(super) fn expect(&mut self, incident: Incident, now_ns: u64) {
        self.drawn += 1;
        let fleet = self.inner.state.fleet;
        if let Some(wait_ns) = fleet.churn.wait_ns(incident, fleet.seed, self.drawn) {
            self.schedule(now_ns + wait_ns, incident);
        }
    }

    pub(super) fn schedule(&mut self, at_ns: u64, incident: Incident) {
        self.incidents.push(incident);
        let which = self.incidents.len() as u64 - 1;
        self.state().queue.push(at_ns, which << 2 | SNAPSHOT);
    }

    /// A random site other than the root that passes a test.
    fn any_site(&mut self, of: impl Fn(&SiteRecord) -> bool) -> Option<SiteId> {
        self.any_from(1, of)
    }

    /// A random site with at least this number that passes a test.
    fn any_from(&mut self, least: u64, of: impl Fn(&SiteRecord) -> bool) -> Option<SiteId> {
        self.drawn += 1;
        let records = &self.inner.state.records;
        let sites = records.len() as u64;
        let first = mix(self.inner.state.fleet.seed, self.drawn, 32) % sites;
        let mut order = (0..sites).map(|at| (first + at) % sites);
        order.find(|&site| site >= least && of(&records[site as usize])).map(|site| site as SiteId)
    }

    pub(super) fn happen(&mut self, which: u32, now_ns: u64) -> Result<(), String> {
        let incident = self.incidents[which as usize];
        if self.end.is_some()
            && incident != Incident::Resume
            && !matches!(incident, Incident::Noticed(_) | Incident::Back(_))
        {
            return Ok(());
        }
        if CHANCES.contains(&incident) {
            self.expect(incident, now_ns);
        }
        let churn = self.inner.state.fleet.churn;
        match incident {
            Incident::Death => match self.any_site(|record| record.alive) {
                Some(site) => self.die(site, now_ns),
                None => Ok(()),
            },
            Incident::Rack => {
                let rack = churn.rack.max(1);
                let first =
                    self.any_site(|record| record.alive).map_or(0, |site| site / rack * rack);
                let sites = self.gateways.len() as SiteId;
                (first..(first + rack).min(sites)).filter(|&site| site > 0).try_for_each(|site| {
                    if self.inner.state.records[site as usize].alive {
                        self.die(site, now_ns)
                    } else {
                        Ok(())
                    }
                })
            }
            Incident::Join => {
                let Some(site) = self.any_site(|record| !record.alive) else { return Ok(()) };
                self.notice(site, now_ns)?;
                self.state().of_sites.joined += 1;
                let incarnation = self.incarnation();
                self.place_site(site, Site::new(site, incarnation), now_ns)
            }
            Incident::Leave => {
                match self.any_site(|record| record.alive && record.stands_ns <= now_ns) {
                    Some(site) => {
                        self.with_gateway(site, now_ns, |gateway| gateway.leave_search())?;
                        let gateway = self.inner.state.gateway(site);
                        self.state().plan(gateway, now_ns);
                        Ok(())
                    }
                    None => Ok(()),
                }
            }
            Incident::Cut => {
                if let Some(site) = self.any_site(|record| record.alive) {
                    self.state().records[site as usize].cut_off_ns = now_ns + churn.cut_ns;
                    self.state().records[site as usize].unnoticed = true;
                    self.schedule(now_ns + churn.notice_ns, Incident::Noticed(site));
                    let back_ns = now_ns + churn.cut_ns.max(churn.notice_ns) + 1;
                    self.schedule(back_ns, Incident::Back(site));
                }
                Ok(())
            }
            Incident::Stop => {
                let runs = |record: &SiteRecord| record.alive && record.stands_ns <= now_ns;
                if let Some(site) = self.any_from(0, runs) {
                    self.stand(site, now_ns, churn.stop_ns);
                }
                Ok(())
            }
            Incident::RootDeath => {
                if self.inner.state.file.is_some() && self.inner.state.records[0].alive {
                    self.die(0, now_ns)?;
                    self.schedule(now_ns + churn.resume_ns, Incident::Resume);
                }
                Ok(())
            }
            Incident::Noticed(site) => self.notice(site, now_ns),
            Incident::Back(site) => self.meet(site, now_ns),
            Incident::Resume => self.resume(now_ns),
            Incident::CheckSites => {
                self.check_sites(now_ns);
                Ok(())
            }
            Incident::End => {
                self.with_gateway(0, now_ns, |gateway| gateway.stop_search())?;
                let gateway = self.inner.state.gateway(0);
                self.state().plan(gateway, now_ns);
                Ok(())
            }
        }
    }

    /// Records the state of the run, less and less often, so that there are few moments.
    fn check_sites(&mut self, now_ns: u64) {
        let state = &mut self.inner.state;
        let there = state.records.iter().filter(|record| record.alive);
        let workers = there.map(|record| record.peers - 1).sum();
        let over_time = &mut state.of_sites.over_time;
        over_time.push(Occupancy { at_ns: now_ns, busy: state.busy, workers });
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
        self.schedule(now_ns + step_ns.max(1_000_000), Incident::CheckSites);
    }

    fn stand(&mut self, site: SiteId, now_ns: u64, for_ns: u64) {
        let range = self.inner.state.range(site);
        let state = self.state();
        state.records[site as usize].stands_ns = now_ns + for_ns;
        for at in range {
            if let Some(stretch) = &mut state.workers[at].stretch {
                stretch.since_ns += for_ns;
                stretch.until_ns += for_ns;
                // It next looks at its messages, or ends its stretch, that much later.
                let turn_ns = std::mem::replace(&mut state.workers[at].turn_ns, NEVER);
                state.plan(at as u32, turn_ns.saturating_add(for_ns));
            }
        }
    }

    fn die(&mut self, site: SiteId, now_ns: u64) -> Result<(), String> {
        self.state().of_sites.died += 1;
        let notice_ns = self.inner.state.fleet.churn.notice_ns;
        self.go(site, now_ns, notice_ns)
    }

    /// A process is gone; others notice it later.
    pub(super) fn go(&mut self, site: SiteId, now_ns: u64, notice_ns: u64) -> Result<(), String> {
        if self.end.is_none() {
            self.state().close_account(site, now_ns);
        }
        self.inner.clear(site, now_ns);
        let record = &mut self.state().records[site as usize];
        record.alive = false;
        record.life += 1;
        record.gateway_wake_ns = NEVER;
        record.unnoticed = true;
        let messages = std::mem::take(&mut record.messages);
        messages.into_iter().for_each(|place| drop(self.state().packets.take(place)));
        self.gateways[site as usize] = None;
        self.schedule(now_ns + notice_ns, Incident::Noticed(site));
        Ok(())
    }

    /// All sites that had contact with a process notice that it is gone or unreachable.
    fn notice(&mut self, site: SiteId, now_ns: u64) -> Result<(), String> {
        let record = &mut self.state().records[site as usize];
        if !std::mem::take(&mut record.unnoticed) {
            return Ok(());
        }
        let alive = record.alive;
        let mut contacts: Vec<SiteId> = std::mem::take(&mut record.contacts).into_iter().collect();
        contacts.sort_unstable();
        for other in contacts {
            self.refused(other, site, now_ns)?;
            if alive {
                self.refused(site, other, now_ns)?;
            }
        }
        Ok(())
    }

    /// Introduces a site that joined or came back to those that missed it, or to all if each site knows which others
    /// are present.
    pub(super) fn meet(&mut self, site: SiteId, now_ns: u64) -> Result<(), String> {
        let there = |record: &SiteRecord| record.alive && !record.over;
        let record = &self.inner.state.records[site as usize];
        // A site that died or is cut off again is announced later, when it is back.
        if !there(record) || record.cut_off_ns > now_ns {
            return Ok(());
        }
        let missed_by = std::mem::take(&mut self.state().records[site as usize].missed_by);
        let others: Vec<SiteId> = if self.inner.state.fleet.open {
            (0..self.gateways.len() as SiteId).collect()
        } else {
            missed_by.into_iter().collect()
        };
        for other in others.into_iter().filter(|&other| other != site) {
            let records = &mut self.state().records;
            if there(&records[other as usize]) {
                records[site as usize].contacts.insert(other);
                records[other as usize].contacts.insert(site);
                self.learns_of(site, other, now_ns)?;
                self.learns_of(other, site, now_ns)?;
            }
        }
        Ok(())
    }

    fn learns_of(&mut self, site: SiteId, other: SiteId, now_ns: u64) -> Result<(), String> {
        self.with_gateway(site, now_ns, |gateway| gateway.site_joined(other))?;
        let gateway = self.inner.state.gateway(site);
        self.state().plan(gateway, now_ns);
        Ok(())
    }

    /// A site learns that another is unreachable.
    pub(super) fn refused(
        &mut self,
        site: SiteId,
        other: SiteId,
        now_ns: u64,
    ) -> Result<(), String> {
        if self.inner.state.records[site as usize].alive
            && !self.inner.state.records[site as usize].over
        {
            self.state().records[other as usize].missed_by.insert(site);
            self.with_gateway(site, now_ns, |gateway| gateway.on_link_down(other))?;
            let gateway = self.inner.state.gateway(site);
            self.state().plan(gateway, now_ns);
        }
        Ok(())
    }

    /// A new root replaces the dead one and continues from its file.
    fn resume(&mut self, now_ns: u64) -> Result<(), String> {
        self.notice(0, now_ns)?;
        for site in 1..self.gateways.len() as SiteId {
            self.with_gateway(site, now_ns, |gateway| {
                gateway.root_changed();
                Ok(())
            })?;
        }
        let (whole, best) = self.inner.state.file.clone().ok_or("the root has no file")?;
        let incarnation = self.incarnation();
        self.place_site(0, Site::root(0, incarnation, whole, best), now_ns)?;
        self.with_gateway(0, now_ns, |gateway| gateway.adopt_listed_leases())?;
        // The root that should have stopped may have died before that, or meanwhile.
        if self.inner.state.fleet.stop_ns.is_some_and(|stop_ns| stop_ns <= now_ns) {
            self.schedule(now_ns, Incident::End);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster_state::Stretch;
    use crate::sites::random::random_fleet;
    use crate::sites::{Churn, SiteClass};
    use crate::spans::Spans;
    use pleach_core::lease::ProgressReport;
    use pleach_core::lease::gateway::Portion;
    use pleach_core::steal::Policy;

    /// A worker that was about to read its messages used to read them only at the end of its stretch.
    #[test]
    fn a_pause_only_delays_the_next_look_at_messages() {
        let (fleet, load) = (random_fleet(Policy::default(), 1), Spans::new(9, 9, 0, 0.0, 0));
        let mut world = World::new(&fleet, &load);
        let stretch = Stretch { since_ns: 0, until_ns: 900, result: Err(900), to_depth: None };
        world.inner.state.workers[1].stretch = Some(stretch);
        world.inner.state.plan(1, 900);
        world.inner.state.plan(1, 200);
        world.stand(0, 150, 50);
        let worker = &world.inner.state.workers[1];
        let stretch = worker.stretch.as_ref().unwrap();
        assert_eq!((stretch.since_ns, stretch.until_ns, worker.turn_ns), (50, 950, 250));
    }

    /// Sites used to keep what the dead root had granted them, in addition to the limit of the new one.
    #[test]
    fn grants_of_a_dead_root_do_not_count() {
        let (mut fleet, load) = (random_fleet(Policy::default(), 1), Spans::new(9, 9, 0, 0.0, 0));
        fleet.sites = vec![SiteClass { count: 2, workers: 1, speed: 1.0, device: None }];
        (fleet.churn, fleet.node_limit, fleet.open) = (Churn::default(), Some(1_000), false);
        let mut world = World::new(&fleet, &load);
        let whole = || ProgressReport::of(Portion::open(vec![load.root().into()]));
        world.place_site(0, Site::root(0, 1, whole(), None), 0).unwrap();
        world.place_site(1, Site::new(1, 2), 0).unwrap();
        world.inner.state.file = Some((whole(), None));
        world.inner.state.records[1].allowed = 500;
        world.inner.state.of_sites.granted = 500;
        world.die(0, 5).unwrap();
        world.resume(9).unwrap();
        assert_eq!(world.inner.state.records[1].allowed, 0);
    }
}

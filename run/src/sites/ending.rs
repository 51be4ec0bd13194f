//! The end of a search by several sites: what the root makes of it, and what each site did.

use super::account::Account;
use super::gateway_thread::Kept;
use super::link::{Heard, Link};
use super::parcel::Parcel;
use super::part::Part;
use crate::control::Stop;
use crate::driver::Left;
use crate::error::RunError;
use crate::gather::{check, settle, sum};
use crate::outcome::{Balance, Outcome, Parting, SiteReport, UnitReport};
use crate::start::last_warnings;
use crate::watch::Watcher;
use pleach_core::gateway::Portion;
use pleach_core::lease::Certificate;
use pleach_core::tree::Counts;
use std::time::{Duration, Instant};

/// How long the root waits for others to tell what they did, where they may have died.
const ACCOUNTS: Duration = Duration::from_secs(3);

impl Part<'_> {
    /// What comes of it: at the root of the whole search, elsewhere of this part.
    pub fn close(
        &self,
        link: &mut Link,
        (kept, left): (Kept, Vec<Left>),
        lag_ns: u64,
        watch: &mut Watcher<'_>,
    ) -> Result<Outcome, RunError> {
        let Part { problem, commons, .. } = *self;
        let mut outcome = Outcome { stop: kept.stop, ..sum(problem, commons, left) };
        outcome.balance.add(kept.balance);
        match kept.whole {
            None => {
                let account = Account {
                    host: pleach_net::host(),
                    units: outcome.units.clone(),
                    balance: outcome.balance.clone(),
                    commits: kept.commits,
                    lag_ns,
                    wasted: kept.wasted,
                };
                link.send(0, &Parcel::Account(account));
                outcome.seconds = commons.seconds();
            }
            Some(whole) => {
                self.judge(&mut outcome, &whole);
                check(problem, &outcome)?;
                self.save(&outcome, &whole);
                // Whoever comes now waits for the next search.
                link.pause();
                outcome.seconds = commons.seconds();
                self.hear_accounts(link)?;
                self.report(&mut outcome, kept.commits);
            }
        }
        last_warnings(commons, watch);
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
        let whole = Certificate::of(open);
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
            report.redone = account.wasted;
            outcome.balance.add(Balance { ending_ns: 0, ..account.balance });
            sites.push(report);
        }
        // What nobody has dropped was explored in vain by those that were lost.
        let dropped = sites.iter().map(|site| site.redone).sum::<u64>();
        let lost: Vec<&mut SiteReport> =
            sites.iter_mut().filter(|site| site.end == Some(Parting::Lost)).collect();
        let rest = explored.saturating_sub(counted).saturating_sub(dropped);
        let each = rest / (lost.len() as u64).max(1);
        lost.into_iter().for_each(|site| site.redone += each);
        (outcome.units, outcome.sites) = (units, sites);
    }
}

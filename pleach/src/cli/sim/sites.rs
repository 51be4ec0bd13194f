//! The tables `[sites]` and `[churn]` of a scenario: processes of several workers, and what happens to them.

use super::device;
use crate::cli::keys::{Keys, MOST_PEERS, S, US};
use pleach_core::lease::Terms;
use pleach_core::steal::Policy;
use pleach_lab::hub::Hub;
use pleach_lab::machine::{Class, Machine};
use pleach_lab::network::{Link, Network};
use pleach_lab::sites::{Churn, Fleet, SiteClass};

/// Reads the sites of a scenario, if it has any.
///
/// # Errors
/// One line: file, key, value, and what was expected.
pub fn read(keys: &Keys<'_>) -> Result<Option<Fleet>, String> {
    let Some(table) = keys.table("sites")? else {
        for table in ["churn", "hub"] {
            if keys.has(table) {
                return keys.wrong(table, "a table [sites] alongside it");
            }
        }
        return Ok(None);
    };
    if keys.has("peers") {
        return keys.wrong("peers", "only one of peers and [sites] with count = …");
    }
    let none = toml::Table::new();
    let machine = keys.table("machine")?.unwrap_or_else(|| Keys::new("", &none));
    let handle_ns = machine.time_ns("handle_us", Some(5.0), US)?;
    let poll_ns = machine.time_ns("poll_us", Some(100.0), US)?.max(1);
    machine.finish()?;
    let sites = classes(&table, poll_ns)?;
    let commit_s = table.number("commit_s", Some(5.0), 1e-6..=1e6)?;
    let lease_s = table.number("lease_s", Some(4.0 * commit_s), 1e-6..=1e6)?;
    if lease_s < 2.0 * commit_s {
        return table.wrong("lease_s", "at least twice commit_s");
    }
    let patience_s = table.number("patience_s", Some(8.0 * lease_s), 1e-6..=1e7)?;
    let ns = |seconds: f64| (seconds * S) as u64;
    let fleet = Fleet {
        policy: Policy::default(),
        network: Network::uniform(Link { latency_ns: 0, bytes_per_ns: 1.0 }),
        hub: hub(keys)?,
        near_ns: table.time_ns("near_us", Some(0.5), US)?,
        handle_ns,
        handle_near_ns: table.time_ns("handle_near_us", Some(0.3), US)?,
        poll_ns,
        low_ns: table.time_ns("low_us", Some(3.0 * poll_ns as f64 / US), US)?,
        message_bytes: 40,
        terms: Terms {
            commit_ns: ns(commit_s),
            lease_ns: ns(lease_s),
            patience_ns: ns(patience_s),
            most_commit_bytes: u64::MAX,
        },
        stop_ns: table.if_any("stop_s", |key| table.time_ns(key, None, S))?,
        node_limit: table
            .if_any("node_limit", |key| table.whole(key, None, 0..=i64::MAX))?
            .map(|nodes| nodes as u64),
        progress_report_bytes: table.whole("certificate_kb", Some(1024), 0..=1 << 30)? as u64
            * 1024,
        check_files: table.flag("check_files", false)?,
        open: open(&table, &sites)?,
        churn: churn(keys, &sites)?,
        sites,
        seed: 0,
        most_events: 0,
    };
    table.finish()?;
    Ok(Some(fleet))
}

/// The maximum number of sites of an open fleet, where each keeps a list of all others.
const MOST_OPEN: u32 = 10_000;

fn open(table: &Keys<'_>, sites: &[SiteClass]) -> Result<bool, String> {
    let open = table.flag("open", false)?;
    if open && sites.iter().map(|class| class.count).sum::<u32>() > MOST_OPEN {
        return table.wrong("open", &format!("at most {MOST_OPEN} sites that know each other"));
    }
    Ok(open)
}

fn classes(table: &Keys<'_>, poll_ns: u64) -> Result<Vec<SiteClass>, String> {
    let read = |keys: &Keys<'_>| {
        let count = keys.whole("count", None, 1..=MOST_PEERS)? as u32;
        let workers = keys.whole("units", Some(1), 1..=100_000)? as u32;
        Ok::<_, String>(SiteClass {
            count,
            workers,
            speed: keys.number("speed", Some(1.0), 1e-6..=1e9)?,
            device: device::read(keys, count.saturating_mul(workers), poll_ns)?,
        })
    };
    let mut sites = Vec::new();
    for class in table.tables("class")? {
        // The name only labels the class.
        class.word("name", Some(""))?;
        sites.push(read(&class)?);
        class.finish()?;
    }
    if sites.is_empty() {
        sites.push(read(table)?);
    }
    let workers = sites.iter().map(|class| u64::from(class.count) * u64::from(class.workers));
    if workers.sum::<u64>() > MOST_PEERS as u64 {
        return table.wrong("count", &format!("at most {MOST_PEERS} workers in all"));
    }
    Ok(sites)
}

fn churn(keys: &Keys<'_>, sites: &[SiteClass]) -> Result<Churn, String> {
    let Some(table) = keys.table("churn")? else { return Ok(Churn::default()) };
    let count = i64::from(sites.iter().map(|class| class.count).sum::<u32>());
    let rate = |key| table.number(key, Some(0.0), 0.0..=1e9);
    let time = |key, default| table.time_ns(key, Some(default), S);
    let churn = Churn {
        deaths: rate("deaths_per_minute")?,
        joins: rate("joins_per_minute")?,
        leaves: rate("leaves_per_minute")?,
        racks: rate("racks_per_minute")?,
        rack: table.whole("rack", Some(1), 1..=MOST_PEERS)? as u32,
        cuts: rate("cuts_per_minute")?,
        cut_ns: time("cut_s", 10.0)?,
        stops: rate("stops_per_minute")?,
        stop_ns: time("stand_s", 10.0)?,
        root_deaths: rate("root_deaths_per_minute")?,
        resume_ns: time("resume_s", 5.0)?,
        notice_ns: time("notice_s", 1.0)?,
        absent: table.whole("absent", Some(0), 0..=count - 1)? as u32,
    };
    table.finish()?;
    Ok(churn)
}

/// Site 0 as the hub of a star, if the scenario has one.
fn hub(keys: &Keys<'_>) -> Result<Option<Hub>, String> {
    let Some(table) = keys.table("hub")? else { return Ok(None) };
    let hub = Hub {
        message_ns: table.time_ns("message_us", Some(10.0), US)?,
        bytes_per_ns: table.number("mb_per_s", Some(f64::INFINITY), 1e-6..=f64::INFINITY)? * 1e-3,
        link_after: Some(table.whole("link_after", Some(0), 0..=i64::from(u32::MAX))? as u32)
            .filter(|&messages| messages > 0),
    };
    table.finish()?;
    Ok(Some(hub))
}

/// All workers of the sites, as one machine.
pub fn machine(fleet: &Fleet) -> Machine {
    let class = |site: &SiteClass| Class {
        count: site.count * site.workers,
        speed: site.speed,
        poll_ns: fleet.poll_ns,
        device: site.device,
    };
    Machine {
        classes: fleet.sites.iter().map(class).collect(),
        ..Machine::uniform(0, fleet.handle_ns, fleet.poll_ns)
    }
}

//! [`Spec`]: one run to simulate, as the keys of a scenario describe it.

use super::{device, sites};
use crate::cli::keys::{Keys, MOST_PEERS, MS, S, US};
use crate::registry::simulated_load::Load;
use crate::registry::{Entry, Simulation, entry, names};
use pleach_core::search::work::Nodes;
use pleach_core::steal::Policy;
use pleach_lab::cluster::Cluster;
use pleach_lab::machine::{Changes, Class, Late, Machine, Pauses};
use pleach_lab::network::{Delays, Level, Link, Network};
use pleach_lab::sites::Fleet;
use pleach_lab::spans::MOST_LEVELS;

/// The load of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Numbered units.
    Interval { units: u64, total_ns: u64, halvings: u32, uneven: f64, seed: u64 },
    /// A search.
    Search(Load),
}

/// One run, without its seed.
#[derive(Clone, Debug)]
pub struct Spec {
    pub work: Work,
    /// The peers; with sites, all their workers as one cluster.
    pub cluster: Cluster,
    /// The sites, if the peers are workers of sites.
    pub fleet: Option<Fleet>,
    /// The speed that speed-ups are relative to.
    pub unit_speed: f64,
}

impl Spec {
    /// Reads the keys that describe a run.
    ///
    /// # Errors
    /// One line: file, key, value, and what was expected.
    pub fn read(registry: &[Entry], keys: &Keys<'_>) -> Result<Self, String> {
        let fleet = sites::read(keys)?;
        let (machine, weights) = match &fleet {
            Some(fleet) => (sites::machine(fleet), Vec::new()),
            None => machine(keys)?,
        };
        let preset = keys.word("balance", Some("adaptive"))?;
        let policy = match Policy::parse_with(&preset, &weights) {
            Ok(policy) => policy,
            Err(why) => return keys.wrong("balance", &format!("a preset: {why}")),
        };
        if policy.second_cutoff.is_some() && fleet.is_none() {
            return keys.wrong("balance", "a table [sites] alongside second_cutoff");
        }
        if policy.has_masters() && fleet.is_some() {
            return keys.wrong("balance", "a preset without depth alongside a table [sites]");
        }
        let work = work(registry, keys, machine.peers())?;
        let cluster = Cluster {
            policy,
            network: network(keys)?,
            message_bytes: 40,
            snapshot_ns: keys.if_any("snapshot_ms", |key| {
                Ok((keys.number(key, None, 0.001..=1e9)? * MS) as u64)
            })?,
            seed: 0,
            most_events: keys.number("most_events", Some(1e11), 1.0..=1e15)? as u64,
            machine,
        };
        let fleet = fleet.map(|fleet| Fleet {
            policy: cluster.policy.clone(),
            network: cluster.network.clone(),
            most_events: cluster.most_events,
            ..fleet
        });
        if fleet.is_some() && (cluster.snapshot_ns.is_some() || cluster.policy.is_late()) {
            let (key, expected) = if cluster.snapshot_ns.is_some() {
                (
                    "snapshot_ms",
                    "no such key with [sites], where leases take snapshots of their own",
                )
            } else {
                ("balance", "a preset without late, since no work is given late with [sites]")
            };
            return keys.wrong(key, expected);
        }
        let unit_speed = keys.number("unit_speed", Some(1.0), 1e-6..=1e9)?;
        Ok(Self { work, cluster, fleet, unit_speed })
    }

    /// The speed of the peer, or of the first site's workers, that explores nothing since it coordinates all others.
    pub fn coordinator_speed(&self) -> f64 {
        let Cluster { machine, policy, .. } = &self.cluster;
        let (peers, each) = match &self.fleet {
            Some(fleet) => (fleet.count(), fleet.sites[0].workers),
            None => (machine.peers(), 1),
        };
        let first = machine.classes.first();
        let speed = first.map_or(0.0, |class| f64::from(each) * class.speed);
        if policy.coordinator && peers > 1 { speed } else { 0.0 }
    }
}

fn work(registry: &[Entry], keys: &Keys<'_>, peers: u32) -> Result<Work, String> {
    let Some(load) = keys.table("load")? else {
        return keys.wrong("load", "a table [load] with problem = …");
    };
    let problem = load.word("problem", None)?;
    let work = match problem.as_str() {
        "interval" => interval(&load, peers)?,
        name if simulation(registry, name).is_some() => {
            let node_ns = (load.number("node_us", Some(1.0), 0.001..=1e6)? * US).round() as u64;
            Work::Search(Load {
                problem,
                instance: load.word("instance", None)?,
                node_ns,
                best: load.word_if_any("best")?,
                bound: load.word_if_any("bound")?,
                branching: load.word_if_any("branching")?,
                child_order: load.word_if_any("child_order")?,
                nodes: nodes(&load)?,
                whole: load.flag("whole", false)?,
                recorded: load.flag("recorded", false)?,
                alone: load.number("alone", Some(1e9), 0.0..=1e15)? as u64,
            })
        }
        _ => {
            let known = names(registry, |entry| entry.simulation.is_some());
            return load.wrong("problem", &format!("interval, {known}"));
        }
    };
    load.finish()?;
    Ok(work)
}

/// How a problem is simulated.
pub fn simulation(registry: &[Entry], name: &str) -> Option<Simulation> {
    entry(registry, name).and_then(|entry| entry.simulation)
}

fn nodes(load: &Keys<'_>) -> Result<Nodes, String> {
    let word = load.word("nodes", Some("pool"))?;
    Nodes::parse(&word).or_else(|_| load.wrong("nodes", "pool or interval"))
}

fn interval(load: &Keys<'_>, peers: u32) -> Result<Work, String> {
    let (total, each) = (load.has("total_s"), load.has("per_peer_s"));
    let total_ns = match (total, each) {
        (true, false) => load.time_ns("total_s", None, S)?,
        (false, true) => {
            let all = load.number("per_peer_s", None, 0.0..=1e9)? * S * f64::from(peers);
            if all > 1e18 {
                return load.wrong("per_peer_s", "no more than 30 years of work in all");
            }
            all as u64
        }
        _ => return load.wrong("total_s", "exactly one of total_s and per_peer_s"),
    };
    let unit_ns = load.number("unit_us", Some(2.0), 0.001..=1e9)? * US;
    let units = (total_ns as f64 / unit_ns).ceil().max(1.0);
    if units > (1u64 << 40) as f64 {
        return load.wrong("unit_us", "longer units, so that there are at most 2^40");
    }
    let halvings = load.whole("halvings", Some(0), 0..=i64::from(MOST_LEVELS))? as u32;
    let uneven = load.number("uneven", Some(0.5), 0.0..=1.0)?;
    let seed = load.whole("seed", Some(0), 0..=i64::MAX)? as u64;
    Ok(Work::Interval { units: units as u64, total_ns, halvings, uneven, seed })
}

/// The peers and their known powers, one number each; the last number holds for any further peers.
fn machine(keys: &Keys<'_>) -> Result<(Machine, Vec<u32>), String> {
    let none = toml::Table::new();
    let own = keys.table("machine")?;
    let table = own.unwrap_or_else(|| Keys::new("", &none));
    let handle_ns = table.time_ns("handle_us", Some(5.0), US)?;
    let poll_us = table.number("poll_us", Some(100.0), 0.001..=1e9)?;
    let (mut classes, mut weights) = (Vec::new(), Vec::new());
    for class in table.tables("class")? {
        // The name only labels the class.
        class.word("name", Some(""))?;
        let count = class.whole("count", None, 0..=MOST_PEERS)? as u32;
        let poll_ns = (class.number("poll_us", Some(poll_us), 0.001..=1e9)? * US) as u64;
        classes.push(Class {
            count,
            speed: class.number("speed", Some(1.0), 0.0..=1e9)?,
            poll_ns,
            device: device::read(&class, count, poll_ns)?,
        });
        if classes.last().is_some_and(|class| class.speed < 1e-6) {
            return class.wrong("speed", "a number from 0.000001 to 1000000000");
        }
        let speed = classes.last().map_or(1.0, |class| class.speed);
        weights.push(class.number("weight", Some(speed.min(1e6)), 1e-6..=1e6)?);
        class.finish()?;
    }
    if classes.is_empty() {
        let count = keys.whole("peers", None, 1..=MOST_PEERS)? as u32;
        classes.push(Class { count, speed: 1.0, poll_ns: (poll_us * US) as u64, device: None });
    } else if keys.has("peers") {
        return keys.wrong("peers", "only one of peers and [[machine.class]]");
    }
    let each = classes.iter().zip(&weights);
    let each = each.flat_map(|(class, &weight)| std::iter::repeat_n(weight, class.count as usize));
    // In thousandths, since weights are whole numbers.
    let mut weights: Vec<u32> = each.map(|weight| (weight * 1e3).round().max(1.0) as u32).collect();
    classes.retain(|class| class.count > 0);
    let peers: u64 = classes.iter().map(|class| u64::from(class.count)).sum();
    if !(1..=MOST_PEERS as u64).contains(&peers) {
        return table.wrong("class", &format!("1 to {MOST_PEERS} peers in all"));
    }
    let machine = Machine {
        classes,
        handle_ns,
        pauses: pauses(&table)?,
        changes: changes(&table)?,
        late: late(&table)?,
    };
    let same = weights.iter().rev().take_while(|&weight| Some(weight) == weights.last()).count();
    weights.truncate(weights.len() - same.saturating_sub(1));
    table.finish()?;
    Ok((machine, weights))
}

fn pauses(table: &Keys<'_>) -> Result<Option<Pauses>, String> {
    let Some(keys) = table.table("pauses")? else { return Ok(None) };
    let every_ns = keys.time_ns("every_ms", None, MS)?;
    let length_ns = keys.time_ns("length_ms", None, MS)?;
    if length_ns >= every_ns {
        return keys.wrong("length_ms", "less than every_ms");
    }
    keys.finish()?;
    Ok(Some(Pauses { every_ns, length_ns }))
}

fn changes(table: &Keys<'_>) -> Result<Option<Changes>, String> {
    let Some(keys) = table.table("changes")? else { return Ok(None) };
    let every_ns = (keys.number("every_ms", None, 0.001..=1e9)? * MS) as u64;
    let least = keys.number("least", None, 0.001..=1.0)?;
    keys.finish()?;
    Ok(Some(Changes { every_ns, least }))
}

fn late(table: &Keys<'_>) -> Result<Option<Late>, String> {
    let Some(keys) = table.table("late")? else { return Ok(None) };
    let part = keys.number("part", Some(1.0), 0.0..=1.0)?;
    let until_ns = keys.time_ns("until_ms", None, MS)?;
    keys.finish()?;
    Ok(Some(Late { part, until_ns }))
}

fn network(keys: &Keys<'_>) -> Result<Network, String> {
    let none = toml::Table::new();
    let own = keys.table("network")?;
    let table = own.unwrap_or_else(|| Keys::new("", &none));
    let mut levels: Vec<Level> = Vec::new();
    let link = link(&table)?;
    for inner in ["rack", "site"] {
        let Some(inside) = table.table(inner)? else { continue };
        let group = inside.whole("peers", None, 1..=MOST_PEERS)? as u32;
        if levels.last().is_some_and(|last| !group.is_multiple_of(last.group)) {
            return inside.wrong("peers", "a multiple of rack.peers");
        }
        levels.push(Level { group, link: self::link(&inside)? });
        inside.finish()?;
    }
    let delays = match table.table("delays")? {
        None => None,
        Some(inside) => {
            let delays = Delays {
                chance: inside.number("chance", Some(1.0), 0.0..=1.0)?,
                mean_ns: inside.time_ns("mean_us", None, US)?,
                heavy: inside.flag("heavy", false)?,
            };
            inside.finish()?;
            Some(delays)
        }
    };
    table.finish()?;
    Ok(Network { levels, link, delays })
}

/// A link; messages take 40 bytes plus the work they carry.
fn link(keys: &Keys<'_>) -> Result<Link, String> {
    let latency_ns = keys.time_ns("latency_us", Some(20.0), US)?;
    let bytes_per_ns = keys.number("mb_per_s", Some(1000.0), 0.001..=1e9)? * 1e-3;
    Ok(Link { latency_ns, bytes_per_ns })
}

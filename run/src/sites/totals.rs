//! [`SiteTotals`]: what a site has done, told to the root at the end.

use crate::activity::{Activity, COLUMNS, Phases};
use crate::outcome::{Balance, UnitReport};
use pleach_core::work::{Malformed, Pack, Reader};

/// What a site has done.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteTotals {
    /// The machine that it ran on.
    pub host: String,
    pub units: Vec<UnitReport>,
    pub balance: Balance,
    /// Certificates that it sent.
    pub commits: u64,
    /// The time from the order to its first node.
    pub lag_ns: u64,
    /// Nodes of work that it dropped, and others did again.
    pub wasted: u64,
}

/// At most this many steps of activity, or waiting times, are taken from another site.
const MOST: usize = 1 << 16;

fn pack_text(text: &str, out: &mut Vec<u8>) {
    text.as_bytes().to_vec().pack(out);
}

fn unpack_text(from: &mut Reader<'_>) -> Result<String, Malformed> {
    String::from_utf8(Pack::unpack(from)?).map_err(|_| Malformed::Range)
}

fn unpack_short(from: &mut Reader<'_>) -> Result<Vec<u64>, Malformed> {
    let list: Vec<u64> = Pack::unpack(from)?;
    if list.len() > MOST { Err(Malformed::Range) } else { Ok(list) }
}

fn micros(seconds: f64) -> u64 {
    (seconds * 1e6) as u64
}

fn seconds(micros: u64) -> f64 {
    micros as f64 * 1e-6
}

impl Pack for UnitReport {
    const LEAST: usize = 1;

    fn pack(&self, out: &mut Vec<u8>) {
        [&self.name, &self.mode, &self.kernel, &self.kernel_log]
            .into_iter()
            .for_each(|text| pack_text(text, out));
        self.counts.pack(out);
        let times = [self.busy_s, self.improve_s, self.idle_s].map(micros);
        let Phases { exchange_ns, copy_ns, wait_ns } = self.phases;
        (times, self.steals, self.power, [exchange_ns, copy_ns, wait_ns]).pack(out);
        self.trial.map_or(Vec::new(), |(explored, bounded)| vec![explored, bounded]).pack(out);
        self.opened_s.map_or(Vec::new(), |opened_s| vec![micros(opened_s)]).pack(out);
        self.activity.is_some().pack(out);
        if let Some(activity) = &self.activity {
            activity.step_ns.pack(out);
            activity.columns.iter().for_each(|list| list.pack(out));
        }
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut text = || unpack_text(from);
        let [name, mode, kernel, kernel_log] = [text()?, text()?, text()?, text()?];
        let counts = Pack::unpack(from)?;
        let (times, steals, power, phases): ([u64; 3], u64, u64, [u64; 3]) = Pack::unpack(from)?;
        let [exchange_ns, copy_ns, wait_ns] = phases;
        let [busy_s, improve_s, idle_s] = times.map(seconds);
        let trial = match unpack_short(from)?[..] {
            [] => None,
            [explored, bounded] => Some((explored, bounded)),
            _ => return Err(Malformed::Range),
        };
        let opened_s = match unpack_short(from)?[..] {
            [] => None,
            [opened] => Some(seconds(opened)),
            _ => return Err(Malformed::Range),
        };
        let activity = bool::unpack(from)?.then(|| unpack_activity(from)).transpose()?;
        Ok(Self {
            name,
            mode,
            kernel,
            kernel_log,
            trial,
            opened_s,
            counts,
            busy_s,
            phases: Phases { exchange_ns, copy_ns, wait_ns },
            improve_s,
            idle_s,
            steals,
            power,
            activity,
        })
    }
}

fn unpack_activity(from: &mut Reader<'_>) -> Result<Activity, Malformed> {
    let step_ns = u64::unpack(from)?;
    let mut columns: [Vec<u64>; COLUMNS] = Default::default();
    for column in &mut columns {
        *column = unpack_short(from)?;
    }
    let even = columns.iter().all(|column| column.len() == columns[0].len());
    if step_ns == 0 || !even { Err(Malformed::Range) } else { Ok(Activity { step_ns, columns }) }
}

impl Pack for Balance {
    const LEAST: usize = 8;

    fn pack(&self, out: &mut Vec<u8>) {
        let Balance { requests, served, refused, messages, moved_bytes, redundant, .. } = self;
        [*requests, *served, *refused, *messages, *moved_bytes, *redundant].pack(out);
        self.ending_ns.pack(out);
        self.steal_ns.pack(out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let [requests, served, refused, messages, moved_bytes, redundant]: [u64; 6] =
            Pack::unpack(from)?;
        let ending_ns = Pack::unpack(from)?;
        let steal_ns = unpack_short(from)?;
        Ok(Self {
            requests,
            served,
            refused,
            messages,
            moved_bytes,
            redundant,
            ending_ns,
            steal_ns,
            weights: Vec::new(),
        })
    }
}

impl Pack for SiteTotals {
    const LEAST: usize = 2;

    fn pack(&self, out: &mut Vec<u8>) {
        pack_text(&self.host, out);
        self.units.pack(out);
        self.balance.pack(out);
        (self.commits, self.lag_ns, self.wasted).pack(out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let host = unpack_text(from)?;
        let (units, balance) = Pack::unpack(from)?;
        let (commits, lag_ns, wasted) = Pack::unpack(from)?;
        Ok(Self { host, units, balance, commits, lag_ns, wasted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::Spell;

    #[test]
    fn accounts_survive_the_way() {
        let mut activity = Activity::default();
        let phases = Phases { exchange_ns: 5, copy_ns: 6, wait_ns: 7 };
        let (from_ns, busy_ns) = (3_000_000, 9_000_000);
        activity.add(&Spell { from_ns, busy_ns, nodes: 77, active: 0.5, phases });
        let unit = UnitReport {
            name: "gpu0".into(),
            mode: "explore".into(),
            kernel: "lowered".into(),
            kernel_log: "compiled: newer than the driver".into(),
            busy_s: 1.5,
            steals: 3,
            phases,
            trial: Some((1, 2)),
            opened_s: Some(0.25),
            activity: Some(activity),
            ..UnitReport::default()
        };
        let balance = Balance { requests: 4, steal_ns: vec![5, 6], ..Balance::default() };
        let totals = SiteTotals {
            host: "a".into(),
            units: vec![unit],
            balance,
            commits: 2,
            lag_ns: 8,
            wasted: 9,
        };
        let mut bytes = Vec::new();
        totals.pack(&mut bytes);
        let read = SiteTotals::unpack(&mut Reader::new(&bytes)).unwrap();
        assert_eq!(format!("{totals:?}"), format!("{read:?}"));
        for end in 0..bytes.len() {
            assert!(SiteTotals::unpack(&mut Reader::new(&bytes[..end])).is_err(), "{end}");
        }
    }
}

//! The encoding of the reports of units between processes.

use crate::activity::{Activity, COLUMNS, Phases};
use crate::outcome::{Balance, UnitReport};
use pleach_core::search::work::{Malformed, Pack, Reader};

/// The most steps of activity, or waiting times, accepted from another site.
const MOST: usize = 1 << 16;

/// Packs a text.
pub fn pack_text(text: &str, out: &mut Vec<u8>) {
    text.as_bytes().to_vec().pack(out);
}

/// Reads a text.
///
/// # Errors
/// If the bytes are not a text.
pub fn unpack_text(from: &mut Reader<'_>) -> Result<String, Malformed> {
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

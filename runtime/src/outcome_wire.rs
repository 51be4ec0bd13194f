//! The encoding of what workers recorded, between processes.

use crate::activity::{Activity, COLUMNS};
use crate::outcome::Balance;
use pleach_core::search::work::{Malformed, Pack, Reader};

/// The maximum number of steps of activity, or waiting times, that a site sends and accepts.
const MOST: usize = 1 << 16;

fn unpack_short(from: &mut Reader<'_>) -> Result<Vec<u64>, Malformed> {
    let list: Vec<u64> = Pack::unpack(from)?;
    if list.len() > MOST { Err(Malformed::Range) } else { Ok(list) }
}

impl Pack for Activity {
    const LEAST: usize = 1 + COLUMNS;

    fn pack(&self, out: &mut Vec<u8>) {
        self.step_ns.pack(out);
        self.columns.pack(out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let step_ns = u64::unpack(from)?;
        let mut columns: [Vec<u64>; COLUMNS] = Default::default();
        for column in &mut columns {
            *column = unpack_short(from)?;
        }
        let even = columns.iter().all(|column| column.len() == columns[0].len());
        if step_ns == 0 || !even { Err(Malformed::Range) } else { Ok(Self { step_ns, columns }) }
    }
}

impl Pack for Balance {
    const LEAST: usize = 8;

    fn pack(&self, out: &mut Vec<u8>) {
        let Balance { requests, served, refused, messages, moved_bytes, .. } = self;
        [*requests, *served, *refused, *messages, *moved_bytes].pack(out);
        self.ending_ns.pack(out);
        // Each worker keeps some thousands.
        self.steal_ns[..self.steal_ns.len().min(MOST)].to_vec().pack(out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let [requests, served, refused, messages, moved_bytes]: [u64; 5] = Pack::unpack(from)?;
        let ending_ns = Pack::unpack(from)?;
        let steal_ns = unpack_short(from)?;
        Ok(Self {
            requests,
            served,
            refused,
            messages,
            moved_bytes,
            ending_ns,
            steal_ns,
            weights: Vec::new(),
        })
    }
}

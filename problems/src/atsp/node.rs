//! [`Node`]: a set of tours as it is searched, stored and sent.

use super::arcs::Allowed;
use super::ascent::MOST_MULTIPLIER;
use super::instance::MOST_CITIES;
use pleach_core::search::work::{Malformed, Pack, Reader};

/// A set of tours: the arcs they may use, with multipliers and successors to start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub(super) allowed: Allowed,
    pub(super) multipliers: Vec<i64>,
    pub(super) next: Vec<u16>,
    /// Whether the node was counted before and then left for later.
    pub(super) deferred: bool,
}

impl Pack for Node {
    const LEAST: usize = 4;

    fn pack(&self, out: &mut Vec<u8>) {
        self.next.pack(out);
        self.multipliers.pack(out);
        self.allowed.bits().to_vec().pack(out);
        u8::from(self.deferred).pack(out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let next = Vec::<u16>::unpack(from)?;
        let multipliers = Vec::<i64>::unpack(from)?;
        let bits = Vec::<u64>::unpack(from)?;
        let deferred = match u8::unpack(from)? {
            0 => false,
            1 => true,
            _ => return Err(Malformed::Range),
        };
        let within = |&multiplier: &i64| multiplier.unsigned_abs() <= MOST_MULTIPLIER as u64;
        let few = multipliers.len() == next.len() && multipliers.iter().all(within);
        let cities = (2..=MOST_CITIES).contains(&next.len()) && few;
        let allowed = if cities { Allowed::of(next.len(), bits) } else { None };
        let allowed = allowed.ok_or(Malformed::Range)?;
        Ok(Self { allowed, multipliers, next, deferred })
    }
}

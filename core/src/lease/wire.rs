//! Progress reports as bytes.
//!
//! A progress report is written top down: a lease, what is known of it, the number of leases within it, and then these.
//! Reading and writing are loops, not recursive functions, so that no input decides how much stack they use.

use super::name::{Lease, SiteId};
use super::progress_report::{ProgressReport, Rec};
use crate::search::work::{Malformed, Pack, Reader};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The deepest nesting of leases that is read. Sites come nowhere near it: a holding without open work does not
/// stay for long.
pub const MOST_LEVELS: usize = 1000;

/// The maximum number of leases listed in what is read, since each takes many times the memory of its bytes. It allows
/// for as many sites as there can be, each with one lease; sites hold few, and a long progress report is trimmed.
pub const MOST_LEASES: usize = 1 << 16;

/// What precedes the leases within a lease: its name, its holder, whether it was acknowledged, the work as given,
/// and what is done and open if a progress report has come. Only then do leases within it follow.
type Head<C> = (Lease, SiteId, bool, C, Option<C>);

/// The leases of a progress report that are still being read.
struct UnreadLeases<C> {
    left: usize,
    subs: BTreeMap<Lease, Rec<C>>,
}

impl<C: Pack> UnreadLeases<C> {
    fn begin(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let left = usize::unpack(from)?;
        let least = Head::<C>::LEAST;
        if left > from.left() / least {
            return Err(Malformed::Short);
        }
        Ok(Self { left, subs: BTreeMap::new() })
    }
}

/// Writes the leases passed on, with all leases within them.
pub(crate) fn pack_subs<C: Pack>(subs: &BTreeMap<Lease, Rec<C>>, out: &mut Vec<u8>) {
    subs.len().pack(out);
    let mut levels = vec![subs.iter()];
    while let Some(level) = levels.last_mut() {
        let Some((lease, rec)) = level.next() else {
            levels.pop();
            continue;
        };
        pack_head(*lease, rec, out);
        if let Some(latest) = &rec.latest {
            latest.subs.len().pack(out);
            levels.push(latest.subs.iter());
        }
    }
}

fn pack_head<C: Pack>(lease: Lease, rec: &Rec<C>, out: &mut Vec<u8>) {
    (lease, rec.holder, rec.acked).pack(out);
    rec.given.pack(out);
    rec.latest.is_some().pack(out);
    if let Some(latest) = &rec.latest {
        latest.content.pack(out);
    }
}

/// Reads the leases passed on. No lease may be listed twice or within itself.
pub(crate) fn unpack_subs<C: Pack>(
    from: &mut Reader<'_>,
) -> Result<BTreeMap<Lease, Rec<C>>, Malformed> {
    let mut names = Vec::new();
    let mut above: Vec<(UnreadLeases<C>, Head<C>)> = Vec::new();
    let mut level = UnreadLeases::begin(from)?;
    let subs = loop {
        if level.left > 0 {
            level.left -= 1;
            let head: Head<C> = Pack::unpack(from)?;
            let lease = head.0;
            // In ascending order, so that there is one encoding.
            let ascends = level.subs.last_key_value().is_none_or(|(&last, _)| last < lease);
            if !ascends || above.len() == MOST_LEVELS || names.len() > MOST_LEASES {
                return Err(Malformed::Range);
            }
            names.push(lease);
            if let (_, holder, acked, given, None) = head {
                let given = Arc::new(given);
                level.subs.insert(lease, Rec { holder, acked, given, latest: None });
            } else {
                above.push((std::mem::replace(&mut level, UnreadLeases::begin(from)?), head));
            }
        } else {
            let Some((outer, (lease, holder, acked, given, content))) = above.pop() else {
                break level.subs;
            };
            let subs = level.subs;
            let latest = content.map(|content| Arc::new(ProgressReport { content, subs }));
            let given = Arc::new(given);
            level = outer;
            level.subs.insert(lease, Rec { holder, acked, given, latest });
        }
    };
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Malformed::Range);
    }
    Ok(subs)
}

impl<C: Pack> Pack for ProgressReport<C> {
    const LEAST: usize = C::LEAST + 1;

    fn pack(&self, out: &mut Vec<u8>) {
        self.content.pack(out);
        pack_subs(&self.subs, out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self { content: C::unpack(from)?, subs: unpack_subs(from)? })
    }
}

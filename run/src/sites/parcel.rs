//! [`Parcel`]: what the processes of a search write to one another.

use super::account::Account;
use crate::control::Stop;
use pleach_core::tree::{Counts, Solution};
use pleach_core::wire::can_grow;
use pleach_core::work::{Malformed, Pack, Reader};

/// What one site writes to another about one search.
#[derive(Clone, Debug)]
pub(crate) enum Parcel {
    /// From the root: a search begins.
    Begin(Order),
    /// Between two gateways.
    Gateway(Vec<u8>),
    /// To the root, now and then: how far the sender is.
    Sighting(Sighting),
    /// To the root: the search should stop, for this reason.
    Wish(Stop),
    /// The sender ends, for this reason: whoever did the same would end as well.
    Failed(String),
    /// To the root, at the end: what the sender did.
    Account(Account),
    /// From the root: no search follows.
    Dismissed,
    /// About a loop.
    Loop(Vec<u8>),
    /// To the root: the sender takes part in nothing more.
    Left,
}

/// A search that a site is to take part in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Order {
    /// The number of the run, which is that of its file. A run with another value to beat has another one.
    pub run: u64,
    /// A number that the root has drawn for this search: after a restart it is another one.
    pub root: u64,
    /// The print of the problem.
    pub fingerprint: u64,
    /// The score that solutions must beat although no solution of that score is known.
    pub cutoff: i64,
    /// The best solution that is known.
    pub best: Option<Solution>,
    /// Whether there is a limit of nodes.
    pub limited: bool,
    /// Whether heuristics run beside the search.
    pub improve: bool,
    /// Whether to record what the units do over time.
    pub trace: bool,
    /// What the search is, in words of whoever began it.
    pub about: Vec<u8>,
}

impl Order {
    /// Whether a process that takes part in the run of the other order can continue with what it has: it has
    /// pruned by no value that this run does not know, and counts nodes by the same limit.
    pub(crate) fn continues(&self, other: &Self) -> bool {
        (self.run, self.fingerprint, self.limited) == (other.run, other.fingerprint, other.limited)
    }
}

pleach_core::pack_struct!(Order {
    run: u64,
    root: u64,
    fingerprint: u64,
    cutoff: i64,
    best: Option<Solution>,
    limited: bool,
    improve: bool,
    trace: bool,
    about: Vec<u8>,
});

/// No reason for a failure is longer.
const MOST_TEXT: usize = 1000;

/// No site has more units.
const MOST_UNITS: u32 = 1 << 14;

/// How far a site is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sighting {
    /// What its units have counted.
    pub counts: Counts,
    /// How many units it has, and how many of them have work.
    pub units: u32,
    pub busy: u32,
    /// Whether one of them is a device that explores: its nodes do not tell which part of the tree they are.
    pub blind: bool,
}

pleach_core::pack_struct!(Sighting { counts: Counts, units: u32, busy: u32, blind: bool });

impl Parcel {
    /// The parcel as a packet about a search, which has this number.
    pub fn to_bytes(&self, search: u64) -> Vec<u8> {
        let mut out = Vec::new();
        search.pack(&mut out);
        match self {
            Parcel::Begin(order) => {
                0u8.pack(&mut out);
                order.pack(&mut out);
            }
            Parcel::Gateway(bytes) => {
                1u8.pack(&mut out);
                out.extend_from_slice(bytes);
            }
            Parcel::Sighting(sighting) => {
                2u8.pack(&mut out);
                sighting.pack(&mut out);
            }
            Parcel::Wish(why) => (3u8, *why as u8).pack(&mut out),
            Parcel::Failed(why) => (4u8, why.as_bytes().to_vec()).pack(&mut out),
            Parcel::Account(account) => {
                5u8.pack(&mut out);
                account.pack(&mut out);
            }
            Parcel::Dismissed => 6u8.pack(&mut out),
            Parcel::Left => 8u8.pack(&mut out),
            Parcel::Loop(bytes) => {
                7u8.pack(&mut out);
                out.extend_from_slice(bytes);
            }
        }
        out
    }

    /// Reads a packet: the number of the search, and the parcel.
    pub fn from_bytes(bytes: &[u8]) -> Result<(u64, Self), Malformed> {
        let mut from = Reader::new(bytes);
        let search = u64::unpack(&mut from)?;
        let parcel = match u8::unpack(&mut from)? {
            0 => Parcel::Begin(Pack::unpack(&mut from)?),
            1 => {
                let left = from.left();
                Parcel::Gateway(from.take(left)?.to_vec())
            }
            2 => {
                let sighting: Sighting = Pack::unpack(&mut from)?;
                if !can_grow(&sighting.counts) || sighting.units > MOST_UNITS {
                    return Err(Malformed::Range);
                }
                Parcel::Sighting(sighting)
            }
            3 => Parcel::Wish(Stop::of(u8::unpack(&mut from)?).ok_or(Malformed::Range)?),
            4 => {
                let text: Vec<u8> = Pack::unpack(&mut from)?;
                let text = String::from_utf8(text).map_err(|_| Malformed::Range)?;
                // It is shown on a terminal, in one line.
                Parcel::Failed(text.chars().filter(|it| !it.is_control()).take(MOST_TEXT).collect())
            }
            5 => {
                let account: Account = Pack::unpack(&mut from)?;
                let units = &account.units;
                if units.len() > MOST_UNITS as usize || units.iter().any(|it| !can_grow(&it.counts))
                {
                    return Err(Malformed::Range);
                }
                Parcel::Account(account)
            }
            6 => Parcel::Dismissed,
            7 => {
                let left = from.left();
                Parcel::Loop(from.take(left)?.to_vec())
            }
            8 => Parcel::Left,
            _ => return Err(Malformed::Range),
        };
        from.finish()?;
        Ok((search, parcel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parcels_survive_the_way() {
        let counts = Counts { branched: 7, bounded: 30, total: 2, depth: 4 };
        let best = Some(Solution { score: -5, plan: vec![1, 2] });
        let order =
            Order { run: 7, best, limited: true, about: b"{}".to_vec(), ..Order::default() };
        let parcels = [
            Parcel::Begin(order),
            Parcel::Gateway(vec![1, 2, 3]),
            Parcel::Sighting(Sighting { counts, units: 3, busy: 2, blind: true }),
            Parcel::Wish(Stop::Memory),
            Parcel::Failed("a bound is wrong".into()),
            Parcel::Account(Account::default()),
            Parcel::Dismissed,
            Parcel::Loop(vec![4, 5]),
            Parcel::Left,
        ];
        for parcel in parcels {
            let (search, read) = Parcel::from_bytes(&parcel.to_bytes(9)).unwrap();
            assert_eq!((search, format!("{read:?}")), (9, format!("{parcel:?}")));
        }
    }

    /// What a site said of its failure used to reach the terminal with its escapes.
    #[test]
    fn texts_of_others_are_one_line_of_plain_characters() {
        let text = format!("\u{1b}[2Jgone\nfor good{}", "!".repeat(5000));
        let (_, read) = Parcel::from_bytes(&Parcel::Failed(text).to_bytes(1)).unwrap();
        let Parcel::Failed(read) = read else { panic!("{read:?}") };
        assert!(read.starts_with("[2Jgonefor good!!!") && read.len() == MOST_TEXT, "{read}");
    }

    #[test]
    fn what_is_no_parcel_is_refused() {
        for bytes in [&[][..], &[0], &[0, 9], &[0, 3, 99], &[0, 3], &[0, 6, 1], &[0, 4, 1, 0xff]] {
            assert!(Parcel::from_bytes(bytes).is_err(), "{bytes:?}");
        }
    }
}

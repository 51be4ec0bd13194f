//! Laws of packing and pools, tested with generated values.

use super::*;
use crate::search::laws::pack_law;
use oorandom::Rand64;
use proptest::prelude::*;

proptest! {
    #[test]
    fn integers_round_trip(a: u64, b: i64, c: u128, d: i128, e: u8, f: i8, seed: u64) {
        let rng = &mut Rand64::new(u128::from(seed));
        pack_law(&(a, b), rng);
        pack_law(&(c, d), rng);
        pack_law(&(e, f, e % 2 == 0), rng);
        pack_law(&(a as u16, b as i16, a as u32, b as i32, a as usize, b as isize), rng);
    }

    #[test]
    fn collections_round_trip(a: Vec<u16>, b: [i64; 3], c: Vec<(u8, bool)>, seed: u64) {
        let rng = &mut Rand64::new(u128::from(seed));
        pack_law(&a, rng);
        pack_law(&b, rng);
        pack_law(&(c, b), rng);
        // A range may be empty because its end comes first.
        pack_law(&(b[0]..b[1]), rng);
    }

    #[test]
    fn any_bytes_give_a_value_or_an_error(bytes: Vec<u8>) {
        if let Ok(pool) = Pool::<(u32, Vec<i16>)>::from_bytes(&bytes) {
            prop_assert!(pool.len() <= bytes.len());
            prop_assert_eq!(&pool.to_work().bytes, &bytes);
        }
        let _ = Vec::<u128>::unpack(&mut Reader::new(&bytes));
    }

    #[test]
    fn pools_keep_every_node(depths in prop::collection::vec(0u32..9, 0..60), share in -0.5f64..1.5) {
        let whole = pool(&depths);
        let read = Pool::from_bytes(&whole.to_work().bytes);
        prop_assert_eq!(read.as_ref(), Ok(&whole));

        let mut kept = whole.clone();
        let Some(given) = kept.split(share) else {
            prop_assert!(depths.len() < 2);
            return Ok(());
        };
        prop_assert!(!given.is_empty() && !kept.is_empty());
        prop_assert_eq!(given.len(), portion(share, depths.len()));
        for depth in 0..9 {
            let at = |pool: &Pool<u64>| {
                pool.entries().iter().filter(|entry| entry.depth == depth).count()
            };
            // Every depth gives its share, up to rounding.
            let wanted = share.clamp(0.0, 1.0) * at(&whole) as f64;
            prop_assert!((at(&given) as f64) >= wanted.floor() - 1.0, "depth {}", depth);
        }
        kept.append(given);
        prop_assert!(kept.entries().is_sorted_by_key(|entry| entry.depth));
        let numbers = |pool: &Pool<u64>| {
            let mut all: Vec<u64> = pool.entries().iter().map(|entry| entry.node).collect();
            all.sort_unstable();
            all
        };
        prop_assert_eq!(numbers(&kept), numbers(&whole));
    }
}

/// A pool with one numbered node at each of these depths.
fn pool(depths: &[u32]) -> Pool<u64> {
    let entry = |(number, &depth): (u64, &u32)| Entry {
        bound: [i64::MIN, -1, 0, 5, i64::MAX][number as usize % 5],
        depth,
        share: 0.25,
        node: number,
    };
    Pool::new((0..).zip(depths).map(entry).collect())
}

#[test]
fn a_length_beyond_the_bytes_allocates_nothing() {
    let mut bytes = Vec::new();
    (u64::MAX / 2).pack(&mut bytes);
    assert_eq!(Vec::<u8>::unpack(&mut Reader::new(&bytes)), Err(Malformed::Short));
    let mut pool = vec![0];
    (u64::MAX / 2).pack(&mut pool);
    assert_eq!(Pool::<u8>::from_bytes(&pool), Err(Malformed::Short));
}

#[test]
fn portions_are_never_empty_or_everything() {
    for (share, n, wanted) in [
        (0.5, 0, 0),
        (0.5, 1, 0),
        (0.5, 2, 1),
        (0.0, 10, 1),
        (1e-9, 10, 1),
        (0.25, 10, 3),
        (1.0, 10, 9),
        (f64::NAN, 10, 1),
        (f64::INFINITY, 10, 9),
    ] {
        assert_eq!(portion(share, n), wanted, "{share} of {n}");
    }
}

//! Laws of intervals: checked against plain integers while these suffice, and for consistency
//! beyond.

use super::interval::{Interval, Point, leaves, minus, part, plus, point, portion, trim};
use super::*;
use oorandom::Rand64;
use proptest::prelude::*;

fn factorial(n: usize) -> u128 {
    (1..=n as u128).product()
}

/// A point as a number.
fn number(n: usize, point: &[u16]) -> u128 {
    point.iter().enumerate().map(|(d, &digit)| u128::from(digit) * factorial(n - d - 1)).sum()
}

fn between(n: usize, begin: u128, end: u128, bound: i64) -> Interval {
    Interval { begin: point(n, begin), end: point(n, end), bound }
}

/// Splits off a share of the leaves, from the end.
fn split(interval: &mut Interval, n: usize, share: f64) -> Option<Interval> {
    let given = portion(n, &interval.length(n), share)?;
    interval.split_leaves(n, &given)
}

/// A random point of any depth.
fn random_point(rng: &mut Rand64, n: usize) -> Point {
    let digits = rng.rand_range(0..n as u64 + 1) as usize;
    let mut point: Point =
        (0..digits).map(|depth| rng.rand_range(0..(n - depth) as u64) as u16).collect();
    trim(&mut point);
    point
}

fn random_interval(rng: &mut Rand64, n: usize) -> Interval {
    loop {
        let mut ends = [random_point(rng, n), random_point(rng, n)];
        ends.sort();
        let [begin, mut end] = ends;
        if rng.rand_range(0..8) == 0 {
            end = vec![n as u16];
        }
        if begin < end {
            let bound = [i64::MIN, 0, 7, 2178][rng.rand_range(0..4) as usize];
            return Interval { begin, end, bound };
        }
    }
}

#[test]
fn points_count_as_numbers_do() {
    for n in 1..=6 {
        let all = factorial(n);
        for a in 0..=all {
            let x = point(n, a);
            assert_eq!(number(n, &x), a);
            assert_eq!(leaves(n, &x), a as f64);
            assert!((part(n, &x) - a as f64 / all as f64).abs() < 1e-12);
            assert!(a == 0 || x > point(n, a - 1), "{a} of {n}");
        }
        let some = (0..=all).step_by(1 + all as usize / 100);
        for (a, b) in some.clone().flat_map(|a| some.clone().map(move |b| (a.max(b), a.min(b)))) {
            let (x, y) = (point(n, a), point(n, b));
            assert_eq!(minus(n, &x, &y), point(n, a - b));
            assert_eq!(plus(n, &point(n, a - b), &y), x);
        }
    }
}

/// Subtracting intervals agrees with subtracting sets of leaf numbers.
#[test]
fn without_agrees_with_sets_of_numbers() {
    let n = 4;
    let all = factorial(n);
    let rng = &mut Rand64::new(3);
    for _ in 0..2000 {
        let mut some = || {
            let mut ends: Vec<u128> =
                (0..4).map(|_| u128::from(rng.rand_range(0..all as u64 + 1))).collect();
            ends.sort_unstable();
            let pairs = [(ends[0], ends[1]), (ends[2], ends[3])];
            let parts = pairs.into_iter().filter(|(from, to)| from < to);
            let mut set = Intervals::none(n);
            for (from, to) in parts {
                set.append(Intervals::one(n, between(n, from, to, 7))).unwrap();
            }
            set
        };
        let (here, there) = (some(), some());
        let left = here.without(&there);
        let has = |set: &Intervals, leaf: u128| {
            let leaf = point(n, leaf);
            set.parts().iter().any(|part| part.begin <= leaf && leaf < part.end)
        };
        for leaf in 0..all {
            assert_eq!(has(&left, leaf), has(&here, leaf) && !has(&there, leaf), "{leaf}");
        }
        // The result is in canonical form.
        assert_eq!(Intervals::from_bytes(n, &left.to_work().bytes), Ok(left));
    }
}

#[test]
fn splits_are_exact_while_numbers_are_small() {
    for n in 2..=5 {
        let all = factorial(n);
        for (begin, end) in (0..all).flat_map(|a| (a + 1..=all).map(move |b| (a, b))) {
            for share in [0.0, 0.1, 1.0 / 3.0, 0.5, 0.9, 1.0, f64::NAN, 7.0] {
                let mut kept = between(n, begin, end, 5);
                let length = (end - begin) as usize;
                let wanted = super::portion(share, length) as u128;
                let given = split(&mut kept, n, share);
                assert_eq!(given.is_some(), length >= 2);
                let Some(given) = given else { continue };
                assert_eq!(given, between(n, end - wanted, end, 5), "{share} of {begin}..{end}");
                assert_eq!(kept, between(n, begin, end - wanted, 5));
                assert!(kept.merge(&given));
                assert_eq!(kept, between(n, begin, end, 5));
            }
        }
    }
}

proptest! {
    #[test]
    fn large_splits_come_within_a_percent(
        n in 2usize..=2000, seed: u64, share in -0.1f64..1.1, small in 0i32..40,
    ) {
        let rng = &mut Rand64::new(u128::from(seed));
        let n = if seed % 2 == 0 { 2 + n % 40 } else { n };
        let share = share * 0.25f64.powi(small.max(20) - 20);
        let whole = random_interval(rng, n);
        let mut kept = whole.clone();
        let length = whole.length(n);
        prop_assert_eq!(plus(n, &whole.begin, &length), whole.end.clone());
        let Some(given) = split(&mut kept, n, share) else {
            prop_assert!(leaves(n, &length) < 2.0);
            return Ok(());
        };
        prop_assert!(given.valid(n) && kept.valid(n));
        prop_assert_eq!(&kept.end, &given.begin);
        prop_assert_eq!(plus(n, &kept.length(n), &given.length(n)), length.clone());
        // Long numbers are compared as fractions of the whole tree, which cannot overflow.
        let (wanted, got) = if n < 150 {
            (share * leaves(n, &length), leaves(n, &given.length(n)))
        } else {
            (share * part(n, &length), part(n, &given.length(n)))
        };
        let most = if n < 150 { leaves(n, &length) - 1.0 } else { f64::MAX };
        if (0.0..1.0).contains(&share) && (n < 150 || wanted > 1e-280) {
            let wanted = if n < 150 { wanted.max(1.0).min(most) } else { wanted };
            let off = if n < 150 { 0.5 } else { 0.0 };
            prop_assert!((got - wanted).abs() <= 0.01 * wanted + off, "{} for {}", got, wanted);
        }
        prop_assert!(kept.merge(&given));
        prop_assert_eq!(kept, whole);
    }

    #[test]
    fn lists_give_their_share_and_lose_nothing(n in 3usize..60, seed: u64, share in 0.0f64..1.0) {
        let rng = &mut Rand64::new(u128::from(seed));
        let mut list = Intervals::none(n);
        for _ in 0..rng.rand_range(1..8) {
            let _ = list.append(Intervals::one(n, random_interval(rng, n)));
        }
        let whole = list.clone();
        prop_assert_eq!(Intervals::from_bytes(n, &list.to_work().bytes), Ok(list.clone()));
        let size = list.size();
        let Some(given) = list.split(share) else {
            prop_assert!(size < 2.0);
            return Ok(());
        };
        prop_assert!(!given.is_empty() && !list.is_empty());
        prop_assert!((given.size() - share * size).abs() <= 0.01 * share * size + 1.0);
        prop_assert!((list.size() + given.size() - size).abs() <= 1e-9 * size);
        prop_assert!((list.part() + given.part() - whole.part()).abs() < 1e-9);
        list.append(given).expect("given and kept work never overlap");
        prop_assert_eq!(list, whole);
    }

    #[test]
    fn packed_lists_have_one_encoding(n in 1usize..300, seed: u64) {
        let rng = &mut Rand64::new(u128::from(seed));
        let mut list = Intervals::none(n);
        for _ in 0..rng.rand_range(1..6) {
            let _ = list.append(Intervals::one(n, random_interval(rng, n)));
        }
        let good = list.to_work().bytes;
        for _ in 0..30 {
            let mut bytes = good.clone();
            let place = rng.rand_range(0..bytes.len() as u64) as usize;
            match rng.rand_range(0..4) {
                0 => bytes[place] = rng.rand_u64() as u8,
                1 => bytes[place] ^= 1 << rng.rand_range(0..8),
                2 => bytes.truncate(place),
                _ => bytes.extend_from_within(..place),
            }
            if let Ok(read) = Intervals::from_bytes(n, &bytes) {
                prop_assert_eq!(read.to_work().bytes, bytes);
                prop_assert!(read.parts().iter().all(|interval| interval.valid(n)));
            }
        }
    }

    #[test]
    fn any_bytes_are_intervals_or_an_error(bytes: Vec<u8>, n in 1usize..30) {
        if let Ok(read) = Intervals::from_bytes(n, &bytes) {
            prop_assert_eq!(read.to_work().bytes, bytes);
        }
    }
}

#[test]
fn an_interval_of_twenty_is_packed_small() {
    let rng = &mut Rand64::new(5);
    for _ in 0..1000 {
        let work = Intervals::one(20, random_interval(rng, 20)).to_work();
        assert!(work.bytes.len() <= 64, "{work:?}");
    }
    let all = 2_432_902_008_176_640_000;
    let widest = Intervals::one(20, between(20, 1, all - 1, i64::MAX));
    assert!(widest.to_work().bytes.len() <= 64);
}

#[test]
fn noncanonical_intervals_are_refused() {
    let n = 5;
    let list = |parts: &[(u128, u128, i64)]| -> Vec<u8> {
        let one = |&(a, b, bound)| Intervals::one(n, between(n, a, b, bound)).to_work().bytes;
        parts.iter().flat_map(one).collect()
    };
    let read = |bytes: &[u8]| Intervals::from_bytes(n, bytes);
    assert!(read(&list(&[(0, 10, 1), (10, 20, 2), (30, 120, 2)])).is_ok());
    for wrong in [
        &[(0, 10, 1), (10, 20, 1)][..],
        &[(0, 10, 1), (9, 20, 2)],
        &[(10, 20, 1), (0, 5, 1)],
        &[(7, 7, 1)],
        &[(8, 7, 1)],
    ] {
        assert_eq!(read(&list(wrong)), Err(Malformed::Range), "{wrong:?}");
    }
    // No bound; then the shared digits, the rest of `begin`, the rest of `end`.
    assert!(read(&[0, 1, 2, 0, 1, 1]).is_ok());
    for wrong in [
        &[0, 0, 0, 1, 6][..],            // after the last leaf
        &[0, 0, 0, 2, 5, 1],             // the same
        &[0, 0, 1, 5, 1, 5],             // empty: begins where it ends
        &[0, 0, 2, 1, 4, 1, 2],          // a digit too large
        &[0, 0, 2, 1, 0, 1, 2],          // a trailing zero
        &[0, 0, 1, 1, 2, 1, 2],          // a digit that should be shared
        &[0, 0, 0, 6, 1, 1, 1, 1, 0, 1], // more digits than n
    ] {
        assert_eq!(read(wrong), Err(Malformed::Range), "{wrong:?}");
    }
    assert_eq!(read(&[0, 0, 0, 1]), Err(Malformed::Short));
    let mut overlapping = Intervals::one(n, between(n, 3, 9, 0));
    let before = overlapping.clone();
    assert!(overlapping.append(Intervals::one(n, between(n, 8, 12, 0))).is_err());
    assert_eq!(overlapping, before);
}

#[test]
fn a_portion_is_never_empty_or_everything() {
    for n in [3, 20, 30, 200] {
        let all = vec![n as u16];
        for share in [0.0, 1e-300, 0.3, 1.0, 9.0, f64::NAN, f64::INFINITY] {
            let given = portion(n, &all, share).expect("more than one leaf");
            assert!(!given.is_empty() && given < all, "{share} of {n}");
        }
    }
    assert_eq!(portion(1, &[1], 0.5), None);
}

#[test]
fn names_of_kinds_are_read_back() {
    for kind in Nodes::ALL {
        assert_eq!(Nodes::parse(&kind.to_string()), Ok(kind));
    }
    assert!(Nodes::parse("leaves").is_err());
}

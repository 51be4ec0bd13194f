//! Sealed bytes: only what was sealed is read back.

use super::*;
use crate::lease::gateway::samples;
use crate::search::laws::pack_law;
use crate::search::tree::{Counts, Solution};
use crate::wire::checkpoint::Checkpoint;
use oorandom::Rand64;
use std::sync::Arc;

fn checkpoint() -> Checkpoint {
    let piece = |n: u8| Work { size: f64::from(n), least_bound: i64::MIN, bytes: vec![n; 99] };
    Checkpoint {
        fingerprint: 77,
        run: 1 << 63,
        about: "solve flowshop ta021".into(),
        elapsed_ns: 12_345_678_901,
        counts: Counts {
            branched: 5,
            bounded: 1 << 40,
            total: 1 << 100,
            depth: 20,
            tally: vec![0, 1 << 100],
        },
        best: 2297,
        solution: Some(Solution { score: 2298, solution: (0..20).collect() }),
        pieces: (1..4).map(piece).collect(),
        ..Checkpoint::default()
    }
}

#[test]
fn a_checkpoint_survives_a_round_trip() {
    let whole = checkpoint();
    assert_eq!(Checkpoint::from_bytes(&whole.to_bytes()), Ok(whole));
}

#[test]
fn each_kind_of_damage_is_named() {
    let bytes = checkpoint().to_bytes();
    let with = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        Checkpoint::from_bytes(&bytes).unwrap_err()
    };
    assert_eq!(with(0, b'x'), Unreadable::Other);
    for format in [FORMAT - 1, FORMAT + 1] {
        assert_eq!(with(4, format), Unreadable::Format(format));
    }
    assert_eq!(with(40, !bytes[40]), Unreadable::Seal);
    let n = bytes.len();
    let cut = Checkpoint::from_bytes(&bytes[..n - 1]).unwrap_err();
    assert_eq!(cut, Unreadable::Length(n as u64 - 1, n as u64));
    let longer = Checkpoint::from_bytes(&[&bytes[..], &[0]].concat()).unwrap_err();
    assert_eq!(longer, Unreadable::Length(n as u64 + 1, n as u64));
    assert_eq!(Checkpoint::from_bytes(b"n m\n20 20\n"), Err(Unreadable::Other));
    assert_eq!(Checkpoint::from_bytes(b""), Err(Unreadable::Other));
}

#[test]
fn every_damaged_byte_is_noticed() {
    let bytes = checkpoint().to_bytes();
    for at in HEAD..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        assert_eq!(Checkpoint::from_bytes(&damaged), Err(Unreadable::Seal), "byte {at}");
    }
}

/// A checkpoint that lists leases of other sites.
fn shared(rng: &mut Rand64) -> Checkpoint {
    let part = samples::progress_report(rng, &mut 0, 4);
    checkpoint().with_progress_report(&part)
}

#[test]
fn a_checkpoint_lists_the_leases_of_others() {
    let rng = &mut Rand64::new(3);
    for _ in 0..100 {
        let whole = shared(rng);
        assert_eq!(Checkpoint::from_bytes(&whole.to_bytes()), Ok(whole.clone()));
        pack_law(&Checkpoint { fingerprint: 0, ..whole.clone() }, rng);
        assert_eq!(checkpoint().with_progress_report(&whole.progress_report()), whole);
    }
}

#[test]
fn flattening_takes_over_all_leases() {
    let rng = &mut Rand64::new(4);
    let (mut readable, mut refused) = (0, 0);
    for _ in 0..900 {
        let whole = shared(rng);
        let part = whole.progress_report();
        let contents = || {
            let nested = part.nested().map(|(_, rec)| rec.content());
            std::iter::once(&part.content).chain(nested)
        };
        let sum = |number: fn(&Counts) -> u64| -> u128 {
            contents().map(|content| u128::from(number(&content.done))).sum()
        };
        let (branched, bounded) = (sum(|it| it.branched), sum(|it| it.bounded));
        let Ok(flattened) = whole.flattened() else {
            assert!(branched.max(bounded) > u128::from(u64::MAX / 2));
            refused += 1;
            continue;
        };
        readable += 1;
        assert!(flattened.subs.is_empty());
        assert_eq!(u128::from(flattened.counts.branched), branched);
        assert_eq!(u128::from(flattened.counts.bounded), bounded);
        let totals = contents().map(|content| content.done.total);
        assert_eq!(flattened.counts.total, totals.sum::<u128>());
        let tallies = contents().flat_map(|content| &content.done.tally);
        assert_eq!(flattened.counts.tally.iter().sum::<u128>(), tallies.sum());
        let open = contents().flat_map(|content| &content.open);
        let mut pieces: Vec<_> = open.map(|piece| piece.bytes.clone()).collect();
        let mut all: Vec<_> = flattened.pieces.iter().map(|piece| piece.bytes.clone()).collect();
        pieces.sort_unstable();
        all.sort_unstable();
        assert_eq!(all, pieces);
        assert_eq!(flattened.clone().flattened(), Ok(flattened));
    }
    assert!(readable > 10 && refused > 10, "{readable} flattened, {refused} refused");
    assert_eq!(checkpoint().flattened(), Ok(checkpoint()));
    // Three halves overflow.
    let mut part = samples::tower(2);
    let none = Counts::default();
    let half = Counts { total: u128::MAX / 2, ..Counts::default() };
    let mut with = |outer, inner| {
        part.content.done = Counts { total: u128::MAX / 2, ..Counts::default() };
        for (at, done) in [outer, inner].into_iter().enumerate() {
            let mut level = &mut part;
            for _ in 0..=at {
                let rec = level.subs.values_mut().next().unwrap();
                level = Arc::make_mut(rec.latest.as_mut().unwrap());
            }
            level.content.done = done;
        }
        checkpoint().with_progress_report(&part).flattened().map(|whole| whole.counts)
    };
    assert_eq!(with(none.clone(), none.clone()), Ok(half.clone()));
    assert_eq!(with(half.clone(), half), Err(Malformed::Range));
    assert_eq!(with(none.clone(), Counts { branched: u64::MAX, ..none }), Err(Malformed::Range));
}

#[test]
fn the_seal_distinguishes_lengths_and_positions() {
    let mut seen = std::collections::HashSet::new();
    for length in 0..40 {
        assert!(seen.insert(word_hash(&vec![0; length])), "{length} zeros");
        for at in 0..length {
            let mut bytes = vec![0; length];
            bytes[at] = 1;
            assert!(seen.insert(word_hash(&bytes)), "{length} bytes, a one at {at}");
        }
    }
}

//! Envelopes: what was sealed is read back, and nothing else is.

use super::*;
use crate::balance::late::Recall;
use crate::checkpoint::Checkpoint;
use crate::laws::pack_law;
use oorandom::Rand64;

/// One message of each kind.
fn messages(rng: &mut Rand64) -> Vec<Envelope> {
    let mut number = || rng.rand_u64() >> rng.rand_range(0..64);
    let ticket = Ticket { giver: number() as u32, number: number() };
    let epoch = number();
    let work = Work { size: number() as f64, least_bound: -3, bytes: vec![7; 40] };
    let piece = work.clone();
    let said = |message| Envelope { from: 3, message, work: None };
    vec![
        said(Message::Ask { power: Power(number()), units: 7, waits: true }),
        said(Message::Unpark),
        said(Message::Pass { thief: 9, power: Power(number()) }),
        said(Message::Passed { served: true, load: number() }),
        said(Message::Load { load: number() }),
        said(Message::Refuse),
        Envelope { work: Some(Arc::new(work)), ..said(Message::Work { ticket, epoch }) },
        Envelope {
            work: Some(Arc::new(Work::default())),
            ..said(Message::Late(Recall::Trim { ticket }))
        },
        Envelope { work: Some(Arc::new(piece)), ..said(Message::Late(Recall::Left { ticket })) },
        said(Message::Ack { ticket, epoch }),
        said(Message::Wave),
        said(Message::Report { sent: number(), received: number() }),
        said(Message::Done),
        said(Message::Snapshot { epoch }),
        said(Message::Best { score: number().cast_signed() }),
    ]
}

fn checkpoint() -> Checkpoint {
    let piece = |n: u8| Work { size: f64::from(n), least_bound: i64::MIN, bytes: vec![n; 99] };
    Checkpoint {
        fingerprint: 77,
        about: "solve flowshop ta021".into(),
        elapsed_ns: 12_345_678_901,
        counts: Counts { branched: 5, bounded: 1 << 40, total: 1 << 100, depth: 20 },
        best: 2297,
        solution: Some(Solution { score: 2298, plan: (0..20).collect() }),
        pieces: (1..4).map(piece).collect(),
    }
}

#[test]
fn every_message_comes_out_as_it_was() {
    let rng = &mut Rand64::new(5);
    for _ in 0..100 {
        for envelope in messages(rng) {
            pack_law(&envelope, rng);
            let bytes = envelope.to_bytes(9);
            assert_eq!(Envelope::from_bytes(&bytes, 9), Ok(envelope));
            assert_eq!(Envelope::from_bytes(&bytes, 8), Err(Unreadable::Foreign));
            assert_eq!(Checkpoint::from_bytes(&bytes), Err(Unreadable::Other));
        }
    }
}

#[test]
fn a_checkpoint_comes_out_as_it_was() {
    let whole = checkpoint();
    assert_eq!(Checkpoint::from_bytes(&whole.to_bytes()), Ok(whole));
}

#[test]
fn what_is_not_right_is_named() {
    let bytes = checkpoint().to_bytes();
    let with = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        Checkpoint::from_bytes(&bytes).unwrap_err()
    };
    assert_eq!(with(0, b'x'), Unreadable::Other);
    assert_eq!(with(4, FORMAT + 1), Unreadable::Newer(FORMAT + 1));
    assert_eq!(with(40, !bytes[40]), Unreadable::Seal);
    let n = bytes.len();
    let cut = Checkpoint::from_bytes(&bytes[..n - 1]).unwrap_err();
    assert_eq!(cut, Unreadable::Length(n as u64 - 1, n as u64));
    let longer = Checkpoint::from_bytes(&[&bytes[..], &[0]].concat()).unwrap_err();
    assert_eq!(longer, Unreadable::Length(n as u64 + 1, n as u64));
    assert_eq!(Checkpoint::from_bytes(b"n m\n20 20\n"), Err(Unreadable::Other));
    assert_eq!(Checkpoint::from_bytes(b""), Err(Unreadable::Other));
}

/// Files of the first format are still read, and their damage is still noticed.
#[test]
fn the_first_format_is_read() {
    let checkpoint = checkpoint();
    let mut bytes = checkpoint.to_bytes();
    bytes.truncate(bytes.len() - SEAL);
    bytes[4] = 1;
    let seal = hash(&bytes);
    bytes.extend(seal.to_le_bytes());
    assert_eq!(Checkpoint::from_bytes(&bytes), Ok(checkpoint));
    for at in HEAD..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        assert_eq!(Checkpoint::from_bytes(&damaged), Err(Unreadable::Seal), "byte {at}");
    }
    // Neither format passes for the other.
    bytes[4] = FORMAT;
    assert_eq!(Checkpoint::from_bytes(&bytes), Err(Unreadable::Seal));
}

#[test]
fn the_seal_tells_lengths_and_places_apart() {
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

//! Packets survive a round trip, and what no site can have sent is refused.

use super::samples::{SITES, packets, piece, progress_report, tower};
use super::*;
use crate::lease::wire::MOST_LEVELS;
use crate::lease::{Lease, ProgressReport, Rec};
use crate::search::laws::pack_law;
use crate::search::work::Reader;
use crate::steal::late::Recall;
use crate::steal::{Power, Ticket};
use oorandom::Rand64;
use std::sync::Arc;

type Part = ProgressReport<Portion<Counts>>;

const RANGE: Unreadable = Unreadable::Content(Malformed::Range);

/// Seals a packet and reads it back.
fn sent(from: SiteId, message: GatewayMessage<Counts>) -> Result<GatewayPacket, Unreadable> {
    GatewayPacket::from_bytes(&GatewayPacket { from, message }.to_bytes(9), 9, SITES)
}

fn committed(lease: Lease, part: Part) -> GatewayMessage<Counts> {
    GatewayMessage::Lease(LeaseMessage::Commit {
        lease,
        progress_report: Arc::new(part),
        best: None,
    })
}

fn lease(number: u64) -> Lease {
    Lease { site: 0, incarnation: 1, number }
}

/// A progress report that lists these, each with what is within it.
fn listing(subs: impl IntoIterator<Item = (Lease, Part)>) -> Part {
    let rec =
        |part| Rec { holder: 1, acked: true, given: Arc::default(), latest: Some(Arc::new(part)) };
    let subs = subs.into_iter().map(|(lease, part)| (lease, rec(part))).collect();
    ProgressReport { subs, ..Part::default() }
}

#[test]
fn every_packet_is_read_as_it_was_written() {
    let rng = &mut Rand64::new(5);
    for _ in 0..100 {
        for packet in packets(rng, &mut 0) {
            pack_law(&packet, rng);
            let bytes = packet.to_bytes(9);
            assert_eq!(GatewayPacket::from_bytes(&bytes, 8, SITES), Err(Unreadable::Foreign));
            assert_eq!(GatewayPacket::from_bytes(&bytes, 9, 0), Err(RANGE));
            assert_eq!(GatewayPacket::from_bytes(&bytes, 9, SITES).as_ref(), Ok(&packet));
        }
        let part = progress_report(rng, &mut 0, 3);
        pack_law(&part, rng);
        pack_law(&lease(rng.rand_u64()), rng);
    }
}

#[test]
fn impossible_packets_are_refused() {
    let rng = &mut Rand64::new(6);
    let refused = |from, message: GatewayMessage<Counts>| {
        let shown = format!("{message:?}");
        assert_eq!(sent(from, message), Err(RANGE), "{shown}");
    };
    let good = || listing([(lease(2), listing([(lease(1), Part::default())]))]);
    assert!(sent(0, committed(lease(7), good())).is_ok());
    // A lease within itself, at any depth, and one in two places.
    refused(0, committed(lease(2), good()));
    refused(0, committed(lease(1), good()));
    refused(0, committed(lease(7), listing([(lease(1), Part::default()), (lease(2), good())])));
    refused(0, committed(lease(7), listing([(lease(2), good())])));
    // Sites that do not exist.
    let far =
        |site| listing([(lease(2), listing([(Lease { site, ..lease(1) }, Part::default())]))]);
    assert!(sent(0, committed(lease(7), far(SITES - 1))).is_ok());
    refused(0, committed(lease(7), far(SITES)));
    refused(0, committed(Lease { site: SITES, ..lease(7) }, good()));
    refused(SITES, committed(lease(7), good()));
    let mut held_far = good();
    held_far.subs.get_mut(&lease(2)).unwrap().holder = SITES;
    refused(0, committed(lease(7), held_far));
    refused(0, GatewayMessage::Peer(Message::Pass { thief: SITES, power: Power(1) }));
    // Counts from which no search can continue.
    let too_much = u128::MAX / 2 + 1;
    for (branched, bounded, total, tally) in [
        (u64::MAX / 2 + 1, 0, 0, vec![]),
        (0, u64::MAX, 0, vec![]),
        (0, 0, too_much, vec![]),
        (0, 0, 0, vec![0, too_much]),
        (0, 0, 0, vec![1; 4097]),
    ] {
        let mut part = good();
        part.content.done = Counts { branched, bounded, total, depth: 1, tally };
        refused(0, committed(lease(7), listing([(lease(5), part)])));
    }
    // Gifts under other sites' names, gifts without work, and work that is done.
    let work = |site, open, done| {
        let content = Portion { done, open };
        LeaseMessage::Work { lease: Lease { site, ..lease(7) }, content, best: None }
    };
    let (open, none) = (vec![piece(rng)], Counts::default());
    let ticket = |giver| Ticket { giver, number: 3 };
    assert!(sent(2, GatewayMessage::Gift(ticket(2), work(2, open.clone(), none.clone()))).is_ok());
    refused(2, GatewayMessage::Gift(ticket(1), work(2, open.clone(), none.clone())));
    refused(2, GatewayMessage::Gift(ticket(2), work(1, open.clone(), none.clone())));
    refused(2, GatewayMessage::Lease(work(1, open.clone(), none.clone())));
    refused(2, GatewayMessage::Gift(ticket(2), LeaseMessage::Ack { lease: lease(7) }));
    refused(2, GatewayMessage::Gift(ticket(2), work(2, Vec::new(), none.clone())));
    refused(2, GatewayMessage::Gift(ticket(2), work(2, open, Counts { bounded: 1, ..none })));
    // Peer messages that only the lease protocol may carry, and messages that no site's peer sends.
    let ticket = ticket(0);
    for message in [
        Message::Work { ticket, epoch: 0 },
        Message::Ack { ticket, epoch: 0 },
        Message::Best { score: 3 },
        Message::Snapshot { epoch: 1 },
        Message::Late(Recall::Trim { ticket }),
    ] {
        refused(0, GatewayMessage::Peer(message));
    }
}

/// However deep leases nest, and whatever is done with them, the stack suffices.
#[test]
fn leases_nest_up_to_a_limit() {
    let part = tower(MOST_LEVELS);
    let packet = GatewayPacket { from: 0, message: committed(lease(u64::MAX), part.clone()) };
    let read = GatewayPacket::from_bytes(&packet.to_bytes(9), 9, SITES).unwrap();
    assert_eq!(read, packet);
    assert_eq!(part.nested().count(), MOST_LEVELS);
    drop(packet);
    assert!(format!("{read:?}").len() > MOST_LEVELS);
    assert!(read.message.bytes() > MOST_LEVELS as u64);
    drop(read);
    let deeper = committed(lease(u64::MAX), tower(MOST_LEVELS + 1));
    assert_eq!(sent(0, deeper), Err(RANGE));
    // One lease in another, for as long as there are bytes.
    let mut bytes = Vec::new();
    // From site 0 about a lease: progress of a lease with no done or open work.
    (0u32, 2u32, 2u32, lease(0)).pack(&mut bytes);
    Portion::<Counts>::default().pack(&mut bytes);
    for number in 1..1 << 20 {
        // It lists one lease, which site 3 holds and has acknowledged, and of which there is a progress report.
        (1usize, lease(number), 3u32, true).pack(&mut bytes);
        Portion::<Counts>::default().pack(&mut bytes);
        true.pack(&mut bytes);
        Portion::<Counts>::default().pack(&mut bytes);
    }
    assert_eq!(GatewayPacket::unpack(&mut Reader::new(&bytes)), Err(Malformed::Range));
}

//! Tests of mailboxes: order, and waking those who sleep.

use pleach_core::search::work::Work;
use pleach_core::steal::{Message, PeerId, Ticket};
use pleach_runtime::transport::{Mailboxes, PeerMessage, Transport};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

fn message(from: PeerId, number: u64) -> PeerMessage {
    let ticket = Ticket { giver: from, number };
    let work = Work { size: 1.0, least_bound: 0, bytes: number.to_le_bytes().to_vec() };
    PeerMessage { from, message: Message::Work { ticket, epoch: 0 }, work: Some(Arc::new(work)) }
}

/// The messages of each sender arrive complete and in order while others send.
#[test]
fn order_is_kept() {
    const MESSAGES: u64 = 20_000;
    let mut peers = transports(4);
    let mut receiver = peers.remove(0);
    let senders: Vec<_> = (1..)
        .zip(peers)
        .map(|(me, mut transport)| {
            thread::spawn(move || (0..MESSAGES).for_each(|i| transport.send(0, message(me, i))))
        })
        .collect();
    let mut next = vec![0; senders.len() + 1];
    while next[1..].iter().any(|&seen| seen < MESSAGES) {
        receiver.wait(Some(Duration::from_secs(10)));
        let mut got = false;
        while let Some(arrived) = receiver.poll() {
            let slot = &mut next[arrived.from as usize];
            assert_eq!(arrived, message(arrived.from, *slot), "out of order");
            *slot += 1;
            got = true;
        }
        assert!(got, "nothing came for ten seconds");
    }
    assert!(!receiver.waiting() && receiver.poll().is_none(), "one message too many");
    senders.into_iter().for_each(|sender| sender.join().unwrap());
}

/// A sleeper wakes when a message arrives, or soon after its time is up.
#[test]
fn sleepers_wake() {
    let mut peers = transports(2);
    let mut receiver = peers.remove(0);
    let start = Instant::now();
    receiver.wait(Some(Duration::from_millis(30)));
    assert!(start.elapsed() >= Duration::from_millis(30), "woke too early");
    let mut sender = peers.remove(0);
    let sending = thread::spawn(move || {
        thread::sleep(Duration::from_millis(30));
        sender.send(0, message(1, 7));
    });
    receiver.wait(Some(Duration::from_secs(20)));
    assert_eq!(receiver.poll(), Some(message(1, 7)));
    assert!(start.elapsed() < Duration::from_secs(10), "the message did not wake the sleeper");
    sending.join().unwrap();
}

fn transports(peers: u32) -> Vec<Transport> {
    let mailboxes = Mailboxes::new(peers);
    (0..peers).map(|me| mailboxes.transport(me)).collect()
}

#[test]
fn waking_all_wakes_everyone_and_leftovers_are_found() {
    let mailboxes = Mailboxes::new(2);
    let mut transport = mailboxes.transport(0);
    mailboxes.transport(1).send(1, message(0, 3));
    mailboxes.wake_all();
    transport.wait(None);
    assert!(transport.poll().is_none());
    assert_eq!(mailboxes.leftovers(), [message(0, 3)]);
}

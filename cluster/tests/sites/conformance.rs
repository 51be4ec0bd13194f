//! The rules that every network must obey while nothing goes wrong.

use crate::site::{LONGEST, Site};
use oorandom::Rand32;
use pleach_cluster::Arrival;
use std::collections::VecDeque;

/// The messages of a site in case `order`, with their receivers. The bytes of a message identify its position and its
/// length. All sites know the plans of all.
fn plan(from: u32, sites: u32) -> VecDeque<(u32, Vec<u8>)> {
    let mut random = Rand32::new(u64::from(from) + 1);
    let messages = 1500;
    let message = |number: u32| {
        let to = random.rand_range(0..sites);
        let length = match random.rand_range(0..100) {
            0 => random.rand_range(200_000..700_000),
            1..10 => random.rand_range(1000..100_000),
            10..20 => 0,
            _ => random.rand_range(1..100),
        };
        let seed = from.wrapping_mul(7919).wrapping_add(number);
        (to, filled(length as usize, seed))
    };
    (0..messages).map(message).collect()
}

/// Bytes that depend on the seed and on their position.
fn filled(length: usize, seed: u32) -> Vec<u8> {
    (0..length as u32)
        .map(|i| (i.wrapping_add(seed).wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect()
}

/// All sites write many messages to all; each message arrives once, complete and in order.
pub fn order(mut site: Site) {
    let me = site.me;
    let mine = |from| plan(from, site.sites).into_iter().filter(|(to, _)| *to == me);
    let mut awaited: Vec<VecDeque<Vec<u8>>> =
        (0..site.sites).map(|from| mine(from).map(|(_, message)| message).collect()).collect();
    let mut random = Rand32::new(u64::from(me) + 99);
    let mut messages = plan(me, site.sites);
    loop {
        for _ in 0..random.rand_range(0..20) {
            if let Some((to, message)) = messages.pop_front() {
                site.network.send(to, message);
                if messages.is_empty() {
                    site.network.finish();
                }
            }
        }
        match site.look() {
            Some(Arrival::Message { from, bytes }) => {
                let expected = awaited[from as usize].pop_front().expect("a message too many");
                assert!(bytes == expected, "another message of {} bytes from {from}", bytes.len());
            }
            Some(Arrival::End) => break,
            Some(other) => panic!("{other:?}"),
            None => {}
        }
    }
    assert!(awaited.iter().all(VecDeque::is_empty), "messages are missing");
    assert_eq!(site.network.poll(), Ok(None));
    site.content();
}

/// Messages of all critical lengths, both ways.
pub fn sizes(mut site: Site) {
    let to = 1 - site.me;
    let near = |length: usize| length - 1..=length + 1;
    let powers = (1..8).map(|i| 4 << (2 * i)).flat_map(near);
    let megabytes = [3 << 18, 5 << 20].into_iter().flat_map(near);
    let lengths: Vec<usize> = [0, 1].into_iter().chain(powers).chain(megabytes).collect();
    let lengths = [&lengths[..], &[LONGEST, 0, LONGEST, 2]].concat();
    for (i, &length) in lengths.iter().enumerate() {
        site.network.send(to, filled(length, site.me * 1000 + i as u32));
    }
    for (i, &length) in lengths.iter().enumerate() {
        let (from, bytes) = site.message();
        assert!(from == to && bytes == filled(length, to * 1000 + i as u32), "of {length} bytes");
    }
    site.end();
}

/// Shorter messages to one site overtake long ones to another, even if they take many MPI messages.
pub fn long_and_short(mut site: Site) {
    let lengths = |to| if to == 1 { [LONGEST; 3] } else { [10, LONGEST / 2, 10] };
    if site.me == 0 {
        let messages = |to| lengths(to).map(|length| (to, filled(length, to)));
        for (to, message) in [1, 2].map(messages).into_iter().flatten() {
            site.network.send(to, message);
        }
        assert_eq!(site.message(), (2, Vec::new()));
        assert_eq!(site.message(), (1, Vec::new()));
    } else {
        for length in lengths(site.me) {
            assert!(site.message() == (0, filled(length, site.me)));
        }
        site.network.send(0, Vec::new());
    }
    site.end();
}

/// Messages sent right before the end arrive before it, even at a site that polls late.
pub fn last_messages(mut site: Site) {
    let lengths = |from: u32| (0..100).map(move |i| if i % 40 == 7 { 600_000 } else { from + i });
    for (number, length) in lengths(site.me).enumerate() {
        for to in site.others() {
            site.network.send(to, filled(length as usize, number as u32));
        }
    }
    site.network.finish();
    if site.me == 1 {
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    let mut seen = vec![0; site.sites as usize];
    loop {
        match site.next() {
            Arrival::Message { from, bytes } => {
                let number = &mut seen[from as usize];
                let length = lengths(from).nth(*number).expect("a message too many");
                assert!(bytes == filled(length as usize, *number as u32));
                *number += 1;
            }
            Arrival::End => break,
            other => panic!("{other:?}"),
        }
    }
    assert!(site.others().all(|from| seen[from as usize] == 100), "{seen:?}");
    site.content();
}

//! Messages under load: none waits behind another's, and no backlog fills the memory.

use super::super::frame::{Frame, FrameKind};
use super::table::{LONG, Table, next};
use crate::tls::{Limits, Star};
use crate::{Arrival, Network};
use crate::{Caller, Entrance};
use std::time::{Duration, Instant};

/// Waits until this many others have joined.
fn gather(star: &mut Star, others: usize) {
    for _ in 0..others {
        assert!(matches!(next(star), Arrival::Joined { .. }));
    }
}

fn end(star: &mut Star) {
    star.finish();
    while next(star) != Arrival::End {}
}

/// Two sites exchange long messages through the root while a third plays ping-pong with it.
#[test]
fn short_messages_do_not_wait_behind_long_ones() {
    const MESSAGES: usize = 2;
    let long = 20 << 20;
    let mut table = Table::new(4, Limits::default());
    let exchanges = move |other: u32| {
        move |mut star: Star| {
            gather(&mut star, 2);
            (0..MESSAGES).for_each(|i| star.send(other, vec![i as u8; long]));
            star.send(0, Vec::new());
            for i in 0..MESSAGES {
                let Arrival::Message { from, bytes } = next(&mut star) else {
                    panic!("no message")
                };
                assert!(from == other && bytes.len() == long && bytes[long - 1] == i as u8);
            }
            star.send(0, Vec::new());
            end(&mut star);
        }
    };
    let plays = |mut star: Star| {
        gather(&mut star, 2);
        loop {
            match next(&mut star) {
                Arrival::Message { bytes, .. } if bytes.is_empty() => break end(&mut star),
                Arrival::Message { from, bytes } => star.send(from, bytes),
                other => panic!("{other:?}"),
            }
        }
    };
    let parts: Vec<Box<dyn FnOnce(Star) + Send>> =
        vec![Box::new(exchanges(2)), Box::new(exchanges(1)), Box::new(plays)];
    let threads = table.start_sites(parts);
    // Both sites say when they have begun, and when all has arrived.
    let (mut times, mut said) = (Vec::new(), 0);
    while said < 4 {
        let (start, begun) = (Instant::now(), said >= 2);
        table.star.send(3, vec![1]);
        loop {
            match table.next() {
                Arrival::Message { from: 3, .. } => break,
                Arrival::Message { .. } => said += 1,
                other => panic!("{other:?}"),
            }
        }
        times.extend(begun.then(|| start.elapsed()));
    }
    table.star.send(3, Vec::new());
    end(&mut table.star);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    times.sort_unstable();
    // Without interleaving, they would take turns with messages of 20 MB.
    assert!(times.len() > 4 * MESSAGES, "{}", times.len());
    let (p50, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!("{} round trips under load: p50 {p50:?}, p99 {p99:?}", times.len());
}

/// Sites that write to each other often open a direct link, on which they continue; others do not.
#[test]
fn sites_that_write_often_link_directly() {
    let mut table = Table::new(4, Limits::default());
    let asks = |mut star: Star| {
        gather(&mut star, 2);
        // When there was a link last, and how many messages it carried.
        let (mut last, mut carried) = (Instant::now(), 0);
        for i in 0_u32.. {
            star.send(2, i.to_le_bytes().to_vec());
            assert_eq!(
                next(&mut star),
                Arrival::Message { from: 2, bytes: i.to_le_bytes().into() }
            );
            if star.connections() > 1 {
                (last, carried) = (Instant::now(), carried + 1);
            }
            if carried == 1000 {
                break;
            }
            assert!(last.elapsed() < LONG, "no link after {i} messages");
        }
        star.send(2, Vec::new());
        end(&mut star);
    };
    let answers = |mut star: Star| {
        gather(&mut star, 2);
        while let Arrival::Message { from: 1, bytes } = next(&mut star) {
            if bytes.is_empty() {
                break;
            }
            star.send(1, bytes);
        }
        end(&mut star);
    };
    let looks_on = |mut star: Star| {
        gather(&mut star, 2);
        assert_eq!(star.connections(), 1);
        end(&mut star);
    };
    let parts: Vec<Box<dyn FnOnce(Star) + Send>> =
        vec![Box::new(asks), Box::new(answers), Box::new(looks_on)];
    let threads = table.start_sites(parts);
    assert_eq!(table.star.connections(), 3);
    end(&mut table.star);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// A site that does not read is lost once too much waits for it, and the others continue.
#[test]
fn a_site_that_does_not_read_is_lost() {
    // Raw connections send no signs of life.
    let limits = Limits { waiting: 20 << 20, silence: 100 * LONG, ..Limits::default() };
    let mut table = Table::new(3, limits);
    let deaf = table.rogue(1);
    let mut other = table.rogue(2);
    let start = Instant::now();
    let mut sent = 0;
    while table.star.poll().unwrap() != Some(Arrival::Lost(1)) {
        table.star.send(1, vec![0; 1 << 20]);
        sent += 1;
        assert!(start.elapsed() < LONG && sent < 10_000);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(sent >= 20, "lost after {sent} MB");
    table.noted("does not read");
    other.say(Frame::new(FrameKind::Whole, 0, 0, vec![4]));
    assert_eq!(table.next(), Arrival::Message { from: 2, bytes: vec![4] });
    drop(deaf);
}

/// A joiner that unpacked the results of a loop more slowly than they arrived used to give up.
#[test]
fn the_root_waits_for_a_joiner_that_reads_slowly() {
    const MESSAGES: u8 = 20;
    let mut table = Table::new(2, Limits { waiting: 1 << 20, ..Limits::default() });
    let slow = |mut star: Star| {
        // All of it could arrive meanwhile.
        std::thread::sleep(Duration::from_millis(300));
        for i in 0..MESSAGES {
            let bytes = vec![i; 128 << 10];
            assert!(next(&mut star) == Arrival::Message { from: 0, bytes }, "after {i} messages");
        }
        end(&mut star);
    };
    let threads = table.start_sites(vec![slow]);
    for i in 0..MESSAGES {
        let bytes: std::sync::Arc<[u8]> = vec![i; 128 << 10].into();
        table.star.send_shared(1, &bytes);
    }
    end(&mut table.star);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// A site that sends more than the root's caller reads is lost, too.
#[test]
fn a_site_that_floods_the_caller_is_lost() {
    let limits = Limits { waiting: 4 << 20, message: 1 << 20, ..Limits::default() };
    let mut table = Table::new(2, limits);
    let mut rogue = table.rogue(1);
    let start = Instant::now();
    while !rogue.ended {
        rogue.say(Frame::new(FrameKind::Whole, 0, 0, vec![0; 30_000]));
        assert!(start.elapsed() < LONG);
    }
    table.noted("it sends faster than the root reads");
    let mut messages = 0;
    while let Arrival::Message { .. } = table.next() {
        messages += 1;
    }
    assert!(((4 << 20) / 30_100..1000).contains(&messages), "{messages} messages");
}

/// A silent site is lost, and is informed of that.
#[test]
fn silence_is_noticed() {
    let mut table = Table::new(2, Limits { silence: Duration::from_secs(3), ..Limits::default() });
    let start = Instant::now();
    let mut rogue = table.rogue(1);
    assert_eq!(table.next(), Arrival::Lost(1));
    assert!(start.elapsed() >= Duration::from_secs(3));
    assert_eq!(rogue.end(), "silent for 3 s");
    assert!(
        rogue.heard.iter().any(|frame| frame.kind == FrameKind::Beat),
        "the root was silent too"
    );
}

/// A welcome may exceed the message limit, and arrives complete.
#[test]
fn a_long_welcome_arrives() {
    let limits = Limits { message: 1000, welcome: 30 << 20, ..Limits::default() };
    let mut table = Table::new(2, limits);
    let joining = table.joining();
    let joiner = std::thread::spawn(move || {
        crate::tls::join(joining, std::sync::Arc::new(|| {})).map(|(_, welcome)| welcome)
    });
    let welcome: Vec<u8> = (0..limits.welcome as u32).map(|i| (i >> 7) as u8).collect();
    let start = Instant::now();
    let (request, bytes) = loop {
        if let Some(Caller::JoinRequest { number, bytes, .. }) = table.entrance.next() {
            break (number, bytes);
        }
        assert!(start.elapsed() < LONG);
        super::table::rest();
    };
    assert_eq!(bytes, [9]);
    table.entrance.admit(request, 1, welcome.clone().into());
    assert_eq!(table.next(), Arrival::Joined { site: 1, bytes: vec![9] });
    assert!(joiner.join().unwrap().unwrap() == welcome);
}

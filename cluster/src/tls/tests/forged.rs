//! Peers with the key that break the rules: each loses its own connection, and nothing else happens.

use super::super::frame::HELLO_LIMIT;
use super::super::frame::{CHUNK, Frame, FrameKind};
use super::table::{LONG, Table, hello, next};
use crate::tls::Limits;
use crate::{Arrival, Network};

/// Short messages, and hardly a limit on silence: raw connections send no signs of life.
fn small() -> Limits {
    Limits { message: 100_000, silence: 100 * LONG, ..Limits::default() }
}

fn whole(site: u32, number: u32, body: Vec<u8>) -> Frame {
    Frame::new(FrameKind::Whole, site, number, body)
}

fn start(length: u64) -> Frame {
    Frame::new(FrameKind::Start, 0, 0, length.to_le_bytes().to_vec())
}

#[test]
fn wrong_frames_end_their_connection_only() {
    let mut table = Table::new(4, small());
    let mut honest = table.rogue(1);
    let part = |length| Frame::new(FrameKind::Part, 0, 0, vec![1; length]);
    let long = CHUNK as u64 + 1;
    let bare = |kind| Frame::new(kind, 0, 0, Vec::new());
    let cases: Vec<(Vec<Frame>, &str)> = vec![
        (vec![whole(2, 1, Vec::new())], "a message to an invalid place"),
        (vec![whole(4, 1, Vec::new())], "a message to an invalid place"),
        (vec![whole(u32::MAX, 1, Vec::new())], "a message to an invalid place"),
        (vec![whole(0, 1, Vec::new())], "a message to another root"),
        (vec![whole(1, 0, Vec::new())], "forged number"),
        (vec![whole(1, u32::MAX, Vec::new())], "forged number"),
        (vec![part(CHUNK + 1)], "wrong length"),
        (vec![start(100_001)], "longer than allowed"),
        (vec![start(u64::MAX)], "longer than allowed"),
        (vec![start(5)], "a short message in pieces"),
        (vec![part(5)], "out of order"),
        (vec![start(long), start(long)], "out of order"),
        (vec![start(long), whole(0, 0, Vec::new())], "out of order"),
        (vec![start(long), part(CHUNK), part(2)], "more bytes than announced"),
        (vec![start(long), bare(FrameKind::Finish)], "an end inside a message"),
        (vec![bare(FrameKind::Finish), whole(0, 0, Vec::new())], "after the last one"),
        (vec![bare(FrameKind::Bye)], "out of place"),
        (vec![bare(FrameKind::End)], "out of place"),
        (vec![bare(FrameKind::Hello)], "out of place"),
        (vec![Frame::new(FrameKind::Joined, 3, 9, Vec::new())], "out of place"),
        (vec![Frame::new(FrameKind::Lost, 1, 1, Vec::new())], "out of place"),
    ];
    for (frames, expected) in cases {
        let mut rogue = table.rogue(2);
        for frame in frames {
            rogue.say(frame);
        }
        let reason = rogue.end();
        assert!(reason.contains(expected), "'{reason}' instead of '{expected}'");
        assert_eq!(table.next(), Arrival::Lost(2));
        table.noted("site 2 on here is lost");
    }
    honest.say(whole(0, 0, vec![3]));
    assert_eq!(table.next(), Arrival::Message { from: 1, bytes: vec![3] });
    assert!(!honest.ended);
}

#[test]
fn before_the_welcome_nothing_but_a_hello_is_taken() {
    let mut table = Table::new(2, small());
    let mut raw = table.raw();
    raw.say(whole(0, 0, vec![1]));
    raw.end();
    table.noted("it did not send a hello");
    let mut raw = table.raw();
    raw.say(Frame::new(FrameKind::Hello, 0, 0, vec![0; HELLO_LIMIT + 1]));
    raw.end();
    table.noted("a frame of a wrong length");
    let mut raw = table.raw();
    raw.say(Frame::new(FrameKind::Hello, 0, 0, vec![0; HELLO_LIMIT]));
    assert_eq!(raw.end(), "not a Pleach hello");
    let mut raw = table.raw();
    for _ in 0..2 {
        raw.say(Frame::new(FrameKind::Hello, 0, 0, hello().write()));
    }
    raw.end();
    let mut raw = table.raw();
    raw.say(Frame::new(FrameKind::Hello, 0, 0, hello().write()));
    raw.say(whole(0, 0, vec![1]));
    assert!(raw.end().contains("out of place"));
}

/// A message for the former holder of a place does not reach the next one, and a sender cannot be forged.
#[test]
fn a_newcomer_gets_no_messages_for_its_predecessor() {
    let mut table = Table::new(3, small());
    let mut sender = table.rogue(2);
    let former = table.rogue(1);
    drop(former);
    assert_eq!(table.next(), Arrival::Lost(1));
    let mut newcomer = table.rogue(1);
    let number =
        newcomer.heard.iter().find(|frame| frame.kind == FrameKind::Welcome).unwrap().number;
    sender.say(whole(1, number - 1, vec![1]));
    sender.say(Frame::new(
        FrameKind::Start,
        1,
        number - 1,
        (CHUNK as u64 + 1).to_le_bytes().into(),
    ));
    sender.say(Frame::new(FrameKind::Part, 1, number - 1, vec![1; CHUNK]));
    sender.say(Frame::new(FrameKind::Part, 1, number - 1, vec![1]));
    sender.say(whole(1, number, vec![2]));
    let start = std::time::Instant::now();
    let message = loop {
        newcomer.listen();
        let mut pieces =
            newcomer.heard.iter().filter(|f| f.kind == FrameKind::Whole && f.site != 0);
        if let Some(message) = pieces.next() {
            break message.clone();
        }
        assert!(start.elapsed() < LONG);
    };
    assert_eq!(message, whole(2, 0, vec![2]));
}

/// Once the root is dead, messages to it go nowhere, and the joiner knows the reason.
#[test]
fn a_message_to_a_dead_root_goes_nowhere() {
    let mut table = Table::new(2, small());
    let (told, hears) = std::sync::mpsc::channel();
    let threads = table.start_sites(vec![move |mut star: crate::tls::Star| {
        star.send(0, vec![1]);
        assert_eq!(next(&mut star), Arrival::Lost(0));
        let why = star.loss_reason().unwrap().to_string();
        star.send(0, vec![1]);
        assert_eq!(star.poll(), Ok(None));
        told.send(why).unwrap();
    }]);
    assert!(matches!(table.next(), Arrival::Message { from: 1, .. }));
    drop(table);
    assert!(hears.recv_timeout(LONG).unwrap().contains("closed"));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

//! Randomly changed frames and handshakes: each gives an error or a harmless meaning, never a panic or a large
//! allocation. `PLEACH_SEEDS` sets the number of frames; the default is 200,000.

use super::super::frame::{CHUNK, Frame, FrameFault, FrameKind, FrameReader};
use super::super::hello::{Contact, Hello};
use super::super::hub::Hub;
use super::super::leaf::Leaf;
use super::super::logic::{HubCommand, Logic};
use super::super::secure::{KnownKeys, PUBLIC, Secure};
use super::table::{frames, hello};
use crate::tls::{Key, Limits};
use oorandom::Rand32;
use rustls::Connection;
use std::sync::Arc;

fn count() -> u64 {
    std::env::var("PLEACH_SEEDS").ok().and_then(|word| word.parse().ok()).unwrap_or(200_000)
}

const LIMITS: Limits = Limits {
    message: 3 * CHUNK,
    welcome: 1000,
    waiting: 1 << 20,
    silence: std::time::Duration::from_secs(5),
    link_after: 2,
};
const PLACES: u32 = 4;

fn written(frame: &Frame) -> Vec<u8> {
    let head = Frame::head(frame.kind, frame.site, frame.number, frame.body.len());
    [&head[..], &frame.body].concat()
}

fn contact(key: u8) -> Contact {
    Contact { key: [key; PUBLIC], address: "127.0.0.1:9".parse().unwrap() }
}

/// A frame similar to those that sites send.
fn some_frame(random: &mut Rand32) -> Frame {
    use FrameKind::{
        Beat, Broken, Bye, End, Finish, Hello, Introduce, Introduced, Joined, Linked, Lost, Part,
        Received, Refuse, Start, Switched, Welcome, Whole,
    };
    let kinds = [Beat, Hello, Refuse, Welcome, Joined, Lost, Finish, End, Bye];
    let (messages, links) =
        ([Whole, Start, Part], [Introduce, Introduced, Linked, Switched, Broken, Received]);
    let kind = match random.rand_range(0..6) {
        0 => kinds[random.rand_range(0..kinds.len() as u32) as usize],
        1 | 2 => links[random.rand_range(0..links.len() as u32) as usize],
        _ => messages[random.rand_range(0..3) as usize],
    };
    let (site, number) = (random.rand_range(0..PLACES + 1), random.rand_range(0..6));
    let number = if site == 0 { 0 } else { number };
    let body = match kind {
        Start => u64::from(random.rand_range(CHUNK as u32..3 * CHUNK as u32)).to_le_bytes().into(),
        Whole | Part => vec![7; random.rand_range(1..300) as usize],
        Welcome => PLACES.to_le_bytes().to_vec(),
        Hello => hello().write(),
        Refuse => vec![1, b'x'],
        Joined => vec![1; 3],
        Introduced => contact(random.rand_range(0..4) as u8).write(),
        Switched | Broken => u64::from(random.rand_range(0..4)).to_le_bytes().into(),
        Received => [random.rand_range(0..4), 0, random.rand_range(0..4), 0]
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect(),
        _ => Vec::new(),
    };
    Frame::new(kind, site, number, body)
}

/// Changes, cuts, repeats or leaves bytes.
fn mutate(bytes: &mut Vec<u8>, random: &mut Rand32) {
    for _ in 0..random.rand_range(0..3) {
        if bytes.is_empty() {
            return;
        }
        let at = random.rand_range(0..bytes.len() as u32) as usize;
        match random.rand_range(0..6) {
            0 => bytes[at] ^= 1 << random.rand_range(0..8),
            1 => bytes[at] = random.rand_u32() as u8,
            2 => bytes.truncate(at),
            3 => bytes.insert(at, random.rand_u32() as u8),
            4 => drop(bytes.remove(at)),
            // Changes of the head do the most harm.
            _ => bytes[at % 16] = random.rand_range(0..5) as u8,
        }
    }
}

/// Takes bytes as a connection would, until there is a fault.
fn feed(
    logic: &mut dyn Logic,
    reader: &mut FrameReader,
    number: u32,
    bytes: &[u8],
) -> Result<(), FrameFault> {
    let mut rest = bytes;
    while let Some(frame) = reader.read_frame(&mut rest)? {
        logic.handle_frame(number, frame)?;
    }
    Ok(())
}

/// A root with two honest sites and one that is not.
fn root() -> Hub {
    let mut hub = Hub::new(PLACES, LIMITS);
    for number in 1..PLACES {
        let hello = Hello { contact: Some(contact(number as u8)), ..hello() };
        hub.handle_command(HubCommand::JoinRequest { number, hello, key: [0; PUBLIC] });
        hub.handle_command(HubCommand::Admit { number, site: number, welcome: Arc::from([1]) });
    }
    hub
}

/// A joiner that was welcomed.
fn joiner() -> Leaf {
    let mut leaf = Leaf::new(&hello(), KnownKeys::default(), LIMITS);
    leaf.handle_frame(0, Frame::new(FrameKind::Welcome, 1, 1, PLACES.to_le_bytes().into()))
        .unwrap();
    leaf.handle_frame(0, Frame::new(FrameKind::Joined, 2, 2, Vec::new())).unwrap();
    leaf
}

/// A joiner with a direct link, which has sent on it.
fn linked_joiner() -> Leaf {
    let hello = Hello { contact: Some(contact(9)), ..hello() };
    let mut leaf = Leaf::new(&hello, KnownKeys::default(), LIMITS);
    for (kind, site, number, body) in [
        (FrameKind::Welcome, 1, 1, PLACES.to_le_bytes().to_vec()),
        (FrameKind::Whole, 0, 0, vec![1]),
        (FrameKind::Joined, 2, 2, Vec::new()),
        (FrameKind::Introduced, 2, 2, contact(2).write()),
    ] {
        leaf.handle_frame(0, Frame::new(kind, site, number, body)).unwrap();
    }
    leaf.handle_command(HubCommand::JoinRequest { number: 1, hello, key: [2; PUBLIC] });
    for byte in 0..3 {
        leaf.handle_command(HubCommand::Send { to: 2, number: 2, bytes: vec![byte] });
    }
    leaf.output_mut().cut.clear();
    assert!(leaf.outbox(1).is_some());
    leaf
}

/// Feeds this many frames to sides made by `make`, a new one after each fault.
fn storm<L: Logic>(frames: u64, number: u32, seed: u64, make: impl Fn() -> L) -> u64 {
    let mut random = Rand32::new(seed);
    let (mut side, mut reader, mut faults) = (make(), FrameReader::default(), 0);
    for i in 0..frames {
        let mut bytes = written(&some_frame(&mut random));
        mutate(&mut bytes, &mut random);
        let fed = feed(&mut side, &mut reader, number, &bytes);
        side.output_mut().deliveries.clear();
        side.output_mut().events.clear();
        let cut = !side.output_mut().cut.is_empty();
        for other in 0..PLACES {
            if let Some(outbox) = side.outbox(other) {
                assert!(outbox.waiting() <= LIMITS.waiting);
                if i % 16 == 0 {
                    outbox.write_frames(&mut Vec::new(), usize::MAX);
                }
            }
        }
        if fed.is_err() || cut {
            faults += 1;
            side.on_disconnected(number, "a fault");
            (side, reader) = (make(), FrameReader::default());
        }
    }
    faults
}

#[test]
fn frames_after_the_handshake() {
    let frames = count();
    let faults = storm(frames / 2, 3, 1, root) + storm(frames / 2, 0, 2, joiner);
    let faults = faults + storm(frames / 8, 1, 8, linked_joiner);
    let faults = faults + storm(frames / 8, 0, 9, linked_joiner);
    println!("{frames} frames and a quarter more, {faults} faults");
    assert!(faults > frames / 20 && faults < frames);
}

#[test]
fn frames_before_the_welcome() {
    let frames = count() / 4;
    let unidentified = || {
        let mut hub = Hub::new(PLACES, LIMITS);
        hub.handle_command(HubCommand::JoinRequest { number: 3, hello: hello(), key: [0; PUBLIC] });
        hub
    };
    let faults = storm(frames, 3, 3, unidentified);
    let faults = faults + storm(frames, 0, 4, || Leaf::new(&hello(), KnownKeys::default(), LIMITS));
    assert!(faults > frames / 4, "{faults}");
}

#[test]
fn hellos() {
    let mut random = Rand32::new(5);
    let (mut good, all) = (0, count() / 2);
    for _ in 0..all {
        let mut bytes = hello().write();
        mutate(&mut bytes, &mut random);
        match Hello::read(&bytes, "1") {
            Ok(hello) => {
                assert!(hello.host.len() <= 100 && !hello.host.chars().any(char::is_control));
                good += 1;
            }
            Err(refusal) => assert_eq!(refusal.frame().kind, FrameKind::Refuse),
        }
    }
    assert!(good > all / 10 && good < all);
}

/// The bytes that TLS has to send.
fn said(end: &mut Connection) -> Vec<u8> {
    let mut bytes = Vec::new();
    while end.wants_write() {
        end.write_tls(&mut bytes).unwrap();
    }
    bytes
}

/// Handshakes with one flight changed.
#[test]
fn handshakes() {
    let secure = Secure::new(&Key::random().unwrap()).unwrap();
    let (mut random, all) = (Rand32::new(6), count() / 100);
    let mut whole = 0;
    for _ in 0..all {
        let mut client: Connection = secure.client().unwrap().into();
        let mut server: Connection = secure.unguarded().unwrap().into();
        let changed = random.rand_range(0..2);
        for flight in 0..2 {
            let mut bytes = said(&mut client);
            if flight == changed {
                mutate(&mut bytes, &mut random);
            }
            let mut rest = &bytes[..];
            let mut broken = false;
            while !rest.is_empty() && !broken {
                broken =
                    server.read_tls(&mut rest).is_err() || server.process_new_packets().is_err();
            }
            if broken {
                break;
            }
            whole += u64::from(flight == 1 && !server.is_handshaking());
            let answer = said(&mut server);
            let mut rest = &answer[..];
            while !rest.is_empty() {
                if client.read_tls(&mut rest).is_err() || client.process_new_packets().is_err() {
                    break;
                }
            }
        }
    }
    assert!(whole > 0 && whole < all, "{whole} of {all}");
}

#[test]
fn frames_survive_a_round_trip() {
    let mut random = Rand32::new(7);
    for _ in 0..1000 {
        let frame = some_frame(&mut random);
        assert_eq!(frames(&written(&frame)), [frame]);
    }
}

//! Joiners that write to each other directly: links open and break at random moments, and every message arrives once,
//! in order. `PLEACH_SEEDS` sets the number of searches; the default is 80.

use super::super::frame::{CHUNK, Frame, FrameKind, FrameReader};
use super::super::hello::{Contact, Hello};
use super::super::hub::Hub;
use super::super::leaf::Leaf;
use super::super::logic::{Delivery, HubCommand, HubEvent, Logic};
use super::super::secure::{KnownKeys, PUBLIC, PublicKey};
use crate::Rank;
use crate::tls::Limits;
use oorandom::Rand32;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

const PLACES: u32 = 5;
const LIMITS: Limits = Limits {
    message: 64 << 20,
    welcome: 100,
    waiting: 64 << 20,
    silence: Duration::from_secs(6),
    link_after: 8,
};
/// The end of a connection: 0 for the root or the number of a joiner's process, and its number there.
type End = (usize, u32);

/// A connection: its ends, and the frames on their way to each.
struct Pipe {
    ends: [End; 2],
    frames: [VecDeque<Frame>; 2],
    /// The end that has learnt that it is broken, if one has.
    broken: Option<usize>,
}

/// A joiner's process.
struct Process {
    leaf: Leaf,
    keys: KnownKeys,
    key: PublicKey,
    site: Rank,
    /// The number of its connection at the root.
    number: u32,
    /// The number of the process at each place, as this one sees it, and how many messages it sent there.
    there: BTreeMap<Rank, (u32, u64)>,
    /// How many messages arrived from each process.
    arrived: BTreeMap<u32, u64>,
    sends: bool,
    ended: bool,
    dead: bool,
}

struct World {
    random: Rand32,
    hub: Hub,
    processes: Vec<Process>,
    pipes: Vec<Pipe>,
    /// Links that are being opened: the caller's end, and the key that it calls.
    calls: Vec<(End, PublicKey)>,
    /// Frames of messages by links, broken links, messages sent.
    direct: u64,
    breaks: u64,
    sent: u64,
    closing: bool,
}

fn key(process: usize) -> PublicKey {
    [process as u8; PUBLIC]
}

impl World {
    fn new(seed: u64) -> Self {
        let (random, hub) = (Rand32::new(seed), Hub::new(PLACES, LIMITS));
        let (processes, pipes, calls) = Default::default();
        Self { random, hub, processes, pipes, calls, direct: 0, breaks: 0, sent: 0, closing: false }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.rand_range(0..bound.max(1) as u32) as usize
    }

    fn side(&mut self, process: usize) -> &mut dyn Logic {
        match process {
            0 => &mut self.hub,
            _ => &mut self.processes[process - 1].leaf,
        }
    }

    /// A process joins at a free place.
    fn join(&mut self) {
        let taken = |site| self.processes.iter().any(|it| !it.dead && it.site == site);
        let Some(site) = (1..PLACES).find(|&site| !taken(site)) else { return };
        let process = self.processes.len() + 1;
        // Some write through the root only.
        let direct = self.below(6) > 0;
        let address = "127.0.0.1:1".parse().unwrap();
        let contact = direct.then_some(Contact { key: key(process), address });
        let hello = Hello { version: "1".into(), host: "here".into(), contact, bytes: Vec::new() };
        let keys = KnownKeys::default();
        let leaf = Leaf::new(&hello, keys.clone(), LIMITS);
        let number = process as u32;
        self.processes.push(Process {
            leaf,
            keys,
            key: key(process),
            site,
            number,
            there: BTreeMap::new(),
            arrived: BTreeMap::new(),
            sends: true,
            ended: false,
            dead: false,
        });
        self.pipes.push(Pipe {
            ends: [(0, number), (process, 0)],
            frames: Default::default(),
            broken: None,
        });
        let key = [0; PUBLIC];
        self.hub.handle_command(HubCommand::JoinRequest { number, hello, key });
        self.hub.handle_command(HubCommand::Admit { number, site, welcome: Arc::from([5]) });
        // The root reads its hello as a part of the request to join.
        self.processes[process - 1].leaf.outbox(0).unwrap().write_frames(&mut Vec::new(), 1);
        self.settle();
    }

    /// Carries out what all sides ask for, until nothing is left.
    fn settle(&mut self) {
        loop {
            let mut quiet = true;
            for process in 0..=self.processes.len() {
                let out = self.side(process).output_mut();
                out.touched.clear();
                let cut = std::mem::take(&mut out.cut);
                let connect = std::mem::take(&mut out.connect);
                let deliveries = std::mem::take(&mut out.deliveries);
                let events = std::mem::take(&mut out.events);
                quiet &= cut.is_empty() && connect.is_empty();
                for (number, contact) in connect {
                    self.calls.push(((process, number), contact.key));
                }
                for (number, _) in cut {
                    self.cut((process, number));
                }
                for event in events {
                    assert!(!matches!(event, HubEvent::Refused(_)), "{event:?}");
                }
                if process > 0 {
                    deliveries.into_iter().for_each(|delivery| self.deliver(process, delivery));
                }
            }
            if quiet {
                break;
            }
        }
        for pipe in 0..self.pipes.len() {
            for end in 0..2 {
                let (process, number) = self.pipes[pipe].ends[end];
                let mut bytes = Vec::new();
                // A socket may be full.
                let room = if self.below(3) > 0 { self.below(300) } else { 0 };
                let knows = self.pipes[pipe].broken == Some(end);
                if let Some(outbox) = self.side(process).outbox(number).filter(|_| !knows) {
                    outbox.write_frames(&mut bytes, room);
                }
                if self.pipes[pipe].broken.is_some() {
                    continue;
                }
                let (mut rest, mut reader) = (&bytes[..], FrameReader::default());
                while let Some(frame) = reader.read_frame(&mut rest).unwrap() {
                    self.pipes[pipe].frames[1 - end].push_back(frame);
                }
            }
        }
    }

    /// One side ends a connection: what it has not sent is dropped, and the other side learns it, later.
    fn cut(&mut self, end: End) {
        self.calls.retain(|(caller, _)| *caller != end);
        let at = self.pipes.iter().position(|pipe| pipe.ends.contains(&end));
        if let Some(at) = at {
            let side = usize::from(self.pipes[at].ends[1] == end);
            self.break_pipe(at, side);
        }
    }

    /// Breaks a connection. One end has learnt it; the other learns it after some of the frames that are on their way.
    fn break_pipe(&mut self, at: usize, knows: usize) {
        let pipe = &mut self.pipes[at];
        if pipe.broken.is_some_and(|first| first != knows) {
            self.pipes.swap_remove(at);
            return;
        }
        pipe.broken = Some(knows);
        pipe.frames[knows].clear();
        let arrive = pipe.frames[1 - knows].len();
        let arrive = self.below(arrive + 1);
        self.pipes[at].frames[1 - knows].truncate(arrive);
        self.breaks += 1;
    }

    fn hand_over(&mut self, (process, number): End, frame: Frame) {
        let message = matches!(frame.kind, FrameKind::Whole | FrameKind::Start | FrameKind::Part);
        self.direct += u64::from(process > 0 && number > 0 && message);
        let named = format!("{frame:?}");
        let taken = self.side(process).handle_frame(number, frame);
        assert_eq!(taken, Ok(()), "process {process}, connection {number}: {named:.200}");
    }

    fn deliver(&mut self, process: usize, delivery: Delivery) {
        let it = &mut self.processes[process - 1];
        match delivery {
            Delivery::Joined { site, number, .. } => {
                assert!(it.there.insert(site, (number, 0)).is_none());
            }
            Delivery::Lost { site: 0 } => it.ended = true,
            Delivery::Lost { site } => drop(it.there.remove(&site).unwrap()),
            Delivery::Message { from, number, bytes } => {
                assert!(!it.ended, "a message after the end");
                assert_eq!(it.there[&from].0, number);
                let count = it.arrived.entry(number).or_default();
                let found = u64::from_le_bytes(bytes[..8].try_into().unwrap());
                assert_eq!(found, *count, "process {process} from {number}");
                *count += 1;
            }
            Delivery::End => it.ended = true,
        }
    }

    /// A process writes to another one.
    fn write(&mut self, most: usize) {
        let from = self.below(self.processes.len());
        let long = if self.below(30) == 0 { CHUNK } else { 0 };
        let extra = self.below(20);
        let messages = 1 + self.below(most);
        let it = &self.processes[from];
        let others: Vec<Rank> = it.there.keys().copied().collect();
        if it.dead || it.ended || !it.sends || others.is_empty() {
            return;
        }
        let to = others[self.below(others.len())];
        let it = &mut self.processes[from];
        for _ in 0..messages {
            let (number, count) = it.there.get_mut(&to).unwrap();
            let (number, mut bytes) = (*number, count.to_le_bytes().to_vec());
            *count += 1;
            bytes.resize(8 + extra + long, 7);
            it.leaf.handle_command(HubCommand::Send { to, number, bytes });
        }
        self.sent += messages as u64;
    }

    /// A link that is being opened succeeds or fails.
    fn answer(&mut self, fails: bool) {
        if self.calls.is_empty() {
            return;
        }
        let at = self.below(self.calls.len());
        let (caller, called) = self.calls.swap_remove(at);
        let own = self.processes[caller.0 - 1].key;
        let found = self.processes.iter().position(|it| !it.dead && !it.ended && it.key == called);
        let found =
            found.filter(|&i| self.processes[i].keys.lock().unwrap().contains(&own) && !fails);
        let Some(found) = found else {
            return self.side(caller.0).on_disconnected(caller.1, "cannot be reached");
        };
        let number = 1 + self.breaks as u32 + self.pipes.len() as u32 + 1000 * self.sent as u32;
        let hello = super::table::hello();
        self.processes[found].leaf.handle_command(HubCommand::JoinRequest {
            number,
            hello,
            key: own,
        });
        // The hello is a part of the request.
        self.side(caller.0).outbox(caller.1).unwrap().write_frames(&mut Vec::new(), 1);
        let ends = [caller, (found + 1, number)];
        self.pipes.push(Pipe { ends, frames: Default::default(), broken: None });
    }

    fn step(&mut self, faults: bool) {
        match self.below(100) {
            0..30 => self.write(12),
            30..33 => {
                let fails = faults && self.below(3) == 0;
                self.answer(fails);
            }
            33 => {
                let process = self.below(self.processes.len() + 1);
                (0..15).for_each(|_| self.side(process).on_tick());
            }
            34 if faults && self.below(3) == 0 => {
                let links: Vec<usize> =
                    (0..self.pipes.len()).filter(|&at| self.pipes[at].ends[0].0 > 0).collect();
                if !links.is_empty() {
                    // Often a link that has just opened.
                    let newest = self.below(2) == 0;
                    let at = if newest { links.len() - 1 } else { self.below(links.len()) };
                    let (at, knows) = (links[at], self.below(2));
                    let end = self.pipes[at].ends[knows];
                    if self.pipes[at].broken.is_none() {
                        self.break_pipe(at, knows);
                        self.side(end.0).on_disconnected(end.1, "it broke");
                    }
                }
            }
            35 if faults && self.below(40) == 0 => self.kill(),
            36 if faults && !self.closing && self.below(10) == 0 => self.join(),
            _ if self.pipes.is_empty() => {}
            _ => {
                let (at, end) = (self.below(self.pipes.len()), self.below(2));
                let pipe = &mut self.pipes[at];
                let (process, number) = pipe.ends[end];
                if let Some(frame) = pipe.frames[end].pop_front() {
                    self.hand_over((process, number), frame);
                } else if pipe.broken == Some(1 - end) {
                    self.pipes.swap_remove(at);
                    self.side(process).on_disconnected(number, "it broke");
                }
            }
        }
        self.settle();
    }

    /// A process dies, with all its connections.
    fn kill(&mut self) {
        let process = 1 + self.below(self.processes.len());
        self.processes[process - 1].dead = true;
        self.calls.retain(|(caller, _)| caller.0 != process);
        for at in (0..self.pipes.len()).rev() {
            let own = self.pipes[at].ends.iter().position(|end| end.0 == process);
            own.into_iter().for_each(|own| self.break_pipe(at, own));
        }
    }

    /// All processes that live finish, and everything that was sent arrives before the end.
    fn finish(&mut self) {
        self.closing = true;
        self.hub.handle_command(HubCommand::Finish);
        for it in &mut self.processes {
            if !it.dead {
                it.sends = false;
                it.leaf.handle_command(HubCommand::Finish);
            }
        }
        let mut steps = 0;
        while self.processes.iter().any(|it| !it.dead && !it.ended) {
            self.step(steps < 2000 && self.pipes.len() > 2);
            steps += 1;
            assert!(steps < 300_000, "no end");
        }
        let counts: BTreeMap<u32, &Process> =
            self.processes.iter().map(|it| (it.number, it)).collect();
        for it in self.processes.iter().filter(|it| !it.dead) {
            for (number, sent) in it.there.values().filter(|(number, _)| !counts[number].dead) {
                let arrived = counts[number].arrived.get(&it.number).copied().unwrap_or_default();
                assert_eq!(arrived, *sent, "from {} to {number}", it.number);
            }
        }
    }
}

#[test]
fn every_message_arrives_once_and_in_order() {
    let seeds = std::env::var("PLEACH_SEEDS").ok().and_then(|word| word.parse().ok()).unwrap_or(80);
    let (mut direct, mut breaks, mut sent) = (0, 0, 0);
    for seed in 0..seeds {
        let mut world = World::new(seed);
        (0..3).for_each(|_| world.join());
        let faults = !seed.is_multiple_of(4);
        let steps = 500 + world.below(1500);
        for _ in 0..steps {
            world.step(faults);
        }
        world.finish();
        direct += world.direct;
        breaks += world.breaks;
        sent += world.sent;
    }
    println!(
        "{seeds} searches: {sent} messages, {direct} frames by links, {breaks} broken connections"
    );
    assert!(direct > sent / 20 && breaks > seeds, "{direct} {breaks} {sent}");
}

//! Packets of every kind, for tests.

use super::GatewayPacket;
use crate::lease::gateway::{GatewayMessage, Portion};
use crate::lease::{Lease, LeaseMessage, ProgressReport, Rec, SiteId};
use crate::search::tree::{Counts, Solution};
use crate::search::work::Work;
use crate::steal::{Message, Power, Ticket};
use oorandom::Rand64;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The number of sites in the packets.
pub const SITES: u32 = 4;

type PartIds = ProgressReport<Portion<Counts>>;

/// A random number of any length.
fn number(rng: &mut Rand64) -> u64 {
    rng.rand_u64() >> rng.rand_range(0..64)
}

fn place(rng: &mut Rand64) -> SiteId {
    rng.rand_range(0..u64::from(SITES)) as SiteId
}

/// A piece of work.
pub fn piece(rng: &mut Rand64) -> Arc<Work> {
    let bytes = (0..1 + rng.rand_range(0..9)).map(|_| rng.rand_u64() as u8).collect();
    let least_bound = number(rng).cast_signed();
    Arc::new(Work { size: number(rng) as f64, least_bound, bytes })
}

/// Counts and open work.
pub fn portion(rng: &mut Rand64) -> Portion<Counts> {
    let counts = [number(rng) >> 1, number(rng) >> 1, number(rng), number(rng) >> 40];
    let [branched, bounded, total, depth] = counts;
    let tally = (0..rng.rand_range(0..3)).map(|_| number(rng).into()).collect();
    let done = Counts { branched, bounded, total: total.into(), depth: depth as u32, tally };
    let open = (0..rng.rand_range(0..3)).map(|_| piece(rng)).collect();
    Portion { done, open }
}

/// A progress report with fresh names.
pub fn progress_report(rng: &mut Rand64, names: &mut u64, depth: u32) -> PartIds {
    let mut subs = BTreeMap::new();
    let most = if depth == 0 { 0 } else { 3 };
    for _ in 0..rng.rand_range(0..most + 1) {
        *names += 1;
        let lease = Lease { site: place(rng), incarnation: 1 << 40, number: *names };
        subs.insert(lease, rec(rng, names, depth - 1));
    }
    ProgressReport { content: portion(rng), subs }
}

/// A lease passed on.
pub fn rec(rng: &mut Rand64, names: &mut u64, depth: u32) -> Rec<Portion<Counts>> {
    let (holder, acked) = (place(rng), rng.rand_range(0..2) == 0);
    let latest = rng.rand_range(0..4) > 0;
    let latest = latest.then(|| Arc::new(progress_report(rng, names, depth)));
    Rec { holder, acked, given: Arc::new(portion(rng)), latest }
}

/// Progress reports within progress reports, this many levels of them.
pub fn tower(levels: usize) -> PartIds {
    let mut part = PartIds::default();
    for number in 0..levels as u64 {
        let lease = Lease { site: 0, incarnation: 1, number };
        let given = Arc::default();
        let rec = Rec { holder: 1, acked: true, given, latest: Some(Arc::new(part)) };
        part = ProgressReport { content: Portion::default(), subs: BTreeMap::from([(lease, rec)]) };
    }
    part
}

/// All messages that a site can send about a lease that it holds.
pub fn messages_about(
    lease: Lease,
    rng: &mut Rand64,
    names: &mut u64,
) -> Vec<LeaseMessage<Portion<Counts>>> {
    let mut part = || Arc::new(progress_report(rng, names, 3));
    let (commit, back) = (part(), part());
    let plan = (0..rng.rand_range(0..4)).map(|_| number(rng).cast_signed()).collect();
    let best = Some(Solution { score: number(rng).cast_signed(), solution: plan });
    vec![
        LeaseMessage::Ack { lease },
        LeaseMessage::Commit { lease, progress_report: commit, best: None },
        LeaseMessage::Committed { lease },
        LeaseMessage::Return { lease, progress_report: back, best },
        LeaseMessage::Returned { lease },
        LeaseMessage::Adopt { lease },
        LeaseMessage::Missing { lease },
        LeaseMessage::Unknown { lease },
    ]
}

/// New work with its name.
pub fn work_of(site: SiteId, rng: &mut Rand64, names: &mut u64) -> LeaseMessage<Portion<Counts>> {
    *names += 1;
    let content = Portion::open((0..1 + rng.rand_range(0..2)).map(|_| piece(rng)).collect());
    let lease = Lease { site, incarnation: 1 << 40, number: *names };
    LeaseMessage::Work { lease, content, best: None }
}

/// A packet of each kind.
pub fn packets(rng: &mut Rand64, names: &mut u64) -> Vec<GatewayPacket> {
    let from = place(rng);
    let lease = Lease { site: place(rng), incarnation: number(rng), number: number(rng) };
    let load = number(rng);
    let mut messages: Vec<GatewayMessage<Counts>> = [
        Message::Ask { power: Power(number(rng)), workers: 7, waits: true },
        Message::Refuse,
        Message::Done,
        Message::Unpark,
        Message::Pass { thief: place(rng), power: Power(number(rng)) },
        Message::Passed { served: true, load },
        Message::Load { load },
        Message::Below { power: Power(number(rng)), peers: 7 },
    ]
    .map(GatewayMessage::Peer)
    .into();
    let ticket = Ticket { giver: from, number: number(rng) };
    messages.push(GatewayMessage::Gift(ticket, work_of(from, rng, names)));
    messages.push(GatewayMessage::Lease(work_of(from, rng, names)));
    messages.extend(messages_about(lease, rng, names).into_iter().map(GatewayMessage::Lease));
    messages.push(if from > 0 {
        GatewayMessage::Draw { dry: load.is_multiple_of(2) }
    } else {
        GatewayMessage::Nodes(load)
    });
    messages.push(GatewayMessage::Best(Solution { score: -3, solution: vec![2, 0, 1] }));
    messages.extend([GatewayMessage::Stop, GatewayMessage::Arriving]);
    messages.into_iter().map(|message| GatewayPacket { from, message }).collect()
}

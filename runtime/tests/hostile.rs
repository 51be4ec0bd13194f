//! Broken, foreign and forged messages and checkpoints: they give an error or decode consistently.

use oorandom::Rand64;
use pleach_core::lease::gateway::{GatewayMessage, GatewayPacket, Portion};
use pleach_core::lease::{Lease, LeaseMessage, ProgressReport, Rec};
use pleach_core::search::laws::{full_explorer, mutate};
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::{Counts, Solution};
use pleach_core::search::work::{Malformed, Nodes, Pack, Reader, Work};
use pleach_core::steal::Ticket;
use pleach_core::wire::checkpoint::Checkpoint;
use pleach_core::wire::{ContentKind, seal};
use pleach_problems::flowshop::{Flowshop, named::named};
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;
use pleach_problems::uts::{Uts, parameters::Parameters};
use std::sync::Arc;

/// Content put into an envelope unchanged.
struct Raw<'a>(&'a [u8]);

impl Pack for Raw<'_> {
    const LEAST: usize = 0;

    fn pack(&self, out: &mut Vec<u8>) {
        out.extend(self.0);
    }

    fn unpack(_: &mut Reader<'_>) -> Result<Self, Malformed> {
        Err(Malformed::Range)
    }
}

/// Bytes of an envelope before and after its content.
const HEAD: usize = 21;
const SEAL: usize = 8;

/// The number of bytes that decoding this many bytes may allocate: a value encoded in one byte takes up to a few
/// machine words, lists grow by doubling, and a map of one lease takes as much as a map of eleven.
fn size_class(bytes: usize) -> u64 {
    80 * bytes as u64 + 1024
}

/// The number of mutated inputs: `PLEACH_MUTANTS`, or 100,000.
fn mutants() -> u64 {
    std::env::var("PLEACH_MUTANTS").ok().and_then(|word| word.parse().ok()).unwrap_or(100_000)
}

/// Problems, each with a piece of its work.
fn works() -> Vec<(Box<dyn Problem>, Work)> {
    let uts = Uts::new(Parameters::parse("T1").unwrap(), Level::best());
    let queens = Queens::new(14, Level::best()).unwrap();
    let flowshop = Flowshop::new(named("ta021").unwrap(), Level::best());
    let mut ranked = flowshop.clone();
    ranked.nodes = Nodes::Interval;
    let problems: [Box<dyn Problem>; 4] =
        [Box::new(uts), Box::new(queens), Box::new(flowshop), Box::new(ranked)];
    let with_work = |problem: Box<dyn Problem>| {
        let mut explorer = full_explorer(&*problem);
        explorer.run(10_000, i64::MAX);
        let half = explorer.split(0.5).unwrap();
        drop(explorer);
        (problem, half)
    };
    problems.into_iter().map(with_work).collect()
}

/// Messages between sites, and checkpoints, with this work.
fn envelopes(work: &Work, fingerprint: u64) -> Vec<Vec<u8>> {
    let ticket = Ticket { giver: 1, number: 300 };
    let checkpoint = Checkpoint {
        fingerprint,
        about: "solve flowshop ta021".into(),
        elapsed_ns: 1 << 40,
        counts: Counts {
            branched: 5,
            bounded: 1 << 40,
            total: 1 << 100,
            depth: 20,
            tally: vec![0, 1 << 100],
        },
        best: 2297,
        solution: Some(Solution { score: 2297, solution: (1..21).collect() }),
        pieces: vec![work.clone(), work.clone()],
        ..Checkpoint::default()
    };
    let part = nested(work, 3);
    let lease = Lease { site: 1, incarnation: 7, number: 300 };
    let commit =
        LeaseMessage::Commit { lease, progress_report: Arc::new(part.clone()), best: None };
    let content = Portion::open(vec![Arc::new(work.clone())]);
    let gift = GatewayMessage::Gift(ticket, LeaseMessage::Work { lease, content, best: None });
    let packets =
        [gift, GatewayMessage::Lease(commit)].map(|message| GatewayPacket { from: 1, message });
    let packets = packets.iter().map(|packet| packet.to_bytes(fingerprint));
    let checkpoints = [checkpoint.clone().with_progress_report(&part), checkpoint];
    packets.chain(checkpoints.iter().map(Checkpoint::to_bytes)).collect()
}

/// A progress report with this many levels of nested leases.
fn nested(work: &Work, levels: u64) -> ProgressReport<Portion<Counts>> {
    let mut part = ProgressReport::of(Portion::open(vec![Arc::new(work.clone())]));
    for number in 0..levels {
        let mut outer = ProgressReport::of(Portion::default());
        let lease = Lease { site: 0, incarnation: 1, number };
        outer.subs.insert(
            lease,
            Rec { holder: 1, acked: true, given: Arc::default(), latest: Some(Arc::new(part)) },
        );
        part = outer;
    }
    part
}

/// The values that bytes decode to.
type Read = (Option<GatewayPacket>, Option<Checkpoint>);

/// Decodes bytes as every kind of value, within the allowed memory.
fn read(bytes: &[u8], fingerprint: u64) -> Read {
    let mut read = (None, None);
    let used = allocation_counter::measure(|| {
        let packet = GatewayPacket::from_bytes(bytes, fingerprint, 4).ok();
        read = (packet, Checkpoint::from_bytes(bytes).ok());
    });
    assert!(used.bytes_max <= size_class(bytes.len()), "{used:?} for {} bytes", bytes.len());
    read
}

#[test]
fn mutated_inputs_are_refused() {
    let rng = &mut Rand64::new(11);
    let works = works();
    let prints: Vec<u64> = works.iter().map(|(problem, _)| problem.fingerprint()).collect();
    let good: Vec<Vec<Vec<u8>>> =
        works.iter().zip(&prints).map(|((_, work), &print)| envelopes(work, print)).collect();
    let (mut inputs, mut taken, mut refused) = (0, 0, 0);
    while inputs < mutants() {
        let which = rng.rand_range(0..works.len() as u64) as usize;
        let kinds = &good[which];
        let original = &kinds[rng.rand_range(0..kinds.len() as u64) as usize];
        let bytes = mutate(original, rng);
        inputs += 1;
        if bytes != *original {
            assert_eq!(read(&bytes, prints[which]), (None, None), "{bytes:?} was read");
        }
        // Unchanged, it is foreign to any other search.
        let other = prints[(which + 1) % prints.len()];
        assert!(GatewayPacket::from_bytes(original, other, 4).is_err());
        if bytes.len() < HEAD + SEAL {
            continue;
        }
        // The same damage under a valid seal, as a faulty sender would produce it: any decoded value
        // encodes to the same bytes, and its work is rejected or can be searched.
        let content = Raw(&bytes[HEAD..bytes.len() - SEAL]);
        let kinds = [ContentKind::GatewayMessage, ContentKind::Checkpoint];
        let kind = kinds.into_iter().find(|kind| original.starts_with(&kind.mark())).unwrap();
        let sealed = seal(kind, prints[which], &content);
        let (packet, checkpoint) = read(&sealed, prints[which]);
        let mut pieces = Vec::new();
        if let Some(packet) = packet {
            assert_eq!(packet.to_bytes(prints[which]), sealed);
            if let GatewayMessage::Gift(_, LeaseMessage::Work { content, .. }) = packet.message {
                pieces.extend(content.open.iter().map(|piece| piece.bytes.clone()));
            }
        }
        if let Some(checkpoint) = checkpoint {
            assert_eq!(checkpoint.to_bytes(), sealed);
            let Ok(checkpoint) = checkpoint.flattened() else { continue };
            pieces.extend(checkpoint.pieces.into_iter().map(|piece| piece.bytes));
        }
        for piece in pieces {
            let mut explorer = works[which].0.explorer();
            match explorer.add_work(&piece) {
                Ok(()) => {
                    taken += 1;
                    explorer.run(50, i64::MAX);
                    let _ = explorer.split(0.5);
                }
                Err(_) => refused += 1,
            }
        }
    }
    println!(
        "{inputs} inputs; under a valid seal, {taken} pieces were read as work, {refused} refused"
    );
    assert!(taken > 0 && refused > 0);
}

/// The maximum memory that bytes can demand: empty leases, nested and side by side.
#[test]
fn leases_take_memory_in_proportion() {
    let held = |part| {
        let (given, latest) = (Arc::default(), Some(Arc::new(part)));
        Rec { holder: 0, acked: false, given, latest }
    };
    let empty = ProgressReport::of(Portion::<Counts>::default());
    let mut wide = empty.clone();
    for number in 0..20_000 {
        let lease = Lease { site: 0, incarnation: 0, number };
        wide.subs.insert(lease, held(empty.clone()));
    }
    let mut forks = empty;
    for part in [nested(&Work::default(), 900), wide] {
        let number = 1 << 40 | forks.subs.len() as u64;
        let lease = Lease { site: 0, incarnation: 0, number };
        for part in [&part, &forks] {
            let checkpoint = Checkpoint::default().with_progress_report(part);
            let read = read(&checkpoint.to_bytes(), 0);
            assert_eq!(read.1, Some(checkpoint));
        }
        forks.subs.insert(lease, held(part));
    }
}

//! A site that sends invalid messages: the others ignore them, or end if they cannot do without it.

use super::network::{LASTING, ThreadNetwork as Links, mortal, with_links};
use super::settings;
use oorandom::Rand64;
use pleach_cluster::{Arrival, Network};
use pleach_core::lease::gateway::{GatewayMessage, GatewayPacket, Portion};
use pleach_core::lease::{Lease, LeaseMessage, ProgressReport, Rec, Terms};
use pleach_core::search::laws::mutate;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::{Nodes, Pack, Reader, Work};
use pleach_core::steal::{Message, Power};
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;
use pleach_runtime::on_drop::OnDrop;
use pleach_runtime::{Outcome, RunError, Settings, Stop, WorkerPool};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// Short timeouts: a site that takes work and stays silent soon loses it.
const IMPATIENT: Terms = Terms {
    commit_ns: 5_000_000,
    lease_ns: 200_000_000,
    patience_ns: 1_000_000_000,
    most_commit_bytes: u64::MAX,
};

/// The packets of honest sites in a search like the one below.
fn packets(queens: &Queens) -> Vec<Vec<u8>> {
    let parts = with_links(3, LASTING);
    let part = |at: usize| {
        let (cluster, _) = &parts[at];
        let processes = Some(Arc::clone(cluster) as _);
        let settings = Settings { processes, pace: Some(1_000_000), ..settings(1) };
        let cluster = &parts[at].0;
        if at > 0 {
            cluster.next_order(|| true).unwrap();
        }
        WorkerPool::default().run(queens, &settings, &mut |_| ControlFlow::Continue(())).unwrap();
        cluster.end();
    };
    thread::scope(|scope| (0..3).for_each(|at| drop(scope.spawn(move || part(at)))));
    parts[0].1.sent()
}

#[test]
fn damaged_and_repeated_messages_change_no_count() {
    let queens = Queens::new(12, Level::best()).unwrap();
    let packets = &packets(&queens);
    assert!(packets.len() > 10);
    let mut ended = 0;
    for seed in 0..10 {
        let mut parts = mortal(3, IMPATIENT);
        let (_, mut rogue) = parts.pop().unwrap();
        let over = &AtomicBool::new(false);
        let parts = &parts;
        let queens = &queens;
        thread::scope(|scope| {
            scope.spawn(move || {
                let rng = &mut Rand64::new(seed);
                while !over.load(Ordering::Relaxed) {
                    for _ in 0..50 {
                        let which = rng.rand_range(0..packets.len() as u64) as usize;
                        let mut bytes = packets[which].clone();
                        if rng.rand_range(0..8) > 0 {
                            bytes = mutate(&bytes, rng);
                        }
                        rogue.send(rng.rand_range(0..2) as u32, bytes);
                    }
                    thread::sleep(Duration::from_micros(200));
                }
            });
            scope.spawn(move || {
                let (cluster, _) = &parts[1];
                let settings =
                    Settings { processes: Some(Arc::clone(cluster) as _), ..settings(1) };
                let waits = || !over.load(Ordering::Relaxed);
                if matches!(cluster.next_order(waits), Ok(Some(_))) {
                    // It may receive an end or a failure that never happened.
                    let _ = WorkerPool::default()
                        .run(queens, &settings, &mut |_| ControlFlow::Continue(()));
                }
            });
            // The scope waits for the other threads, also after a panic.
            let _over = OnDrop(|| over.store(true, Ordering::Relaxed));
            let (cluster, _) = &parts[0];
            let settings = Settings {
                processes: Some(Arc::clone(cluster) as _),
                pace: Some(2_000_000),
                ..settings(1)
            };
            let outcome =
                WorkerPool::default().run(queens, &settings, &mut |_| ControlFlow::Continue(()));
            // Any site may say that the search must stop or has failed. Nothing else stops it.
            match outcome {
                Ok(outcome) if outcome.stop == Some(Stop::Memory) => {}
                Ok(outcome) => {
                    ended += 1;
                    assert_eq!((outcome.counts.total, outcome.stop), (14_200, None), "{seed}");
                }
                Err(why) => assert!(matches!(why, RunError::Site { .. }), "{why}"),
            }
        });
    }
    assert!(ended > 0, "no search was completed");
}

/// A search of processes that live and die together used to wait without end for what an invalid message had said.
#[test]
fn an_invalid_message_ends_a_search_that_cannot_do_without_its_sender() {
    let queens = Queens::new(12, Level::best()).unwrap();
    let mut parts = with_links(2, LASTING);
    let (_, mut rogue) = parts.pop().unwrap();
    rogue.send(0, vec![1, 1, 77]);
    let processes = Some(Arc::clone(&parts[0].0) as _);
    let settings = Settings { processes, ..settings(1) };
    let outcome = WorkerPool::default().run(&queens, &settings, &mut |_| ControlFlow::Continue(()));
    let why = outcome.unwrap_err().to_string();
    assert!(why.ends_with("invalid message from site 1"), "{why}");
}

/// Sends the root a message from site 1 about its first search.
pub fn write(links: &mut Links, message: GatewayMessage<Counts>, fingerprint: u64) {
    links.send(0, packet(1, message, fingerprint));
}

/// A site's message about the first search.
fn packet(from: u32, message: GatewayMessage<Counts>, fingerprint: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A search's number, and the variant of the message.
    (1u64, 1u32, GatewayPacket { from, message }.to_bytes(fingerprint)).pack(&mut bytes);
    bytes
}

/// A search by a root and site 1, where processes come and go, and what site 2 tells site 1 as the search begins.
/// Returns the root's outcome and the number of nodes of site 1.
fn misled(lie: GatewayMessage<Counts>, settings: &Settings) -> (Outcome, u64) {
    let queens = &Queens::new(12, Level::best()).unwrap();
    let mut parts = mortal(3, IMPATIENT);
    let (_, mut rogue) = parts.pop().unwrap();
    rogue.send(1, packet(2, lie, queens.fingerprint()));
    let clusters: Vec<_> = parts.into_iter().map(|(cluster, _)| cluster).collect();
    let search = |at: usize, settings: &Settings| {
        let processes = Some(Arc::clone(&clusters[at]) as _);
        let settings = Settings { processes, ..settings.clone() };
        WorkerPool::default().run(queens, &settings, &mut |_| ControlFlow::Continue(())).unwrap()
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            clusters[1].next_order(|| true).unwrap();
            search(1, &self::settings(1)).counts.bounded
        });
        let outcome = search(0, settings);
        (outcome, other.join().unwrap())
    })
}

/// A site's search used to end, or to stop, as soon as another site that was not the root said so.
#[test]
fn only_the_root_ends_the_search_of_a_site() {
    // The root needs seconds alone, so that site 1 gets its part however late it is.
    let settings = Settings { pace: Some(200_000), node_limit: Some(1 << 40), ..settings(1) };
    for lie in [
        GatewayMessage::Peer(Message::Done),
        GatewayMessage::Draw { dry: true },
        GatewayMessage::Stop,
    ] {
        let shown = format!("{lie:?}");
        let (outcome, nodes) = misled(lie, &settings);
        assert_eq!((outcome.counts.total, outcome.stop), (14_200, None), "{shown}");
        assert!(nodes > 0, "{shown} ended the search of site 1");
    }
}

/// A site used to take a limit's nodes from any other site.
#[test]
fn only_the_root_grants_nodes() {
    let limit = 50_000;
    // The root needs seconds alone, as above.
    let settings = Settings { pace: Some(20_000), node_limit: Some(limit), ..settings(1) };
    let (outcome, nodes) = misled(GatewayMessage::Nodes(1 << 40), &settings);
    assert_eq!(outcome.stop, Some(Stop::Nodes));
    // The last stretch of a worker may end a visit of some thousand nodes late; the whole tree has 856,188.
    let most = limit + 10_000;
    assert!(outcome.counts.bounded <= most && nodes > 0, "{nodes} of {:?}", outcome.counts);
}

/// The lease that a message gives, if any, and the work that it names.
pub fn given(bytes: &[u8], fingerprint: u64) -> Option<(Lease, Portion<Counts>)> {
    let read: Result<(u64, u32, Vec<u8>), _> = Pack::unpack(&mut Reader::new(bytes));
    let (_, _, packet) = read.ok().filter(|&(_, variant, _)| variant == 1)?;
    match GatewayPacket::from_bytes(&packet, fingerprint, 2).ok()?.message {
        GatewayMessage::Gift(_, LeaseMessage::Work { lease, content, .. }) => {
            Some((lease, content))
        }
        _ => None,
    }
}

/// What a root counts, together with a site that takes work, reports this about it, and falls silent.
fn counted_despite(
    queens: &Queens,
    lie: impl Fn(Portion<Counts>) -> ProgressReport<Portion<Counts>> + Send,
) -> u128 {
    let fingerprint = queens.fingerprint();
    let mut parts = mortal(2, IMPATIENT);
    let (_, mut links) = parts.pop().unwrap();
    let (over, lies) = (&AtomicBool::new(false), &AtomicU32::new(0));
    let rogue = move || {
        while !over.load(Ordering::Relaxed) {
            let ask = Message::Ask { power: Power(1000), workers: 1, waits: false };
            write(&mut links, GatewayMessage::Peer(ask), fingerprint);
            while let Ok(Some(arrival)) = links.poll() {
                let Arrival::Message { bytes, .. } = arrival else { continue };
                let Some((lease, content)) = given(&bytes, fingerprint) else { continue };
                let progress_report = Arc::new(lie(content));
                write(&mut links, GatewayMessage::Lease(LeaseMessage::Ack { lease }), fingerprint);
                let word = LeaseMessage::Commit { lease, progress_report, best: None };
                write(&mut links, GatewayMessage::Lease(word), fingerprint);
                lies.fetch_add(1, Ordering::Relaxed);
            }
            thread::sleep(Duration::from_millis(1));
        }
    };
    let outcome = thread::scope(|scope| {
        scope.spawn(rogue);
        // The scope waits for the rogue, also after a panic.
        let _over = OnDrop(|| over.store(true, Ordering::Relaxed));
        let processes = Some(Arc::clone(&parts[0].0) as _);
        let settings = Settings { processes, pace: Some(500_000), ..settings(1) };
        WorkerPool::default().run(queens, &settings, &mut |_| ControlFlow::Continue(()))
    });
    assert!(lies.load(Ordering::Relaxed) > 0, "the root gave nothing away");
    outcome.unwrap().counts.total
}

/// A progress report with unreadable work used to be kept and saved unread. It crashed the root, and everything that
/// resumed the root's file.
#[test]
fn unreadable_work_is_not_kept() {
    let queens = Queens::new(12, Level::best()).unwrap();
    let bad = Arc::new(Work { size: 5.0, least_bound: i64::MIN, bytes: vec![0xff; 40] });
    let lie = |_| ProgressReport::of(Portion::open(vec![bad.clone()]));
    assert_eq!(counted_despite(&queens, lie), 14_200);
}

/// A progress report with leaves that its lease does not name, or with leaves twice, used to be kept. When the root took
/// it over, the search failed, or counted nodes twice.
#[test]
fn leaves_that_were_not_given_are_not_kept() {
    let mut queens = Queens::new(12, Level::best()).unwrap();
    queens.nodes = Nodes::Interval;
    let queens = &queens;
    let of = |open: Vec<Arc<Work>>| ProgressReport::of(Portion::open(open));
    let whole = Arc::new(queens.root());
    assert_eq!(counted_despite(queens, |_| of(vec![whole.clone()])), 14_200);
    assert_eq!(
        counted_despite(queens, |given| of([&given.open[..], &given.open].concat())),
        14_200
    );
    let open_and_passed_on = |given: Portion<Counts>| {
        let mut progress_report = of(given.open.clone());
        let lease = Lease { site: 1, incarnation: 5, number: 0 };
        let rec = Rec { holder: 0, acked: true, given: Arc::new(given), latest: None };
        progress_report.subs.insert(lease, rec);
        progress_report
    };
    assert_eq!(counted_despite(queens, open_and_passed_on), 14_200);
}

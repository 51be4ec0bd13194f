//! Tests damaged packets: a site refuses them or survives what they say.

use oorandom::Rand64;
use pleach_core::lease::gateway::samples::{
    SITES, messages_about, packets, piece, progress_report, work_of,
};
use pleach_core::lease::gateway::{GatewayMessage, GatewayPacket, Portion};
use pleach_core::lease::{
    Lease, LeaseAction, LeaseMessage, LeaseTimer, ProgressReport, Site, SiteId, Terms,
};
use pleach_core::search::laws::mutate;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::{Malformed, Pack, Reader};
use pleach_core::wire::{ContentKind, seal};

const PRINT: u64 = 9;
const ME: SiteId = 1;
/// The site is replaced after this many packets.
const STRETCH: u64 = 64;

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

/// A site in the middle of a run: it holds leases and has given some of their work to others.
struct Scene {
    timer: LeaseTimer<Portion<Counts>>,
    /// Packets that may arrive in this state.
    packets: Vec<GatewayPacket>,
}

fn scene(rng: &mut Rand64, names: &mut u64) -> Scene {
    let mut site = Site::new(ME, 77);
    let mut actions = Vec::new();
    let mut about: Vec<(SiteId, Lease)> = Vec::new();
    for from in [0, 2, 3] {
        let work = work_of(from, rng, names);
        about.push((from, work.lease()));
        site.handle_message(from, work, &mut actions);
    }
    for held in about.clone() {
        let (to, piece) = (rng.rand_range(0..u64::from(SITES)) as SiteId, piece(rng));
        let give = |_: &mut Portion<Counts>| Some(Portion::open(vec![piece]));
        let lease = site.lend_work(Some(held.1), to, give, &mut actions).unwrap();
        about.push((to, lease));
        if rng.rand_range(0..2) == 0 {
            // The receiver has lent some of it in turn.
            let progress_report = progress_report(rng, names, 2).into();
            site.handle_message(
                to,
                LeaseMessage::Commit { lease, progress_report, best: None },
                &mut actions,
            );
        }
    }
    // One lease is on its way back, if everything given from it has arrived.
    let (lender, lease) = about[0];
    site.change_content(Some(lease), |content| content.open.clear());
    site.return_holding(Some(lease), &mut actions);
    about.push((lender, lease));
    let mut all = packets(rng, names);
    for (from, lease) in about {
        let messages = messages_about(lease, rng, names);
        all.extend(
            messages
                .into_iter()
                .map(|message| GatewayPacket { from, message: GatewayMessage::Lease(message) }),
        );
    }
    let terms =
        Terms { commit_ns: 10, lease_ns: 1000, patience_ns: 4000, most_commit_bytes: u64::MAX };
    Scene { timer: LeaseTimer::new(site, terms), packets: all }
}

/// The number of holdings, leases and open pieces of a site, including those nested in other leases.
fn holdings(site: &Site<Portion<Counts>>) -> [usize; 3] {
    let mut all = [0; 3];
    for holding in site.holdings() {
        let [holdings, leases, pieces] = &mut all;
        *holdings += 1;
        *leases += holding.part().nested().count();
        *pieces += open(holding.part());
    }
    all
}

fn open(part: &ProgressReport<Portion<Counts>>) -> usize {
    let nested = part.nested().map(|(_, rec)| rec.content().open.len().max(rec.given.open.len()));
    part.content.open.len() + nested.sum::<usize>()
}

/// Damages the content of a packet.
fn damage(good: &[u8], other: &[u8], rng: &mut Rand64) -> Vec<u8> {
    let mut bytes = good.to_vec();
    let place = |length: usize, rng: &mut Rand64| rng.rand_range(0..length as u64 + 1) as usize;
    match rng.rand_range(0..4) {
        0 => return mutate(good, rng),
        1 => {
            // The front of one packet and the end of the other.
            bytes.truncate(place(good.len(), rng));
            bytes.extend(&other[place(other.len(), rng)..]);
        }
        2 => {
            // A different number.
            let (half, any) = (u64::MAX / 2, rng.rand_u64() >> rng.rand_range(0..64));
            let number = [half, half + 1, u64::MAX, u32::MAX.into(), any][place(4, rng)];
            let at = place(good.len() - 1, rng);
            let ends = |&byte: &u8| byte < 0x80;
            let length = bytes[at..].iter().position(ends).map_or(1, |last| last + 1);
            let mut instead = Vec::new();
            number.pack(&mut instead);
            bytes.splice(at..at + length, instead);
        }
        _ => {
            let at = place(good.len() - 1, rng);
            bytes[at] = rng.rand_range(0..8) as u8;
        }
    }
    bytes
}

/// Delivers a packet. Whatever the site then holds or says must come from the packet. Returns whether the site took
/// something over.
fn hear(timer: &mut LeaseTimer<Portion<Counts>>, packet: GatewayPacket, now_ns: u64) -> bool {
    let (GatewayMessage::Gift(_, message) | GatewayMessage::Lease(message)) = packet.message else {
        return false;
    };
    let site = timer.site();
    let before = holdings(site);
    let nested = message.progress_report().map_or(0, |part| part.nested().count());
    let pieces = match &message {
        LeaseMessage::Work { content, .. } => content.open.len(),
        _ => message.progress_report().map_or(0, open),
    };
    // After a wrong suspicion two holdings may list the same lease.
    let lists = |part: &ProgressReport<_>| part.subs.contains_key(&message.lease());
    let lists = site.holdings().iter().filter(|holding| lists(holding.part())).count().max(1);
    let new = usize::from(matches!(message, LeaseMessage::Work { .. }));
    let shown = format!("{message:?}");
    let mut actions = Vec::new();
    timer.handle_message(packet.from, message, now_ns, &mut actions);
    let after = holdings(timer.site());
    for (after, most) in after.into_iter().zip([
        before[0] + new,
        before[1] + nested * lists,
        before[2] + pieces * lists,
    ]) {
        assert!(after <= most, "from {before:?} to {after:?}: {shown}");
    }
    // Taking over work that was reported earlier leads to more actions.
    let most = 4 + before[1] + (nested + 1) * lists;
    assert!(actions.len() <= most, "{} actions, at most {most}: {shown}", actions.len());
    timer.track_leases(now_ns);
    actions.iter().any(|action| matches!(action, LeaseAction::TakenOver { .. }))
}

fn bombard(mutants: u64) {
    let (rng, names) = (&mut Rand64::new(17), &mut 1000);
    let [mut read, mut heard, mut taken_over, mut most, mut now_ns] = [0; 5];
    let [mut lapsed, mut dropped] = [0; 2];
    let mut scene = scene(rng, names);
    for mutant in 0..mutants {
        if mutant % STRETCH == 0 {
            scene = self::scene(rng, names);
        }
        // In every fourth scene, others are silent for long.
        let long = (mutant / STRETCH).is_multiple_of(4);
        now_ns += rng.rand_range(0..if long { 100 } else { 10 });
        let mut actions = Vec::new();
        scene.timer.check_timers(now_ns, &mut actions);
        scene.timer.track_leases(now_ns);
        for action in actions {
            lapsed += u64::from(matches!(action, LeaseAction::Lapsed { .. }));
            dropped += u64::from(matches!(action, LeaseAction::Dropped { .. }));
        }
        let mut pick = || &scene.packets[rng.rand_range(0..scene.packets.len() as u64) as usize];
        let (good, other) = (pick(), pick());
        if mutant % 16 == 0 {
            // With the seal of the undamaged packet, no other content passes.
            let good = good.to_bytes(PRINT);
            let bytes = mutate(&good, rng);
            let decoded = GatewayPacket::from_bytes(&bytes, PRINT, SITES);
            assert!(decoded.is_err() || bytes == good, "{bytes:?} was read");
            continue;
        }
        let [good, other] = [good, other].map(|packet| {
            let mut bytes = Vec::new();
            packet.pack(&mut bytes);
            bytes
        });
        let bytes = seal(ContentKind::GatewayMessage, PRINT, &Raw(&damage(&good, &other, rng)));
        let Ok(packet) = GatewayPacket::from_bytes(&bytes, PRINT, SITES) else { continue };
        assert_eq!(packet.to_bytes(PRINT), bytes, "another encoding of {packet:?}");
        read += 1;
        heard += u64::from(matches!(
            packet.message,
            GatewayMessage::Gift(..) | GatewayMessage::Lease(_)
        ));
        taken_over += u64::from(hear(&mut scene.timer, packet, now_ns));
        most = most.max(holdings(scene.timer.site())[1] as u64);
    }
    println!(
        "leases: {mutants} damaged packets, {read} read, {heard} of them messages, with {taken_over} taken over; at \
         most {most} leases held; {lapsed} lapsed, {dropped} holdings dropped"
    );
    assert!(heard > mutants / 20 && taken_over > mutants / 200);
    assert!(lapsed > mutants / 2000 && dropped > mutants / 2000, "the timers had no effect");
}

#[test]
fn damaged_packets_do_no_harm() {
    bombard(if super::tests::LONG { 10_000_000 } else { 200_000 });
}

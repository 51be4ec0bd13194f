//! Damaged letters: whatever they say, they are refused, or a site lives with them.

use crate::gateway::samples::{SITES, certificate, letters, piece, words_about, work_of};
use crate::gateway::{Letter, Portion, Post};
use crate::laws::mutate;
use crate::lease::{Certificate, Deed, Lease, LeaseTimer, Site, SiteId, Terms, Word};
use crate::tree::Counts;
use crate::wire::{Kind, seal};
use crate::work::{Malformed, Pack, Reader};
use oorandom::Rand64;

const PRINT: u64 = 9;
const ME: SiteId = 1;
/// As many letters come before the site is made anew.
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

/// A site in the middle of a run: it holds work for others, and has given some of it on.
struct Scene {
    timer: LeaseTimer<Portion<Counts>>,
    /// What may come to it as things are.
    mail: Vec<Letter>,
}

fn scene(rng: &mut Rand64, names: &mut u64) -> Scene {
    let mut site = Site::new(ME, 77);
    let mut deeds = Vec::new();
    let mut about: Vec<(SiteId, Lease)> = Vec::new();
    for from in [0, 2, 3] {
        let work = work_of(from, rng, names);
        about.push((from, work.lease()));
        site.on(from, work, &mut deeds);
    }
    for held in about.clone() {
        let (to, piece) = (rng.rand_range(0..u64::from(SITES)) as SiteId, piece(rng));
        let give = |_: &mut Portion<Counts>| Some(Portion::open(vec![piece]));
        let lease = site.give(Some(held.1), to, give, &mut deeds).unwrap();
        about.push((to, lease));
        if rng.rand_range(0..2) == 0 {
            // It has given on of that in turn.
            let certificate = certificate(rng, names, 2).into();
            site.on(to, Word::Commit { lease, certificate, best: None }, &mut deeds);
        }
    }
    // One is on its way back, if all that was given of it has arrived.
    let (lender, lease) = about[0];
    site.change(Some(lease), |content| content.open.clear());
    site.give_back(Some(lease), &mut deeds);
    about.push((lender, lease));
    let mut mail = letters(rng, names);
    for (from, lease) in about {
        let words = words_about(lease, rng, names);
        mail.extend(words.into_iter().map(|word| Letter { from, post: Post::Word(word) }));
    }
    let terms = Terms { commit_ns: 10, lease_ns: 1000, patience_ns: 4000 };
    Scene { timer: LeaseTimer::new(site, terms), mail }
}

/// Estates, leases and open pieces of a site, those within other leases included.
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

fn open(part: &Certificate<Portion<Counts>>) -> usize {
    let nested = part.nested().map(|(_, rec)| rec.content().open.len().max(rec.given.open.len()));
    part.content.open.len() + nested.sum::<usize>()
}

/// Damages what a letter says.
fn damage(good: &[u8], other: &[u8], rng: &mut Rand64) -> Vec<u8> {
    let mut bytes = good.to_vec();
    let place = |length: usize, rng: &mut Rand64| rng.rand_range(0..length as u64 + 1) as usize;
    match rng.rand_range(0..4) {
        0 => return mutate(good, rng),
        1 => {
            // The front of one, the end of another.
            bytes.truncate(place(good.len(), rng));
            bytes.extend(&other[place(other.len(), rng)..]);
        }
        2 => {
            // Another number.
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

/// Lets the site hear a letter. Whatever it then holds or says was in the letter. Returns whether it took
/// something over.
fn hear(timer: &mut LeaseTimer<Portion<Counts>>, letter: Letter, now_ns: u64) -> bool {
    let (Post::Gift(_, word) | Post::Word(word)) = letter.post else { return false };
    let site = timer.site();
    let before = holdings(site);
    let nested = word.certificate().map_or(0, |part| part.nested().count());
    let pieces = match &word {
        Word::Work { content, .. } => content.open.len(),
        _ => word.certificate().map_or(0, open),
    };
    // After a wrong suspicion two holdings may list the same lease.
    let lists = |part: &Certificate<_>| part.subs.contains_key(&word.lease());
    let lists = site.holdings().iter().filter(|holding| lists(holding.part())).count().max(1);
    let new = usize::from(matches!(word, Word::Work { .. }));
    let shown = format!("{word:?}");
    let mut deeds = Vec::new();
    timer.on(letter.from, word, now_ns, &mut deeds);
    let after = holdings(timer.site());
    for (after, most) in after.into_iter().zip([
        before[0] + new,
        before[1] + nested * lists,
        before[2] + pieces * lists,
    ]) {
        assert!(after <= most, "from {before:?} to {after:?}: {shown}");
    }
    // Folds of what was told before say more.
    let most = 4 + before[1] + (nested + 1) * lists;
    assert!(deeds.len() <= most, "{} deeds, at most {most}: {shown}", deeds.len());
    timer.note(now_ns);
    deeds.iter().any(|deed| matches!(deed, Deed::Folded { .. }))
}

fn bombard(mutants: u64) {
    let (rng, names) = (&mut Rand64::new(17), &mut 1000);
    let [mut read, mut heard, mut folds, mut most, mut now_ns] = [0; 5];
    let mut scene = scene(rng, names);
    for mutant in 0..mutants {
        if mutant % STRETCH == 0 {
            scene = self::scene(rng, names);
        }
        let mut pick = || &scene.mail[rng.rand_range(0..scene.mail.len() as u64) as usize];
        let (good, other) = (pick(), pick());
        if mutant % 16 == 0 {
            // Under the seal of the undamaged letter, nothing passes.
            let good = good.to_bytes(PRINT);
            let bytes = mutate(&good, rng);
            let decoded = Letter::from_bytes(&bytes, PRINT, SITES);
            assert!(decoded.is_err() || bytes == good, "{bytes:?} was read");
            continue;
        }
        let [good, other] = [good, other].map(|letter| {
            let mut bytes = Vec::new();
            letter.pack(&mut bytes);
            bytes
        });
        let bytes = seal(Kind::Post, PRINT, &Raw(&damage(&good, &other, rng)));
        let Ok(letter) = Letter::from_bytes(&bytes, PRINT, SITES) else { continue };
        assert_eq!(letter.to_bytes(PRINT), bytes, "another encoding of {letter:?}");
        read += 1;
        heard += u64::from(matches!(letter.post, Post::Gift(..) | Post::Word(_)));
        now_ns += rng.rand_range(0..100);
        folds += u64::from(hear(&mut scene.timer, letter, now_ns));
        most = most.max(holdings(scene.timer.site())[1] as u64);
        if rng.rand_range(0..8) == 0 {
            let mut deeds = Vec::new();
            scene.timer.look(now_ns, &mut deeds);
            scene.timer.note(now_ns);
        }
    }
    println!(
        "leases: {mutants} damaged letters, {read} read, {heard} of them words, with {folds} folds; at \
         most {most} leases held"
    );
    assert!(heard > mutants / 20 && folds > mutants / 200);
}

#[test]
fn damaged_letters_do_no_harm() {
    bombard(if super::tests::LONG { 10_000_000 } else { 200_000 });
}

//! The laws of work and explorers, as checks that any test can apply to any implementation.
//!
//! Each check panics with what went wrong. They serve the tests of this workspace and those of
//! users who write their own explorers or nodes.

use crate::search::explorer::{Explorer, Progress, joined};
use crate::search::problem::Problem;
use crate::search::work::{Pack, Reader, Work};
use oorandom::Rand64;

/// A value survives a round trip; truncated bytes are refused; altered bytes are refused or decode
/// to a value that packs to those bytes.
///
/// # Panics
/// If the value breaks the law.
pub fn pack_law<T: Pack + PartialEq + std::fmt::Debug>(value: &T, rng: &mut Rand64) {
    let mut bytes = Vec::new();
    value.pack(&mut bytes);
    assert!(bytes.len() >= T::LEAST, "{value:?} takes fewer bytes than `LEAST`");
    let mut reader = Reader::new(&bytes);
    assert_eq!(T::unpack(&mut reader).as_ref(), Ok(value));
    assert_eq!(reader.finish(), Ok(()), "{value:?} left bytes over");
    for end in 0..bytes.len() {
        let cut = T::unpack(&mut Reader::new(&bytes[..end]));
        assert!(cut.is_err(), "{value:?} cut at {end} was read as {cut:?}");
    }
    if bytes.is_empty() {
        return;
    }
    for _ in 0..20 {
        let mut hostile = bytes.clone();
        let place = rng.rand_range(0..hostile.len() as u64) as usize;
        hostile[place] = rng.rand_u64() as u8;
        let mut reader = Reader::new(&hostile);
        if let Ok(other) = T::unpack(&mut reader) {
            let read = hostile.len() - reader.left();
            let mut again = Vec::new();
            other.pack(&mut again);
            assert_eq!(again, hostile[..read], "{other:?} has two encodings");
        }
    }
}

/// Runs an explorer until its work is done.
pub fn run_to_end(explorer: &mut dyn Explorer, best: i64) -> Progress {
    let mut sum = Progress::default();
    let mut best = best;
    while explorer.size() > 0.0 {
        let progress = explorer.run(1 << 20, best);
        best = progress.found.as_ref().map_or(best, |found| found.score);
        sum.add(progress);
    }
    sum
}

/// An explorer that has all work of a problem.
///
/// # Panics
/// If the problem's root is malformed.
#[must_use]
pub fn full_explorer(problem: &dyn Problem) -> Box<dyn Explorer + '_> {
    let mut explorer = problem.explorer();
    explorer.add_work(&problem.root().bytes).expect("the root is canonical");
    explorer
}

/// The open work of a problem from the middle of a search.
#[must_use]
pub fn open_work_after(problem: &dyn Problem, fuel: u64) -> Work {
    let mut explorer = full_explorer(problem);
    explorer.run(fuel, i64::MAX);
    explorer.drain()
}

/// Explores all work of a problem.
#[must_use]
pub fn explore_whole(problem: &dyn Problem, best: i64) -> Progress {
    run_to_end(&mut *full_explorer(problem), best)
}

/// No node is lost or explored twice, however the work is split, packed and passed on.
///
/// Several explorers take random turns: one runs a little, gives a random share to another, or
/// hands everything over. Their counts must add up to those of `whole`.
///
/// # Panics
/// If an explorer breaks the law.
pub fn explorer_law<'p>(
    make: &dyn Fn(usize) -> Box<dyn Explorer + 'p>,
    root: &Work,
    best: i64,
    whole: &Progress,
    seed: u64,
) {
    late_explorer_law(make, root, best, whole, (seed, 0));
}

/// The explorer law for explorers that may give nothing up to `retries` times in a row.
///
/// # Panics
/// If an explorer breaks the law.
pub fn late_explorer_law<'p>(
    make: &dyn Fn(usize) -> Box<dyn Explorer + 'p>,
    root: &Work,
    best: i64,
    whole: &Progress,
    (seed, retries): (u64, u32),
) {
    let mut rng = Rand64::new(u128::from(seed));
    let mut explorers: Vec<_> = (0..4).map(make).collect();
    explorers[0].add_work(&root.bytes).expect("the root is canonical");
    let mut sum = Progress::default();
    while explorers.iter().any(|explorer| explorer.size() > 0.0) {
        let from = rng.rand_range(0..4) as usize;
        let to = rng.rand_range(0..4) as usize;
        match rng.rand_range(0..4) {
            0 | 1 => sum.add(explorers[from].run(rng.rand_range(1..2000), best)),
            2 => {
                let (mut size, share) = (explorers[from].size(), rng.rand_float());
                let mut given = explorers[from].split(share);
                let mut left = retries;
                while given.is_none() && size >= 2.0 && left > 0 {
                    left -= 1;
                    // The work that it waits for arrives while it explores.
                    sum.add(explorers[from].run(1, best));
                    size = explorers[from].size();
                    given = explorers[from].split(share);
                }
                assert_eq!(given.is_some(), size >= 2.0, "a split of {size} nodes");
                if let Some(work) = given {
                    assert!(work.size >= 1.0, "a piece without nodes");
                    assert!(explorers[from].size() > 0.0, "a split gave everything");
                    explorers[to].add_work(&work.bytes).expect("a split is canonical");
                }
            }
            _ if rng.rand_range(0..8) == 0 => {
                let copy = explorers[from].copy();
                let all = explorers[from].drain();
                assert_eq!(copy.bytes, all.bytes, "a copy and a drain differ");
                assert!(explorers[from].size() == 0.0, "a drain left something");
                let all = in_pieces(&mut *explorers[from], &all, &mut rng);
                let all = joined(&mut *explorers[from], &all).expect("pieces are canonical");
                explorers[to].add_work(&all.bytes).expect("a drain is canonical");
            }
            _ => {}
        }
    }
    assert_eq!(sum.counts, whole.counts, "seed {seed}");
}

/// Divides work into up to twenty pieces, with an explorer that has none.
fn in_pieces(explorer: &mut dyn Explorer, all: &Work, rng: &mut Rand64) -> Vec<Work> {
    explorer.add_work(&all.bytes).expect("a drain is canonical");
    let mut pieces: Vec<Work> =
        (0..rng.rand_range(0..20)).map_while(|_| explorer.split(rng.rand_float())).collect();
    pieces.push(explorer.drain());
    pieces
}

/// Bytes with up to three random changes: flipped bits, cuts, additions.
#[must_use]
pub fn mutate(good: &[u8], rng: &mut Rand64) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..rng.rand_range(1..4) {
        match rng.rand_range(0..3) {
            0 if !bytes.is_empty() => {
                let place = rng.rand_range(0..bytes.len() as u64) as usize;
                bytes[place] ^= 1 << rng.rand_range(0..8);
            }
            1 => bytes.truncate(rng.rand_range(0..bytes.len() as u64 + 1) as usize),
            _ => bytes.push(rng.rand_u64() as u8),
        }
    }
    bytes
}

/// Hostile bytes give an error or valid work, never a panic or an excessive allocation.
///
/// Work that is accepted is explored briefly, split and drained. If it is refused, work that is already there stays.
///
/// # Panics
/// If an explorer breaks the law.
pub fn hostile_law(make: &dyn Fn() -> Box<dyn Explorer>, good: &[u8], rounds: u32, seed: u64) {
    let mut rng = Rand64::new(u128::from(seed));
    let mut full = make();
    full.add_work(good).expect("good work");
    let size = full.size();
    for _ in 0..rounds {
        let bytes = mutate(good, &mut rng);
        let mut explorer = make();
        if explorer.add_work(&bytes).is_ok() {
            explorer.run(100, i64::MAX);
            let _ = explorer.split(0.5);
            explorer.drain();
        } else {
            assert!(full.add_work(&bytes).is_err(), "accepted where there is work already");
            assert_eq!(full.size(), size, "malformed work changed what was there");
        }
    }
}

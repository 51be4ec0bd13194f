//! Tests intervals of queens: every cut of every small board, and the laws.

use super::*;
use pleach_core::search::explorer::{Progress, check_division};
use pleach_core::search::laws;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::interval::point;
use pleach_core::search::work::{Interval, Malformed};
use std::sync::Arc;

fn with_intervals(n: u32) -> Queens {
    Queens { nodes: Nodes::Interval, ..Queens::new(n, Level::Off).expect("a size to count") }
}

/// A search of half of the board, and one of all of it.
fn both(n: u32) -> [Queens; 2] {
    [false, true].map(|whole| Queens { whole, ..with_intervals(n) })
}

fn whole(queens: &Queens) -> Progress {
    let mut explorer = queens.explorer();
    explorer.add_work(&Problem::root(queens).bytes).expect("the root");
    laws::run_to_end(&mut *explorer, i64::MAX)
}

fn pool(n: u32) -> Progress {
    whole(&Queens::new(n, Level::Off).expect("a size to count"))
}

#[test]
fn intervals_count_what_pools_count() {
    for n in 1..=12 {
        for queens in both(n) {
            assert_eq!(whole(&queens).counts, pool(n).counts, "{queens:?}");
        }
    }
    let counts = whole(&with_intervals(12)).counts;
    assert_eq!((counts.total, counts.bounded), (14_200, 856_188));
}

#[test]
fn every_cut_of_every_small_board_loses_nothing() {
    let some = (1..=7).map(with_intervals).chain((1..=6).map(|n| both(n)[1]));
    for queens in some {
        let n = queens.n;
        let wanted = pool(n).counts;
        let all = (1..=u128::from(n)).product::<u128>();
        let leaves = if queens.whole { all } else { all.div_ceil(2) };
        let explorer = &mut *queens.explorer();
        let places = n as usize;
        let mut of = |from: u128, upto: u128| -> Counts {
            let (begin, end) = (point(places, from), point(places, upto));
            let work = Intervals::one(places, Interval { begin, end, bound: i64::MIN }).to_work();
            explorer.add_work(&work.bytes).expect("a part of the whole");
            laws::run_to_end(explorer, i64::MAX).counts
        };
        assert_eq!(of(0, leaves), wanted, "{n} queens");
        let cuts: Vec<u128> = (1..leaves).collect();
        let front: Vec<Counts> = cuts.iter().map(|&cut| of(0, cut)).collect();
        let back: Vec<Counts> = cuts.iter().map(|&cut| of(cut, leaves)).collect();
        for from in 0..cuts.len() {
            for upto in from..cuts.len() {
                // More leaves have too many pairs of cuts.
                if leaves > 360 && upto > from {
                    break;
                }
                let mut all = front[from].clone();
                if upto > from {
                    all.add(&of(cuts[from], cuts[upto]));
                }
                all.add(&back[upto]);
                assert_eq!(all, wanted, "{n} queens, cuts at {} and {}", cuts[from], cuts[upto]);
            }
        }
    }
}

#[test]
fn every_place_to_stop_is_found_again() {
    for queens in (1..=8).flat_map(both) {
        let n = queens.n;
        let wanted = pool(n).counts;
        let explorer = &mut *queens.explorer();
        explorer.add_work(&Problem::root(&queens).bytes).expect("the root");
        let mut counts = Counts::default();
        while explorer.size() > 0.0 {
            counts.add(&explorer.run(1, i64::MAX).counts);
            let mut other = queens.explorer();
            other.add_work(&explorer.copy().bytes).expect("its own work");
            let mut all = counts.clone();
            all.add(&laws::run_to_end(&mut *other, i64::MAX).counts);
            assert_eq!(all, wanted, "{n} queens");
        }
    }
}

#[test]
fn the_laws_hold() {
    for queens in (1..=11).flat_map(both) {
        let whole = pool(queens.n);
        for seed in 0..20 {
            let root = Problem::root(&queens);
            laws::explorer_law(&|_| queens.explorer(), &root, i64::MAX, &whole, seed);
        }
    }
}

#[test]
fn hostile_intervals_do_no_harm() {
    for n in [1, 2, 5, 8, 17, 32] {
        let queens: &'static Queens = Box::leak(Box::new(with_intervals(n)));
        let mut explorer = queens.explorer();
        explorer.add_work(&Problem::root(queens).bytes).expect("the root");
        laws::hostile_law(&|| queens.explorer(), &Problem::root(queens).bytes, 300, 1);
        explorer.run(if n < 8 { 1 } else { 20_000 }, i64::MAX);
        laws::hostile_law(&|| queens.explorer(), &explorer.drain().bytes, 300, 2);
    }
    let queens = with_intervals(6);
    let beyond = Intervals::one(6, Interval::whole(6)).to_work();
    assert_eq!(queens.explorer().add_work(&beyond.bytes), Err(Malformed::Range));
    let bounded = Interval { bound: 3, ..rows::whole(&queens) };
    let bounded = Intervals::one(6, bounded).to_work();
    assert_eq!(queens.explorer().add_work(&bounded.bytes), Err(Malformed::Range));
}

#[test]
fn divisions_have_no_leaf_twice_and_none_that_was_not_given() {
    let queens = with_intervals(8);
    let part = |(from, upto): (u128, u128)| {
        let (begin, end) = (point(8, from), point(8, upto));
        Intervals::one(8, Interval { begin, end, bound: i64::MIN }).to_work()
    };
    let given = [(100, 200), (200, 400), (500, 600)].map(|bounds| Arc::new(part(bounds)));
    let explorer = &mut *queens.explorer();
    let mut check = |pieces: &[(u128, u128)]| {
        let pieces: Vec<Work> = pieces.iter().copied().map(part).collect();
        let pieces: Vec<&Work> = pieces.iter().collect();
        let alone = check_division(explorer, &pieces, None);
        let within = check_division(explorer, &pieces, Some(&given[..]));
        assert_eq!(explorer.size(), 0.0, "work is left");
        (alone.is_ok(), within.is_ok())
    };
    for fits in [&[][..], &[(100, 400)], &[(550, 560), (120, 130), (130, 390)]] {
        assert_eq!(check(fits), (true, true), "{fits:?}");
    }
    for exceeds in [&[(99, 101)][..], &[(399, 401)], &[(120, 130), (400, 500)], &[(150, 550)]] {
        assert_eq!(check(exceeds), (true, false), "{exceeds:?}");
    }
    for wrong in [&[(110, 120), (119, 121)][..], &[(110, 120), (110, 120)], &[(30_000, 30_001)]] {
        assert_eq!(check(wrong), (false, false), "{wrong:?}");
    }
}

#[test]
fn shares_tell_what_is_open() {
    for queens in both(12) {
        let mut explorer = queens.explorer();
        explorer.add_work(&Problem::root(&queens).bytes).expect("the root");
        assert_eq!(explorer.open_share(), Some(1.0));
        let progress = explorer.run(200_000, i64::MAX);
        let done = progress.counts.bounded as f64 / 856_188.0;
        let open = explorer.open_share().expect("an estimate");
        assert!((0.8..1.2).contains(&(open + done)), "{open} open, {done} done");
    }
}

//! Tests counts against published ones, and the laws, at every level and width.

use super::*;
use pleach_core::search::explorer::Progress;
use pleach_core::search::laws;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::{Entry, Malformed};

/// Solutions and placements on boards of 1, 2, … squares per side.
const KNOWN: [(u128, u64); 17] = [
    (1, 1),
    (0, 2),
    (0, 5),
    (2, 16),
    (10, 53),
    (4, 152),
    (40, 551),
    (92, 2056),
    (352, 8393),
    (724, 35538),
    (2680, 166_925),
    (14_200, 856_188),
    (73_712, 4_674_889),
    (365_596, 27_358_552),
    (2_279_184, 171_129_071),
    (14_772_512, 1_141_190_302),
    (95_815_104, 8_017_021_931),
];

/// The levels to test; prints and skips those that this processor lacks.
fn levels() -> Vec<Level> {
    let (works, lacks): (Vec<_>, Vec<_>) = Level::ALL.into_iter().partition(|level| level.works());
    lacks.iter().for_each(|level| println!("{level} skipped: this processor does not support it"));
    works
}

fn queens(n: u32, level: Level) -> Queens {
    Queens::new(n, level).expect("a size that can be counted")
}

/// A search of half of the board, and one of all of it.
fn both(n: u32, level: Level) -> [Queens; 2] {
    [false, true].map(|whole| Queens { whole, ..queens(n, level) })
}

/// Every explorer that can count the board, the plain one first.
fn explorers(queens: &Queens) -> Vec<Box<dyn Explorer + '_>> {
    #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
    let mut all: Vec<Box<dyn Explorer + '_>> = vec![Box::new(TreeExplorer::new(queens))];
    #[cfg(target_arch = "x86_64")]
    if queens.n >= WIDE_FROM {
        let narrow = queens_avx512::Words16::new().filter(|_| queens.n <= 16);
        all.extend(queens_avx2::Words32::new().and_then(|kernel| queens.wide(kernel)));
        all.extend(queens_avx512::Words32::new().and_then(|kernel| queens.wide(kernel)));
        all.extend(narrow.and_then(|kernel| queens.wide(kernel)));
    }
    all
}

fn count(explorer: &mut dyn Explorer, queens: &Queens) -> Progress {
    explorer.add_work(&Problem::root(queens).bytes).expect("the root");
    laws::run_to_end(explorer, i64::MAX)
}

#[track_caller]
fn check(progress: &Progress, n: u32) {
    let (solutions, placements) = KNOWN[n as usize - 1];
    assert_eq!(progress.counts.total, solutions, "solutions of {n} queens");
    assert_eq!(progress.counts.bounded, placements, "placements of {n} queens");
}

#[test]
fn all_levels_count_right() {
    for n in 1..=14 {
        for level in levels() {
            for queens in both(n, level) {
                check(&count(&mut *queens.explorer(), &queens), n);
            }
        }
    }
}

/// What a board of which the first rows are filled leads to, by trying every square.
fn by_hand(n: u32, placed: &mut Vec<u32>, counts: &mut Counts) {
    let row = placed.len() as u32;
    if row == n {
        counts.total += 1;
        return;
    }
    let attacks = |column: u32, (other, &queen): (u32, &u32)| {
        queen == column || queen.abs_diff(column) == row - other
    };
    let free = |column: &u32| !(0..).zip(placed.iter()).any(|queen| attacks(*column, queen));
    let free: Vec<u32> = (0..n).filter(free).collect();
    counts.branched += u64::from(row > 0 && !free.is_empty());
    counts.bounded += free.len() as u64;
    for column in free {
        placed.push(column);
        by_hand(n, placed, counts);
        placed.pop();
    }
}

#[test]
fn nodes_are_those_of_the_whole_board() {
    for n in 1..=9 {
        let mut wanted = Counts::default();
        by_hand(n, &mut Vec::new(), &mut wanted);
        for queens in both(n, Level::Off) {
            for nodes in Nodes::ALL {
                let queens = Queens { nodes, ..queens };
                let Counts { branched, bounded, total, .. } =
                    count(&mut *queens.explorer(), &queens).counts;
                let found = (branched, bounded, total);
                let wanted = (wanted.branched, wanted.bounded, wanted.total);
                assert_eq!(found, wanted, "{n} queens, {nodes}, whole: {}", queens.whole);
            }
        }
    }
}

/// On the whole board, each board of two queens is a node of its own.
#[test]
fn the_whole_board_has_twice_as_many_nodes_in_row_two() {
    let sizes = both(17, Level::Off).map(|queens| {
        let root = Problem::root(&queens);
        let top = Problem::top(&queens).expect("open nodes");
        let seeded = top.seed(&root.bytes, 2, i64::MAX, u64::MAX, &|| true).expect("the root");
        (seeded.work.size, seeded.progress.counts.bounded)
    });
    assert_eq!(sizes, [(120.0, 17 + 240), (240.0, 17 + 240)]);
}

/// A checkpoint of one is no checkpoint of the other; those of half the board can still be read.
#[test]
fn half_and_whole_boards_have_different_fingerprints() {
    let [half, whole] = both(9, Level::Off);
    let before = fingerprint("queens", &(9_u32, b"pool".to_vec()));
    assert_eq!(Problem::fingerprint(&half), before);
    assert_ne!(Problem::fingerprint(&whole), before);
}

#[test]
fn the_best_level_counts_large_boards_right() {
    let best = levels().pop().expect("plain code works");
    let most = match best {
        Level::Off => 0,
        Level::Avx2 => 16,
        Level::Avx512 => 17,
    };
    for n in 15..=most {
        let queens = queens(n, best);
        check(&count(&mut *queens.explorer(), &queens), n);
    }
}

#[test]
fn all_widths_count_the_same() {
    for queens in (1..=13).flat_map(|n| both(n, Level::Off)) {
        let mut explorers = explorers(&queens);
        let plain = count(&mut *explorers[0], &queens);
        check(&plain, queens.n);
        for (i, explorer) in explorers.iter_mut().enumerate() {
            let counts = count(&mut **explorer, &queens).counts;
            assert_eq!(counts, plain.counts, "{i} on {} queens", queens.n);
        }
    }
}

#[test]
fn all_explorers_exchange_work() {
    for queens in (1..=12).flat_map(|n| both(n, Level::Off)) {
        let root = Problem::root(&queens);
        let whole = count(&mut TreeExplorer::new(&queens), &queens);
        let kinds = explorers(&queens).len();
        let rounds = if queens.n < 11 { 8 } else { 2 };
        for seed in 0..rounds {
            for first in 0..kinds {
                let make = |i: usize| explorers(&queens).swap_remove((first + i) % kinds);
                laws::explorer_law(&make, &root, i64::MAX, &whole, seed);
            }
        }
    }
}

#[test]
fn hostile_bytes_do_no_harm() {
    for n in [1, 5, 8, 11, 16, 17, 32] {
        for level in levels() {
            let queens: &'static Queens = Box::leak(Box::new(queens(n, level)));
            let mut explorer = queens.explorer();
            explorer.add_work(&Problem::root(queens).bytes).expect("the root");
            laws::hostile_law(&|| queens.explorer(), &Problem::root(queens).bytes, 200, 1);
            explorer.run(if n < 8 { 1 } else { 20_000 }, i64::MAX);
            laws::hostile_law(&|| queens.explorer(), &explorer.drain().bytes, 200, 2);
        }
    }
}

#[test]
fn boards_that_no_search_meets_are_refused() {
    let good =
        Board { row: 2, columns: 0b101, left: 0b1100, right: 1, free: 0b1100_0010, fresh: true };
    let wrong = [
        Board { row: 1, ..good },
        Board { free: 0, ..good },
        Board { free: 0b1_1100_0010, ..good },
        Board { free: 0b1100_0110, ..good },
        Board { left: 1 << 8, ..good },
        Board { row: 3, columns: 0b101 | 1 << 8, ..good },
        Board { row: 8, columns: 0xff, left: 0, right: 0, free: 0, fresh: true },
    ];
    for level in levels() {
        let queens = queens(8, level);
        let put = |board: Board, depth, bound| {
            let pool = Pool::new(vec![Entry { bound, depth, share: 0.1, node: board }]);
            queens.explorer().add_work(&pool.to_work().bytes)
        };
        assert_eq!(put(good, 2, i64::MIN), Ok(()));
        assert_eq!(put(good, 3, i64::MIN), Err(Malformed::Range));
        assert_eq!(put(good, 2, 0), Err(Malformed::Range));
        for board in wrong {
            assert_eq!(put(board, board.row, i64::MIN), Err(Malformed::Range), "{board:?}");
        }
    }
}

#[test]
fn boards_are_packed_by_the_law() {
    let mut rng = oorandom::Rand64::new(7);
    for _ in 0..200 {
        let mut word = || rng.rand_u64() as u32 >> (rng.rand_u64() % 32);
        let (columns, left, right, free) = (word(), word(), word(), word());
        let row = columns.count_ones();
        let fresh = rng.rand_u64() & 1 == 1;
        let board = Board { row, columns, left, right, free, fresh };
        laws::pack_law(&board, &mut rng);
    }
}

#[test]
fn shares_tell_what_is_open() {
    for queens in levels().into_iter().flat_map(|level| both(12, level)) {
        let level = queens.level;
        let mut explorer = queens.explorer();
        explorer.add_work(&Problem::root(&queens).bytes).expect("the root");
        assert_eq!(explorer.open_share(), Some(1.0));
        let progress = explorer.run(200_000, i64::MAX);
        let done = progress.counts.bounded as f64 / KNOWN[11].1 as f64;
        let open = explorer.open_share().expect("an estimate");
        assert!((0.8..1.2).contains(&(open + done)), "{level}: {open} open, {done} done");
        assert!(explorer.split(0.5).is_some());
        let half = explorer.open_share().expect("an estimate");
        assert!(half < 0.9 * open, "{level}: {half} of {open} left by a split");
    }
}

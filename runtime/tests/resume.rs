//! Stopping and resuming: the final counts do not depend on the moment of the save.

use crate::shared::{Scratch, counted, problem, slow_threads};
use oorandom::Rand64;
use pleach_core::lease::gateway::Portion;
use pleach_core::lease::{Lease, ProgressReport, Rec};
use pleach_core::search::laws::full_explorer;
use pleach_core::search::problem::{Plain, Problem};
use pleach_core::search::tree::{Children, Counts, Goal, Tree};
use pleach_core::search::work::Work;
use pleach_core::steal::Policy;
use pleach_core::wire::checkpoint::Checkpoint;
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;
use pleach_runtime::{Outcome, ProgressSnapshot, RunError, Save, Settings, Stop, by_layers, run};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn settings(rng: &mut Rand64, best: Option<i64>) -> Settings {
    let threads = 1 + rng.rand_range(0..6) as u32;
    let policy =
        ["random-half", "overlay:degree=2", "adaptive:share=1/20", "lifelines", "adaptive"];
    Settings {
        threads,
        policy: Policy::parse(policy[rng.rand_range(0..5) as usize]).unwrap(),
        slow: slow_threads((0..threads).map(|_| [1.0, 1.5, 6.0][rng.rand_range(0..3) as usize])),
        seed: rng.rand_u64(),
        progress_every: Duration::from_millis(1),
        best,
        ..Settings::default()
    }
}

fn a_level(rng: &mut Rand64) -> Level {
    let levels: Vec<Level> = Level::ALL.into_iter().filter(|level| level.works()).collect();
    levels[rng.rand_range(0..levels.len() as u64) as usize]
}

/// Settings with which one process divides a pool twice.
fn dividing(rng: &mut Rand64, best: Option<i64>) -> Settings {
    let policy = [
        "dynamic:share=chunk/1,cutoff=2,second_cutoff=5,coordinator=yes",
        "guided:share=guided/3,cutoff=3,second_cutoff=6,coordinator=yes",
        "static:cutoff=1,second_cutoff=4,coordinator=yes",
    ];
    let policy = Policy::parse(policy[rng.rand_range(0..3) as usize]).unwrap();
    let all = settings(rng, best);
    Settings { threads: all.threads.max(3), policy, ..all }
}

/// Stops a run again and again, and resumes it on other threads and code paths.
fn stop_and_resume(
    (which, seed): (u64, u64),
    wanted: &Counts,
    settings: fn(&mut Rand64, Option<i64>) -> Settings,
) {
    let rng = &mut Rand64::new(u128::from(seed * 6 + which));
    let scratch = Scratch::new(&format!("stops-{which}-{seed}"));
    let mut resume = None;
    for stops in 0.. {
        let (problem, best) = problem(which, a_level(rng));
        let settings = Settings {
            node_limit: Some(1 + rng.rand_range(0..wanted.bounded)),
            save: Some(scratch.save(Duration::from_secs(100))),
            resume,
            ..settings(rng, best)
        };
        let outcome = run(&*problem, &settings, &mut |_| ControlFlow::Continue(())).unwrap();
        let saved = scratch.read();
        assert_eq!(saved.counts, outcome.counts);
        if outcome.stop.is_none() {
            assert_eq!(outcome.counts, *wanted, "{which}, seed {seed}, {stops} stops");
            assert!(saved.pieces.is_empty());
            break;
        }
        assert_eq!(outcome.stop, Some(Stop::Nodes));
        assert!(!saved.pieces.is_empty());
        resume = Some(saved);
    }
}

#[test]
fn stops_change_no_count() {
    for which in 0..7 {
        let wanted = counted(which);
        (0..5).for_each(|seed| stop_and_resume((which, seed), &wanted, settings));
        // Intervals have no pool of open nodes.
        if ![3, 5].contains(&which) {
            stop_and_resume((which, 5), &wanted, dividing);
        }
    }
}

/// Every snapshot that a crash could leave behind leads to the same counts.
#[test]
fn every_snapshot_leads_to_the_same_counts() {
    let mut tried = [0; 7];
    for which in 0..7 {
        let wanted = counted(which);
        for seed in 0..6 {
            let rng = &mut Rand64::new(u128::from(seed * 6 + which));
            let scratch = Scratch::new(&format!("crash-{which}-{seed}"));
            let mut seen: Vec<Vec<u8>> = Vec::new();
            let mut look = |_: &ProgressSnapshot| {
                let bytes = fs::read(&scratch.0).unwrap();
                if seen.last() != Some(&bytes) {
                    seen.push(bytes);
                }
                ControlFlow::Continue(())
            };
            let (first, best) = problem(which, a_level(rng));
            let save = Some(scratch.save(Duration::from_millis(1)));
            // Slow enough for several snapshots on any machine.
            let slow =
                slow_threads([[4.0, 200.0, 100.0, 30.0, 30.0, 30.0, 30.0][which as usize]; 8]);
            let settings_of_first = Settings { save, slow, ..settings(rng, best) };
            let outcome = run(&*first, &settings_of_first, &mut look).unwrap();
            assert_eq!(outcome.counts, wanted);
            tried[which as usize] += seen.len();
            // Try a few of the snapshots seen, including the first and the last.
            let step = seen.len().div_ceil(6).max(1);
            for bytes in seen.iter().step_by(step).chain(seen.last()) {
                let resume = Some(Arc::new(Checkpoint::from_bytes(bytes).unwrap()));
                let (problem, best) = problem(which, a_level(rng));
                let settings = Settings { resume, ..settings(rng, best) };
                let again = run(&*problem, &settings, &mut |_| ControlFlow::Continue(())).unwrap();
                assert_eq!(again.counts, wanted, "{which}, seed {seed}, {settings_of_first:?}");
            }
        }
    }
    println!("snapshots seen: {tried:?}");
    assert!(tried.iter().all(|&n| n >= 6), "{tried:?}");
}

/// Splits open work into pieces within pieces, and explores some of each, as sites would.
fn give_on(
    problem: &dyn Problem,
    open: Vec<Arc<Work>>,
    (rng, names, depth): (&mut Rand64, &mut u64, u32),
) -> ProgressReport<Portion<Counts>> {
    let mut explorer = problem.explorer();
    open.iter().for_each(|piece| explorer.add_work(&piece.bytes).unwrap());
    let mut part = ProgressReport::<Portion<Counts>>::default();
    for _ in 0..2 {
        let ran = explorer.run(rng.rand_range(0..20), i64::MAX);
        part.content.done.add(&ran.counts);
        let gift = (depth > 0).then(|| explorer.split(0.5)).flatten();
        if let Some(gift) = gift {
            *names += 1;
            let lease = Lease { site: depth, incarnation: rng.rand_u64(), number: *names };
            let given = Arc::new(Portion::open(vec![gift.into()]));
            let latest = || give_on(problem, given.open.clone(), (rng, names, depth - 1)).into();
            let latest = (depth > 1 || !lease.number.is_multiple_of(2)).then(latest);
            let (holder, acked) = (depth - 1, lease.number.is_multiple_of(2));
            let rec = Rec { holder, acked, given, latest };
            part.subs.insert(lease, rec);
        }
    }
    part.content.open.push(explorer.drain().into());
    part
}

/// One process resumes a file of several sites, and takes over what the others held.
#[test]
fn leases_of_other_sites_are_taken_over() {
    for which in 0..4 {
        let wanted = counted(which);
        let rng = &mut Rand64::new(which.into());
        let scratch = Scratch::new(&format!("sites-{which}"));
        let (first, best) = problem(which, a_level(rng));
        let limited = Settings {
            node_limit: Some(wanted.bounded / 8),
            save: Some(scratch.save(Duration::from_secs(100))),
            ..settings(rng, best)
        };
        run(&*first, &limited, &mut |_| ControlFlow::Continue(())).unwrap();
        let stopped = scratch.read();
        let before = stopped.progress_report().content;
        let mut names = 0;
        let mut part = give_on(&*first, before.open, (rng, &mut names, 3));
        part.content.done.add(&before.done);
        assert!(names > 8 && part.subs.len() == 2, "{names} leases");
        let shared = Checkpoint::clone(&stopped).with_progress_report(&part);
        fs::write(&scratch.0, shared.to_bytes()).unwrap();
        let read = scratch.read();
        assert_eq!(*read, shared);
        assert!(read.counted().unwrap().bounded > read.counts.bounded);
        // Stopped again, it is a file of one process.
        for limit in [Some(500), None] {
            let (problem, best) = problem(which, a_level(rng));
            let settings = Settings {
                node_limit: limit,
                save: Some(scratch.save(Duration::from_secs(100))),
                resume: Some(scratch.read()),
                ..settings(rng, best)
            };
            let outcome = run(&*problem, &settings, &mut |_| ControlFlow::Continue(())).unwrap();
            assert!(scratch.read().subs.is_empty());
            assert_eq!(scratch.read().counts, outcome.counts);
            if limit.is_none() {
                assert_eq!(outcome.counts, wanted, "{which}");
            }
        }
    }
}

/// A file in which a lease names leaves that are also open elsewhere, or in which a site has more than its lease names,
/// used to be resumed.
#[test]
fn leases_with_leaves_of_others_are_refused() {
    let (problem, _) = problem(3, Level::best());
    let mut explorer = full_explorer(&*problem);
    let part = Arc::new(explorer.split(0.25).unwrap());
    let there = Arc::new(explorer.split(0.5).unwrap());
    let here = Arc::new(explorer.drain());
    let open = |pieces: &[&Arc<Work>]| {
        Portion::<Counts>::open(pieces.iter().map(|&it| it.clone()).collect())
    };
    let resumed = |given: &[&Arc<Work>], latest: &[&Arc<Work>]| {
        let latest = Some(Arc::new(ProgressReport::of(open(latest))));
        let rec = Rec { holder: 1, acked: true, given: Arc::new(open(given)), latest };
        let mut whole = ProgressReport::of(open(&[&here]));
        whole.subs.insert(Lease { site: 0, incarnation: 1, number: 0 }, rec);
        let fingerprint = problem.fingerprint();
        let before = Checkpoint { fingerprint, run: 1, best: i64::MAX, ..Checkpoint::default() };
        let resume = Some(Arc::new(before.with_progress_report(&whole)));
        let settings = Settings { threads: 1, resume, ..Settings::default() };
        run(&*problem, &settings, &mut |_| ControlFlow::Continue(()))
    };
    let all = [&there, &part, &here];
    assert_eq!(resumed(&all[..2], &all[..2]).unwrap().counts.total, 14_200);
    for (given, latest) in [(&all[..], &all[..1]), (&all[..1], &all[..2])] {
        let why = resumed(given, latest).unwrap_err();
        let shown =
            "the checkpoint cannot be resumed: its content cannot be read: a value is out of range";
        assert!(matches!(why, RunError::Resume(_)) && why.to_string() == shown, "{why}");
    }
}

/// Words of 20 bits, which take minutes to count unless the search is to hurry.
struct Slow {
    hurry: AtomicBool,
}

impl Tree for Slow {
    type Node = u32;
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> u32 {
        0
    }

    fn expand(&self, &length: &u32, _: Option<i64>, out: &mut Children<'_, Self>) {
        if !self.hurry.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_micros(100));
        }
        if length == 20 {
            return out.count(1);
        }
        (0..2).for_each(|_| out.child(length + 1));
    }

    fn fingerprint(&self) -> Option<u64> {
        Some(1)
    }
}

/// From now on, the new file cannot be written. One may just be under way.
fn block(part_path: &Path) {
    while fs::create_dir(part_path).is_err() {
        let _ = fs::remove_file(part_path);
    }
}

/// A failed save is reported once, the search continues, and the old file stays.
#[test]
fn a_failed_save_leaves_the_old_file() {
    let scratch = Scratch::new("full");
    let mut part_path = scratch.0.clone().into_os_string();
    part_path.push(".part");
    let part_path = PathBuf::from(part_path);
    let tree = Plain(Slow { hurry: AtomicBool::new(false) });
    let settings = Settings {
        threads: 2,
        save: Some(scratch.save(Duration::from_millis(2))),
        progress_every: Duration::from_millis(1),
        ..Settings::default()
    };
    let (mut warnings, mut nodes) = (Vec::new(), Vec::new());
    let (mut looks, mut last_good) = (0, Vec::new());
    let mut look = |snapshot: &ProgressSnapshot| {
        looks += 1;
        if looks == 10 {
            block(&part_path);
            last_good = fs::read(&scratch.0).unwrap();
        }
        warnings.extend(snapshot.warning.clone());
        tree.0.hurry.store(!warnings.is_empty(), Ordering::Relaxed);
        nodes.push(snapshot.counts.bounded);
        ControlFlow::Continue(())
    };
    let outcome = run(&tree, &settings, &mut look).unwrap();
    fs::remove_dir(&part_path).unwrap();
    assert_eq!(outcome.counts.total, 1 << 20);
    // One line while the search continues, and one at its end, when work is lost.
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("the search continues"), "{warnings:?}");
    assert!(warnings[1].contains("the work since the last save is lost"), "{warnings:?}");
    // A warning at the end used to come with counts of zero.
    assert!(nodes.is_sorted() && nodes.last() > Some(&0), "{nodes:?}");
    let kept = fs::read(&scratch.0).unwrap();
    assert!(kept == last_good, "the file was changed");
    assert!(Checkpoint::from_bytes(&kept).is_ok());
}

/// A checkpoint that only its owner could read used to be readable by everybody after the next save.
#[cfg(unix)]
#[test]
fn a_save_keeps_the_permissions_of_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new("mode");
    let part_path = PathBuf::from(format!("{}.part", scratch.0.display()));
    for mode in [0o600, 0o640, 0o444] {
        for path in [&scratch.0, &part_path] {
            fs::write(path, "").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let (problem, _) = problem(1, Level::best());
        let save = Some(scratch.save(Duration::from_secs(100)));
        let settings = Settings { threads: 1, save, ..Settings::default() };
        run(&*problem, &settings, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(scratch.read().counts, counted(1));
        assert_eq!(fs::metadata(&scratch.0).unwrap().permissions().mode() & 0o777, mode);
        fs::remove_file(&scratch.0).unwrap();
        assert!(!part_path.exists());
    }
}

/// Once saves succeed again, the run says so.
#[test]
fn a_save_that_succeeds_again_is_reported() {
    let scratch = Scratch::new("again");
    let part_path = PathBuf::from(format!("{}.part", scratch.0.display()));
    let (problem, _) = problem(0, Level::best());
    let settings = Settings {
        threads: 2,
        save: Some(scratch.save(Duration::from_millis(2))),
        progress_every: Duration::from_millis(1),
        slow: slow_threads([1000.0, 1000.0]),
        ..Settings::default()
    };
    let (mut warnings, mut looks) = (Vec::new(), 0);
    let mut look = |snapshot: &ProgressSnapshot| {
        looks += 1;
        if looks == 2 {
            block(&part_path);
        }
        if let Some(warning) = &snapshot.warning {
            warnings.push(warning.clone());
            if warnings.len() == 2 {
                return ControlFlow::Break(());
            }
            fs::remove_dir(&part_path).unwrap();
        }
        ControlFlow::Continue(())
    };
    let outcome = run(&*problem, &settings, &mut look).unwrap();
    assert_eq!(outcome.stop, Some(Stop::Asked));
    assert!(warnings[0].contains("the search continues"), "{warnings:?}");
    assert!(warnings[1].ends_with(": saved again"), "{warnings:?}");
    let file = Checkpoint::from_bytes(&fs::read(&scratch.0).unwrap()).unwrap();
    assert_eq!(file.counts, outcome.counts);
}

/// A file that took the checkpoint's name during a search by layers used to end the search after them, and one that took it
/// later was overwritten.
#[test]
fn a_foreign_file_that_appears_is_kept_and_the_search_continues() {
    let scratch = Scratch::new("appears");
    fs::write(&scratch.0, "20 20\n").unwrap();
    let (problem, _) = problem(0, Level::best());
    let save = Some(Save { begun: true, ..scratch.save(Duration::from_secs(100)) });
    let settings = Settings { threads: 1, save, ..Settings::default() };
    let mut warnings = Vec::new();
    let outcome = run(&*problem, &settings, &mut |snapshot: &ProgressSnapshot| {
        warnings.extend(snapshot.warning.clone());
        ControlFlow::Continue(())
    });
    assert_eq!(outcome.unwrap().counts, counted(0));
    assert_eq!(fs::read_to_string(&scratch.0).unwrap(), "20 20\n");
    let named = |line: &String| line.contains("not a checkpoint; refusing to overwrite it");
    assert!(warnings.len() == 2 && warnings.iter().all(named), "{warnings:?}");
}

/// A line of nodes with keys, so that it is searched by layers.
struct Keyed;

impl Tree for Keyed {
    type Node = u32;
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> u32 {
        0
    }

    fn expand(&self, &node: &u32, _: Option<i64>, out: &mut Children<'_, Self>) {
        match node {
            9 => out.solution(9, || vec![9]),
            _ => out.child(node + 1),
        }
    }

    fn key(&self, &node: &u32) -> Option<u128> {
        Some(node.into())
    }
}

/// A watcher that stops the run at a warning before the layers used to be ignored until they ended.
#[test]
fn layers_do_not_begin_once_the_watcher_has_stopped_the_run() {
    let scratch = Scratch::new("unbegun");
    fs::write(&scratch.0, "20 20\n").unwrap();
    let save = Some(Save { begun: true, ..scratch.save(Duration::from_secs(100)) });
    let settings = Settings { threads: 1, save, ..Settings::default() };
    let rest = by_layers(&Plain(Keyed), &settings, &mut |_| ControlFlow::Break(()));
    let rest = rest.unwrap().unwrap();
    assert!(rest.cancel.is_cancelled());
    assert_eq!(rest.resume.unwrap().counts, Counts::default());
}

/// The run that continues used to have the whole limit again. The test runs in a process of its own, in which no other
/// one takes memory or frees it.
#[cfg(target_os = "linux")]
#[test]
fn memory_of_layers_counts_towards_the_limit() {
    const ALONE: &str = "PLEACH_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let mut alone = Command::new(std::env::current_exe().unwrap());
        alone.args(["--exact", "resume::memory_of_layers_counts_towards_the_limit"]);
        let output = alone.env(ALONE, "yes").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    /// 64 children of a mebibyte each, with keys.
    struct Large;
    impl Tree for Large {
        type Node = Vec<u8>;
        const GOAL: Goal = Goal::Minimise;
        fn root(&self) -> Vec<u8> {
            Vec::new()
        }
        fn expand(&self, node: &Vec<u8>, _: Option<i64>, out: &mut Children<'_, Self>) {
            if node.is_empty() {
                (0..64).for_each(|i| out.child(vec![i; 1 << 20]));
            }
        }
        fn key(&self, node: &Vec<u8>) -> Option<u128> {
            Some(node.first().map_or(64, |&i| i.into()))
        }
    }
    let limit = 1 << 32;
    let settings =
        Settings { threads: 1, node_limit: Some(64), memory: Some(limit), ..Settings::default() };
    let rest = by_layers(&Plain(Large), &settings, &mut |_| ControlFlow::Continue(()));
    let rest = rest.unwrap().unwrap();
    assert_eq!(rest.node_limit, Some(0));
    assert!(rest.resume.unwrap().pieces[0].bytes.len() > 64 << 20);
    assert!(rest.memory.unwrap() < limit - (32 << 20), "{:?}", rest.memory);
}

fn fails(problem: &dyn Problem, settings: &Settings) -> String {
    let outcome: Result<Outcome, RunError> =
        run(problem, settings, &mut |_| ControlFlow::Continue(()));
    outcome.unwrap_err().to_string()
}

#[test]
fn foreign_files_are_refused() {
    let scratch = Scratch::new("fit");
    let save = Some(scratch.save(Duration::from_secs(1)));
    let limited =
        Settings { node_limit: Some(1000), threads: 1, save: save.clone(), ..Settings::default() };
    let queens = Queens::new(12, Level::Off).unwrap();
    run(&queens, &limited, &mut |_| ControlFlow::Continue(())).unwrap();
    let resume = Settings { resume: Some(scratch.read()), ..Settings::default() };
    let other = Queens::new(13, Level::Off).unwrap();
    assert!(fails(&other, &resume).contains("another search"));
    // A file that is not a checkpoint is never overwritten.
    fs::write(&scratch.0, "20 20\n").unwrap();
    let saved = Settings { save, ..Settings::default() };
    assert!(fails(&queens, &saved).contains("not a checkpoint"));
    assert_eq!(fs::read_to_string(&scratch.0).unwrap(), "20 20\n");
}

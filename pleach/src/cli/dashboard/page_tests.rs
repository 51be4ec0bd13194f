//! Tests of the page: what it shows, and that it fits whatever it shows.

use super::history::{Held, History, Row, Sample};
use super::page::{Scene, Title, page};
use pleach_runtime::{SiteEnd, SiteSnapshot, SitesSnapshot};

fn title() -> Title {
    let words = vec!["walks".into(), "16".into()];
    Title { program: "pleach".into(), words, run: (1, 1), nth_loop: 1 }
}

fn row(name: &str, amount: u64, busy_s: f64) -> Row {
    Row { name: name.into(), amount, busy_s, held: Held::Size(1234.0) }
}

fn sample(seconds: f64, workers: usize) -> Sample {
    let amount = (1e6 * seconds) as u64;
    let rows =
        (0..workers).map(|i| row(&format!("cpu{i}"), amount / workers as u64, 0.75 * seconds));
    let best = (seconds > 1.0).then_some(3700 - seconds as i64);
    let (bound, done) = (Some(3500 + seconds as i64), Some(seconds / 100.0));
    Sample { seconds, amount, best, bound, done, rows: rows.collect(), ..Sample::default() }
}

/// A search of ten seconds.
fn search(workers: usize) -> History {
    let mut history = History::default();
    (1..=100).for_each(|i| history.add(sample(f64::from(i) / 10.0, workers)));
    history
}

fn shown(history: &History, notes: &[String], size: (usize, usize)) -> Vec<String> {
    shown_with(0, history, notes, size)
}

fn shown_with(
    decimals: u32,
    history: &History,
    notes: &[String],
    size: (usize, usize),
) -> Vec<String> {
    let title = &title();
    let scene = Scene { title, history, decimals, seconds: 10.0, stopping: false, notes };
    page(&scene, size).iter().map(|line| line.text().trim_end().to_string()).collect()
}

#[test]
fn a_search_shows_its_whole_state() {
    let note = ["pleach: warning: the disk is full".to_string()];
    let lines = shown(&search(2), &note, (80, 24));
    assert_eq!(lines.len(), 24);
    assert!(lines[0].starts_with("pleach walks 16") && lines[0].ends_with("10.0 s"));
    for said in ["best 3690   bound 3510   gap 4.88 %", "estimated 10.0 % done", "10,000,000 nodes"]
    {
        assert!(lines[1..4].iter().any(|line| line.contains(said)), "{said}: {lines:#?}");
    }
    assert!(lines.iter().any(|line| line.contains("━━ best 3690   ── bound 3510")), "{lines:#?}");
    let worker = lines.iter().find(|line| line.starts_with("cpu1")).unwrap();
    for said in ["5,000,000", "500 k", "75 %", "1.23 k"] {
        assert!(worker.contains(said), "{said}: {worker}");
    }
    assert_eq!(lines[23], note[0]);
}

/// Values used to be shown as whole numbers, ten times as large.
#[test]
fn decimals_are_shown() {
    let lines = shown_with(1, &search(2), &[], (80, 24)).join("\n");
    for said in ["best 369.0   bound 351.0   gap", "━━ best 369.0   ── bound 351.0", "369.9 ┤"]
    {
        assert!(lines.contains(said), "{said}: {lines}");
    }
}

#[test]
fn a_count_shows_its_rate_over_time() {
    let mut history = History::default();
    for i in 1..=100 {
        let whole = sample(f64::from(i) / 10.0, 2);
        history.add(Sample { best: None, bound: None, counted: 77, ..whole });
    }
    let lines = shown(&history, &[], (80, 24)).join("\n");
    for said in ["nodes a second", "1.00 M ┤", "█████", "77 counted"] {
        assert!(lines.contains(said), "{said}: {lines}");
    }
    assert!(!lines.contains("best"), "{lines}");
}

#[test]
fn a_loop_shows_who_did_how_much() {
    let mut history = History::default();
    for i in 1..=50_u64 {
        let seconds = i as f64 / 10.0;
        let row = |name: &str, amount| {
            let held = Held::Range(100 * i, 100 * i + 50);
            Row { held, ..row(name, amount, seconds) }
        };
        let rows = vec![row("cpu0", 30 * i), row("emulated0", 10 * i)];
        let (amount, done) = (40 * i, Some(i as f64 / 100.0));
        let whole = Some(4000);
        history.add(Sample { seconds, amount, whole, done, rows, ..Sample::default() });
    }
    let lines = shown(&history, &[], (80, 24)).join("\n");
    for said in
        ["50.0 % done", "2,000 of 4,000 units", "about 5.0 s left", "75.0 %", "25.0 %", "5.00 k–"]
    {
        assert!(lines.contains(said), "{said}: {lines}");
    }
}

#[test]
fn several_sites_have_a_table_of_their_own() {
    let mut history = History::default();
    let site = |name: &str, nodes| SiteSnapshot {
        name: name.into(),
        host: "host\x1b[2J".into(),
        workers: 4,
        busy: 3,
        nodes,
        ..SiteSnapshot::default()
    };
    for i in 1..=20_u64 {
        let lost = SiteSnapshot { left_s: Some(1.5), end: Some(SiteEnd::Lost), ..site("site2", 9) };
        let sites = vec![site("site0", 100 * i), site("site1", 200 * i), lost];
        let all_sites = Some(SitesSnapshot { sites: 2, workers: 8, busy: 6 });
        history.add(Sample { sites, all_sites, ..sample(i as f64 / 10.0, 4) });
    }
    let lines = shown(&history, &[], (90, 30)).join("\n");
    for said in ["2 sites   6 of 8 workers busy", "host?[2J", "3 of 4", "2.00 k", "lost at 1.5 s"] {
        assert!(lines.contains(said), "{said}: {lines}");
    }
    assert!(!lines.contains('\x1b'), "{lines:?}");
}

/// A site that had joined at a place after many others was never shown.
#[test]
fn sites_that_are_present_come_before_those_that_are_gone() {
    let site = |nth: u32, end| SiteSnapshot {
        name: format!("site1.{nth}"),
        end,
        ..SiteSnapshot::default()
    };
    let gone = (1..=60).map(|nth| site(nth, Some(SiteEnd::Left)));
    let sites: Vec<SiteSnapshot> = gone.chain([site(61, None)]).collect();
    let mut history = History::default();
    history.add(Sample { sites, ..sample(1.0, 4) });
    let lines = shown(&history, &[], (90, 30)).join("\n");
    assert!(lines.contains("site1.61") && !lines.contains("site1.60"), "{lines}");
}

#[test]
fn of_many_workers_it_shows_those_that_fit() {
    let lines = shown(&search(200), &[], (80, 24));
    let workers = lines.iter().filter(|line| line.starts_with("cpu")).count();
    assert!(workers > 3 && lines.len() <= 24, "{lines:#?}");
    let rest = format!("and {} more, 75 % busy", 200 - workers);
    assert!(lines.contains(&rest), "{rest}: {lines:#?}");
    let wide = shown(&search(200), &[], (300, 80)).join("\n");
    assert!(wide.contains("cpu199") && !wide.contains(" more"), "{wide}");
}

#[test]
fn before_the_first_look_it_says_so() {
    assert_eq!(shown(&History::default(), &[], (80, 24))[1], "getting ready");
}

/// Histories of nonsensical numbers and long names.
fn odd() -> Vec<History> {
    let mut all = vec![History::default(), search(1), search(300)];
    for seconds in [0.0, f64::NAN, f64::INFINITY, -1.0, f64::MAX] {
        let mut history = History::default();
        for (i, amount) in [0, u64::MAX, 1].into_iter().enumerate() {
            let number = [None, Some(i64::MIN), Some(i64::MAX)][i];
            let name = ["機".repeat(40), "\u{9b}2J".into(), String::new()][i].clone();
            let site = SiteSnapshot {
                name: name.clone(),
                host: name.clone(),
                left_s: Some(seconds),
                nodes: amount,
                ..SiteSnapshot::default()
            };
            let held = [Held::Size(f64::NAN), Held::Range(u64::MAX, 0), Held::Size(1e300)];
            let row = Row { name, amount, busy_s: seconds, held: held[i].clone() };
            let all_sites = Some(SitesSnapshot { sites: u32::MAX, workers: 0, busy: u32::MAX });
            history.add(Sample {
                seconds,
                amount,
                whole: number.map(|_| amount),
                counted: u128::MAX,
                best: number,
                bound: number.map(|it| !it),
                done: Some(seconds),
                rows: vec![row; 5],
                all_sites,
                sites: vec![site; 40],
            });
        }
        all.push(history);
    }
    all
}

#[test]
fn it_fits_whatever_it_shows() {
    let title = Title { words: vec!["\x1bcount\n".repeat(30)], run: (9, u64::MAX), ..title() };
    let notes = ["a\tlong\r\nnote ".repeat(40), "warning: 機".into(), String::new()];
    let sizes = [0, 1, 2, 3, 5, 8, 10, 17, 24, 40, 60, 80];
    for history in &odd() {
        for rows in sizes {
            for columns in sizes.into_iter().chain([120, 300]) {
                for (notes, stopping) in [(&notes[..], true), (&[][..], false)] {
                    let seconds = f64::NAN;
                    let decimals = 9;
                    let scene =
                        Scene { title: &title, history, decimals, seconds, stopping, notes };
                    let lines = page(&scene, (columns, rows));
                    assert!(lines.len() <= rows, "{columns} × {rows}");
                    for line in lines {
                        let text = line.text();
                        assert!(line.width() <= columns, "{columns} × {rows}: {text}");
                        assert!(!text.contains(char::is_control), "{text:?}");
                    }
                }
            }
        }
    }
}

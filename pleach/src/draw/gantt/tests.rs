//! Tests of Gantt charts: what bars and their tooltips say, against the times of the schedule.

use super::*;
use oorandom::Rand32;
use pleach_problems::flowshop::shop::Shop;

/// How the dark corners of late jobs end.
const CORNERS: &str = "z\" fill=\"#222\" pointer-events=\"none\"/>";

/// A machine's bars as their tooltips describe them, in the order of their times: what, start and end.
fn bars(svg: &str, machine: &str) -> Vec<(String, u32, u32)> {
    let titles = svg.split("<title>").skip(1).filter_map(|rest| rest.split("</title>").next());
    let bar = |title: &str| -> Option<(String, u32, u32)> {
        let (about, times) = title.split_once(": ")?;
        let what = about.strip_suffix(machine)?.trim_end().to_string();
        let (start, end) = times.split(',').next()?.split_once(" to ")?;
        Some((what, start.parse().unwrap(), end.parse().unwrap()))
    };
    let mut bars: Vec<_> = titles.filter_map(bar).collect();
    bars.sort_by_key(|&(_, start, end)| (start, end));
    bars
}

fn bar(what: &str, start: u32, end: u32) -> (String, u32, u32) {
    (what.to_string(), start, end)
}

fn makespan(shop: &Shop, passing: Passing) -> Variant {
    Variant::new(shop.clone(), Objective::Makespan, passing).unwrap()
}

#[test]
fn every_operation_is_drawn_and_a_longest_path_outlined() {
    let instance = Instance::new(2, vec![1, 4, 2, 5, 3, 0]).unwrap();
    let order = [0, 1, 2];
    let mut shop = Shop::new(instance.clone());
    let svg = draw(&makespan(&shop, Passing::Wait), &[("a<b", &order)]);
    assert!(svg.contains("<title>job 1 on M2: 1 to 5</title>"), "{svg}");
    assert_eq!(svg.matches("<title>job").count(), 5, "an operation of no time is not drawn");
    assert!(svg.contains("a&lt;b: 3 jobs on 2 machines, makespan 10"));
    // A name on a bar does not hide its tooltip.
    assert_eq!(svg.matches("fill=\"#222\" pointer-events=\"none\">").count(), 5, "{svg}");
    let path = critical(&instance, &order, &instance.ends(&order));
    let length: u32 = path.iter().map(|&(place, k)| instance.job(order[place].into())[k]).sum();
    assert_eq!(length, instance.makespan(&order));
    shop.jobs = ["A&1", "B", "C"].map(String::from).to_vec();
    shop.machines = ["Saw", "Heat treatment"].map(String::from).to_vec();
    shop.decimals = 1;
    let svg = draw(&makespan(&shop, Passing::Wait), &[("a", &order)]);
    assert!(svg.contains("makespan 1.0;") && svg.contains(">Heat treatment<"), "{svg}");
    assert!(svg.contains("<title>job A&amp;1 on Saw: 0.0 to 0.1</title>"), "{svg}");
    assert!(svg.contains(">A&amp;1</text>") && svg.contains(">0.5</text>"), "{svg}");
    let svg = draw(&makespan(&shop, Passing::NoWait), &[("a", &order)]);
    assert!(svg.contains("makespan 1.0<"), "{svg}");
    assert!(svg.contains("<title>job C on Saw: 0.7 to 1.0</title>"), "{svg}");
    let both = draw(&makespan(&shop, Passing::Wait), &[("a", &order), ("b", &[2, 1, 0])]);
    assert_eq!(both.matches("<title>job A&amp;1 on Saw").count(), 2, "{both}");
    assert!(both.contains("a: 3 jobs") && both.contains("b: 3 jobs"), "{both}");
}

#[test]
fn a_setup_begins_when_the_machine_is_free() {
    let mut shop = Shop::new(Instance::new(2, vec![1, 4, 4, 5]).unwrap());
    shop.setups = Some(vec![0, 3, 9, 0, 0, 1, 9, 0]);
    let variant = makespan(&shop, Passing::Wait);
    let order = [0, 1];
    assert_eq!(variant.ends(&order), [[1, 5], [8, 13]]);
    let svg = draw(&variant, &[("a", &order), ("b", &order)]);
    assert_eq!(svg.matches("<pattern").count(), 1, "{svg}");
    assert!(svg.contains("makespan 13; hatched: setups<"), "{svg}");
    let svg = draw(&variant, &[("a", &order)]);
    let setup = "setup from 1 to 2 on";
    let first = [bar("job 1 on", 0, 1), bar(setup, 1, 4), bar("job 2 on", 4, 8)];
    assert_eq!(bars(&svg, "M1"), first);
    // Job 2 arrives at 8.
    let second = [bar("job 1 on", 1, 5), bar(setup, 5, 6), bar("job 2 on", 8, 13)];
    assert_eq!(bars(&svg, "M2"), second);
    assert_eq!(svg.matches("fill=\"url(#gantt-setup)\"").count(), 2, "{svg}");
}

#[test]
fn a_job_blocks_its_machine_until_the_next_one_is_free() {
    let shop = Shop::new(Instance::new(2, vec![1, 4, 2, 5, 3, 1]).unwrap());
    let variant = makespan(&shop, Passing::Blocking);
    let order = [0, 1, 2];
    assert_eq!(variant.ends(&order), [[1, 5], [3, 10], [8, 11]]);
    let svg = draw(&variant, &[("a", &order)]);
    let first = [
        bar("job 1 on", 0, 1),
        bar("job 2 on", 1, 3),
        bar("job 2 blocks", 3, 5),
        bar("job 3 on", 5, 8),
        bar("job 3 blocks", 8, 10),
    ];
    assert_eq!(bars(&svg, "M1"), first);
    let second = [bar("job 1 on", 1, 5), bar("job 2 on", 5, 10), bar("job 3 on", 10, 11)];
    assert_eq!(bars(&svg, "M2"), second);
    assert!(svg.contains("makespan 11; dashed: blocked<"), "{svg}");
    assert_eq!(svg.matches("stroke-dasharray").count(), 2, "{svg}");
}

#[test]
fn late_jobs_are_marked_and_dates_shown() {
    let mut shop = Shop::new(Instance::new(2, vec![1, 4, 2, 5, 3, 0]).unwrap());
    shop.due = Some(vec![5, 8, 5]);
    shop.releases = Some(vec![0, 2, 0]);
    let order = [0, 1, 2];
    let variant = Variant::new(shop.clone(), Objective::Tardiness, Passing::Wait).unwrap();
    assert_eq!(variant.ends(&order), [[1, 5], [4, 10], [7, 10]]);
    let svg = draw(&variant, &[("a", &order)]);
    for title in [
        "job 1 on M1: 0 to 1",
        "job 1 on M2: 1 to 5, due 5",
        "job 2 on M1: 2 to 4, released at 2",
        "job 2 on M2: 5 to 10, due 8, late by 2",
        // It leaves the last machine at 10, where it needs no time.
        "job 3 on M1: 4 to 7, due 5, late by 5",
        "due 5: job 1; job 3, late by 5",
        "due 8: job 2, late by 2",
    ] {
        assert!(svg.contains(&format!("<title>{title}</title>")), "{title}: {svg}");
    }
    assert!(svg.contains("tardiness 7; triangles: due dates, filled if late; dark corners"));
    assert_eq!(svg.matches(CORNERS).count(), 2, "two corners: {svg}");
    shop.due = Some(vec![5, 99, 10]);
    let early = Variant::new(shop, Objective::Tardiness, Passing::Wait).unwrap();
    let svg = draw(&early, &[("a", &order)]);
    assert!(svg.contains("tardiness 0; triangles: due dates, filled if late<"), "{svg}");
    assert_eq!(svg.matches("<title>due ").count(), 2, "99 is after the end: {svg}");
    assert!(!svg.contains("late by") && !svg.contains(CORNERS), "{svg}");
}

#[test]
fn due_dates_without_room_are_left_to_tooltips() {
    let jobs = 3000;
    let mut shop = Shop::new(Instance::new(1, vec![1; jobs]).unwrap());
    shop.due = Some((1..=jobs as u32).collect());
    let order: Vec<u16> = (0..jobs as u16).collect();
    let svg = draw(&makespan(&shop, Passing::Wait), &[("a", &order)]);
    assert!(!svg.contains("<title>due ") && !svg.contains("triangles"));
    assert!(svg.contains("<title>job 3000 on M1: 2999 to 3000, due 3000</title>"));
}

/// The bars of each machine are disjoint, a setup ends before its operation starts, and late jobs are as late as
/// the value of the schedule says.
#[test]
fn bars_never_overlap() {
    let mut rng = Rand32::new(5);
    for _ in 0..500 {
        let (jobs, machines) = (rng.rand_range(1..6), rng.rand_range(1..5));
        let mut numbers = |count: u32, end: u32| -> Vec<u32> {
            (0..count).map(|_| rng.rand_range(0..end)).collect()
        };
        let mut times = numbers(jobs * machines, 9);
        // Every job has an operation that takes time.
        times.iter_mut().step_by(machines as usize).for_each(|time| *time += 1);
        let mut shop = Shop::new(Instance::new(machines as usize, times).unwrap());
        shop.due = Some(numbers(jobs, 40));
        let chances = numbers(3, 3);
        shop.releases = (chances[0] == 0).then(|| numbers(jobs, 20));
        let passing = [Passing::Wait, Passing::NoWait, Passing::Blocking][chances[1] as usize];
        let setups = chances[2] > 0 && passing != Passing::Blocking;
        shop.setups = setups.then(|| numbers(machines * jobs * jobs, 7));
        let shift = numbers(1, jobs)[0];
        let order: Vec<u16> = (0..jobs).map(|at| ((at + shift) % jobs) as u16).collect();
        let variant = Variant::new(shop, Objective::Tardiness, passing).unwrap();
        let svg = draw(&variant, &[("a", &order)]);
        let (shop, ends) = (variant.shop(), variant.ends(&order));
        for k in 0..machines as usize {
            let mut expected = Vec::new();
            let time = |place: usize, k: usize| shop.instance.job(order[place].into())[k];
            for (place, &job) in order.iter().enumerate() {
                let end = ends[place][k];
                let start = end - time(place, k);
                if place > 0 {
                    let before = order[place - 1];
                    let setup = variant.setup(k, before.into(), job.into()) as u32;
                    let free = ends[place - 1][k];
                    assert!(free + setup <= start, "{variant:?} {order:?}");
                    let what = format!("setup from {} to {} on", before + 1, job + 1);
                    expected.push((what, free, free + setup));
                }
                expected.push((format!("job {} on", job + 1), start, end));
                if passing == Passing::Blocking && k + 1 < machines as usize {
                    let leaves = ends[place][k + 1] - time(place, k + 1);
                    expected.push((format!("job {} blocks", job + 1), end, leaves));
                }
            }
            expected.retain(|&(_, start, end)| start < end);
            let shown = bars(&svg, &format!("M{}", k + 1));
            assert_eq!(shown, expected, "{variant:?} {order:?}");
            assert!(shown.windows(2).all(|two| two[0].2 <= two[1].1), "{variant:?} {order:?}");
        }
        let late = svg.split("<title>job ").skip(1).filter_map(|rest| {
            rest.split_once("</title>")?.0.split_once("late by ")?.1.parse::<i64>().ok()
        });
        assert_eq!(late.sum::<i64>(), variant.value(&order), "{variant:?} {order:?}");
    }
}

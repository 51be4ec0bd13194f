//! A schedule as a Gantt chart: a row per machine, time from left to right, a longest path outlined.

use super::axis::round_step;
use super::svg::{Anchor, Svg};
use pleach_problems::flowshop::instance::Instance;
use std::collections::HashSet;

/// The width per job, within limits: a chart of few jobs fits on a page, and one of many jobs still has room
/// for most numbers.
const A_JOB: f64 = 32.0;
const WIDTHS: (f64, f64) = (1600.0, 20_000.0);
/// Height of a machine's row.
const ROW: f64 = 30.0;
/// Room for the names of machines, for the title, and for the axis of time.
const LEFT: f64 = 60.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 40.0;
/// A bar narrower than this has no room for a number.
const NUMBERED: f64 = 15.0;
/// Room for one mark on the axis.
const MARK: f64 = 80.0;

/// Draws a schedule.
pub fn draw(name: &str, instance: &Instance, order: &[u16]) -> String {
    let ends = instance.ends(order);
    let critical = critical(instance, order, &ends);
    let makespan = instance.makespan(order);
    let time_width = (A_JOB * order.len() as f64).clamp(WIDTHS.0, WIDTHS.1);
    let scale = time_width / f64::from(makespan.max(1));
    let (jobs, machines) = (order.len(), instance.machines());
    let mut svg = Svg::new(LEFT + time_width + 20.0, TOP + ROW * machines as f64 + BOTTOM);
    let title = format!(
        "{name}: {jobs} jobs on {machines} machines, makespan {makespan}; outlined: a longest path"
    );
    svg.text((LEFT, 24.0), Anchor::Start, "font-size=\"16\"", &title);
    axis(&mut svg, makespan, scale, TOP + ROW * machines as f64);
    let machine = |k: usize| order.iter().zip(&ends).map(move |(&job, ends)| (job, ends[k]));
    for k in 0..machines {
        let y = TOP + ROW * k as f64;
        svg.text((LEFT - 8.0, y + ROW * 0.65), Anchor::End, "", &format!("M{}", k + 1));
        for (place, (job, end)) in machine(k).enumerate() {
            let time = instance.job(job.into())[k];
            let start = LEFT + f64::from(end - time) * scale;
            let outlined = critical.contains(&(place, k));
            bar(&mut svg, (start, y + 2.0), f64::from(time) * scale, job, outlined);
        }
    }
    svg.finish()
}

/// The operations of a longest path, by position and machine: each begins when the previous one
/// ends.
fn critical(instance: &Instance, order: &[u16], ends: &[Vec<u32>]) -> HashSet<(usize, usize)> {
    let mut path = HashSet::new();
    let (mut place, mut machine) = (order.len() - 1, instance.machines() - 1);
    loop {
        path.insert((place, machine));
        let start = ends[place][machine] - instance.job(order[place].into())[machine];
        if machine > 0 && ends[place][machine - 1] == start {
            machine -= 1;
        } else if place > 0 && ends[place - 1][machine] == start {
            place -= 1;
        } else {
            return path;
        }
    }
}

/// One operation: a bar in its job's colour, with the job's number where there is room.
fn bar(svg: &mut Svg, (x, y): (f64, f64), width: f64, job: u16, outlined: bool) {
    if width <= 0.0 {
        return;
    }
    let (height, number) = (ROW - 4.0, job + 1);
    let stroke = if outlined { "black\" stroke-width=\"1.6" } else { "white\" stroke-width=\"0.6" };
    svg.raw(format_args!(
        "<rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.0}\" \
         fill=\"{}\" stroke=\"{stroke}\"><title>job {number}</title></rect>",
        colour(job)
    ));
    if width >= NUMBERED {
        let middle = (x + width / 2.0, y + height * 0.65);
        svg.text(middle, Anchor::Middle, "font-size=\"11\"", &number.to_string());
    }
}

/// A light colour for a job; jobs with consecutive numbers get very different hues.
fn colour(job: u16) -> String {
    let hue = (f64::from(job) * 137.508) % 360.0;
    let channel = |turn: f64| {
        let around = ((hue + turn) % 360.0 / 60.0 - 3.0).abs() - 1.0;
        (255.0 * (0.55 + 0.4 * around.clamp(0.0, 1.0))) as u8
    };
    format!("#{:02x}{:02x}{:02x}", channel(0.0), channel(240.0), channel(120.0))
}

/// The axis of time below the rows, in round steps.
fn axis(svg: &mut Svg, makespan: u32, scale: f64, bottom: f64) {
    let step = round_step((MARK / scale).max(1.0)).ceil();
    let mut at = 0.0;
    while at <= f64::from(makespan) {
        let x = LEFT + at * scale;
        svg.line((x, TOP), (x, bottom), "#ddd");
        svg.text((x, bottom + 18.0), Anchor::Middle, "", &at.to_string());
        at += step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_drawn_and_a_longest_path_outlined() {
        let instance = Instance::new(2, vec![1, 4, 2, 5, 3, 0]).unwrap();
        let order = [0, 1, 2];
        let svg = draw("a<b", &instance, &order);
        assert_eq!(svg.matches("<title>job").count(), 5, "an operation of no time is not drawn");
        assert!(svg.contains("a&lt;b: 3 jobs on 2 machines, makespan 10"));
        let path = critical(&instance, &order, &instance.ends(&order));
        let length: u32 = path.iter().map(|&(place, k)| instance.job(order[place].into())[k]).sum();
        assert_eq!(length, instance.makespan(&order));
    }
}

//! Schedules as Gantt charts, one below the other: a row per machine, time from left to right, a longest path outlined.

use super::axis::round_step;
use super::lanes::cut;
use super::svg::{Anchor, Svg, escaped};
use crate::decimal::written;
use crate::report::counted;
use pleach_problems::flowshop::instance::Instance;
use pleach_problems::flowshop::variant::{Objective, Variant};
use std::collections::HashSet;

/// The width per job, within limits: a chart of few jobs fits on a page, and one of many jobs still has room
/// for most numbers.
const A_JOB: f64 = 32.0;
const WIDTHS: (f64, f64) = (1600.0, 20_000.0);
/// Height of a machine's row.
const ROW: f64 = 30.0;
/// Room for the title and for the axis of time; the least room for the names of machines.
const LEFT: f64 = 60.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 40.0;
/// A bar narrower than this has no room for a number.
const NUMBERED: f64 = 15.0;
/// The width of a character, at least, and the most characters of a name beside or inside the chart.
const CHARACTER: f64 = 7.0;
const NAME: usize = 24;
/// Room for one mark on the axis.
const MARK: f64 = 80.0;

/// Draws schedules, each with its title, all to the same scale.
pub fn draw(variant: &Variant, plans: &[(&str, &[u16])]) -> String {
    let shop = variant.shop();
    let names = (0..shop.instance.machines()).map(|k| shop.machine_name(k));
    let longest = names.map(|name| name.chars().count().min(NAME)).max().unwrap_or(0);
    let left = LEFT.max(CHARACTER * longest as f64 + 16.0);
    let time_width = (A_JOB * shop.instance.jobs() as f64).clamp(WIDTHS.0, WIDTHS.1);
    let panels: Vec<Panel<'_>> = plans
        .iter()
        .map(|&(title, order)| Panel { variant, title, order, ends: variant.ends(order) })
        .collect();
    let longest = panels.iter().map(Panel::makespan).max().unwrap_or(0);
    let scale = time_width / f64::from(longest.max(1));
    let height = TOP + ROW * shop.instance.machines() as f64 + BOTTOM;
    let mut svg = Svg::fitted(left + time_width + 20.0, height * panels.len() as f64);
    for (nth, panel) in panels.iter().enumerate() {
        panel.draw(&mut svg, (left, height * nth as f64), scale);
    }
    svg.finish()
}

/// A schedule of the chart.
struct Panel<'a> {
    variant: &'a Variant,
    title: &'a str,
    order: &'a [u16],
    /// By place and machine, when each operation ends.
    ends: Vec<Vec<u32>>,
}

impl Panel<'_> {
    fn makespan(&self) -> u32 {
        self.ends.last().and_then(|ends| ends.last().copied()).unwrap_or(0)
    }

    /// Draws it with its bars from this upper left corner on; the names of machines stand left of it.
    fn draw(&self, svg: &mut Svg, (left, top): (f64, f64), scale: f64) {
        let Self { variant, title, order, ends } = self;
        let shop = variant.shop();
        let instance = &shop.instance;
        // With side conditions, more than the operation before decides when one starts.
        let plain = !variant.has_conditions();
        let critical = if plain { critical(instance, order, ends) } else { HashSet::new() };
        let exact = |time: u32| written(time.into(), shop.decimals);
        let value = match variant.objective() {
            Objective::Makespan => String::new(),
            other => format!(", {other} {}", written(variant.value(order), variant.decimals())),
        };
        let outlined = if plain { "; outlined: a longest path" } else { "" };
        let title = format!(
            "{title}: {} on {}, makespan {}{value}{outlined}",
            counted(order.len(), "job"),
            counted(instance.machines(), "machine"),
            exact(self.makespan())
        );
        svg.text((left, top + 24.0), Anchor::Start, "font-size=\"16\"", &title);
        let rows = top + TOP;
        let bottom = rows + ROW * instance.machines() as f64;
        axis(svg, (self.makespan(), shop.decimals), scale, (left, rows, bottom));
        for k in 0..instance.machines() {
            let (y, machine) = (rows + ROW * k as f64, shop.machine_name(k));
            svg.text((left - 8.0, y + ROW * 0.65), Anchor::End, "", &cut(&machine, NAME));
            for (place, (&job, ends)) in order.iter().zip(ends).enumerate() {
                let time = instance.job(job.into())[k];
                let start = ends[k] - time;
                let bar = Bar {
                    at: (left + f64::from(start) * scale, y + 2.0),
                    width: f64::from(time) * scale,
                    job,
                    name: &shop.job_name(job.into()),
                    about: format!("on {machine}: {} to {}", exact(start), exact(ends[k])),
                    outlined: critical.contains(&(place, k)),
                };
                bar.draw(svg);
            }
        }
    }
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

/// One operation: a bar in its job's colour, with the job's name where there is room.
struct Bar<'a> {
    at: (f64, f64),
    width: f64,
    job: u16,
    name: &'a str,
    /// Machine and times.
    about: String,
    outlined: bool,
}

impl Bar<'_> {
    fn draw(self, svg: &mut Svg) {
        let Self { at: (x, y), width, job, name, about, outlined } = self;
        if width <= 0.0 {
            return;
        }
        let height = ROW - 4.0;
        let stroke =
            if outlined { "black\" stroke-width=\"1.6" } else { "white\" stroke-width=\"0.6" };
        svg.raw(format_args!(
            "<rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.0}\" \
             fill=\"{}\" stroke=\"{stroke}\"><title>job {} {}</title></rect>",
            colour(job),
            escaped(name),
            escaped(&about)
        ));
        // Numbers are narrower than the widest names.
        let room = if name.len() <= 2 { NUMBERED } else { CHARACTER * name.chars().count() as f64 };
        if width >= room {
            let middle = (x + width / 2.0, y + height * 0.65);
            svg.text(middle, Anchor::Middle, "font-size=\"11\" fill=\"#222\"", name);
        }
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
fn axis(
    svg: &mut Svg,
    (makespan, decimals): (u32, u32),
    scale: f64,
    (left, top, bottom): (f64, f64, f64),
) {
    let step = round_step((MARK / scale).max(1.0)).ceil();
    let mut at = 0.0;
    while at <= f64::from(makespan) {
        let x = left + at * scale;
        svg.line((x, top), (x, bottom), "#ddd");
        svg.text((x, bottom + 18.0), Anchor::Middle, "", &written(at as i64, decimals));
        at += step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_problems::flowshop::shop::Shop;
    use pleach_problems::flowshop::variant::Passing;

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
}

//! Schedules as Gantt charts, one below the other: a row per machine, time from left to right.

#[cfg(test)]
mod tests;

use super::axis::round_step;
use super::lanes::cut;
use super::svg::{Anchor, Svg, escaped};
use crate::decimal::written;
use crate::report::counted;
use pleach_problems::flowshop::instance::Instance;
use pleach_problems::flowshop::variant::{Objective, Passing, Variant};
use std::collections::{BTreeMap, HashSet};

/// The width per job, within limits: a chart of few jobs fits on a page, and one of many jobs still has room
/// for most numbers.
const A_JOB: f64 = 32.0;
const WIDTHS: (f64, f64) = (1600.0, 20_000.0);
/// Height of a machine's row, and of its bars.
const ROW: f64 = 30.0;
const BAR: f64 = ROW - 4.0;
/// Room for the title and for the axis of time; the least room for the names of machines.
const LEFT: f64 = 60.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 40.0;
/// A bar narrower than this has no room for a number.
const NUMBERED: f64 = 15.0;
/// The width of a character, at least, and the maximum number of characters of a name next to or inside the chart.
const CHARACTER: f64 = 7.0;
const NAME: usize = 24;
/// Room for one mark on the axis, and for the triangle of one due date.
const MARK: f64 = 80.0;
const TRIANGLE: f64 = 8.0;
/// The maximum length of the sides of a late job's dark corner.
const CORNER: f64 = 8.0;
/// The hatching of setups, and their style.
const HATCHING: &str = "<pattern id=\"gantt-setup\" width=\"5\" height=\"5\" \
                        patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
                        <path d=\"M2,0v5\" stroke=\"#333\"/></pattern>";
const SETUP: &str = "fill=\"url(#gantt-setup)\" stroke=\"#333\" stroke-width=\"0.6\"";

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
    if shop.setups.is_some() {
        svg.raw(format_args!("{HATCHING}"));
    }
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
        let Self { variant, order, ends, .. } = self;
        let shop = variant.shop();
        let instance = &shop.instance;
        let dates = self.due_dates(scale);
        let heading = self.heading(!dates.is_empty());
        svg.text((left, top + 24.0), Anchor::Start, "font-size=\"16\"", &heading);
        let rows = top + TOP;
        let bottom = rows + ROW * instance.machines() as f64;
        axis(svg, (self.makespan(), shop.decimals), scale, (left, rows, bottom));
        // With side conditions, more than the operation before decides when one starts.
        let plain = !variant.has_conditions();
        let critical = if plain { critical(instance, order, ends) } else { HashSet::new() };
        for k in 0..instance.machines() {
            let y = rows + ROW * k as f64;
            let name = cut(&shop.machine_name(k), NAME);
            svg.text((left - 8.0, y + ROW * 0.65), Anchor::End, "", &name);
            let row = Row { left, y: y + 2.0, scale };
            for place in 0..order.len() {
                self.draw_bars(svg, &row, (place, k), critical.contains(&(place, k)));
            }
        }
        for (date, places) in dates {
            self.draw_due_date(svg, (left + f64::from(date) * scale, bottom), date, &places);
        }
    }

    /// The schedule in words, and what the marks of the chart mean.
    fn heading(&self, has_dates: bool) -> String {
        let Self { variant, title, order, .. } = self;
        let value = match variant.objective() {
            Objective::Makespan => String::new(),
            other => format!(", {other} {}", written(variant.value(order), variant.decimals())),
        };
        let late = (0..order.len()).any(|place| self.due(place).is_some_and(|(_, late)| late > 0));
        let legend: String = [
            (!variant.has_conditions(), "; outlined: a longest path"),
            (variant.shop().setups.is_some(), "; hatched: setups"),
            (variant.passing() == Passing::Blocking, "; dashed: blocked"),
            (has_dates, "; triangles: due dates, filled if late"),
            (late, "; dark corners: late jobs"),
        ]
        .into_iter()
        .filter_map(|(is_shown, meaning)| is_shown.then_some(meaning))
        .collect();
        format!(
            "{title}: {} on {}, makespan {}{value}{legend}",
            counted(order.len(), "job"),
            counted(variant.machines(), "machine"),
            self.exact(self.makespan())
        )
    }

    /// Draws what a machine does for the job at a place: its setup, its operation, and the time that the job blocks it.
    fn draw_bars(&self, svg: &mut Svg, row: &Row, (place, k): (usize, usize), outlined: bool) {
        let Self { variant, order, ends, .. } = self;
        let shop = variant.shop();
        let (number, job) = (order[place], usize::from(order[place]));
        let (name, times) = (shop.job_name(job), shop.instance.job(job));
        let during = |start: u32, end: u32| {
            format!("{}: {} to {}", shop.machine_name(k), self.exact(start), self.exact(end))
        };
        if let Some(before) = place.checked_sub(1).filter(|_| shop.setups.is_some()) {
            // A machine starts its setup as soon as it is free, even if the job arrives later.
            let (other, start) = (usize::from(order[before]), ends[before][k]);
            let end = start + variant.setup(k, other, job) as u32;
            let other = shop.job_name(other);
            let about = format!("setup from {other} to {name} on {}", during(start, end));
            row.bar(svg, (start, end), SETUP, &about);
        }
        let (start, end) = (self.start(place, k), ends[place][k]);
        let mut about = format!("job {name} on {}", during(start, end));
        let release = shop.releases.as_ref().map_or(0, |releases| releases[job]);
        if release > 0 && times.iter().position(|&time| time > 0) == Some(k) {
            about += &format!(", released at {}", self.exact(release));
        }
        let is_last = times.iter().rposition(|&time| time > 0) == Some(k);
        let due = self.due(place).filter(|_| is_last);
        if let Some((date, late)) = due {
            about += &format!(", due {}{}", self.exact(date), self.late_by(late));
        }
        let stroke =
            if outlined { "black\" stroke-width=\"1.6" } else { "white\" stroke-width=\"0.6" };
        let style = format!("fill=\"{}\" stroke=\"{stroke}\"", colour(number));
        row.bar(svg, (start, end), &style, &about);
        if due.is_some_and(|(_, late)| late > 0) {
            row.corner(svg, (start, end));
        }
        row.label(svg, (start, end), &name);
        if variant.passing() == Passing::Blocking && k + 1 < times.len() {
            let style = format!(
                "fill=\"{}\" fill-opacity=\"0.25\" stroke=\"#333\" stroke-dasharray=\"3 2\"",
                colour(number)
            );
            let leaves = self.start(place, k + 1);
            let about = format!("job {name} blocks {}", during(end, leaves));
            row.bar(svg, (end, leaves), &style, &about);
        }
    }

    fn start(&self, place: usize, k: usize) -> u32 {
        self.ends[place][k] - self.variant.shop().instance.job(self.order[place].into())[k]
    }

    /// The due date of the job at a place, and how much later than that the job is finished.
    fn due(&self, place: usize) -> Option<(u32, u32)> {
        let date = self.variant.shop().due.as_ref()?[usize::from(self.order[place])];
        let end = self.ends[place].last().copied().unwrap_or(0);
        Some((date, end.saturating_sub(date)))
    }

    /// The due dates up to the makespan, each with the places of its jobs; none if there is no room for all of them.
    fn due_dates(&self, scale: f64) -> BTreeMap<u32, Vec<usize>> {
        let mut dates: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for place in 0..self.order.len() {
            if let Some((date, _)) = self.due(place).filter(|&(date, _)| date <= self.makespan()) {
                dates.entry(date).or_default().push(place);
            }
        }
        let room = f64::from(self.makespan()) * scale;
        if dates.len() as f64 * TRIANGLE <= room { dates } else { BTreeMap::new() }
    }

    /// Draws a triangle whose tip touches the last row at a due date; it is filled if one of its jobs is late.
    fn draw_due_date(&self, svg: &mut Svg, (x, bottom): (f64, f64), date: u32, places: &[usize]) {
        let late = |place: usize| self.due(place).map_or(0, |(_, late)| late);
        let name = |place: usize| self.variant.shop().job_name(self.order[place].into());
        let jobs = places
            .iter()
            .map(|&place| format!("job {}{}", name(place), self.late_by(late(place))))
            .collect::<Vec<_>>()
            .join("; ");
        let fill = if places.iter().any(|&place| late(place) > 0) { "#000000" } else { "white" };
        svg.raw(format_args!(
            "<path d=\"M{x:.1},{bottom:.1}l-4,8h8z\" fill=\"{fill}\" stroke=\"#333\">\
             <title>due {}: {}</title></path>",
            self.exact(date),
            escaped(&jobs)
        ));
    }

    fn late_by(&self, late: u32) -> String {
        if late > 0 { format!(", late by {}", self.exact(late)) } else { String::new() }
    }

    /// A time with the decimals of the shop.
    fn exact(&self, time: u32) -> String {
        written(time.into(), self.variant.shop().decimals)
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

/// The row of a machine: where time 0 and the upper edge of its bars are, and the width of a unit of time.
struct Row {
    left: f64,
    y: f64,
    scale: f64,
}

impl Row {
    /// The left end and the width of what lasts from a start to an end.
    fn span(&self, (start, end): (u32, u32)) -> (f64, f64) {
        (self.left + f64::from(start) * self.scale, f64::from(end - start) * self.scale)
    }

    /// Draws a bar, unless it takes no time.
    fn bar(&self, svg: &mut Svg, times: (u32, u32), style: &str, about: &str) {
        let (x, width) = self.span(times);
        if width <= 0.0 {
            return;
        }
        svg.raw(format_args!(
            "<rect x=\"{x:.2}\" y=\"{:.1}\" width=\"{width:.2}\" height=\"{BAR:.0}\" \
             {style}><title>{}</title></rect>",
            self.y,
            escaped(about)
        ));
    }

    /// Draws the dark corner of a late job into its last bar; its tooltip stays that of the bar.
    fn corner(&self, svg: &mut Svg, times: (u32, u32)) {
        let (x, width) = self.span(times);
        let side = CORNER.min(width);
        svg.raw(format_args!(
            "<path d=\"M{:.2},{:.1}v{side:.2}l-{side:.2},-{side:.2}z\" fill=\"#222\" \
             pointer-events=\"none\"/>",
            x + width,
            self.y
        ));
    }

    /// Draws the name of a job into its bar, if there is room; the tooltip stays that of the bar.
    fn label(&self, svg: &mut Svg, times: (u32, u32), name: &str) {
        let (x, width) = self.span(times);
        // Numbers are narrower than the widest names.
        let room = if name.len() <= 2 { NUMBERED } else { CHARACTER * name.chars().count() as f64 };
        if width >= room {
            let middle = (x + width / 2.0, self.y + BAR * 0.65);
            let style = "font-size=\"11\" fill=\"#222\" pointer-events=\"none\"";
            svg.text(middle, Anchor::Middle, style, name);
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
